# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A fake driver for virtual memory that records reservations and mappings, and fails at a chosen call."""

from __future__ import annotations

import threading
import types

from cuda.bindings import driver as bindings

from cuda.core._memory._virtual_memory_resource import VirtualMemoryResource, VirtualMemoryResourceOptions

GRANULARITY = 1 << 21
SUCCESS = bindings.CUresult.CUDA_SUCCESS


class VirtualDriver:
    """Replaces ``cuda.bindings.driver``; its dicts have what is reserved, created and mapped."""

    def __init__(self):
        self.reserved = {}
        self.memory = {}  # the count of handles and mappings that refer to each allocation
        self.mapped = {}
        self.access = {}
        self.calls = 0
        self.fail_at = None
        self.honours_hints = True
        self._next = 0x10_0000_0000

    def __getattr__(self, name):
        return getattr(bindings, name)

    @property
    def is_empty(self) -> bool:
        """Whether everything was freed, released and unmapped."""
        return not (self.reserved or self.memory or self.mapped)

    def _result(self, *values):
        self.calls += 1
        return (SUCCESS, *values)

    def _fails(self) -> bool:
        if self.calls + 1 == self.fail_at:
            self.calls += 1
            return True
        return False

    def _refuse(self, count):
        return (bindings.CUresult.CUDA_ERROR_OUT_OF_MEMORY, *[None] * count)

    def cuMemGetAllocationGranularity(self, properties, kind):
        return self._refuse(1) if self._fails() else self._result(GRANULARITY)

    def cuMemAddressReserve(self, size, align, hint, flags):
        if self._fails():
            return self._refuse(1)
        address = hint if hint and self.honours_hints else self._next
        self._next = max(self._next, address + size) + GRANULARITY * 64
        self.reserved[address] = size
        return self._result(bindings.CUdeviceptr(address))

    def cuMemAddressFree(self, address, size):
        assert self.reserved.pop(int(address)) == size
        return (SUCCESS,)

    def cuMemCreate(self, size, properties, flags):
        if self._fails():
            return self._refuse(1)
        handle = len(self.memory) + 1000 * (self.calls + 1)
        self.memory[handle] = 1
        return self._result(handle)

    def cuMemRetainAllocationHandle(self, address):
        if self._fails():
            return self._refuse(1)
        handle = self.mapped[int(address)][1]
        self.memory[handle] += 1
        return self._result(handle)

    def cuMemRelease(self, handle):
        self.memory[handle] -= 1
        if not self.memory[handle]:
            del self.memory[handle]
        return (SUCCESS,)

    def cuMemMap(self, address, size, offset, handle, flags):
        if self._fails():
            return self._refuse(0)
        self.mapped[int(address)] = (size, handle)
        self.memory[handle] += 1
        return self._result()

    def cuMemUnmap(self, address, size):
        length, handle = self.mapped.pop(int(address))
        assert length == size
        return self.cuMemRelease(handle)

    def cuMemSetAccess(self, address, size, descriptions, count):
        if self._fails():
            return self._refuse(0)
        assert self.mapped[int(address)][0] == size
        self.access[int(address)] = {item.location.id: int(item.flags) for item in descriptions}
        return self._result()


class DetachedResource(VirtualMemoryResource):
    """A resource on a :class:`VirtualDriver`: its frees wait for no stream, because there is none."""

    is_device_accessible = False

    def __init__(self, config=None, **properties):
        self._owner = Owner(properties)
        self._blocks = {}
        self._lock = threading.Lock()
        self.config = config or VirtualMemoryResourceOptions()
        self._check_support()

    def deallocate(self, ptr, size, *, stream=None):
        super().deallocate(ptr, size)


class Owner:
    """A fake of device 0 with chosen properties."""

    def __init__(self, properties):
        self.properties = types.SimpleNamespace(
            **{
                "virtual_memory_management_supported": True,
                "gpu_direct_rdma_with_cuda_vmm_supported": False,
                "host_numa_id": 0,
                **properties,
            }
        )

    def __int__(self):
        return 0
