# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels generated from C statements that are executed for each array index."""

from __future__ import annotations

import operator
import re
from typing import NamedTuple

from cuda.core.driver._array_base import array_device, stream_for
from cuda.core.driver._errors import NOT_SUPPORTED, CompileError, logic_error
from cuda.core.driver._kernels import build_user_kernel
from cuda.core.driver._storage import fast_elementwise, packs_fit
from cuda.core.driver._types import ScalarArg, VectorArg, dtype_to_ctype
from cuda.core.driver._user_kernels import CHECKS, Parameters, checked_kernel_name, user_prelude
from cuda.core.driver.compiler import SourceModule

__all__ = [
    "ElementwiseKernel",
    "ScalarArg",
    "VectorArg",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_module",
    "get_elwise_range_module",
]

PACK_BYTES = 16

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Code that leaves the loop early, depends on the mapping of threads to indices, or might store only some elements.
_BARRED = re.compile(
    r"\b(?:if|else|for|while|do|switch|case|goto|return|break|continue|tid|total_threads|cta_start|threadIdx|blockIdx|"
    r"blockDim|gridDim|asm|__syncthreads|__syncwarp|__shared__)\b|#|\""
)
_INDEX_CHANGES = re.compile(r"\bi\b\s*(?:=(?!=)|\+\+|--|(?:[-+*/%&|^]|<<|>>)=)|(?:\+\+|--)\s*i\b|&\s*i\b")
# An ampersand that takes an address.
_ADDRESS = re.compile(r"(?:^|[^\w\s)\]&])\s*&$|(?:^|[^&])&&\s*&$")
_ASSIGNS = re.compile(r"=(?!=)")
_CHANGES = re.compile(r"(?:[-+*/%&|^]|<<|>>)=|\+\+|--")


class Packing(NamedTuple):
    """The arrays that user code reads and writes, for vectorized access.

    Attributes
    ----------
    width : int
        The number of elements per pack.
    loads, stores : tuple of VectorArg
        The arrays loaded before the user's code and stored after it.
    mask : int
        The address bits that must be 0 for aligned packs.
    places : tuple of int
        The indices of the stored arrays.
    """

    width: int
    loads: tuple[VectorArg, ...]
    stores: tuple[VectorArg, ...]
    mask: int
    places: tuple[int, ...]

    def source(self, template: str, **texts: str) -> str:
        """Return the kernel source, which is the template with the arrays' loads and stores filled in."""
        width = self.width
        loads, stores, places = [], [], []
        for item in dict.fromkeys((*self.loads, *self.stores)):
            kind, name = dtype_to_ctype(item.dtype), item.name
            pack = f"cuda_core::pack<{kind}, {width}>"
            if item in self.loads:
                loads.append(f"{pack} cuda_core_{name} = reinterpret_cast<const {pack}*>({name})[cuda_core_p];")
            else:
                loads.append(f"{pack} cuda_core_{name};")
            if item in self.stores:
                stores.append(f"reinterpret_cast<{pack}*>({name})[cuda_core_p] = cuda_core_{name};")
            seen = kind if item in self.stores else f"const {kind}"
            places.append(
                f"const cuda_core::place<{seen}> {name} = {{&cuda_core_{name}.items[cuda_core_k]}};",
            )
        return template.format(
            width=width, loads=" ".join(loads), stores=" ".join(stores), places=" ".join(places), **texts
        )


