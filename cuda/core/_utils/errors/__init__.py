# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texts of errors, logs of the driver and of compilers, warnings, and errors of objects without a value."""
