# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# cython: annotation_typing=False
"""Views of arrays and tensors, whichever library made them."""

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
from cuda.core._utils._cpython cimport answer_hasattr

import functools
import warnings

from cuda.core._handles import _late
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import dtype_argument

__all__ = ["StridedMemoryView", "args_viewable_as_strided_memory"]


# What makes tensor maps, once somebody asked for one.
cdef object _tensor_map_of = None


cdef class StridedMemoryView(ViewState):
    """A view of an array or tensor: its address, shape, strides and element type.

    Views come from the ``from_*`` methods. A view owns no memory; it keeps a reference to its exporter.
    Where a method takes ``stream_ptr``, that is the address of the stream which will use the memory:
    later work of it is ordered after what the exporter has enqueued. -1 means no ordering.

    Parameters
    ----------
    obj : object, optional
        An object with DLPack, or else with the CUDA array interface. Deprecated, as all direct
        construction: use :meth:`from_any_interface`.
    stream_ptr : int, optional
        The consumer's stream.
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
        raise TypeError("a view cannot be pickled or copied: it refers to memory of this process")

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
        """Export the view with DLPack. The capsule, and the consumer of its tensor, keep the view alive.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream. Nothing is ordered against it.
        max_version : tuple[int, int], optional
            The newest version of DLPack that the consumer understands. Only from 1.0 on a consumer
            learns that memory is read-only.
        dl_device : tuple[int, int], optional
            None, or the device where the memory is.
        copy : bool, optional
            Must not be True.

        Raises
        ------
        BufferError
            If the elements have no type that DLPack knows, the memory would have to be copied or
            moved, or ``max_version`` is no pair.
        TypeError
            If an argument is of the wrong type.
        """
        check_export_arguments(stream, dl_device, copy)
        return export_view(self, DLPack_negotiate(max_version, dl_device, copy, dlpack_device(self)))

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the ``(device_type, device_id)`` of DLPack."""
        return dlpack_device(self)

    @classmethod
    def from_any_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """View an object through DLPack if it has that, else through the CUDA array interface.

        Parameters
        ----------
        obj : object
            The array or tensor.
        stream_ptr : int | driver.CUstream, optional
            The address of the consumer's stream, or -1. None is allowed only for memory that host and devices share.

        Raises
        ------
        BufferError
            If ``obj`` has neither protocol, cannot be viewed, or ``stream_ptr`` is needed.
        """
        cdef StridedMemoryView self = new_view(cls)
        read_any_interface(self, obj, stream_ptr)
        return self

    @classmethod
    def from_dlpack(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """View an object with ``__dlpack__`` and ``__dlpack_device__``, of any version up to 1.x.

        Parameters
        ----------
        obj : object
            The array or tensor.
        stream_ptr : int | driver.CUstream, optional
            The address of the consumer's stream, or -1. None is allowed only for memory that host and devices share.

        Raises
        ------
        AttributeError
            If ``obj`` has no DLPack.
        BufferError
            If the memory is on an unknown device, or ``stream_ptr`` is needed.
        """
        cdef StridedMemoryView self = new_view(cls)
        read_dlpack(self, obj, stream_ptr)
        return self

    @classmethod
    def from_cuda_array_interface(cls, obj: object, stream_ptr: int | None = None) -> StridedMemoryView:
        """View an object with ``__cuda_array_interface__``, of version 3 or newer.

        Parameters
        ----------
        obj : object
            The array.
        stream_ptr : int | driver.CUstream
            The address of the consumer's stream, or -1.

        Raises
        ------
        AttributeError
            If ``obj`` has no such interface.
        BufferError
            If the interface is older, incomplete or masked, or ``stream_ptr`` is missing.
        """
        cdef StridedMemoryView self = new_view(cls)
        read_cuda_array_interface(self, obj, stream_ptr)
        return self

    @classmethod
    def from_array_interface(cls, obj: object) -> StridedMemoryView:
        """View an object with ``__array_interface__``, of version 3 or newer, such as a NumPy array.

        Structured and other types that DLPack does not know are accepted.

        Parameters
        ----------
        obj : object
            The array, in host memory.

        Raises
        ------
        AttributeError
            If ``obj`` has no such interface.
        BufferError
            If the interface is older, incomplete or masked.
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
        """View a buffer as an array. Nothing is synchronised.

        Parameters
        ----------
        buffer : :class:`~cuda.core.Buffer`
            The memory.
        shape : tuple[int, ...]
            The extents.
        strides : tuple[int, ...], optional
            The strides in elements; None means C order.
        itemsize : int, optional
            The size of an element in bytes; needed without ``dtype``.
        dtype : :class:`numpy.dtype`, optional
            The type of the elements.
        is_readonly : bool, optional
            Whether consumers of the view must not write.

        Raises
        ------
        ValueError
            If neither ``itemsize`` nor ``dtype`` is given, they contradict each other, the layout is
            no layout, or the buffer is too small for it. Wrapped memory is not checked for that.
        TypeError
            If an argument is of the wrong type.
        RuntimeError
            If the buffer is closed.
        """
        cdef StridedMemoryView self = new_view(cls)
        read_buffer(self, buffer, shape, strides, itemsize, dtype, is_readonly)
        return self

    def view(self, layout: _StridedLayout | None = None, dtype: numpy.dtype | None = None) -> StridedMemoryView:
        """View the same memory with another layout or element type.

        Parameters
        ----------
        layout : _StridedLayout, optional
            The new layout, relative to the base of the present one. None keeps it.
        dtype : :class:`numpy.dtype`, optional
            The new type. None keeps it.

        Returns
        -------
        StridedMemoryView
            A view that keeps this one's exporter alive; this view itself if both are None.

        Raises
        ------
        ValueError
            If layout and type disagree about the item size, or a buffer is too small.
        TypeError
            If ``layout`` is no layout.
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
        """Create a descriptor for copies of tiles by the tensor memory accelerator (``cuTensorMapEncodeTiled``).

        Pass ``box_dim`` and other arguments, or ``options`` alone. All axes are in the order of the view.

        Parameters
        ----------
        box_dim : tuple[int, ...], optional
            The extent of a tile along each axis, in elements: from 1 to 256. The last makes a multiple of 16 bytes.
        options : :class:`~cuda.core.TensorMapDescriptorOptions` | dict, optional
            All arguments in one.
        element_strides : tuple[int, ...], optional
            The traversal stride along each axis, in elements: from 1 to 8. None means 1.
        data_type : TensorMapDataType | :class:`numpy.dtype`, optional
            The element type. None takes that of the view. Another type changes neither extents nor the strides in
            elements.
        interleave : TensorMapInterleave, optional
            The interleaved layout of the tensor in global memory. None means not interleaved.
        swizzle : TensorMapSwizzle, optional
            The swizzle pattern of the tile in shared memory. None means no swizzle.
        l2_promotion : TensorMapL2Promotion, optional
            The bytes that an L2 miss fetches. None leaves the default of the hardware.
        oob_fill : TensorMapOOBFill, optional
            The value of elements outside the tensor. None means zero.

        Returns
        -------
        :class:`~cuda.core.TensorMapDescriptor`
            The descriptor, which keeps this view alive.

        Raises
        ------
        TypeError
            If neither or both of ``box_dim`` and ``options`` are given, or an argument is of the wrong type.
        ValueError
            If the device cannot access the memory, or the copy engine does not take such a layout or tile.
        RuntimeError
            If no context is current, or the device has no such engine (compute capability below 9.0).
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
        """Copy the elements of another view to this one, in stream order.

        Contiguous memory is one ``cuMemcpyAsync``; other layouts are as few ``cuMemcpy3DAsync`` as
        express them. Between views of host memory the host copies, once the stream is idle.

        Parameters
        ----------
        other : StridedMemoryView
            The source, of the same shape and element type.
        stream : :class:`~cuda.core.Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream.
        allocator : None
            Reserved for the memory of intermediate copies; none is made.
        blocking : bool, optional
            Whether to wait until the copy is done. If None, unless both are in device memory.

        Raises
        ------
        ValueError
            If shapes or element types differ, this view is read-only, both overlap, or the copy falls
            into too many pieces.
        TypeError
            If ``other`` is no view, ``stream`` no stream, or the elements refer to Python objects.
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
        """Copy the elements of this view to another one, as :meth:`copy_from` does the other way round.

        Parameters
        ----------
        other : StridedMemoryView
            The destination, of the same shape and element type.
        stream : :class:`~cuda.core.Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream. None is allowed between views of host memory.
        allocator : None
            Reserved for the memory of intermediate copies; none is made.
        blocking : bool, optional
            Whether to wait until the copy is done. If None, unless both are in device memory.
        """
        if not isinstance(other, StridedMemoryView):
            raise TypeError(f"other must be a StridedMemoryView, not {type(other).__name__}")
        copy_view(other, self, stream, allocator, blocking)

    __dlpack_c_exchange_api__ = exchange_capsule()
    __c_dlpack_exchange_api__ = __dlpack_c_exchange_api__


cdef class _StridedMemoryViewProxy:
    """An argument from which a view can be created once its stream is known."""

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
    """Decorate a function so that it gets some of its positional arguments as viewable objects.

    Parameters
    ----------
    arg_indices : tuple[int, ...]
        The positions. The function gets objects with ``obj``, the argument itself, ``has_dlpack``,
        and ``view(stream_ptr)``, which returns its :class:`StridedMemoryView`.

    Raises
    ------
    BufferError
        When the function is called, if such an argument has neither DLPack nor the CUDA array interface.
    IndexError
        When the function is called with fewer positional arguments.
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
    """Return the view of an object with ``__cuda_array_interface__``; an empty ``view`` is filled."""
    cdef StridedMemoryView self = empty_view(view)
    import_cuda_interface(self, obj, stream_ptr, FOR_VIEW)
    return self


def view_as_array_interface(obj, view=None):
    """Return the view of an object with ``__array_interface__``; an empty ``view`` is filled."""
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
answer_hasattr(StridedMemoryView)
answer_hasattr(_StridedMemoryViewProxy)
