# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensor maps: options, checks of the driver's rules, and encoding by the driver."""
