# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""launch and bound kernels: arguments rejected before any driver call, and launches on a device."""

import ctypes
import inspect
import struct
import threading
import weakref

import numpy as np
import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, CUDAError, Kernel, LaunchConfig, ObjectCode, launch
from cuda.core.utils import kernel as source_kernel
from support.kernels import HostMemory, compiled
from support.threads import COUNT, in_thread, run_in_threads

ONE = LaunchConfig(grid=1, block=1)


class ForeignStream:
    """A stream of another library."""

    def __init__(self, stream):
        self.address = int(stream.handle)

    def __cuda_stream__(self):
        return (0, self.address)


@pytest.fixture
def closed_kernel():
    return Kernel.__new__(Kernel)


# --- rejected before any driver call; no device is needed ---


def test_launch_shows_its_signature():
    assert str(inspect.signature(launch)) == "(stream, config, kernel, *kernel_args, **named_args)"
    assert launch.__doc__.startswith("Launch a kernel: enqueue it on a stream")
    assert (launch.__name__, launch.__module__) == ("launch", "cuda.core._launcher")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_three_arguments_are_required(closed_kernel, count):
    with pytest.raises(TypeError, match=r"launch\(\)"):
        launch(*(LEGACY_DEFAULT_STREAM, ONE, closed_kernel)[:count])


@pytest.mark.parametrize("other", [None, 0, "stream", object()], ids=lambda other: type(other).__name__)
def test_other_types_than_streams_are_rejected(closed_kernel, other):
    with pytest.raises(TypeError, match="stream must be"):
        launch(other, ONE, closed_kernel)


@pytest.mark.parametrize("config", [None, 1, (1, 1)], ids=repr)
def test_other_types_than_configs_are_rejected(closed_kernel, config):
    with pytest.raises(TypeError, match="config must be a LaunchConfig or a dict"):
        launch(LEGACY_DEFAULT_STREAM, config, closed_kernel)


def test_config_of_unknown_fields_is_rejected(closed_kernel):
    with pytest.raises(TypeError, match="threads"):
        launch(LEGACY_DEFAULT_STREAM, {"grid": 1, "threads": 1}, closed_kernel)


@pytest.mark.parametrize("kernel", [None, 0, "kernel", len], ids=repr)
def test_other_types_than_kernels_are_rejected(kernel):
    with pytest.raises(TypeError, match="kernel"):
        launch(LEGACY_DEFAULT_STREAM, ONE, kernel)


def test_keywords_for_a_closed_kernel_are_rejected(closed_kernel):
    with pytest.raises(RuntimeError, match="closed"):
        launch(LEGACY_DEFAULT_STREAM, ONE, closed_kernel, block=3)


def test_closed_kernel_is_rejected(closed_kernel):
    with pytest.raises(RuntimeError, match="closed"):
        launch(LEGACY_DEFAULT_STREAM, ONE, closed_kernel)


def test_bound_kernels_are_not_constructed(kernels):
    BoundKernel = type(kernels.get_kernel("sizes").bind(ONE, stream=LEGACY_DEFAULT_STREAM))
    with pytest.raises(RuntimeError, match=r"Kernel\.bind"):
        BoundKernel()
    with pytest.raises(RuntimeError, match="has no kernel"):
        BoundKernel.__new__(BoundKernel)()


# --- arguments as kernels receive them ---

STRUCT = "struct point { float x, y; int tag; }; struct large { char content[700]; };"
TYPES = {
    "bool_": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
    "complex64": "float2",
    "complex128": "double2",
    "pointer": "void*",
    "point": "point",
    "large": "large",
}
ECHO = STRUCT + "".join(
    f'extern "C" __global__ void echo_{name}({type_} value, {type_}* out) {{ *out = value; }}'
    for name, type_ in TYPES.items()
)


