# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Records of graphs and their nodes: what wrappers of one graph share, its edges, and the operands that it retains."""
