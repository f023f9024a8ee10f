# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Scans in three steps: reduce each tile, scan the results of the tiles, and scan each tile from its prefix.

A thread handles adjacent elements, so that operands keep their order: the operation need not be commutative. The
neutral element is used by exclusive scans only, as the operand before the first element.
"""

from __future__ import annotations

from cuda.core.driver._kernels import build_user_kernel

__all__ = ["Scan"]

BLOCK = 128
ITEMS = 8

_SOURCE = r"""
{prelude}
{preamble}
typedef {scan_type} scan_type;
namespace {{
typedef unsigned long long cuda_core_index;
__device__ inline scan_type scan_pair(const scan_type& a, const scan_type& b) {{ return ({scan_expr}); }}
// Inclusive scan of the values of the first `count` threads of a block.
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

// Scans each tile; before[k] is the result of the tiles 0 to k.
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
        The prefix of the names of the kernels.
    scan_type : str
        The C type of the elements.
    itemsize : int
        The size of an element in bytes.
    scan_expr : str
        The C expression that combines ``a`` and ``b``, in this order.
    neutral : str or None
        The C expression of the neutral element for an exclusive scan; None for an inclusive scan.
    prelude, preamble : str
        C++ definitions.
    options, keep
        The compiler options, and whether to keep the compiler's files.
    """

    def __init__(self, name, scan_type, itemsize, scan_expr, neutral, prelude, preamble, options, keep):
        self.name = name
        self.itemsize = itemsize
        self.is_exclusive = neutral is not None
        # The elements of a thread fit its registers.
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
        """Return the kernel that reduces tiles, and the one that scans them."""
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
            # Scan the results of the tiles in place, recursively if there are many.
            memory += self._scan(arch, stream, count, before, before, allocate, False)
        scan.launch_blocks(stream, count, out_address, in_address, before, size, int(is_exclusive))
        return memory
