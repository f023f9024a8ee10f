# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# cython: annotation_typing=False
"""Views of arrays and tensors of any library."""

from __future__ import annotations

from cuda.core._arrays._derived_views cimport derive
from cuda.core._arrays._exports cimport (
    check_export_arguments,
    dlpack_device,
    exchange_capsule,
    export_view,
    register_view_class,
)
from cuda.core._arrays._strided_copies cimport copy_view
from cuda.core._arrays._view_sources cimport (
    check_empty,
    check_has_protocol,
    read_any_interface,
    read_array_interface,
    read_buffer,
    read_cuda_array_interface,
    read_dlpack,
)
from cuda.core._arrays._view_state cimport (
    ViewState,
    dtype_of,
    is_packed,
    itemsize_of,
    layout_of,
    shape_of,
    strides_of,
)
from cuda.core._arrays.importing._importers cimport has_dlpack
from cuda.core._arrays.importing._protocols cimport FOR_VIEW, import_array_interface, import_cuda_interface
from cuda.core._dlpack cimport DLPack_negotiate
from cuda.core._layout cimport _StridedLayout
from cuda.core._utils._cpython cimport make_hasattr_safe

import functools
import warnings

from cuda.core._handles import _late
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import dtype_argument

__all__ = ["StridedMemoryView", "args_viewable_as_strided_memory"]


# The function of the tensor map module, imported at the first use.
cdef object _tensor_map_of = None


