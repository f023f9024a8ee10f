# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names that other CUDA libraries have for parts of this package: errors say what to use instead."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["OTHER_NAMES", "OtherName", "descriptors", "explain_names", "listed_names", "suggestion"]

_MEMORY = "cuda.core.system.Device(index=device.device_id).memory_info"
Class = TypeVar("Class", bound=type)

_ARITHMETIC = "cupy.from_dlpack(view) or torch.from_dlpack(view), which share the memory and have arithmetic"
_COPY_OUT = "copy_to(array, stream=stream)"
_COPY_IN = "copy_from(array, stream=stream)"
_KERNEL = "cuda.core.utils.kernel(source, name)"

# What to use instead of a name: by the name of a class, of a module, or of what takes the keyword.
OTHER_NAMES = {
    "cuda.core": {
        "Array": "Device.zeros or Device.to_device, which return arrays",
        "Compiler": "Program",
        "FileStreamProgramCache": "cuda.core.utils.FileStreamProgramCache",
        "Function": "Kernel",
        "Graph": "cuda.core.graph.Graph",
        "GraphBuilder": "cuda.core.graph.GraphBuilder",
        "InMemoryProgramCache": "cuda.core.utils.InMemoryProgramCache",
        "LaunchConfiguration": "LaunchConfig",
        "ManagedMemory": "ManagedMemoryResource",
        "Memory": "Buffer",
        "Module": "ObjectCode",
        "RawKernel": _KERNEL,
        "RawModule": "cuda.core.utils.kernel(source, names)",
        "SourceModule": _KERNEL,
        "StridedMemoryView": "cuda.core.utils.StridedMemoryView",
        "array": "Device.to_device",
        "asarray": "Device.to_device",
        "cdiv": "cuda.core.utils.cdiv",
        "compile": "Program(source, 'c++').compile('cubin'), or " + _KERNEL,
        "cuda_version": "cuda.core.system.get_user_mode_driver_version()",
        "current_device": "Device(), which is the current device",
        "default_stream": "Device.default_stream",
        "device_count": "len(Device.get_all_devices())",
        "elapsed_time": "end - start of two events, in milliseconds",
        "empty": "Device.empty",
        "experimental": "cuda.core, which has the same names",
        "free": "Buffer.close",
        "from_dlpack": "Device.to_device, or cuda.core.utils.StridedMemoryView.from_dlpack",
        "from_numpy": "Device.to_device",
        "get_current_device": "Device(), which is the current device",
        "get_device_count": "len(Device.get_all_devices())",
        "grid": "blockIdx.x * blockDim.x + threadIdx.x in the source of the kernel",
        "init": "Device.set_current",
        "is_available": "len(Device.get_all_devices()) > 0",
        "jit": "cuda.core.utils.kernel(source, name), with the kernel in CUDA C++",
        "kernel": _KERNEL,
        "malloc": "Device.allocate",
        "mem_alloc": "Device.allocate",
        "memcpy": "Buffer.copy_from or Buffer.copy_to",
        "num_devices": "len(Device.get_all_devices())",
        "pinned": "Device.empty(shape, dtype, pinned=True)",
        "select_device": "Device.set_current",
        "set_device": "Device.set_current",
        "stream": "Device.create_stream",
        "synchronize": "Device.sync",
        "to_device": "Device.to_device",
        "zeros": "Device.zeros",
    },
    "Buffer": {
        "asnumpy": _COPY_OUT,
        "copy_from_host": _COPY_IN,
        "copy_to_device": _COPY_IN,
        "copy_to_host": _COPY_OUT,
        "data": "handle",
        "data_ptr": "handle",
        "device_ptr": "handle",
        "download": _COPY_OUT,
        "dtype": "view(shape, dtype), which has one",
        "free": "close()",
        "get": _COPY_OUT,
        "memset": "fill(value, stream=stream)",
        "nbytes": "size",
        "numpy": _COPY_OUT,
        "ptr": "handle",
        "set": _COPY_IN,
        "shape": "view(shape, dtype), which has one",
        "to_host": _COPY_OUT + ", or view(dtype=dtype).to_host()",
        "to_numpy": _COPY_OUT,
        "upload": _COPY_IN,
        "zero": "fill(0, stream=stream)",
    },
    "Device": {
        "Stream": "create_stream()",
        "alloc": "allocate(size, stream=stream)",
        "arange": "to_device(numpy.arange(...))",
        "array": "to_device(array)",
        "asarray": "to_device(array)",
        "attributes": "properties",
        "cc": "compute_capability",
        "count": "len(Device.get_all_devices())",
        "event": "create_event()",
        "free_memory": _MEMORY,
        "full": "empty(shape, dtype), then fill(value)",
        "id": "device_id",
        "index": "device_id",
        "major": "compute_capability.major",
        "make_current": "set_current()",
        "malloc": "allocate(size, stream=stream)",
        "mem_get_info": _MEMORY,
        "mem_info": _MEMORY,
        "memory_info": _MEMORY,
        "ones": "empty(shape, dtype), then fill(1)",
        "ordinal": "device_id",
        "random": "to_device(numpy.random.rand(...)), or cuRAND in a kernel",
        "stream": "create_stream(), or default_stream",
        "synchronize": "sync()",
        "to_gpu": "to_device(array)",
        "total_memory": _MEMORY,
        "use": "set_current(), or `with device:`",
    },
    "Event": {
        "elapsed_time": "end - start, in milliseconds",
        "ms": "end - start, in milliseconds",
        "query": "is_done",
        "record": "stream.record(event)",
        "synchronize": "sync()",
        "time_till": "end - start, in milliseconds",
        "wait": "stream.wait(event), or sync()",
    },
    "GraphBuilder": {
        "add_callback": "callback(function)",
        "end_capture": "end_building()",
        "finish": "end_building().complete()",
        "instantiate": "complete()",
        "launch": "complete().launch(stream)",
        "use": "stream=builder, an argument of each launch",
    },
    "Kernel": {
        "launch": "launch(stream, config, kernel, *args), or kernel[grid, block](*args)",
        "max_threads_per_block": "attributes.max_threads_per_block",
        "name": "repr(kernel), which has it",
        "num_regs": "attributes.num_regs",
        "occupancy_max": "occupancy",
    },
    "ObjectCode": {
        "cubin": "code, compiled to 'cubin'",
        "function": "get_kernel(name)",
        "get_constant": "get_global(name)",
        "get_function": "get_kernel(name)",
        "get_symbol": "get_kernel(name), or get_global(name)",
        "kernel": "get_kernel(name)",
        "names": "kernels",
        "ptx": "code, compiled to 'ptx'",
        "save": "code, the bytes to write",
    },
    "Program": {
        "build": "compile('cubin')",
        "get_function": "compile('cubin').get_kernel(name)",
        "get_kernel": "compile('cubin').get_kernel(name)",
        "options": "the ProgramOptions that it was created with",
    },
    "SourceKernel": {
        "compile": "for_device()",
        "configure": "kernel[grid, block, shmem_size, stream]",
        "forall": "kernel[:n]",
        "launch": "kernel[grid, block](*args)",
        "max_threads_per_block": "attributes.max_threads_per_block",
        "num_regs": "attributes.num_regs",
        "ptx": "Program(source, 'c++').compile('ptx').code",
        "run": "kernel[grid, block](*args)",
        "shared_size_bytes": "attributes.shared_size_bytes",
    },
    "Stream": {
        "add_host_callback": "add_callback(function)",
        "begin_capture": "create_graph_builder().begin_building()",
        "capture": "create_graph_builder().begin_building(), or cuda.core.graph.capture",
        "end_capture": "create_graph_builder(), and end_building() of the builder",
        "id": "handle",
        "launch_host_func": "add_callback(function)",
        "ptr": "handle",
        "query": "is_done",
        "record_event": "record(event)",
        "synchronize": "sync()",
        "wait_event": "wait(event)",
        "wait_for_event": "wait(event)",
        "wait_stream": "wait(stream)",
    },
    "StridedMemoryView": {
        "T": "cupy.from_dlpack(view).T, which shares the memory",
        "asnumpy": "to_host()",
        "copy": "device.to_device(view)",
        "copy_to_device": "copy_from(array)",
        "copy_to_host": "to_host()",
        "cpu": "to_host()",
        "data_ptr": "ptr",
        "device": "device_id",
        "dot": _ARITHMETIC,
        "fill_": "fill(value)",
        "flatten": "reshape(-1)",
        "free": "nothing: the memory is freed when you drop the array",
        "get": "to_host()",
        "handle": "ptr",
        "is_contiguous": "strides, None if contiguous",
        "item": "to_host().item()",
        "max": _ARITHMETIC,
        "mean": _ARITHMETIC,
        "min": _ARITHMETIC,
        "numpy": "to_host()",
        "ravel": "reshape(-1)",
        "set": "copy_from(array)",
        "sum": _ARITHMETIC,
        "to_numpy": "to_host()",
        "transpose": "cupy.from_dlpack(view).T, which shares the memory",
    },
    # Keywords.
    "LaunchConfig": {"shared": "shmem_size", "shared_mem": "shmem_size", "smem": "shmem_size"},
    "ProgramOptions": {
        "cache": "Program.compile(..., cache=cache)",
        "compute_capability": "arch, such as 'sm_90'",
        "flags": "extra",
        "include_dirs": "include_path",
        "opt_level": "ptxas_options, such as '-O2'",
        "options": "extra",
    },
    "launch": {
        "block": "LaunchConfig(grid=..., block=...), or kernel[grid, block](*args)",
        "grid": "LaunchConfig(grid=..., block=...), or kernel[grid, block](*args)",
        "shared": "shmem_size",
        "shared_mem": "shmem_size",
        "smem": "shmem_size",
        "stream": "kernel[grid, block, shmem_size, stream](*args)",
    },
}


