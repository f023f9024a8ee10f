# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code, and the kernels in it."""

from __future__ import annotations

cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport intptr_t, uintptr_t
from libcpp.vector cimport vector

from cpython.object cimport PyObject

from cuda.core._code._kernel_attributes cimport KernelAttributes_create, KernelOccupancy_create, read_slots
from cuda.core._code._loading cimport described, kernel_names, load_image, mapped_symbol, ptx_log, unload_when_idle
from cuda.core._context cimport Context_current, Context_enter, Context_leave, Context_primary
from cuda.core._handles._driver_object cimport DriverObject, bindings_object, refuse_closed
from cuda.core._handles._handles cimport (
    AllocationHandle,
    ContextHandle,
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
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, HANDLE_RETURN, init_driver
from cuda.core._utils.version cimport c_driver_version

import os
from _thread import RLock
import warnings

from cuda.core._code._kernel_attributes import (
    KernelAttributes,
    KernelOccupancy,
    MaxPotentialBlockSizeOccupancyResult,
    ParamInfo,
)
from cuda.core._code._loading import as_asked_for, explain, nearest, variable_names
from cuda.core._handles import _late
from cuda.core._utils.cuda_utils import CUDAError
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

CodeTypeT = bytes | bytearray | str
"""What an :class:`ObjectCode` is made of: the code itself, or the path of a file as a str."""

cdef frozenset _HAS_KERNELS = frozenset({"cubin", "ptx", "fatbin"})


cdef class ObjectCode(DriverObject):
    """Compiled code, in memory or in a file, that the driver loads when it is first needed.

    Object codes come from :meth:`Program.compile`, :meth:`Linker.link` and the ``from_`` methods;
    there is no direct construction. A loaded library stays loaded until this object and every
    :class:`Kernel` of it are gone.
    """

    _made_by = "Program.compile(), Linker.link() or an ObjectCode.from_ method"

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, ObjectCode):
            return NotImplemented
        return self._identity() == (<ObjectCode>other)._identity()

    def __hash__(self):
        return hash(self._identity())

    def __repr__(self):
        # Code that was not loaded has no handle yet; to look at it loads nothing.
        state = "closed" if self.is_closed else f"handle={address(self._h_library):#x}"
        return f"<{type(self).__name__} {state} code_type={self._code_type!r}>"

    def __reduce__(self):
        return ObjectCode_rebuild, (ObjectCode_code(self), self._code_type, self._name, self._symbol_mapping)

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
        cdef dict kernels = self._kernels
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

    def get_module(self):
        """Return the ``driver.CUmodule`` of the current context (``cuLibraryGetModule``).

        Raises
        ------
        RuntimeError
            If this object is closed.
        CUDAError
            If the code cannot be loaded, or no context is current.
        """
        cdef cydriver.CUmodule c_module = NULL
        cdef LibraryHandle h_library = ObjectCode_load(self)
        with nogil:
            HANDLE_RETURN(cydriver.cuLibraryGetModule(&c_module, h_library.get()), b"cuLibraryGetModule")
        return bindings_object("CUmodule", <intptr_t>c_module)

    @property
    def handle(self):
        """The ``driver.CUlibrary``, valid in every context; null when closed. Loads at the first use."""
        cdef LibraryHandle h_library
        if not self.is_closed:
            h_library = ObjectCode_load(self)
        return bindings_object("CUlibrary", address(h_library))

    @property
    def code(self) -> CodeTypeT:
        """The code as it was given, or the path of its file as a str."""
        return ObjectCode_code(self)

    @property
    def code_type(self) -> str:
        """What the code is: a value of :class:`~cuda.core.typing.ObjectCodeFormatType`."""
        return self._code_type

    @property
    def name(self) -> str:
        """The name given to it."""
        return self._name

    @property
    def symbol_mapping(self) -> dict[str | bytes, str | bytes]:
        """A copy of the names that :meth:`get_kernel` translates.

        Name expressions of :meth:`Program.compile` are keys as they were given, with mangled names as bytes.
        """
        return dict(self._symbol_mapping or ())

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._lock is None

    cdef intptr_t _address(self) noexcept:
        return address(self._h_library)

    cdef void _release(self) noexcept:
        with cython.critical_section(self):
            self._lock = None
            self._code = None
            self._kernels = None
        self._h_library.reset()

    cdef object _identity(self):
        cdef LibraryHandle h_library
        if not self.is_closed:
            h_library = ObjectCode_load(self)
        return address(h_library)

    cdef int _check_open(self) except -1:
        return 0 if self._lock is not None else refuse_closed(self)


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
        attributes = self._attributes
        if attributes is None:
            attributes = self._attributes = KernelAttributes_create(self._h_kernel.copy())
        return attributes

    @property
    def occupancy(self) -> KernelOccupancy:
        """Queries of how many blocks fit on the current device."""
        occupancy = self._occupancy
        if occupancy is None:
            occupancy = self._occupancy = KernelOccupancy_create(self._h_kernel.copy())
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