class Point(ctypes.Structure):
    _fields_ = (("x", ctypes.c_float), ("y", ctypes.c_float), ("tag", ctypes.c_int))


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("bool_", True, b"\1"),
        ("bool_", np.bool_(True), b"\1"),
        ("bool_", ctypes.c_bool(True), b"\1"),
        ("int8", -5, struct.pack("b", -5)),
        ("int8", np.int8(-5), struct.pack("b", -5)),
        ("uint8", 200, b"\xc8"),
        ("uint8", ctypes.c_uint8(200), b"\xc8"),
        ("int16", np.int16(-300), struct.pack("h", -300)),
        ("uint16", 60000, struct.pack("H", 60000)),
        ("uint16", np.int8(5), struct.pack("H", 5)),
        ("int32", -7, struct.pack("i", -7)),
        ("int32", np.int32(-7), struct.pack("i", -7)),
        ("int32", np.uint64(7), struct.pack("i", 7)),
        ("int32", True, struct.pack("i", 1)),
        ("uint32", 2**32 - 1, struct.pack("I", 2**32 - 1)),
        ("uint32", ctypes.c_uint32(2**32 - 1), struct.pack("I", 2**32 - 1)),
        ("int64", -(2**63), struct.pack("q", -(2**63))),
        ("int64", np.int32(-7), struct.pack("q", -7)),
        ("uint64", 2**64 - 1, struct.pack("Q", 2**64 - 1)),
        ("uint64", np.uint64(2**64 - 1), struct.pack("Q", 2**64 - 1)),
        ("float32", np.float32(1.1), struct.pack("f", 1.1)),
        ("float32", ctypes.c_float(1.1), struct.pack("f", 1.1)),
        ("float64", 1.1, struct.pack("d", 1.1)),
        ("float64", np.float64(1.1), struct.pack("d", 1.1)),
        ("float64", ctypes.c_double(1.1), struct.pack("d", 1.1)),
        ("complex64", np.complex64(1 - 2j), struct.pack("ff", 1, -2)),
        ("complex128", 1 - 2j, struct.pack("dd", 1, -2)),
        ("complex128", np.complex128(1 - 2j), struct.pack("dd", 1, -2)),
        ("pointer", None, bytes(8)),
        ("pointer", 0x7F00_1234_5678, struct.pack("Q", 0x7F00_1234_5678)),
        ("pointer", Buffer.from_handle(0x7F00_1234_5600, 8), struct.pack("Q", 0x7F00_1234_5600)),
        ("point", Point(1, 2, 3), struct.pack("ffi", 1, 2, 3)),
        ("point", struct.pack("ffi", 1, 2, 3), struct.pack("ffi", 1, 2, 3)),
        ("point", np.array([(1, 2, 3)], "f4,f4,i4")[0], struct.pack("ffi", 1, 2, 3)),
        ("large", bytes(range(250)) * 2 + bytes(200), bytes(range(250)) * 2 + bytes(200)),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_kernels_receive_the_argument(stream, name, argument, expected):
    kernel = compiled(ECHO).get_kernel(f"echo_{name}")
    memory = HostMemory(1024)
    launch(stream, ONE, kernel, argument, memory.buffer)
    stream.sync()
    assert bytes(memory)[: len(expected)] == expected
    assert not any(bytes(memory)[len(expected) :])


SUM = """
extern "C" __global__ void nothing() {}
extern "C" __global__ void add(int* total, int value) { atomicAdd_system(total, value); }
extern "C" __global__ void store(int* out, int index, int value) { out[index] = value; }
extern "C" __global__ void sizes(unsigned* out) {
    if (threadIdx.x || threadIdx.y || threadIdx.z || blockIdx.x || blockIdx.y || blockIdx.z) return;
    out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z;
    out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out[6]));
}
extern "C" __global__ void clusters(unsigned* out) {
    unsigned width, count;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(width));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
    if (blockIdx.x == 0) { out[0] = width; out[1] = count; out[2] = gridDim.x; }
}
extern "C" __global__ void meet(unsigned* arrived, unsigned* out) {
    // Ends only if all blocks are resident at the same time: each waits for the last.
    if (threadIdx.x != 0) return;
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) __nanosleep(100);
    if (blockIdx.x == 0) *out = *arrived;
}
extern "C" __global__ void reverse(int* out, int count) {
    extern __shared__ int shared[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) shared[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = shared[count - 1 - i];
}
extern "C" __global__ void wait_for(volatile int* flag, long long most) {
    const long long start = clock64();
    while (*flag == 0 && clock64() - start < most) {}
    flag[1] = *flag;
}
"""
MANY = "".join(f"int a{i}," for i in range(100))
SUM += f'extern "C" __global__ void add_many({MANY} int* out) {{ *out = {"+".join(f"a{i}" for i in range(100))}; }}'


