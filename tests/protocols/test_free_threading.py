# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Threads that share one object with caches or counts. Without the GIL they run at the same time."""

import os

import numpy as np
import pytest

from cuda.core import (
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LegacyPinnedMemoryResource,
    Program,
    set_memory_resource,
)
from cuda.core.utils import StridedMemoryView
from support.interpreter import run
from support.threads import COUNT, run_in_threads

# Imports every module; prints their number, and the module that enabled the GIL, if any.
IMPORT_ALL = """
import importlib, pkgutil, sys, warnings
warnings.simplefilter("ignore")
import cuda.core
is_locked = getattr(sys, "_is_gil_enabled", lambda: True)
before, count, changed = is_locked(), 0, []
for module in pkgutil.walk_packages(cuda.core.__path__, "cuda.core."):
    if module.name.rpartition(".")[2] not in ("__main__", "autoinit", "autoprimaryctx"):
        importlib.import_module(module.name)
        count += 1
        if is_locked() != before:
            changed.append(module.name)
            break
print(count, changed)
"""


def test_no_module_enables_the_gil():
    environment = {"PYTHONSAFEPATH": "1"}
    assert "PYTHON_GIL" not in os.environ
    count, changed = run(IMPORT_ALL, **environment).strip().splitlines()[-1].split(" ", 1)
    assert int(count) > 150
    assert changed == "[]"


@pytest.mark.requires(device=True)
def test_memoryviews_of_many_threads_are_counted(device):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    part = buffer[8:24]

    def look(number):
        for _ in range(400):
            with memoryview(part if number % 2 else buffer) as view:
                assert len(view) in (16, 64)

    assert run_in_threads(look) == []
    buffer.close()  # BufferError if a view were still counted
    assert buffer.is_closed


@pytest.mark.requires(device=True)
def test_threads_slice_one_buffer(device):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    slices = [[] for _ in range(COUNT)]

    def take(number):
        slices[number] += [buffer[number : number + 8] for _ in range(50)]

    assert run_in_threads(take) == []
    assert all(part.size == 8 for own in slices for part in own)
    buffer.close()
    assert all(part.is_closed for own in slices for part in own)


def test_threads_read_the_cached_attributes_of_one_view():
    for _ in range(50):
        view = StridedMemoryView.from_any_interface(np.zeros((3, 5), np.int16), stream_ptr=-1)
        seen = [None] * COUNT

        def look(number, view=view, seen=seen):
            seen[number] = (view.shape, view.dtype, view._layout)

        assert run_in_threads(look) == []
        assert {(shape, dtype) for shape, dtype, _ in seen} == {((3, 5), np.dtype(np.int16))}
        assert len({id(layout) for _, _, layout in seen}) == 1


@pytest.mark.requires(device=True, source=True)
def test_threads_read_kernel_attributes_while_one_closes_it(device):
    code = Program('extern "C" __global__ void f() {}', "c++").compile("cubin")
    for _ in range(20):
        kernel = code.get_kernel("f")

        def use(number, kernel=kernel):
            for _ in range(20):
                if number:
                    assert repr(kernel.attributes) and repr(kernel.occupancy)
                else:
                    kernel.close()

        assert run_in_threads(use) == []
        assert kernel.is_closed


@pytest.mark.requires(device=True, nvrtc=True, cuda=(12, 4))
def test_threads_get_kernels_while_one_closes_the_code(device):
    compiled = Program('extern "C" __global__ void f() {}', "c++").compile("cubin")
    for _ in range(20):
        code = type(compiled).from_cubin(compiled.code)
        code.get_kernel("f")

        def use(number, code=code):
            for _ in range(20):
                if number:
                    try:
                        assert code.get_kernel("f").num_arguments == 0
                    except RuntimeError as error:  # closed
                        assert "closed" in str(error)
                else:
                    code.close()

        assert run_in_threads(use) == []
        assert code.is_closed


@pytest.mark.requires(device=True)
def test_threads_copy_a_buffer_while_one_closes_it(device, stream):
    for _ in range(20):
        buffer = LegacyPinnedMemoryResource().allocate(64)

        def use(number, buffer=buffer):
            Device().set_current()
            for _ in range(10):
                if number == 0:
                    buffer.close()
                    continue
                try:
                    copy = buffer.copy_to(stream=stream)
                except (RuntimeError, ValueError) as error:  # closed before or during the call
                    assert "closed" in str(error) or "no memory resource" in str(error)
                else:
                    assert copy.size == 64

        assert run_in_threads(use) == []
        assert buffer.memory_resource is None


@pytest.mark.requires(device=True)
def test_threads_allocate_while_others_replace_the_resource(device):
    resources = [LegacyPinnedMemoryResource() for _ in range(3)]
    set_memory_resource(resources[0])
    try:

        def use(number):
            own = Device()
            own.set_current()
            for turn in range(100):
                if number < 2:
                    set_memory_resource(resources[turn % 3], own if turn % 2 else None)
                else:
                    buffer = own.allocate(64, stream=own.default_stream)
                    assert buffer.memory_resource in resources
                    buffer.close()

        assert run_in_threads(use) == []
    finally:
        set_memory_resource(None)


@pytest.mark.requires(ipc=True)
def test_threads_close_a_descriptor_once(device):
    for _ in range(20):
        pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(ipc_enabled=True))
        handle = pool.allocation_handle
        reopened = []

        def close(number, handle=handle, reopened=reopened):
            handle.close()
            reopened.append(os.open(os.devnull, os.O_RDONLY))  # reuses the number, which must not be closed again

        assert run_in_threads(close) == []
        for descriptor in reopened:
            os.close(descriptor)  # OSError if another thread had closed it
        pool.close()


# Threads that start together use many parts of the package for the first time.
FIRST_USE = """
import numpy as np
import cuda.core
from support.threads import run_in_threads
from cuda.core import Device, LaunchConfig, Program, launch
from support.contract import binding_version
from cuda.core.utils import StridedMemoryView

codes = {}


def first(number):
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = codes.setdefault("code", Program('extern "C" __global__ void add(int* p, int n) { *p += n; }', "c++"))
    kernel = codes.setdefault("binary", code.compile("cubin")).get_kernel("add")
    memory = cuda.core.LegacyPinnedMemoryResource().allocate(4)
    values = np.from_dlpack(memory).view(np.int32)
    values[0] = number
    launch(stream, LaunchConfig(grid=1, block=1), kernel, memory, np.int32(1))
    stream.sync()
    assert values[0] == number + 1
    assert StridedMemoryView.from_any_interface(values, stream_ptr=-1).shape == (1,)
    assert len(binding_version()) == 3
    assert device.properties.max_threads_per_block >= 1024 and device.name
    array = device.create_opaque_array({"shape": (8, 8), "format": "float32", "num_channels": 1})
    array.close()
    device.allocate(64, stream=stream).close()
    with cuda.core.LoggingMemoryResource(cuda.core.LegacyPinnedMemoryResource()).allocate(8) as buffer:
        assert buffer.size == 8


print(run_in_threads(first))
"""


@pytest.mark.requires(device=True, nvrtc=True)
def test_threads_use_the_package_for_the_first_time_together(device):
    for _ in range(2):
        assert run(FIRST_USE).strip().splitlines()[-1] == "[]"
