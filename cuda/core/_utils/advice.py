# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Advice for users by the name of an error: what probably went wrong, and what to do."""

from __future__ import annotations

__all__ = ["ADVICE", "ANCHORS", "CALL_ADVICE", "KERNEL_FAILURES", "MEMORY_OPERATIONS", "RUNTIME_ADVICE"]

_FATAL = "The context is lost with all its memory; restart the process, with CUDA_CORE_DEBUG=1 to find the launch."

# For these errors, a report of the kernel in the driver's log replaces the advice.
KERNEL_FAILURES = frozenset(
    {
        "CUDA_ERROR_ASSERT",
        "CUDA_ERROR_HARDWARE_STACK_ERROR",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
    }
)

MEMORY_OPERATIONS = (
    "Memory operations need page-locked memory, such as device.zeros(..., pinned=True), or virtual memory: drivers "
    "reject memory of pools, which Device.allocate(), empty() and zeros() return. A call takes fewer than 256 "
    "operations."
)

# More precise than the advice of ADVICE, for an error of one call.
CALL_ADVICE: dict[tuple[str, str], str] = {
    ("cuStreamBatchMemOp", "CUDA_ERROR_INVALID_VALUE"): MEMORY_OPERATIONS,
    # These calls cannot use the freed memory that pools keep.
    **{
        (call, "CUDA_ERROR_OUT_OF_MEMORY"): (
            "Free unused buffers or request less memory. Freed memory that a pool keeps cannot be used here: release "
            "it with Device.memory_resource.trim()."
        )
        for call in ("cuArray3DCreate", "cuArrayCreate", "cuMemCreate", "cuMipmappedArrayCreate")
    },
}

# Anchors in docs/guide/errors.md. Codes without their own have that of their class, which is its name in lowercase.
ANCHORS = {
    "CUDA_ERROR_ASSERT": "assertion-failed",
    "CUDA_ERROR_HARDWARE_STACK_ERROR": "stack-overflow",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "illegal-address",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": "illegal-instruction",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "out-of-resources",
    "CUDA_ERROR_LAUNCH_TIMEOUT": "time-limit-exceeded",
    "CUDA_ERROR_MISALIGNED_ADDRESS": "misaligned-address",
}

