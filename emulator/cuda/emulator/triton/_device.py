# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The functions of the driver that Triton needs, called in the library of the device."""

import ctypes
import functools
import threading

import cuda.emulator

_ATTRIBUTES = {
    "max_shared_mem": 97,
    "max_num_regs": 12,
    "multiprocessor_count": 16,
    "warpSize": 10,
    "sm_clock_rate": 13,
    "mem_clock_rate": 36,
    "mem_bus_width": 37,
}
_MAJOR, _MINOR = 75, 76
_ERROR_LOG, _ERROR_LOG_SIZE = 5, 6  # CU_JIT_ERROR_LOG_BUFFER and its size
_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_DEFAULT_SHARED = 49152
_REGISTERS = 32  # Triton computes with the number of registers of a kernel, which is not known here


_thread = threading.local()


def library():
    """Return the driver, with the primary context of the first device current in threads that had none."""
    try:
        return _thread.library
    except AttributeError:
        _thread.library = driver = ctypes.CDLL(cuda.emulator.library_path())
    context = ctypes.c_void_p()
    call("cuInit", 0)
    call("cuCtxGetCurrent", ctypes.byref(context))
    if not context:
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        call("cuCtxSetCurrent", context)
    return driver


def describe_error(code, what):
    name = ctypes.c_char_p()
    library().cuGetErrorName(code, ctypes.byref(name))
    return f"{what}: {(name.value or b'').decode() or code}"


def call(name, *arguments):
    """Call a function of the driver, and raise RuntimeError if it fails."""
    code = getattr(library(), name)(*arguments)
    if code:
        raise RuntimeError(describe_error(code, name))


def log_position():
    """Return the end of the log of failed calls."""
    position = ctypes.c_uint()
    library().cuLogsCurrent(ctypes.byref(position), 0)
    return position


def log_since(position):
    """Return the lines of the log after a position, each after a line end."""
    buffer, size = ctypes.create_string_buffer(25600), ctypes.c_size_t(25600)
    library().cuLogsDumpToMemory(ctypes.byref(position), buffer, ctypes.byref(size), 0)
    text = buffer.value.decode(errors="replace").strip()
    return f"\n{text}" if text else ""


class Allocation:
    """Memory of the device, whose bytes count as unwritten."""

    def __init__(self, size):
        self.pointer = ctypes.c_uint64()
        self.size = ctypes.c_size_t(size)
        call("cuMemAlloc_v2", ctypes.byref(self.pointer), self.size)

    def data_ptr(self):
        return self.pointer.value

    def clear(self):
        """Fill the memory with zeros, and return this object."""
        call("cuMemsetD8_v2", self.pointer, 0, self.size)
        return self

    def copy_to(self, address):
        """Copy the contents to host memory, by managed memory: a copy to the host of unwritten bytes is reported."""
        managed = ctypes.c_uint64()
        call("cuMemAllocManaged", ctypes.byref(managed), self.size, 1)
        try:
            call("cuMemcpyDtoD_v2", managed, self.pointer, self.size)
            call("cuCtxSynchronize")
            ctypes.memmove(address, managed.value, self.size.value)
        finally:
            library().cuMemFree_v2(managed)

    def __del__(self):
        library().cuMemFree_v2(self.pointer)


class TensorMap(ctypes.Structure):
    """A CUtensorMap."""

    _fields_ = (("words", ctypes.c_uint64 * 16),)
    _align_ = 64


class Device:
    """The ``utils`` of Triton's drivers, for the first device."""

    def allocate(self, size):
        return Allocation(size).clear()

    def _attribute(self, number):
        value = ctypes.c_int()
        call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
        return value.value

    def get_device_properties(self, device):
        return {name: self._attribute(number) for name, number in _ATTRIBUTES.items()}

    @functools.lru_cache(None)  # noqa: B019 (there is one device)
    def get_device_capability(self, device=0):
        return self._attribute(_MAJOR), self._attribute(_MINOR)

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        """Do nothing: there is one device."""

    def get_default_stream(self, device=0):
        return 0

    def is_stream_capturing(self, stream):
        return False

    def set_printf_fifo_size(self, size):
        """Do nothing: output of kernels has no limit."""

    def cuOccupancyMaxActiveClusters(self, function, shared, clusters):
        return self._attribute(_ATTRIBUTES["multiprocessor_count"])

    def load_binary(self, name, kernel, shared, device):
        """Load PTX, and return the library, the kernel, and its numbers of registers, spills and threads."""
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(_ERROR_LOG, _ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        code = library().cuLibraryLoadData(ctypes.byref(module), kernel + b"\0", options, values, 2, None, None, 0)
        if code:
            reason = log.value.decode(errors="replace").strip()
            raise RuntimeError(describe_error(code, f"loading the kernel {name}") + (f"\n{reason}" if reason else ""))
        call("cuLibraryGetKernel", ctypes.byref(function), module, name.encode())
        if shared > _DEFAULT_SHARED:
            call("cuKernelSetAttribute", _DYNAMIC_SHARED, shared, function, 0)
        return module, function, _REGISTERS, 0, 1024

    def unload_module(self, module):
        library().cuLibraryUnload(module)

    def fill_tma_descriptor_tiled(self, address, swizzle, item, kind, block, shape, strides, padding):
        count = len(block)
        tensor_map = TensorMap()
        call(
            "cuTensorMapEncodeTiled", ctypes.byref(tensor_map), kind, count, ctypes.c_void_p(address),
            (ctypes.c_uint64 * count)(*reversed(shape)),
            (ctypes.c_uint64 * count)(*(item * stride for stride in list(reversed(strides))[1:])),
            (ctypes.c_uint32 * count)(*reversed(block)), (ctypes.c_uint32 * count)(*[1] * count),
            0, swizzle, 2, padding,
        )  # fmt: skip
        return tensor_map
