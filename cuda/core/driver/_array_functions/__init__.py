# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays: elementwise, reductions, selection, operators, and NumPy's protocols."""
