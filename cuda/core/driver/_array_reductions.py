# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Array reductions to one value or along axes, by a single kernel.

Each block reduces its share, and the last block to finish reduces the blocks' results. The order in which elements are
combined depends only on their number and the device, so every run returns the same result. Threads exchange values
through shared memory instead of warp shuffles, so structures need no custom operators.
"""

from __future__ import annotations

import struct
import threading

import numpy as np

from cuda.core.driver._array_base import ArrayBase, check_array, check_on_device, checked_dtype, stream_for
from cuda.core.driver._array_layout import broadcast_shape, checked_axis, joined_dimensions
from cuda.core.driver._array_transfer import copy_of, is_gapless
from cuda.core.driver._copies import memset_d8_async
from cuda.core.driver._device_memory import as_pointer, mem_alloc
from cuda.core.driver._kernels import (
    COMPUTE_TYPES,
    build_kernel,
    build_user_kernel,
    compute_dtype,
    prelude,
    storage_name,
)
from cuda.core.driver._storage import ReductionPlan, fast_reduction
from cuda.core.driver._streams import keep_until_done

__all__ = [
    "AxisReduction",
    "Reduction",
    "all_of",
    "any_of",
    "dot_product",
    "next_turn",
    "reduce_all",
    "reduce_axes",
    "scratch_memory",
    "subset_dot_product",
    "subset_reduce",
]

MAX_SHARED = 16384
BLOCKS_PER_MULTIPROCESSOR = 8
# Vectorized loads need fewer blocks, because each thread has several loads in flight.
BLOCKS_OF_PACKS = 4
# Scratch memory begins with the counter of finished blocks, padded to this size. The blocks' results follow it.
TICKET_BYTES = 16
TURN = 1 << 24  # more than the number of blocks in a launch
UNROLL = 4

_TREE = r"""
namespace {{
typedef {out_type} out_type;
__device__ inline out_type reduce_pair(const out_type& a, const out_type& b) {{ return ({reduce_expr}); }}
// Every thread of a block calls this function, and the first one gets the result.
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
    // One warp does the remaining work.
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

# The block that stores its result last reduces the results of all blocks, in block order.
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
            // A counter value left by an earlier launch, even an interrupted one, is less than this turn.
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

# The unrolled loop loads several elements before it uses the first.
_GATHER = r"""
    for (; n - cuda_core_i > cuda_core_step * {last} && cuda_core_i < n; cuda_core_i += cuda_core_step * {unroll})
    {{
        const out_type cuda_core_items[{unroll}] = {{ {items} }};
        #pragma unroll
        for (int k = 0; k < {unroll}; ++k) cuda_core_mine = reduce_pair(cuda_core_mine, cuda_core_items[k]);
    }}
"""

# Vectorized loads ("packs"), several in flight at a time. Each element position of a pack has its own accumulator. The
# elements after the last pack are handled one at a time.
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
    """A reduction of the values of an expression over all indices.

    Parameters
    ----------
    name : str
        The kernel name.
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
        The C type of the result in memory, if it differs from ``out_type``.
    packs : (int, dict, str), optional
        For contiguous arrays, the number of elements per pack, the C type of each array by name, and the expression
        for element ``k`` of the packs. The packs are named like the arrays, with the suffix ``_p``.
    user_options : tuple, optional
        The compiler options and the ``keep`` flag, if the expressions are user code.
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
        """Return the kernel source."""
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
        """Return the number of blocks for a launch."""
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
            The stream, where None is the default stream.
        size : int
            The number of indices.
        arguments : sequence
            The kernel arguments for ``parameters``.
        out_address : int
            The address of the result.
        allocate : callable
            Takes a size in bytes, and returns a scratch memory object with its counter set to zero, and its address.

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
    """Return the initial counter of finished blocks, which increases with every launch from this thread."""
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
    // The barriers require every thread of a block to run the same number of iterations.
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
        As for :class:`Reduction`, except that ``map_expr`` is an expression of an element ``x``.
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
        """Return the kernel for ``kept`` and ``gone`` (reduced) dimensions, with ``lanes`` threads per result."""
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
            The sizes and strides along the kept axes, and along the reduced axes.
        """
        extents, (to, from_) = joined_dimensions(kept[0], [out_strides, kept[1]])
        if not extents:
            extents, to, from_ = [1], [0], [0]
        # The axis with the smallest stride varies fastest to coalesce reads.
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


PACK_BYTES = 16
SCRATCH_BYTES = 1 << 17


class ReduceOperation:
    """The expressions of a reduction, and the types it supports.

    Parameters
    ----------
    reduce_expr : str
        The C expression that combines ``a`` and ``b``.
    kinds : str
        The supported kinds of data types.
    neutral : callable
        A function that returns the C expression of the neutral element for a data type.
    dtype : dtype, optional
        The data type of the result, if it differs from the elements' type. In that case, elements are compared with
        zero.
    """

