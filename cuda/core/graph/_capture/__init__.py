# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Stream capture: begin and end, forks and joins, bodies of conditional nodes."""