@pytest.fixture
def kernels(device):
    return compiled(SUM)


def test_kernel_runs_with_the_sizes_of_the_config(stream, kernels):
    memory = HostMemory(28)
    config = LaunchConfig(grid=(2, 3, 4), block=(5, 6, 7), shmem_size=512)
    launch(stream, config, kernels.get_kernel("sizes"), memory.buffer)
    stream.sync()
    assert memory.array(np.uint32).tolist() == [2, 3, 4, 5, 6, 7, 512]


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    ("positional", "named"),
    [((), {"index": 1, "value": 7}), ((), {"value": 7, "index": 1}), ((1,), {"value": 7})],
)
def test_arguments_can_be_passed_by_the_names_of_parameters(stream, kernels, positional, named):
    memory = HostMemory(8)
    kernel = kernels.get_kernel("store")
    launch(stream, ONE, kernel, memory.buffer, *positional, **named)
    stream.sync()
    assert memory.array(np.int32).tolist() == [0, 7]
    bound = kernel.bind(ONE, stream=stream)
    for call in (bound, bound.__call__):
        call(memory.buffer, *positional, **{**named, "value": 9})
        stream.sync()
        assert memory.array(np.int32).tolist() == [0, 9]
        call(out=memory.buffer, index=1, value=0)
    stream.sync()
    assert memory.array(np.int32).tolist() == [0, 0]


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    ("positional", "named", "text"),
    [
        (
            (None, 1),
            {"value": 1, "place": 2},
            r"^store\(\) has no parameter 'place'; its parameters are out, index, value$",
        ),
        ((None, 1), {"index": 1}, r"^store\(\) got two values for parameter 'index'$"),
        ((None,), {"index": 1}, r"^store\(\) needs the arguments 'value'$"),
        ((), {"value": 1}, r"^store\(\) needs the arguments 'out', 'index'$"),
        ((None, 1, 2, 3), {"value": 1}, r"^store\(\) got two values for parameter 'value'$"),
    ],
)
def test_names_that_do_not_fit_the_parameters_are_rejected(stream, kernels, positional, named, text):
    with pytest.raises(TypeError, match=text):
        launch(stream, ONE, kernels.get_kernel("store"), *positional, **named)


@pytest.mark.requires(cuda=(12, 4))
def test_names_are_rejected_for_a_kernel_without_a_source(stream, kernels):
    kernel = ObjectCode.from_cubin(kernels.code).get_kernel("store")
    with pytest.raises(TypeError, match="names of its parameters are unknown; pass the arguments by position"):
        launch(stream, ONE, kernel, None, 1, value=2)


def test_config_can_be_a_dict_and_arguments_can_be_named(stream, kernels):
    memory = HostMemory(28)
    launch(stream, {"grid": 2, "block": (3, 4)}, kernels.get_kernel("sizes"), memory.buffer)
    stream.sync()
    assert memory.array(np.uint32).tolist() == [2, 1, 1, 3, 4, 1, 0]
    assert launch(stream=stream, config=ONE, kernel=kernels.get_kernel("nothing")) is None


def test_later_launches_use_the_changed_config(stream, kernels):
    memory = HostMemory(28)
    config = LaunchConfig(grid=2, block=3)
    for field, value, index in [("grid", 4, 0), ("block", (1, 5), 4), ("shmem_size", 64, 6)]:
        setattr(config, field, value)
        launch(stream, config, kernels.get_kernel("sizes"), memory.buffer)
        stream.sync()
        assert memory.array(np.uint32)[index] == (value[1] if isinstance(value, tuple) else value)


