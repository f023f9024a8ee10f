# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays, which textures and surfaces read and write."""

from __future__ import annotations

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport intptr_t, uintptr_t
from libc.string cimport memset

from cuda.core._context cimport (
    Context_current,
    Context_enter,
    Context_enter_to_release,
    Context_leave,
    Context_ordinal,
)
from cuda.core._device cimport Device
from cuda.core._device_contexts cimport Device_keep_context
from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._deferred_destruction cimport (
    SMALL_ARRAY,
    add_to_batch,
    are_streams_idle,
    batch_or_postpone,
    can_batch,
    destroy_batch,
    destroy_later,
    find_work,
    limit_backlog,
    wait_for_destructions,
)
from cuda.core._handles._driver_object cimport refuse_closed
from cuda.core._handles._handles cimport (
    ArrayHandle,
    ContextHandle,
    InContext,
    Keep,
    KeepList,
    KeptAllocation,
    KeptArray,
    KeptContext,
    KeptStream,
)
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory.ranges._memory_range cimport MemoryRange_keep, check_writable
from cuda.core._stream cimport Stream, Stream_accept, Stream_context, Stream_keep, is_default
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, check_or_create_options
from cuda.core.graph._capture._stream_capture cimport StreamCapture, StreamCapture_graph
from cuda.core.graph._graph_builder cimport GraphBuilder
from cuda.core.graph._state._graph_state cimport GraphRecord
from cuda.core.graph._state._retention cimport new_keeps, retain
from cuda.core.texture._described_array cimport DescribedArray
from cuda.core.texture._elements cimport driver_extents, element_size, image_bytes

from cuda.core._memory.copying._plain_bytes import holds_objects
from cuda.core._utils.enums import ARRAY_FORMAT
from cuda.core._utils.options import Options, options_class
from cuda.core._utils.validators import check_address
from cuda.core.texture._elements import check_image, shape_of
from cuda.core.typing import ArrayFormatType

__all__ = ["OpaqueArray", "OpaqueArrayOptions"]


cdef class OpaqueArray(DescribedArray):
    """A CUDA array (``CUarray``): elements in an opaque layout, for textures and surfaces.

    Arrays come from :meth:`Device.create_opaque_array` and :meth:`MipmappedArray.get_level`; there is no
    direct construction. The driver chooses the layout, so an array has no address: the host reads and writes its
    elements with :meth:`copy_to` and :meth:`copy_from`, kernels through textures and surfaces. As a context manager
    an array closes itself at the end of the block.
    """

    _made_by = "Device.create_opaque_array() or MipmappedArray.get_level()"

    def __repr__(self):
        if self._format is None:
            return "<OpaqueArray, not initialized>"
        closed = ", closed" if self.is_closed else ""
        return (
            f"OpaqueArray(shape={self._shape}, format={self._format.name}, "
            f"num_channels={self._num_channels}{closed})"
        )

    @classmethod
    def _from_handle(cls, handle: int, owning: bool, *, device_id: int | None = None) -> OpaqueArray:
        """Wrap an existing ``CUarray``; the driver reports its shape and format.

        Parameters
        ----------
        handle : int
            The ``CUarray``, which belongs to the current context.
        owning : bool
            Whether closing the object destroys the array (``cuArrayDestroy``).
        device_id : int, optional
            The ordinal of its device. If None, the device of the current context.
        """
        return Array_from_handle(check_address("handle", handle), owning, device_id)

    def copy_from(self, src: Buffer | bytes, *, stream: Stream | GraphBuilder) -> None:
        """Copy all elements from other memory, in stream order (``cuMemcpy3DAsync``).

        Parameters
        ----------
        src : :class:`Buffer` | object with the buffer protocol
            At least :attr:`size_bytes` bytes, in C order: packed rows of ``shape[0]`` elements. Further bytes
            are not read. Host memory must stay allocated and unchanged until the copy has completed. If the copy is
            captured, the graph keeps the memory alive.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream on which the copy is enqueued, or the builder that captures it.

        Raises
        ------
        TypeError
            If ``src`` is neither a buffer nor has the buffer protocol, or ``stream`` is not a stream.
        ValueError
            If ``src`` has fewer than :attr:`size_bytes` bytes.
        BufferError, ValueError
            If ``src`` is not contiguous; its buffer protocol decides which (NumPy raises ValueError).
        RuntimeError
            If the array, ``src`` or the stream is closed.
        """
        Array_copy(self, src, "src", False, stream)

    def copy_to(self, dst, *, stream: Stream | GraphBuilder):
        """Copy all elements to other memory, in stream order (``cuMemcpy3DAsync``).

        Parameters
        ----------
        dst : :class:`Buffer` | object with the buffer protocol
            At least :attr:`size_bytes` writable bytes, in C order. Further bytes are not written. Host memory
            must stay allocated until the copy has completed. If the copy is captured, the graph keeps the memory alive.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream on which the copy is enqueued, or the builder that captures it.

        Returns
        -------
        object
            ``dst``.

        Raises
        ------
        TypeError
            If ``dst`` is neither a buffer nor has the buffer protocol, or ``stream`` is not a stream.
        ValueError
            If ``dst`` has fewer than :attr:`size_bytes` bytes.
        BufferError, ValueError
            If ``dst`` is read-only or not contiguous; its buffer protocol decides which (NumPy raises ValueError).
        RuntimeError
            If the array, ``dst`` or the stream is closed.
        """
        Array_copy(self, dst, "dst", True, stream)
        return dst

    @property
    def element_bytes(self) -> int:
        """The size of an element in bytes, all channels together."""
        return Array_element_bytes(self)

    @property
    def size_bytes(self) -> int:
        """The size of all elements in bytes when packed, as in copies. The allocation itself may be larger."""
        if self._format is None:
            refuse_closed(self)
        return image_bytes(self._shape, self._format, self._num_channels)

    @property
    def is_texture_gather(self) -> bool:
        """Whether ``tex2Dgather`` can read the array (``CUDA_ARRAY3D_TEXTURE_GATHER``)."""
        return bool(self._flags & cydriver.CUDA_ARRAY3D_TEXTURE_GATHER)

    cdef intptr_t _address(self) noexcept:
        cdef KeptArray array
        return <intptr_t>array.value().raw if array.hold(self._h_array) else 0

    def __dealloc__(self):
        if is_large(self):
            with nogil:
                destroy_batch()

    cdef void _release(self) noexcept:
        cdef bint was_large = is_large(self)
        self._h_array.reset()
        if was_large:
            with nogil:
                destroy_batch()  # a deferred texture may still keep the array


