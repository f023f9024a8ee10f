# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Packs kernel arguments for launches through cuda.bindings; other packages use it."""

from __future__ import annotations

from libc.stdint cimport intptr_t

from cpython.object cimport PyObject

from cuda.core._handles._launches cimport ArgumentBlock
from cuda.core._launch._arguments cimport ArgumentBlock_fill_by_sizes
from cuda.core._utils._cpython cimport make_hasattr_safe, tuple_items

from cuda.core._utils.signatures import ConstructorSignature

__all__ = ["ParamHolder"]


cdef class ParamHolder:
    """The values of kernel arguments, and the ``void**`` array of their addresses that ``cuLaunchKernel`` takes.

    Parameters
    ----------
    kernel_args : Sequence
        Arguments as :func:`~cuda.core.launch` takes them; an int is packed as 64 bits.

    Raises
    ------
    TypeError
        If an argument has a type that kernels do not take.
    OverflowError
        If an int does not fit 64 bits.
    RuntimeError
        If a buffer is closed.
    """

    cdef:
        ArgumentBlock _block
        tuple _kernel_args

    __signature__ = ConstructorSignature()

    def __init__(self, kernel_args):
        """Accept the arguments of ``__cinit__``; defined for the signature."""

    def __cinit__(self, kernel_args):
        # The items may own the memory that their addresses refer to.
        self._kernel_args = tuple(kernel_args)
        ArgumentBlock_fill_by_sizes(
            self._block, tuple_items(<PyObject*>self._kernel_args), len(self._kernel_args)
        )
        # Unlike a launch, this object does not keep buffers open: drop the references that filling took.
        self._block.end()

    @property
    def ptr(self) -> int:
        """The address of the ``void*`` array, valid as long as this object exists; 0 without arguments."""
        return <intptr_t>self._block.kernel_params


make_hasattr_safe(ParamHolder)
