# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Records of graphs and nodes, which all Python objects of one graph share; edges; operands that graphs keep alive."""