@options_class
class OpaqueArrayOptions(Options):
    """Options of :meth:`Device.create_opaque_array`.

    Attributes
    ----------
    shape : tuple[int, ...]
        One to three extents in elements, the width first.
    format : :class:`~cuda.core.typing.ArrayFormatType` | str | numpy.dtype
        The data type of one channel.
    num_channels : int
        The number of channels of an element: 1, 2 or 4.
    is_surface_load_store : bool, optional
        Whether surfaces can be created on the array (``CUDA_ARRAY3D_SURFACE_LDST``). Default is False.
    is_layered : bool, optional
        Whether the last extent is the number of 1D or 2D layers (``CUDA_ARRAY3D_LAYERED``). Default is False.
    is_cubemap : bool, optional
        Whether the array is a cube map (``CUDA_ARRAY3D_CUBEMAP``). Its shape is ``(n, n, 6)``, or with
        ``is_layered`` that of several cubes, ``(n, n, 6 * cubes)``. Default is False.
    is_texture_gather : bool, optional
        Whether kernels may read the array with ``tex2Dgather`` (``CUDA_ARRAY3D_TEXTURE_GATHER``). The array must
        be two-dimensional. Default is False.
    """

    shape: tuple[int, ...]
    format: object
    num_channels: int
    is_surface_load_store: bool = False
    is_layered: bool = False
    is_cubemap: bool = False
    is_texture_gather: bool = False

    __post_init__ = check_image


def create_opaque_array(Device device, options: OpaqueArrayOptions) -> OpaqueArray:
    """Create an array (:meth:`Device.create_opaque_array`)."""
    cdef KeptContext context
    cdef InContext[cydriver.CUarray] value
    cdef cydriver.CUDA_ARRAY3D_DESCRIPTOR c_description
    cdef dict values = check_or_create_options(OpaqueArrayOptions, options, "array options").__dict__
    Array_describe(values, &c_description)
    Device_keep_context(device, &context)
    value.h_context = context.handle()
    value.is_small = Array_is_small(&c_description, element_size(values["format"], c_description.NumChannels))
    create_in_context(value, &c_description)
    return Array_wrap(
        ArrayHandle.own(value, &Array_end, Keep()), values["shape"], values["format"], c_description.NumChannels,
        c_description.Flags, device._id,
    )


cdef bint Array_is_small(const cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description, int element_bytes) noexcept:
    cdef double elements = <double>c_description.Width * (c_description.Height or 1) * (c_description.Depth or 1)
    return elements * element_bytes <= SMALL_ARRAY


cdef bint is_large(OpaqueArray self) noexcept:
    cdef KeptArray array
    return array.hold(self._h_array) and array.is_owner() and not array.value().is_small


