# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""References from lower layers to higher ones.

A higher layer registers a value, such as a class or a function, under the name of a slot. The table of
``cuda/core/__init__.py`` lists the module that does so for each slot, and ``get`` imports it on first use.
"""

from __future__ import annotations

from cuda import core

__all__ = ["get", "register"]

_values: dict[str, object] = {}


def register(name: str, value) -> None:
    """Fill a slot. A module calls this at its end, because other threads might use the value immediately."""
    _values[name] = value


def get(name: str):
    """Return the value of a slot."""
    if name not in _values:
        core._load(core._SLOTS[name])
    return _values[name]