def test_arguments_are_copied_at_the_call(stream, kernels):
    memory = HostMemory(400)
    kernel = kernels.get_kernel("store")
    for index in range(100):
        launch(stream, ONE, kernel, memory.buffer, index, np.int32(index * index))
    stream.sync()
    assert memory.array(np.int32).tolist() == [index * index for index in range(100)]


def test_kernel_can_have_a_hundred_arguments(stream, kernels):
    memory = HostMemory(4)
    launch(stream, ONE, kernels.get_kernel("add_many"), *range(100), memory.buffer)
    stream.sync()
    assert memory.array(np.int32)[0] == sum(range(100))


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((), TypeError, "kernel 'store' takes 3 arguments, 0 given"),
        ((None, 1), TypeError, "kernel 'store' takes 3 arguments, 2 given"),
        ((None, 1, 2, 3), TypeError, "kernel 'store' takes 3 arguments, 4 given"),
        (
            (None, 1.5, 2),
            TypeError,
            r"^store\(\) parameter 2 'index' is an int; got float$",
        ),
        ((None, 1, 2**32), OverflowError, r"^store\(\) parameter 3 'value' is an int; 4294967296 does not fit$"),
        ((None, 1, 10**5000), OverflowError, "is an int; an int of 16610 bits does not fit"),
        ((np.int16, 1, 2), TypeError, r"^store\(\) parameter 1 'out' is an int\*; got the class int16$"),
    ],
)
def test_rejected_argument_launches_nothing(stream, kernels, arguments, error, message):
    with pytest.raises(error, match=message):
        launch(stream, ONE, kernels.get_kernel("store"), *arguments)
    # The kernel would write to address 0, which would make the stream fail.
    stream.sync()
    assert stream.is_done


def test_error_of_a_rejected_launch_shows_the_config(stream, kernels):
    with pytest.raises(CUDAError) as caught:
        launch(stream, LaunchConfig(grid=1, block=4096), kernels.get_kernel("nothing"))
    assert caught.value.api == "cuLaunchKernelEx"
    assert "block=(4096, 1, 1)" in caught.value.__notes__[0]


def test_closed_objects_are_rejected(device, kernels):
    stream = device.create_stream()
    kernel = kernels.get_kernel("nothing")
    bound = kernel.bind(ONE, stream=stream)
    stream.close()
    for call in (lambda: launch(stream, ONE, kernel), bound):
        with pytest.raises(RuntimeError, match="closed"):
            call()


def test_foreign_streams_are_deprecated(stream, kernels):
    memory = HostMemory(4)
    with pytest.warns(DeprecationWarning, match="stream from another library") as caught:
        launch(ForeignStream(stream), ONE, kernels.get_kernel("add"), memory.buffer, 5)
    assert caught[0].filename == __file__
    stream.sync()
    assert memory.array(np.int32)[0] == 5


def test_default_streams_use_the_current_context(device, kernels):
    memory = HostMemory(4)
    launch(LEGACY_DEFAULT_STREAM, ONE, kernels.get_kernel("add"), memory.buffer, 5)
    device.sync()
    assert memory.array(np.int32)[0] == 5


# --- clusters, cooperation ---


@pytest.mark.requires(clusters=True)
def test_grid_is_divided_into_clusters(stream, kernels):
    memory = HostMemory(12)
    launch(stream, LaunchConfig(grid=3, cluster=4, block=32), kernels.get_kernel("clusters"), memory.buffer)
    stream.sync()
    assert memory.array(np.uint32).tolist() == [4, 3, 12]


@pytest.mark.requires(cooperative=True)
def test_blocks_of_a_cooperative_grid_run_at_the_same_time(device, stream, kernels):
    memory = HostMemory(4)
    arrived = device.allocate(4, stream=stream)
    arrived.fill(0, stream=stream)
    blocks = device.properties.multiprocessor_count
    config = LaunchConfig(grid=blocks, block=64, is_cooperative=True)
    launch(stream, config, kernels.get_kernel("meet"), arrived, memory.buffer)
    stream.sync()
    assert memory.array(np.uint32)[0] == blocks