cdef int create_in_context(
    InContext[cydriver.CUarray]& value, const cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description
) except -1:
    cdef int is_entered = 0
    cdef cydriver.CUresult err
    with nogil:
        limit_backlog()
        is_entered = Context_enter(value.h_context.get())
        try:
            err = cydriver.cuArray3DCreate(&value.raw, c_description)
            if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_destructions():
                err = cydriver.cuArray3DCreate(&value.raw, c_description)
            HANDLE_RETURN(err, b"cuArray3DCreate")
        finally:
            Context_leave(is_entered)
    return 0


cdef void Array_end(InContext[cydriver.CUarray] value) noexcept nogil:
    # cuArrayDestroy would also wait for work that is enqueued later.
    if are_streams_idle() or not batch_or_postpone(
        value, &Array_end, can_batch(value.is_small, value.h_context), add_to_batch, find_work, destroy_later
    ):
        Array_destroy(value)


cdef void Array_destroy(InContext[cydriver.CUarray] value) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuArrayDestroy(value.raw), b"cuArrayDestroy")
        Context_leave(is_entered)


cdef OpaqueArray Array_wrap(
    const ArrayHandle& h_array, tuple shape, object format, int num_channels, unsigned int flags, int device_id
):
    cdef OpaqueArray self = OpaqueArray.__new__(OpaqueArray)
    self._h_array.set(h_array)
    self._describe(shape, format, num_channels, flags, device_id)
    return self


cdef unsigned int flags_of(dict values) except? 0xffff_ffff:
    cdef unsigned int flags = 0
    if values["is_layered"]:
        flags |= cydriver.CUDA_ARRAY3D_LAYERED
    if values["is_surface_load_store"]:
        flags |= cydriver.CUDA_ARRAY3D_SURFACE_LDST
    if values["is_cubemap"]:
        flags |= cydriver.CUDA_ARRAY3D_CUBEMAP
    if values.get("is_texture_gather"):     # mipmapped arrays have no such option
        flags |= cydriver.CUDA_ARRAY3D_TEXTURE_GATHER
    return flags


cdef object Array_element_bytes(OpaqueArray self):
    if self._format is None:
        refuse_closed(self)
    return element_size(self._format, self._num_channels)


# Pairs of an ArrayFormatType member and the driver's value. Searching by identity is faster than hashing a member.
cdef list _formats = []


cdef cydriver.CUarray_format driver_format(object format) except *:
    cdef tuple entry
    if not _formats:
        _formats.extend([(member, int(ARRAY_FORMAT.to_driver(member))) for member in ArrayFormatType])
    for entry in _formats:
        if entry[0] is format:
            return <cydriver.CUarray_format><int>entry[1]
    return <cydriver.CUarray_format><int>ARRAY_FORMAT.to_driver(format)


cdef int Array_describe(dict values, cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description) except -1:
    memset(c_description, 0, sizeof(cydriver.CUDA_ARRAY3D_DESCRIPTOR))
    c_description.Flags = flags_of(values)
    c_description.Width, c_description.Height, c_description.Depth = driver_extents(
        values["shape"], c_description.Flags
    )
    c_description.Format = driver_format(values["format"])
    c_description.NumChannels = values["num_channels"]
    return 0


cdef OpaqueArray Array_from_handle(uintptr_t handle, bint owning, object device_id):
    cdef InContext[cydriver.CUarray] value
    cdef ArrayHandle h_array
    cdef OpaqueArray self
    value.raw = <cydriver.CUarray>handle
    Context_current(&value.h_context)
    h_array = ArrayHandle.borrow(value, Keep())
    self = Array_wrap_foreign(h_array, Context_ordinal(value.h_context) if device_id is None else device_id)
    if owning:
        self._h_array.set(ArrayHandle.own(value, &Array_end, Keep()))
    return self


cdef OpaqueArray Array_wrap_foreign(const ArrayHandle& h_array, int device_id):
    cdef cydriver.CUDA_ARRAY3D_DESCRIPTOR c_description
    cdef cydriver.CUarray c_array = h_array.value().raw
    memset(&c_description, 0, sizeof(c_description))
    with nogil:
        HANDLE_RETURN(cydriver.cuArray3DGetDescriptor(&c_description, c_array), b"cuArray3DGetDescriptor")
    return Array_wrap(
        h_array, shape_of(c_description.Width, c_description.Height, c_description.Depth),
        ARRAY_FORMAT.from_driver(c_description.Format), c_description.NumChannels, c_description.Flags, device_id,
    )


