# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays and mipmapped arrays, their options, and copies of their elements; a part of ``_texture.pyx``."""

from libc.stdint cimport intptr_t, uintptr_t
from libc.string cimport memset

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.object cimport PyObject

from cuda.core._context cimport (
    Context_current,
    Context_enter,
    Context_enter_to_release,
    Context_leave,
    Context_leave_to_release,
    Context_ordinal,
)
from cuda.core._device cimport Device, Device_find, Device_pin_context
from cuda.core._memory._buffer cimport Buffer, Buffer_pin, check_writable
from cuda.core._memory._copies cimport check_stream, has_hints, hints_of
from cuda.core._native._cuda_core cimport (
    AllocationPin,
    Anchor,
    ArrayField,
    ArrayHandle,
    ArrayPin,
    CaptureModeScope,
    ContextHandle,
    ContextPin,
    DriverObject,
    InContext,
    MipmappedArrayField,
    MipmappedArrayHandle,
    MipmappedArrayPin,
    PinnedHandle,
    StreamPin,
    limit_backlog,
    pin_as,
    refuse_closed,
    relax_capture_mode,
    retire,
    wait_for_retired,
)
from cuda.core._stream cimport (
    Stream,
    Stream_accept,
    Stream_context,
    Stream_pin,
    captured_operands,
    is_captured,
    is_default,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport (
    HANDLE_RETURN,
    LEAVE_RETURN,
    WARN_RETURN,
    check_or_create_options,
    note_left_context,
)

import functools
import operator
import sys

from cuda.core._memory._copies import holds_objects
from cuda.core._memory._copy_options import CopyOptions
from cuda.core._utils import slots
from cuda.core._utils.enums import ARRAY_FORMAT
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import check_address, check_str_enum, format_or_list, int_argument, shown
from cuda.core.typing import ArrayFormatType


# Flags of cuArray3DCreate: CUDA_ARRAY3D_LAYERED, and it or CUDA_ARRAY3D_CUBEMAP.
cdef unsigned int _LAYERED = 0x01
cdef unsigned int _LAYERED_OR_CUBEMAP = 0x05


cdef class DescribedArray(DriverObject):
    """Base class of arrays and mipmapped arrays: the description of their elements, in level 0 if there are several."""

    cdef:
        tuple _shape            # of level 0
        object _format
        int _num_channels
        unsigned int _flags     # of cuArray3DCreate
        int _device_id

    @property
    def handle(self) -> int:
        """The ``CUarray`` or ``CUmipmappedArray`` as an int, or 0 if closed."""
        return self._address()

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents in elements, width first, of level 0 if there are several.

        For layered arrays and cube maps, the last entry counts layers or faces.
        """
        return self._shape

    @property
    def format(self) -> ArrayFormatType:
        """The data type of one channel."""
        return self._format

    @property
    def num_channels(self) -> int:
        """The number of channels of an element: 1, 2 or 4."""
        return self._num_channels

    @property
    def is_surface_load_store(self) -> bool:
        """Whether surfaces can be created on the array or its levels (``CUDA_ARRAY3D_SURFACE_LDST``)."""
        return bool(self._flags & cydriver.CUDA_ARRAY3D_SURFACE_LDST)

    @property
    def is_layered(self) -> bool:
        """Whether the last extent is the number of layers (``CUDA_ARRAY3D_LAYERED``). Filtering never mixes layers."""
        return bool(self._flags & cydriver.CUDA_ARRAY3D_LAYERED)

    @property
    def is_cubemap(self) -> bool:
        """Whether the array is a cube map (``CUDA_ARRAY3D_CUBEMAP``), whose last extent counts faces."""
        return bool(self._flags & cydriver.CUDA_ARRAY3D_CUBEMAP)

    @property
    def device(self) -> Device:
        """The :class:`Device` of the array."""
        return Device_find(self._device_id)

    cdef object _identity(self):
        return id(self)

    cdef int _describe(self, tuple shape, object format, int num_channels, unsigned int flags, int device_id) except -1:
        self._shape = shape
        self._format = format
        self._num_channels = num_channels
        self._flags = flags
        self._device_id = device_id
        return 0


cdef class OpaqueArray(DescribedArray):
    """A CUDA array (``CUarray``): elements in an opaque layout, for textures and surfaces.

    An array cannot be constructed directly: :meth:`Device.create_opaque_array` and :meth:`MipmappedArray.get_level`
    return one. The driver chooses the layout, so an array has no address: the host reads and writes its elements with
    :meth:`copy_to` and :meth:`copy_from`, kernels through textures and surfaces. As a context manager, an array closes
    when the ``with`` block exits.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device
    >>> from cuda.core.texture import OpaqueArrayOptions
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> array = device.create_opaque_array(OpaqueArrayOptions(shape=(4, 2), format=np.float32, num_channels=1))
    >>> array.copy_from(np.arange(8, dtype=np.float32).reshape(2, 4), stream=stream)
    >>> stream.sync()
    """

    cdef ArrayField _h_array

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
        """Wrap an existing ``CUarray``, whose shape and format the driver reports.

        Parameters
        ----------
        handle : int
            The ``CUarray``, which belongs to the current context.
        owning : bool
            Whether closing the object destroys the array (``cuArrayDestroy``).
        device_id : int, optional
            The ordinal of its device. Defaults to the current context's device.
        """
        return Array_from_handle(check_address("handle", handle), owning, device_id)

    def copy_from(
        self, src: Any, *, stream: Stream | GraphBuilder, options: CopyOptions | dict[str, Any] | None = None
    ) -> None:
        """Copy all elements from other memory, in stream order (``cuMemcpy3DAsync``).

        Parameters
        ----------
        src : :class:`Buffer` | buffer
            At least :attr:`size_bytes` bytes, in C order: packed rows of ``shape[0]`` elements. Further bytes
            are not read. Host memory must stay allocated and unchanged until the copy has completed. If the copy is
            captured, the graph keeps the memory alive.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream to enqueue the copy on, or the builder that captures it.
        options : :class:`~cuda.core.utils.CopyOptions`, optional
            Hints for the driver (``cuMemcpy3DWithAttributesAsync``); drivers older than CUDA 13.2 ignore them.

        Raises
        ------
        TypeError
            If ``src`` is neither a buffer nor has the buffer protocol, ``stream`` is not a stream or ``options`` not a
            CopyOptions, or ``options`` are given and the stream is the legacy default stream or capturing.
        ValueError
            If ``src`` has fewer than :attr:`size_bytes` bytes.
        BufferError, ValueError
            If ``src`` is not contiguous. Its buffer protocol decides which one (NumPy raises ValueError).
        RuntimeError
            If the array, ``src`` or the stream is closed, or the option ``"during_api_call"`` is given and the driver is
            older than CUDA 13.2.
        """
        Array_copy(self, src, "src", False, stream, options)

    def copy_to(self, dst, *, stream: Stream | GraphBuilder, options: CopyOptions | dict[str, Any] | None = None):
        """Copy all elements to other memory, in stream order (``cuMemcpy3DAsync``).

        Parameters
        ----------
        dst : :class:`Buffer` | buffer
            At least :attr:`size_bytes` writable bytes, in C order. Further bytes are not written. Host memory
            must stay allocated until the copy has completed. If the copy is captured, the graph keeps the memory alive.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream to enqueue the copy on, or the builder that captures it.
        options : :class:`~cuda.core.utils.CopyOptions`, optional
            Hints for the driver (``cuMemcpy3DWithAttributesAsync``); drivers older than CUDA 13.2 ignore them.

        Returns
        -------
        object
            ``dst``.

        Raises
        ------
        TypeError
            If ``dst`` is neither a buffer nor has the buffer protocol, ``stream`` is not a stream or ``options`` not a
            CopyOptions, or ``options`` are given and the stream is the legacy default stream or capturing.
        ValueError
            If ``dst`` has fewer than :attr:`size_bytes` bytes.
        BufferError, ValueError
            If ``dst`` is read-only or not contiguous. Its buffer protocol decides which one (NumPy raises ValueError).
        RuntimeError
            If the array, ``dst`` or the stream is closed, or the option ``"during_api_call"`` is given and the driver is
            older than CUDA 13.2.
        """
        Array_copy(self, dst, "dst", True, stream, options)
        return dst

    @property
    def element_bytes(self) -> int:
        """The size of an element in bytes, all channels together."""
        return Array_element_bytes(self)

    @property
    def size_bytes(self) -> int:
        """The size of all elements in bytes when packed, as in copies. The allocation itself can be larger."""
        if self._format is None:
            refuse_closed(self)
        return image_bytes(self._shape, self._format, self._num_channels)

    @property
    def is_texture_gather(self) -> bool:
        """Whether ``tex2Dgather`` can read the array (``CUDA_ARRAY3D_TEXTURE_GATHER``)."""
        return bool(self._flags & cydriver.CUDA_ARRAY3D_TEXTURE_GATHER)

    def _pin(self) -> PinnedHandle:
        cdef ArrayPin pin
        Array_pin(self, &pin)
        return pin_as("CUarray", <intptr_t>pin.value().raw, pin.anchor())

    cdef intptr_t _address(self) noexcept:
        cdef ArrayPin array
        return <intptr_t>array.value().raw if array.hold(self._h_array) else 0

    cdef void _release(self) noexcept:
        self._h_array.reset()


# Pins the array for a call. RuntimeError if the object is closed.
cdef inline int Array_pin(OpaqueArray self, ArrayPin* pin) except -1:
    return 0 if pin.hold(self._h_array) else refuse_closed(self)


@options
class OpaqueArrayOptions(Options):
    """Options of :meth:`Device.create_opaque_array`.

    Attributes
    ----------
    shape : tuple[int, ...]
        One to three extents in elements, width first.
    format : :class:`~cuda.core.typing.ArrayFormatType` | str | numpy.dtype
        The data type of one channel.
    num_channels : int
        The number of channels of an element: 1, 2 or 4.
    is_surface_load_store : bool, optional
        Whether surfaces can be created on the array (``CUDA_ARRAY3D_SURFACE_LDST``). Defaults to False.
    is_layered : bool, optional
        Whether the last extent is the number of 1D or 2D layers (``CUDA_ARRAY3D_LAYERED``). Defaults to False.
    is_cubemap : bool, optional
        Whether the array is a cube map (``CUDA_ARRAY3D_CUBEMAP``). Its shape is ``(n, n, 6)``, or with
        ``is_layered`` that of several cubes, ``(n, n, 6 * cubes)``. Defaults to False.
    is_texture_gather : bool, optional
        Whether kernels can read the array with ``tex2Dgather`` (``CUDA_ARRAY3D_TEXTURE_GATHER``). The array must
        be two-dimensional. Defaults to False.
    """

    shape: tuple[int, ...]
    format: object
    num_channels: int
    is_surface_load_store: bool = False
    is_layered: bool = False
    is_cubemap: bool = False
    is_texture_gather: bool = False

    def _check(self):
        check_image_options(self)


def create_opaque_array(Device device, options: OpaqueArrayOptions) -> OpaqueArray:
    """Create an array (:meth:`Device.create_opaque_array`)."""
    cdef ContextPin context
    cdef InContext[cydriver.CUarray] value
    cdef ArrayHandle h_array
    cdef cydriver.CUDA_ARRAY3D_DESCRIPTOR c_description
    options = check_or_create_options(OpaqueArrayOptions, options, "array options")
    Array_describe(options, &c_description)
    Device_pin_context(device, &context)
    value.h_context = context.handle()
    create_array_in_context(value, &c_description, &h_array)
    return Array_wrap(
        h_array, options.shape, options.format, c_description.NumChannels, c_description.Flags, device._id
    )


cdef int create_array_in_context(
    InContext[cydriver.CUarray]& value,
    const cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description,
    ArrayHandle* h_array,
) except -1:
    cdef int is_entered = 0
    cdef cydriver.CUresult err, left
    try:
        with nogil:
            limit_backlog()
            is_entered = Context_enter(value.h_context.get())
            err = cydriver.cuArray3DCreate(&value.raw, c_description)
            if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_retired():
                err = cydriver.cuArray3DCreate(&value.raw, c_description)
            # In the context, because the error contains its free memory.
            HANDLE_RETURN(err, b"cuArray3DCreate")
    except BaseException as error:
        note_left_context(error, Context_leave(is_entered))
        raise
    left = Context_leave(is_entered)
    h_array[0] = ArrayHandle.own(value, &Array_end, Anchor())
    return LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, left)


cdef void Array_end(InContext[cydriver.CUarray] value) noexcept nogil:
    # cuArrayDestroy would also wait for work enqueued later.
    if not retire(value, &Array_end, Anchor()):
        Array_destroy(value)


cdef void Array_destroy(InContext[cydriver.CUarray] value) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuArrayDestroy(value.raw), b"cuArrayDestroy", value.raw)
        Context_leave_to_release(is_entered)


cdef OpaqueArray Array_wrap(
    const ArrayHandle& h_array, tuple shape, object format, int num_channels, unsigned int flags, int device_id
):
    cdef OpaqueArray self = OpaqueArray.__new__(OpaqueArray)
    self._h_array.set(h_array)
    self._describe(shape, format, num_channels, flags, device_id)
    return self


cdef OpaqueArray Array_from_handle(uintptr_t handle, bint owning, object device_id):
    cdef InContext[cydriver.CUarray] value
    cdef ArrayHandle h_array
    cdef OpaqueArray self
    value.raw = <cydriver.CUarray>handle
    Context_current(&value.h_context)
    h_array = ArrayHandle.borrow(value, Anchor())
    self = Array_wrap_foreign(h_array, Context_ordinal(value.h_context) if device_id is None else device_id)
    if owning:
        self._h_array.set(ArrayHandle.own(value, &Array_end, Anchor()))
    return self


# Wraps an array of another library, whose shape and format the driver reports. Its context must be current.
cdef DriverObject Array_wrap_foreign(const ArrayHandle& h_array, int device_id):
    cdef cydriver.CUDA_ARRAY3D_DESCRIPTOR c_description
    cdef cydriver.CUarray c_array = h_array.value().raw
    memset(&c_description, 0, sizeof(c_description))
    with nogil:
        HANDLE_RETURN(cydriver.cuArray3DGetDescriptor(&c_description, c_array), b"cuArray3DGetDescriptor")
    return Array_wrap(
        h_array, shape_of_extents(c_description.Width, c_description.Height, c_description.Depth),
        ARRAY_FORMAT.from_driver(c_description.Format), c_description.NumChannels, c_description.Flags, device_id,
    )


cdef class MipmappedArray(DescribedArray):
    """A mipmapped array (``CUmipmappedArray``): levels, each with half the extents of the previous one.

    A mipmapped array cannot be constructed directly: :meth:`Device.create_mipmapped_array` and
    :meth:`ExternalMemory.map_mipmapped_array` return one. The program fills each level through the array that
    :meth:`get_level` returns. As a context manager, a mipmapped array closes when the ``with`` block exits.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device
    >>> from cuda.core.texture import MipmappedArrayOptions
    >>> device = Device()
    >>> device.set_current()
    >>> options = MipmappedArrayOptions(shape=(8, 8), format=np.float32, num_channels=1, num_levels=2)
    >>> device.create_mipmapped_array(options).get_level(1).shape
    (4, 4)
    """

    cdef:
        MipmappedArrayField _h_mipmap
        int _num_levels

    _made_by = "Device.create_mipmapped_array() or ExternalMemory.map_mipmapped_array()"

    def __repr__(self):
        if self._format is None:
            return "<MipmappedArray, not initialized>"
        closed = ", closed" if self.is_closed else ""
        return (
            f"MipmappedArray(shape={self._shape}, format={self._format.name}, num_channels={self._num_channels}, "
            f"num_levels={self._num_levels}{closed})"
        )

    def get_level(self, level: int) -> OpaqueArray:
        """Return the array of a level (``cuMipmappedArrayGetLevel``).

        Its extents are those of level 0, halved ``level`` times and at least 1; the number of layers and faces is
        the same. It keeps the memory alive even after this object is closed.

        Parameters
        ----------
        level : int
            The level, from 0 to :attr:`num_levels` - 1.

        Raises
        ------
        TypeError
            If ``level`` is not an int.
        ValueError
            If there is no such level.
        RuntimeError
            If the mipmapped array is closed.
        """
        return MipmappedArray_level(self, level)

    @property
    def num_levels(self) -> int:
        """The number of levels that the driver created, limited by the extents."""
        return self._num_levels

    cdef intptr_t _address(self) noexcept:
        cdef MipmappedArrayPin mipmap
        return <intptr_t>mipmap.value().raw if mipmap.hold(self._h_mipmap) else 0

    cdef void _release(self) noexcept:
        self._h_mipmap.reset()


# Pins the mipmapped array for a call. RuntimeError if the object is closed.
cdef inline int MipmappedArray_pin(MipmappedArray self, MipmappedArrayPin* pin) except -1:
    return 0 if pin.hold(self._h_mipmap) else refuse_closed(self)


@options
class MipmappedArrayOptions(Options):
    """Options of :meth:`Device.create_mipmapped_array`.

    Attributes
    ----------
    shape : tuple[int, ...]
        One to three extents of level 0 in elements, width first.
    format : :class:`~cuda.core.typing.ArrayFormatType` | str | numpy.dtype
        The data type of one channel.
    num_channels : int
        The number of channels of an element: 1, 2 or 4.
    num_levels : int
        The number of levels, at least 1. The driver creates fewer if all extents reach 1 earlier.
    is_surface_load_store : bool, optional
        Whether surfaces can be created on the levels (``CUDA_ARRAY3D_SURFACE_LDST``). Defaults to False.
    is_layered : bool, optional
        Whether the last extent is the number of 1D or 2D layers (``CUDA_ARRAY3D_LAYERED``). Defaults to False.
    is_cubemap : bool, optional
        Whether each level is a cube map (``CUDA_ARRAY3D_CUBEMAP``). Defaults to False.
    """

    shape: tuple[int, ...]
    format: object
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False
    is_layered: bool = False
    is_cubemap: bool = False

    def _check(self):
        check_image_options(self)
        self.num_levels = levels = checked_count("num_levels", self.num_levels)
        if levels >= 1 << 31:
            raise ValueError(f"num_levels must be less than 2**31, not {levels}")


def create_mipmapped_array(Device device, options: MipmappedArrayOptions) -> MipmappedArray:
    """Create a mipmapped array (:meth:`Device.create_mipmapped_array`)."""
    cdef ContextPin context
    cdef InContext[cydriver.CUmipmappedArray] value
    cdef MipmappedArrayHandle h_mipmap
    cdef cydriver.CUDA_ARRAY3D_DESCRIPTOR c_description
    options = check_or_create_options(MipmappedArrayOptions, options, "mipmapped array options")
    Array_describe(options, &c_description)
    Device_pin_context(device, &context)
    value.h_context = context.handle()
    create_mipmap_in_context(value, &c_description, options.num_levels, &h_mipmap)
    return MipmappedArray_wrap(h_mipmap, options, c_description.Flags, device._id)


cdef DriverObject MipmappedArray_wrap(
    const MipmappedArrayHandle& h_mipmap, object options, unsigned int flags, int device_id
):
    cdef MipmappedArray self = MipmappedArray.__new__(MipmappedArray)
    self._h_mipmap.set(h_mipmap)
    self._describe(options.shape, options.format, options.num_channels, flags, device_id)
    # The driver does not report that it creates fewer.
    self._num_levels = min(options.num_levels, max_levels(self._shape, self._flags))
    return self


cdef int create_mipmap_in_context(
    InContext[cydriver.CUmipmappedArray]& value,
    const cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description,
    unsigned int num_levels,
    MipmappedArrayHandle* h_mipmap,
) except -1:
    cdef int is_entered = 0
    cdef cydriver.CUresult err, left
    try:
        with nogil:
            limit_backlog()
            is_entered = Context_enter(value.h_context.get())
            err = cydriver.cuMipmappedArrayCreate(&value.raw, c_description, num_levels)
            if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_retired():
                err = cydriver.cuMipmappedArrayCreate(&value.raw, c_description, num_levels)
            # In the context, because the error contains its free memory.
            HANDLE_RETURN(err, b"cuMipmappedArrayCreate")
    except BaseException as error:
        note_left_context(error, Context_leave(is_entered))
        raise
    left = Context_leave(is_entered)
    h_mipmap[0] = MipmappedArrayHandle.own(value, &MipmappedArray_end, Anchor())
    return LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, left)


cdef void MipmappedArray_end(InContext[cydriver.CUmipmappedArray] value) noexcept nogil:
    # cuMipmappedArrayDestroy would also wait for work enqueued later.
    if not retire(value, &MipmappedArray_end, Anchor()):
        MipmappedArray_destroy(value)


cdef void MipmappedArray_destroy(InContext[cydriver.CUmipmappedArray] value) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuMipmappedArrayDestroy(value.raw), b"cuMipmappedArrayDestroy", value.raw)
        Context_leave_to_release(is_entered)


cdef OpaqueArray MipmappedArray_level(MipmappedArray self, object level):
    cdef MipmappedArrayPin mipmap
    cdef InContext[cydriver.CUarray] value
    cdef unsigned int c_level
    cdef int is_entered = 0
    cdef cydriver.CUresult err
    number = level if type(level) is int else int_argument("level", level)
    MipmappedArray_pin(self, &mipmap)
    if not 0 <= number < self._num_levels:
        raise ValueError(f"level must be from 0 to {self._num_levels - 1}, not {shown(number)}")
    c_level = number
    value.h_context = mipmap.value().h_context
    with nogil:
        is_entered = Context_enter(value.h_context.get())
        err = cydriver.cuMipmappedArrayGetLevel(&value.raw, mipmap.value().raw, c_level)
        LEAVE_RETURN(err, b"cuMipmappedArrayGetLevel", Context_leave(is_entered))
    return Array_wrap(
        ArrayHandle.borrow(value, mipmap.anchor()), level_shape(self._shape, self._flags, number),
        self._format, self._num_channels, self._flags, self._device_id,
    )


# ---------------------------------------------------------------------------------------------
# Copies

# Copies between the array and a Buffer or host memory; `is_read` copies out of the array. `name` is for messages.
cdef int Array_copy(OpaqueArray self, object other, str name, bint is_read, object stream, object options) except -1:
    cdef ArrayPin array
    cdef StreamPin stream_pin
    cdef AllocationPin memory
    cdef Py_buffer view
    cdef Stream c_stream = Stream_accept(stream)
    cdef size_t size = self.size_bytes
    cdef object lent
    options = check_or_create_options(CopyOptions, options, "options of a copy", keep_none=True)
    Stream_pin(c_stream, &stream_pin)
    Array_pin(self, &array)
    if isinstance(other, Buffer):
        Buffer_pin(<Buffer>other, &memory)
        if is_read:
            check_writable(<Buffer>other, name)
        check_operand_size(name, memory.value().size, size)
        keep_for_capture(stream_pin, array.anchor(), memory.anchor())
        return copy_in_stream_order(self, array, memory.value().pointer, False, is_read, c_stream, stream_pin, options)
    if not PyObject_CheckBuffer(other):
        raise TypeError(f"{name} must be a Buffer or have the buffer protocol, not {type(other).__name__}")
    if holds_objects(other, b""):
        raise TypeError(f"{name} must have elements of plain bytes; these refer to Python objects")
    PyObject_GetBuffer(other, &view, PyBUF_SIMPLE | (PyBUF_WRITABLE if is_read else 0))
    try:
        check_operand_size(name, view.len, size)
        lent = memoryview(other)  # its owner cannot resize it
        keep_for_capture(stream_pin, array.anchor(), Anchor.of_object(<PyObject*>lent))
        return copy_in_stream_order(self, array, <uintptr_t>view.buf, True, is_read, c_stream, stream_pin, options)
    finally:
        PyBuffer_Release(&view)


cdef int keep_for_capture(const StreamPin& stream, Anchor array, Anchor operand) except -1:
    if is_captured(stream.handle()):
        captured_operands().keep(stream.handle(), array)
        captured_operands().keep(stream.handle(), operand)
    return 0


cdef int check_operand_size(str name, size_t given, size_t size) except -1:
    if given < size:
        raise ValueError(f"{name} has {given} bytes, fewer than the {size} bytes of the array")
    return 0


cdef int copy_in_stream_order(
    OpaqueArray self, const ArrayPin& array, uintptr_t pointer, bint is_on_host, bint is_read,
    Stream stream, const StreamPin& stream_pin, object options,
) except -1:
    cdef cydriver.CUDA_MEMCPY3D c_copy
    cdef cydriver.CUDA_MEMCPY3D_BATCH_OP c_operation
    cdef ContextHandle h_context
    cdef int device_id = 0
    cdef int is_entered = 0
    cdef bint has_options = False
    cdef cydriver.CUresult err
    describe_copy(self, array, pointer, is_on_host, is_read, &c_copy)
    if options is not None:
        check_stream(stream_pin.handle())
        has_options = describe_operation(self, array, pointer, is_read, options, &c_operation)
    # A default stream is that of the current context.
    if not is_default(stream_pin.handle()):
        Stream_context(stream, &h_context, &device_id)
    with nogil:
        is_entered = Context_enter(h_context.get())
        if has_options:
            err = cydriver.cuMemcpy3DWithAttributesAsync(&c_operation, 0, stream_pin.get())
            LEAVE_RETURN(err, b"cuMemcpy3DWithAttributesAsync", Context_leave(is_entered))
        else:
            err = cydriver.cuMemcpy3DAsync(&c_copy, stream_pin.get())
            LEAVE_RETURN(err, b"cuMemcpy3DAsync", Context_leave(is_entered))
    return 0


# Returns false if the driver is too old for options, which it then need not know.
cdef bint describe_operation(
    OpaqueArray self, const ArrayPin& array, uintptr_t pointer, bint is_read, object options,
    cydriver.CUDA_MEMCPY3D_BATCH_OP* c_operation,
) except -1:
    cdef cydriver.CUmemcpyAttributes hints = hints_of(options)
    cdef cydriver.CUmemcpy3DOperand* in_array = &c_operation.src if is_read else &c_operation.dst
    cdef cydriver.CUmemcpy3DOperand* in_memory = &c_operation.dst if is_read else &c_operation.src
    if not has_hints(hints, 13020):
        return False
    width, height, depth = driver_extents(self._shape, self._flags)
    memset(c_operation, 0, sizeof(cydriver.CUDA_MEMCPY3D_BATCH_OP))
    c_operation.extent.width, c_operation.extent.height, c_operation.extent.depth = width, height or 1, depth or 1
    c_operation.srcAccessOrder = hints.srcAccessOrder
    c_operation.flags = hints.flags
    in_array.type = cydriver.CUmemcpy3DOperandType.CU_MEMCPY_OPERAND_TYPE_ARRAY
    in_array.op.array.array = array.value().raw
    in_memory.type = cydriver.CUmemcpy3DOperandType.CU_MEMCPY_OPERAND_TYPE_POINTER
    in_memory.op.ptr.ptr = pointer  # packed rows
    in_memory.op.ptr.locHint = hints.dstLocHint if is_read else hints.srcLocHint
    return True


cdef int describe_copy(
    OpaqueArray self, const ArrayPin& array, uintptr_t pointer, bint is_on_host, bint is_read,
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


# ---------------------------------------------------------------------------------------------
# Descriptions

# Fills the driver's descriptor of an array, or of a mipmapped array, from its options.
cdef int Array_describe(object options, cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description) except -1:
    memset(c_description, 0, sizeof(cydriver.CUDA_ARRAY3D_DESCRIPTOR))
    c_description.Flags = flags_of(options)
    c_description.Width, c_description.Height, c_description.Depth = driver_extents(options.shape, c_description.Flags)
    c_description.Format = driver_format(options.format)
    c_description.NumChannels = options.num_channels
    return 0


cdef unsigned int flags_of(object options) except? 0xffff_ffff:
    cdef unsigned int flags = 0
    if options.is_layered:
        flags |= cydriver.CUDA_ARRAY3D_LAYERED
    if options.is_surface_load_store:
        flags |= cydriver.CUDA_ARRAY3D_SURFACE_LDST
    if options.is_cubemap:
        flags |= cydriver.CUDA_ARRAY3D_CUBEMAP
    if getattr(options, "is_texture_gather", False):     # mipmapped arrays have no such option
        flags |= cydriver.CUDA_ARRAY3D_TEXTURE_GATHER
    return flags


# Pairs of an ArrayFormatType member and the driver's value. Searching by identity is faster than hashing a member.
cdef list _driver_formats = []


cdef cydriver.CUarray_format driver_format(object format) except *:
    cdef tuple entry
    if not _driver_formats:
        _driver_formats.extend([(member, int(ARRAY_FORMAT.to_driver(member))) for member in ArrayFormatType])
    for entry in _driver_formats:
        if entry[0] is format:
            return <cydriver.CUarray_format><int>entry[1]
    return <cydriver.CUarray_format><int>ARRAY_FORMAT.to_driver(format)


cpdef tuple driver_extents(tuple shape, unsigned int flags):
    """Return width, height and depth in the driver's form: 0 for missing axes."""
    rank = len(shape)
    if rank == 2:
        return (shape[0], 0, shape[1]) if flags & _LAYERED else (shape[0], shape[1], 0)
    return shape if rank == 3 else (shape[0], 0, 0)


def shape_of_extents(width: int, height: int, depth: int) -> tuple[int, ...]:
    """Return the shape for the extents that the driver returns."""
    return tuple(extent for extent in (width, height, depth) if extent) or (0,)


cpdef tuple level_shape(tuple shape, unsigned int flags, int level):
    """Return the shape of a mipmap level: extents are halved, but not the number of layers or faces."""
    has_layers = flags & _LAYERED_OR_CUBEMAP
    halved = [extent >> level or 1 for extent in (shape[:-1] if has_layers else shape)]
    return (*halved, shape[-1]) if has_layers else tuple(halved)


cpdef object max_levels(tuple shape, unsigned int flags):
    """Return the maximum number of levels. In the last one, all extents but layers and faces are 1."""
    return max(shape[:-1] if flags & _LAYERED_OR_CUBEMAP else shape).bit_length()


# A list of pairs: searching by identity is faster than hashing an enum member.
cdef list _sizes = [(member, 4 if "32" in member else 2 if "16" in member else 1) for member in ArrayFormatType]


cpdef int element_size(object format, int num_channels) except -1:
    """Return the size of an element in bytes."""
    cdef tuple entry
    for entry in _sizes:
        if entry[0] is format:
            return <int>entry[1] * num_channels
    raise ValueError(f"format must be an ArrayFormatType, not {shown(format)}")


cpdef object image_bytes(tuple shape, object format, int num_channels):
    """Return the size of all elements in bytes, when packed."""
    cdef object size = element_size(format, num_channels)
    for extent in shape:
        size *= extent
    return size


cdef object Array_element_bytes(OpaqueArray self):
    if self._format is None:
        refuse_closed(self)
    return element_size(self._format, self._num_channels)


# ---------------------------------------------------------------------------------------------
# Options

_MAX_COUNT = (1 << 63) - 1
_CHANNELS = (1, 2, 4)


def check_image_options(options) -> None:
    """Check and normalize the options that arrays and mipmapped arrays share.

    Raises
    ------
    TypeError
        If the shape is not a tuple of ints.
    ValueError
        If the shape, the format or the number of channels is not valid.
    """
    options.shape = shape = _checked_shape(options.shape)
    options.format = checked_format(options.format)
    channels = options.num_channels
    if type(channels) is not int or channels not in _CHANNELS:
        options.num_channels = checked_channels(channels)
    if options.is_cubemap:
        rank = len(shape)
        faces = shape[2] if rank == 3 else 0
        if rank != 3 or shape[0] != shape[1] or (faces % 6 if options.is_layered else faces != 6):
            count = "a multiple of 6" if options.is_layered else "6"
            raise ValueError(f"shape of a cube map must be (n, n, faces) with {count} faces, not {shape}")
    elif options.is_layered and len(shape) == 1:
        raise ValueError(f"shape of a layered array must be (width, layers) or (width, height, layers), not {shape}")


def _checked_shape(shape) -> tuple[int, ...]:
    if type(shape) is tuple and 1 <= len(shape) <= 3:
        for extent in shape:
            if type(extent) is not int or not 1 <= extent <= _MAX_COUNT:
                break
        else:
            return shape
    try:
        extents = tuple(shape)
    except TypeError:
        raise TypeError(f"shape must be a tuple of 1 to 3 extents, not {type(shape).__name__}") from None
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"shape must have 1 to 3 extents, not {len(extents)}")
    return tuple(checked_count(f"shape[{axis}]", extent) for axis, extent in enumerate(extents))


