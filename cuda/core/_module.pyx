# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code, and the kernels in it."""

from __future__ import annotations

cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport intptr_t, uintptr_t
from libcpp.vector cimport vector

from cpython.object cimport PyObject

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
from cuda.core._code._parameter_layout cimport read_kernel_layout
from cuda.core._handles._driver_object cimport DriverObject, bindings_object
from cuda.core._handles._handles cimport (
    AllocationHandle,
    Keep,
    KeptKernel,
    KernelHandle,
    LibraryHandle,
    address,
    kernel_registry,
)
from cuda.core._memory._buffer cimport Buffer, Buffer_create
from cuda.core._memory.ranges._allocation cimport borrow
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport answer_hasattr
from cuda.core._utils._deferred_function cimport DeferredFunction
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core._utils.version cimport c_driver_version

import os
from _thread import RLock
import warnings

from cuda.core._code._loading import CodeTypeT, explain
from cuda.core._code._parameter_layout import ParamInfo
from cuda.core._handles import _late
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.importing.deferred import Deferred, deferred_names
from cuda.core._utils.validators import check_address
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

_ATTRIBUTES = "_code._kernel_attributes"
# Most programs launch kernels without asking for their attributes.
__getattr__ = deferred_names(
    __name__,
    {
        "KernelAttributes": _ATTRIBUTES,
        "KernelOccupancy": _ATTRIBUTES,
        "MaxPotentialBlockSizeOccupancyResult": _ATTRIBUTES,
    },
    root="cuda.core",
)
_symbols = Deferred("cuda.core._code._symbols")

cdef frozenset _HAS_KERNELS = frozenset({"cubin", "ptx", "fatbin"})


