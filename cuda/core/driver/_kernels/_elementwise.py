# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Elementwise kernels for arrays of any layout: their sources, and the choice of one for the arrays of a call.

There are three kinds: for contiguous aligned arrays, with vectorized loads and stores of 16 bytes; for contiguous
arrays at unaligned addresses; and for strided arrays, one for each number of dimensions after adjacent ones are merged.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np

from cuda.core.driver._array_layout import joined_dimensions
from cuda.core.driver._kernels._build import DeviceKernel, build_kernel
from cuda.core.driver._kernels._source import COMPUTE_TYPES, compute_dtype, prelude, storage_name

__all__ = ["Elementwise", "Operand"]

BLOCK = 256
PACK_BYTES = 16
INT32_ELEMENTS = 2**31 - 1


@dataclass(frozen=True)
class Operand:
    """A parameter of an elementwise operation.

    Attributes
    ----------
    name : str
        The name of the variable in the body that holds an element.
    dtype : numpy.dtype
        The data type in memory, or of the scalar.
    compute : numpy.dtype, optional
        The data type of the variable, if it differs.
    is_scalar : bool
        Whether the operand is a value and not an array.
    is_pointer : bool
        Whether the variable is the address of an array, which the body indexes itself.
    """

    name: str
    dtype: np.dtype
    compute: np.dtype | None = None
    is_scalar: bool = False
    is_pointer: bool = False

    @property
    def is_array(self) -> bool:
        return not (self.is_scalar or self.is_pointer)

    @property
    def storage(self) -> str:
        if self.is_pointer:
            return f"{storage_name(self.dtype)}*"
        by_value = COMPUTE_TYPES.get(self.dtype) if self.is_scalar else None
        return by_value or storage_name(self.dtype)

    @property
    def variable(self) -> str:
        if self.is_pointer:
            return self.storage
        compute = compute_dtype(self.compute if self.compute is not None else self.dtype)
        return COMPUTE_TYPES.get(compute) or storage_name(compute)


