# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory of arrays: the pool of a context, when memory is freed and reused, and how it is shared."""

import gc
import threading

import numpy as np
import pytest

import cuda.core.driver as drv
import cuda.emulator
from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, Device
from cuda.core._memory._memory_pool import allocate_as
from cuda.core.driver import _array_memory as _array_memory
from cuda.core.driver import compiler, curandom, gpuarray
from cuda.core.driver._array_memory import ResultAllocation, SharedAllocation
from cuda.core.driver.reduction import ReductionKernel
from support.internals import has_pending_destructions
from support.threads import run_in_threads
from support.work import busy

pytestmark = [pytest.mark.requires(mempool=True), pytest.mark.usefixtures("context")]


@pytest.fixture
def array():
    return gpuarray.to_gpu(np.arange(1000, dtype=np.float32))


def kind_of(array):
    """Return the class of an array's memory. Reading gpudata would share the memory, which changes its class."""
    return type(array._owner)


def test_results_come_from_a_pool_of_the_context(array):
    results = [
        array + array, 2 * array, -array, array[::2] + 1, array.copy(), array.astype(np.int32), array.reverse(),
        gpuarray.sum(array), gpuarray.maximum(array, 3), gpuarray.concatenate([array, array]), array.sum(axis=0),
    ]  # fmt: skip
    generators = curandom.XORWOWRandomNumberGenerator()
    results += [curandom.rand(10), generators.gen_uniform(10, "f4"), generators.gen_poisson(10, "u4", 2.0)]
    results.append(ReductionKernel("f4", "0", "a+b")(array))
    assert {kind_of(result) for result in results} == {ResultAllocation}
    assert {result.allocator for result in results} == {drv.mem_alloc}
    pool = results[0]._owner.memory_resource
    assert pool.context() is drv.Context.get_current() and pool.attributes.release_threshold == 2**64 - 1


def test_only_results_are_allocated_from_the_pool(array):
    made = [array, gpuarray.empty(3, "f4"), gpuarray.zeros(3, "f4"), gpuarray.arange(4, dtype="f4")]
    made += [gpuarray.empty_like(array + 1), gpuarray.zeros_like(array + 1), np.empty_like(array + 1)]
    assert {kind_of(item) for item in made} == {ResultAllocation}
    assert not any(_array_memory.is_of_pool(item._owner) for item in made)
    theirs = gpuarray.empty(3, "f4", allocator=lambda size: drv.mem_alloc(size))
    assert kind_of(theirs) is drv.DeviceAllocation


@pytest.fixture
def keeping(monkeypatch):
    """A context that keeps freed memory of its arrays for the next ones, as it does on hardware."""
    monkeypatch.setattr(_array_memory, "checks_memory", lambda: False)
    monkeypatch.setattr(_array_memory._ArrayMemory, "_idle", {})
    context = drv.Device(0).make_context()
    yield context
    context.detach()
    for memory in _array_memory._ArrayMemory._idle[0]:
        _array_memory._memories.remove(memory)


def test_memory_of_freed_arrays_is_reused(keeping):
    first = gpuarray.zeros(1000, "f4")
    memory, address = first._owner.memory_resource, first._address
    assert memory.max_cached_bytes == drv.Device(0).total_memory() // 16
    first = None
    assert memory.held == memory.cached_bytes == 4096
    drv.Context.synchronize()
    second = gpuarray.to_gpu(np.arange(990, dtype="f4"))
    assert second._address == address and memory.held == 0 and memory.hit_count == 1
    assert (second.get() == np.arange(990)).all()
    kernel = compiler.SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }").get_function("twice")
    kernel(second.gpudata, block=(990, 1, 1))
    drv.Context.synchronize()  # memory whose address a kernel got is reused after all work
    second = None
    third = gpuarray.empty((10, 100), "f4")
    assert third._address == address and kind_of(third) is ResultAllocation
    third = None
    assert _array_memory.release_held(0) and memory.held == 0


def test_memory_in_use_by_a_stream_is_not_reused(keeping):
    gpuarray.zeros(1000, "f4").fill(1)  # loads the kernels now: loading may wait for running work
    alone = drv.Stream(drv.stream_flags.NON_BLOCKING)
    host = drv.pagelocked_zeros(1000, "f4")
    drv.Context.synchronize()
    with busy(LEGACY_DEFAULT_STREAM) as release:
        gpuarray.empty(1000, "f4").fill(7)
        second = gpuarray.empty(1000, "f4")
        drv.memcpy_htod_async(second.gpudata, host, alone)
        alone.synchronize()
        release()
    assert (second.get() == 0).all()