def checked_format(value) -> ArrayFormatType:
    """Return the format for a member, its string, or a NumPy dtype or scalar type.

    Raises
    ------
    ValueError
        If ``value`` is none of these, or CUDA arrays do not support the type.
    """
    kind = type(value)
    if kind is ArrayFormatType:
        return value
    if kind is str or kind is type:  # other types can run any code in __hash__
        known = _formats.get(value)
        if known is not None:
            return known
    numpy = sys.modules.get("numpy")
    if kind is not str and hasattr(numpy, "generic"):
        is_scalar_type = isinstance(value, type) and issubclass(value, numpy.generic)
        dtype = numpy.dtype(value) if is_scalar_type else value
        if isinstance(dtype, numpy.dtype):
            # The type number is the same for both byte orders.
            found = _formats_by_type_number().get(dtype.num)
            if found is not None and dtype.isnative:
                if is_scalar_type:
                    _formats[value] = found
                return found
    if not isinstance(value, str):
        choices = format_or_list(sorted(ARRAY_FORMAT.names))
        raise ValueError(f"format must be {choices}, or a NumPy dtype of that name, not {shown(value)}")
    return check_str_enum(value, ArrayFormatType)


# Formats by their strings, and by NumPy scalar types that were already used.
cdef dict _formats = {member.value: member for member in ArrayFormatType}


@functools.cache
def _formats_by_type_number() -> dict[int, ArrayFormatType]:
    numpy = sys.modules["numpy"]
    return {numpy.dtype(member.value).num: member for member in ArrayFormatType}


def checked_channels(value) -> int:
    """Return the number of channels. Raises ValueError if it is not 1, 2 or 4."""
    number = operator.index(value) if hasattr(type(value), "__index__") and not isinstance(value, bool) else None
    if number not in _CHANNELS:
        raise ValueError(f"num_channels must be 1, 2 or 4, not {shown(value)}")
    return number


def checked_count(name: str, value) -> int:
    """Return the argument ``name``, which must be an int of at least 1.

    Raises
    ------
    TypeError
        If ``value`` is not an int.
    ValueError
        If ``value`` is not from 1 to 2**63 - 1.
    """
    if type(value) is int and 1 <= value <= _MAX_COUNT:
        return value
    number = int_argument(name, value)
    if not 1 <= number <= _MAX_COUNT:
        raise ValueError(f"{name} must be from 1 to 2**63 - 1, not {shown(number)}")
    return number


slots.register("mipmapped array", create_mipmapped_array)
slots.register("opaque array", create_opaque_array)