def packing_of(items, operation: str, preamble: str, loop_prep: str, after_loop: str) -> Packing | None:
    """Return how to vectorize user code, or None if it cannot be vectorized.

    Parameters
    ----------
    items : sequence of VectorArg and ScalarArg
        The parameters.
    operation, preamble, loop_prep, after_loop : str
        The user's code.
    """
    vectors = [item for item in items if isinstance(item, VectorArg)]
    widest = max(item.dtype.itemsize for item in vectors)
    sizes = {item.dtype.itemsize for item in vectors}
    text = _COMMENTS.sub(" ", operation)
    if not sizes <= {1, 2, 4, 8} or any(item.dtype.kind == "V" for item in vectors):
        return None
    if after_loop.strip() or _BARRED.search(text) or _INDEX_CHANGES.search(text):
        return None
    names = [item.name for item in vectors]
    others = loop_prep + "".join(line for line in preamble.splitlines(True) if "#" in line or "\\" in line)
    if any(re.search(rf"\b{name}\b", others) for name in names):
        return None
    loads, stores = [], []
    for item in vectors:
        uses = uses_of(item.name, text)
        if uses is None:
            return None
        is_read, is_stored = uses
        if is_read:
            loads.append(item)
        if is_stored:
            stores.append(item)
    width = PACK_BYTES // widest
    if not stores:
        return None
    places = tuple([place for place, item in enumerate(vectors) if item in stores])
    return Packing(width, tuple(loads), tuple(stores), width * widest - 1, places)


def uses_of(name: str, text: str) -> tuple[bool, bool] | None:
    """Return whether code reads an array and whether it stores to it, or None for uses other than ``x[i]``."""
    is_read = is_stored = False
    for found in re.finditer(rf"\b{name}\b", text):
        before, after = text[: found.start()].rstrip(), text[found.end() :]
        index = re.match(r"\s*\[\s*i\s*\]\s*", after)
        # This also rejects members of other objects, addresses of elements, and declarations of the same name.
        if index is None or _ADDRESS.search(before) or before.endswith((".", "->", "::", "sizeof", "decltype")):
            return None
        after = after[index.end() :]
        if after.startswith(("[", "->")) or re.match(r"\.\s*\w+\s*(?:=(?!=)|[-+*/%&|^]=)", after):
            return None
        is_assigned = _ASSIGNS.match(after) is not None
        if is_assigned or _CHANGES.match(after) or before.endswith(("++", "--")):
            # A store after a condition, such as ?: or &&, is rejected because it might skip some elements.
            if not re.search(r"(?:^|[;{}]|(?<![=!<>])=|\+\+|--)$", before):
                return None
            is_stored = True
            is_read = is_read or not is_assigned
        else:
            is_read = True
    return is_read, is_stored


BLOCK = 256
# Above this, indices need 64 bits.
MAX_NARROW = 2**31 - 1

_SOURCE = """
{prelude}
{preamble}
extern "C" __global__ void __launch_bounds__({block}) {name}({parameters})
{{
    const unsigned int tid = threadIdx.x;
    const {index} total_threads = ({index})gridDim.x * blockDim.x;
    const {index} cta_start = ({index})blockDim.x * blockIdx.x;
    {index} i;
    {loop_prep};
    {loop}
    {{
        {operation};
    }}
    {after_loop};
}}
"""
# A thread handles packs of adjacent elements with vectorized loads and stores, then the remaining single elements.
_PACKED_SOURCE = """
{prelude}
{preamble}
namespace cuda_core {{
template <typename T> struct place
{{
    T* item;
    template <typename I> __device__ T& operator[](const I&) const {{ return *item; }}
}};
}}
extern "C" __global__ void __launch_bounds__({block}) {name}({parameters})
{{
    const unsigned int tid = threadIdx.x;
    const {index} total_threads = ({index})gridDim.x * blockDim.x;
    const {index} cta_start = ({index})blockDim.x * blockIdx.x;
    const {index} cuda_core_packs = n / {width};
    {loop_prep};
    for ({index} cuda_core_p = cta_start + tid; cuda_core_p < cuda_core_packs; cuda_core_p += total_threads)
    {{
        {loads}
        #pragma unroll
        for (int cuda_core_k = 0; cuda_core_k < {width}; ++cuda_core_k)
        {{
            const {index} i = cuda_core_p * {width} + cuda_core_k;
            {places}
            {{ {operation}; }}
        }}
        {stores}
    }}
    for ({index} i = cuda_core_packs * {width} + cta_start + tid; i < n; i += total_threads)
    {{
        {operation};
    }}
}}
"""
_EACH = "for (i = cta_start + tid; i < n; i += total_threads)"
_RANGE = "for (i = start + (cta_start + tid) * step; step > 0 ? i < stop : i > stop; i += total_threads * step)"