    def __init__(self, reduce_expr: str, kinds: str, neutral, dtype=None):
        self.reduce_expr = reduce_expr
        self.kinds = kinds
        self.neutral = neutral
        self.dtype = None if dtype is None else np.dtype(dtype)


def smallest(dtype: np.dtype) -> str:
    """Return the C expression of the smallest value of a data type."""
    if dtype.kind == "f":
        infinity = "__longlong_as_double(0x7ff0000000000000ll)"
        return f"(-{infinity})" if dtype.itemsize == 8 else f"(float)(-{infinity})"
    return "false" if dtype.kind == "b" else literal(np.iinfo(dtype).min)


def largest(dtype: np.dtype) -> str:
    """Return the C expression of the largest value of a data type."""
    if dtype.kind == "f":
        return smallest(dtype).replace("-", "+", 1)
    return "true" if dtype.kind == "b" else literal(np.iinfo(dtype).max)


def literal(number: int) -> str:
    if number == -(2**63):
        return "(-9223372036854775807LL - 1)"
    return f"{number}ULL" if number > 2**63 - 1 else f"{number}LL"


_OPERATIONS = {
    "sum": ReduceOperation("out_type(a + b)", "biufc", lambda dtype: "0"),
    "prod": ReduceOperation("out_type(a * b)", "biufc", lambda dtype: "1"),
    # NaN is propagated, as in NumPy.
    "max": ReduceOperation("(a >= b || a != a) ? a : b", "biuf", smallest),
    "min": ReduceOperation("(a <= b || a != a) ? a : b", "biuf", largest),
    "any": ReduceOperation("a || b", "biufc", lambda dtype: "false", np.bool_),
    "all": ReduceOperation("a && b", "biufc", lambda dtype: "true", np.bool_),
}


def reduce_all(name: str, array: ArrayBase, dtype=None, stream=None, allocator=None, out=None):
    """Return a reduction of all elements, as a 0-d array.

    Raises
    ------
    TypeError
        If the reduction does not support the data type.
    ValueError
        If the array is empty and ``name`` is ``"max"`` or ``"min"``.
    """
    check_array("the operand", array)
    if stream is None and allocator is None and out is None:
        result = fast_reduction(name, array, dtype, scratch_of_thread)
        if result is not None:
            return result
    result_dtype = checked_result(name, array, dtype)
    if not is_gapless(array):
        array = copy_of(array, "C", stream)
    result = array._new((), result_dtype, allocator=allocator) if out is None else out
    device = array._device
    key = ("reduce", name, array.dtype, result_dtype)
    reduction = device.plans.get(key)
    if reduction is None:
        reduction = device.plans[key] = make_reduction(name, array.dtype, result_dtype)
    packed = reduction.packs[0] > 1 and array._address % PACK_BYTES == 0 and array.size >= reduction.packs[0]
    run_reduction(reduction, device, array.size, (array,), result, stream, packed)
    if packed:
        # Structures do not take this path, so the thread's scratch memory is large enough.
        device.plans["reduce packs", name, array.dtype, dtype] = ReductionPlan(
            reduction.kernel(device.arch, True),
            result_dtype,
            PACK_BYTES - 1,
            reduction.packs[0],
            reduction.block * reduction.packs[0],
            reduction.block_count(1 << 62, device, True),
        )
    return result


def dot_product(a: ArrayBase, b: ArrayBase, dtype=None, stream=None, allocator=None):
    """Return the sum of the elementwise products. See :func:`cuda.core.driver.gpuarray.dot`."""
    check_array("the operand", a)
    check_array("the operand", b)
    if a.size != b.size:
        raise ValueError(f"a and b must have the same size, not {a.size} and {b.size} elements")
    dtype = np.result_type(a.dtype, b.dtype) if dtype is None else checked_dtype(dtype)
    if a.shape == b.shape and is_gapless(a) and a.strides == b.strides:
        pass
    else:
        a, b = (item if item._is_c else copy_of(item, "C", stream) for item in (a, b))
    result = a._new((), dtype, allocator=allocator)
    key = ("dot", a.dtype, b.dtype, dtype)
    reduction = a._device.plans.get(key)
    if reduction is None:
        text = f"{value_in(dtype, a.dtype, 'a')} * {value_in(dtype, b.dtype, 'b')}"
        reduction = a._device.plans[key] = make_map(text, {"a": a.dtype, "b": b.dtype}, dtype, "sum")
    packed = reduction.packs is not None and (a._address | b._address) % PACK_BYTES == 0
    run_reduction(reduction, a._device, a.size, (a, b), result, stream, packed)
    return result


def subset_reduce(name: str, subset: ArrayBase, a: ArrayBase, dtype=None, stream=None, allocator=None):
    """Return a reduction of the elements selected by an index array."""
    check_subset(subset, a)
    dtype = checked_result(name, subset if not subset.size else a, dtype)
    return subset_map(name, subset, {"a": a}, value_in(dtype, a.dtype, "a"), dtype, stream, allocator)


def subset_dot_product(subset: ArrayBase, a: ArrayBase, b: ArrayBase, dtype=None, stream=None, allocator=None):
    """Return the dot product of the elements selected by an index array."""
    check_subset(subset, a, b)
    dtype = np.result_type(a.dtype, b.dtype) if dtype is None else checked_dtype(dtype)
    text = f"{value_in(dtype, a.dtype, 'a')} * {value_in(dtype, b.dtype, 'b')}"
    return subset_map("sum", subset, {"a": a, "b": b}, text, dtype, stream, allocator)


def subset_map(name: str, subset, arrays, text: str, dtype, stream, allocator):
    arrays = {key: item if item._is_c else copy_of(item, "C", stream) for key, item in arrays.items()}
    subset = subset if subset._is_c else copy_of(subset, "C", stream)
    dtypes = {"subset": subset.dtype} | {key: item.dtype for key, item in arrays.items()}
    key = ("subset", name, text, tuple(dtypes.values()), dtype)
    reduction = subset._device.plans.get(key)
    if reduction is None:
        reduction = subset._device.plans[key] = make_map(text.replace("[i]", "[subset[i]]"), dtypes, dtype, name)
    result = subset._new((), dtype, allocator=allocator)
    run_reduction(reduction, subset._device, subset.size, (subset, *arrays.values()), result, stream)
    return result


def any_of(array: ArrayBase, stream=None, allocator=None):
    """Return whether any element is nonzero."""
    return reduce_all("any", array, None, stream, allocator)


def all_of(array: ArrayBase, stream=None, allocator=None):
    """Return whether all elements are nonzero."""
    return reduce_all("all", array, None, stream, allocator)


def reduce_axes(name: str, array: ArrayBase, axis, dtype, stream, keepdims: bool):
    """Return a reduction along one or several axes, or all axes if None."""
    if axis is None:
        result = reduce_all(name, array, dtype, stream)
        return result.reshape((1,) * array.ndim) if keepdims else result
    axes = axis if isinstance(axis, tuple) else (axis,)
    gone = {checked_axis(item, array.ndim) for item in axes}
    if len(gone) != len(axes):
        raise ValueError(f"axis must not repeat an axis, got {axis}")
    result_dtype = checked_result(name, array, dtype, [array.shape[item] for item in gone])
    array._check_open()
    kept = [item for item in range(array.ndim) if item not in gone]
    out = array._new(tuple([array.shape[item] for item in kept]), result_dtype)
    if out.size:
        check_on_device(array._device)
        key = ("reduce axes", name, array.dtype, result_dtype)
        reduction = array._device.plans.get(key)
        if reduction is None:
            reduction = array._device.plans[key] = make_axis_reduction(name, array.dtype, result_dtype)
        layouts = [
            ([array.shape[item] for item in chosen], [array.strides[item] for item in chosen])
            for chosen in (kept, sorted(gone))
        ]
        inner = stream_for(stream, array, out)
        reduction.launch(array._device, inner, out._address, out.strides, array._address, *layouts)
    if keepdims:
        out = out.reshape(tuple([1 if item in gone else extent for item, extent in enumerate(array.shape)]))
    return out


def checked_result(name: str, array: ArrayBase, dtype, extents=None) -> np.dtype:
    """Return the data type of a result, or raise TypeError or ValueError if the reduction is not supported."""
    operation = _OPERATIONS[name]
    if array.dtype.kind not in operation.kinds:
        raise TypeError(f"{name} is not supported for elements of type {array.dtype}")
    if name in ("max", "min") and 0 in (extents if extents is not None else [array.size]):
        raise ValueError(f"an empty array has no {name}")
    if operation.dtype is not None:
        return operation.dtype
    result = array.dtype if dtype is None else checked_dtype(dtype)
    if result.kind not in operation.kinds or (array.dtype.kind == "c" and result.kind != "c"):
        raise TypeError(f"{name} cannot reduce elements of type {array.dtype} to type {result}")
    return result


def check_subset(subset, *arrays) -> None:
    check_array("the operand", subset)
    for array in arrays:
        check_array("the operand", array)
    if subset.dtype.kind not in "iu":
        raise TypeError(f"subset must have integer elements, not {subset.dtype}")
    broadcast_shape(*(array.shape for array in arrays))


def run_reduction(
    reduction: Reduction, device, size: int, arrays, result: ArrayBase, stream, is_packed: bool = False
) -> None:
    """Launch a reduction of arrays, and store the value in a 0-d array."""
    for item in (*arrays, result):
        item._check_open()
    check_on_device(device, *(item._device for item in (*arrays, result)))
    inner = stream_for(stream, *arrays, result)
    arguments = [item._argument for item in arrays]

