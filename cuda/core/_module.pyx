# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code: :class:`ObjectCode`, which is loaded on first use, and its :class:`Kernel` objects."""

from __future__ import annotations

cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport intptr_t, uintptr_t

from cpython.object cimport PyObject

from cuda.core._code._kernel_attributes cimport KernelAttributes_create, KernelOccupancy_create
from cuda.core._code._loading cimport (
    LazyCode,
    described,
    find_kernel,
    find_variable,
    keep_code,
    kernel_names,
    load,
    mapped_symbol,
    ptx_log,
)
from cuda.core._memory._buffer cimport Buffer, Buffer_create
from cuda.core._memory._memory_resource cimport borrow
from cuda.core._native._cuda_core cimport (
    AllocationHandle,
    Anchor,
    DriverObject,
    KernelHandle,
    KernelPin,
    LibraryHandle,
    PinnedHandle,
    address,
    bindings_object,
    kernel_registry,
    note_printing_code,
    pin_as,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, c_driver_version

from collections import namedtuple
import keyword
import os
import warnings

from cuda.core._code._kernel_attributes import (  # no-cython-lint (user code imports them from here)
    KernelAttributes,
    KernelOccupancy,
    MaxPotentialBlockSizeOccupancyResult,
)
from cuda.core._code._layouts import numpy_type
from cuda.core._code._loading import CodeTypeT, explain, similar_names, source_names, variable_names
from cuda.core._code._signatures import Declarations
from cuda.core._launch_config import LaunchConfig
from cuda.core._native._cuda_core import explain_other_names
from cuda.core._stream import launch_stream
from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import CUDAError, require_call
from cuda.core._utils.late import LateModule
from cuda.core._utils.locks import RLock
from cuda.core._utils.validators import check_address, shown
from cuda.core.typing import ObjectCodeFormatType

__all__ = [
    "CodeTypeT",
    "Kernel",
    "KernelAttributes",
    "KernelOccupancy",
    "MaxPotentialBlockSizeOccupancyResult",
    "ObjectCode",
    "ParamInfo",
]

_disassembly = LateModule("cuda.core._code._disassembly")

ParamInfo = namedtuple("ParamInfo", ("offset", "size"), module="cuda.core._module")
_KernelResources = namedtuple(
    "KernelResources", ("registers", "shared_memory", "local_memory", "constant_memory", "max_threads_per_block")
)


class KernelResources(_KernelResources):
    """What a kernel uses, from :attr:`Kernel.resources`: registers and bytes of local memory per thread, bytes of
    static shared memory per block, bytes of constant memory, and the largest number of threads per block.
    """

    __slots__ = ()

    def __str__(self):
        rows = zip(self._fields, self, strict=True)
        return "\n".join(f"{name.replace('_', ' '):22}{value:>8}" for name, value in rows)


ParamInfo.__doc__ = "The offset of a parameter in a kernel's parameter block, and its size, both in bytes."


cdef class ObjectCode(LazyCode):
    """Compiled code, in memory or in a file, which is loaded on first use (``cuLibraryLoadData``).

    An ObjectCode cannot be constructed directly: :meth:`Program.compile`, :meth:`Linker.link` and the ``from_`` methods
    return one. The library stays loaded until this object and every :class:`Kernel` and :class:`Buffer` from it are
    closed or deleted (``cuLibraryUnload``).

    Examples
    --------
    >>> from cuda.core import ObjectCode, Program, ProgramOptions
    >>> program = Program('extern "C" __global__ void f() {}', "c++", ProgramOptions(arch="sm_90"))
    >>> data = bytes(program.compile("cubin").code)  # to keep in a file
    >>> ObjectCode.from_cubin(data).code_type
    'cubin'
    """

    cdef:
        dict _symbol_mapping
        dict _kernels               # name -> Kernel; the cache of get_kernel()
        object _declarations        # the kernels in the source, or None if there is no source

    _made_by = "Program.compile(), Linker.link() or an ObjectCode.from_ method"

    def __reduce__(self):
        fields = (keep_code(self), self._code_type, self._name, self._symbol_mapping)
        return ObjectCode_rebuild, fields if self._declarations is None else (*fields, self._declarations)

    @classmethod
    def _init(cls, module, code_type, *, name="", symbol_mapping=None, declarations=None):
        """Create an object code of the class ``cls``, with code of any type."""
        self = ObjectCode_create(cls, module, code_type, name, symbol_mapping)
        (<ObjectCode>self)._declarations = declarations
        return self

    @staticmethod
    def from_cubin(
        module: bytes | bytearray | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Create an object code from a CUBIN: machine code for one architecture.

        Parameters
        ----------
        module : bytes | bytearray | str | os.PathLike
            The code, or the path of a file that contains it. The file is read on first use, not here.
        name : str, optional
            A name for error messages. Defaults to the empty string.
        symbol_mapping : dict, optional
            Aliases: a dict from names that :meth:`get_kernel` and :meth:`get_global` accept to symbols of the code (str
            or bytes). Defaults to no aliases.

        Returns
        -------
        :class:`ObjectCode`
            The object code, not yet loaded.

        Raises
        ------
        TypeError
            If ``name`` is not a str, or ``symbol_mapping`` not a dict.
        """
        return ObjectCode_create(ObjectCode, module, "cubin", name, symbol_mapping)

    @staticmethod
    def from_ptx(
        module: bytes | bytearray | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Create an object code from PTX, which the driver compiles for the device when the code is loaded.

        Parameters
        ----------
        module : bytes | bytearray | str | os.PathLike
            The PTX, or the path of a file that contains it.
        name, symbol_mapping
            As for :meth:`from_cubin`.

        Returns
        -------
        :class:`ObjectCode`
            The object code, not yet loaded.
        """
        return ObjectCode_create(ObjectCode, module, "ptx", name, symbol_mapping)

    @staticmethod
    def from_ltoir(
        module: bytes | bytearray | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Create an object code from LTO IR, which :class:`Linker` links and which cannot be loaded.

        Parameters
        ----------
        module : bytes | bytearray | str | os.PathLike
            The LTO IR, or the path of a file that contains it.
        name, symbol_mapping
            As for :meth:`from_cubin`.

        Returns
        -------
        :class:`ObjectCode`
            The object code, not yet loaded.
        """
        return ObjectCode_create(ObjectCode, module, "ltoir", name, symbol_mapping)

    @staticmethod
    def from_fatbin(
        module: bytes | bytearray | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Create an object code from a fat binary, which contains code for several architectures.

        Parameters
        ----------
        module : bytes | bytearray | str | os.PathLike
            The fat binary, or the path of a file that contains it.
        name, symbol_mapping
            As for :meth:`from_cubin`.

        Returns
        -------
        :class:`ObjectCode`
            The object code, not yet loaded.
        """
        return ObjectCode_create(ObjectCode, module, "fatbin", name, symbol_mapping)

    @staticmethod
    def from_object(
        module: bytes | bytearray | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Create an object code from a host object file with device code, which :class:`Linker` links.

        Parameters
        ----------
        module : bytes | bytearray | str | os.PathLike
            The object file, or its path.
        name, symbol_mapping
            As for :meth:`from_cubin`.

        Returns
        -------
        :class:`ObjectCode`
            The object code, not yet loaded.
        """
        return ObjectCode_create(ObjectCode, module, "object", name, symbol_mapping)

    @staticmethod
    def from_library(
        module: bytes | bytearray | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Create an object code from a host library with device code, which :class:`Linker` links.

        Parameters
        ----------
        module : bytes | bytearray | str | os.PathLike
            The static library, or its path.
        name, symbol_mapping
            As for :meth:`from_cubin`.

        Returns
        -------
        :class:`ObjectCode`
            The object code, not yet loaded.
        """
        return ObjectCode_create(ObjectCode, module, "library", name, symbol_mapping)

    def get_kernel(self, name: str | bytes) -> Kernel:
        """Return a kernel by its name (``cuLibraryGetKernel``), and load the code on first use.

        Parameters
        ----------
        name : str | bytes
            The symbol of the kernel (mangled, unless ``extern "C"``), or a key of :attr:`symbol_mapping`.

        Returns
        -------
        :class:`Kernel`
            The kernel, which keeps the code loaded. Equal names return the same object.

        Raises
        ------
        TypeError
            If ``name`` is neither str nor bytes.
        RuntimeError
            If this object is closed, or its code must be linked before it can be loaded (LTO IR, object, library).
        CUDAError
            If the code cannot be loaded, or contains no kernel of that name.

        Examples
        --------
        >>> from cuda.core import Device, Program
        >>> Device().set_current()
        >>> code = Program('extern "C" __global__ void f(int* x) { *x = 1; }', "c++").compile("cubin")
        >>> code.get_kernel("f").num_arguments
        1
        """
        cdef dict kernels = kernels_of(self)
        if kernels is not None and (type(name) is str or type(name) is bytes):
            known = kernels.get(name)
            if known is not None:
                return known
        return ObjectCode_find_kernel(self, name)

    def get_global(self, name: str | bytes) -> Buffer:
        """Return the memory of a global variable (``cuLibraryGetGlobal``), and load the code on first use.

        Parameters
        ----------
        name : str | bytes
            The symbol of a ``__device__``, ``__managed__`` or ``__constant__`` variable, or a key of
            :attr:`symbol_mapping`; the name expression of a variable is ``"&scope::variable"``.

        Returns
        -------
        :class:`Buffer`
            The memory of the variable in the current context. The buffer keeps the code loaded.

        Raises
        ------
        TypeError
            If ``name`` is neither str nor bytes.
        RuntimeError
            If this object is closed, or its code must be linked before it can be loaded.
        CUDAError
            If no context is current, the code cannot be loaded, or it contains no variable of that name.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device, Program
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> code = Program("__constant__ float weights[3];", "c++").compile("cubin")
        >>> weights = code.get_global("weights")
        >>> weights.copy_from(np.array([1, 2, 1], np.float32), stream=stream)
        >>> weights.size
        12
        """
        return ObjectCode_find_global(self, name)

    def struct(self, name: str) -> numpy.dtype:  # noqa: F821
        """Return the NumPy dtype of a structure that the source defines.

        The compiler tells the layout, so the dtype has its offsets and its size, which include what ``alignas`` or a
        vector type require. A launch accepts an element of the dtype for a parameter of the structure's type.

        Parameters
        ----------
        name : str
            The name of the structure, with its namespaces.

        Returns
        -------
        numpy.dtype
            The dtype. A pointer is an unsigned integer, an enumeration an integer, a vector such as ``float4`` an
            array, and a field of a type without a layout consists of bytes. A bit field is no field of the dtype.

        Raises
        ------
        TypeError
            If ``name`` is not a str.
        ValueError
            If the source defines no such structure, or the compiler did not tell its layout, because the structure is
            a template, has private fields or bases with fields, or because this package did not compile the code from
            C++.

        Examples
        --------
        >>> from cuda.core import Program, ProgramOptions
        >>> source = "struct Ray { char hit; float4 direction; }; __global__ void f(Ray* ray) { ray->hit = 1; }"
        >>> code = Program(source, "c++", ProgramOptions(arch="sm_90")).compile("cubin")
        >>> code.struct("Ray").fields["direction"][1]
        16
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        declarations = self._declarations
        layout = None if declarations is None else declarations.layout(name)
        if layout is None or layout.fields is None:
            known = [] if declarations is None else declarations.structures()
            known = [other for other in known if (found := declarations.layout(other)) and found.fields is not None]
            raise ValueError(f"the layout of {name!r} is unknown; {f'known are {known}' if known else 'none is known'}")
        return numpy_type(name, layout.size, declarations.layout)

    @property
    def kernels(self) -> list[str]:
        """The symbols of all kernels in the code, which is loaded on first use (``cuLibraryEnumerateKernels``).

        Raises
        ------
        RuntimeError
            If this object is closed, or its code must be linked before it can be loaded.
        NotSupportedError
            If the driver is older than CUDA 12.4.
        CUDAError
            If the code cannot be loaded.

        Examples
        --------
        >>> from cuda.core import Device, Program
        >>> Device().set_current()
        >>> source = 'extern "C" __global__ void f() {} extern "C" __global__ void g() {}'
        >>> sorted(Program(source, "c++").compile("cubin").kernels)
        ['f', 'g']
        """
        cdef LibraryHandle h_library
        cdef unsigned int c_count = 0
        ObjectCode_check_symbol(self, "", "kernels")
        require_call("cuLibraryEnumerateKernels", "listing the kernels of code")
        h_library = load(self)
        HANDLE_RETURN(cydriver.cuLibraryGetKernelCount(&c_count, h_library.get()), b"cuLibraryGetKernelCount")
        return kernel_names(h_library)

    def sass(self, name: str | bytes | None = None) -> str:
        """Return the machine instructions of a cubin, as NVIDIA's ``nvdisasm`` prints them.

        It needs neither a GPU nor a driver. ``nvdisasm`` is searched on the path, in the package
        ``nvidia-cuda-nvdisasm`` and in the CUDA toolkit.

        Parameters
        ----------
        name : str | bytes, optional
            The kernel, as in :meth:`get_kernel`. Defaults to all code.

        Raises
        ------
        TypeError
            If ``name`` is not a str or bytes.
        ValueError
            If there is no such kernel.
        RuntimeError
            If this object is closed, its code is not a cubin, or ``nvdisasm`` fails.
        NotSupportedError
            If ``nvdisasm`` is not installed.

        Examples
        --------
        >>> from cuda.core import Program, ProgramOptions
        >>> source = 'extern "C" __global__ void f(float* x) { x[threadIdx.x] *= 2; }'
        >>> code = Program(source, "c++", ProgramOptions(arch="sm_90")).compile("cubin")
        >>> print(code.sass("f"))  # doctest: +SKIP
        """
        ObjectCode_check_symbol(self, "" if name is None else name, "instructions")
        code = keep_code(self)
        if self._code_type != "cubin":
            raise RuntimeError(f"only a cubin has machine instructions, not {self._code_type!r}; compile to 'cubin'")
        symbol = None if name is None else mapped_symbol(self._symbol_mapping, name).decode(errors="replace")
        return _disassembly.disassemble(code, symbol)

    @property
    def symbol_mapping(self) -> dict[str | bytes, str | bytes]:
        """A copy of the aliases that :meth:`get_kernel` and :meth:`get_global` accept, as a dict to their symbols.

        For code from :meth:`Program.compile`, the keys are the name expressions, and the values are the mangled names
        as bytes.
        """
        return dict(self._symbol_mapping or ())

    cdef void _release(self) noexcept:
        with cython.critical_section(self):
            self._kernels = None
        LazyCode._release(self)


cdef ObjectCode ObjectCode_create(cls, module, code_type, name, symbol_mapping):
    cdef ObjectCode self
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    if symbol_mapping is not None and not isinstance(symbol_mapping, dict):
        raise TypeError(f"symbol_mapping must be a dict or None, not {type(symbol_mapping).__name__}")
    self = cls.__new__(cls)
    # The type and the contents of the code are checked when it is loaded.
    self._code = os.fsdecode(module) if hasattr(type(module), "__fspath__") else module
    self._code_type = str(ObjectCodeFormatType(code_type))
    self._name = name
    self._symbol_mapping = dict(symbol_mapping) if symbol_mapping else {}
    self._kernels = {}
    self._lock = RLock()
    return self


def ObjectCode_rebuild(code, code_type, name, symbol_mapping, declarations=None):
    """Create an object code from its pickled fields."""
    return ObjectCode._init(code, code_type, name=name, symbol_mapping=symbol_mapping, declarations=declarations)


def linked_declarations(object_codes) -> Declarations | None:
    """Return the kernels in the sources of the inputs of a linker, or None if there are no sources."""
    cdef ObjectCode object_code
    inputs = [object_code._declarations for object_code in object_codes if object_code._declarations is not None]
    return Declarations(*inputs) if inputs else None


cdef Kernel ObjectCode_find_kernel(ObjectCode self, object name):
    cdef cydriver.CUkernel c_kernel = NULL
    cdef KernelHandle h_kernel
    cdef LibraryHandle h_library
    cdef Kernel kernel
    cdef dict kernels
    cdef bytes symbol
    ObjectCode_check_symbol(self, name, "kernels")
    code = keep_code(self)
    h_library = load(self)
    symbol = mapped_symbol(self._symbol_mapping, name)
    try:
        c_kernel = find_kernel(h_library, symbol)
    except CUDAError as error:
        known = source_names(kernel_names(h_library), self._symbol_mapping) if is_not_found(error) else None
        ObjectCode_explain_symbol(self, error, code, "kernel", name, symbol, known)
        raise
    h_kernel = KernelHandle.own(c_kernel, &Kernel_destroy, h_library.anchor())
    kernel = Kernel_create(kernel_registry().add(h_kernel), symbol.decode(errors="replace"), self._declarations)
    alias = name if name in self._symbol_mapping else Kernel_function(kernel)
    kernel._origin = (alias if isinstance(alias, str) else alias.decode(errors="replace"), self._name)
    kernels = kernels_of(self)
    return kernel if kernels is None else kernels.setdefault(name, kernel)


cdef Buffer ObjectCode_find_global(ObjectCode self, object name):
    cdef cydriver.CUdeviceptr c_pointer = 0
    cdef size_t c_size = 0
    cdef AllocationHandle h_allocation
    cdef LibraryHandle h_library
    cdef bytes symbol
    ObjectCode_check_symbol(self, name, "variables")
    code = keep_code(self)
    h_library = load(self)
    symbol = mapped_symbol(self._symbol_mapping, name)
    try:
        find_variable(h_library, symbol, &c_pointer, &c_size)
    except CUDAError as error:
        known = variable_names(code, self._code_type) if is_not_found(error) else None
        ObjectCode_explain_symbol(self, error, code, "variable", name, symbol, known)
        raise
    borrow(c_pointer, c_size, h_library.anchor(), &h_allocation)
    return Buffer_create(Buffer, h_allocation, None, None)


cdef frozenset _HAS_KERNELS = frozenset({"cubin", "ptx", "fatbin"})


cdef int ObjectCode_check_symbol(ObjectCode self, object name, str what) except -1:
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"name must be a str or bytes, not {type(name).__name__}")
    self._check_open()
    if self._code_type not in _HAS_KERNELS:
        raise RuntimeError(f"code of type {self._code_type!r} cannot be loaded to get {what}; link it to a cubin first")
    return 0


# None once the object is closed.
cdef dict kernels_of(ObjectCode self):
    with cython.critical_section(self):
        return self._kernels


# Adds the symbol, a description of the code, and similar names in the code to the driver's error.
cdef int ObjectCode_explain_symbol(
    ObjectCode self, object error, object code, str kind, object name, bytes symbol, list known
) except -1:
    what = described(code, self._code_type, self._name)
    if is_not_found(error):
        hint = similar_names(symbol.decode(errors="replace"), known, f"{kind}s")
        explain(error, f"there is no {kind} {name!r} in {what}{hint}")
        explain_expression(error, kind, name)
    else:
        explain(error, f"getting the {kind} {name!r} of {what} failed{ptx_log(code, self._code_type)}")
    return 0


# Name expressions create instances of templates, and let programs use names that the compiler mangles.
cdef int explain_expression(object error, str kind, object name) except -1:
    text = name if isinstance(name, str) else name.decode(errors="replace")
    if "<" in text or "::" in text:
        expression = text if kind == "kernel" else f"&{text.lstrip('&')}"
        explain(error, f"compile with name_expressions=({expression!r},) to get it by this name")
    return 0


cdef bint is_not_found(object error):
    return error.name == "CUDA_ERROR_NOT_FOUND"


cdef class Kernel(DriverObject):
    """A kernel: a ``__global__`` function of loaded code, which :func:`launch` launches.

    A kernel cannot be constructed directly: :meth:`ObjectCode.get_kernel` and :meth:`from_handle` return one. It keeps
    its library loaded.

    Examples
    --------
    >>> from cuda.core import Device, Program
    >>> Device().set_current()
    >>> source = 'extern "C" __global__ void f(int* x, float y) { *x = y; }'
    >>> kernel = Program(source, "c++").compile("cubin").get_kernel("f")
    >>> kernel.num_arguments
    2
    >>> kernel.attributes.max_threads_per_block >= 256
    True
    """

    _made_by = "ObjectCode.get_kernel() or Kernel.from_handle()"

    def __repr__(self):
        if self._origin is None:
            return DriverObject.__repr__(self)
        name, code = self._origin
        state = " closed" if self.is_closed else f" of {code}" if code else ""
        return f"<{type(self).__name__} {name!r}{state}>"

    @staticmethod
    def from_handle(handle: int, mod: ObjectCode | None = None) -> Kernel:
        """Wrap an existing ``CUkernel`` without taking ownership.

        Parameters
        ----------
        handle : int
            The address of the ``CUkernel``. If another library loaded it, that library must not unload it while in use.
        mod : :class:`ObjectCode`, optional
            The object code that contains the kernel. The new object keeps it loaded.

        Returns
        -------
        :class:`Kernel`
            The kernel.

        Raises
        ------
        TypeError
            If ``handle`` is not an integer, or ``mod`` is not an :class:`ObjectCode`.

        Warns
        -----
        UserWarning
            If an :class:`ObjectCode` other than ``mod`` loaded the kernel.
        """
        raw = check_address("handle", handle)
        if mod is not None and not isinstance(mod, ObjectCode):
            raise TypeError(f"mod must be an ObjectCode or None, not {type(mod).__name__}")
        note_printing_code()
        return Kernel_wrap(<cydriver.CUkernel><uintptr_t>raw, mod)

    def __getitem__(self, key):
        """Return a bound kernel: ``kernel[grid, block, shmem_size, stream]``, of which the last two can be omitted.

        ``kernel[:n, block]`` has at least one thread for each of ``n`` elements, as :meth:`LaunchConfig.for_elements`
        says; there, ``block`` can be omitted as well. The stream defaults to that of :meth:`Stream.use`, or else to the
        default stream of the current context. See :meth:`bind` for the errors.

        Examples
        --------
        >>> scale[:n](x, 2.0, n)  # one thread for each element, in blocks of 256
        >>> scale[(8, 4), (16, 16), 0, stream](x, 2.0, n)
        >>> loop["resident", 256](x, 2.0, n)  # a kernel that loops with the stride of the grid
        """
        keys = key if isinstance(key, tuple) else (key,)
        is_count = len(keys) and isinstance(keys[0], slice) and keys[0].start is None and keys[0].step is None
        if not (1 if is_count else 2) <= len(keys) <= 4:
            raise TypeError("a kernel takes kernel[grid, block], kernel[grid, block, shmem_size] or "
                            "kernel[grid, block, shmem_size, stream], or kernel[:n, block] for n elements")
        block = keys[1] if len(keys) > 1 else None
        grid, count = (None, keys[0].stop) if is_count else (keys[0], None)
        config = dimensions_of(grid, count, block, keys[2] if len(keys) > 2 else 0)
        return self.bind(config, stream=launch_stream() if len(keys) < 4 else keys[3])

    def __call__(
        self,
        *kernel_args,
        grid=None,
        block=None,
        shmem_size: int = 0,
        stream: Stream | None = None,
        elements: int | None = None,
        **named_args,
    ) -> None:
        """Launch this kernel (``cuLaunchKernelEx``).

        Parameters
        ----------
        *kernel_args
            The arguments, as for :func:`launch`.
        grid, block, shmem_size
            As for :class:`LaunchConfig`.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream to enqueue the kernel on. Defaults to that of :meth:`Stream.use`, or else to the default stream
            of the current context.
        elements : int, optional
            The number of elements, instead of ``grid``: there is at least one thread for each, as
            :meth:`LaunchConfig.for_elements` says, and ``block`` defaults to 256. With ``grid``, it is the argument for
            a parameter of that name.
        **named_args
            Arguments by the names of their parameters.

        Raises
        ------
        TypeError, OverflowError, RuntimeError, ValueError, CUDAError
            As for :func:`launch` and :class:`LaunchConfig`.

        Examples
        --------
        >>> scale(x, 2.0, n, elements=n, stream=stream)  # one thread for each element, in blocks of 256
        >>> scale(x, 2.0, n, grid=(8, 4), block=(16, 16), stream=stream)
        """
        if grid is not None and elements is not None:
            named_args["elements"], elements = elements, None
        stream = launch_stream() if stream is None else stream
        config = dimensions_of(grid, elements, block, shmem_size)
        slots.get("launch")(stream, config, self, *kernel_args, **named_args)

    def bind(self, config: LaunchConfig, *arguments, stream: Stream, **named):
        """Bind this kernel to a configuration and a stream, so that a call needs only the kernel's arguments.

        Arguments can be bound as well: a call then passes only the open ones.

        Parameters
        ----------
        config : :class:`LaunchConfig` | dict
            Grid and block dimensions, shared memory and launch attributes. Later changes affect later calls.
        *arguments
            Fixed arguments for the first parameters, with ``...`` for open ones. The other parameters are open. The
            arguments are checked when the kernel is launched.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream to enqueue the kernel on.
        **named
            Fixed arguments by the names of their parameters.

        Returns
        -------
        callable
            A callable with the attributes ``kernel``, ``config`` and ``stream``. Calling it with the kernel's
            arguments has the effect of :func:`launch` and costs less.

        Raises
        ------
        TypeError
            If ``config`` or ``stream`` has the wrong type, there are more arguments than parameters, or a name is
            unknown or given twice.
        RuntimeError
            If the kernel or ``stream`` is closed.

        Examples
        --------
        >>> from cuda.core import Device, LaunchConfig, Program
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> source = 'extern "C" __global__ void add(int* x, int by) { x[threadIdx.x] += by; }'
        >>> add = Program(source, "c++").compile("cubin").get_kernel("add")
        >>> x = device.allocate(16, stream=stream)
        >>> x.fill(0, stream=stream)
        >>> step = add.bind(LaunchConfig(grid=1, block=4), stream=stream)
        >>> for number in range(3):
        ...     step(x, number)
        >>> host = bytearray(16)
        >>> _ = x.copy_to(host, stream=stream)
        >>> stream.sync()
        >>> host[0]
        3
        """
        self._check_open()
        return slots.get("bind kernel")(self, config, stream, arguments, named)

    @property
    def attributes(self) -> KernelAttributes:
        """The kernel's attributes, such as registers and shared memory, on the current device or a given one."""
        with cython.critical_section(self):
            attributes = self._attributes
            if attributes is None:
                attributes = self._attributes = KernelAttributes_create(self._h_kernel.copy())
        return attributes

    @property
    def resources(self) -> KernelResources:
        """What a block and a thread of the kernel use on the current device, as a table (``cuKernelGetAttribute``).

        Examples
        --------
        >>> from cuda.core import Device, Program
        >>> Device().set_current()
        >>> code = Program('extern "C" __global__ void f() { __shared__ int x[64]; x[threadIdx.x] = 1; }', "c++")
        >>> code.compile("cubin").get_kernel("f").resources.shared_memory
        256
        """
        attributes = self.attributes
        return KernelResources(
            attributes.num_regs,
            attributes.shared_size_bytes,
            attributes.local_size_bytes,
            attributes.const_size_bytes,
            attributes.max_threads_per_block,
        )

    @property
    def occupancy(self) -> KernelOccupancy:
        """Occupancy queries: how many of the kernel's blocks can be resident on the current device."""
        with cython.critical_section(self):
            occupancy = self._occupancy
            if occupancy is None:
                occupancy = self._occupancy = KernelOccupancy_create(self._h_kernel.copy())
        return occupancy

    @property
    def num_arguments(self) -> int:
        """The number of kernel parameters (``cuKernelGetParamInfo``).

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 12.4.
        """
        Kernel_check_layout(self)
        return self._slots.size()

    @property
    def arguments_info(self) -> list[ParamInfo]:
        """The offset and size of each kernel parameter in bytes (``cuKernelGetParamInfo``).

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 12.4.
        """
        cdef size_t i
        Kernel_check_layout(self)
        return [ParamInfo(self._slots[i].offset, self._slots[i].size) for i in range(self._slots.size())]

    def dtype(self, parameter: str | int) -> numpy.dtype:  # noqa: F821
        """Return the NumPy dtype whose values a parameter takes.

        Parameters
        ----------
        parameter : str | int
            The name of the parameter, or its index.

        Returns
        -------
        numpy.dtype
            The dtype: of a structure as for :meth:`ObjectCode.struct`, of a pointer an unsigned integer.

        Raises
        ------
        TypeError
            If ``parameter`` is neither a str nor an int.
        ValueError
            If there is no such parameter, the names are unknown, or its type or layout is unknown.
        NotSupportedError
            If the driver is older than CUDA 12.4.

        Examples
        --------
        >>> from cuda.core import Device, Program
        >>> Device().set_current()
        >>> source = 'struct P { int a; double b; }; extern "C" __global__ void f(P p, double* x) { *x = p.a * p.b; }'
        >>> kernel = Program(source, "c++").compile("cubin").get_kernel("f")
        >>> kernel.dtype("p").itemsize
        16
        """
        Kernel_check_layout(self)
        return Kernel_dtype(self, parameter)

    @property
    def signature(self) -> inspect.Signature:  # noqa: F821
        """The names of the kernel's parameters, and their C types as annotations.

        A C++ kernel has its types in its symbol, and the compiler tells those of an ``extern "C"`` kernel, if this
        package compiled it. The names come from the source, if it declares the kernel once and neither a macro nor a
        condition has a part in that. Otherwise parameters are called ``arg1``, ``arg2`` and so on, and have no
        annotation.

        Raises
        ------
        NotSupportedError
            If the driver is older than CUDA 12.4.
        """
        import inspect  # late, because it takes longer to import than everything that a first launch needs

        Kernel_check_layout(self)
        found = Kernel_parameters(self)
        names = [name or f"arg{place}" for place, (name, _) in enumerate(found, 1)]
        if len(set(names)) < len(names):
            names = [f"arg{place}" for place in range(1, len(names) + 1)]
        # A parameter such as `in` cannot be passed by keyword.
        last = max((place for place, name in enumerate(names) if keyword.iskeyword(name)), default=-1)
        return inspect.Signature([
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_ONLY if place <= last else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                annotation=inspect.Parameter.empty if c_type is None else c_type,
            )
            for place, (name, (_, c_type)) in enumerate(zip(names, found, strict=True))
        ])

    @property
    def handle(self):
        """The kernel as a ``CUkernel`` of the bindings, or null if closed."""
        return bindings_object("CUkernel", self._address())

    @property
    def _handle(self):
        # Other packages read this name.
        return self.handle

    def _pin(self) -> PinnedHandle:
        cdef KernelPin pin
        Kernel_pin(self, &pin)
        return pin_as("CUkernel", <intptr_t>pin.get(), pin.anchor())

    cdef intptr_t _address(self) noexcept:
        return address(self._h_kernel)

    cdef void _release(self) noexcept:
        self._attributes = None
        self._occupancy = None
        self._h_kernel.reset()


cdef Kernel Kernel_create(const KernelHandle& h_kernel, str name, object declarations=None):
    cdef Kernel self = Kernel.__new__(Kernel)
    self._h_kernel.set(h_kernel)
    self._name = name
    self._declarations = declarations
    return self


# The configuration with a grid, or with one thread for each element.
cdef object dimensions_of(object grid, object elements, object block, object shmem_size):
    if grid is None and elements is None:
        raise ValueError(
            "grid, the number of blocks, is missing; write kernel[grid, block](*args), kernel[:n](*args) or "
            "kernel(*args, grid=grid, block=block)"
        )
    if elements is None:
        return LaunchConfig(grid, None, block, shmem_size)
    return LaunchConfig.for_elements(elements, 256 if block is None else block, shmem_size=shmem_size)


cdef Kernel Kernel_wrap(cydriver.CUkernel c_kernel, ObjectCode mod):
    cdef cydriver.CUlibrary c_library = NULL
    cdef KernelHandle h_kernel = kernel_registry().find(c_kernel)
    if not h_kernel:
        return Kernel_create(
            KernelHandle.borrow(c_kernel, Anchor() if mod is None else Anchor.of_object(<PyObject*>mod)), ""
        )
    if mod is not None and c_driver_version() >= 12050:  # an older one does not know the library of a kernel
        HANDLE_RETURN(cydriver.cuKernelGetLibrary(&c_library, c_kernel), b"cuKernelGetLibrary")
        if <intptr_t>c_library != mod._address():
            warnings.warn(
                "mod is not the object code that contains the kernel, and is ignored", UserWarning, stacklevel=1
            )
    return Kernel_create(h_kernel, "")


def kernel_with_sizes_only(Kernel kernel not None) -> Kernel:
    """Return the same kernel as an object that checks arguments by their sizes, not by the types of parameters."""
    cdef Kernel self = Kernel_create(kernel._h_kernel.copy(), kernel._name)
    self._has_sizes_only = True
    return self


# A CUkernel is destroyed with its library; only its registry entry must go.
cdef void Kernel_destroy(cydriver.CUkernel c_kernel) noexcept nogil:
    kernel_registry().remove(c_kernel)


include "_kernel_parameters.pxi"
include "_last_launches.pxi"


explain_other_names(Kernel)
explain_other_names(ObjectCode)
check_self_in_methods(globals())