class ElementwiseKernel:
    """A kernel that executes C statements for each index.

    Parameters
    ----------
    arguments : str or list
        The C parameters, such as ``"float a, const float *x, float *z"``, or a list of :class:`VectorArg` and
        :class:`ScalarArg`. A pointer accepts an array.
    operation : str
        C statements that use the index ``i``, such as ``"z[i] = a * x[i]"``. They can use ``n``, the number of
        elements, and in calls with a range or slice also its ``start``, ``stop`` and ``step``.
    name : str, optional
        The kernel name. Defaults to ``"kernel"``.
    keep : bool, optional
        Whether to keep the compiler's files. Defaults to False.
    options : list of str, optional
        The compiler options.
    preamble : str, optional
        C++ definitions before the kernel, such as templates.
    loop_prep, after_loop : str, optional
        C statements that each thread executes before its first index, and after its last.

    Raises
    ------
    ValueError
        If a type in ``arguments`` is unknown, or a parameter has the name of a kernel variable (``i``, ``n``).
    AssertionError
        If no parameter is an array.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core.driver import autoinit, gpuarray
    >>> from cuda.core.driver.elementwise import ElementwiseKernel
    >>> scale = ElementwiseKernel("float a, float *x", "x[i] *= a", "scale")
    >>> array = gpuarray.to_gpu(np.ones(3, np.float32))
    >>> scale(2.0, array)
    >>> array.get().tolist()
    [2.0, 2.0, 2.0]
    """

    def __init__(
        self,
        arguments,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options=None,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
    ):
        self._parameters = Parameters(arguments)
        self.arguments = self._parameters.items
        self.name = checked_kernel_name(name)
        self._texts = {"operation": operation, "preamble": preamble, "loop_prep": loop_prep, "after_loop": after_loop}
        for key, text in self._texts.items():
            if not isinstance(text, str):
                raise TypeError(f"{key} must be a str, not {type(text).__name__}")
        self._keep = keep
        self._options = options
        self._kernels: dict = {}
        self._packing = packing = packing_of(self.arguments, **self._texts)
        self._packs = () if packing is None else (packing.width, packing.mask, packing.places)

    def __repr__(self):
        return f"<ElementwiseKernel {self.name}({', '.join(self._parameters.declarators)})>"

    def __call__(self, *args, range=None, slice=None, stream=None) -> None:
        """Enqueue the kernel (``cuLaunchKernel``).

        Parameters
        ----------
        *args
            One argument for each parameter: contiguous arrays, and numbers. The size of the first array is the number
            of indices.
        range : slice, optional
            The indices to visit, as in :class:`range`, with ``start``, ``stop`` and ``step`` used as given.
        slice : slice, optional
            The indices to visit, as when slicing a sequence, where negative indices count from the end.
        stream : Stream, optional
            The stream to enqueue the kernel on. Defaults to the default stream.

        Raises
        ------
        CompileError
            In the first call, if the C code has errors.
        TypeError
            If the number or the types of the arguments are wrong, or both ``range`` and ``slice`` are given.
        ValueError
            If the step is 0.
        RuntimeError
            If an array is not contiguous.
        LogicError
            If the memory of an array was freed, or is on another device than the current context.
        """
        if stream is None and range is None and slice is None and len(args) == len(self.arguments):
            found = fast_elementwise(self._parameters.table, args, CHECKS, self._packs, self._kernels)
            if found is None:
                return
            arrays, values = found
        else:
            arrays, values = self._parameters.convert(self.name, args)
        size = arrays[0].size
        device = arrays[0]._device
        inner = stream_for(stream, *arrays)
        if range is None and slice is None:
            if size:
                self._kernel_for(device.arch, arrays, size).launch(inner, size, *values, size)
            return
        start, stop, step = bounds(range, slice, size)
        count = len(_builtin_range(start, stop, step))
        if count:
            self._kernel(device.arch, True, True).launch(inner, count, *values, start, stop, step, size)

    def get_texref(self, name: str, use_range: bool = False):
        """Raise NotSupportedError, because CUDA 13 has no texture references.

        Parameters
        ----------
        name : str
            The name of the texture reference.
        use_range : bool, optional
            Ignored.

        Raises
        ------
        NotSupportedError
            Always.
        """
        raise logic_error(
            "cuModuleGetTexRef", NOT_SUPPORTED, f"CUDA 13 has no texture references; pass a texture object for {name!r}"
        )

    def packed_source(self, is_wide: bool = False) -> str:
        """Return the kernel's CUDA C++ source with vectorized loads and stores.

        Parameters
        ----------
        is_wide : bool, optional
            Whether indices have 64 bits, for more than 2**31 - 1 elements. Defaults to False.
        """
        texts = {key: self._texts[key] for key in ("preamble", "loop_prep", "operation")}
        declarators, dtypes = self._parameters.declarators, [item.dtype for item in self.arguments]
        return self._packing.source(
            _PACKED_SOURCE,
            prelude=user_prelude([*texts.values(), *declarators], dtypes),
            block=BLOCK,
            name=self.name,
            parameters=", ".join([*declarators, "const unsigned long n"]),
            index="unsigned long" if is_wide else "unsigned int",
            **texts,
        )

    def source(self, use_range: bool = False, is_wide: bool = False) -> str:
        """Return the kernel's CUDA C++ source.

        Parameters
        ----------
        use_range : bool, optional
            Whether the kernel is for calls with a range or slice. Defaults to False.
        is_wide : bool, optional
            Whether indices have 64 bits, for more than 2**31 - 1 elements. Defaults to False.
        """
        dtypes = [item.dtype for item in self.arguments]
        return source_of(self._parameters.declarators, dtypes, self.name, use_range, is_wide, **self._texts)

    def _kernel_for(self, arch: str, arrays, size: int):
        """Return the kernel for all elements of these arrays, vectorized if their addresses allow it."""
        packing, is_wide = self._packing, size > MAX_NARROW
        if packing is not None and packs_fit(arrays, size, packing.width, packing.mask, packing.places):
            kernel = self._kernels.get((arch, "packed", is_wide)) or self._packed_kernel(arch, is_wide)
            if kernel is not None:
                return kernel
        return self._kernel(arch, False, is_wide)

    def _packed_kernel(self, arch: str, is_wide: bool):
        key = (arch, "packed", is_wide)
        if key not in self._kernels:
            try:
                source = self.packed_source(is_wide)
                (kernel,) = build_user_kernel(
                    source, [self.name], arch, BLOCK, BLOCK * self._packing.width, self._options, self._keep
                )
            except CompileError:
                kernel = None  # either only packs do not compile, or the other kernel reports the errors
            self._kernels[key] = kernel
        return self._kernels[key]

    def _kernel(self, arch: str, use_range: bool, is_wide: bool):
        key = (arch, use_range, is_wide)
        kernel = self._kernels.get(key)
        if kernel is None:
            source = self.source(use_range, is_wide)
            (kernel,) = build_user_kernel(source, [self.name], arch, BLOCK, BLOCK, self._options, self._keep)
            self._kernels[key] = kernel
        return kernel


