# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device attributes of the driver, each of them a row of DeviceProperties."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "ATOMIC_CAPABILITIES",
    "ATOMIC_OPERATIONS",
    "CLIQUE_TYPES",
    "DeviceProperties",
    "P2P_ATTRIBUTES",
    "PeerAttributes",
]

# By the values of CUdevice_P2PAttribute, CUatomicOperation, CUcliqueType, and the bits of CUatomicOperationCapability.
P2P_ATTRIBUTES = {
    "performance_rank": 1,
    "access_supported": 2,
    "native_atomic_supported": 3,
    "cuda_array_access_supported": 4,
    "only_partial_native_atomic_supported": 5,
}
ATOMIC_OPERATIONS = (
    "add",
    "min",
    "max",
    "increment",
    "decrement",
    "and",
    "or",
    "xor",
    "exchange",
    "cas",
    "float_add",
    "float_min",
    "float_max",
)
ATOMIC_CAPABILITIES = ("signed", "unsigned", "reduction", "scalar_32", "scalar_64", "scalar_128", "vector_32x4")
CLIQUE_TYPES = (
    "unicast_pointer",
    "multicast_pointer",
    "unicast_logical_endpoint",
    "multicast_logical_endpoint",
)


class PeerAttributes(NamedTuple):
    """The link from one device to another, from :meth:`Device.peer_attributes` (``cuDeviceGetP2PAttribute``)."""

    performance_rank: int
    """The relative performance of the link; a smaller number is a faster link."""
    access_supported: bool
    """Whether the device can access the memory of the other."""
    native_atomic_supported: bool
    """Whether the link supports all atomic operations."""
    cuda_array_access_supported: bool
    """Whether the device can access CUDA arrays of the other."""
    only_partial_native_atomic_supported: bool
    """Whether the link supports only some atomic operations. False with a driver that does not know."""


class Attribute:
    """One device attribute, read from the driver on first access and cached in the instance.

    The name of the row is that of the driver's enumerator, ``CU_DEVICE_ATTRIBUTE_...``, in lower case.

    Parameters
    ----------
    code : int
        The ``CUdevice_attribute``.
    doc : str
        What the value means.
    default : optional
        The value if the driver does not recognize the attribute.
    is_volatile : bool, optional
        Whether the value may change, so that each access queries the driver. Default is False.
    """

    convert = int

    def __init__(self, code, doc, default=0, is_volatile=False):
        self.code = code
        self.default = default
        self.is_volatile = is_volatile
        self.__doc__ = doc

    def __set_name__(self, owner, name):
        self.name = name
        self.driver_name = f"CU_DEVICE_ATTRIBUTE_{name.upper()}"

    def __get__(self, properties, owner=None) -> Any:
        if properties is None:
            return self
        raw = properties._read(properties._device_id, self.code)
        value = self.convert(self.default if raw is None else raw)
        if not self.is_volatile:
            # This is not a data descriptor, so later lookups find the instance's own entry first.
            properties.__dict__[self.name] = value
        return value


class Number(Attribute):
    """An attribute that is a number: a count, a size or an enumerator of the driver."""


class Flag(Attribute):
    """An attribute that is true or false."""

    convert = bool


