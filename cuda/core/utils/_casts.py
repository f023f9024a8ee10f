# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of the elements of an array to another type, by a kernel."""

from __future__ import annotations

import functools

from cuda.core._arrays import _device_arrays
from cuda.core._device import Device
from cuda.core._layout_ops import c_strides
from cuda.core._utils import slots
from cuda.core.utils._source_kernel import SourceKernel, kernel

__all__ = []

# C types by the characters of NumPy's types.
_C_TYPES = {
    "?": "bool",
    "i1": "signed char",
    "i2": "short",
    "i4": "int",
    "i8": "long long",
    "u1": "unsigned char",
    "u2": "unsigned short",
    "u4": "unsigned int",
    "u8": "unsigned long long",
    "f4": "float",
    "f8": "double",
}
_SOURCE = """
template <class From, class To> __global__ void cast(const From* source, To* target, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) target[i] = static_cast<To>(source[i]);
}
"""


def cast(view, dtype, stream):
    """Implement :meth:`~cuda.core.utils.StridedMemoryView.astype`."""
    if not view.is_device_accessible:
        raise TypeError("the view is in host memory that no device can access; convert it with NumPy")
    if view.dtype is None:
        raise TypeError("the element type is unknown; create the view with a dtype to convert it")
    function = cast_kernel(c_type(view.dtype), c_type(dtype))
    with Device(max(view.device_id, 0)) as device:
        if stream is not None:
            return _enqueue(function, device, view, dtype, stream)
        device.sync()
        target = _enqueue(function, device, view, dtype, device.default_stream)
        device.default_stream.sync()
        return target


def _enqueue(function, device, view, dtype, stream):
    if view.dtype == dtype:
        return _device_arrays.copied(device, view, stream)
    target = _device_arrays.empty(device, view.shape, dtype, stream, False)
    if view.size:
        source = view if is_in_c_order(view) else _device_arrays.copied(device, view, stream)
        function(source, target, view.size, elements=view.size, stream=stream)
    return target


def is_in_c_order(view) -> bool:
    """Return true if the elements are contiguous and in C order."""
    return view.strides is None or view.strides == c_strides(view.shape)


def c_type(dtype) -> str:
    """Return the C type of an element type, or raise TypeError."""
    kind = "?" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize}"
    if kind not in _C_TYPES or not dtype.isnative:
        raise TypeError(f"elements must be bool, integers, or floating-point numbers of 4 or 8 bytes, not {dtype}")
    return _C_TYPES[kind]


@functools.cache
def cast_kernel(source: str, target: str) -> SourceKernel:
    """Return the kernel that converts elements of one C type to another."""
    return kernel(_SOURCE, f"cast<{source}, {target}>")


slots.register("cast of view", cast)
