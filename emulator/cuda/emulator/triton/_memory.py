# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pointers for kernels: host memory is registered with the device, so that kernels access it without a copy."""

import ctypes
import sys
import weakref

from cuda.emulator.triton._device import call, library

_known = {}  # registered host memory: sizes by address


def is_known(address, size):
    return not size or _known.get(address, 0) >= size


def register(address, size):
    """Let kernels access host memory."""
    end = address + size
    for begin, length in list(_known.items()):
        if begin < end and address < begin + length:  # memory that was freed, or a part of this
            forget(begin)
    call("cuMemHostRegister_v2", ctypes.c_void_p(address), ctypes.c_size_t(size), 2)
    _known[address] = size


def forget(address):
    if _known.pop(address, None):
        library().cuMemHostUnregister(ctypes.c_void_p(address))


def _register_owner(array):
    """Register the memory of the NumPy array that owns an array's memory, for as long as it lives."""
    owner = array
    while isinstance(owner.base, type(array)):
        owner = owner.base
    address = owner.__array_interface__["data"][0]
    if not is_known(address, owner.nbytes):
        register(address, owner.nbytes)
        weakref.finalize(owner, forget, address).atexit = False


class Pointer:
    """An array in the form that Triton accepts: ``data_ptr()`` and ``dtype``."""

    __slots__ = ("_address", "array", "dtype")

    def __init__(self, array):
        self.array = array
        self.dtype = array.dtype
        if hasattr(array, "__cuda_array_interface__"):
            self._address = array.__cuda_array_interface__["data"][0]
        else:
            _register_owner(array)
            self._address = array.__array_interface__["data"][0]  # `array.ctypes` would keep the array alive

    def data_ptr(self):
        return self._address


def wrap(value):
    """Return a pointer for an array of NumPy or of the device; other values as they are."""
    if hasattr(value, "data_ptr"):
        return value
    numpy = sys.modules.get("numpy")
    is_host = numpy is not None and isinstance(value, numpy.ndarray)
    return Pointer(value) if is_host or hasattr(value, "__cuda_array_interface__") else value


def accept_arrays():
    """Let Triton find out the types of arrays of NumPy and of the device."""
    from triton.runtime import jit

    original = jit.native_specialize_impl
    if getattr(original, "accepts_arrays", False):
        return

    def specialize(backend, value, *flags):
        try:
            return original(backend, getattr(value, "seen_by_triton", None) or wrap(value), *flags)
        except KeyError as error:
            raise TypeError(f"Triton has no pointers to elements of {error.args[0]}") from None

    specialize.accepts_arrays = True
    jit.native_specialize_impl = specialize


def address_of(value):
    """Return the address that a kernel gets for an argument."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    return wrap(value).data_ptr()
