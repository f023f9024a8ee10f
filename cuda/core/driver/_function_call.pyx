# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Unprepared calls of kernels: the usual ones launch at once, others go through the general way."""

from __future__ import annotations

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from libcpp.vector cimport vector

from cuda.core._launch_config cimport LaunchConfig
from cuda.core._launcher cimport launch_kernel
from cuda.core._module cimport Kernel
from cuda.core._stream cimport Stream

from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.driver._arguments import SCALARS
from cuda.core.driver._array_storage import ArrayStorage
from cuda.core.driver._errors import launch_error
from cuda.core.driver._memory import DeviceAllocation
from cuda.core.driver._streams import stream_of

__all__ = ["FunctionCall"]

cdef Stream default_stream = LEGACY_DEFAULT_STREAM
cdef dict scalar_sizes = {kind: kind().nbytes for kind in SCALARS}
cdef object array_class = ArrayStorage
cdef object allocation_class = DeviceAllocation
cdef tuple one_block = (1, 1)


# What most kernels have at most: calls of others go through the general way.
cdef enum:
    USUAL_COUNT = 32


cdef class FunctionCall:
    """A callable that launches a kernel; a subclass defines ``_call_any``, the general way."""

    cdef:
        Kernel _kernel
        vector[int] _sizes          # the bytes of each parameter
        bint _has_sizes             # whether they are known
        dict _references            # the texture references of the module, which the general way looks after
        tuple _known                # grid, block, bytes of shared memory and configuration of the latest call

    def _set_call(self, kernel: Kernel, sizes, references: dict) -> None:
        """Settle the kernel, the bytes of its parameters (None if they are not known), and the module's references."""
        self._sizes.clear()
        if sizes is not None:
            for size in sizes:
                self._sizes.push_back(size)
        self._kernel = kernel
        self._references = references
        self._known = (None, None, None, None)
        self._has_sizes = sizes is not None

    @property
    def kernel(self) -> Kernel:
        """The kernel that a call launches, for :func:`cuda.core.launch`."""
        return self._kernel

    def __call__(
        self, *args, block=None, grid=one_block, stream=None, shared=0, texrefs=(), time_kernel=False, **unknown
    ):
        """Launch the kernel, without waiting for it.

        Parameters
        ----------
        *args
            One for each parameter: NumPy scalars, device pointers, :class:`In`, :class:`Out` and :class:`InOut`.
        block : tuple of int
            The threads of a block in each dimension.
        grid : tuple of int, optional
            The blocks in each dimension. Default is one block.
        stream : :class:`Stream`, optional
            Where the kernel is queued; the NULL stream by default.
        shared : int, optional
            The bytes of dynamic shared memory. Default is 0.
        texrefs : sequence, optional
            Texture references: accepted, because each launch uses what is bound to those of the module.
        time_kernel : bool, optional
            Whether to wait for the kernel, and to return how long it took in seconds.

        Raises
        ------
        TypeError
            If the arguments are not as many as the parameters, or of other types or sizes.
        ValueError
            If ``block`` is missing, or a keyword is unknown.
        LogicError
            If the driver refuses the launch.
        """
        if unknown:
            raise ValueError(f"extra keyword arguments: {', '.join(sorted(unknown))}")
        if block is None:
            raise ValueError("must specify block size: block=(x, y, z)")
        if time_kernel is False and launch_usual(self, args, block, grid, stream, shared):
            return None
        return self._call_any(args, block, grid, stream, shared, time_kernel)


# Launches, if each argument is an allocation, an array or a scalar of the size of its parameter; False for others.
cdef bint launch_usual(
    FunctionCall self, tuple arguments, object block, object grid, object stream, object shared
) except -1:
    cdef PyObject* items[USUAL_COUNT]
    cdef PyObject* found
    cdef Py_ssize_t count = len(arguments)
    cdef Py_ssize_t index
    cdef tuple known = self._known
    cdef LaunchConfig config
    cdef Stream inner = default_stream
    cdef list kept = None
    if not self._has_sizes or self._references or count > USUAL_COUNT or <size_t>count != self._sizes.size():
        return False
    for index in range(count):
        argument = arguments[index]
        items[index] = <PyObject*>argument
        found = PyDict_GetItem(scalar_sizes, type(argument))
        if found != NULL:
            if <int>(<object>found) != self._sizes[index]:
                return False
        elif isinstance(argument, array_class):
            if argument._owner.is_closed:
                return False
            # On a stream of its own order, memory of results is to be shared before.
            value = argument._argument if stream is None else argument._pointer_on(stream)
            if kept is None:
                kept = []
            kept.append(value)
            items[index] = <PyObject*>value
        elif not isinstance(argument, allocation_class):
            return False
    if known[0] is grid and known[1] is block and known[2] is shared and known[3] is not None:
        config = <LaunchConfig>known[3]
    else:
        config = <LaunchConfig?>self._config(grid, block, shared)
        # Only what cannot change: a list may be another grid at the next call.
        if type(grid) is tuple and type(block) is tuple:
            self._known = (grid, block, shared, config)
    if stream is not None:
        inner = <Stream?>stream_of(stream)
    try:
        launch_kernel(inner, config, self._kernel, items, count)
    except (CUDAError, RuntimeError) as error:
        raise launch_error(error) from None
    return True