@pytest.mark.requires(cooperative=True)
def test_too_large_a_cooperative_grid_raises_value_error(stream, kernels):
    config = LaunchConfig(grid=1_000_000, block=1024, is_cooperative=True)
    with pytest.raises(ValueError, match="resident at the same time"):
        launch(stream, config, kernels.get_kernel("nothing"))
    launch(stream, ONE, kernels.get_kernel("nothing"))
    stream.sync()


def test_programmatic_serialization_does_not_change_results(stream, kernels):
    memory = HostMemory(4)
    config = LaunchConfig(grid=2, block=32, programmatic_stream_serialization=True)
    for _ in range(10):
        launch(stream, config, kernels.get_kernel("add"), memory.buffer, 1)
    stream.sync()
    assert memory.array(np.int32)[0] == 10 * 64


# --- threads and devices ---


def test_many_threads_launch_one_kernel(device, stream, kernels):
    memory = HostMemory(4)
    kernel = kernels.get_kernel("add")
    others = [device.create_stream() for _ in range(4)]

    def work(number):
        for index in range(100):
            launch((stream, others[number % 4])[index % 2], ONE, kernel, memory.buffer, np.int32(number))

    assert run_in_threads(work) == []
    for each in (stream, *others):
        each.sync()
    assert memory.array(np.int32)[0] == 100 * sum(range(COUNT))


def test_thread_without_a_context_can_launch(stream, kernels):
    memory = HostMemory(4)
    in_thread(lambda: launch(stream, ONE, kernels.get_kernel("add"), memory.buffer, 3))
    stream.sync()
    assert memory.array(np.int32)[0] == 3


@pytest.mark.requires(devices=2)
def test_launch_runs_on_the_device_of_its_stream(devices, kernels):
    devices[1].set_current()
    stream = devices[1].create_stream()
    target = devices[1].allocate(4, stream=stream)
    memory = HostMemory(4)
    devices[0].set_current()
    # This is memory of device 1, which device 0 cannot write without peer access.
    target.fill(0, stream=stream)
    launch(stream, ONE, kernels.get_kernel("add"), target, 7)
    target.copy_to(memory.buffer, stream=stream)
    stream.sync()
    assert memory.array(np.int32)[0] == 7


def test_full_queue_lets_other_threads_run(stream, kernels):
    # The queue drains only after the timer's thread has set the flag, and setting it needs the GIL.
    flag = HostMemory(8)
    nothing = kernels.get_kernel("nothing")
    # The driver loads a kernel on its first launch, and waits for the device to do so.
    launch(stream, ONE, nothing)
    launch(stream, ONE, kernels.get_kernel("wait_for"), flag.buffer, 4_000_000_000)
    timer = threading.Timer(0.1, ctypes.memset, (flag.address, 1, 4))
    timer.start()
    for _ in range(3000):
        launch(stream, ONE, nothing)
    stream.sync()
    timer.join()
    # Otherwise the kernel stopped waiting, after more than 2 seconds.
    assert flag.array(np.int32).tolist() == [0x01010101] * 2


# --- bound kernels ---


def test_bound_kernel_launches(stream, kernels):
    memory = HostMemory(400)
    store = kernels.get_kernel("store").bind(ONE, stream=stream)
    for index in range(100):
        assert store(memory.buffer, index, index + 1) is None
    stream.sync()
    assert memory.array(np.int32).tolist() == list(range(1, 101))


def test_bound_kernel_can_be_called_in_several_ways(stream, kernels):
    memory = HostMemory(4)
    add = kernels.get_kernel("add").bind({"grid": 1, "block": 1}, stream=stream)
    arguments = (memory.buffer, 1)
    add(*arguments)
    add(*arguments)
    add.__call__(*arguments)
    list(map(add, [memory.buffer], [1]))
    stream.sync()
    assert memory.array(np.int32)[0] == 4


