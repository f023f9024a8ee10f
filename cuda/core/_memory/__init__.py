# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory: buffers, and the memory resources that allocate them. Each name is imported on first access."""

from cuda import core

_HOMES = {name: home for name, home in core._HOMES.items() if home.startswith("_memory.")}

__all__ = list(_HOMES)


def __getattr__(name):
    return core._fetch(__name__, name, _HOMES)


def __dir__():
    return sorted(__all__)
