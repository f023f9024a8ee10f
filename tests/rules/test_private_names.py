# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The private names that other packages import from ``cuda.core``: each stays where they look for it."""

import importlib
import subprocess
import sys

import pytest

# What other packages import, module by module below ``cuda.core``.
IMPORTED = {
    "_utils.cuda_utils": [
        "CUDAError",
        "NVRTCError",
        "ComputeCapability",
        "driver",
        "runtime",
        "nvrtc",
        "handle_return",
        "_check_driver_error",
        "_check_runtime_error",
        "_check_nvrtc_error",
        "check_or_create_options",
        "cast_to_3_tuple",
        "is_sequence",
        "is_nested_sequence",
        "precondition",
        "Transaction",
        "check_multiprocessing_start_method",
        "reset_fork_warning",
        "DRIVER_CU_RESULT_EXPLANATIONS",
        "RUNTIME_CUDA_ERROR_EXPLANATIONS",
        "nvvmError",
        "nvJitLinkError",
    ],
    "_utils.cuda_utils": ["binding_version", "driver_version"],
    "_native._cuda_core": ["WeakHandle", "weak_handle"],
    "_utils.validators": ["check_str_enum", "format_or_list"],
    "_utils.clear_error_support": [
        "assert_type",
        "assert_type_str_or_bytes_like",
        "raise_code_path_meant_to_be_unreachable",
    ],
    "_utils.pycompat": ["StrEnum", "BufferProtocol"],
    "_device": ["Device", "DeviceProperties"],
    "_stream": [
        "Stream",
        "StreamOptions",
        "IsStreamType",
        "default_stream",
        "Stream_accept",
        "LEGACY_DEFAULT_STREAM",
        "PER_THREAD_DEFAULT_STREAM",
    ],
    "_event": ["Event", "EventOptions", "IPCEventDescriptor"],
    "_context": ["Context", "ContextOptions", "DeviceResourcesType"],
    "_device_resources": [
        "DeviceResources",
        "SMResource",
        "SMResourceOptions",
        "WorkqueueResource",
        "WorkqueueResourceOptions",
    ],
    "_memory": [
        "Buffer",
        "DeviceMemoryResource",
        "DeviceMemoryResourceOptions",
        "GraphMemoryResource",
        "LegacyPinnedMemoryResource",
        "ManagedBuffer",
        "ManagedMemoryResource",
        "ManagedMemoryResourceOptions",
        "MemoryResource",
        "PinnedMemoryResource",
        "PinnedMemoryResourceOptions",
        "VirtualMemoryResource",
        "VirtualMemoryResourceOptions",
    ],
    "_memory._buffer": ["Buffer", "MemoryResource", "DevicePointerType"],
    "_memory._copy_enums": ["MemcpyOverlapMode", "MemcpySrcAccessOrder"],
    "_memory._managed_memory_ops": ["copy_batch"],
    "_memory._device_memory_resource": [
        "DMR_mempool_get_access",
        "DeviceMemoryResource",
        "DeviceMemoryResourceOptions",
    ],
    "_memory._graph_memory_resource": ["GraphMemoryResource", "GraphMemoryResourceAttributes"],
    "_memory._ipc": ["IPCAllocationHandle", "IPCBufferDescriptor"],
    "_memory._legacy": ["LegacyPinnedMemoryResource"],
    "_memory._managed_buffer": ["ManagedBuffer"],
    "_memory._managed_memory_ops": ["discard_batch", "discard_prefetch_batch", "prefetch_batch"],
    "_memory._managed_memory_resource": ["ManagedMemoryResource", "ManagedMemoryResourceOptions"],
    "_memory._peer_access_utils": ["PeerAccessibleBySetProxy"],
    "_memory._pinned_memory_resource": ["PinnedMemoryResource", "PinnedMemoryResourceOptions"],
    "_memory._virtual_memory_resource": ["VirtualMemoryResource", "VirtualMemoryResourceOptions"],
    "_module": [
        "ObjectCode",
        "Kernel",
        "KernelAttributes",
        "KernelOccupancy",
        "ParamInfo",
        "MaxPotentialBlockSizeOccupancyResult",
        "CodeTypeT",
    ],
    "_program": ["Program", "ProgramOptions", "ProgramHandleT", "_can_load_generated_ptx"],
    "_linker": ["Linker", "LinkerOptions", "LinkerHandleT", "_decide_nvjitlink_or_driver"],
    "_launch_config": ["LaunchConfig", "_to_native_launch_config"],
    "_launcher": ["launch"],
    "_kernel_arg_handler": ["ParamHolder"],
    "_memoryview": ["StridedMemoryView", "_StridedMemoryViewProxy", "args_viewable_as_strided_memory"],
    "_layout": ["_StridedLayout"],
    "_dlpack": ["DLDeviceType", "classify_dl_device", "make_py_capsule"],
    "_host": ["Host"],
    "_tensor_map": [
        "TensorMapDataType",
        "TensorMapDescriptor",
        "TensorMapDescriptorOptions",
        "TensorMapIm2ColWideMode",
        "TensorMapInterleave",
        "TensorMapL2Promotion",
        "TensorMapOOBFill",
        "TensorMapSwizzle",
        "_NUMPY_DTYPE_TO_TMA",
        "_require_view_device",
    ],
    "texture._texture": ["ResourceDescriptor", "TextureObject", "TextureObjectOptions", "_normalize_address_modes"],
}
# Private members of our classes that other packages use.
MEMBERS = {
    "_stream.Stream": ["_init", "_legacy_default", "_per_thread_default"],
    "_memory._buffer.Buffer": ["_init"],
    "_module.ObjectCode": ["_init"],
    "_module.Kernel": ["_handle"],
    "_kernel_arg_handler.ParamHolder": ["ptr"],
}
# Classes that are pickled by name: pickles made by other releases contain these names.
PICKLED = {
    "_device": ["Device"],
    "_event": ["IPCEventDescriptor"],
    "_memory._ipc": ["IPCAllocationHandle", "IPCBufferDescriptor"],
    "_module": ["ObjectCode"],
    "_host": ["Host"],
    "_memory._copy_enums": ["MemcpyOverlapMode", "MemcpySrcAccessOrder"],
    "_tensor_map": ["TensorMapDataType", "TensorMapDescriptorOptions", "TensorMapSwizzle"],
}


