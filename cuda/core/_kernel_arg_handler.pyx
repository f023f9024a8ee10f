# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Packs kernel arguments for launches through the bindings; used by other packages."""

from __future__ import annotations

from libc.stdint cimport intptr_t

from cpython.object cimport PyObject

from cuda.core._handles._launches cimport ArgumentBlock
from cuda.core._launch._arguments cimport ArgumentBlock_fill_naturally
from cuda.core._utils._cpython cimport answer_hasattr, tuple_items

from cuda.core._utils.signatures import ConstructorSignature

__all__ = ["ParamHolder"]


cdef class ParamHolder:
    """Kernel arguments, each in a cell of its own size, and the array of the cells' addresses.

    Parameters
    ----------
    kernel_args : Sequence
        Arguments as :func:`~cuda.core.launch` takes them; an int counts as 64 bits.

    Raises
    ------
    TypeError
        If an argument is of a type that kernels do not take.
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
        """Taken by ``__cinit__``; here for the signature."""

    def __cinit__(self, kernel_args):
        # The items may own what their addresses refer to.
        self._kernel_args = tuple(kernel_args)
        ArgumentBlock_fill_naturally(
            self._block, tuple_items(<PyObject*>self._kernel_args), len(self._kernel_args)
        )
        # This object outlives a call, and buffers may be closed meanwhile.
        self._block.end()

    @property
    def ptr(self) -> int:
        """The address of the ``void*`` array, valid while this object lives; 0 without arguments."""
        return <intptr_t>self._block.cells


answer_hasattr(ParamHolder)
