# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Private files, the directory for caches, recorded versions of libraries, and hashing."""
