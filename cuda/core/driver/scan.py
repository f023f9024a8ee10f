# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Scan kernels: prefix sums, and prefix results of other associative operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda.core.driver._array_base import (
    array_device,
    check_array,
    check_on_device,
    checked_dtype,
    overlap,
    stream_for,
)
from cuda.core.driver._device_memory import as_pointer, mem_alloc
from cuda.core.driver._kernels import build_user_kernel
from cuda.core.driver._streams import keep_until_done
from cuda.core.driver._types import dtype_to_ctype
from cuda.core.driver._user_kernels import checked_kernel_name, user_prelude
from cuda.core.driver.reduction import c_literal

if TYPE_CHECKING:
    from cuda.core.driver._array_object import GPUArray

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]

BLOCK = 128
ITEMS = 8

_SOURCE = r"""
{prelude}
{preamble}
typedef {scan_type} scan_type;
namespace {{
typedef unsigned long long cuda_core_index;
__device__ inline scan_type scan_pair(const scan_type& a, const scan_type& b) {{ return ({scan_expr}); }}
// Inclusive scan over the first `count` threads of a block.
__device__ inline void scan_block(scan_type* values, int count)
{{
    for (int reach = 1; reach < {block}; reach *= 2)
    {{
        const int at = threadIdx.x;
        const bool has_both = at >= reach && at < count;
        scan_type mine;
        if (has_both) mine = scan_pair(values[at - reach], values[at]);
        __syncthreads();
        if (has_both) values[at] = mine;
        __syncthreads();
    }}
}}
}}

// Reduces each tile.
extern "C" __global__ void __launch_bounds__({block}) {name}_tiles(
    scan_type* results, const scan_type* in, const cuda_core_index n)
{{
    __shared__ alignas(16) unsigned char storage[sizeof(scan_type) * {block}];
    scan_type* values = reinterpret_cast<scan_type*>(storage);
    const cuda_core_index begin = cuda_core_index(blockIdx.x) * {tile} + threadIdx.x * {items};
    const cuda_core_index left = n - cuda_core_index(blockIdx.x) * {tile};
    const int count = left >= {tile} ? {block} : int((left + {items} - 1) / {items});
    if ((int)threadIdx.x < count)
    {{
        scan_type mine = in[begin];
        for (int k = 1; k < {items} && begin + k < n; ++k) mine = scan_pair(mine, in[begin + k]);
        values[threadIdx.x] = mine;
    }}
    __syncthreads();
    scan_block(values, count);
    if (threadIdx.x == 0) results[blockIdx.x] = values[count - 1];
}}

// Scans each tile. before[k] is the combined result of tiles 0 to k.
extern "C" __global__ void __launch_bounds__({block}) {name}_scan(
    scan_type* out, const scan_type* in, const scan_type* before, const cuda_core_index n, const int is_exclusive)
{{
    __shared__ alignas(16) unsigned char storage[sizeof(scan_type) * {block}];
    scan_type* values = reinterpret_cast<scan_type*>(storage);
    const cuda_core_index begin = cuda_core_index(blockIdx.x) * {tile} + threadIdx.x * {items};
    const cuda_core_index left = n - cuda_core_index(blockIdx.x) * {tile};
    const int count = left >= {tile} ? {block} : int((left + {items} - 1) / {items});
    const bool has_items = (int)threadIdx.x < count;
    scan_type items[{items}];
    int mine = 0;
    if (has_items)
    {{
        mine = n - begin < {items} ? int(n - begin) : {items};
        for (int k = 0; k < mine; ++k) items[k] = in[begin + k];
        scan_type total = items[0];
        for (int k = 1; k < mine; ++k) total = scan_pair(total, items[k]);
        values[threadIdx.x] = total;
    }}
    __syncthreads();
    scan_block(values, count);
    if (!has_items) return;
    const bool has_before = blockIdx.x > 0, has_left = threadIdx.x > 0;
    scan_type start;
    if (has_before && has_left) start = scan_pair(before[blockIdx.x - 1], values[threadIdx.x - 1]);
    else if (has_before) start = before[blockIdx.x - 1];
    else if (has_left) start = values[threadIdx.x - 1];
    bool has_start = has_before || has_left;
    for (int k = 0; k < mine; ++k)
    {{
        const scan_type item = items[k];
        if (is_exclusive) out[begin + k] = {first};
        if (has_start) start = scan_pair(start, item);
        else start = item;
        has_start = true;
        if (!is_exclusive) out[begin + k] = start;
    }}
}}
"""


