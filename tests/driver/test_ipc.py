# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory and events that another process opens."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from support.interpreter import run

pytestmark = [pytest.mark.usefixtures("context"), pytest.mark.requires(ipc=True)]


def test_another_process_reads_and_writes_memory():
    memory = drv.to_device(np.arange(8, dtype=np.int32))
    handle = drv.mem_get_ipc_handle(memory)
    assert isinstance(handle, bytearray) and len(handle) == 64
    code = (
        "import numpy as np, cuda.core.driver as drv, cuda.core.driver.autoinit\n"
        f"other = drv.IPCMemoryHandle(bytes({list(handle)}))\n"
        "print(drv.from_device(other, 8, np.int32).tolist())\n"
        "drv.memcpy_htod(int(other) + 4, np.array([77], np.int32))\n"
        "other.close()\n"
        "for use in (other.close, other.get_pointer):\n"
        "    try: use()\n"
        "    except drv.LogicError as error: print('closed' in str(error))\n"
    )
    assert run(code).splitlines() == [str(list(range(8))), "True", "True"]
    assert drv.from_device(memory, 8, np.int32)[1] == 77


def test_memory_opened_twice_is_closed_twice():
    memory = drv.to_device(np.arange(8, dtype=np.int32))
    drv.to_device(np.zeros(3000, np.int32))
    handle = drv.mem_get_ipc_handle(memory)
    assert drv.mem_get_ipc_handle(memory) == handle
    code = (
        "import numpy as np, cuda.core.driver as drv, cuda.core.driver.autoinit\n"
        "from cuda.core.driver.compiler import SourceModule\n"
        f"handle = bytes({list(handle)})\n"
        "first, second = drv.IPCMemoryHandle(handle), drv.IPCMemoryHandle(handle)\n"
        "print(int(first) == int(second))\n"
        "second.close()\n"
        "twice = SourceModule('__global__ void twice(int *x) { x[threadIdx.x] *= 2; }').get_function('twice')\n"
        "twice(first, block=(8, 1, 1))\n"
        "drv.memcpy_dtod(int(first) + 16, first, 16)\n"
        "drv.Context.synchronize()\n"
        "first.close()\n"
        "third = drv.IPCMemoryHandle(handle)\n"
        "print(drv.from_device(third, 8, np.int32).tolist())\n"
        "drv.autoinit.context.detach()\n"
        "try: third.get_pointer()\n"
        "except drv.LogicError as error: print('closed' in str(error))\n"
    )
    result = [0, 2, 4, 6, 0, 2, 4, 6]
    assert run(code).splitlines() == ["True", str(result), "True"]
    assert drv.from_device(memory, 8, np.int32).tolist() == result


def test_memory_of_arrays_is_opened_by_other_processes():
    array = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
    handle = drv.mem_get_ipc_handle(array.gpudata)
    code = (
        "import numpy as np, cuda.core.driver as drv, cuda.core.driver.autoinit\n"
        "from cuda.core.driver import gpuarray\n"
        f"other = drv.IPCMemoryHandle(bytes({list(handle)}))\n"
        "array = gpuarray.GPUArray((1000,), np.float32, gpudata=other)\n"
        "array += 1\n"
        "print(float(gpuarray.sum(array).get()))\n"
        "other.close()\n"
    )
    assert run(code) == f"{1000 * 1001 / 2}\n"
    assert (array.get() == np.arange(1000) + 1).all()


def test_handles_of_freed_memory_are_rejected():
    memory = drv.mem_alloc(4 << 20)
    handle = drv.mem_get_ipc_handle(memory)
    memory.free()
    with pytest.raises(drv.LogicError, match="freed"):
        drv.mem_get_ipc_handle(memory)
    code = (
        "import cuda.core.driver as drv, cuda.core.driver.autoinit\n"
        f"try: drv.IPCMemoryHandle(bytes({list(handle)}))\n"
        "except drv.LogicError as error: print('cuIpcOpenMemHandle failed' in str(error))\n"
    )
    assert run(code) == "True\n"


def test_local_and_host_memory_are_rejected():
    memory = drv.mem_alloc(100)
    handle = drv.mem_get_ipc_handle(memory)
    with pytest.raises(drv.LogicError, match="cuIpcOpenMemHandle failed"):
        drv.IPCMemoryHandle(handle)
    with pytest.raises(drv.LogicError, match="cuIpcGetMemHandle failed"):
        drv.mem_get_ipc_handle(drv.mem_host_alloc(100))
    with pytest.raises(drv.LogicError, match="cuIpcGetMemHandle failed"):
        drv.mem_get_ipc_handle(12345)
    with pytest.raises(drv.LogicError, match="cuIpcOpenMemHandle failed"):
        drv.IPCMemoryHandle(handle, flags=6)
    with pytest.raises(TypeError, match="flags must be an int"):
        drv.IPCMemoryHandle(handle, flags="lazy")
    with pytest.raises(TypeError, match="handle must be bytes, not int"):
        drv.IPCMemoryHandle(5)


@pytest.mark.parametrize("handle", [b"", bytes(63), bytearray(65)])
def test_handles_have_64_bytes(handle):
    with pytest.raises(drv.LogicError, match=f"handle must have 64 bytes, not {len(handle)}"):
        drv.IPCMemoryHandle(handle)
    with pytest.raises(drv.LogicError, match="handle must have 64 bytes"):
        drv.Event.from_ipc_handle(handle)


def test_handle_of_zeros_is_rejected():
    with pytest.raises(drv.LogicError, match="cuIpcOpenMemHandle failed"):
        drv.IPCMemoryHandle(bytes(64))


def test_another_process_waits_for_an_event():
    flags = drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING
    event = drv.Event(flags)
    handle = event.ipc_handle()
    assert isinstance(handle, bytearray) and len(handle) == 64
    assert event.record().synchronize().query()
    code = (
        "import cuda.core.driver as drv, cuda.core.driver.autoinit\n"
        f"event = drv.Event.from_ipc_handle(bytes({list(handle)}))\n"
        "stream = drv.Stream(); stream.wait_for_event(event); stream.synchronize()\n"
        "print(event.synchronize().query())\n"
    )
    assert run(code) == "True\n"
    event.record(drv.Stream()).synchronize()


def test_events_not_for_other_processes_have_no_handle():
    with pytest.raises(drv.LogicError, match="INTERPROCESS"):
        drv.Event().ipc_handle()
    with pytest.raises(drv.LogicError, match="cuEventCreate failed"):
        drv.Event(drv.event_flags.INTERPROCESS)