@pytest.mark.requires(cuda=(12, 4))
def test_bound_kernel_checks_its_arguments(stream, kernels):
    add = kernels.get_kernel("add").bind(ONE, stream=stream)
    with pytest.raises(TypeError, match="kernel 'add' takes 2 arguments, 1 given"):
        add(None)
    with pytest.raises(TypeError, match=r"^add\(\) has no parameter 'number'; its parameters are total, value$"):
        add(None, number=1)
    with pytest.raises(OverflowError, match="parameter 2 'value' is an int"):
        add(None, 2**40)
    with pytest.raises(TypeError, match="takes 2 arguments, 0 given"):
        add.__call__()


@pytest.mark.requires(cuda=(12, 4))
def test_bound_kernel_uses_its_changed_config(stream, kernels):
    memory = HostMemory(28)
    config = LaunchConfig(grid=1, block=1)
    sizes = kernels.get_kernel("sizes").bind(config, stream=stream)
    config.grid = 6
    sizes(memory.buffer)
    stream.sync()
    assert memory.array(np.uint32)[0] == 6


def test_bound_kernel_has_its_kernel_config_and_stream(stream, kernels):
    kernel = kernels.get_kernel("nothing")
    bound = kernel.bind(ONE, stream=stream)
    assert bound.kernel is kernel
    assert bound.config is ONE
    assert bound.stream == stream
    assert repr(kernel) in repr(bound)
    assert weakref.ref(bound)() is bound
    assert callable(bound)


def test_bind_rejects_other_types(stream, kernels):
    kernel = kernels.get_kernel("nothing")
    with pytest.raises(TypeError, match="config must be"):
        kernel.bind(None, stream=stream)
    with pytest.raises(TypeError, match="stream must be"):
        kernel.bind(ONE, stream=None)


def test_bound_kernel_launches_from_many_threads(stream, kernels):
    memory = HostMemory(4)
    add = kernels.get_kernel("add").bind(ONE, stream=stream)

    def work(number):
        for _ in range(100):
            add(memory.buffer, number)

    assert run_in_threads(work) == []
    stream.sync()
    assert memory.array(np.int32)[0] == 100 * sum(range(COUNT))


# --- bound arguments ---


@pytest.fixture
def total(device, stream):
    return device.zeros(1, np.int32, stream=stream)


def value_of(total, stream):
    """Return the total, and set it to 0."""
    value = total.to_host(stream=stream)[0]
    total.fill(0, stream=stream)
    return value


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    ("fixed", "named", "given", "given_names"),
    [
        ((), {}, (..., 3), {}),
        ((...,), {}, (..., 3), {}),
        ((..., 3), {}, (...,), {}),
        ((), {"value": 3}, (...,), {}),
        ((), {}, (...,), {"value": 3}),
        ((), {"value": 3}, (), {"total": ...}),
        ((), {"value": 2}, (...,), {"value": 3}),
        ((..., 2), {}, (...,), {"value": 3}),
    ],
)
def test_arguments_are_bound_and_open(stream, kernels, total, fixed, named, given, given_names):
    add = kernels.get_kernel("add").bind(ONE, *fixed, stream=stream, **named)
    given = [total if value is ... else value for value in given]
    given_names = {name: total if value is ... else value for name, value in given_names.items()}
    add(*given, **given_names)
    add.__call__(*given, **given_names)
    assert value_of(total, stream) == 6


@pytest.mark.requires(cuda=(12, 4))
def test_bound_arguments_change_in_place(stream, kernels, total):
    add = kernels.get_kernel("add").bind(ONE, total, 1, stream=stream)
    add()
    add["value"] = 10
    add()
    add[-1] = 100
    add()
    assert (add["total"], add[1], add.arguments) == (total, 100, (total, 100))
    assert value_of(total, stream) == 111
    add[1] = ...
    add(5)
    assert value_of(total, stream) == 5


