# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""SHA-256 without loading OpenSSL, which takes longer than hashing a hundred source files."""

from __future__ import annotations

import sys

__all__ = ["sha256"]

# OpenSSL's implementation is faster; use it if it is already loaded.
if "_hashlib" in sys.modules:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256
    except ImportError:  # Python 3.11, and builds without modules of their own
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256