# Copies between the array and a Buffer or host memory; `is_read` copies out of the array. `name` is for messages.
cdef int Array_copy(OpaqueArray self, object other, str name, bint is_read, object stream) except -1:
    cdef KeptArray array
    cdef KeptStream kept_stream
    cdef KeptAllocation memory
    cdef Py_buffer view
    cdef Stream c_stream = Stream_accept(stream)
    cdef size_t size = self.size_bytes
    Stream_keep(c_stream, &kept_stream)
    Array_keep(self, &array)
    if isinstance(other, Buffer):
        MemoryRange_keep(<Buffer>other, &memory)
        if is_read:
            check_writable(<Buffer>other, name)
        check_size(name, memory.value().size, size)
        keep_in_graph(stream, array.keep(), memory.keep())
        return copy_in_stream_order(self, array, memory.value().pointer, False, is_read, c_stream, kept_stream)
    if not PyObject_CheckBuffer(other):
        raise TypeError(f"{name} must be a Buffer or have the buffer protocol, not {type(other).__name__}")
    if holds_objects(other, b""):
        raise TypeError(f"{name} must have elements of plain bytes; these refer to Python objects")
    PyObject_GetBuffer(other, &view, PyBUF_SIMPLE | (PyBUF_WRITABLE if is_read else 0))
    try:
        check_size(name, view.len, size)
        keep_in_graph(stream, array.keep(), Keep.of_object(<PyObject*>other))
        return copy_in_stream_order(self, array, <uintptr_t>view.buf, True, is_read, c_stream, kept_stream)
    finally:
        PyBuffer_Release(&view)


# If a builder captures the copy, its graph keeps the array and the memory, as long as a clone or launch needs them.
cdef int keep_in_graph(object stream, Keep array, Keep memory) except -1:
    cdef StreamCapture capture
    cdef GraphRecord holder
    cdef KeepList* keeps
    if not isinstance(stream, GraphBuilder):
        return 0
    capture = (<GraphBuilder>stream)._capture
    if capture is None or not capture.h_running:
        return 0
    holder = StreamCapture_graph(capture)
    keeps = new_keeps()
    try:
        keeps.add(array)
        keeps.add(memory)
    except BaseException:
        keeps.drop_reference()
        raise
    retain(holder.c_holder, keeps)
    return 0


cdef int check_size(str name, size_t given, size_t size) except -1:
    if given < size:
        raise ValueError(f"{name} has {given} bytes, fewer than the {size} bytes of the array")
    return 0


cdef int copy_in_stream_order(
    OpaqueArray self, const KeptArray& array, uintptr_t pointer, bint is_on_host, bint is_read,
    Stream stream, const KeptStream& kept_stream,
) except -1:
    cdef cydriver.CUDA_MEMCPY3D c_copy
    cdef ContextHandle h_context
    cdef int device_id = 0
    cdef int is_entered = 0
    describe_copy(self, array, pointer, is_on_host, is_read, &c_copy)
    # A default stream is that of the current context.
    if not is_default(kept_stream.handle()):
        Stream_context(stream, &h_context, &device_id)
    with nogil:
        is_entered = Context_enter(h_context.get())
        try:
            HANDLE_RETURN(cydriver.cuMemcpy3DAsync(&c_copy, kept_stream.get()), b"cuMemcpy3DAsync")
        finally:
            Context_leave(is_entered)
    return 0


cdef int describe_copy(
    OpaqueArray self, const KeptArray& array, uintptr_t pointer, bint is_on_host, bint is_read,
    cydriver.CUDA_MEMCPY3D* c_copy,
) except -1:
    cdef cydriver.CUmemorytype kind = (
        cydriver.CUmemorytype.CU_MEMORYTYPE_HOST if is_on_host else cydriver.CUmemorytype.CU_MEMORYTYPE_UNIFIED
    )
    width, height, depth = driver_extents(self._shape, self._flags)
    memset(c_copy, 0, sizeof(cydriver.CUDA_MEMCPY3D))
    c_copy.WidthInBytes = width * Array_element_bytes(self)
    c_copy.Height = height or 1
    c_copy.Depth = depth or 1
    if is_read:
        c_copy.srcMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_ARRAY
        c_copy.srcArray = array.value().raw
        c_copy.dstMemoryType = kind
        c_copy.dstHost, c_copy.dstDevice = <void*>pointer, pointer
        c_copy.dstPitch, c_copy.dstHeight = c_copy.WidthInBytes, c_copy.Height
    else:
        c_copy.dstMemoryType = cydriver.CUmemorytype.CU_MEMORYTYPE_ARRAY
        c_copy.dstArray = array.value().raw
        c_copy.srcMemoryType = kind
        c_copy.srcHost, c_copy.srcDevice = <void*>pointer, pointer
        c_copy.srcPitch, c_copy.srcHeight = c_copy.WidthInBytes, c_copy.Height
    return 0


make_hasattr_safe(OpaqueArray)
