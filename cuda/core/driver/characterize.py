# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Properties of the current device and its compiler."""

from __future__ import annotations

import struct

import numpy as np

from cuda.core.driver._array_object import GPUArray
from cuda.core.driver._checks import text_argument
from cuda.core.driver._context import Context
from cuda.core.driver.compiler import SourceModule
from cuda.core.driver.tools import context_dependent_memoize

__all__ = ["has_double_support", "has_stack", "platform_bits", "sizeof"]

_SOURCE = """
{preamble}
extern "C" __global__ void write_size(unsigned long long *output) {{ *output = sizeof({type_name}); }}
"""


def platform_bits() -> int:
    """Return the size of an address in bits."""
    return 8 * struct.calcsize("P")


def has_stack() -> bool:
    """Return whether threads on the current device have a stack, which recursive kernels require."""
    return Context.get_device().compute_capability() >= (2, 0)


def has_double_support() -> bool:
    """Return whether the current device supports double precision."""
    return Context.get_device().compute_capability() >= (1, 3)


def sizeof(type_name: str, preamble: str = "") -> int:
    """Return the size of a C type on the device in bytes, as measured by a kernel.

    Parameters
    ----------
    type_name : str
        The C type.
    preamble : str, optional
        C++ definitions before the kernel.

    Raises
    ------
    CompileError
        If the type is unknown.
    LogicError
        If no context is current.
    """
    return size_of_type(text_argument("type_name", type_name), text_argument("preamble", preamble))


@context_dependent_memoize
def size_of_type(type_name: str, preamble: str) -> int:
    module = SourceModule(_SOURCE.format(preamble=preamble, type_name=type_name), no_extern_c=True)
    size = GPUArray((), np.uint64)
    module.get_function("write_size")(size, block=(1, 1, 1))
    return int(size)


def __dir__():
    return list(__all__)
