# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Binding of arrays to texture references, for ``tex1Dfetch``."""

from __future__ import annotations

import numpy as np

from cuda.core.driver._arrays._base import ArrayBase
from cuda.core.driver._checks import whole
from cuda.core.driver._constants import TRSF_READ_AS_INTEGER, array_format
from cuda.core.driver._cuda_arrays import dtype_to_array_format
from cuda.core.driver._errors import INVALID_VALUE, logic_error
from cuda.core.driver._textures._references import TextureReference

__all__ = ["bind_elements", "bind_memory"]

# Element types that textures do not support, as integer channels: the fp_tex_ types of pycuda-helpers.hpp.
_SPLIT = {
    np.dtype(np.float64): (array_format.SIGNED_INT32, 2),
    np.dtype(np.complex64): (array_format.UNSIGNED_INT32, 2),
    np.dtype(np.complex128): (array_format.SIGNED_INT32, 4),
}


def bind_memory(array: ArrayBase, texref: TextureReference, allow_offset: bool = False) -> int:
    """Bind the memory of an array to a texture reference, with the format that the reference has.

    Parameters
    ----------
    array : GPUArray
        A contiguous array.
    texref : TextureReference
        The texture reference.
    allow_offset : bool, optional
        Whether the array may begin at an address that is not aligned for textures. Default is False.

    Returns
    -------
    int
        The offset of the array in the texture, in elements.

    Raises
    ------
    LogicError
        If the array is not contiguous or has no elements; if the offset is not 0 and not allowed, or is not a
        multiple of the element size.
    """
    if not isinstance(texref, TextureReference):
        raise TypeError(f"texref must be a TextureReference, not {type(texref).__name__}")
    if not (array._is_c or array._is_f):
        raise logic_error("cuTexRefSetAddress", INVALID_VALUE, "the array is not contiguous; bind a copy()")
    if not array.size:
        raise logic_error("cuTexRefSetAddress", INVALID_VALUE, "the array has no elements")
    offset = texref.set_address(array.ptr, array.nbytes, allow_offset)
    if offset % array.itemsize:
        raise logic_error(
            "cuTexRefSetAddress",
            INVALID_VALUE,
            f"the array begins {offset} bytes after an aligned address, not a multiple of an element; bind a copy()",
        )
    texref._elements = array  # kept alive; set_address() takes an address only
    return offset // array.itemsize


def bind_elements(
    array: ArrayBase,
    texref: TextureReference,
    channels: int = 1,
    allow_double_hack: bool = False,
    allow_complex_hack: bool = False,
    allow_offset: bool = False,
) -> int:
    """Bind the elements of an array to a texture reference, with the format of their type; see :func:`bind_memory`.

    Raises
    ------
    ValueError
        If ``channels`` is not 1, 2 or 4, or is not 1 for elements that need several channels themselves.
    TypeError
        If textures do not support the type of the elements.
    """
    channels = whole("channels", channels)
    if channels not in (1, 2, 4):
        raise ValueError(f"channels must be 1, 2 or 4, not {channels}")
    split = _SPLIT.get(array.dtype)
    if split is not None:
        kind, flag = ("complex", "allow_complex_hack") if array.dtype.kind == "c" else ("double", "allow_double_hack")
        if not (allow_complex_hack if kind == "complex" else allow_double_hack):
            raise TypeError(f"textures have no {array.dtype} elements; {flag}=True splits them into integers")
        if channels != 1:
            raise ValueError(f"channels must be 1 for elements of type {array.dtype}, not {channels}")
        format_, channels = split
    else:
        format_ = dtype_to_array_format(array.dtype)
    if not isinstance(texref, TextureReference):
        raise TypeError(f"texref must be a TextureReference, not {type(texref).__name__}")
    texref.set_format(format_, channels)
    if array.dtype.kind != "f" or split is not None:
        texref.set_flags(texref.get_flags() | TRSF_READ_AS_INTEGER)
    return bind_memory(array, texref, allow_offset)