ADVICE: dict[str, str] = {
    "CUDA_SUCCESS": "The call succeeded.",
    "CUDA_ERROR_INVALID_VALUE": (
        "An argument is outside the range that the call accepts: check sizes, pointers, enum values and flags."
    ),
    "CUDA_ERROR_OUT_OF_MEMORY": (
        "Free unused buffers, request less memory, or find the other processes that hold memory of the device."
    ),
    "CUDA_ERROR_NOT_INITIALIZED": (
        "The driver is not initialized in this process: call Device.set_current() first. Where the parent process uses "
        "CUDA, start the child with 'spawn', not by a fork."
    ),
    "CUDA_ERROR_DEINITIALIZED": "The driver is shutting down: release CUDA resources before the interpreter exits.",
    "CUDA_ERROR_PROFILER_DISABLED": "An external profiler is attached, so the program cannot control it.",
    "CUDA_ERROR_PROFILER_NOT_INITIALIZED": "The profiler no longer needs to be initialized; remove the call.",
    "CUDA_ERROR_PROFILER_ALREADY_STARTED": "The profiler is already running; remove the second start.",
    "CUDA_ERROR_PROFILER_ALREADY_STOPPED": "The profiler is already stopped; remove the second stop.",
    "CUDA_ERROR_STUB_LIBRARY": (
        "The libcuda.so found is the toolkit's stub for linking; take its directory out of the library search path."
    ),
    "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER": "The call is newer than the installed driver: update the display driver.",
    "CUDA_ERROR_DEVICE_UNAVAILABLE": (
        "The device is unavailable: another process uses it exclusively, or it is being reset; see nvidia-smi."
    ),
    "CUDA_ERROR_MULTICAST_RESOURCE_FULL": (
        "The hardware has no multicast resources left; release unused multicast objects."
    ),
    "CUDA_ERROR_NO_DEVICE": (
        "No NVIDIA GPU is visible: check nvidia-smi, CUDA_VISIBLE_DEVICES and, in a container, its GPU option."
    ),
    "CUDA_ERROR_INVALID_DEVICE": (
        "The ordinal must be below the number of visible devices; CUDA_VISIBLE_DEVICES limits and renumbers them."
    ),
    "CUDA_ERROR_DEVICE_NOT_LICENSED": "The license for the virtual GPU is missing or could not be fetched.",
    "CUDA_ERROR_INVALID_IMAGE": (
        "The code is not valid PTX, cubin or fat binary; it may be truncated or have a format other than stated."
    ),
    "CUDA_ERROR_INVALID_CONTEXT": (
        "No context is current on this thread, or it was destroyed: call Device.set_current() first."
    ),
    "CUDA_ERROR_CONTEXT_ALREADY_CURRENT": "The context is already current; do not make it current again.",
    "CUDA_ERROR_MAP_FAILED": (
        "Mapping a graphics resource or memory failed; check that its owner still exists and has not mapped it."
    ),
    "CUDA_ERROR_UNMAP_FAILED": (
        "Unmapping failed; the resource is in use, or was mapped on another stream or in another context."
    ),
    "CUDA_ERROR_ARRAY_IS_MAPPED": "The array is mapped; unmap it before you destroy it.",
    "CUDA_ERROR_ALREADY_MAPPED": "The resource is already mapped; unmap it before you map it again.",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": (
        "Compile for the compute capability of this device, or add PTX that the driver can translate."
    ),
    "CUDA_ERROR_ALREADY_ACQUIRED": "The resource was already acquired; release it before you acquire it again.",
    "CUDA_ERROR_NOT_MAPPED": "The resource is not mapped; map it first.",
    "CUDA_ERROR_NOT_MAPPED_AS_ARRAY": "The resource was mapped as a pointer, and cannot be accessed as an array.",
    "CUDA_ERROR_NOT_MAPPED_AS_POINTER": "The resource was mapped as an array, and cannot be accessed as a pointer.",
    "CUDA_ERROR_ECC_UNCORRECTABLE": (
        f"The device detected an uncorrectable memory error. {_FATAL} If it occurs again, test the hardware."
    ),
    "CUDA_ERROR_UNSUPPORTED_LIMIT": "The device does not have this limit.",
    "CUDA_ERROR_CONTEXT_ALREADY_IN_USE": (
        "The context is bound to another thread; only one thread at a time can use it."
    ),
    "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED": (
        "The two devices cannot access each other's memory: copy through the host, or call can_access_peer() first."
    ),
    "CUDA_ERROR_INVALID_PTX": "The PTX cannot be assembled; the log of the linker names the line.",
    "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT": "The OpenGL or Direct3D context is not valid on this thread.",
    "CUDA_ERROR_NVLINK_UNCORRECTABLE": (
        f"An NVLink between GPUs had an uncorrectable error. {_FATAL} If it occurs again, test the hardware."
    ),
    "CUDA_ERROR_JIT_COMPILER_NOT_FOUND": (
        "The driver's PTX compiler (libnvidia-ptxjitcompiler) is missing; reinstall the display driver."
    ),
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": (
        "The PTX comes from a newer compiler than the driver supports: compile to cubin, or update the display driver."
    ),
    "CUDA_ERROR_JIT_COMPILATION_DISABLED": (
        "JIT compilation of PTX is disabled (CUDA_DISABLE_PTX_JIT); compile to cubin for this device."
    ),
    "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY": (
        "The device or the system cannot bind a context to some of the multiprocessors."
    ),
    "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC": (
        "Kernels can no longer synchronize with kernels that they launch; use a tail launch or a graph."
    ),
    "CUDA_ERROR_CONTAINED": f"An error of the device was contained to this process. {_FATAL}",
    "CUDA_ERROR_INSUFFICIENT_LOADER_VERSION": (
        "The driver's loader is too old for this code: update the display driver."
    ),
    "CUDA_ERROR_INVALID_SOURCE": "The device source is not valid.",
    "CUDA_ERROR_FILE_NOT_FOUND": "The file does not exist or cannot be read: check the path and the working directory.",
    "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND": (
        "A shared library lacks a symbol; check that all libraries have the same CUDA version."
    ),
    "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED": (
        "A shared library could not be loaded or initialized; check that its dependencies are installed."
    ),
    "CUDA_ERROR_OPERATING_SYSTEM": "A system call failed: check permissions, limits (ulimit) and free host memory.",
    "CUDA_ERROR_INVALID_HANDLE": "The object was destroyed or never created, or belongs to another context.",
    "CUDA_ERROR_ILLEGAL_STATE": "The operation is not allowed in the current state of the resource.",
    "CUDA_ERROR_LOSSY_QUERY": (
        "The result would lose information: the object uses features newer than the query; use a newer call."
    ),
    "CUDA_ERROR_NOT_FOUND": (
        'There is no such symbol or value; C++ kernels have mangled names unless declared extern "C".'
    ),
    "CUDA_ERROR_NOT_READY": "The work has not completed; wait with sync(), or query again later.",
    "CUDA_ERROR_ILLEGAL_ADDRESS": (
        f"A kernel accessed memory outside any allocation. {_FATAL} Find the place with compute-sanitizer."
    ),
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": (
        "The kernel needs more registers, threads or shared memory than a block can have: use a smaller block."
    ),
    "CUDA_ERROR_LAUNCH_TIMEOUT": (
        f"The kernel exceeded the time limit of a GPU with a display, or CUDA_EMULATOR_TIME_LIMIT. {_FATAL}"
    ),
    "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING": "The texturing mode of the kernel differs from that of its launch.",
    "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED": "Access to this peer is already enabled; do not enable it again.",
    "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED": "Access to this peer is not enabled; enable it first.",
    "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE": (
        "The primary context is already in use; set its flags before the first call that needs it."
    ),
    "CUDA_ERROR_CONTEXT_IS_DESTROYED": "The context was destroyed; objects created in it can no longer be used.",
    "CUDA_ERROR_ASSERT": f"An assert() in a kernel failed; its message is on stderr. {_FATAL}",
    "CUDA_ERROR_TOO_MANY_PEERS": (
        "The device already has access to as many peers as the hardware allows; disable one first."
    ),
    "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED": "Some or all of this host memory is already registered.",
    "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED": (
        "This host memory is not registered; register it first, and pass its start address."
    ),
    "CUDA_ERROR_HARDWARE_STACK_ERROR": (
        f"The call stack of a kernel overflowed or was corrupted: the usual cause is deep recursion. {_FATAL}"
    ),
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": f"A kernel executed an illegal instruction; the code may be corrupt. {_FATAL}",
    "CUDA_ERROR_MISALIGNED_ADDRESS": (
        f"A kernel accessed an address that is not a multiple of the access size. {_FATAL}"
    ),
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": (
        f"A kernel used an instruction for one memory space with a pointer to another memory space. {_FATAL}"
    ),
    "CUDA_ERROR_INVALID_PC": (
        f"A kernel jumped to an address that holds no code, such as a wrong function pointer. {_FATAL}"
    ),
    "CUDA_ERROR_LAUNCH_FAILED": f"A kernel failed during execution. {_FATAL} Find the place with compute-sanitizer.",
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": (
        "All blocks of a cooperative grid must be resident: use at most as many as the occupancy query returns."
    ),
    "CUDA_ERROR_TENSOR_MEMORY_LEAK": f"A kernel exited without freeing its tensor memory. {_FATAL}",
    "CUDA_ERROR_NOT_PERMITTED": (
        "The operation is not permitted for this user, in this container, or in this state of the stream."
    ),
    "CUDA_ERROR_NOT_SUPPORTED": (
        "This device, driver or operating system does not support the operation: check Device.properties first."
    ),
    "CUDA_ERROR_SYSTEM_NOT_READY": (
        "The system is not ready: on machines with NVSwitch, check that the fabric manager is running."
    ),
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": (
        "The driver's kernel module and libraries have different versions; reboot, or reinstall the driver."
    ),
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": (
        "Forward compatibility does not cover this device: use the driver's own libcuda, not the cuda-compat package."
    ),
    "CUDA_ERROR_MPS_CONNECTION_FAILED": (
        "The client could not connect to the MPS control daemon; check that it is running, and CUDA_MPS_PIPE_DIRECTORY."
    ),
    "CUDA_ERROR_MPS_RPC_FAILURE": "The MPS server failed or was stopped; see its log.",
    "CUDA_ERROR_MPS_SERVER_NOT_READY": "The MPS server is starting or recovering from a fault; try again later.",
    "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED": "The MPS server has reached its client limit; terminate a client.",
    "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED": "The MPS server has no connections left; terminate a client.",
    "CUDA_ERROR_MPS_CLIENT_TERMINATED": "The MPS server terminated this client; restart the process.",
    "CUDA_ERROR_CDP_NOT_SUPPORTED": "Kernels cannot launch kernels here, for example under MPS.",
    "CUDA_ERROR_CDP_VERSION_MISMATCH": (
        "Modules use different versions of CUDA dynamic parallelism; compile all with the same compiler."
    ),
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": (
        "This operation cannot be captured: synchronize, query and allocate outside the capture. To begin one, use a "
        "stream of Device.create_stream(), not the default stream."
    ),
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": "An earlier error ended the capture; end it, and start a new one.",
    "CUDA_ERROR_STREAM_CAPTURE_MERGE": "An event cannot join two captures that began separately.",
    "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED": "The capture must end on the stream on which it began.",
    "CUDA_ERROR_STREAM_CAPTURE_UNJOINED": (
        "A stream that the capture forked to was not joined: let the first stream wait for it before the capture ends."
    ),
    "CUDA_ERROR_STREAM_CAPTURE_ISOLATION": (
        "The captured work depends on work outside the capture; a graph can depend only on its own nodes."
    ),
    "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT": (
        "The legacy default stream waits implicitly for captured work: use another stream while capturing."
    ),
    "CUDA_ERROR_CAPTURED_EVENT": "The event was recorded in a capture; only that capture can wait for it.",
    "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD": (
        "The capture must end on the thread that began it, unless it began in relaxed mode."
    ),
    "CUDA_ERROR_TIMEOUT": "The operation did not complete in time; a kernel or a peer may hang.",
    "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE": (
        "The new graph differs too much from the instantiated one: instantiate it again."
    ),
    "CUDA_ERROR_EXTERNAL_DEVICE": (
        f"An asynchronous error occurred in an external device that the work depends on. {_FATAL}"
    ),
    "CUDA_ERROR_INVALID_CLUSTER_SIZE": (
        "The device cannot run clusters of this size with this kernel: use at most 8 blocks, or query the maximum."
    ),
    "CUDA_ERROR_FUNCTION_NOT_LOADED": (
        "The function is not loaded yet; load it before a call that cannot load code, for example in a capture."
    ),
    "CUDA_ERROR_INVALID_RESOURCE_TYPE": "The call does not accept a resource of this type.",
    "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION": (
        "The resources cannot be combined or split in this way; check the minimum size and alignment of a partition."
    ),
    "CUDA_ERROR_KEY_ROTATION": "The keys of confidential computing are being renewed; try again.",
    "CUDA_ERROR_STREAM_DETACHED": "The stream is detached from its context, which was destroyed.",
    "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE": (
        "The recaptured work differs from the work of the graph in more than its parameters. The graph is unusable "
        "now; capture a new one."
    ),
    "CUDA_ERROR_FABRIC_NOT_READY": (
        "The fabric between GPUs is not initialized yet; check that the fabric manager is running, and try again."
    ),
    "CUDA_ERROR_UNKNOWN": (
        "The driver failed for an unknown reason; see the system log (dmesg) for messages that name NVRM or Xid."
    ),
}

