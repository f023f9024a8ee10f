# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Node parameters, one module per node type: read and set them, and keep their operands alive."""
