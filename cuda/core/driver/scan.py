# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Scan kernels: prefix sums, and prefix results of other associative operations."""

from __future__ import annotations

from cuda.core.driver._array_base import ArrayBase, array_device, check_device, checked_dtype, overlap, stream_for
from cuda.core.driver._device_memory import as_pointer, mem_alloc
from cuda.core.driver._kernels._scan import Scan
from cuda.core.driver._streams import keep_until_done
from cuda.core.driver._types import dtype_to_ctype
from cuda.core.driver._user_kernels import checked_name, user_prelude
from cuda.core.driver.reduction import c_literal

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]


class ScanKernel:
    """Base class of inclusive and exclusive scans."""

    _is_exclusive = False

    def __init__(
        self,
        dtype,
        scan_expr: str,
        neutral=None,
        name_prefix: str = "scan",
        options=None,
        preamble: str = "",
        devices=None,
    ):
        self.dtype = checked_dtype(dtype)
        ctype = dtype_to_ctype(self.dtype)
        for key, text in {"scan_expr": scan_expr, "preamble": preamble}.items():
            if not isinstance(text, str):
                raise TypeError(f"{key} must be a str, not {type(text).__name__}")
        if neutral is not None and not isinstance(neutral, str):
            neutral = c_literal(neutral, self.dtype)
        self.neutral = neutral
        prelude = user_prelude([preamble, scan_expr], [self.dtype])
        self._scan = Scan(
            checked_name(name_prefix),
            ctype,
            self.dtype.itemsize,
            scan_expr,
            neutral if self._is_exclusive else None,
            prelude,
            preamble,
            options,
            False,
        )
        self._scan.kernels(array_device("cuModuleLoadDataEx").arch)

    def __repr__(self):
        return f"<{type(self).__name__} {self._scan.name} of {self.dtype}>"

    def __call__(self, input_ary, output_ary=None, allocator=None, stream=None, queue=None) -> ArrayBase:
        """Enqueue the scan, and return the array for its result.

        Parameters
        ----------
        input_ary : GPUArray
            A contiguous one-dimensional array.
        output_ary : GPUArray or str, optional
            The array for the result. If None, the scan is in place; with ``"new"`` a new array is returned.
        allocator : callable, optional
            The allocator of new memory. Default is that of the input.
        stream : Stream, optional
            The stream on which the kernels are enqueued. If None, the default stream. ``queue`` is another name.

        Returns
        -------
        GPUArray
            The result.

        Raises
        ------
        ValueError
            If an array has a wrong shape or data type or is not contiguous, or input and output overlap.
        TypeError
            If an argument is not an array, or both ``stream`` and ``queue`` are given.
        """
        if stream is not None and queue is not None:
            raise TypeError("only one of stream and queue can be given")
        stream = queue if stream is None else stream
        self._check(input_ary, "input_ary")
        allocator = input_ary.allocator if allocator is None else allocator
        if output_ary is None:
            output_ary = input_ary
        elif isinstance(output_ary, str) and output_ary == "new":
            output_ary = input_ary._new(input_ary.shape, self.dtype, allocator=allocator)
        self._check(output_ary, "output_ary")
        if output_ary.shape != input_ary.shape:
            raise ValueError(f"output_ary must have shape {input_ary.shape}, not {output_ary.shape}")
        if overlap(input_ary, output_ary):
            raise ValueError("output_ary must not overlap input_ary; pass None for a scan in place")
        if not input_ary.size:
            return output_ary
        device = input_ary._device
        check_device(device, output_ary._device)
        inner = stream_for(stream, input_ary, output_ary)

        def allocate(nbytes: int):
            memory = mem_alloc(nbytes) if allocator is None else allocator(nbytes)
            return memory, as_pointer(memory)

        addresses = input_ary._address, output_ary._address
        memory = self._scan.launch(device.arch, inner, input_ary.size, *addresses, allocate)
        if inner is not None and memory:
            keep_until_done(inner, "cuLaunchKernel", *memory)
        return output_ary

    def _check(self, array, name: str) -> None:
        if not isinstance(array, ArrayBase):
            raise TypeError(f"{name} must be a GPUArray, not {type(array).__name__}")
        if array.dtype != self.dtype:
            raise ValueError(f"{name} must have elements of type {self.dtype}, not {array.dtype}")
        if array.ndim != 1 or not array._is_c:
            raise ValueError(f"{name} must be contiguous and one-dimensional, not of shape {array.shape}")
        array._check_open()


class InclusiveScanKernel(ScanKernel):
    """An inclusive scan: result ``i`` combines the elements 0 to ``i``.

    Parameters
    ----------
    dtype : dtype
        The data type of the elements.
    scan_expr : str
        The C expression that combines ``a`` with the later ``b``. It must be associative, and need not be commutative.
    neutral : str or number, optional
        Not used.
    name_prefix : str, optional
        The prefix of the names of the kernels. Default is ``"scan"``.
    options : list of str, optional
        The compiler options.
    preamble : str, optional
        C++ definitions before the kernels.
    devices : sequence, optional
        Not used: kernels are compiled for the device on which they run.

    Raises
    ------
    CompileError
        If the C code has errors.

    Examples
    --------
    >>> running_sum = InclusiveScanKernel(np.int32, "a + b")
    >>> running_sum(array)
    """


class ExclusiveScanKernel(ScanKernel):
    """An exclusive scan: result ``i`` combines the elements before ``i``, and result 0 is the neutral element.

    Parameters
    ----------
    dtype : dtype
        The data type of the elements.
    scan_expr : str
        The C expression that combines ``a`` with the later ``b``. It must be associative, and need not be commutative.
    neutral : str or number
        The neutral element, as a C expression or a number.
    name_prefix, options, preamble, devices
        As for :class:`InclusiveScanKernel`.

    Raises
    ------
    ValueError
        If ``neutral`` is None.
    """

    _is_exclusive = True

    def __init__(
        self,
        dtype,
        scan_expr: str,
        neutral=None,
        name_prefix: str = "scan",
        options=None,
        preamble: str = "",
        devices=None,
    ):
        if neutral is None:
            raise ValueError("neutral, the first result of an exclusive scan, must be given")
        super().__init__(dtype, scan_expr, neutral, name_prefix, options, preamble, devices)


def __dir__():
    return list(__all__)