@pytest.mark.requires(cuda=(12, 4))
def test_bound_kernel_without_arguments_can_fix_them_later(stream, kernels, total):
    add = kernels.get_kernel("add").bind(ONE, stream=stream)
    assert add.arguments == (..., ...)
    assert add[0] is ...
    add[0] = total
    add(4)
    assert value_of(total, stream) == 4


@pytest.mark.requires(cuda=(12, 4))
def test_bound_kernel_moves_to_another_stream(device, stream, kernels, total):
    add = kernels.get_kernel("add").bind(ONE, total, 2, stream=stream)
    other = device.create_stream()
    moved = add.on(other)
    assert (moved.stream, moved.kernel, moved.config) == (other, add.kernel, add.config)
    moved["value"] = 3
    other.wait(stream)
    moved()
    other.sync()
    add()
    assert value_of(total, stream) == 5
    with pytest.raises(TypeError, match="stream must be"):
        add.on(None)


@pytest.mark.requires(cuda=(12, 4))
def test_bound_kernel_is_captured(device, stream, kernels, total):
    add = kernels.get_kernel("add").bind(ONE, total, 2, stream=stream)
    builder = device.create_graph_builder().begin_building()
    captured = add.on(builder)
    captured()
    captured(value=3)
    graph = builder.end_building().complete()
    stream.sync()
    graph.launch(stream)
    assert value_of(total, stream) == 5


@pytest.mark.requires(cuda=(12, 4))
def test_threads_change_and_launch_a_bound_kernel(stream, kernels, total):
    add = kernels.get_kernel("add").bind(ONE, total, 1, stream=stream)

    def work(number):
        for _ in range(50):
            add["value"] = 1
            add()

    run_in_threads(work)
    assert value_of(total, stream) == 50 * COUNT


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("place", [1, np.int64(1), -1, "value"])
def test_bound_argument_is_found_by_any_integer_and_by_name(stream, kernels, place):
    assert kernels.get_kernel("add").bind(ONE, None, 7, stream=stream)[place] == 7


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize(
    ("attempt", "error", "text"),
    [
        (lambda add: add[10**5000], IndexError, "has 2 parameters, so none at an int of 16610 bits"),
        (lambda add: add(3), TypeError, r"^add\(\) has 0 open arguments here, 1 given"),
        (lambda add: add(number=3), TypeError, "has no parameter 'number'; its parameters are total, value$"),
        (lambda add: add[2], IndexError, "has 2 parameters, so none at 2"),
        (lambda add: add.__setitem__(1.5, 3), TypeError, "by its position or name, not by 1.5"),
        (lambda add: add.__setitem__("number", 3), TypeError, "has no parameter 'number'"),
        (lambda add: add.kernel.bind(ONE, 1, 2, 3, stream=add.stream), TypeError, "has 2 open arguments here, 3 given"),
        (
            lambda add: add.kernel.bind(ONE, 1, stream=add.stream, total=2),
            TypeError,
            "two values for parameter 'total'",
        ),
        (
            lambda add: add.kernel.bind(ONE, ..., 1, stream=add.stream)(0, total=2),
            TypeError,
            "two values for parameter 'total'",
        ),
        (lambda add: add.kernel.bind(ONE, ..., stream=add.stream)(), TypeError, "needs the arguments 'total', 'value'"),
        (lambda add: add.kernel.bind(ONE, 0, "1", stream=add.stream)(), TypeError, "parameter 2 'value' is an int"),
    ],
)
def test_wrong_bound_arguments_are_rejected(stream, kernels, attempt, error, text):
    add = kernels.get_kernel("add").bind(ONE, None, 1, stream=stream)
    with pytest.raises(error, match=text):
        attempt(add)


# --- other ways to launch ---


@pytest.mark.requires(cuda=(12, 4))
def test_kernels_are_launched_by_brackets(device, stream, kernels, total):
    add = kernels.get_kernel("add")
    add[2, 1, 0, stream](total, 1)
    add[(1, 2), (1, 1), 16, stream](total, value=1)
    add[1, 1, None, stream](total, 1)
    stream.sync()
    add[1, 1](total, 1)
    add[1, 1, 0](total, 1)
    device.default_stream.sync()
    assert value_of(total, stream) == 7
    assert add[3, (4, 5), 6, stream].config == LaunchConfig(grid=3, block=(4, 5), shmem_size=6)


