# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What a device can do: one row per attribute of the driver."""

from __future__ import annotations

import importlib

from cuda.core._utils.errors.initialised import needs_init
from cuda.core._utils.errors.values import CachedProperty

__all__ = ["DeviceProperties"]


class Attribute(CachedProperty):
    """One attribute of a device, read from the driver at first use and then kept.

    The name of the row is the driver's, ``CU_DEVICE_ATTRIBUTE_...``, in lower case.

    Parameters
    ----------
    code : int
        The ``CUdevice_attribute``.
    doc : str
        What the value means.
    default : optional
        The value where the driver does not know the attribute.
    fresh : bool, optional
        Whether the value may change and is therefore read each time. Default is False.
    """

    convert = int

    def __init__(self, code, doc, default=0, fresh=False):
        self.code = code
        self.default = default
        self.fresh = fresh
        self.__doc__ = doc

    def __set_name__(self, owner, name):
        self.name = name
        self.driver_name = f"CU_DEVICE_ATTRIBUTE_{name.upper()}"

    def __get__(self, properties, owner=None):
        if properties is None:
            return self
        raw = properties._read(properties._device_id, self.code)
        value = self.convert(self.default if raw is None else raw)
        if not self.fresh:
            # No data descriptor: from now on the lookup finds the instance's own value first.
            properties.__dict__[self.name] = value
        return value


class Number(Attribute):
    """An attribute that counts something or is a code of the driver."""


class Flag(Attribute):
    """An attribute that is there or not."""

    convert = bool