@pytest.mark.requires(software=True)
def test_kept_memory_is_freed_when_an_allocation_finds_none(keeping):
    memory = gpuarray.empty(1 << 20, "f4")._owner.memory_resource
    assert memory.held == 4 << 20
    with cuda.emulator.fail("cuMemAlloc_v2", nth=1) as plan:
        large = gpuarray.empty(3 << 20, "f4")
    assert plan.fired == 1 and large._owner.size == 12 << 20
    assert large._owner.memory_resource is memory
    assert memory.held == 0, f"{plan.matched} calls while these threads ran: {threading.enumerate()}"
    with pytest.raises(drv.MemoryError, match="cuMemAlloc failed: out of memory"):
        gpuarray.empty(1 << 62, np.int8)


def test_memory_that_a_blocking_stream_still_uses_is_not_reused(array):
    kernel = compiler.SourceModule("__global__ void put(float *x) { x[threadIdx.x] = 7; }").get_function("put")
    first, second = drv.Stream(), drv.Stream()
    gpuarray.maximum(array + 1, 3, stream=second)  # loads the kernels now: loading may wait for running work
    kernel(array + 1, block=(1000, 1, 1), stream=first)
    drv.Context.synchronize()
    result = array + 1
    with busy(first) as release:
        kernel(result, block=(1000, 1, 1), stream=first)
        threading.Timer(0.05, release).start()
        result = None
        other = gpuarray.maximum(array, 3, stream=second)
        second.synchronize()
        release()
        first.synchronize()
    assert (other.get() == np.maximum(np.arange(1000), 3)).all()


def test_results_use_the_allocator_of_their_operands(array):
    sizes = []

    def allocate(size):
        sizes.append(size)
        return drv.mem_alloc(size)

    mine = gpuarray.to_gpu(array.get(), allocator=allocate)
    result = mine + mine
    assert sizes == [4000, 4000] and kind_of(result) is drv.DeviceAllocation and result.allocator is allocate


def test_memory_of_freed_results_is_reused(array):
    pool = (array + 1)._owner.memory_resource
    held = pool.attributes.reserved_mem_current
    hits = pool.hit_count
    for _ in range(50):
        array = array + 1
    # Each result reuses the memory of the one before the last, so two allocations serve all.
    assert pool.hit_count == hits + 49 and pool.upstream.allocation_count <= 2
    assert pool.attributes.reserved_mem_current == held > 0 and pool.held >= pool.cached_bytes > 0
    assert (array.get() == np.arange(1000) + 50).all()


