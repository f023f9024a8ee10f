# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory and semaphores of other interfaces, shared as file descriptors; a part of ``_graphics.pyx``."""

from libc.stdint cimport uint64_t
from libc.string cimport memset

from cpython.object cimport PyObject

from cuda.core._memory._memory_resource cimport own_by_resource, prepare
from cuda.core._native._cuda_core cimport Handle, HandleField, Pin, PinnedHandle, pin_as
from cuda.core._stream cimport Stream_accept, captured_operands, is_captured

import os

from cuda.core._memory._unpooled import _SynchronousMemoryResource
from cuda.core.texture._texture import MipmappedArrayOptions
from cuda.core._utils.validators import find_str_enum

ctypedef Handle[InContext[cydriver.CUexternalMemory]] ExternalMemoryHandle
ctypedef HandleField[InContext[cydriver.CUexternalMemory]] ExternalMemoryField
ctypedef Pin[InContext[cydriver.CUexternalMemory]] ExternalMemoryPin
ctypedef Handle[InContext[cydriver.CUexternalSemaphore]] SemaphoreHandle
ctypedef HandleField[InContext[cydriver.CUexternalSemaphore]] SemaphoreField
ctypedef Pin[InContext[cydriver.CUexternalSemaphore]] SemaphorePin

# The kinds with file descriptors; the others are those of Windows.
_MEMORY_KINDS = {
    "opaque_fd": cydriver.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
    "dmabuf_fd": cydriver.CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD,
}
_SEMAPHORE_KINDS = {
    "opaque_fd": cydriver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
    "timeline_fd": cydriver.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD,
}


