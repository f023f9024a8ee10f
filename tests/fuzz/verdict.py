# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The exceptions that a call with a hostile value may raise."""

from __future__ import annotations

import re

from cuda.core import CUDAError, system
from fuzz.values import Hostile

DOCUMENTED = (
    *(TypeError, ValueError, OverflowError, RuntimeError, BufferError, MemoryError, OSError),
    *(CUDAError, system.NvmlError, Hostile),
)
# These derive from documented exceptions, but are raised inside.
INTERNAL = (RecursionError, UnicodeError)
# Members that may also raise LookupError.
LOOKUP = {"__getitem__", "__delitem__", "__setitem__", "pop", "remove"}
# Values that claim a class or methods that they do not have: the interpreter's own errors are accepted.
LIARS = {"__getattr__ of self", "__getattr__ closes", "lying Stream", "lying Buffer", "lying int", "lying str"}
# Methods from_... take any object of a protocol, and document the AttributeError for an object without it.
PROTOCOL = re.compile(r"no attribute '__(dlpack|dlpack_device|cuda_array_interface|array_interface)__'")
# Messages of the interpreter, which name neither the argument nor the accepted types.
INSIDE = re.compile(
    r"Exceeds the limit|NoneType' object|object is not subscriptable|unsupported operand|not supported between"
    r"|^'\S+' object is not (iterable|callable)$|^bad argument type for built-in|^an integer is required"
    r"|not enough values to unpack|too many values to unpack|unhashable type|unexpected error|sequence item \d"
    r"|object cannot be interpreted as an integer$|^cannot convert|Python int too large|value too large to convert"
    r"|can't convert negative|has no len\(\)|^embedded null|int\(\) argument|float\(\) argument"
)


def complaint(error: BaseException, target, value: str | None) -> str | None:
    """Return why a user should not get the exception, or None if it is acceptable."""
    if isinstance(error, ReferenceError) and value == "dead reference":
        return None
    if isinstance(error, (AttributeError, TypeError)) and value in LIARS:
        return None
    if isinstance(error, TypeError) and value == "int type" and str(error).startswith("int() argument"):
        return None  # the callback was int, and int raised
    if isinstance(error, AttributeError) and not isinstance(error, DOCUMENTED):
        return None if is_about_attribute(error, target) else "an internal AttributeError"
    if isinstance(error, LookupError) and target.member in LOOKUP:
        return None
    if isinstance(error, UnicodeEncodeError) and target.name == "Program":
        return None  # documented for sources
    if isinstance(error, ZeroDivisionError) and target.name.endswith("cdiv"):
        return None  # documented for the divisor
    if not isinstance(error, DOCUMENTED) or isinstance(error, INTERNAL):
        return f"{type(error).__name__} is not documented"
    if isinstance(error, (TypeError, ValueError, OverflowError, RuntimeError)) and not isinstance(error, CUDAError):
        try:
            text = str(error)
        except Hostile:
            return None
        if INSIDE.search(text) and not is_of_protocol(text, target):
            return "the message is internal"
        if not text:
            return "the message is empty"
    return None


def is_about_attribute(error: AttributeError, target) -> bool:
    """Return whether the error is about reading or setting the attribute of the target itself."""
    if PROTOCOL.search(str(error)):
        return (target.member or "").startswith("from_")
    return target.kind in ("set", "read") and ("no attribute" not in str(error) or target.member in str(error))


def is_of_protocol(text: str, target) -> bool:
    """Return whether a built-in set or dict has the same message for the same operation."""
    is_python = re.search(r"not iterable|unhashable|unsupported operand|not supported|to unpack", text)
    return bool(is_python) and ("SetProxy" in target.name or target.name.endswith("ProgramCache.update"))
