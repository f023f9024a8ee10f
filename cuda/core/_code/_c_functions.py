# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Addresses of C callback functions for the driver, read from objects of other packages."""

from __future__ import annotations

import sys

__all__ = ["PythonFunction", "function_address"]


def function_address(name: str, function) -> int | None:
    """Return the address of a C function, or None if ``function`` is not a C function.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    function : object
        A function type from ``cuda.bindings.driver``, a ``ctypes`` or ``cffi`` function pointer, or an object with an
        ``address`` attribute, such as a Numba C callback.

    Raises
    ------
    ValueError
        If it is a null pointer (except in a ``cuda.bindings`` type, where null means "no function"), or the memory at
        its address is not executable.
    TypeError
        If it is a ``cffi`` pointer that is not a function pointer.
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
    """Return the address in a function type of the bindings, where null means "no function"."""
    address = function.getPtr()
    # An object that was created from a value contains the address, and getPtr() points into the object. Otherwise
    # getPtr() might be the address itself, or point to memory that contains the address.
    is_inside = id(function) <= address < id(function) + type(function).__basicsize__
    permissions = "r" if is_inside else _permissions(address)
    if "x" not in permissions and "r" in permissions:
        address = int(function)
        permissions = _permissions(address) if address else "x"
    if "x" not in permissions:
        raise ValueError(f"{name} must be a function, but there is no code at {address:#x}")
    return address


def _permissions(address: int) -> str:
    """Return the permissions of the memory at an address, such as ``"r-xp"``, or an empty string if none is mapped."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, permissions = line.split(maxsplit=2)[:2]
            first, end = (int(limit, 16) for limit in span.split("-"))
            if first <= address < end:
                return permissions
    return ""


def _address_in_cffi(name: str, function) -> int | None:
    backend = sys.modules["_cffi_backend"]
    if not isinstance(function, backend._CDataBase):
        return None  # a function of a compiled module; Python calls it like any other
    if backend.typeof(function).kind != "function":
        raise TypeError(f"{name} must be a pointer to a function, not {backend.typeof(function).cname!r}")
    return int(backend.cast(backend.new_primitive_type("uintptr_t"), function))


class PythonFunction:
    """A C function that calls a Python function with one integer and returns an integer.

    C code cannot receive exceptions, so the first one is stored, and :meth:`check` raises it after the call.

    Parameters
    ----------
    function : callable
        The function.
    convert : callable
        Converts the result to the int to be returned, or raises.
    result, argument : type
        The names of the ``ctypes`` types.

    Attributes
    ----------
    address : int
        The address of the C function. It is valid as long as this object exists.
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
        """Raise the exception that the function raised, if any."""
        error, self._error = self._error, None
        if error is not None:
            raise error