cdef class ExternalMemory(DriverObject):
    """A memory object of another interface, such as Vulkan, imported into CUDA (``CUexternalMemory``).

    It cannot be constructed directly: :meth:`from_fd` returns one. :meth:`map` returns its memory as a :class:`Buffer`,
    and :meth:`map_mipmapped_array` as images. The imported object exists until it and all these are closed.
    ``with memory:`` closes it when the block exits.

    Examples
    --------
    >>> from cuda.core import Device, ExternalMemory
    >>> device = Device()
    >>> device.set_current()
    >>> def import_from_vulkan(fd, size):  # the descriptor of vkGetMemoryFdKHR
    ...     with ExternalMemory.from_fd(fd, size) as memory:
    ...         return memory.map()
    """

    cdef:
        ExternalMemoryField _h_memory
        size_t _size

    _made_by = "ExternalMemory.from_fd()"

    def __repr__(self):
        return f"<ExternalMemory handle={self._address():#x} size={self._size}>"

    @classmethod
    def from_fd(cls, fd: int, size: int, *, kind: str = "opaque_fd", is_dedicated: bool = False) -> ExternalMemory:
        """Import a memory object into the current context (``cuImportExternalMemory``).

        Parameters
        ----------
        fd : int
            The file descriptor that the other interface has exported. It remains the caller's, who should close it.
        size : int
            The size of the memory object in bytes.
        kind : str, optional
            ``"opaque_fd"`` for Vulkan memory (``VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT``), or ``"dmabuf_fd"`` for
            a dma-buf. Defaults to ``"opaque_fd"``.
        is_dedicated : bool, optional
            Whether the other interface made a dedicated allocation, for one resource only. Default is False.

        Returns
        -------
        :class:`ExternalMemory`
            The imported memory.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If ``kind`` is unknown, or a number is negative or too large.
        OSError
            If ``fd`` is not an open file descriptor.
        NotSupportedError
            If the driver cannot import this kind.
        CUDAError
            If no context is current, or the driver rejects the descriptor or the size.
        """
        return ExternalMemory_import(cls, fd, size, kind, is_dedicated)

    def map(self, offset: int = 0, size: int | None = None) -> Buffer:
        """Map a range of the memory (``cuExternalMemoryGetMappedBuffer``).

        Parameters
        ----------
        offset : int, optional
            The first byte. Defaults to 0.
        size : int, optional
            The number of bytes. Defaults to all bytes after ``offset``.

        Returns
        -------
        :class:`Buffer`
            The mapped memory. Closing it waits for the work of the device and ends the mapping (``cuMemFree``).

        Raises
        ------
        TypeError
            If an argument is not an int.
        ValueError
            If the range is empty or exceeds the memory.
        RuntimeError
            If this object is closed.
        CUDAError
            If the driver cannot map the range.
        """
        cdef ExternalMemoryPin memory
        ExternalMemory_pin(self, &memory)
        first = int_argument("offset", offset, accepts_bool=False)
        count = self._size - first if size is None else int_argument("size", size, accepts_bool=False)
        if not (0 <= first < self._size and 0 < count <= self._size - first):
            raise ValueError(
                f"offset and size must be within the {self._size} bytes of the memory, not {shown(first)} and "
                f"{shown(count)}"
            )
        return ExternalMemory_map(self, memory, first, count)

    def map_mipmapped_array(
        self, options: MipmappedArrayOptions | dict, offset: int = 0, *, is_color_attachment: bool = False
    ) -> MipmappedArray:
        """Map an image of the other interface (``cuExternalMemoryGetMappedMipmappedArray``).

        Parameters
        ----------
        options : :class:`~cuda.core.texture.MipmappedArrayOptions` | dict
            The description of the image, as the other interface created it, with 1 level or more.
        offset : int, optional
            The first byte of the image. Defaults to 0.
        is_color_attachment : bool, optional
            Whether the other interface renders into the image (``CUDA_ARRAY3D_COLOR_ATTACHMENT``). Default is False.

        Returns
        -------
        :class:`~cuda.core.texture.MipmappedArray`
            The image, whose levels are arrays. Closing it waits for the work of the device and ends the mapping
            (``cuMipmappedArrayDestroy``).

        Raises
        ------
        TypeError
            If an argument or a field has the wrong type.
        ValueError
            If a field has an invalid value, or ``offset`` is outside the memory.
        RuntimeError
            If this object is closed.
        CUDAError
            If the driver cannot map the image, for example because it exceeds the memory.

        Examples
        --------
        >>> from cuda.core.texture import MipmappedArrayOptions
        >>> def image_of(memory, width, height):  # a Vulkan image of VK_FORMAT_R8G8B8A8_UNORM, with one level
        ...     options = MipmappedArrayOptions((width, height), "uint8", num_channels=4, num_levels=1)
        ...     return memory.map_mipmapped_array(options).get_level(0)
        """
        cdef ExternalMemoryPin memory
        ExternalMemory_pin(self, &memory)
        if not isinstance(is_color_attachment, bool):
            raise TypeError(f"is_color_attachment must be a bool, not {type(is_color_attachment).__name__}")
        options = check_or_create_options(MipmappedArrayOptions, options, "mipmapped array options")
        first = int_argument("offset", offset, accepts_bool=False)
        if not 0 <= first < self._size:
            raise ValueError(f"offset must be within the {self._size} bytes of the memory, not {shown(first)}")
        return ExternalMemory_map_image(memory, options, first, is_color_attachment)

    @property
    def size(self) -> int:
        """The size of the memory object in bytes."""
        return self._size

    @property
    def handle(self) -> int:
        """The ``CUexternalMemory`` as an int, or 0 if closed."""
        return self._address()

    cdef intptr_t _address(self) noexcept:
        cdef ExternalMemoryPin memory
        return <intptr_t>memory.value().raw if memory.hold(self._h_memory) else 0

    cdef void _release(self) noexcept:
        self._h_memory.reset()


