# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names that other CUDA libraries have for parts of this package: their AttributeError says what to use instead."""

from __future__ import annotations

__all__ = ["IN_MODULES", "OtherName", "listed_names"]

# Functions that other CUDA libraries have in their modules.
IN_MODULES = {
    "RawKernel": "cuda.core.utils.kernel",
    "mem_alloc": "Device.allocate",
    "synchronize": "Device.sync",
    "to_device": "Device.to_device",
}


class OtherName:
    """A member that does not exist, whose name is that of another library.

    Reading it raises AttributeError with a hint, so ``hasattr()`` returns False. Other attributes cost nothing more, as
    they would with a ``__getattr__``.
    """

    __slots__ = ("_instead", "_name")

    def __init__(self, instead: str):
        self._instead, self._name = instead, ""

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, instance, owner=None):
        if instance is None:  # tools read all members of a class
            return self
        text = f"{type(instance).__name__!r} object has no attribute {self._name!r}. Did you mean: {self._instead}?"
        raise AttributeError(text, name=self._name, obj=instance)


def listed_names(obj) -> list[str]:
    """Return the names of an object without those of other libraries, for ``__dir__``."""
    others = {name for base in type(obj).__mro__ for name, value in vars(base).items() if type(value) is OtherName}
    return [name for name in object.__dir__(obj) if name not in others]