_builtin_range = range


def bounds(range_, slice_, size: int) -> tuple[int, int, int]:
    """Return the start, stop and step of the indices, or raise TypeError or ValueError for invalid arguments."""
    if range_ is not None and slice_ is not None:
        raise TypeError("range and slice are mutually exclusive; pass only one")
    if slice_ is not None:
        if not hasattr(slice_, "indices"):
            raise TypeError(f"slice must be a slice, not {type(slice_).__name__}")
        return slice_.indices(size)
    if not hasattr(range_, "start"):
        raise TypeError(f"range must be a slice or a range, not {type(range_).__name__}")
    start = 0 if range_.start is None else operator.index(range_.start)
    step = 1 if range_.step is None else operator.index(range_.step)
    stop = size if range_.stop is None else operator.index(range_.stop)
    if step == 0:
        raise ValueError("the step of a range must not be 0")
    return start, stop, step


def source_of(
    declarators,
    dtypes,
    name: str,
    use_range: bool,
    is_wide: bool,
    operation: str,
    preamble="",
    loop_prep="",
    after_loop="",
) -> str:
    """Return the source of an elementwise kernel."""
    index = "long" if use_range else "unsigned long" if is_wide else "unsigned int"
    bounds_of_range = ["const long start", "const long stop", "const long step"] if use_range else []
    return _SOURCE.format(
        prelude=user_prelude([operation, preamble, loop_prep, after_loop, *declarators], dtypes),
        preamble=preamble,
        block=BLOCK,
        name=name,
        parameters=", ".join([*declarators, *bounds_of_range, "const unsigned long n"]),
        index=index,
        loop=_RANGE if use_range else _EACH,
        operation=operation,
        loop_prep=loop_prep,
        after_loop=after_loop,
    )