def suggestion(owner: str, name: str) -> str:
    """Return the end of a message: what to use instead of a name, or an empty string."""
    instead = OTHER_NAMES.get(owner, {}).get(name)
    return f". Did you mean: {instead}?" if instead else ""


# Reading it, from an object or from the class, raises AttributeError with a hint, so `hasattr()` returns False. Other
# attributes cost nothing more, as they would with a `__getattr__`. Only `help()`, which reads the dict of the class,
# finds it, and shows its `__doc__`.
class OtherName:
    __slots__ = ("_hint", "_name")

    def __init__(self, owner: str, name: str):
        self._name, self._hint = name, suggestion(owner, name)

    @property
    def __doc__(self) -> str:
        return f"Not a member{self._hint}"

    def __get__(self, instance, owner):
        subject = f"type object {owner.__name__!r}" if instance is None else f"{owner.__name__!r} object"
        text = f"{subject} has no attribute {self._name!r}{self._hint}"
        # Without the object, the interpreter does not append a suggestion of its own.
        raise AttributeError(text, name=self._name)


def listed_names(obj) -> list[str]:
    """Return the names of a class, or for ``__dir__`` of an object, without those of other libraries."""
    cls, names = (obj, dir(obj)) if isinstance(obj, type) else (type(obj), object.__dir__(obj))
    members: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        members |= vars(base)
    return [name for name in names if type(members.get(name)) is not OtherName]


def descriptors(owner: str) -> dict[str, object]:
    """Return the members that explain the other names of a class, and its ``__dir__``, which leaves them out."""
    return {name: OtherName(owner, name) for name in OTHER_NAMES[owner]} | {"__dir__": listed_names}


def explain_names(cls: Class) -> Class:
    """Explain the other names of a Python class, as a decorator."""
    for name, member in descriptors(cls.__name__).items():
        setattr(cls, name, member)
    return cls
