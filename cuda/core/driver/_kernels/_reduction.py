# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reductions by one kernel: each block reduces its share, and the last block to finish reduces the blocks' results.

The order in which elements are combined depends only on their number and the device, so results are the same in each
run. Values are exchanged through shared memory, not by warp shuffles, so structures need no operators of their own.
"""

from __future__ import annotations

import struct
import threading

import numpy as np

from cuda.core.driver._array_layout import joined_dimensions
from cuda.core.driver._kernels import build_kernel, build_user_kernel

__all__ = ["AxisReduction", "Reduction", "next_turn"]

MAX_SHARED = 16384
BLOCKS_PER_MULTIPROCESSOR = 8
# Fewer blocks for vectorized loads, where each thread has several loads in flight.
BLOCKS_OF_PACKS = 4
# The scratch memory begins with the counter of finished blocks, padded to this size; their results follow.
TICKET_BYTES = 16
TURN = 1 << 24  # more than the blocks of a launch
UNROLL = 4

_TREE = r"""
namespace {{
typedef {out_type} out_type;
__device__ inline out_type reduce_pair(const out_type& a, const out_type& b) {{ return ({reduce_expr}); }}
// All threads of a block call this; the first gets the result.
template <int LANES> __device__ inline out_type reduce_lanes(out_type* shared, int lane, const out_type& mine)
{{
    shared[lane] = mine;
    __syncthreads();
    #pragma unroll
    for (int half = LANES / 2; half >= 32; half /= 2)
    {{
        if (lane < half) shared[lane] = reduce_pair(shared[lane], shared[lane + half]);
        __syncthreads();
    }}
    // What is left is the work of one warp.
    if (lane < 32)
    {{
        #pragma unroll
        for (int half = LANES / 2 < 16 ? LANES / 2 : 16; half > 0; half /= 2)
        {{
            if (lane < half) shared[lane] = reduce_pair(shared[lane], shared[lane + half]);
            __syncwarp();
        }}
    }}
    return lane == 0 ? shared[0] : mine;
}}
}}
"""

# The block that stores its result last reduces the results of all blocks, in the order of the blocks.
_KERNEL = r"""
extern "C" __global__ void __launch_bounds__({block}) {name}(
    {result_type}* cuda_core_out, unsigned char* cuda_core_scratch, const unsigned long long cuda_core_turn,
    {parameters}const cuda_core::size n)
{{
    __shared__ alignas(16) unsigned char cuda_core_shared[sizeof(out_type) * {block}];
    __shared__ bool cuda_core_is_last;
    auto cuda_core_map = [&](const cuda_core::size i) -> out_type {{ return ({map_expr}); }};
    const cuda_core::size cuda_core_step = cuda_core::size(gridDim.x) * {block};
    cuda_core::size cuda_core_i = cuda_core::size(blockIdx.x) * {block} + threadIdx.x;
    out_type cuda_core_mine = {neutral};
{gather}
    for (; cuda_core_i < n; cuda_core_i += cuda_core_step)
        cuda_core_mine = reduce_pair(cuda_core_mine, cuda_core_map(cuda_core_i));
    cuda_core_mine = reduce_lanes<{block}>(reinterpret_cast<out_type*>(cuda_core_shared), threadIdx.x, cuda_core_mine);
    if (gridDim.x > 1)
    {{
        out_type* const cuda_core_results = reinterpret_cast<out_type*>(cuda_core_scratch + {ticket});
        if (threadIdx.x == 0)
        {{
            cuda_core_results[blockIdx.x] = cuda_core_mine;
            __threadfence();
            // A counter value that an earlier launch left, such as an interrupted one, is less than this turn.
            unsigned long long* const done = reinterpret_cast<unsigned long long*>(cuda_core_scratch);
            atomicMax(done, cuda_core_turn);
            cuda_core_is_last = atomicAdd(done, 1ULL) == cuda_core_turn + gridDim.x - 1;
        }}
        __syncthreads();
        if (!cuda_core_is_last) return;
        __threadfence();
        cuda_core_mine = {neutral};
        for (unsigned int k = threadIdx.x; k < gridDim.x; k += {block})
            cuda_core_mine = reduce_pair(cuda_core_mine, cuda_core_results[k]);
        cuda_core_mine =
            reduce_lanes<{block}>(reinterpret_cast<out_type*>(cuda_core_shared), threadIdx.x, cuda_core_mine);
    }}
    if (threadIdx.x == 0) *cuda_core_out = ({result_type})cuda_core_mine;
}}
"""

# Unrolled: several elements are loaded before the first is used.
_GATHER = r"""
    for (; n - cuda_core_i > cuda_core_step * {last} && cuda_core_i < n; cuda_core_i += cuda_core_step * {unroll})
    {{
        const out_type cuda_core_items[{unroll}] = {{ {items} }};
        #pragma unroll
        for (int k = 0; k < {unroll}; ++k) cuda_core_mine = reduce_pair(cuda_core_mine, cuda_core_items[k]);
    }}