def test_pool_keeps_at_most_a_sixteenth_of_the_memory(array):
    pool, total = (array + 1)._owner.memory_resource, drv.Context.get_device().total_memory()
    assert pool.max_cached_bytes == total // 16
    large = gpuarray.empty(total // 16 + 1, np.uint8)
    kept = pool.cached_bytes
    result = -large
    del result
    # If the allocation of the result found no memory, it freed the cached blocks of the pool.
    assert pool.cached_bytes <= kept and pool.held >= total // 16
    _array_memory.release_held(0)
    assert pool.cached_bytes == 0


def test_gpudata_of_a_result_is_an_ordinary_allocation(array):
    result = array + 1
    memory = result.gpudata
    assert isinstance(memory, drv.DeviceAllocation) and isinstance(memory, Buffer)
    assert int(memory) == result.ptr == memory.__index__() and len(memory) == 4000
    assert (drv.from_device(memory, 1000, "f4") == np.arange(1000) + 1).all()
    assert memory._context is drv.Context.get_current()
    memory.free()
    with pytest.raises(drv.LogicError, match="freed"):
        memory.free()
    with pytest.raises(drv.LogicError, match="freed"):
        result + 1


@pytest.mark.parametrize(
    "look",
    [
        lambda array: array.gpudata,
        lambda array: array.ptr,
        lambda array: array.__cuda_array_interface__,
        lambda array: array.__dlpack__(),
        lambda array: array[10:].gpudata,
        lambda array: drv.memset_d8(array.gpudata, 0, 4),
    ],
)
def test_memory_whose_address_was_read_is_freed_after_all_work(array, look):
    result = array + 1
    assert kind_of(result) is ResultAllocation
    look(result)
    assert kind_of(result) is SharedAllocation
    gc.collect()
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    drv.Context.synchronize()
    with busy(stream) as release:
        result = None  # this does not wait
        assert has_pending_destructions()
        release()
        stream.synchronize()
    drv.Context.synchronize()
    assert not has_pending_destructions()


def test_unshared_memory_is_freed_in_stream_order(array):
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    result = (array + 1) * 2  # loads the kernels now: loading may wait for running work
    drv.Context.synchronize()
    with busy(stream):
        result = result * 2
        result = None
        assert not stream.is_done()
    stream.synchronize()


def test_freeing_shared_memory_waits_for_all_work(array):
    result = array + 1
    memory = result.gpudata
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    with busy(stream) as release:
        threading.Timer(0.02, release).start()
        memory.free()
        assert stream.is_done()


@pytest.mark.parametrize(
    "use",
    [
        lambda array, stream: array.get_async(stream=stream),
        lambda array, stream: array.set_async(np.zeros(1000, "f4"), stream=stream),
        lambda array, stream: array.fill(3, stream=stream),
        lambda array, stream: array.astype("i4", stream=stream),
        lambda array, stream: gpuarray.sum(array, stream=stream),
        lambda array, stream: gpuarray.maximum(array, 3, stream=stream),
        lambda array, stream: gpuarray.take(array, gpuarray.zeros(3, "i4"), stream=stream),
    ],
)
def test_using_an_array_on_another_stream_shares_its_memory(array, use):
    for stream in (drv.Stream(), drv.Stream(drv.stream_flags.NON_BLOCKING)):
        result = array + 1
        assert kind_of(result) is ResultAllocation
        use(result, stream)
        assert kind_of(result) is SharedAllocation
        stream.synchronize()


def test_kernel_on_another_stream_shares_memory_of_its_arguments(array):
    kernel = compiler.SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }").get_function("twice")
    result = array + 1
    kernel(result, block=(1000, 1, 1))
    assert kind_of(result) is ResultAllocation
    alone = drv.Stream(drv.stream_flags.NON_BLOCKING)
    kernel(result, block=(1000, 1, 1), stream=alone)
    assert kind_of(result) is SharedAllocation
    alone.synchronize()
    assert (result.get() == 4 * (np.arange(1000) + 1)).all()


def test_nonblocking_stream_waits_for_its_operand(array):
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    gpuarray.maximum(array + 1, 10, stream=stream)  # loads the kernels now: loading may wait for running work
    drv.Context.synchronize()
    with busy(LEGACY_DEFAULT_STREAM) as release:
        result = array + 1
        doubled = gpuarray.maximum(result, 10, stream=stream)
        release()
        stream.synchronize()
    host = np.empty(1000, "f4")
    drv.memcpy_dtoh(host, doubled.gpudata)
    assert (host == np.maximum(np.arange(1000) + 1, 10)).all()


def test_sharing_memory_keeps_other_captures_valid(array):
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    builder = stream.create_graph_builder().begin_building(mode="relaxed")
    result = array + 1
    result.gpudata  # noqa: B018
    result.fill(0, stream=drv.Stream(drv.stream_flags.NON_BLOCKING))
    result = None
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert (array.get() == np.arange(1000)).all()


def test_results_end_with_their_context():
    mine = drv.Device(0).make_context()
    result = gpuarray.to_gpu(np.ones(1000, "f4")) + 1
    shared = result + 1
    memory, pool = shared.gpudata, result._owner.memory_resource
    mine.detach()
    assert memory.is_closed and mine.take_result is None
    assert pool.upstream.allocation_count == 0 and pool.attributes.used_mem_current == 0
    for array in (result, shared):
        with pytest.raises(drv.LogicError, match="freed"):
            array.get()
    assert (gpuarray.to_gpu(np.ones(3, "f4")) + 1).get().tolist() == [2, 2, 2]


def next_pool():
    """Return a new context, and the pool of its results."""
    context = drv.Device(0).make_context()
    return context, (gpuarray.to_gpu(np.ones(3, "f4")) + 1)._owner.memory_resource


def test_pool_of_a_context_that_ended_is_reused_by_the_next(monkeypatch):
    monkeypatch.setattr(_array_memory._ResultPool, "_idle", {})  # without those of contexts of earlier tests
    mine, pool = next_pool()
    mine.detach()
    other, again = next_pool()
    assert again is pool and pool.context() is other
    # A context that becomes unreachable also returns its pool.
    drv.Context.pop()
    del other
    gc.collect()
    last, again = next_pool()
    assert again is pool and pool.context() is last
    last.detach()
    assert _array_memory._ResultPool._idle == {0: [pool]}
    _array_memory._memories.remove(pool)


