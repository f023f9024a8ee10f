# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Strided views of arrays and buffers, and their export through DLPack."""

from __future__ import annotations

from libc.stdint cimport int64_t

from cuda.core._arrays._array_copies cimport as_view, copy_view, fill_view
from cuda.core._arrays._importers cimport (
    add_view_class,
    has_dlpack,
    import_array,
    import_known,
    import_known_with_dlpack,
    import_known_with_interface,
    is_array,
    is_torch_type,
    view_buffer,
)
from cuda.core._arrays._views cimport (
    FOR_VIEW,
    ViewState,
    check_size,
    dlpack_device,
    dtype_of,
    import_array_interface,
    import_cuda_interface,
    import_dlpack,
    import_numpy,
    is_numpy,
    is_packed,
    itemsize_of,
    layout_of,
    set_dtype,
    shape_of,
    strides_of,
)
from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA,
    DLPACK_FLAG_IS_COPIED,
    DLPack_negotiate,
    numpy,
)
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory._buffer cimport Buffer, wait_for_memory
from cuda.core._memory._memory_resource cimport PointerInfo, pointer_info
from cuda.core._utils._cpython cimport check_self_in_methods

import functools
import math
import operator
import warnings

from cuda.core._arrays._exported_copies import exported_copy
from cuda.core._arrays._interfaces import cuda_array_interface, expanded_key, host_array
from cuda.core._arrays._shown_values import text_of_view
from cuda.core._native._cuda_core import explain_other_names
from cuda.core._stream import used_stream
from cuda.core._utils import slots
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import dtype_argument, shown

__all__ = ["StridedMemoryView", "args_viewable_as_strided_memory", "view_of_buffer"]


