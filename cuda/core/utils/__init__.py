# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Helpers: views of arrays and tensors, batched operations on buffers, and program caches.

Each name is imported on first access.
"""

from cuda import core

_HOMES = core._PUBLIC[__name__]

__all__ = list(_HOMES)


def __getattr__(name):
    return core._fetch(__name__, name, _HOMES)


def __dir__():
    return sorted(__all__)