class Scan:
    """The kernels of a scan.

    Parameters
    ----------
    name : str
        The prefix of the kernel names.
    scan_type : str
        The C type of the elements.
    itemsize : int
        The size of an element in bytes.
    scan_expr : str
        The C expression that combines ``a`` and ``b``, in this order.
    neutral : str or None
        The C expression of the neutral element for an exclusive scan, or None for an inclusive scan.
    prelude, preamble : str
        C++ definitions.
    options, keep
        The compiler options, and whether to keep the compiler's files.
    """

    def __init__(self, name, scan_type, itemsize, scan_expr, neutral, prelude, preamble, options, keep):
        self.name = name
        self.itemsize = itemsize
        self.is_exclusive = neutral is not None
        # The elements of a thread fit in its registers.
        self.items = max(1, min(ITEMS, 64 // itemsize))
        self.tile = BLOCK * self.items
        # The first result is the neutral element itself.
        first = (
            "start" if neutral is None else f"has_start ? scan_pair(scan_type({neutral}), start) : scan_type({neutral})"
        )
        self.source = _SOURCE.format(
            name=name,
            scan_type=scan_type,
            scan_expr=scan_expr,
            first=first,
            prelude=prelude,
            preamble=preamble,
            block=BLOCK,
            items=self.items,
            tile=self.tile,
        )
        self._options = options, keep
        self._kernels: dict = {}

    def kernels(self, arch: str):
        """Return the kernel that reduces tiles, and the kernel that scans them."""
        if arch not in self._kernels:
            names = [f"{self.name}_tiles", f"{self.name}_scan"]
            self._kernels[arch] = build_user_kernel(self.source, names, arch, BLOCK, self.tile, *self._options)
        return self._kernels[arch]

    def launch(self, arch: str, stream, size: int, in_address: int, out_address: int, allocate) -> list:
        """Launch the scan of ``size`` elements.

        Parameters
        ----------
        allocate : callable
            Takes a size in bytes, and returns a scratch memory object and its address.

        Returns
        -------
        list
            The scratch memory, which must stay allocated until the kernels have completed.
        """
        return self._scan(arch, stream, size, in_address, out_address, allocate, self.is_exclusive)

    def _scan(self, arch, stream, size, in_address, out_address, allocate, is_exclusive: bool) -> list:
        tiles, scan = self.kernels(arch)
        count = (size + self.tile - 1) // self.tile
        memory, before = [], 0
        if count > 1:
            owner, before = allocate(count * self.itemsize)
            memory = [owner]
            tiles.launch_blocks(stream, count, before, in_address, size)
            # Scan the tiles' results in place, recursively if there are many.
            memory += self._scan(arch, stream, count, before, before, allocate, False)
        scan.launch_blocks(stream, count, out_address, in_address, before, size, int(is_exclusive))
        return memory


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
            checked_kernel_name(name_prefix),
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

    def __call__(self, input_ary, output_ary=None, allocator=None, stream=None, queue=None) -> GPUArray:
        """Enqueue the scan, and return the array for its result (``cuLaunchKernel``).

        Parameters
        ----------
        input_ary : GPUArray
            A contiguous one-dimensional array.
        output_ary : GPUArray or str, optional
            The array for the result, or ``"new"`` for a new array. Defaults to ``input_ary``, for a scan in place.
        allocator : callable, optional
            The allocator of new memory. Defaults to the input's allocator.
        stream : Stream, optional
            The stream to enqueue the kernels on. Defaults to the default stream.
        queue : Stream, optional
            Another name of ``stream``.

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
        LogicError
            If the memory of an array was freed, or is on another device than the current context.
        """
        if stream is not None and queue is not None:
            raise TypeError("stream and queue are mutually exclusive; pass only one")
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
            raise ValueError("output_ary must not overlap input_ary; pass None to scan in place")
        if not input_ary.size:
            return output_ary
        device = input_ary._device
        check_on_device(device, output_ary._device)
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
        check_array(name, array)
        if array.dtype != self.dtype:
            raise ValueError(f"{name} must have elements of type {self.dtype}, not {array.dtype}")
        if array.ndim != 1 or not array._is_c:
            raise ValueError(f"{name} must be contiguous and one-dimensional, got shape {array.shape}")
        array._check_open()


class InclusiveScanKernel(ScanKernel):
    """An inclusive scan: result ``i`` combines the elements 0 to ``i``.

    Parameters
    ----------
    dtype : dtype
        The data type of the elements.
    scan_expr : str
        The C expression that combines ``a`` with the later ``b``. It must be associative, but need not be commutative.
    neutral : str or number, optional
        Not used.
    name_prefix : str, optional
        The prefix of the kernel names. Defaults to ``"scan"``.
    options : list of str, optional
        The compiler options.
    preamble : str, optional
        C++ definitions before the kernels.
    devices : sequence, optional
        Not used, because kernels are compiled for the device they run on.

    Raises
    ------
    CompileError
        If the C code has errors.
    ValueError
        If ``dtype`` has no C name.
    LogicError
        If no context is current.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core.driver import autoinit, gpuarray
    >>> from cuda.core.driver.scan import InclusiveScanKernel
    >>> running_sum = InclusiveScanKernel(np.int32, "a + b")
    >>> running_sum(gpuarray.to_gpu(np.ones(4, np.int32))).get().tolist()
    [1, 2, 3, 4]
    """


class ExclusiveScanKernel(ScanKernel):
    """An exclusive scan: result ``i`` combines the elements before ``i``, and result 0 is the neutral element.

    Parameters
    ----------
    dtype : dtype
        The data type of the elements.
    scan_expr : str
        The C expression that combines ``a`` with the later ``b``. It must be associative, but need not be commutative.
    neutral : str or number
        The neutral element, as a C expression or a number.
    name_prefix, options, preamble, devices
        As for :class:`InclusiveScanKernel`.

    Raises
    ------
    ValueError
        If ``neutral`` is None, or ``dtype`` has no C name.
    CompileError
        If the C code has errors.
    LogicError
        If no context is current.
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
            raise ValueError("neutral must be given, because it is the first result of an exclusive scan")
        super().__init__(dtype, scan_expr, neutral, name_prefix, options, preamble, devices)


def __dir__():
    return list(__all__)
