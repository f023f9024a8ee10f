# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Array functions: elementwise operations, operators, reductions, selection, and NumPy's protocols."""