    def allocate(nbytes: int):
        return scratch_memory(device, nbytes, stream, arrays[0].allocator)

    memory = reduction.launch(device, inner, size, arguments, result._argument, allocate, is_packed)
    if inner is not None:
        keep_until_done(inner, "cuLaunchKernel", memory)


def scratch_memory(device, nbytes: int, stream, allocator=mem_alloc):
    """Return scratch memory for the blocks' results, with its counter set to zero, and its address.

    On the default stream, each thread uses its own scratch memory for all its reductions.
    """
    if stream is not None or nbytes > SCRATCH_BYTES:
        memory = allocator(nbytes)
        memset_d8_async(memory, 0, TICKET_BYTES, stream)
        return memory, as_pointer(memory)
    memory = _scratch.memory.get(device.ordinal)
    if memory is None or memory.is_closed:
        memory = mem_alloc(SCRATCH_BYTES)
        memset_d8_async(memory, 0, TICKET_BYTES)
        _scratch.memory[device.ordinal] = memory
    return memory, memory.handle


def scratch_of_thread(device) -> tuple[int, int]:
    """Return the address of this thread's default-stream scratch memory, and the turn of the next launch."""
    return scratch_memory(device, 0, None)[1], next_turn()


class _Scratch(threading.local):
    def __init__(self):
        self.memory = {}


_scratch = _Scratch()


def value_in(target: np.dtype, source: np.dtype, name: str) -> str:
    """Return the C expression that converts an element to the computation type."""
    if source.kind == "c" and target.kind != "c":
        raise TypeError(f"complex elements cannot be converted to {target}")
    if source.kind not in "biufc" or target.kind not in "biufc":
        raise TypeError(f"elements of type {source} cannot be converted to {target}")
    return f"({COMPUTE_TYPES[compute_dtype(target)]})({name}[i])"


def make_reduction(name: str, source: np.dtype, target: np.dtype) -> Reduction:
    operation = _OPERATIONS[name]
    compute = compute_dtype(target)
    out_type = COMPUTE_TYPES[compute]
    in_type = storage_name(source)
    width = PACK_BYTES // source.itemsize
    element, place = (reduced_value(operation, source, out_type, text) for text in ("x[i]", "x_p.items[k]"))
    return Reduction(
        f"array_{name}",
        out_type,
        compute.itemsize,
        f"out_type({operation.neutral(compute)})",
        operation.reduce_expr,
        element,
        [f"const {in_type}* x"],
        prelude(source, target),
        result_type=storage_name(target),
        packs=(width, {"x": in_type}, place),
    )


def reduced_value(operation: ReduceOperation, source: np.dtype, out_type: str, element: str) -> str:
    """Return the C expression of the value to reduce: the element, or whether it is nonzero."""
    if operation.dtype is None:
        return f"({out_type})({element})"
    if source == np.float16:
        return f"(float)({element}) != 0"
    return f"{element} != ({storage_name(source)})0"


def make_map(text: str, dtypes: dict, target: np.dtype, name: str) -> Reduction:
    """Return a reduction of an expression over the elements ``[i]`` of several arrays."""
    operation = _OPERATIONS[name]
    compute = compute_dtype(target)
    types = {key: storage_name(dtype) for key, dtype in dtypes.items()}
    widest = max(dtype.itemsize for dtype in dtypes.values())
    width = PACK_BYTES // widest if PACK_BYTES % widest == 0 else 1
    packs = None
    if "subset" not in dtypes and width > 1:
        place = text
        for key in dtypes:
            place = place.replace(f"({key}[i])", f"({key}_p.items[k])")
        packs = (width, types, place)
    return Reduction(
        f"array_{name}_of_map",
        COMPUTE_TYPES[compute],
        compute.itemsize,
        f"out_type({operation.neutral(compute)})",
        operation.reduce_expr,
        text,
        [f"const {kind}* {key}" for key, kind in types.items()],
        prelude(target, *dtypes.values()),
        result_type=storage_name(target),
        packs=packs,
    )


def make_axis_reduction(name: str, source: np.dtype, target: np.dtype) -> AxisReduction:
    operation = _OPERATIONS[name]
    compute = compute_dtype(target)
    out_type = COMPUTE_TYPES[compute]
    in_type = storage_name(source)
    return AxisReduction(
        f"array_{name}_axes",
        out_type,
        compute.itemsize,
        f"out_type({operation.neutral(compute)})",
        operation.reduce_expr,
        reduced_value(operation, source, out_type, "x"),
        in_type,
        prelude(source, target),
        storage_name(target),
    )
