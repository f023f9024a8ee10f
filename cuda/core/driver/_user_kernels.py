# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of kernels with user code, and the conversion of call arguments."""

from __future__ import annotations

import numpy as np

from cuda.core._classic import shown
from cuda.core.driver._array_base import ArrayBase, check_on_device
from cuda.core.driver._array_object import array_of_view
from cuda.core.driver._kernels import COMPLEX_HEADER, prelude
from cuda.core.driver._storage import convert_arguments
from cuda.core.driver._types import ScalarArg, VectorArg, dtype_to_ctype, parse_argument_list
from cuda.core.utils import StridedMemoryView

__all__ = ["CHECKS", "Parameters", "as_array", "checked_kernel_name", "user_prelude"]


class NoVectorError(AssertionError, ValueError):
    """A kernel has no array parameter to determine its number of indices."""


class Parameters:
    """The parameter list of a kernel with user code.

    Parameters
    ----------
    arguments : str or list
        C declarations, or :class:`VectorArg` and :class:`ScalarArg`.

    Attributes
    ----------
    items : list
        The parameters.
    first : int
        The index of the first array, whose size is the number of indices in a call.
    table : tuple
        For each parameter, the object, its data type, and the function that converts a number, or None for an array.
    """

    def __init__(self, arguments):
        self.items = parse_argument_list(arguments)
        vectors = [place for place, item in enumerate(self.items) if isinstance(item, VectorArg)]
        if not vectors:
            raise NoVectorError("arguments must include at least one array, such as 'float *x'")
        for item in self.items:
            if item.name in _RESERVED:
                raise ValueError(f"parameter name {shown(item.name)} is reserved for a kernel variable; rename it")
        self.first = vectors[0]
        self.vectors = vectors
        makers = [
            None if isinstance(item, VectorArg) else scalar_maker(item) if isinstance(item, ScalarArg) else unchanged
            for item in self.items
        ]
        self.table = tuple(
            (item, getattr(item, "dtype", None), make) for item, make in zip(self.items, makers, strict=True)
        )

    @property
    def declarators(self) -> list[str]:
        """The C declarations."""
        return [item.declarator() for item in self.items]

    def convert(self, name: str, args):
        """Return the arrays in a call, and the kernel arguments.

        Raises
        ------
        TypeError
            If the number of arguments is wrong, or an array or number has another type than its parameter.
        RuntimeError
            If an array is not contiguous.
        LogicError
            If the memory of an array was freed, or is on another device than the current context.
        """
        if len(args) != len(self.items):
            raise TypeError(f"{name} takes {len(self.items)} arguments, {len(args)} given")
        return convert_arguments(self.table, args, *CHECKS)


# Kernel variables available to user code. Parameters must have other names.
_RESERVED = ("i", "n", "tid", "total_threads", "cta_start")


def as_array(item, name: str) -> ArrayBase:
    """Return an argument as an array: a GPUArray itself, or another object through its CUDA Array Interface."""
    if isinstance(item, ArrayBase):
        return item
    if not hasattr(item, "__cuda_array_interface__"):
        raise TypeError(f"{name} must be a GPUArray, not {type(item).__name__}")
    try:
        # As in the classic interface, arrays are used on the kernel's stream without further stream ordering (-1).
        return array_of_view(StridedMemoryView.from_cuda_array_interface(item, -1), item)
    except (BufferError, TypeError, ValueError) as error:
        raise TypeError(f"the CUDA array interface of {name} is invalid: {shown(error)}") from None


def check_devices(arrays) -> None:
    for array in arrays:
        check_on_device(array._device, *[other._device for other in arrays])


def check_type(dtype: np.dtype, item: VectorArg) -> None:
    """Raise TypeError if the elements of an array would be misread as the type of the parameter."""
    declared = item.dtype
    integers = "iub"
    if dtype == declared or (
        dtype.itemsize == declared.itemsize
        and ((dtype.kind in integers and declared.kind in integers) or "V" in (dtype.kind, declared.kind))
    ):
        return
    raise TypeError(f"{item.name} must have elements of type {declared}, not {dtype}")


CHECKS = (as_array, check_type, check_devices)


def scalar_maker(item: ScalarArg):
    dtype = item.dtype
    if dtype.kind == "V":
        return lambda value: np.asarray(value, dtype).tobytes()
    if dtype.kind in "iu":
        return lambda value: dtype.type(truncate(value))
    return dtype.type


def truncate(value):
    """Return a number for an integer parameter, truncating fractions as C does."""
    return int(value) if isinstance(value, (float, np.floating)) else value


def unchanged(value):
    return value


def checked_kernel_name(name: str) -> str:
    """Return a kernel name, or raise ValueError if it is not a C identifier."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"name must be a C identifier, not {name!r}")
    return name


def user_prelude(texts, dtypes) -> str:
    """Return the C++ definitions that precede user code, with headers for complex numbers and halves if needed."""
    text = "\n".join(texts)
    has_complex = "complex" in text or any(dtype.kind == "c" for dtype in dtypes)
    has_halves = "__half" in text or any(dtype_to_ctype(dtype) == "__half" for dtype in dtypes)
    include = "#include <cuda_fp16.h>\n" if has_halves else ""
    return include + (COMPLEX_HEADER if has_complex else "") + prelude()