"""

# Vectorized loads ("packs"), several in flight at once. Each element position of a pack has its own accumulator; the
# elements after the last pack follow one by one.
_GATHER_PACKS = r"""
    {{
        const cuda_core::size cuda_core_packs = n / {width};
        out_type cuda_core_places[{width}];
        #pragma unroll
        for (int k = 0; k < {width}; ++k) cuda_core_places[k] = {neutral};
        for (cuda_core::size p = cuda_core_i; p < cuda_core_packs; p += cuda_core_step * {unroll})
        {{
            {packs}
            #pragma unroll
            for (int j = 0; j < {unroll}; ++j)
                if (p + cuda_core_step * j < cuda_core_packs) {{ {loads} }}
            #pragma unroll
            for (int j = 0; j < {unroll}; ++j)
                if (p + cuda_core_step * j < cuda_core_packs)
                {{
                    {names}
                    #pragma unroll
                    for (int k = 0; k < {width}; ++k) cuda_core_places[k] = reduce_pair(cuda_core_places[k], {value});
                }}
        }}
        #pragma unroll
        for (int k = 0; k < {width}; ++k) cuda_core_mine = reduce_pair(cuda_core_mine, cuda_core_places[k]);
        cuda_core_i += n / {width} * {width};
    }}
"""


class Reduction:
    """A reduction of the values of an expression for each index.

    Parameters
    ----------
    name : str
        The name of the kernel.
    out_type : str
        The C type in which values are combined.
    itemsize : int
        The size of that type in bytes.
    neutral, reduce_expr, map_expr : str
        C expressions: the neutral element, the combination of ``a`` and ``b``, and the value for index ``i``.
    parameters : sequence of str
        C declarations of the kernel parameters that ``map_expr`` uses.
    preamble : str
        C++ definitions.
    result_type : str, optional
        The C type of the result in memory, if it differs.
    packs : (int, dict, str), optional
        For contiguous arrays: the number of elements of a pack, the C type of each array by name, and the expression
        for element ``k`` of the packs, which are named like the arrays, with the suffix ``_p``.
    user_options : tuple, optional
        The compiler options and the flag ``keep``, if the expressions are the user's.
    """

    def __init__(
        self,
        name: str,
        out_type: str,
        itemsize: int,
        neutral: str,
        reduce_expr: str,
        map_expr: str,
        parameters,
        preamble: str = "",
        *,
        result_type: str | None = None,
        packs=None,
        user_options: tuple | None = None,
    ):
        self.name = name
        self.itemsize = itemsize
        self.block = 256
        while self.block > 32 and self.block * itemsize > MAX_SHARED:
            self.block //= 2
        self.user_options = user_options
        self.packs = packs
        self._texts = {
            "name": name,
            "out_type": out_type,
            "result_type": result_type or out_type,
            "neutral": neutral,
            "reduce_expr": reduce_expr,
            "map_expr": map_expr,
            "parameters": "".join(f"{text}, " for text in parameters),
            "block": self.block,
            "ticket": TICKET_BYTES,
        }
        self.preamble = preamble
        self._kernels: dict = {}

    def source(self, is_packed: bool = False) -> str:
        """Return the source of the kernel."""
        texts = self._texts
        if is_packed:
            width, arrays, value = self.packs
            types = {name: f"cuda_core::pack<{kind}, {width}>" for name, kind in arrays.items()}
            gather = _GATHER_PACKS.format(
                width=width,
                unroll=UNROLL,
                neutral=texts["neutral"],
                value=value,
                packs=" ".join(f"{pack} {name}_packs[{UNROLL}];" for name, pack in types.items()),
                loads=" ".join(
                    f"{name}_packs[j] = reinterpret_cast<const {pack}*>({name})[p + cuda_core_step * j];"
                    for name, pack in types.items()
                ),
                names=" ".join(f"const {pack}& {name}_p = {name}_packs[j];" for name, pack in types.items()),
            )
        else:
            items = ", ".join(f"cuda_core_map(cuda_core_i + cuda_core_step * {k})" for k in range(UNROLL))
            gather = _GATHER.format(unroll=UNROLL, last=UNROLL - 1, items=items)
        return self.preamble + _TREE.format(**texts) + _KERNEL.format(gather=gather, **texts)

    def kernel(self, arch: str, is_packed: bool = False):
        """Return the kernel."""
        key = (arch, is_packed)
        found = self._kernels.get(key)
        if found is None:
            build, more = (build_kernel, ()) if self.user_options is None else (build_user_kernel, self.user_options)
            (found,) = build(self.source(is_packed), [self.name], arch, self.block, self.block, *more)
            self._kernels[key] = found
        return found

    def block_count(self, size: int, device, is_packed: bool) -> int:
        """Return the number of blocks of a launch."""
        per_block = self.block * (self.packs[0] if is_packed else UNROLL)
        most = device.multiprocessors * (BLOCKS_OF_PACKS if is_packed else BLOCKS_PER_MULTIPROCESSOR)
        return max(1, min((size + per_block - 1) // per_block, most))

    def launch(self, device, stream, size: int, arguments, out_address: int, allocate, is_packed: bool = False):
        """Launch the kernel.

        Parameters
        ----------
        device : ArrayDevice
            The device.
        stream : :class:`~cuda.core.Stream` or None
            The stream; None is the default stream.
        size : int
            The number of indices.
        arguments : sequence
            The kernel arguments for the parameters.
        out_address : int
            The address of the result.
        allocate : callable
            Takes a size in bytes, and returns a scratch memory object, whose counter is zero, and its address.

        Returns
        -------
        object
            The scratch memory, which must stay allocated until the kernel has completed.
        """
        kernel = self.kernel(device.arch, is_packed)
        blocks = self.block_count(size, device, is_packed)
        memory, address = allocate(TICKET_BYTES + blocks * self.itemsize) if blocks > 1 else (None, 0)
        kernel.launch_blocks(stream, blocks, out_address, address, next_turn(), *arguments, size)
        return memory


class _Thread(threading.local):
    turn = 0


_thread = _Thread()


def next_turn() -> int:
    """Return the start value for the counter of finished blocks, larger with each launch of this thread."""
    _thread.turn = turn = _thread.turn + TURN
    return turn


_AXES = r"""
struct Layout
{{
    unsigned long long kept[{kept}], gone[{gone}];
    long long out[{kept}], in_kept[{kept}], in_gone[{gone}];
}};
extern "C" __global__ void __launch_bounds__({block}) {name}(
    {result_type}* out, const {in_type}* in, const cuda_core::size n, const cuda_core::size m, const Layout layout)
{{
    __shared__ alignas(16) unsigned char storage[sizeof(out_type) * {block}];
    const int lane = threadIdx.x % {lanes};
    out_type* shared = reinterpret_cast<out_type*>(storage) + threadIdx.x / {lanes} * {lanes};
    const cuda_core::size step = cuda_core::size(gridDim.x) * ({block} / {lanes});
    // All threads of a block make the same number of iterations, because of the barriers.
    for (cuda_core::size first = cuda_core::size(blockIdx.x) * ({block} / {lanes}); first < n; first += step)
    {{
        const cuda_core::size k = first + threadIdx.x / {lanes};
        out_type mine = {neutral};
        long long to = 0, from = 0;
        if (k < n)
        {{
            cuda_core::size rest = k;
            for (int d = {kept} - 1; d >= 0; --d)
            {{
                const cuda_core::size at = rest % layout.kept[d];
                rest /= layout.kept[d];
                to += (long long)at * layout.out[d];
                from += (long long)at * layout.in_kept[d];
            }}
            for (cuda_core::size j = lane; j < m; j += {lanes})
            {{
                long long place = from;
                cuda_core::size left = j;
                for (int d = {gone} - 1; d > 0; --d)
                {{
                    place += (long long)(left % layout.gone[d]) * layout.in_gone[d];
                    left /= layout.gone[d];
                }}
                place += (long long)left * layout.in_gone[0];
                const {in_type}& x = *reinterpret_cast<const {in_type}*>(reinterpret_cast<const char*>(in) + place);
                mine = reduce_pair(mine, {map_expr});
            }}
        }}
        mine = reduce_lanes<{lanes}>(shared, lane, mine);
        if (k < n && lane == 0)
            *reinterpret_cast<{result_type}*>(reinterpret_cast<char*>(out) + to) = ({result_type})mine;
        __syncthreads();
    }}
}}
"""


class AxisReduction:
    """A reduction of a strided array along some of its axes.

    Parameters
    ----------
    name, out_type, itemsize, neutral, reduce_expr, map_expr, preamble, result_type
        As for :class:`Reduction`, but ``map_expr`` is an expression of ``x``, an element.
    in_type : str
        The C type of the elements.
    """

    BLOCK = 256

    def __init__(self, name, out_type, itemsize, neutral, reduce_expr, map_expr, in_type, preamble, result_type):
        self._texts = {
            "name": name,
            "out_type": out_type,
            "neutral": neutral,
            "reduce_expr": reduce_expr,
            "map_expr": map_expr,
            "in_type": in_type,
            "result_type": result_type,
        }
        self.name = name
        self.preamble = preamble
        self._kernels: dict = {}

    def kernel(self, arch: str, kept: int, gone: int, lanes: int):
        """Return the kernel for ``kept`` and ``gone`` (reduced) dimensions, with ``lanes`` threads for each result."""
        key = (arch, kept, gone, lanes)
        if key not in self._kernels:
            texts = {**self._texts, "kept": kept, "gone": gone, "lanes": lanes, "block": self.BLOCK}
            source = self.preamble + _TREE.format(**texts) + _AXES.format(**texts)
            self._kernels[key] = build_kernel(source, [self.name], arch, self.BLOCK, self.BLOCK // lanes)[0]
        return self._kernels[key]

    def launch(self, device, stream, out_address: int, out_strides, in_address: int, kept, gone) -> None:
        """Launch the kernel.

        Parameters
        ----------
        out_strides : sequence of int
            The strides of the result in bytes.
        kept, gone : (sequence of int, sequence of int)
            Extents and strides of the array along the axes that are kept, and along those that are reduced.
        """
        extents, (to, from_) = joined_dimensions(kept[0], [out_strides, kept[1]])
        if not extents:
            extents, to, from_ = [1], [0], [0]
        # The axis with the smallest stride varies fastest, so that reads are coalesced.
        order = sorted(range(len(gone[0])), key=lambda axis: -abs(gone[1][axis]))
        reduced, (steps,) = joined_dimensions([gone[0][axis] for axis in order], [[gone[1][axis] for axis in order]])
        if not reduced:
            reduced, steps = [1], [0]
        count, length = int(np.prod(extents, dtype=object)), int(np.prod(reduced, dtype=object))
        is_along = abs(steps[-1]) < min((abs(step) for step in from_ if step), default=1 << 62)
        lanes = 1 if length < 32 or (not is_along and count >= 4096) else 32 if length < 1024 else 256
        kernel = self.kernel(device.arch, len(extents), len(reduced), lanes)
        layout = struct.pack(
            f"{len(extents) + len(reduced)}Q{2 * len(extents) + len(reduced)}q", *extents, *reduced, *to, *from_, *steps
        )
        kernel.launch(stream, count, out_address, in_address, count, length, layout)