cdef class ObjectCode(LazyCode):
    """Compiled code, in memory or in a file, that the driver loads when it is first needed.

    Object codes come from :meth:`Program.compile`, :meth:`Linker.link` and the ``from_`` methods;
    there is no direct construction. A loaded library stays loaded until this object and every
    :class:`Kernel` of it are gone.
    """

    _made_by = "Program.compile(), Linker.link() or an ObjectCode.from_ method"

    def __reduce__(self):
        return ObjectCode_rebuild, (keep_code(self), self._code_type, self._name, self._symbol_mapping)

    @classmethod
    def _init(cls, module, code_type, *, name="", symbol_mapping=None):
        """Make an object code, of ``cls``, of any type."""
        return ObjectCode_create(cls, module, code_type, name, symbol_mapping)

    @staticmethod
    def from_cubin(
        module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Make an object code of a CUBIN, the binary code of one architecture.

        Parameters
        ----------
        module : bytes | str | os.PathLike
            The code, or the path of a file. Nothing is read before it is needed.
        name : str, optional
            A name for messages. Default is the empty string.
        symbol_mapping : dict, optional
            The name in the code (str or bytes) for each name given to :meth:`get_kernel`.

        Raises
        ------
        TypeError
            If ``name`` is no str, or ``symbol_mapping`` no dict.
        """
        return ObjectCode_create(ObjectCode, module, "cubin", name, symbol_mapping)

    @staticmethod
    def from_ptx(
        module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Make an object code of PTX, which the driver compiles when it is loaded; see :meth:`from_cubin`."""
        return ObjectCode_create(ObjectCode, module, "ptx", name, symbol_mapping)

    @staticmethod
    def from_ltoir(
        module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Make an object code of LTO IR, an input of :class:`Linker`; see :meth:`from_cubin`."""
        return ObjectCode_create(ObjectCode, module, "ltoir", name, symbol_mapping)

    @staticmethod
    def from_fatbin(
        module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Make an object code of a fat binary, code of several architectures; see :meth:`from_cubin`."""
        return ObjectCode_create(ObjectCode, module, "fatbin", name, symbol_mapping)

    @staticmethod
    def from_object(
        module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Make an object code of a host object file with device code, for :class:`Linker`; see :meth:`from_cubin`."""
        return ObjectCode_create(ObjectCode, module, "object", name, symbol_mapping)

    @staticmethod
    def from_library(
        module: bytes | str | os.PathLike, *, name: str = "", symbol_mapping: dict | None = None
    ) -> ObjectCode:
        """Make an object code of a host library with device code, for :class:`Linker`; see :meth:`from_cubin`."""
        return ObjectCode_create(ObjectCode, module, "library", name, symbol_mapping)

    def get_kernel(self, name: str | bytes) -> Kernel:
        """Return a kernel by its name (``cuLibraryGetKernel``), loading the code if it was not yet.

        Parameters
        ----------
        name : str | bytes
            The name in the code, or a key of :attr:`symbol_mapping`.

        Returns
        -------
        Kernel
            The kernel; the same object for the same name.

        Raises
        ------
        TypeError
            If ``name`` is neither str nor bytes.
        RuntimeError
            If this object is closed, or its code is of a type that has no kernels.
        CUDAError
            If the code cannot be loaded, or has no kernel of that name.
        """
        cdef dict kernels = kernels_of(self)
        if kernels is not None and (type(name) is str or type(name) is bytes):
            known = kernels.get(name)
            if known is not None:
                return known
        return ObjectCode_find_kernel(self, name)

    def get_global(self, name: str | bytes) -> Buffer:
        """Return a variable of the code as memory (``cuLibraryGetGlobal``), loading the code if needed.

        Parameters
        ----------
        name : str | bytes
            A ``__device__``, ``__managed__`` or ``__constant__`` variable: its name in the code, or a key of
            :attr:`symbol_mapping` (``"&scope::variable"`` is the name expression of one).

        Returns
        -------
        :class:`Buffer`
            The variable in the current context, which keeps the code loaded.

        Raises
        ------
        TypeError
            If ``name`` is neither str nor bytes.
        RuntimeError
            If this object is closed, or its code is of a type that cannot be loaded.
        CUDAError
            If the code cannot be loaded, has no variable of that name, or no context is current.
        """
        return ObjectCode_find_global(self, name)

    @property
    def symbol_mapping(self) -> dict[str | bytes, str | bytes]:
        """A copy of the names that :meth:`get_kernel` translates.

        Name expressions of :meth:`Program.compile` are keys as they were given, with mangled names as bytes.
        """
        return dict(self._symbol_mapping or ())

    cdef void _release(self) noexcept:
        with cython.critical_section(self):
            self._kernels = None
        LazyCode._release(self)


cdef class Kernel(DriverObject):
    """A function on the device that the host launches.

    Kernels come from :meth:`ObjectCode.get_kernel` and :meth:`Kernel.from_handle`; there is no
    direct construction. A kernel keeps its library loaded.
    """

    _made_by = "ObjectCode.get_kernel() or Kernel.from_handle()"

    def __repr__(self):
        return f"<{type(self).__name__} handle={self._address():#x}>"

    @staticmethod
    def from_handle(handle: int, mod: ObjectCode | None = None) -> Kernel:
        """Borrow a raw ``CUkernel``.

        Parameters
        ----------
        handle : int
            The address of the kernel, which has to outlive its use here unless it is one of this library's own.
        mod : :class:`ObjectCode`, optional
            What is kept alive with the kernel.

        Raises
        ------
        TypeError
            If ``handle`` is no integer, or ``mod`` no :class:`ObjectCode`.

        Warns
        -----
        UserWarning
            If the kernel is known to come from another library than ``mod``.
        """
        raw = check_address("handle", handle)
        if mod is not None and not isinstance(mod, ObjectCode):
            raise TypeError(f"mod must be an ObjectCode or None, not {type(mod).__name__}")
        return Kernel_wrap(<cydriver.CUkernel><uintptr_t>raw, mod)

    def bind(self, config: LaunchConfig, *, stream: Stream):
        """Return a callable that launches this kernel with the arguments it is called with.

        Parameters
        ----------
        config : :class:`LaunchConfig`
            The launch.
        stream : :class:`Stream`
            Where it is launched.
        """
        self._check_open()
        return _late.bind_kernel(self, config, stream)

    @property
    def attributes(self) -> KernelAttributes:
        """The attributes of the kernel, on the current device or on one that is asked for."""
        with cython.critical_section(self):
            attributes = self._attributes
            if attributes is None:
                attributes = self._attributes = view_of_kernel(self, <CreateKernelView>_create_attributes.get())
        return attributes

    @property
    def occupancy(self) -> KernelOccupancy:
        """Queries of how many blocks fit on the current device."""
        with cython.critical_section(self):
            occupancy = self._occupancy
            if occupancy is None:
                occupancy = self._occupancy = view_of_kernel(self, <CreateKernelView>_create_occupancy.get())
        return occupancy

    @property
    def num_arguments(self) -> int:
        """The number of parameters (``cuKernelGetParamInfo``).

        Raises
        ------
        NotImplementedError
            If the driver is older than CUDA 12.4.
        """
        Kernel_check_layout(self)
        return self._slots.size()

    @property
    def arguments_info(self) -> list[ParamInfo]:
        """Offset and size of each parameter in bytes (``cuKernelGetParamInfo``).

        Raises
        ------
        NotImplementedError
            If the driver is older than CUDA 12.4.
        """
        cdef size_t i
        Kernel_check_layout(self)
        return [ParamInfo(self._slots[i].offset, self._slots[i].size) for i in range(self._slots.size())]

    @property
    def handle(self):
        """The ``driver.CUkernel``; null when closed."""
        return bindings_object("CUkernel", self._address())

    @property
    def _handle(self):
        # Other packages read it under this name.
        return self.handle

    cdef intptr_t _address(self) noexcept:
        return address(self._h_kernel)

    cdef void _release(self) noexcept:
        self._attributes = None
        self._occupancy = None
        self._h_kernel.reset()


cdef ObjectCode ObjectCode_create(cls, module, code_type, name, symbol_mapping):
    cdef ObjectCode self
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    if symbol_mapping is not None and not isinstance(symbol_mapping, dict):
        raise TypeError(f"symbol_mapping must be a dict or None, not {type(symbol_mapping).__name__}")
    self = cls.__new__(cls)
    # Whether the code is usable is found out when it is used.
    self._code = os.fsdecode(module) if hasattr(module, "__fspath__") else module
    self._code_type = str(ObjectCodeFormatType(code_type))
    self._name = name
    self._symbol_mapping = dict(symbol_mapping) if symbol_mapping else {}
    self._kernels = {}
    self._lock = RLock()
    return self


def ObjectCode_rebuild(code, code_type, name, symbol_mapping):
    """Make an object code again from its pickle."""
    return ObjectCode_create(ObjectCode, code, code_type, name, symbol_mapping)


cdef int ObjectCode_check_symbol(ObjectCode self, object name, str what) except -1:
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"name must be a str or bytes, not {type(name).__name__}")
    self._check_open()
    if self._code_type not in _HAS_KERNELS:
        raise RuntimeError(f"an object code of type {self._code_type!r} has no {what} to get; link it to a cubin first")
    return 0


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
        known = _symbols.variable_names(code, self._code_type) if is_not_found(error) else None
        ObjectCode_explain_symbol(self, error, code, "variable", name, symbol, known)
        raise
    borrow(c_pointer, c_size, h_library.keep(), &h_allocation)
    return Buffer_create(Buffer, h_allocation, None, None)


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
        known = _symbols.requested_names(kernel_names(h_library), self._symbol_mapping) if is_not_found(error) else None
        ObjectCode_explain_symbol(self, error, code, "kernel", name, symbol, known)
        raise
    h_kernel = KernelHandle.own(c_kernel, &Kernel_destroy, h_library.keep())
    kernel = Kernel_create(kernel_registry().add(h_kernel), symbol.decode(errors="replace"))
    kernels = kernels_of(self)
    return kernel if kernels is None else kernels.setdefault(name, kernel)


# None once it is closed.
cdef dict kernels_of(ObjectCode self):
    with cython.critical_section(self):
        return self._kernels


cdef bint is_not_found(object error):
    return error.name == "CUDA_ERROR_NOT_FOUND"


# Adds to the driver's error which symbol of which code was wanted, and which there are.
cdef int ObjectCode_explain_symbol(
    ObjectCode self, object error, object code, str kind, object name, bytes symbol, list known
) except -1:
    what = described(code, self._code_type, self._name)
    if is_not_found(error):
        hint = _symbols.nearest(symbol.decode(errors="replace"), known, f"{kind}s")
        explain(error, f"there is no {kind} {name!r} in {what}{hint}")
    else:
        explain(error, f"getting the {kind} {name!r} of {what} failed{ptx_log(code, self._code_type)}")
    return 0


cdef Kernel Kernel_create(const KernelHandle& h_kernel, str name):
    cdef Kernel self = Kernel.__new__(Kernel)
    self._h_kernel.set(h_kernel)
    self._name = name
    return self


cdef Kernel Kernel_wrap(cydriver.CUkernel c_kernel, ObjectCode mod):
    cdef cydriver.CUlibrary c_library = NULL
    cdef KernelHandle h_kernel = kernel_registry().find(c_kernel)
    if not h_kernel:
        return Kernel_create(
            KernelHandle.borrow(c_kernel, Keep() if mod is None else Keep.of_object(<PyObject*>mod)), ""
        )
    if mod is not None:
        HANDLE_RETURN(cydriver.cuKernelGetLibrary(&c_library, c_kernel), b"cuKernelGetLibrary")
        if <intptr_t>c_library != mod._address():
            warnings.warn(
                "the kernel comes from another library than mod, which is not kept", UserWarning, stacklevel=1
            )
    return Kernel_create(h_kernel, "")


# Loaded when attributes or the occupancy of a kernel are asked for, which most programs do not do.
ctypedef object (*CreateKernelView)(const KernelHandle& h_kernel)

cdef DeferredFunction _create_attributes = DeferredFunction(
    b"cuda.core._code._kernel_attributes", b"KernelAttributes_create"
)
cdef DeferredFunction _create_occupancy = DeferredFunction(
    b"cuda.core._code._kernel_attributes", b"KernelOccupancy_create"
)


cdef object view_of_kernel(Kernel self, CreateKernelView create):
    return create(self._h_kernel.copy())


# Kernels end with their library: only the registry has to forget them.
cdef void Kernel_destroy(cydriver.CUkernel c_kernel) noexcept nogil:
    kernel_registry().remove(c_kernel)


cdef int Kernel_read_layout(Kernel self, const KeptKernel& kept) except -1:
    cdef vector[ParamSlot] slots
    if c_driver_version() < 12040:
        self._has_layout = True
        return 0
    read_kernel_layout(kept.get(), slots)
    with cython.critical_section(self):
        if not self._has_layout:
            self._slots.swap(slots)
            self._block_size = self._slots.back().offset + self._slots.back().size if self._slots.size() else 0
            self._is_layout_known = True
            self._has_layout = True
    return 0


cdef int Kernel_check_layout(Kernel self) except -1:
    cdef KeptKernel kept
    if not self._has_layout:
        Kernel_keep(self, &kept)
        Kernel_read_layout(self, kept)
    if not self._is_layout_known:
        raise NotImplementedError(
            "reading the parameters of a kernel needs a driver of CUDA 12.4 or newer; install a newer NVIDIA driver"
        )
    return 0


answer_hasattr(ObjectCode)
answer_hasattr(Kernel)
