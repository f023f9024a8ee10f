# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Addresses of callback functions for the driver, from any package."""

from __future__ import annotations

import sys

__all__ = ["PythonFunction", "function_address"]


def function_address(name: str, function) -> int | None:
    """Return the address of a C function, or None if ``function`` is no C function.

    Parameters
    ----------
    name : str
        The argument, for error messages.
    function : object
        A function type of ``cuda.bindings.driver``, a function pointer of ``ctypes`` or ``cffi``, or an object with
        an attribute ``address``, such as a C callback of Numba.

    Raises
    ------
    ValueError
        If it is a null pointer, where null does not mean "no function", or an address where no code is.
    TypeError
        If it is a pointer of ``cffi`` to something else.
    """
    kind = type(function)
    if kind.__module__ == "cuda.bindings.driver" and hasattr(function, "getPtr"):
        return _address_in_bindings(name, function)
    address = None
    if "ctypes" in sys.modules and isinstance(function, sys.modules["ctypes"]._CFuncPtr):
        ctypes = sys.modules["ctypes"]
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
    elif kind.__module__ == "_cffi_backend":
        address = _address_in_cffi(name, function)
    elif callable(function) and isinstance(getattr(function, "address", None), int):
        address = function.address
    if address == 0:
        raise ValueError(f"{name} must be a function, but is a null pointer")
    return address


def _address_in_bindings(name: str, function) -> int:
    """Return the address that a function type of the bindings stands for: null is "no function"."""
    address = function.getPtr()
    # Made from a value, the object holds the address itself, and its pointer leads there. The pointer may also be to
    # an address that others hold.
    is_inside = id(function) <= address < id(function) + type(function).__basicsize__
    access = "r" if is_inside else _access(address)
    if "x" not in access and "r" in access:
        address = int(function)
        access = _access(address) if address else "x"
    if "x" not in access:
        raise ValueError(f"{name} must be a function, but there is no code at {address:#x}")
    return address


def _access(address: int) -> str:
    """Return how this process may use its memory at an address, such as ``"r-xp"``; empty where it has none."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, access = line.split(maxsplit=2)[:2]
            first, end = (int(limit, 16) for limit in span.split("-"))
            if first <= address < end:
                return access
    return ""


def _address_in_cffi(name: str, function) -> int | None:
    backend = sys.modules["_cffi_backend"]
    if not isinstance(function, backend._CDataBase):
        return None  # a function of a compiled module, which is called as one of Python
    if backend.typeof(function).kind != "function":
        raise TypeError(f"{name} must be a pointer to a function, not {backend.typeof(function).cname!r}")
    return int(backend.cast(backend.new_primitive_type("uintptr_t"), function))


class PythonFunction:
    """A Python function as a C function of one int with an int as result.

    C code cannot receive exceptions: the first one is kept, and raised by :meth:`check` after the call.

    Parameters
    ----------
    function : callable
        The function.
    convert : callable
        Turns a result into the int to return, or raises.
    result, argument : type
        The ``ctypes`` types, by name.

    Attributes
    ----------
    address : int
        Of the C function, which lives as long as this object.
    """

    def __init__(self, function, convert, result: str = "c_size_t", argument: str = "c_int"):
        import ctypes

        self._function = function
        self._convert = convert
        self._error = None
        self._callback = ctypes.CFUNCTYPE(getattr(ctypes, result), getattr(ctypes, argument))(self._call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value

    def _call(self, argument):
        if self._error is None:
            try:
                return self._convert(self._function(argument))
            except BaseException as error:
                self._error = error
        return 0

    def check(self) -> None:
        """Raise what the function raised."""
        error, self._error = self._error, None
        if error is not None:
            raise error