class DeviceProperties:
    """The attributes of a device (``cuDeviceGetAttribute``), from :attr:`Device.properties`.

    All attributes are read-only, and none needs a context. An attribute that the driver is too old for has a default,
    0 or False if not stated otherwise; :meth:`is_supported` tells that default from a value of the driver.

    Examples
    --------
    >>> from cuda.core import Device
    >>> properties = Device().properties
    >>> properties.warp_size
    32
    >>> properties.max_threads_per_block >= 512
    True
    """

    max_threads_per_block = Number(1, "Largest number of threads of a block.")
    max_block_dim_x = Number(2, "Largest x dimension of a block.")
    max_block_dim_y = Number(3, "Largest y dimension of a block.")
    max_block_dim_z = Number(4, "Largest z dimension of a block.")
    max_grid_dim_x = Number(5, "Largest x dimension of a grid.")
    max_grid_dim_y = Number(6, "Largest y dimension of a grid.")
    max_grid_dim_z = Number(7, "Largest z dimension of a grid.")
    max_shared_memory_per_block = Number(8, "Bytes of shared memory that a block can use without opting in to more.")
    total_constant_memory = Number(9, "Bytes of ``__constant__`` memory.")
    warp_size = Number(10, "Threads in a warp.")
    max_pitch = Number(11, "Largest pitch of a memory copy, in bytes.")
    maximum_texture1d_width = Number(21, "Largest width of a 1D texture.")
    maximum_texture1d_linear_width = Number(69, "Largest width of a 1D texture bound to linear memory.")
    maximum_texture1d_mipmapped_width = Number(77, "Largest width of a mipmapped 1D texture.")
    maximum_texture2d_width = Number(22, "Largest width of a 2D texture.")
    maximum_texture2d_height = Number(23, "Largest height of a 2D texture.")
    maximum_texture2d_linear_width = Number(70, "Largest width of a 2D texture bound to pitched linear memory.")
    maximum_texture2d_linear_height = Number(71, "Largest height of a 2D texture bound to pitched linear memory.")
    maximum_texture2d_linear_pitch = Number(
        72, "Largest pitch of a 2D texture bound to pitched linear memory, in bytes."
    )
    maximum_texture2d_mipmapped_width = Number(73, "Largest width of a mipmapped 2D texture.")
    maximum_texture2d_mipmapped_height = Number(74, "Largest height of a mipmapped 2D texture.")
    maximum_texture3d_width = Number(24, "Largest width of a 3D texture.")
    maximum_texture3d_height = Number(25, "Largest height of a 3D texture.")
    maximum_texture3d_depth = Number(26, "Largest depth of a 3D texture.")
    maximum_texture3d_width_alternate = Number(
        47, "Alternate largest width of a 3D texture; 0 if there is no alternate size."
    )
    maximum_texture3d_height_alternate = Number(
        48, "Alternate largest height of a 3D texture; 0 if there is no alternate size."
    )
    maximum_texture3d_depth_alternate = Number(
        49, "Alternate largest depth of a 3D texture; 0 if there is no alternate size."
    )
    maximum_texturecubemap_width = Number(52, "Largest width of a cubemap texture.")
    maximum_texture1d_layered_width = Number(42, "Largest width of a layered 1D texture.")
    maximum_texture1d_layered_layers = Number(43, "Most layers of a layered 1D texture.")
    maximum_texture2d_layered_width = Number(27, "Largest width of a layered 2D texture.")
    maximum_texture2d_layered_height = Number(28, "Largest height of a layered 2D texture.")
    maximum_texture2d_layered_layers = Number(29, "Most layers of a layered 2D texture.")
    maximum_texturecubemap_layered_width = Number(53, "Largest width of a layered cubemap texture.")
    maximum_texturecubemap_layered_layers = Number(54, "Most layers of a layered cubemap texture.")
    maximum_surface1d_width = Number(55, "Largest width of a 1D surface.")
    maximum_surface2d_width = Number(56, "Largest width of a 2D surface.")
    maximum_surface2d_height = Number(57, "Largest height of a 2D surface.")
    maximum_surface3d_width = Number(58, "Largest width of a 3D surface.")
    maximum_surface3d_height = Number(59, "Largest height of a 3D surface.")
    maximum_surface3d_depth = Number(60, "Largest depth of a 3D surface.")
    maximum_surface1d_layered_width = Number(61, "Largest width of a layered 1D surface.")
    maximum_surface1d_layered_layers = Number(62, "Most layers of a layered 1D surface.")
    maximum_surface2d_layered_width = Number(63, "Largest width of a layered 2D surface.")
    maximum_surface2d_layered_height = Number(64, "Largest height of a layered 2D surface.")
    maximum_surface2d_layered_layers = Number(65, "Most layers of a layered 2D surface.")
    maximum_surfacecubemap_width = Number(66, "Largest width of a cubemap surface.")
    maximum_surfacecubemap_layered_width = Number(67, "Largest width of a layered cubemap surface.")
    maximum_surfacecubemap_layered_layers = Number(68, "Most layers of a layered cubemap surface.")
    max_registers_per_block = Number(12, "32-bit registers that a block can use.")
    clock_rate = Number(13, "Peak clock rate of the multiprocessors in kHz; queried at each access.", is_volatile=True)
    texture_alignment = Number(14, "Alignment that a texture's base address needs, in bytes.")
    texture_pitch_alignment = Number(
        51, "Alignment that the pitch of a texture bound to pitched memory needs, in bytes."
    )
    gpu_overlap = Flag(
        15, "Whether copies and kernels can overlap; :attr:`async_engine_count` has the number of engines."
    )
    multiprocessor_count = Number(16, "Number of multiprocessors.")
    kernel_exec_timeout = Flag(17, "Whether kernels have a run time limit; queried at each access.", is_volatile=True)
    integrated = Flag(18, "Whether the GPU is integrated with the host's memory subsystem.")
    can_map_host_memory = Flag(19, "Whether host memory can be mapped into the device's address space.")
    compute_mode = Number(20, "The compute mode, a ``CUcomputemode``; queried at each access.", is_volatile=True)
    concurrent_kernels = Flag(31, "Whether several kernels can execute concurrently.")
    ecc_enabled = Flag(32, "Whether error correction (ECC) is enabled for the device's memory.")
    pci_bus_id = Number(33, "PCI bus number.")
    pci_device_id = Number(34, "PCI device (slot) number.")
    pci_domain_id = Number(50, "PCI domain number.")
    tcc_driver = Flag(35, "Whether the driver runs in the TCC model of Windows.")
    memory_clock_rate = Number(36, "Peak clock rate of the memory in kHz; queried at each access.", is_volatile=True)
    global_memory_bus_width = Number(37, "Width of the memory bus in bits.")
    l2_cache_size = Number(38, "Bytes of L2 cache.")
    max_threads_per_multiprocessor = Number(39, "Largest number of resident threads per multiprocessor.")
    unified_addressing = Flag(41, "Whether the device shares one address space with the host.")
    compute_capability_major = Number(75, "Major number of the compute capability.")
    compute_capability_minor = Number(76, "Minor number of the compute capability.")
    global_l1_cache_supported = Flag(79, "Whether global memory can be cached in L1.")
    local_l1_cache_supported = Flag(80, "Whether local memory can be cached in L1.")
    max_shared_memory_per_multiprocessor = Number(81, "Bytes of shared memory per multiprocessor.")
    max_registers_per_multiprocessor = Number(82, "32-bit registers per multiprocessor.")
    managed_memory = Flag(83, "Whether managed memory can be allocated.")
    multi_gpu_board = Flag(84, "Whether the device is on a board with several GPUs.")
    multi_gpu_board_group_id = Number(85, "Identifier that all GPUs of one board share.")
    host_native_atomic_supported = Flag(86, "Whether the link to the host supports native atomic operations.")
    single_to_double_precision_perf_ratio = Number(
        87, "Ratio of single precision to double precision throughput; queried at each access.", is_volatile=True
    )
    pageable_memory_access = Flag(
        88, "Whether the device can access pageable host memory without ``cuMemHostRegister``."
    )
    concurrent_managed_access = Flag(89, "Whether host and device can access managed memory concurrently.")
    compute_preemption_supported = Flag(90, "Whether compute preemption is supported.")
    can_use_host_pointer_for_registered_mem = Flag(91, "Whether kernels can use the host address of registered memory.")
    cooperative_launch = Flag(95, "Whether cooperative kernels can be launched.")
    max_shared_memory_per_block_optin = Number(97, "Bytes of shared memory that a block can opt in to.")
    pageable_memory_access_uses_host_page_tables = Flag(
        100, "Whether the device accesses pageable memory through the host's page tables."
    )
    direct_managed_mem_access_from_host = Flag(
        101, "Whether the host can access managed memory on the device without migration."
    )
    virtual_memory_management_supported = Flag(
        102, "Whether the virtual memory management API (``cuMemCreate``, ``cuMemMap``) is supported."
    )
    handle_type_posix_file_descriptor_supported = Flag(
        103, "Whether ``cuMemCreate`` memory can be exported as a POSIX file descriptor."
    )
    handle_type_win32_handle_supported = Flag(
        104, "Whether ``cuMemCreate`` memory can be exported as a Win32 NT handle."
    )
    handle_type_win32_kmt_handle_supported = Flag(
        105, "Whether ``cuMemCreate`` memory can be exported as a Win32 KMT handle."
    )
    max_blocks_per_multiprocessor = Number(106, "Largest number of resident blocks per multiprocessor.")
    generic_compression_supported = Flag(107, "Whether compressible memory can be allocated (``cuMemCreate``).")
    max_persisting_l2_cache_size = Number(108, "Bytes of L2 cache that can be set aside for persisting accesses.")
    max_access_policy_window_size = Number(109, "Largest ``num_bytes`` of a ``CUaccessPolicyWindow``.")
    gpu_direct_rdma_with_cuda_vmm_supported = Flag(
        110, "Whether ``cuMemCreate`` memory can be used with GPUDirect RDMA."
    )
    reserved_shared_memory_per_block = Number(111, "Bytes of shared memory that the driver reserves in each block.")
    sparse_cuda_array_supported = Flag(112, "Whether sparse CUDA arrays and sparse mipmapped arrays are supported.")
    read_only_host_register_supported = Flag(113, "Whether ``cuMemHostRegister`` can register memory as read-only.")
    memory_pools_supported = Flag(
        115, "Whether stream-ordered allocation and memory pools (``cuMemAllocAsync``) are supported."
    )
    gpu_direct_rdma_supported = Flag(116, "Whether GPUDirect RDMA is supported (``nvidia_p2p_get_pages``).")
    gpu_direct_rdma_flush_writes_options = Number(
        117, "Ways to flush GPUDirect RDMA writes, bits of ``CUflushGPUDirectRDMAWritesOptions``."
    )
    gpu_direct_rdma_writes_ordering = Number(
        118, "Ordering of GPUDirect RDMA writes, a ``CUGPUDirectRDMAWritesOrdering``."
    )
    mempool_supported_handle_types = Number(
        119, "Handle types that memory pools can be exported as, bits of ``CUmemAllocationHandleType``."
    )
    deferred_mapping_cuda_array_supported = Flag(
        121, "Whether CUDA arrays can be created without memory and mapped later."
    )
    numa_config = Number(130, "NUMA configuration of the device, a ``CUdeviceNumaConfig``.")
    numa_id = Number(131, "NUMA node of the device's memory.")
    multicast_supported = Flag(132, "Whether multicast and reduction by the NVLink switch are supported.")
    surface_alignment = Number(30, "Alignment that surfaces need, in bytes.")
    async_engine_count = Number(40, "Number of asynchronous copy engines.")
    can_tex2d_gather = Flag(44, "Whether 2D texture gather (``tex2Dgather``) is supported.")
    maximum_texture2d_gather_width = Number(45, "Largest width of a 2D texture with texture gather.")
    maximum_texture2d_gather_height = Number(46, "Largest height of a 2D texture with texture gather.")
    stream_priorities_supported = Flag(78, "Whether stream priorities are supported.")
    can_flush_remote_writes = Flag(
        98, "Whether stream memory operations can flush remote writes (``CU_STREAM_WAIT_VALUE_FLUSH``)."
    )
    host_register_supported = Flag(99, "Whether ``cuMemHostRegister`` is supported.")
    timeline_semaphore_interop_supported = Flag(114, "Whether external timeline semaphores are supported.")
    cluster_launch = Flag(120, "Whether kernels can be launched in clusters.")
    can_use_64_bit_stream_mem_ops = Flag(122, "Whether stream memory operations support 64-bit values.")
    can_use_stream_wait_value_nor = Flag(123, "Whether stream memory operations support ``CU_STREAM_WAIT_VALUE_NOR``.")
    dma_buf_supported = Flag(124, "Whether device memory can be exported as a dma_buf file descriptor.")
    ipc_event_supported = Flag(125, "Whether events can be shared between processes.")
    mem_sync_domain_count = Number(
        126, "Number of memory synchronization domains; 1 if unknown to the driver.", default=1
    )
    tensor_map_access_supported = Flag(127, "Whether tensor maps (``CUtensorMap``) are supported.")
    handle_type_fabric_supported = Flag(128, "Whether ``cuMemCreate`` memory can be exported as a fabric handle.")
    unified_function_pointers = Flag(129, "Whether unified function pointers are supported.")
    mps_enabled = Flag(133, "Whether contexts on the device are shared through the multi-process service (MPS).")
    host_numa_id = Number(134, "NUMA node of the host nearest to the device; -1 if unknown to the driver.", default=-1)
    d3d12_cig_supported = Flag(135, "Whether CUDA in Graphics (CIG) works with Direct3D 12.")
    mem_decompress_algorithm_mask = Number(
        136, "Supported decompression algorithms, bits of ``CUmemDecompressAlgorithm``."
    )
    mem_decompress_maximum_length = Number(137, "Largest size of one decompress operation, in bytes.")
    vulkan_cig_supported = Flag(138, "Whether CUDA in Graphics (CIG) works with Vulkan.")
    gpu_pci_device_id = Number(139, "The PCI device ID and the PCI vendor ID, 16 bits each.")
    gpu_pci_subsystem_id = Number(140, "The PCI subsystem ID and the PCI subsystem vendor ID, 16 bits each.")
    host_numa_virtual_memory_management_supported = Flag(
        141, "Whether ``cuMemCreate`` can allocate on a NUMA node of the host."
    )
    host_numa_memory_pools_supported = Flag(142, "Whether memory pools can be on a NUMA node of the host.")
    host_numa_multinode_ipc_supported = Flag(
        143, "Whether memory on a NUMA node of the host can be shared between the nodes of a multi-node system."
    )
    host_memory_pools_supported = Flag(144, "Whether memory pools can be on the host.")
    host_virtual_memory_management_supported = Flag(145, "Whether ``cuMemCreate`` can allocate on the host.")
    host_alloc_dma_buf_supported = Flag(
        146, "Whether page-locked host memory can be exported as a dma_buf file descriptor."
    )
    only_partial_host_native_atomic_supported = Flag(
        147, "Whether the link to the host supports only some native atomic operations."
    )
    atomic_reduction_supported = Flag(148, "Whether stream memory operations support atomic reductions.")
    locality_domain_count = Number(149, "Number of locality domains: parts of the device with their own memory.")
    max_oversized_shared_memory_per_block = Number(
        150, "Bytes of shared memory that a block can use in the oversized mode."
    )
    d3d12_cig_streams_supported = Flag(151, "Whether streams of CUDA in Graphics (CIG) work with Direct3D 12.")
    dma_buf_mmap_supported = Flag(152, "Whether the host can map a dma_buf file descriptor of device memory.")
    logical_endpoint_unicast_supported = Flag(153, "Whether unicast logical endpoints are supported.")
    logical_endpoint_multicast_supported = Flag(154, "Whether multicast logical endpoints are supported.")
    logical_endpoint_counted_ops_supported = Flag(155, "Whether logical endpoints support counted operations.")
    logical_endpoint_unicast_access_on_owner_device_supported = Flag(
        156, "Whether the device that owns a unicast logical endpoint can access it."
    )
    locality_domain_multiprocessor_count = Number(157, "Number of multiprocessors of each locality domain.")
    logical_endpoint_supported_handle_types = Number(
        158, "Handle types that logical endpoints can be exported as, bits of ``CUmemAllocationHandleType``."
    )
    vulkan_cig_streams_supported = Flag(159, "Whether streams of CUDA in Graphics (CIG) work with Vulkan.")
    tensor_map_large_tensor_min_size = Number(
        160, "Bytes of contiguous memory that a tensor map of the large allocation class needs."
    )
    gpu_direct_rdma_with_localized_memory_supported = Flag(
        161, "Whether GPUDirect RDMA works with memory of a locality domain."
    )

    def __init__(self, *args, **kwargs):
        raise RuntimeError("DeviceProperties cannot be constructed directly; use Device.properties")

    def __setattr__(self, name, value):
        raise AttributeError(f"the properties of a device are read-only; {name!r} cannot be set")

    def __delattr__(self, name):
        raise AttributeError(f"the properties of a device are read-only; {name!r} cannot be deleted")

    def __repr__(self):
        lines = [f"    {name} = {value}" for name, value in self._values()]
        return "\n".join([f"<DeviceProperties of device {self._device_id}:", *lines]) + ">"

    def _repr_html_(self):
        rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in self._values())
        return f"<table><caption>Properties of device {self._device_id}</caption>{rows}</table>"

    def _values(self):
        return [(name, getattr(self, name)) for name, row in vars(type(self)).items() if isinstance(row, Attribute)]

    @classmethod
    def _of_device(cls, device_id, read):
        """Return the properties of a device. ``read(device_id, code)`` returns a value, or None if it is unknown."""
        self = cls.__new__(cls)
        self.__dict__.update(_device_id=device_id, _read=read)
        return self

    def is_supported(self, name: str) -> bool:
        """Return whether the driver reports an attribute, so its value is not a default.

        Parameters
        ----------
        name : str
            The name of the attribute, such as ``"cluster_launch"``.

        Returns
        -------
        bool
            False if the driver is too old for the attribute.

        Raises
        ------
        TypeError
            If ``name`` is not a string.
        ValueError
            If there is no attribute of that name.
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, the name of a property, not {type(name).__name__}")
        row = getattr(type(self), name, None)
        if not isinstance(row, Attribute):
            raise ValueError(f"name must be the name of a property of a device, not {name!r}")
        return self._read(self._device_id, row.code) is not None


def html_table(device) -> str:
    """Return the HTML table with which notebooks display a :class:`~cuda.core.Device`."""
    major, minor = device.compute_capability
    facts = {
        "name": importlib.import_module("html").escape(device.name),
        "compute capability": f"{major}.{minor}",
        "multiprocessors": device.properties.multiprocessor_count,
        "shared memory per block": f"{device.properties.max_shared_memory_per_block} bytes",
        "L2 cache": f"{device.properties.l2_cache_size} bytes",
        "PCI bus": device.pci_bus_id,
        "UUID": device.uuid,
    }
    rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in facts.items())
    return f"<table><caption>Device {device.device_id}</caption>{rows}</table>"