# Errors that only the CUDA runtime reports. All others share their code with a driver error.
RUNTIME_ADVICE: dict[str, str] = {
    "cudaErrorInvalidConfiguration": "The grid or the block is larger than the device allows, or has a dimension of 0.",
    "cudaErrorVersionTranslation": (
        "CUDA libraries disagree about the layout of a structure; use the same version of all of them."
    ),
    "cudaErrorInvalidPitchValue": "The pitch is larger than the device allows, or smaller than a row.",
    "cudaErrorInvalidSymbol": "No variable of device code has this name or address.",
    "cudaErrorInvalidHostPointer": "The host pointer is null, or does not point to memory that CUDA tracks.",
    "cudaErrorInvalidDevicePointer": "The device pointer is null, or does not point to memory of this device.",
    "cudaErrorInvalidTexture": "The texture object was destroyed or never created.",
    "cudaErrorInvalidTextureBinding": "The texture is not bound to memory; use texture objects.",
    "cudaErrorInvalidChannelDescriptor": "The channel format of the array has sizes or a kind that does not exist.",
    "cudaErrorInvalidMemcpyDirection": (
        "The direction of the copy does not match the memory types of source and destination."
    ),
    "cudaErrorAddressOfConstant": (
        "Devices of this compute capability do not support taking the address of a constant variable in this way."
    ),
    "cudaErrorTextureFetchFailed": "A fetch from a texture failed in device emulation, which no longer exists.",
    "cudaErrorTextureNotBound": "The texture was not bound, in device emulation, which no longer exists.",
    "cudaErrorSynchronizationError": "Synchronizing failed in device emulation, which no longer exists.",
    "cudaErrorInvalidFilterSetting": "Linear filtering works only for textures that are read as floating point.",
    "cudaErrorInvalidNormSetting": "Reading as normalized floats works only for 8 and 16 bit integers.",
    "cudaErrorMixedDeviceExecution": "Device code and device emulation cannot be mixed.",
    "cudaErrorNotYetImplemented": "The installed runtime does not implement the call.",
    "cudaErrorMemoryValueTooLarge": "The size is larger than the emulated memory.",
    "cudaErrorInsufficientDriver": "The display driver is older than the CUDA runtime needs: update it.",
    "cudaErrorInvalidSurface": "The surface object was destroyed or never created.",
    "cudaErrorDuplicateVariableName": "Two variables of device code have the same name; rename one, or make it static.",
    "cudaErrorDuplicateTextureName": "Two textures have the same name; rename one, or make it static.",
    "cudaErrorDuplicateSurfaceName": "Two surfaces have the same name; rename one, or make it static.",
    "cudaErrorIncompatibleDriverContext": (
        "The CUDA runtime cannot use the context that is current on this thread; make the primary context current."
    ),
    "cudaErrorMissingConfiguration": "A kernel was launched without a grid and block configuration.",
    "cudaErrorPriorLaunchFailure": "An earlier kernel failed; see its error.",
    "cudaErrorLaunchMaxDepthExceeded": "Kernels launched from kernels are nested too deeply.",
    "cudaErrorLaunchFileScopedTex": "A kernel launched from a kernel uses a file-scope texture; pass a texture object.",
    "cudaErrorLaunchFileScopedSurf": (
        "A kernel launched from a kernel uses a file-scope surface; pass a surface object."
    ),
    "cudaErrorSyncDepthExceeded": "Synchronization in nested kernels is deeper than the limit allows.",
    "cudaErrorLaunchPendingCountExceeded": (
        "Too many launches from kernels are pending; raise the limit for pending launches."
    ),
    "cudaErrorInvalidDeviceFunction": "The kernel was not compiled for this device, or is not in the loaded module.",
    "cudaErrorSoftwareValidityNotEstablished": (
        "The integrity of the software could not be established; reinstall the driver."
    ),
    "cudaErrorStartupFailure": "The CUDA runtime could not start; reinstall it, because its installation is corrupt.",
    "cudaErrorApiFailureBase": "A library returned its own error through the CUDA runtime.",
}