# The code, which stays with the caller when the object is closed.
cdef object ObjectCode_code(ObjectCode self):
    with cython.critical_section(self):
        code = self._code
        is_open = self._lock is not None
    return code if is_open else refuse_closed(self)


# The library, loaded if it was not yet.
cdef LibraryHandle ObjectCode_load(ObjectCode self) except *:
    cdef cydriver.CUlibrary c_library = NULL
    cdef LibraryHandle h_library
    code = ObjectCode_code(self)
    lock = self._lock
    h_library = self._h_library.copy()
    if h_library:
        return h_library
    if lock is None:
        refuse_closed(self)
    init_driver()
    with lock:
        self._check_open()
        h_library = self._h_library.copy()
        if not h_library:
            try:
                c_library = load_image(code)
            except CUDAError as error:
                log = ptx_log(code, self._code_type)
                explain(error, f"loading {described(code, self._code_type, self._name)} failed{log}")
                raise
            h_library = LibraryHandle.own(c_library, &ObjectCode_destroy, Keep())
            # Closed meanwhile, the object keeps no library; this call has one all the same.
            if self._lock is not None:
                self._h_library.set(h_library)
    return h_library


cdef void ObjectCode_destroy(cydriver.CUlibrary c_library) noexcept nogil:
    unload_when_idle(c_library)


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
    cdef const char* c_symbol
    ObjectCode_check_symbol(self, name, "variables")
    code = ObjectCode_code(self)
    h_library = ObjectCode_load(self)
    symbol = mapped_symbol(self._symbol_mapping, name)
    c_symbol = symbol
    try:
        with nogil:
            # Managed variables have a call of their own.
            if not ALLOW_RETURN(
                cydriver.cuLibraryGetGlobal(&c_pointer, &c_size, h_library.get(), c_symbol),
                cydriver.CUresult.CUDA_ERROR_NOT_FOUND,
                b"cuLibraryGetGlobal",
            ):
                HANDLE_RETURN(
                    cydriver.cuLibraryGetManaged(&c_pointer, &c_size, h_library.get(), c_symbol),
                    b"cuLibraryGetManaged",
                )
    except CUDAError as error:
        what = described(code, self._code_type, self._name)
        if error.name == "CUDA_ERROR_NOT_FOUND":
            hint = nearest(symbol.decode(errors="replace"), variable_names(code, self._code_type), "variables")
            explain(error, f"there is no variable {name!r} in {what}{hint}")
        else:
            explain(error, f"getting the variable {name!r} of {what} failed{ptx_log(code, self._code_type)}")
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
    cdef const char* c_symbol
    ObjectCode_check_symbol(self, name, "kernels")
    code = ObjectCode_code(self)
    h_library = ObjectCode_load(self)
    symbol = mapped_symbol(self._symbol_mapping, name)
    c_symbol = symbol
    try:
        with nogil:
            HANDLE_RETURN(cydriver.cuLibraryGetKernel(&c_kernel, h_library.get(), c_symbol), b"cuLibraryGetKernel")
    except CUDAError as error:
        what = described(code, self._code_type, self._name)
        if error.name == "CUDA_ERROR_NOT_FOUND":
            known = as_asked_for(kernel_names(h_library), self._symbol_mapping)
            hint = nearest(symbol.decode(errors="replace"), known)
            explain(error, f"there is no kernel {name!r} in {what}{hint}")
        else:
            explain(error, f"getting the kernel {name!r} of {what} failed{ptx_log(code, self._code_type)}")
        raise
    h_kernel = KernelHandle.own(c_kernel, &Kernel_destroy, h_library.keep())
    kernel = Kernel_create(kernel_registry().add(h_kernel), symbol.decode(errors="replace"))
    kernels = self._kernels
    return kernel if kernels is None else kernels.setdefault(name, kernel)


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


# Kernels end with their library: only the registry has to forget them.
cdef void Kernel_destroy(cydriver.CUkernel c_kernel) noexcept nogil:
    kernel_registry().remove(c_kernel)


cdef int Kernel_read_layout(Kernel self, const KeptKernel& kept) except -1:
    cdef vector[ParamSlot] slots
    cdef ContextHandle h_context
    cdef int is_entered = 0
    if c_driver_version() < 12040:
        self._has_layout = True
        return 0
    # The driver wants a context for the question, any context.
    Context_current(&h_context)
    if not h_context:
        Context_primary(0, &h_context)
    is_entered = Context_enter(h_context.get())
    try:
        read_slots(kept.get(), slots)
    finally:
        Context_leave(is_entered)
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
            "parameters of a kernel are known to drivers of CUDA 12.4 or newer; install a newer NVIDIA display driver"
        )
    return 0


answer_hasattr(ObjectCode)
answer_hasattr(Kernel)
