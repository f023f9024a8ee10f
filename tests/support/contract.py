# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names of private modules that other packages import, which makes them a contract (``interface/private.txt``).

Most are classes of public objects, such as ``Device.properties``, that have no public name.
"""

from cuda.core._device import DeviceProperties
from cuda.core._dlpack import DLDeviceType, classify_dl_device, make_py_capsule
from cuda.core._event import IPCEventDescriptor
from cuda.core._graphics import _parse_register_flags
from cuda.core._kernel_arg_handler import ParamHolder
from cuda.core._launch_config import _to_native_launch_config
from cuda.core._layout import _StridedLayout
from cuda.core._memory._device_memory_resource import DMR_mempool_get_access
from cuda.core._memory._graph_memory_resource import GraphMemoryResourceAttributes
from cuda.core._memory._ipc import (
    IPCAllocationHandle,
    IPCBufferDescriptor,
    VirtualMemoryFabricBufferDescriptor,
    VirtualMemoryIPCBufferDescriptor,
)
from cuda.core._memory._managed_buffer import AccessedBySetProxy
from cuda.core._memory._memory_pool import _MemPoolAttributes
from cuda.core._memory._peer_access_utils import PeerAccessibleBySetProxy
from cuda.core._memoryview import _StridedMemoryViewProxy, view_as_array_interface, view_as_cai
from cuda.core._module import KernelAttributes, KernelOccupancy, MaxPotentialBlockSizeOccupancyResult, ParamInfo
from cuda.core._native._cuda_core import WeakHandle, weak_handle
from cuda.core._program import _can_load_generated_ptx
from cuda.core._stream import Stream_accept, default_stream
from cuda.core._tensor_map import (
    _NUMPY_DTYPE_TO_TMA,
    TensorMapDataType,
    TensorMapIm2ColWideMode,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
    _require_view_device,
)
from cuda.core._utils import cuda_utils
from cuda.core._utils.clear_error_support import (
    assert_type,
    assert_type_str_or_bytes_like,
    raise_code_path_meant_to_be_unreachable,
)
from cuda.core._utils.cuda_utils import (
    DRIVER_CU_RESULT_EXPLANATIONS,
    RUNTIME_CUDA_ERROR_EXPLANATIONS,
    ComputeCapability,
    Transaction,
    binding_version,
    cast_to_3_tuple,
    check_multiprocessing_start_method,
    check_or_create_options,
    driver_version,
    handle_return,
    is_nested_sequence,
    is_sequence,
    precondition,
    reset_fork_warning,
)
from cuda.core._utils.pycompat import BufferProtocol, StrEnum
from cuda.core._utils.validators import check_str_enum, format_or_list
from cuda.core.graph._adjacency_set_proxy import AdjacencySetProxy
from cuda.core.texture._texture import _normalize_address_modes

__all__ = [
    "DRIVER_CU_RESULT_EXPLANATIONS",
    "RUNTIME_CUDA_ERROR_EXPLANATIONS",
    "WeakHandle",
    "assert_type",
    "assert_type_str_or_bytes_like",
    "raise_code_path_meant_to_be_unreachable",
    "weak_handle",
    "AccessedBySetProxy",
    "AdjacencySetProxy",
    "BufferProtocol",
    "ComputeCapability",
    "StrEnum",
    "Transaction",
    "cast_to_3_tuple",
    "check_multiprocessing_start_method",
    "check_str_enum",
    "cuda_utils",
    "format_or_list",
    "is_nested_sequence",
    "is_sequence",
    "precondition",
    "binding_version",
    "driver_version",
    "DLDeviceType",
    "DMR_mempool_get_access",
    "DeviceProperties",
    "GraphMemoryResourceAttributes",
    "IPCAllocationHandle",
    "IPCBufferDescriptor",
    "IPCEventDescriptor",
    "KernelAttributes",
    "KernelOccupancy",
    "MaxPotentialBlockSizeOccupancyResult",
    "ParamHolder",
    "ParamInfo",
    "PeerAccessibleBySetProxy",
    "Stream_accept",
    "TensorMapDataType",
    "TensorMapIm2ColWideMode",
    "TensorMapInterleave",
    "TensorMapL2Promotion",
    "TensorMapOOBFill",
    "TensorMapSwizzle",
    "VirtualMemoryFabricBufferDescriptor",
    "VirtualMemoryIPCBufferDescriptor",
    "_MemPoolAttributes",
    "_NUMPY_DTYPE_TO_TMA",
    "_StridedLayout",
    "_StridedMemoryViewProxy",
    "_parse_register_flags",
    "view_as_array_interface",
    "view_as_cai",
    "_can_load_generated_ptx",
    "_normalize_address_modes",
    "_require_view_device",
    "_to_native_launch_config",
    "check_or_create_options",
    "classify_dl_device",
    "default_stream",
    "handle_return",
    "make_py_capsule",
    "reset_fork_warning",
]