cdef class StridedMemoryView(ViewState):
    """A view of an array or tensor: address, shape, strides and element type.

    The ``from_*`` methods create views. A view owns no memory, but keeps a reference to the exporting object. Their
    ``stream_ptr`` is the address of the stream that will use the memory, the consumer's stream: work enqueued on it
    later is ordered after the work that the exporter has enqueued. -1 disables this ordering.

    Parameters
    ----------
    obj : object, optional
        An object with DLPack or the CUDA array interface. Construction is deprecated: use
        :meth:`from_any_interface`.
    stream_ptr : int, optional
        The address of the consumer's stream, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core.utils import StridedMemoryView
    >>> view = StridedMemoryView.from_any_interface(np.zeros((3, 4), np.float32), stream_ptr=-1)
    >>> view.shape, view.dtype
    ((3, 4), dtype('float32'))
    """

    __signature__ = ConstructorSignature()

    def __init__(self, obj=None, stream_ptr=None):
        """View an array or tensor. Deprecated."""
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
        text = None if is_packed(self) else text_of_view(self)
        if text is not None:
            return text
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

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(shape_of(self))

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes. ValueError if elements are packed into bytes."""
        return layout_of(self)._itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes, without gaps between them."""
        return math.prod(shape_of(self)) * self.itemsize

    def __len__(self):
        shape = shape_of(self)
        if not shape:
            raise TypeError("a view of 0 dimensions has no length")
        return shape[0]

    def __bool__(self):
        # An object, not its elements: without this method, a view of length 0 would be false.
        return True

    def __getitem__(self, key) -> StridedMemoryView:
        """Return a view of some elements, which shares the memory: ``view[2:, ::2]``, ``view[-1]``, ``view[..., 0]``.

        Raises
        ------
        IndexError
            If an index is out of range, or there are more indices than axes.
        TypeError
            If an index is neither an int, a slice nor ``...``.
        """
        layout = layout_of(self)
        return derive(self, layout.sliced(expanded_key(key, layout._shape)), None)

    def __array__(self, dtype=None, copy=None):
        """Return a NumPy array that shares the memory, or a copy if ``dtype`` or ``copy`` asks for one.

        It does not synchronize: wait first for enqueued work that writes to the memory.

        Raises
        ------
        TypeError
            If the host cannot access the memory, or the element type is unknown.
        """
        return host_array(self, dtype, copy)

    @property
    def __cuda_array_interface__(self) -> dict:
        """The CUDA array interface, version 3.

        It names the stream that the memory was allocated on, which consumers wait for. Memory without one has no
        stream: wait first for work that writes to it.

        Raises
        ------
        AttributeError
            If no device can access the memory, or the interface has no such element type.
        """
        return cuda_array_interface(self, producer_of(self))

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the view through DLPack.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream. Its later work is ordered after the work now in the stream that the memory was
            allocated on, or after the work that the exporting object enqueued. None and 1 mean the legacy default
            stream, 2 the per-thread one, and -1 no ordering. Ignored for memory of the host that no device can access.
        max_version : tuple[int, int], optional
            The newest version of DLPack that the consumer supports. If it is (1, 0) or later, the capsule is versioned
            and has the flags for read-only tensors and for copies.
        dl_device : tuple[int, int], optional
            The device of the exported tensor: the device of the memory, the default, or (1, 0), the host. Device
            memory is copied to the host.
        copy : bool, optional
            Whether to export a copy, which has C order. Defaults to a copy only where one is needed.

        Returns
        -------
        capsule
            The DLPack capsule. The capsule, and then the consumer of its tensor, keeps the view alive. A tensor on the
            host is complete.

        Raises
        ------
        BufferError
            If DLPack has no such element type, ``dl_device`` is another device, ``copy`` is False and a copy is needed,
            or ``max_version`` is not a pair.
        TypeError
            If an argument has the wrong type.
        ValueError
            If ``stream`` is 0, which is ambiguous, or less than -1.
        """
        cdef bint is_versioned
        cdef tuple own = dlpack_device(self)
        check_export_arguments(stream, dl_device, copy)
        is_versioned = DLPack_negotiate(max_version, None, None, own)
        device = own if dl_device is None else dl_device
        if device != own and device != (DEVICE_CPU, 0):
            raise BufferError(f"dl_device must be None, {own} or {(<int>DEVICE_CPU, 0)}, not {shown(dl_device)}")
        if copy or device[0] == DEVICE_CPU and own[0] == DEVICE_CUDA:
            if copy is False:
                raise BufferError("copy must not be False: an export of device memory to the host needs a copy")
            order = functools.partial(order_export, self)
            return export_view(exported_copy(self, device, stream, order), is_versioned, device, DLPACK_FLAG_IS_COPIED)
        if device == own:
            order_export(self, stream)
        elif self._h_allocation:
            wait_for_memory(self._h_allocation.value())
        return export_view(self, is_versioned, device, 0)

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
            The address of the consumer's stream, or -1. None is allowed only for host-accessible memory.

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
            The address of the consumer's stream, or -1. None is allowed only for host-accessible memory.

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
        if is_numpy(obj):
            if type(stream_ptr) is int and stream_ptr == -1 and import_numpy(self, obj, False, FOR_VIEW):
                return self
        elif not isinstance(obj, ViewState) and import_known_with_dlpack(self, obj, stream_ptr, FOR_VIEW):
            return self
        import_dlpack(self, obj, stream_ptr, FOR_VIEW)
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
        if isinstance(obj, (ViewState, Buffer)) or not import_known_with_interface(self, obj, stream_ptr, FOR_VIEW):
            import_cuda_interface(self, obj, stream_ptr, FOR_VIEW)
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
        if is_torch_type(type(obj)):
            import_known(self, obj, -1, FOR_VIEW)
        else:
            import_array_interface(self, obj)
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
        """View a buffer as an array, without synchronizing any stream.

        Parameters
        ----------
        buffer : :class:`~cuda.core.Buffer`
            The memory.
        shape : tuple[int, ...]
            The number of elements along each axis.
        strides : tuple[int, ...], optional
            The strides in elements. Defaults to C order.
        itemsize : int, optional
            The size of an element in bytes. Required if ``dtype`` is None.
        dtype : :class:`numpy.dtype`, optional
            The element type. If None, only the element size is known.
        is_readonly : bool, optional
            Whether consumers of the view must not write. Defaults to False.

        Returns
        -------
        :class:`StridedMemoryView`
            The view, which keeps ``buffer`` alive.

        Raises
        ------
        ValueError
            If neither ``itemsize`` nor ``dtype`` is given, they contradict each other, shape or strides are invalid,
            or the buffer is too small. The size of a buffer that wraps foreign memory is not checked.
        TypeError
            If an argument has the wrong type.
        RuntimeError
            If the buffer is closed.
        """
        cdef StridedMemoryView self = new_view(cls)
        if not isinstance(buffer, Buffer):
            raise TypeError(f"buffer must be a Buffer, not {type(buffer).__name__}")
        itemsize = itemsize_argument(itemsize, dtype)
        view_buffer(self, buffer, _StridedLayout(shape, strides, itemsize), dtype, is_readonly)
        return self

    def view(self, layout: _StridedLayout | None = None, dtype: numpy.dtype | None = None) -> StridedMemoryView:
        """Return a view of the same memory with another layout or element type.

        Parameters
        ----------
        layout : _StridedLayout, optional
            The new layout, with offsets from the base address of the current layout. Defaults to the current layout.
        dtype : :class:`numpy.dtype`, optional
            The new element type. Defaults to the current one.

        Returns
        -------
        :class:`StridedMemoryView`
            A view that keeps the same exporting object alive, or this view itself if both arguments are None.

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
            raise TypeError(f"layout must be a _StridedLayout or None, not {shown(layout)}; pass a type as dtype=")
        if dtype is not None:
            dtype = dtype_argument(dtype)
        return derive(self, layout_of(self) if layout is None else layout, dtype)

    def reshape(self, *shape: int | tuple[int, ...]) -> StridedMemoryView:
        """Return a view of the same elements in another shape: ``view.reshape(4, -1)`` or ``view.reshape((4, -1))``.

        Parameters
        ----------
        *shape : int | tuple[int, ...]
            The new shape, in which one size can be -1. Elements keep their C order.

        Returns
        -------
        :class:`StridedMemoryView`
            The view, which shares the memory.

        Raises
        ------
        ValueError
            If the numbers of elements differ, or the strides of this view do not allow the shape without a copy, which
            ``device.to_device(view)`` makes.
        TypeError
            If a size is not an int.
        """
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return derive(self, layout_of(self).reshaped(_integers(tuple(sizes))), None)

    def astype(self, dtype, *, stream: Stream | None = None) -> StridedMemoryView:
        """Copy the elements to a new array of another type on the same device, by a kernel.

        Values convert as in C++: a floating-point number loses its fraction when it becomes an integer.

        Parameters
        ----------
        dtype : numpy.dtype or str or type
            The new element type: bool, an integer, or a floating-point number of 32 or 64 bits. The elements of this
            view must also have one of these types.
        stream : :class:`~cuda.core.Stream`, optional
            The stream on which the array is allocated and written. Defaults to that of
            :meth:`Stream.use() <cuda.core.Stream.use>`. Without either, the call waits for all work of the device's
            context, and work on any stream can use the array when it returns.

        Returns
        -------
        :class:`StridedMemoryView`
            The new array, in C order.

        Raises
        ------
        TypeError
            If one of the element types is another one, or this view is in host memory.
        CUDAError
            If the kernel cannot be compiled or launched.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> device.to_device(np.array([0.5, 1.5, -2.5])).astype("int32").tolist()
        [0, 1, -2]
        """
        return slots.get("cast of view")(self, dtype_argument(dtype), view_stream(self, stream))

    def tolist(self, *, stream: Stream | None = None) -> list:
        """Copy the elements to the host, and return them as a nested list, or as a scalar if there are no axes.

        Parameters
        ----------
        stream : :class:`~cuda.core.Stream`, optional
            As for :meth:`to_host`.
        """
        return self.to_host(stream=stream).tolist()

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

        Pass ``box_dim`` and other arguments, or ``options`` alone. The arguments list axes in the view's order, the
        reverse of the driver's (``cuTensorMapEncodeTiled``).

        Parameters
        ----------
        box_dim : tuple[int, ...], optional
            The extent of a tile along each axis, in elements: from 1 to 256. The last extent times the element size
            must be a multiple of 16 bytes.
        options : :class:`~cuda.core.TensorMapDescriptorOptions` | dict, optional
            All arguments in one object.
        element_strides : tuple[int, ...], optional
            The traversal stride along each axis, in elements: from 1 to 8. Defaults to 1.
        data_type : TensorMapDataType | :class:`numpy.dtype`, optional
            The element type. Defaults to the view's. Another type changes neither the extents nor the strides in
            elements.
        interleave : TensorMapInterleave, optional
            The interleaved layout of the tensor in global memory. Defaults to no interleaving.
        swizzle : TensorMapSwizzle, optional
            The swizzle pattern of the tile in shared memory. Defaults to no swizzling.
        l2_promotion : TensorMapL2Promotion, optional
            The size of the fetch that an L2 miss is promoted to. Defaults to no promotion.
        oob_fill : TensorMapOOBFill, optional
            The value of elements outside the tensor. Defaults to zero.

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
        return slots.get("tensor map")(
            self, box_dim, options, element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill
        )

    def to_host(self, out=None, *, stream: Stream | None = None) -> numpy.ndarray:
        """Copy the elements to host memory, and wait for the copy.

        Parameters
        ----------
        out : array, optional
            The destination, of the same shape and element type, in memory that the host can access. Defaults to a new
            NumPy array.
        stream : :class:`~cuda.core.Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream that the copy is enqueued on. Defaults to that of :meth:`Stream.use() <cuda.core.Stream.use>`.
            Without either, the copy waits for all work of the device's context.

        Returns
        -------
        :class:`numpy.ndarray` | array
            The destination: the new array, or ``out``.

        Raises
        ------
        ValueError
            If shapes or element types differ, or ``out`` is read-only or overlaps this view.
        TypeError
            If ``out`` is not an array, ``stream`` is not a stream, or the element type of this view is unknown.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> squares = device.to_device(np.arange(4) ** 2, stream=stream)
        >>> squares[1:].to_host(stream=stream)
        array([1, 4, 9])
        """
        if out is None:
            dtype = dtype_of(self)
            if dtype is None:
                raise TypeError("the element type is unknown; create the view with a dtype to copy it")
            out = numpy().empty(shape_of(self), dtype)
        enqueue_copy(out, self, stream, None, True, "out")
        return out

    def fill(self, value, *, stream: Stream | None = None) -> None:
        """Set all elements to a value, in stream order (``cuMemsetD8Async`` and its kin, ``cuMemsetD2D8Async``).

        Parameters
        ----------
        value : number | :class:`numpy.generic` | tuple
            The value, which must convert to the element type. A tuple is an element of a structured type.
        stream : :class:`~cuda.core.Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream that the fill is enqueued on. Defaults to that of :meth:`Stream.use() <cuda.core.Stream.use>`.
            Without either, the fill waits for all work of the device's context, and has completed on return.

        Raises
        ------
        OverflowError
            If ``value`` is out of the range of the element type.
        ValueError
            If this view is read-only.
        TypeError
            If ``value`` does not convert, ``stream`` is not a stream, the element type is unknown, or the memory is
            host memory that no device can access.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> image = device.zeros((2, 6), np.uint8, stream=stream)
        >>> image[1:, ::2].fill(255, stream=stream)
        >>> image.to_host(stream=stream)
        array([[  0,   0,   0,   0,   0,   0],
               [255,   0, 255,   0, 255,   0]], dtype=uint8)
        """
        stream = view_stream(self, stream)
        if stream is None and self._is_device_accessible:
            with view_device(self) as device:
                device.sync()
                fill_view(self, value, device.default_stream)
                device.default_stream.sync()
        else:
            fill_view(self, value, stream)

    def copy_from(
        self,
        other: StridedMemoryView,
        stream: Stream | None = None,
        allocator: object | None = None,
        blocking: bool | None = None,
    ) -> None:
        """Copy the elements of another view or array to this view, in stream order.

        A copy between contiguous layouts is one ``cuMemcpyAsync`` call; other layouts take as few ``cuMemcpy3DAsync``
        calls as possible. If both views are in host memory, the host synchronizes the stream and copies.

        Parameters
        ----------
        other : :class:`StridedMemoryView` | array
            The source, of the same shape and element type.
        stream : :class:`~cuda.core.Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream that the copy is enqueued on. Defaults to that of :meth:`Stream.use() <cuda.core.Stream.use>`.
            Without either, the copy waits for all work of the device's context, and has completed on return.
        allocator : None
            Reserved. Must be None, because no intermediate copies are made.
        blocking : bool, optional
            Whether to wait for the copy. Defaults to True unless both views are in device memory.

        Raises
        ------
        ValueError
            If shapes or element types differ, this view is read-only, the views overlap, or the copy would take too
            many driver calls.
        TypeError
            If ``other`` is not an array, ``stream`` is not a stream, or the elements refer to Python objects.
        """
        enqueue_copy(self, other, stream, allocator, blocking, "other")

    def copy_to(
        self,
        other: StridedMemoryView,
        stream: Stream | None = None,
        allocator: object | None = None,
        blocking: bool | None = None,
    ) -> None:
        """Copy the elements of this view to another view or array, in stream order.

        See :meth:`copy_from`.

        Parameters
        ----------
        other : :class:`StridedMemoryView` | array
            The destination, of the same shape and element type.
        stream : :class:`~cuda.core.Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream that the copy is enqueued on, as for :meth:`copy_from`.
        allocator : None
            Reserved. Must be None, because no intermediate copies are made.
        blocking : bool, optional
            Whether to wait for the copy. Defaults to True unless both views are in device memory.
        """
        enqueue_copy(other, self, stream, allocator, blocking, "other")

    __dlpack_c_exchange_api__ = exchange_capsule()
    __c_dlpack_exchange_api__ = __dlpack_c_exchange_api__