cdef class StridedMemoryView(ViewState):
    """A view of an array or tensor: address, shape, strides and element type.

    The ``from_*`` methods create views. A view owns no memory; it keeps a reference to the exporting object.
    ``stream_ptr`` in these methods is the address of the stream that will use the memory, the consumer's stream: work
    enqueued on it later is ordered after the work that the exporter has enqueued. -1 disables this ordering.

    Parameters
    ----------
    obj : object, optional
        An object with DLPack or the CUDA array interface. Construction is deprecated: use
        :meth:`from_any_interface`.
    stream_ptr : int, optional
        The address of the consumer's stream, or -1.
    """

    __signature__ = ConstructorSignature()

    def __init__(self, obj=None, stream_ptr=None):
        """View an array or tensor; deprecated."""
        # Extensions have no frames, so the first one is the caller's.
        warnings.warn(
            "constructing a StridedMemoryView is deprecated; use StridedMemoryView.from_any_interface()",
            DeprecationWarning, stacklevel=1,
        )
        check_empty(self)
        if obj is not None:
            read_any_interface(self, obj, stream_ptr)

    def __reduce__(self):
        raise TypeError("a StridedMemoryView cannot be pickled or copied: it refers to memory of this process")

    def __repr__(self):
        if self._exporting_obj is None:
            return "StridedMemoryView(empty)"
        dtype = f"{self.dlpack_dtype} of DLPack" if is_packed(self) else dtype_of(self)
        exporter = type(self._exporting_obj)
        entries = {
            "ptr": self._ptr,
            "shape": shape_of(self),
            "strides": strides_of(self),
            "itemsize": None if is_packed(self) else itemsize_of(self),
            "dtype": dtype,
            "device_id": self._device_id,
            "is_device_accessible": self._is_device_accessible,
            "readonly": self._is_readonly,
            "exporting_obj": f"{exporter.__module__}.{exporter.__qualname__}",
        }
        margin = ",\n" + " " * (len("StridedMemoryView("))
        return f"StridedMemoryView({margin.join([f'{name}={value}' for name, value in entries.items()])})"

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Export the view through DLPack.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream. It is ignored: the view has no work of its own to order against.
        max_version : tuple[int, int], optional
            The newest version of DLPack that the consumer supports. From (1, 0) on, the capsule is versioned and has
            the read-only flag.
        dl_device : tuple[int, int], optional
            The device of the exported tensor; if given, it must be the device of the memory.
        copy : bool, optional
            Whether to export a copy; True is not supported.

        Returns
        -------
        capsule
            The DLPack capsule. It, and then the consumer of its tensor, keep the view alive.

        Raises
        ------
        BufferError
            If DLPack has no such element type, the export would need a copy, or ``max_version`` is not a pair.
        TypeError
            If an argument has the wrong type.
        """
        check_export_arguments(stream, dl_device, copy)
        return export_view(self, DLPack_negotiate(max_version, dl_device, copy, dlpack_device(self)))

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device of the memory, ``(device_type, device_id)``."""
        return dlpack_device(self)

    @classmethod
    def from_any_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """View an object through DLPack, or through the CUDA array interface if it has no DLPack.

        Parameters
        ----------
        obj : object
            The array or tensor.
        stream_ptr : int | driver.CUstream, optional
            The address of the consumer's stream, or -1. None is allowed only for memory that the host can access.

        Returns
        -------
        :class:`StridedMemoryView`
            The view, which keeps ``obj`` alive.

        Raises
        ------
        BufferError
            If ``obj`` has neither protocol, cannot be viewed, or is in device memory and ``stream_ptr`` is None.
        """
        cdef StridedMemoryView self = new_view(cls)
        read_any_interface(self, obj, stream_ptr)
        return self

    @classmethod
    def from_dlpack(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """View an object through DLPack (``__dlpack__`` and ``__dlpack_device__``), of any version up to 1.x.

        Parameters
        ----------
        obj : object
            The array or tensor.
        stream_ptr : int | driver.CUstream, optional
            The address of the consumer's stream, or -1. None is allowed only for memory that the host can access.

        Returns
        -------
        :class:`StridedMemoryView`
            The view, which keeps ``obj`` alive.

        Raises
        ------
        AttributeError
            If ``obj`` has no DLPack.
        BufferError
            If the device type is unknown, or the memory is device memory and ``stream_ptr`` is None.
        """
        cdef StridedMemoryView self = new_view(cls)
        read_dlpack(self, obj, stream_ptr)
        return self

    @classmethod
    def from_cuda_array_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """View an object through ``__cuda_array_interface__``, version 3 or newer.

        Parameters
        ----------
        obj : object
            The array.
        stream_ptr : int | driver.CUstream
            The address of the consumer's stream, or -1.

        Returns
        -------
        :class:`StridedMemoryView`
            The view, which keeps ``obj`` alive.

        Raises
        ------
        AttributeError
            If ``obj`` has no ``__cuda_array_interface__``.
        BufferError
            If the interface is older, incomplete or has a mask, or ``stream_ptr`` is None.
        """
        cdef StridedMemoryView self = new_view(cls)
        read_cuda_array_interface(self, obj, stream_ptr)
        return self

    @classmethod
    def from_array_interface(cls, obj: object) -> StridedMemoryView:
        """View an object through ``__array_interface__``, version 3 or newer, such as a NumPy array.

        The element type may be one that DLPack does not have, such as a structured dtype.

        Parameters
        ----------
        obj : object
            The array, in host memory.

        Returns
        -------
        :class:`StridedMemoryView`
            The view, which keeps ``obj`` alive.

        Raises
        ------
        AttributeError
            If ``obj`` has no ``__array_interface__``.
        BufferError
            If the interface is older, incomplete or has a mask.
        """
        cdef StridedMemoryView self = new_view(cls)
        read_array_interface(self, obj)
        return self

    @classmethod
    def from_buffer(
        cls,
        buffer: Buffer,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        *,
        itemsize: int | None = None,
        dtype: numpy.dtype | None = None,
        is_readonly: bool = False,
    ) -> StridedMemoryView:
        """View a buffer as an array. No stream is synchronized.

        Parameters
        ----------
        buffer : :class:`~cuda.core.Buffer`
            The memory.
        shape : tuple[int, ...]
            The number of elements along each axis.
        strides : tuple[int, ...], optional
            The strides in elements. If None, C order.
        itemsize : int, optional
            The size of an element in bytes. Required if ``dtype`` is None.
        dtype : :class:`numpy.dtype`, optional
            The element type. If None, only the element size is known.
        is_readonly : bool, optional
            Whether consumers of the view must not write. Default is False.

        Returns
        -------
        :class:`StridedMemoryView`
            The view, which keeps ``buffer`` alive.

        Raises
        ------
        ValueError
            If neither ``itemsize`` nor ``dtype`` is given, they contradict each other, shape and strides are invalid,
            or the buffer is too small. The size of a buffer that wraps foreign memory is not checked.
        TypeError
            If an argument has the wrong type.
        RuntimeError
            If the buffer is closed.
        """
        cdef StridedMemoryView self = new_view(cls)
        read_buffer(self, buffer, shape, strides, itemsize, dtype, is_readonly)
        return self

    def view(self, layout: _StridedLayout | None = None, dtype: numpy.dtype | None = None) -> StridedMemoryView:
        """Return a view of the same memory with another layout or element type.

        Parameters
        ----------
        layout : _StridedLayout, optional
            The new layout. Its offsets count from the base address of the current layout. If None, it is unchanged.
        dtype : :class:`numpy.dtype`, optional
            The new element type. If None, it is unchanged.

        Returns
        -------
        :class:`StridedMemoryView`
            A view that keeps the same exporting object alive; this view itself if both arguments are None.

        Raises
        ------
        ValueError
            If layout and element type differ in item size, or the memory of a buffer is too small.
        TypeError
            If ``layout`` is not a _StridedLayout.
        """
        if layout is None and dtype is None:
            return self
        if layout is not None and not isinstance(layout, _StridedLayout):
            raise TypeError(f"layout must be a _StridedLayout or None, not {type(layout).__name__}")
        if dtype is not None:
            dtype = dtype_argument(dtype)
        return derive(self, layout_of(self) if layout is None else layout, dtype)

    def as_tensor_map(
        self,
        box_dim: tuple[int, ...] | None = None,
        *,
        options: TensorMapDescriptorOptions | None = None,
        element_strides: tuple[int, ...] | None = None,
        data_type: object | None = None,
        interleave: object | None = None,
        swizzle: object | None = None,
        l2_promotion: object | None = None,
        oob_fill: object | None = None,
    ) -> TensorMapDescriptor:
        """Create a tensor map of this view, for tiled copies by the tensor memory accelerator.

        Pass ``box_dim`` and other arguments, or ``options`` alone. All arguments have their axes in the order of the
        view's axes; the driver's order is the reverse (``cuTensorMapEncodeTiled``).

        Parameters
        ----------
        box_dim : tuple[int, ...], optional
            The extent of a tile along each axis, in elements: from 1 to 256. The last extent times the element size
            must be a multiple of 16 bytes.
        options : :class:`~cuda.core.TensorMapDescriptorOptions` | dict, optional
            All arguments in one object.
        element_strides : tuple[int, ...], optional
            The traversal stride along each axis, in elements: from 1 to 8. If None, 1.
        data_type : TensorMapDataType | :class:`numpy.dtype`, optional
            The element type. If None, that of the view. Another type leaves the extents, and the strides in elements,
            unchanged.
        interleave : TensorMapInterleave, optional
            The interleaved layout of the tensor in global memory. If None, no interleaving.
        swizzle : TensorMapSwizzle, optional
            The swizzle pattern of the tile in shared memory. If None, no swizzling.
        l2_promotion : TensorMapL2Promotion, optional
            The size of the fetch that an L2 miss is promoted to. If None, no promotion.
        oob_fill : TensorMapOOBFill, optional
            The value with which elements outside the tensor are filled. If None, zero.

        Returns
        -------
        :class:`~cuda.core.TensorMapDescriptor`
            The descriptor, which keeps this view alive.

        Raises
        ------
        TypeError
            If neither or both of ``box_dim`` and ``options`` are given, or an argument has the wrong type.
        ValueError
            If the device cannot access the memory, or a tensor map cannot describe this layout or tile.
        RuntimeError
            If no context is current, or the device has no tensor memory accelerator (compute capability below 9.0).
        """
        global _tensor_map_of
        if _tensor_map_of is None:
            _tensor_map_of = _late.tensor_map_factory()
        return _tensor_map_of(
            self, box_dim, options, element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill
        )

    def copy_from(
        self, other: StridedMemoryView, stream: Stream, allocator: object | None = None, blocking: bool | None = None
    ) -> None:
        """Copy the elements of another view to this view, in stream order.

        A copy between contiguous layouts is one ``cuMemcpyAsync``; other layouts take as few ``cuMemcpy3DAsync`` as
        possible. If both views are in host memory, the host synchronizes the stream and copies.

        Parameters
        ----------
        other : :class:`StridedMemoryView`
            The source, of the same shape and element type.
        stream : :class:`~cuda.core.Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the copy is enqueued on.
        allocator : None
            Reserved; must be None, because no intermediate copies are made.
        blocking : bool, optional
            Whether to wait until the copy has completed. If None, True unless both views are in device memory.

        Raises
        ------
        ValueError
            If shapes or element types differ, this view is read-only, the views overlap, or the copy would take too
            many driver calls.
        TypeError
            If ``other`` is not a view, ``stream`` not a stream, or the elements refer to Python objects.
        """
        if not isinstance(other, StridedMemoryView):
            raise TypeError(f"other must be a StridedMemoryView, not {type(other).__name__}")
        copy_view(self, other, stream, allocator, blocking)

    def copy_to(
        self,
        other: StridedMemoryView,
        stream: Stream | None = None,
        allocator: object | None = None,
        blocking: bool | None = None,
    ) -> None:
        """Copy the elements of this view to another view, in stream order; see :meth:`copy_from`.

        Parameters
        ----------
        other : :class:`StridedMemoryView`
            The destination, of the same shape and element type.
        stream : :class:`~cuda.core.Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream that the copy is enqueued on. None is allowed only if both views are in host memory.
        allocator : None
            Reserved; must be None, because no intermediate copies are made.
        blocking : bool, optional
            Whether to wait until the copy has completed. If None, True unless both views are in device memory.
        """
        if not isinstance(other, StridedMemoryView):
            raise TypeError(f"other must be a StridedMemoryView, not {type(other).__name__}")
        copy_view(other, self, stream, allocator, blocking)

    __dlpack_c_exchange_api__ = exchange_capsule()
    __c_dlpack_exchange_api__ = __dlpack_c_exchange_api__


cdef class _StridedMemoryViewProxy:
    """An argument that can be viewed as soon as the consumer's stream is known."""

    cdef:
        readonly object obj
        readonly bint has_dlpack

    def __init__(self, obj):
        check_has_protocol(obj)
        self.obj = obj
        self.has_dlpack = has_dlpack(obj)

    def view(self, stream_ptr: int | None = None) -> StridedMemoryView:
        """Return the view, as :meth:`StridedMemoryView.from_any_interface` does."""
        return StridedMemoryView.from_any_interface(self.obj, stream_ptr)


def args_viewable_as_strided_memory(arg_indices: tuple[int, ...]):
    """Decorate a function so that it receives some of its positional arguments as viewable objects.

    Parameters
    ----------
    arg_indices : tuple[int, ...]
        The positions of these arguments. In their place the function receives objects with the attributes ``obj`` (the
        argument) and ``has_dlpack``, and the method ``view(stream_ptr)``, which returns a :class:`StridedMemoryView`.

    Raises
    ------
    TypeError
        If ``arg_indices`` is not a tuple.
    BufferError
        By the decorated function, if such an argument has neither DLPack nor the CUDA array interface.
    IndexError
        By the decorated function, if it is called with too few positional arguments.
    """
    if not isinstance(arg_indices, tuple):
        raise TypeError(f"arg_indices must be a tuple of int, not {type(arg_indices).__name__}")

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            args = list(args)
            for index in arg_indices:
                args[index] = _StridedMemoryViewProxy(args[index])
            return function(*args, **kwargs)

        return call

    return decorate


def view_as_cai(obj, stream_ptr, view=None):
    """View an object through ``__cuda_array_interface__``; fills ``view``, an empty view, if it is given."""
    cdef StridedMemoryView self = empty_view(view)
    import_cuda_interface(self, obj, stream_ptr, FOR_VIEW)
    return self


def view_as_array_interface(obj, view=None):
    """View an object through ``__array_interface__``; fills ``view``, an empty view, if it is given."""
    cdef StridedMemoryView self = empty_view(view)
    import_array_interface(self, obj)
    return self


cdef inline StridedMemoryView new_view(object cls):
    if cls is StridedMemoryView:
        return StridedMemoryView.__new__(StridedMemoryView)
    return cls.__new__(cls)


cdef StridedMemoryView empty_view(object view):
    if view is None:
        return new_view(StridedMemoryView)
    if not isinstance(view, StridedMemoryView):
        raise TypeError(f"view must be a StridedMemoryView or None, not {type(view).__name__}")
    check_empty(<StridedMemoryView>view)
    return view


register_view_class(StridedMemoryView)
make_hasattr_safe(StridedMemoryView)
make_hasattr_safe(_StridedMemoryViewProxy)