class MappedExternalMemory(_SynchronousMemoryResource):
    """The memory resource of mapped buffers, which keeps their memory object."""

    def __init__(self, memory, device_id):
        super().__init__(device_id)
        self._memory = memory

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Raise TypeError, because only :meth:`ExternalMemory.map` makes buffers of this memory."""
        raise TypeError("external memory cannot be allocated; use ExternalMemory.map()")


cdef inline int ExternalMemory_pin(ExternalMemory self, ExternalMemoryPin* pin) except -1:
    return 0 if pin.hold(self._h_memory) else refuse_closed(self)


cdef ExternalMemory ExternalMemory_import(type cls, object fd, object size, object kind, object is_dedicated):
    cdef InContext[cydriver.CUexternalMemory] value
    cdef cydriver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC description
    cdef ExternalMemory self
    cdef int c_fd
    cdef cydriver.CUresult err
    if not isinstance(is_dedicated, bool):
        raise TypeError(f"is_dedicated must be a bool, not {type(is_dedicated).__name__}")
    memset(&description, 0, sizeof(description))
    kind = find_str_enum(kind, list(_MEMORY_KINDS), "kind")
    description.type = <cydriver.CUexternalMemoryHandleType><int>_MEMORY_KINDS[kind]
    description.size = positive("size", size)
    description.flags = cydriver.CUDA_EXTERNAL_MEMORY_DEDICATED if is_dedicated else 0
    Context_current(&value.h_context)
    c_fd = description.handle.fd = duplicate(fd)
    self = cls.__new__(cls)
    self._size = description.size
    with nogil:
        err = cydriver.cuImportExternalMemory(&value.raw, &description)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        self._h_memory.set(ExternalMemoryHandle.own(value, &ExternalMemory_destroy, Anchor()))
    # An imported opaque descriptor belongs to the driver.
    if err != cydriver.CUresult.CUDA_SUCCESS or kind == "dmabuf_fd":
        os.close(c_fd)
    HANDLE_RETURN(err, b"cuImportExternalMemory")
    return self


cdef void ExternalMemory_destroy(InContext[cydriver.CUexternalMemory] value) noexcept nogil:
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        WARN_RETURN(cydriver.cuDestroyExternalMemory(value.raw), b"cuDestroyExternalMemory", value.raw)
        Context_leave_to_release(is_entered)


cdef Buffer ExternalMemory_map(ExternalMemory self, const ExternalMemoryPin& memory, size_t offset, size_t size):
    cdef InContext[cydriver.CUexternalMemory] imported = memory.value()
    cdef cydriver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC description
    cdef ExternalMemory kept = ExternalMemory.__new__(ExternalMemory)
    cdef AllocationHandle h_memory
    cdef Allocation value
    cdef cydriver.CUresult err, left
    cdef int is_entered = 0
    memset(&description, 0, sizeof(description))
    description.offset = offset
    description.size = size
    kept._h_memory.set(memory.handle())  # this object may be closed before its buffers
    resource = MappedExternalMemory(kept, Context_ordinal(imported.h_context))
    prepare(resource, StreamPin().handle(), True, value)
    with nogil:
        is_entered = Context_enter(imported.h_context.get())
        err = cydriver.cuExternalMemoryGetMappedBuffer(&value.pointer, imported.raw, &description)
        left = Context_leave(is_entered)
    value.size = size
    if err == cydriver.CUresult.CUDA_SUCCESS:
        own_by_resource(value, True, &h_memory)
    LEAVE_RETURN(err, b"cuExternalMemoryGetMappedBuffer", left)
    return Buffer_create(Buffer, h_memory, resource, None)


cdef DriverObject ExternalMemory_map_image(
    const ExternalMemoryPin& memory, object options, size_t offset, bint is_color_attachment
):
    cdef InContext[cydriver.CUexternalMemory] imported = memory.value()
    cdef InContext[cydriver.CUmipmappedArray] value
    cdef cydriver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC description
    cdef MipmappedArrayHandle h_mipmap
    cdef cydriver.CUresult err, left
    cdef int is_entered = 0
    memset(&description, 0, sizeof(description))
    Array_describe(options, &description.arrayDesc)
    if is_color_attachment:
        description.arrayDesc.Flags |= cydriver.CUDA_ARRAY3D_COLOR_ATTACHMENT
    description.offset = offset
    description.numLevels = options.num_levels
    value.h_context = imported.h_context
    with nogil:
        is_entered = Context_enter(imported.h_context.get())
        err = cydriver.cuExternalMemoryGetMappedMipmappedArray(&value.raw, imported.raw, &description)
        left = Context_leave(is_entered)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        # Waits for the work of the device, because the memory must exist until the driver has destroyed the image.
        h_mipmap = MipmappedArrayHandle.own(value, &unmap_image, memory.anchor())
    LEAVE_RETURN(err, b"cuExternalMemoryGetMappedMipmappedArray", left)
    return MipmappedArray_wrap(h_mipmap, options, description.arrayDesc.Flags, Context_ordinal(imported.h_context))


cdef void unmap_image(InContext[cydriver.CUmipmappedArray] value) noexcept nogil:
    MipmappedArray_destroy(value)


cdef class ExternalSemaphore(DriverObject):
    """A semaphore of another interface, such as Vulkan, imported into CUDA (``CUexternalSemaphore``).

    It cannot be constructed directly: :meth:`from_fd` returns one. :meth:`Stream.signal` and :meth:`Stream.wait` take
    it, and so do nodes of graphs. ``with semaphore:`` closes it when the block exits.

    Examples
    --------
    >>> from cuda.core import Device, ExternalSemaphore
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> def follow_vulkan(fd, frame):  # the descriptor of vkGetSemaphoreFdKHR
    ...     semaphore = ExternalSemaphore.from_fd(fd)
    ...     stream.wait(semaphore, frame)  # until Vulkan signals this frame
    ...     stream.signal(semaphore, frame + 1)
    ...     return semaphore
    """

    cdef:
        SemaphoreField _h_semaphore
        str _kind

    _made_by = "ExternalSemaphore.from_fd()"

    @property
    def kind(self) -> str:
        """``"timeline_fd"`` or ``"opaque_fd"``, as in :meth:`from_fd`."""
        return self._kind

    def __repr__(self):
        return f"<ExternalSemaphore handle={self._address():#x} kind={self._kind!r}>"

    @classmethod
    def from_fd(cls, fd: int, *, kind: str = "timeline_fd") -> ExternalSemaphore:
        """Import a semaphore into the current context (``cuImportExternalSemaphore``).

        Parameters
        ----------
        fd : int
            The file descriptor that the other interface has exported. It remains the caller's, who should close it.
        kind : str, optional
            ``"timeline_fd"`` for a timeline semaphore, whose value grows, or ``"opaque_fd"`` for a binary semaphore,
            whose value is ignored. Defaults to ``"timeline_fd"``.

        Returns
        -------
        :class:`ExternalSemaphore`
            The imported semaphore.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If ``kind`` is unknown.
        OSError
            If ``fd`` is not an open file descriptor.
        NotSupportedError
            If the driver cannot import this kind.
        CUDAError
            If no context is current, or the driver rejects the descriptor.
        """
        return ExternalSemaphore_import(cls, fd, kind)

    def _enqueue(self, stream: Stream, value: int, bint is_signal) -> None:
        """Enqueue a signal or a wait, for :meth:`Stream.signal` and :meth:`Stream.wait`."""
        cdef SemaphorePin semaphore
        cdef StreamPin pin
        cdef cydriver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal
        cdef cydriver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait
        cdef uint64_t c_value = semaphore_value(value)
        cdef cydriver.CUexternalSemaphore c_semaphore
        ExternalSemaphore_pin(self, &semaphore)
        Stream_pin(stream, &pin)
        c_semaphore = semaphore.value().raw
        if is_captured(pin.handle()):
            captured_operands().keep(pin.handle(), semaphore.anchor())
        memset(&signal, 0, sizeof(signal))
        memset(&wait, 0, sizeof(wait))
        signal.params.fence.value = wait.params.fence.value = c_value
        with nogil:
            if is_signal:
                HANDLE_RETURN(
                    cydriver.cuSignalExternalSemaphoresAsync(&c_semaphore, &signal, 1, pin.get()),
                    b"cuSignalExternalSemaphoresAsync",
                )
            else:
                HANDLE_RETURN(
                    cydriver.cuWaitExternalSemaphoresAsync(&c_semaphore, &wait, 1, pin.get()),
                    b"cuWaitExternalSemaphoresAsync",
                )

    @property
    def handle(self) -> int:
        """The ``CUexternalSemaphore`` as an int, or 0 if closed."""
        return self._address()

    def _for_node(self, value: int) -> tuple[int, int, PinnedHandle]:
        """Return the address and the checked value, and what keeps the semaphore for a node."""
        cdef SemaphorePin semaphore
        cdef intptr_t raw
        ExternalSemaphore_pin(self, &semaphore)
        raw = <intptr_t>semaphore.value().raw
        return raw, semaphore_value(value), pin_as("CUexternalSemaphore", raw, semaphore.anchor())

    cdef intptr_t _address(self) noexcept:
        cdef SemaphorePin semaphore
        return <intptr_t>semaphore.value().raw if semaphore.hold(self._h_semaphore) else 0

    cdef void _release(self) noexcept:
        self._h_semaphore.reset()


cdef inline int ExternalSemaphore_pin(ExternalSemaphore self, SemaphorePin* pin) except -1:
    return 0 if pin.hold(self._h_semaphore) else refuse_closed(self)


cdef ExternalSemaphore ExternalSemaphore_import(type cls, object fd, object kind):
    cdef InContext[cydriver.CUexternalSemaphore] value
    cdef cydriver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description
    cdef ExternalSemaphore self
    cdef cydriver.CUresult err
    memset(&description, 0, sizeof(description))
    kind = find_str_enum(kind, list(_SEMAPHORE_KINDS), "kind")
    description.type = <cydriver.CUexternalSemaphoreHandleType><int>_SEMAPHORE_KINDS[kind]
    Context_current(&value.h_context)
    description.handle.fd = duplicate(fd)
    self = cls.__new__(cls)
    self._kind = kind
    with nogil:
        err = cydriver.cuImportExternalSemaphore(&value.raw, &description)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        self._h_semaphore.set(SemaphoreHandle.own(value, &ExternalSemaphore_end, Anchor()))
    else:
        os.close(description.handle.fd)
    HANDLE_RETURN(err, b"cuImportExternalSemaphore")
    return self


cdef void ExternalSemaphore_end(InContext[cydriver.CUexternalSemaphore] value) noexcept nogil:
    # Enqueued signals and waits still need the semaphore.
    if not retire(value, &ExternalSemaphore_end, Anchor()):
        ExternalSemaphore_destroy(value)


cdef void ExternalSemaphore_destroy(InContext[cydriver.CUexternalSemaphore] value) noexcept nogil:
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        WARN_RETURN(cydriver.cuDestroyExternalSemaphore(value.raw), b"cuDestroyExternalSemaphore", value.raw)
        Context_leave_to_release(is_entered)


# A descriptor of the driver's own, because it takes over the one that it imports.
cdef int duplicate(object fd) except -1:
    number = int_argument("fd", fd, accepts_bool=False)
    if not 0 <= number < 1 << 31:
        raise ValueError(f"fd must be from 0 to 2**31 - 1, not {shown(number)}")
    return os.dup(number)


cdef object positive(str name, object value):
    number = int_argument(name, value, accepts_bool=False)
    if not 0 < number < 1 << 64:
        raise ValueError(f"{name} must be from 1 to 2**64 - 1, not {shown(number)}")
    return number


cdef uint64_t semaphore_value(object value) except? 0:
    number = int_argument("value", value, accepts_bool=False)
    if not 0 <= number < 1 << 64:
        raise ValueError(f"value must be from 0 to 2**64 - 1, not {shown(number)}")
    return number