# The stream for a call on a view: the given one, or that of Stream.use() if it belongs to the device of the view.
cdef object view_stream(ViewState self, object stream):
    if stream is None and self._is_device_accessible:
        return used_stream(self._device_id)
    return stream


cdef object view_device(ViewState self):
    return slots.get("Device")(self._device_id if self._device_id >= 0 else None)


# Copies between two arrays. Without a stream, the copy waits for all work of the device and is then complete.
cdef int enqueue_copy(
    object target, object source, object stream, object allocator, object blocking, str name
) except -1:
    cdef ViewState to = as_view(target, name, stream)
    cdef ViewState origin = as_view(source, name, stream)
    cdef ViewState on_device = origin if origin._is_device_accessible else to
    stream = view_stream(on_device, stream)
    if stream is None and on_device._is_device_accessible:
        with view_device(on_device) as device:
            device.sync()
            copy_view(to, origin, device.default_stream, allocator, blocking)
            device.default_stream.sync()
        return 0
    return copy_view(to, origin, stream, allocator, blocking)


cdef class _StridedMemoryViewProxy:
    """An argument that can be viewed as soon as the consumer's stream is known."""

    cdef:
        readonly object obj
        readonly bint has_dlpack

    def __init__(self, obj):
        if not is_array(obj):
            raise_no_protocol(obj)
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
        The positions of these arguments. The function receives objects instead that have the attributes ``obj`` (the
        argument) and ``has_dlpack``, and a ``view(stream_ptr)`` method that returns a :class:`StridedMemoryView`.

    Raises
    ------
    TypeError
        If ``arg_indices`` is not a tuple.
    BufferError
        Raised by the decorated function if such an argument has neither DLPack nor the CUDA array interface.
    IndexError
        Raised by the decorated function if it is called with too few positional arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core.utils import args_viewable_as_strided_memory
    >>> @args_viewable_as_strided_memory((0,))
    ... def shape(array, stream_ptr):
    ...     return array.view(stream_ptr).shape
    >>> shape(np.zeros((2, 3)), -1)
    (2, 3)
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