def test_results_of_two_contexts_have_two_pools(array):
    first = array + 1
    other = drv.Device(0).make_context()
    second = array + first
    assert first._owner.memory_resource is not second._owner.memory_resource
    other.detach()
    with pytest.raises(drv.LogicError, match="freed"):
        second.get()
    assert (first.get() == np.arange(1000) + 1).all()


@pytest.mark.requires(software=True)  # on hardware, other processes also use the device
def test_cached_memory_counts_as_free_and_is_reclaimed(array):
    big = gpuarray.zeros(1 << 20, np.float64) + 1
    pool = big._owner.memory_resource
    before, total = drv.mem_get_info()
    big = None
    drv.Context.synchronize()
    assert pool.attributes.reserved_mem_current >= 8 << 20
    assert drv.mem_get_info()[0] >= before + (8 << 20) and drv.mem_get_info()[1] == total
    with cuda.emulator.fail("cuMemAlloc_v2", nth=1) as plan:
        memory = drv.mem_alloc(100)
    assert plan.fired == 1 and plan.matched == 2 and pool.attributes.reserved_mem_current < 8 << 20
    memory.free()


def test_result_that_does_not_fit_in_memory_raises_memory_error(array):
    (array + 1).get()
    huge = drv.Device(0).total_memory() * 16
    with pytest.raises(drv.MemoryError, match="out of memory"):
        array._new((huge,), np.dtype(np.uint8))
    with pytest.raises(ValueError, match="more than"):
        array._new((2**63,), np.dtype(np.uint8))
    assert (array + 1).get()[0] == 1


def test_other_failures_of_the_pool_raise_the_classic_errors(array):
    pool = (array + 1)._owner.memory_resource
    with pytest.raises(drv.LogicError, match="invalid argument"):
        _array_memory.take_again(pool, 4, drv.Error("cuMemAllocFromPoolAsync failed: invalid argument", code=1))


def test_device_without_pools_allocates_results_with_mem_alloc(array, monkeypatch):
    monkeypatch.setattr(drv.Device, "get_attribute", lambda self, attribute: 0)
    other = drv.Device(0).retain_primary_context()
    other.push()
    result = _array_memory.take_result(other, 64)
    assert type(result) is drv.DeviceAllocation
    other.detach()


def test_results_have_no_ipc_handle(array):
    with pytest.raises(drv.LogicError, match="cuIpcGetMemHandle failed: invalid argument - pool memory"):
        drv.mem_get_ipc_handle((array + 1).gpudata)


def test_pool_allocates_only_subclasses_of_buffer(array):
    pool = (array + 1)._owner.memory_resource
    with pytest.raises(TypeError, match="subclass of Buffer"):
        allocate_as(int, pool.upstream)


@pytest.mark.requires(devices=2)
def test_peer_access_includes_the_pool_of_results(array):
    mine = drv.Context.get_current()
    early = array + 1
    if not drv.Device(1).can_access_peer(drv.Device(0)):
        assert set(early._owner.memory_resource.upstream.peer_accessible_by) == set()
        return
    other = drv.Device(1).make_context()
    drv.Context.enable_peer_access(mine)
    assert set(early._owner.memory_resource.upstream.peer_accessible_by) == {Device(1)}
    drv.Context.disable_peer_access(mine)
    assert set(early._owner.memory_resource.upstream.peer_accessible_by) == set()
    other.detach()


def test_threads_free_and_make_results(array):
    mine = drv.Context.get_current()

    def work(_):
        mine.push()
        try:
            for number in range(100):
                result = array + number
                if number % 3 == 0:
                    result.gpudata  # noqa: B018
                assert result.get()[7] == 7 + number
        finally:
            mine.pop()

    assert run_in_threads(work) == []
    assert array._owner.is_closed is False


def test_detaching_a_context_in_use_raises_errors_only():
    unexpected = []
    for pause in range(6):
        mine = drv.Device(0).make_context()
        drv.Context.pop()

        def use(mine=mine):
            try:
                mine.push()
                array = gpuarray.to_gpu(np.ones(500, "f4"))
                for _ in range(200):
                    array = array + 1
                    float(gpuarray.sum(array).get())
                drv.Context.pop()
            except drv.LogicError as error:
                if isinstance(error, drv.LaunchError):
                    unexpected.append(error)
            except BaseException as error:
                unexpected.append(error)

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        threads[0].join(0.002 * pause)
        mine.detach()
        for thread in threads:
            thread.join()
    assert unexpected == []
    assert (gpuarray.to_gpu(np.ones(3, "f4")) + 1).get().tolist() == [2, 2, 2]
