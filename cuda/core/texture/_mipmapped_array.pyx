# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Mipmapped arrays: an image in several resolutions, for textures that are minified."""

from __future__ import annotations

from libc.stdint cimport intptr_t

from cuda.core._context cimport Context_enter, Context_enter_to_release, Context_leave
from cuda.core._device cimport Device
from cuda.core._device_contexts cimport Device_keep_context
from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._deferred_destruction cimport (
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
from cuda.core._handles._handles cimport (
    ArrayHandle,
    InContext,
    Keep,
    KeptContext,
    KeptMipmappedArray,
    MipmappedArrayHandle,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, check_or_create_options
from cuda.core.texture._array cimport Array_describe, Array_is_small, Array_wrap, OpaqueArray
from cuda.core.texture._described_array cimport DescribedArray
from cuda.core.texture._elements cimport element_size, level_shape, max_levels

from cuda.core._utils.options import Options, options_class
from cuda.core._utils.validators import int_argument, shown
from cuda.core.texture._elements import check_image, checked_count

__all__ = ["MipmappedArray", "MipmappedArrayOptions"]


cdef class MipmappedArray(DescribedArray):
    """A mipmapped array (``CUmipmappedArray``): levels, each with half the extents of the one before.

    Mipmapped arrays come from :meth:`Device.create_mipmapped_array`; there is no direct construction. The program
    fills each level itself, through the array that :meth:`get_level` returns. As a context manager a mipmapped array
    closes itself at the end of the block.
    """

    _made_by = "Device.create_mipmapped_array()"

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
        the same. It keeps the memory alive, also after this object is closed.

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
        """The number of levels that the driver created, which the extents limit."""
        return self._num_levels

    cdef intptr_t _address(self) noexcept:
        cdef KeptMipmappedArray mipmap
        return <intptr_t>mipmap.value().raw if mipmap.hold(self._h_mipmap) else 0

    def __dealloc__(self):
        if is_large(self):
            with nogil:
                destroy_batch()

    cdef void _release(self) noexcept:
        cdef bint was_large = is_large(self)
        self._h_mipmap.reset()
        if was_large:
            with nogil:
                destroy_batch()  # a deferred texture may still keep the array


@options_class
class MipmappedArrayOptions(Options):
    """Options of :meth:`Device.create_mipmapped_array`.

    Attributes
    ----------
    shape : tuple[int, ...]
        One to three extents of level 0 in elements, the width first.
    format : :class:`~cuda.core.typing.ArrayFormatType` | str | numpy.dtype
        The data type of one channel.
    num_channels : int
        The number of channels of an element: 1, 2 or 4.
    num_levels : int
        The number of levels, at least 1. The driver creates fewer if all extents reach 1 before.
    is_surface_load_store : bool, optional
        Whether surfaces can be created on the levels (``CUDA_ARRAY3D_SURFACE_LDST``). Default is False.
    is_layered : bool, optional
        Whether the last extent is the number of 1D or 2D layers (``CUDA_ARRAY3D_LAYERED``). Default is False.
    is_cubemap : bool, optional
        Whether each level is a cube map (``CUDA_ARRAY3D_CUBEMAP``). Default is False.
    """

    shape: tuple[int, ...]
    format: object
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False
    is_layered: bool = False
    is_cubemap: bool = False

    def __post_init__(self):
        cdef dict values = self.__dict__
        check_image(self)
        values["num_levels"] = levels = checked_count("num_levels", values["num_levels"])
        if levels >= 1 << 31:
            raise ValueError(f"num_levels must be less than 2**31, not {levels}")


def create_mipmapped_array(Device device, options: MipmappedArrayOptions) -> MipmappedArray:
    """Create a mipmapped array (:meth:`Device.create_mipmapped_array`)."""
    cdef KeptContext context
    cdef InContext[cydriver.CUmipmappedArray] value
    cdef cydriver.CUDA_ARRAY3D_DESCRIPTOR c_description
    cdef MipmappedArray self
    cdef dict values = check_or_create_options(MipmappedArrayOptions, options, "mipmapped array options").__dict__
    Array_describe(values, &c_description)
    Device_keep_context(device, &context)
    value.h_context = context.handle()
    # All levels together have less than twice the elements of level 0.
    value.is_small = Array_is_small(&c_description, 2 * element_size(values["format"], c_description.NumChannels))
    create_in_context(value, &c_description, values["num_levels"])
    self = MipmappedArray.__new__(MipmappedArray)
    self._h_mipmap.set(MipmappedArrayHandle.own(value, &MipmappedArray_end, Keep()))
    self._describe(values["shape"], values["format"], c_description.NumChannels, c_description.Flags, device._id)
    # The driver does not report it when it creates fewer.
    self._num_levels = min(values["num_levels"], max_levels(self._shape, self._flags))
    return self


cdef bint is_large(MipmappedArray self) noexcept:
    cdef KeptMipmappedArray mipmap
    return mipmap.hold(self._h_mipmap) and mipmap.is_owner() and not mipmap.value().is_small


cdef int create_in_context(
    InContext[cydriver.CUmipmappedArray]& value,
    const cydriver.CUDA_ARRAY3D_DESCRIPTOR* c_description,
    unsigned int num_levels,
) except -1:
    cdef int is_entered = 0
    cdef cydriver.CUresult err
    with nogil:
        limit_backlog()
        is_entered = Context_enter(value.h_context.get())
        try:
            err = cydriver.cuMipmappedArrayCreate(&value.raw, c_description, num_levels)
            if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_destructions():
                err = cydriver.cuMipmappedArrayCreate(&value.raw, c_description, num_levels)
            HANDLE_RETURN(err, b"cuMipmappedArrayCreate")
        finally:
            Context_leave(is_entered)
    return 0


cdef void MipmappedArray_end(InContext[cydriver.CUmipmappedArray] value) noexcept nogil:
    # cuMipmappedArrayDestroy would also wait for work that is enqueued later.
    if are_streams_idle() or not batch_or_postpone(
        value, &MipmappedArray_end, can_batch(value.is_small, value.h_context), add_to_batch, find_work, destroy_later
    ):
        MipmappedArray_destroy(value)


cdef void MipmappedArray_destroy(InContext[cydriver.CUmipmappedArray] value) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuMipmappedArrayDestroy(value.raw), b"cuMipmappedArrayDestroy")
        Context_leave(is_entered)


cdef OpaqueArray MipmappedArray_level(MipmappedArray self, object level):
    cdef KeptMipmappedArray mipmap
    cdef InContext[cydriver.CUarray] value
    cdef unsigned int c_level
    cdef int is_entered = 0
    number = level if type(level) is int else int_argument("level", level)
    MipmappedArray_keep(self, &mipmap)
    if not 0 <= number < self._num_levels:
        raise ValueError(f"level must be from 0 to {self._num_levels - 1}, not {shown(number)}")
    c_level = number
    value.h_context = mipmap.value().h_context
    with nogil:
        is_entered = Context_enter(value.h_context.get())
        try:
            HANDLE_RETURN(
                cydriver.cuMipmappedArrayGetLevel(&value.raw, mipmap.value().raw, c_level),
                b"cuMipmappedArrayGetLevel",
            )
        finally:
            Context_leave(is_entered)
    return Array_wrap(
        ArrayHandle.borrow(value, mipmap.keep()), level_shape(self._shape, self._flags, number),
        self._format, self._num_channels, self._flags, self._device_id,
    )


make_hasattr_safe(MipmappedArray)