def view_of_buffer(buffer, shape, dtype) -> StridedMemoryView:
    """Implement :meth:`~cuda.core.Buffer.view`."""
    dtype = dtype_argument("u1" if dtype is None else dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype must be a type of plain bytes, but elements of {dtype} refer to Python objects")
    if dtype.itemsize == 0:
        raise ValueError(f"dtype must have an item size above 0, not {dtype}; give the length, as in 'S8'")
    address, size = buffer.handle, buffer.size
    if address % dtype.alignment != 0:
        raise ValueError(
            f"address {address:#x} is not aligned for {dtype}; it must be a multiple of {dtype.alignment} bytes"
        )
    shape = _extents(shape, size, dtype.itemsize)
    needed = math.prod(shape) * dtype.itemsize
    if needed > size:
        raise ValueError(f"shape {shown(shape)} of {dtype} needs {shown(needed)} bytes, but the buffer has {size}")
    return StridedMemoryView.from_buffer(buffer, shape, dtype=dtype)


def _extents(shape, size: int, itemsize: int) -> tuple[int, ...]:
    """Return the shape as a tuple with -1 replaced. None means ``(-1,)``."""
    shape = _integers((-1,) if shape is None else shape)
    if len(shape) > 64:
        raise ValueError(f"at most 64 axes are supported, not {len(shape)}")
    if shape.count(-1) > 1 or min(shape, default=0) < -1:
        raise ValueError(f"shape must contain non-negative sizes and at most one -1, not {shown(shape)}")
    if -1 not in shape:
        return shape
    unit = -math.prod(shape) * itemsize
    if unit == 0 or size % unit != 0:
        raise ValueError(
            f"shape has no size for -1: the buffer's {size} bytes are not a multiple of {shown(unit)} bytes"
        )
    return tuple(size // unit if extent == -1 else extent for extent in shape)


def _integers(shape) -> tuple[int, ...]:
    if type(shape) is tuple and all([type(extent) is int for extent in shape]):
        return shape
    try:
        return tuple(operator.index(extent) for extent in (shape if hasattr(type(shape), "__iter__") else (shape,)))
    except TypeError:
        hint = "; pass a type as dtype=" if isinstance(shape, type) else ""
        raise TypeError(f"shape must be an int, a tuple of int or None, not {shown(shape)}{hint}") from None


def view_of_array(array) -> StridedMemoryView:
    """View any array to read its shape and element type, without ordering its memory with any stream."""
    return StridedMemoryView.from_any_interface(array, -1)


def view_as_cai(obj, stream_ptr, view=None):
    """View an object through ``__cuda_array_interface__``, in ``view`` if an empty view is given."""
    cdef StridedMemoryView self = empty_view(view)
    import_cuda_interface(self, obj, stream_ptr, FOR_VIEW)
    return self


def view_as_array_interface(obj, view=None):
    """View an object through ``__array_interface__``, in ``view`` if an empty view is given."""
    cdef StridedMemoryView self = empty_view(view)
    import_array_interface(self, obj)
    return self


# ---------------------------------------------------------------------------------------------
# Creation

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


cdef int read_any_interface(StridedMemoryView self, object obj, object stream_ptr) except -1:
    return 0 if import_array(self, obj, stream_ptr, FOR_VIEW) else raise_no_protocol(obj)


cdef int raise_no_protocol(object obj) except -1:
    raise BufferError(
        f"{type(obj).__name__} has neither DLPack nor __cuda_array_interface__, so it cannot be viewed; "
        "convert it with numpy.asarray(), for example"
    )


cdef object itemsize_argument(object itemsize, object dtype):
    if dtype is None and itemsize is None:
        raise ValueError("either itemsize or dtype must be given")
    if dtype is None:
        return itemsize
    if not isinstance(dtype, numpy().dtype):
        raise TypeError(f"dtype must be a numpy.dtype, not {shown(dtype)}")
    if itemsize is not None and itemsize != dtype.itemsize:
        raise ValueError(f"itemsize={shown(itemsize)} contradicts {shown(dtype)}, which has {dtype.itemsize} bytes")
    return dtype.itemsize


cdef int check_empty(StridedMemoryView self) except -1:
    if self._exporting_obj is not None or self._keeper is not None or self._dlpack.tensor != NULL:
        raise RuntimeError("this view is already initialized; create a new one")
    return 0


# Returns a view of the same memory and class with another layout, and with another type unless `dtype` is None.
cdef ViewState derive(ViewState self, _StridedLayout layout, object dtype):
    cdef ViewState view
    cdef PointerInfo info
    cdef _StridedLayout own_layout = layout_of(self)
    cdef bint is_typed = (
        dtype is not None or self._element.lanes != 0 or self._dtype is not None or self._typestr is not None
    )
    cdef int64_t itemsize = own_layout._itemsize if dtype is None else dtype.itemsize
    if is_typed and itemsize != layout._itemsize:
        raise ValueError(f"the item sizes differ: {itemsize} bytes (dtype), {layout._itemsize} bytes (layout)")
    check_size(self, layout)
    view = type(self).__new__(type(self))
    view._ptr = self._ptr + (layout._slice_offset * layout._itemsize - own_layout._slice_offset * own_layout._itemsize)
    view._device_id, view._device_type = self._device_id, self._device_type
    view._is_device_accessible, view._is_readonly = self._is_device_accessible, self._is_readonly
    view._is_size_known, view._h_allocation = self._is_size_known, self._h_allocation
    view._known_layout = layout
    if dtype is not None:
        set_dtype(view, dtype)
    else:
        view._element, view._dtype, view._typestr = self._element, self._dtype, self._typestr
        view._is_padded = self._is_padded
    view._exporting_obj = self._exporting_obj
    view._keeper = self._keeper if isinstance(self._keeper, ViewState) else self
    if self._device_type == DEVICE_CPU or (self._device_type == 0 and not self._h_allocation):
        # The exporter might not know that its host memory is page-locked, but the driver does.
        info = pointer_info(view._ptr)
        if info.is_device_accessible:
            view._device_type = 0
            view._device_id, view._is_device_accessible = info.device_id, True
    return view


include "_view_exports.pxi"


add_view_class(StridedMemoryView)
slots.register("view of array", view_of_array)
slots.register("view of buffer", view_of_buffer)
explain_other_names(StridedMemoryView)
check_self_in_methods(globals())