def get_elwise_module(
    arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="", after_loop=""
) -> SourceModule:
    """Return the module of an elementwise kernel, whose last parameter is ``n``.

    See :class:`ElementwiseKernel` for the parameters.

    Raises
    ------
    CompileError
        If the C code has errors.
    """
    parameters = Parameters(arguments)
    dtypes = [item.dtype for item in parameters.items]
    texts = {"preamble": preamble, "loop_prep": loop_prep, "after_loop": after_loop}
    source = source_of(parameters.declarators, dtypes, checked_kernel_name(name), False, True, operation, **texts)
    return SourceModule(source, options=options, keep=keep, no_extern_c=True)


def get_elwise_range_module(
    arguments, operation, name="kernel", keep=False, options=None, preamble="", loop_prep="", after_loop=""
) -> SourceModule:
    """Return the module of an elementwise kernel whose last parameters are ``start, stop, step, n``.

    See :class:`ElementwiseKernel` for the parameters.

    Raises
    ------
    CompileError
        If the C code has errors.
    """
    parameters = Parameters(arguments)
    dtypes = [item.dtype for item in parameters.items]
    texts = {"preamble": preamble, "loop_prep": loop_prep, "after_loop": after_loop}
    source = source_of(parameters.declarators, dtypes, checked_kernel_name(name), True, True, operation, **texts)
    return SourceModule(source, options=options, keep=keep, no_extern_c=True)


def get_elwise_kernel(arguments, operation, name="kernel", keep=False, options=None, **kwargs):
    """Return an elementwise kernel as a prepared :class:`Function`, whose last argument is the number of indices.

    See :func:`get_elwise_kernel_and_types` for the parameters.
    """
    return get_elwise_kernel_and_types(arguments, operation, name, keep, options, **kwargs)[0]


def get_elwise_kernel_and_types(
    arguments, operation, name="kernel", keep=False, options=None, use_range=False, **kwargs
):
    """Return an elementwise kernel as a prepared :class:`Function`, and the list of its parameters.

    Parameters
    ----------
    arguments, operation, name, keep, options, **kwargs
        As for :class:`ElementwiseKernel`.
    use_range : bool, optional
        Whether ``start``, ``stop`` and ``step`` precede the last argument. Defaults to False.

    Raises
    ------
    CompileError
        If the C code has errors.
    LogicError
        If no context is current.
    """
    array_device("cuModuleLoadDataEx")
    make = get_elwise_range_module if use_range else get_elwise_module
    module = make(arguments, operation, name, keep, options, **kwargs)
    items = Parameters(arguments).items
    types = [item.struct_char for item in items]
    function = module.get_function(name).prepare([*types, *("lll" if use_range else ""), "L"])
    return function, items


def __dir__():
    return list(__all__)