@pytest.mark.requires(cuda=(12, 4))
def test_kernels_are_launched_by_calls(device, stream, kernels, total):
    add = kernels.get_kernel("add")
    assert add(total, 1, grid=2, block=1, stream=stream) is None
    add(total, value=1, grid=1, block=(1, 1), shmem_size=16, stream=stream)
    stream.sync()
    add(total, 1, grid=1, block=1)
    device.default_stream.sync()
    assert value_of(total, stream) == 4


ELEMENTS = """
extern "C" __global__ void ones(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 1;
}
extern "C" __global__ void store(int* x, int elements) { *x = elements; }
"""


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("kind", ["kernel", "source"])
def test_launches_by_element_count_reach_all_elements(device, stream, kind):
    code = compiled(ELEMENTS)
    ones = code.get_kernel("ones") if kind == "kernel" else source_kernel(ELEMENTS, "ones", cache=False)
    n = 300_001  # more than are resident on the software device
    launches = (
        lambda x: ones(x, n, elements=n, stream=stream),
        lambda x: ones(x, n, elements=np.int64(n), block=64, stream=stream),
        lambda x: ones(x, n, elements=n, block=128, shmem_size=16, stream=stream),
        lambda x: ones[:n, 256, 0, stream](x, n),
        lambda x: ones[: np.int32(n), 96, 16, stream](x, n),
        lambda x: ones[:n](x, n),
        lambda x: ones[:n, 32](x, n),
        lambda x: ones(x, n=n, elements=n),
    )
    for launch_all in launches:
        x = device.zeros(n, np.int32)
        launch_all(x)
        device.sync()
        assert x.to_host().sum() == n
    assert ones[:1000, 32, 16, stream].config == LaunchConfig(grid=32, block=32, shmem_size=16)
    assert ones[:0].config == LaunchConfig(grid=1, block=256)


@pytest.mark.requires(cuda=(12, 4))
def test_elements_beside_a_grid_are_an_argument(device, stream):
    for store in (compiled(ELEMENTS).get_kernel("store"), source_kernel(ELEMENTS, "store", cache=False)):
        x = device.zeros(1, np.int32, stream=stream)
        store(x, elements=5, grid=1, block=1, stream=stream)
        assert x.to_host(stream=stream)[0] == 5


def test_wrong_element_counts_are_rejected(stream, kernels):
    add = kernels.get_kernel("add")
    wrong = ((-1, ValueError), (2.5, TypeError), ("4", TypeError), (True, TypeError), (1 << 60, ValueError))
    for count, error in wrong:
        with pytest.raises(error, match="n must be|grid must be"):
            add(None, 1, elements=count)
        with pytest.raises(error, match="n must be|grid must be"):
            add[:count]
    with pytest.raises(TypeError, match="block must be an int"):
        add[:4, (2, 2)]
    with pytest.raises(ValueError, match=r"grid, the number of blocks, is missing; write kernel\[grid, block\]"):
        add[:]


@pytest.mark.requires(cuda=(12, 4))
def test_wrong_calls_and_brackets_are_rejected(stream, kernels):
    add = kernels.get_kernel("add")
    for key in (1, (1,), (), (1, 1, 0, stream, 1), "key", slice(1, 2), slice(None, 4, 2)):
        with pytest.raises(TypeError, match=r"kernel\[grid, block\]"):
            add[key]
    with pytest.raises(TypeError, match="stream must be"):
        add[1, 1, 0, None]
    with pytest.raises(ValueError, match="grid"):
        add[0, 1]
    with pytest.raises(ValueError, match="grid, the number of blocks, is missing"):
        add(None, 1)
    with pytest.raises(ValueError, match="block, the number of threads per block, is missing"):
        add(None, 1, grid=1)
    with pytest.raises(TypeError, match="takes 2 arguments, 1 given"):
        add(None, grid=1, block=1)