@needs_init("_read", "_device_id")
class DeviceProperties:
    """The attributes of a device (``cuDeviceGetAttribute``), from :attr:`Device.properties`.

    All are read-only and none needs a context. An attribute that the driver does not know reads as
    0 or False; :meth:`is_supported` tells this from a real 0.
    """

    max_threads_per_block = Number(1, "Threads that a block can have.")
    max_block_dim_x = Number(2, "Largest x dimension of a block.")
    max_block_dim_y = Number(3, "Largest y dimension of a block.")
    max_block_dim_z = Number(4, "Largest z dimension of a block.")
    max_grid_dim_x = Number(5, "Largest x dimension of a grid.")
    max_grid_dim_y = Number(6, "Largest y dimension of a grid.")
    max_grid_dim_z = Number(7, "Largest z dimension of a grid.")
    max_shared_memory_per_block = Number(8, "Bytes of shared memory that a block can have without opting in to more.")
    total_constant_memory = Number(9, "Bytes of ``__constant__`` memory.")
    warp_size = Number(10, "Threads in a warp.")
    max_pitch = Number(11, "Largest pitch of a copy, in bytes.")
    maximum_texture1d_width = Number(21, "Largest width of a 1D texture.")
    maximum_texture1d_linear_width = Number(69, "Largest width of a linear 1D texture.")
    maximum_texture1d_mipmapped_width = Number(77, "Largest width of a mipmapped 1D texture.")
    maximum_texture2d_width = Number(22, "Largest width of a 2D texture.")
    maximum_texture2d_height = Number(23, "Largest height of a 2D texture.")
    maximum_texture2d_linear_width = Number(70, "Largest width of a linear 2D texture.")
    maximum_texture2d_linear_height = Number(71, "Largest height of a linear 2D texture.")
    maximum_texture2d_linear_pitch = Number(72, "Largest pitch of a linear 2D texture, in bytes.")
    maximum_texture2d_mipmapped_width = Number(73, "Largest width of a mipmapped 2D texture.")
    maximum_texture2d_mipmapped_height = Number(74, "Largest height of a mipmapped 2D texture.")
    maximum_texture3d_width = Number(24, "Largest width of a 3D texture.")
    maximum_texture3d_height = Number(25, "Largest height of a 3D texture.")
    maximum_texture3d_depth = Number(26, "Largest depth of a 3D texture.")
    maximum_texture3d_width_alternate = Number(
        47, "Largest width of a 3D texture in its other set of sizes, 0 if there is none."
    )
    maximum_texture3d_height_alternate = Number(
        48, "Largest height of a 3D texture in its other set of sizes, 0 if there is none."
    )
    maximum_texture3d_depth_alternate = Number(
        49, "Largest depth of a 3D texture in its other set of sizes, 0 if there is none."
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
    max_registers_per_block = Number(12, "32-bit registers that a block can have.")
    clock_rate = Number(13, "Clock of the multiprocessors in kHz; read afresh.", fresh=True)
    texture_alignment = Number(14, "Alignment of texture memory in bytes.")
    texture_pitch_alignment = Number(51, "Alignment of the pitch of texture memory in bytes.")
    gpu_overlap = Flag(15, "Whether copies overlap with kernels; :attr:`async_engine_count` says more.")
    multiprocessor_count = Number(16, "Number of multiprocessors.")
    kernel_exec_timeout = Flag(17, "Whether kernels may run only for a limited time; read afresh.", fresh=True)
    integrated = Flag(18, "Whether the GPU is integrated and shares the memory of the host.")
    can_map_host_memory = Flag(19, "Whether host memory can be mapped for the device.")
    compute_mode = Number(20, "How many processes may use the device, a ``CUcomputemode``; read afresh.", fresh=True)
    concurrent_kernels = Flag(31, "Whether several kernels can run at once.")
    ecc_enabled = Flag(32, "Whether memory errors are corrected.")
    pci_bus_id = Number(33, "Number of the PCI bus.")
    pci_device_id = Number(34, "Number of the PCI slot.")
    pci_domain_id = Number(50, "Number of the PCI domain.")
    tcc_driver = Flag(35, "Whether the driver runs in the TCC model of Windows.")
    memory_clock_rate = Number(36, "Peak clock of the memory in kHz; read afresh.", fresh=True)
    global_memory_bus_width = Number(37, "Width of the memory bus in bits.")
    l2_cache_size = Number(38, "Bytes of L2 cache.")
    max_threads_per_multiprocessor = Number(39, "Threads that a multiprocessor can hold.")
    unified_addressing = Flag(41, "Whether the device shares one address space with the host.")
    compute_capability_major = Number(75, "Major number of the compute capability.")
    compute_capability_minor = Number(76, "Minor number of the compute capability.")
    global_l1_cache_supported = Flag(79, "Whether global memory can be cached in L1.")
    local_l1_cache_supported = Flag(80, "Whether local memory can be cached in L1.")
    max_shared_memory_per_multiprocessor = Number(81, "Bytes of shared memory of a multiprocessor.")
    max_registers_per_multiprocessor = Number(82, "32-bit registers of a multiprocessor.")
    managed_memory = Flag(83, "Whether managed memory can be allocated.")
    multi_gpu_board = Flag(84, "Whether the board has other GPUs.")
    multi_gpu_board_group_id = Number(85, "Number that the GPUs of one board share.")
    host_native_atomic_supported = Flag(86, "Whether all atomic operations work over the link to the host.")
    single_to_double_precision_perf_ratio = Number(
        87, "Throughput in single precision over that in double; read afresh.", fresh=True
    )
    pageable_memory_access = Flag(88, "Whether the device can access pageable host memory that is not registered.")
    concurrent_managed_access = Flag(89, "Whether host and device can access managed memory at the same time.")
    compute_preemption_supported = Flag(90, "Whether kernels can be preempted.")
    can_use_host_pointer_for_registered_mem = Flag(
        91, "Whether registered host memory has the same address on the device."
    )
    cooperative_launch = Flag(95, "Whether cooperative kernels can be launched.")
    max_shared_memory_per_block_optin = Number(97, "Bytes of shared memory that a block can opt in to.")
    pageable_memory_access_uses_host_page_tables = Flag(
        100, "Whether access to pageable memory goes through the page tables of the host."
    )
    direct_managed_mem_access_from_host = Flag(
        101, "Whether the host reaches managed memory on the device without moving it."
    )
    virtual_memory_management_supported = Flag(102, "Whether virtual memory can be managed.")
    handle_type_posix_file_descriptor_supported = Flag(
        103, "Whether virtual memory can be exported as a file descriptor."
    )
    handle_type_win32_handle_supported = Flag(104, "Whether virtual memory can be exported as an NT handle.")
    handle_type_win32_kmt_handle_supported = Flag(105, "Whether virtual memory can be exported as a KMT handle.")
    max_blocks_per_multiprocessor = Number(106, "Blocks that a multiprocessor can hold.")
    generic_compression_supported = Flag(107, "Whether memory can be compressed.")
    max_persisting_l2_cache_size = Number(108, "Bytes of L2 cache that can be set aside for persisting data.")
    max_access_policy_window_size = Number(109, "Largest ``num_bytes`` of a ``CUaccessPolicyWindow``.")
    gpu_direct_rdma_with_cuda_vmm_supported = Flag(
        110, "Whether managed virtual memory can be used with GPUDirect RDMA."
    )
    reserved_shared_memory_per_block = Number(111, "Bytes of shared memory that the driver takes from each block.")
    sparse_cuda_array_supported = Flag(112, "Whether arrays can be sparse.")
    read_only_host_register_supported = Flag(113, "Whether host memory can be registered as read-only.")
    memory_pools_supported = Flag(115, "Whether memory can be allocated in stream order from pools.")
    gpu_direct_rdma_supported = Flag(116, "Whether GPUDirect RDMA can be used.")
    gpu_direct_rdma_flush_writes_options = Number(
        117, "Ways to flush remote writes, bits of ``CUflushGPUDirectRDMAWritesOptions``."
    )
    gpu_direct_rdma_writes_ordering = Number(118, "How remote writes are ordered, a ``CUGPUDirectRDMAWritesOrdering``.")
    mempool_supported_handle_types = Number(119, "Ways to share a pool, bits of ``CUmemAllocationHandleType``.")
    deferred_mapping_cuda_array_supported = Flag(121, "Whether the memory of arrays can be mapped later.")
    numa_config = Number(130, "How the device takes part in NUMA, a ``CUdeviceNumaConfig``.")
    numa_id = Number(131, "NUMA node of the memory of the device.")
    multicast_supported = Flag(132, "Whether switches can multicast.")
    surface_alignment = Number(30, "Alignment of surface memory in bytes.")
    async_engine_count = Number(40, "Number of copy engines.")
    can_tex2d_gather = Flag(44, "Whether 2D textures can be gathered from.")
    maximum_texture2d_gather_width = Number(45, "Largest width of a 2D texture that is gathered from.")
    maximum_texture2d_gather_height = Number(46, "Largest height of a 2D texture that is gathered from.")
    stream_priorities_supported = Flag(78, "Whether streams have priorities.")
    can_flush_remote_writes = Flag(98, "Whether memory operations of streams can flush remote writes.")
    host_register_supported = Flag(99, "Whether host memory can be registered.")
    timeline_semaphore_interop_supported = Flag(114, "Whether external timeline semaphores can be used.")
    cluster_launch = Flag(120, "Whether kernels can be launched in clusters.")
    can_use_64_bit_stream_mem_ops = Flag(122, "Whether memory operations of streams can be 64 bits wide.")
    can_use_stream_wait_value_nor = Flag(123, "Whether memory operations of streams can wait for a NOR.")
    dma_buf_supported = Flag(124, "Whether device memory can be shared as a dma_buf.")
    ipc_event_supported = Flag(125, "Whether events can be shared between processes.")
    mem_sync_domain_count = Number(
        126, "Number of memory synchronisation domains; 1 where the driver does not know.", default=1
    )
    tensor_map_access_supported = Flag(127, "Whether tensor maps can be used.")
    handle_type_fabric_supported = Flag(128, "Whether virtual memory can be exported over the fabric.")
    unified_function_pointers = Flag(129, "Whether function pointers are the same on all devices.")
    mps_enabled = Flag(133, "Whether contexts go through MPS.")
    host_numa_id = Number(
        134, "NUMA node of the host nearest to the device; -1 where the driver does not know.", default=-1
    )
    d3d12_cig_supported = Flag(135, "Whether CUDA can run in a Direct3D 12 queue.")
    mem_decompress_algorithm_mask = Number(136, "Ways to decompress memory, bits of ``CUmemDecompressAlgorithm``.")
    mem_decompress_maximum_length = Number(137, "Largest number of bytes of one decompression.")
    vulkan_cig_supported = Flag(138, "Whether CUDA can run in a Vulkan queue.")
    gpu_pci_device_id = Number(139, "PCI device number and vendor number in one.")
    gpu_pci_subsystem_id = Number(140, "PCI subsystem number and vendor number in one.")
    host_numa_virtual_memory_management_supported = Flag(
        141, "Whether virtual memory can be managed on a NUMA node of the host."
    )
    host_numa_memory_pools_supported = Flag(142, "Whether pools can live on a NUMA node of the host.")
    host_numa_multinode_ipc_supported = Flag(143, "Whether memory of a NUMA node can be shared between machines.")
    host_memory_pools_supported = Flag(144, "Whether pools can live on the host.")
    host_virtual_memory_management_supported = Flag(145, "Whether virtual memory can be managed on the host.")
    host_alloc_dma_buf_supported = Flag(146, "Whether pinned host memory can be shared as a dma_buf.")
    only_partial_host_native_atomic_supported = Flag(
        147, "Whether only some atomic operations work over the link to the host."
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
        """Return the properties of a device; ``read(device_id, code)`` gives a value, or None if it is unknown."""
        self = cls.__new__(cls)
        self.__dict__.update(_device_id=device_id, _read=read)
        return self

    def is_supported(self, name: str) -> bool:
        """Return whether the driver knows a property, so that its 0 or False is a fact and not a default.

        Parameters
        ----------
        name : str
            The name of a property, such as ``"cluster_launch"``.

        Raises
        ------
        TypeError
            If ``name`` is no string.
        ValueError
            If there is no such property.
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, the name of a property, not {type(name).__name__}")
        row = getattr(type(self), name, None)
        if not isinstance(row, Attribute):
            raise ValueError(f"there is no property {name!r}; see dir(Device().properties)")
        return self._read(self._device_id, row.code) is not None


def table_of(device) -> str:
    """Return what notebooks show of a :class:`~cuda.core.Device`: a table in HTML."""
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