class Elementwise:
    """An elementwise operation on given data types, for arrays of any layout.

    Parameters
    ----------
    name : str
        The name of the kernels.
    outputs, inputs : sequence of Operand
        The operands that the body writes, and those that it reads.
    body : str
        C statements that compute each output from the inputs. They may use ``i``, the index of the element in
        C order.
    preamble : str, optional
        C++ definitions that the body uses.
    """

    def __init__(self, name: str, outputs, inputs, body: str, preamble: str = ""):
        self.name = name
        self.outputs = tuple(outputs)
        self.inputs = tuple(inputs)
        self.body = body
        self.preamble = preamble
        self.uses_index = re.search(r"\bi\b", body) is not None
        self.arrays = tuple(item for item in (*self.outputs, *self.inputs) if item.is_array)
        widest = max(item.dtype.itemsize for item in self.arrays)
        self.width = max(1, PACK_BYTES // widest) if PACK_BYTES % widest == 0 else 1
        # The address bits that must be 0 for vectorized access.
        self.alignment_mask = max(self.width * item.dtype.itemsize for item in self.arrays) - 1
        if any(item.dtype.kind == "V" for item in self.arrays):
            self.width = 1
        self._packed: dict[str, DeviceKernel] = {}
        self._dense: dict[str, DeviceKernel] = {}
        self._strided: dict[tuple, DeviceKernel] = {}

    def packed(self, arch: str) -> DeviceKernel:
        """Return the kernel for contiguous, aligned arrays."""
        kernel = self._packed.get(arch)
        if kernel is None:
            kernel = self._packed[arch] = self._build(self.dense_source(self.width), arch, BLOCK * self.width)
        return kernel

    def dense(self, arch: str) -> DeviceKernel:
        """Return the kernel for contiguous arrays at any address."""
        kernel = self._dense.get(arch)
        if kernel is None:
            kernel = self._dense[arch] = self._build(self.dense_source(1), arch, BLOCK)
        return kernel

    def strided(self, arch: str, ndim: int, index: str) -> DeviceKernel:
        """Return the kernel for strided arrays with ``ndim`` dimensions."""
        key = (arch, ndim, index)
        kernel = self._strided.get(key)
        if kernel is None:
            kernel = self._strided[key] = self._build(self.strided_source(ndim, index), arch, BLOCK)
        return kernel

    def launch_dense(self, arch: str, stream, size: int, addresses, arguments) -> None:
        """Launch on contiguous arrays of the same order, with ``size`` elements each."""
        merged = 0
        for address in addresses:
            merged |= address
        kernel = self.packed(arch) if merged & self.alignment_mask == 0 else self.dense(arch)
        kernel.launch(stream, size, *arguments, size)

    def launch(self, arch: str, stream, shape, arrays, arguments) -> None:
        """Launch on arrays of any strides.

        Parameters
        ----------
        arch : str
            The target architecture.
        stream : :class:`~cuda.core.Stream` or None
            The stream; None is the default stream.
        shape : tuple of int
            The shape of all arrays, after broadcasting.
        arrays : sequence of (int, tuple of int)
            The address and the strides in bytes of each array, in the order of the operands.
        arguments : sequence
            For each operand the address of the array, or the value of the scalar.
        """
        size = 1
        for extent in shape:
            size *= extent
        if size == 0:
            return
        rows = [item[1] for item in arrays]
        if len(shape) > 1 and not self.uses_index:
            # Sort the axes by the strides of the first array, so that more of them can be merged.
            first = rows[0]
            order = sorted(range(len(shape)), key=lambda axis: -abs(first[axis]))
            shape = [shape[axis] for axis in order]
            rows = [[row[axis] for axis in order] for row in rows]
        extents, strides = joined_dimensions(shape, rows)
        itemsizes = [item.dtype.itemsize for item in self.arrays]
        if len(extents) <= 1 and all(not row or row[0] == width for row, width in zip(strides, itemsizes, strict=True)):
            self.launch_dense(arch, stream, size, [item[0] for item in arrays], arguments)
            return
        kernel = self.strided(arch, len(extents), "unsigned int" if size <= INT32_ELEMENTS else "unsigned long long")
        layout = struct.pack(
            f"{len(extents)}Q{len(extents) * len(strides)}q", *extents, *(step for row in strides for step in row)
        )
        kernel.launch(stream, size, *arguments, size, layout)

    def _build(self, source: str, arch: str, per_block: int) -> DeviceKernel:
        return build_kernel(source, [self.name], arch, BLOCK, per_block)[0]

    def _head(self) -> str:
        dtypes = [item.dtype for item in (*self.outputs, *self.inputs)]
        dtypes += [item.compute for item in (*self.outputs, *self.inputs) if item.compute is not None]
        parameters = [f"{item.storage}* {item.name}_" for item in self.outputs]
        parameters += [
            f"const {item.storage} {item.name}_" if not item.is_array else f"const {item.storage}* {item.name}_"
            for item in self.inputs
        ]
        read = [f"const {item.variable} {item.name}" for item in self.inputs]
        written = [f"{item.variable}& {item.name}" for item in self.outputs]
        variables = ", ".join([*written, *read, "const cuda_core::size i"])
        apply = f"__device__ inline void apply({variables})\n{{ {self.body}; }}"
        return (
            f"{prelude(*dtypes)}{self.preamble}\nnamespace {{\n{apply}\n}}\n"
            f'extern "C" __global__ void __launch_bounds__({BLOCK}) {self.name}('
            f"{', '.join(parameters)}, const cuda_core::size n"
        )

    def _element(self, place: dict[str, str], index: str) -> str:
        """Return the statements that compute one element; ``place`` has an lvalue for the element of each array."""
        lines = [f"{item.variable} {item.name};" for item in self.outputs]
        values = [item.name for item in self.outputs]
        for item in self.inputs:
            values.append(converted(item.variable, place[item.name] if item.is_array else item.name + "_", item))
        lines.append(f"apply({', '.join(values)}, {index});")
        lines += [f"{place[item.name]} = {converted(item.storage, item.name, item, True)};" for item in self.outputs]
        return " ".join(lines)

    def dense_source(self, width: int) -> str:
        """Return the source for contiguous arrays; a thread handles ``width`` adjacent elements at once."""
        one = self._element({item.name: f"{item.name}_[k]" for item in self.arrays}, "k")
        begin = (
            f"{self._head()})\n{{\n"
            "    const cuda_core::size first = cuda_core::size(blockIdx.x) * blockDim.x + threadIdx.x;\n"
            "    const cuda_core::size step = cuda_core::size(gridDim.x) * blockDim.x;\n"
        )
        if width == 1:
            return f"{begin}    for (cuda_core::size k = first; k < n; k += step) {{ {one} }}\n}}\n"
        loads, stores = [], []
        for item in self.arrays:
            pack = f"cuda_core::pack<{item.storage}, {width}>"
            if item in self.outputs:
                loads.append(f"{pack} {item.name}_p;")
                stores.append(f"reinterpret_cast<{pack}*>({item.name}_)[p] = {item.name}_p;")
            else:
                loads.append(f"const {pack} {item.name}_p = reinterpret_cast<const {pack}*>({item.name}_)[p];")
        inner = self._element({item.name: f"{item.name}_p.items[j]" for item in self.arrays}, f"p * {width} + j")
        return (
            f"{begin}"
            f"    for (cuda_core::size p = first; p < n / {width}; p += step)\n    {{\n"
            f"        {' '.join(loads)}\n"
            f"        #pragma unroll\n        for (int j = 0; j < {width}; ++j) {{ {inner} }}\n"
            f"        {' '.join(stores)}\n    }}\n"
            f"    const cuda_core::size k = n / {width} * {width} + first;\n"
            f"    if (k < n) {{ {one} }}\n}}\n"
        )

    def strided_source(self, ndim: int, index: str) -> str:
        """Return the source for strided arrays with ``ndim`` dimensions; ``index`` is the C type of indices."""
        count = len(self.arrays)
        offsets = " ".join(f"long long o{k} = 0;" for k in range(count))
        steps = []
        for d in reversed(range(ndim)):
            # The first dimension needs no modulo: the rest is its index.
            place = "rest" if d == 0 else f"rest % ({index})(layout.extents[{d}])"
            moves = " ".join(f"o{k} += (long long)at * layout.strides[{k}][{d}];" for k in range(count))
            left = "" if d == 0 else f" rest /= ({index})(layout.extents[{d}]);"
            steps.append(f"        {{ const {index} at = {place}; {moves}{left} }}\n")
        place = {}
        for k, item in enumerate(self.arrays):
            constant = "" if item in self.outputs else "const "
            byte = f"reinterpret_cast<{constant}char*>({item.name}_) + o{k}"
            place[item.name] = f"*reinterpret_cast<{constant}{item.storage}*>({byte})"
        return (
            f"struct Layout {{ unsigned long long extents[{ndim}]; long long strides[{count}][{ndim}]; }};\n"
            f"{self._head()}, const Layout layout)\n{{\n"
            "    const cuda_core::size step = cuda_core::size(gridDim.x) * blockDim.x;\n"
            "    for (cuda_core::size k = cuda_core::size(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step)\n"
            f"    {{\n        {index} rest = ({index})(k);\n        {offsets}\n{''.join(steps)}"
            f"        {self._element(place, 'k')}\n    }}\n}}\n"
        )


def converted(target: str, value: str, item: Operand, is_output: bool = False) -> str:
    """Return the C expression that converts a value as NumPy does: nonzero to true, complex to its real part."""
    memory, compute = item.dtype, item.compute if item.compute is not None else item.dtype
    source, wanted = (compute, memory) if is_output else (memory, compute)
    if source.kind == "c" and wanted.kind != "c":
        return f"cuda_core::real_of<{target}>({value})"
    return f"({target})({value})"