def named(entry):
    return entry if isinstance(entry, str) else ".".join(entry)


PAIRS = [(module, name) for module, names in IMPORTED.items() for name in names]
MEMBER_PAIRS = [(cls, name) for cls, names in MEMBERS.items() for name in names]
PICKLED_PAIRS = [(module, name) for module, names in PICKLED.items() for name in names]


@pytest.mark.parametrize("module, name", PAIRS, ids=named)
def test_private_name_is_where_others_import_it(module, name):
    assert hasattr(importlib.import_module(f"cuda.core.{module}"), name)


@pytest.mark.parametrize("cls, name", MEMBER_PAIRS, ids=named)
def test_private_member_is_where_others_call_it(cls, name):
    module, _, attribute = cls.rpartition(".")
    assert hasattr(getattr(importlib.import_module(f"cuda.core.{module}"), attribute), name)


@pytest.mark.parametrize("module, name", PICKLED_PAIRS, ids=named)
def test_pickled_class_keeps_its_module_and_name(module, name):
    cls = getattr(importlib.import_module(f"cuda.core.{module}"), name)
    assert (cls.__module__, cls.__qualname__) == (f"cuda.core.{module}", name)


def test_modules_are_attributes_of_the_package():
    modules = [module for module in IMPORTED if "." not in module]
    program = f"import cuda.core\nprint(*[name for name in {modules} if not hasattr(cuda.core, name)])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (result.stdout.strip(), result.returncode) == ("", 0)


def test_device_pointer_type_is_one_object():
    typing = importlib.import_module("cuda.core.typing")
    buffer = importlib.import_module("cuda.core._memory._buffer")
    assert buffer.DevicePointerType is typing.DevicePointerType
    assert not hasattr(buffer, "DevicePointer")
