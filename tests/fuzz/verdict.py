# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What may come out of a call with a hostile value, and what may not."""

from __future__ import annotations

import re

from cuda.core import system
from cuda.core._utils.cuda_utils import CUDAError
from fuzz.values import Hostile

DOCUMENTED = (
    *(TypeError, ValueError, OverflowError, RuntimeError, BufferError, MemoryError, OSError),
    *(CUDAError, system.NvmlError, Hostile),
)
# These derive from what is documented, and come from the inside all the same.
INTERNAL = (RecursionError, UnicodeError)
# What an index and a key may raise besides.
LOOKUP = {"__getitem__", "__delitem__", "__setitem__", "pop", "remove"}
# Objects that claim a class or methods that they do not have get what Python says of that.
LIARS = {"__getattr__ of self", "__getattr__ closes", "lying Stream", "lying Buffer", "lying int", "lying str"}
# A method that takes any object of a protocol, and documents the AttributeError of one that has it not.
PROTOCOL = re.compile(r"no attribute '__(dlpack|dlpack_device|cuda_array_interface|array_interface)__'")
# Sentences of the interpreter about what it was given, which name neither the argument nor what it takes.
INSIDE = re.compile(
    r"Exceeds the limit|NoneType' object|object is not subscriptable|unsupported operand|not supported between"
    r"|^'\S+' object is not (iterable|callable)$|^bad argument type for built-in|^an integer is required"
    r"|not enough values to unpack|too many values to unpack|unhashable type|unexpected error|sequence item \d"
    r"|object cannot be interpreted as an integer$|^cannot convert|Python int too large|value too large to convert"
    r"|can't convert negative|has no len\(\)|^embedded null|int\(\) argument|float\(\) argument"
)


def complaint(error: BaseException, target, value: str | None) -> str | None:
    """Return why the exception is none that a user should get, or None where it is one."""
    if isinstance(error, ReferenceError) and value == "dead reference":
        return None
    if isinstance(error, (AttributeError, TypeError)) and value in LIARS:
        return None
    if isinstance(error, AttributeError):
        return None if is_about_attribute(error, target) else "an AttributeError of the inside"
    if isinstance(error, LookupError) and target.member in LOOKUP:
        return None
    if isinstance(error, UnicodeEncodeError) and target.name == "Program":
        return None  # documented for sources
    if not isinstance(error, DOCUMENTED) or isinstance(error, INTERNAL):
        return f"{type(error).__name__} is not documented"
    if isinstance(error, (TypeError, ValueError, OverflowError, RuntimeError)) and not isinstance(error, CUDAError):
        try:
            text = str(error)
        except Hostile:
            return None
        if INSIDE.search(text) and not is_of_protocol(text, target):
            return "the message is of the inside"
        if not text:
            return "the message is empty"
    return None


def is_about_attribute(error: AttributeError, target) -> bool:
    """Return whether the attribute itself cannot be read or set, which the error says of the object in question."""
    if PROTOCOL.search(str(error)):
        return (target.member or "").startswith("from_")
    return target.kind in ("set", "read") and ("no attribute" not in str(error) or target.member in str(error))


def is_of_protocol(text: str, target) -> bool:
    """Return whether the interpreter's sentence is what the same operation of a built-in set says."""
    is_python = re.search(r"not iterable|unhashable|unsupported operand|not supported|to unpack", text)
    return bool(is_python) and ("SetProxy" in target.name or target.name.endswith("ProgramCache.update"))
