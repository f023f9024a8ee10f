# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Each driver call of code, launches, streams and events fails in turn: the error is clear, and nothing leaks."""

import contextlib

import pytest

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    CUDAError,
    Device,
    EventOptions,
    Kernel,
    LaunchConfig,
    Linker,
    ObjectCode,
    Program,
    ProgramOptions,
    StreamOptions,
    launch,
)
from support.contexts import foreign_context
from support.failures import CODES, fail_each_call
from support.kernels import HostMemory, compiled

pytestmark = [pytest.mark.requires(software=True), pytest.mark.requires(device=True)]
each_code = pytest.mark.parametrize("code", CODES)

SOURCE = """
__device__ int counter = 1;
__managed__ int shared_with_host = 7;
extern "C" __global__ void count(int* out, int more) { *out = counter + shared_with_host + more; }
extern "C" __global__ void use_shared(int* out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    *out = s[threadIdx.x];
}
extern "C" __global__ void nothing() {}
"""
ONE = LaunchConfig(grid=1, block=1)


def fresh():
    """Return code that has not been loaded yet."""
    return ObjectCode.from_cubin(compiled(SOURCE).code)


@pytest.fixture
def code_object(device):
    with fresh() as code_object:
        yield code_object


# Modules


@each_code
@pytest.mark.parametrize("source", ["bytes", "file"])
@pytest.mark.parametrize("kind", ["cubin", "ptx", "fatbin"])
def test_each_call_of_a_load_may_fail(device, tmp_path, source, kind, code):
    target = "ptx" if kind == "ptx" else "cubin"
    module = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile(target).code
    if source == "file":
        path = tmp_path / f"code.{kind}"
        path.write_bytes(module)
        module = path

    def program():
        with getattr(ObjectCode, f"from_{kind}")(module) as code_object:
            code_object.get_kernel("count")
            code_object.get_module()
            assert int(code_object.handle)

    loads = "cuLibraryLoadFromFile" if source == "file" else "cuLibraryLoadData"
    # This call only looks for the reason of a failure that the library raises anyway.
    failed = fail_each_call(program, code, overcome=["cuModuleLoadDataEx"])
    assert failed >= {loads, "cuLibraryGetKernel", "cuLibraryGetModule", "cuLibraryUnload"}


@each_code
@pytest.mark.parametrize("name", ["counter", "shared_with_host"])
def test_each_call_of_get_global_may_fail(device, stream, name, code):
    def program():
        with fresh() as code_object, code_object.get_global(name) as variable:
            variable.fill(0, stream=stream)
            stream.sync()

    assert fail_each_call(program, code) >= {"cuLibraryLoadData", "cuLibraryGetGlobal", "cuMemsetD8Async"}


@each_code
@pytest.mark.parametrize("get", ["get_kernel", "get_global"])
def test_each_call_after_an_unknown_name_may_fail(device, get, code):
    def program():
        with fresh() as code_object:
            try:
                getattr(code_object, get)("nowhere")
            except CUDAError as error:
                if error.name != "CUDA_ERROR_NOT_FOUND":
                    raise
                assert f"there is no {get[4:].replace('global', 'variable')} 'nowhere'" in str(error)

    # The message lists the known names where the driver tells them.
    hints = ["cuLibraryGetKernelCount", "cuLibraryEnumerateKernels", "cuKernelGetName"]
    assert "cuLibraryLoadData" in fail_each_call(program, code, overcome=hints)


@each_code
def test_each_call_of_kernel_attributes_may_fail(device, code_object, code):
    kernel = code_object.get_kernel("use_shared")

    def program():
        attributes = kernel.attributes
        attributes.max_dynamic_shared_size_bytes = 1024
        assert attributes[device].max_dynamic_shared_size_bytes == 1024
        assert attributes[1].max_threads_per_block > 0
        attributes.preferred_shared_memory_carveout = 50

    assert fail_each_call(program, code) >= {"cuKernelGetAttribute", "cuKernelSetAttribute"}


@each_code
def test_each_call_of_occupancy_may_fail(device, stream, code_object, code):
    kernel = code_object.get_kernel("use_shared")
    clusters = LaunchConfig(grid=4, cluster=2, block=32)

    def program():
        occupancy = kernel.occupancy
        assert occupancy.max_active_blocks_per_multiprocessor(128, 0) > 0
        assert occupancy.max_potential_block_size(0, 0).max_block_size > 0
        assert occupancy.available_dynamic_shared_memory_per_block(1, 128) > 0
        assert occupancy.max_potential_cluster_size(clusters, stream=stream) > 0
        assert occupancy.max_active_clusters(clusters, stream=stream) > 0

    assert len(fail_each_call(program, code)) >= 5


@pytest.mark.requires(cuda=(12, 9))
@each_code
def test_each_call_of_kernel_parameters_and_handles_may_fail(device, code):
    def program():
        with fresh() as code_object:
            kernel = code_object.get_kernel("count")
            assert kernel.num_arguments == 2
            same = Kernel.from_handle(int(kernel.handle), code_object)
            assert same == kernel

    assert fail_each_call(program, code) >= {"cuKernelGetParamInfo", "cuKernelGetLibrary"}


# Launches


@pytest.mark.requires(cuda=(12, 9))
@each_code
@pytest.mark.parametrize("is_cooperative", [False, True], ids=["plain", "cooperative"])
def test_each_call_of_a_launch_may_fail(device, stream, is_cooperative, code):
    memory = HostMemory(4)
    config = LaunchConfig(grid=2, block=32, is_cooperative=is_cooperative)

    def program():
        with fresh() as code_object:
            launch(stream, config, code_object.get_kernel("count"), memory.buffer, 1)
            launch(LEGACY_DEFAULT_STREAM, config, code_object.get_kernel("nothing"))
            device.sync()

    assert fail_each_call(program, code) >= {"cuLaunchKernelEx", "cuCtxRecordEvent"}


@each_code
def test_each_call_of_a_launch_with_much_shared_memory_may_fail(device, stream, code):
    memory = HostMemory(4)
    config = LaunchConfig(grid=1, block=32, shmem_size=device.properties.max_shared_memory_per_block_optin)

    def program():
        with fresh() as code_object:
            launch(stream, config, code_object.get_kernel("use_shared"), memory.buffer)
            stream.sync()

    assert fail_each_call(program, code) >= {"cuLaunchKernelEx", "cuKernelSetAttribute", "cuDeviceGetAttribute"}


@pytest.mark.requires(cuda=(12, 9))
@each_code
def test_each_call_of_a_launch_in_another_context_may_fail(device, code_object, code):
    kernel = code_object.get_kernel("nothing")
    with foreign_context() as context:
        device.set_current(context)
        other = device.create_stream()
        device.set_current()

        def program():
            launch(other, ONE, kernel)
            other.sync()

        failed = fail_each_call(program, code)
        other.close()
    assert failed >= {"cuLaunchKernelEx", "cuStreamSynchronize"}


# The driver's linker


@each_code
@pytest.mark.filterwarnings("ignore:.*driver's linker:RuntimeWarning")
def test_each_call_of_the_linker_may_fail(device, without_nvjitlink, code):
    options = ProgramOptions(arch=f"sm_{device.arch}", relocatable_device_code=True)
    part = Program('extern "C" __global__ void f() {}', "c++", options).compile("cubin")

    def program():
        with contextlib.closing(Linker(part)) as linker:
            assert linker.link("cubin").code

    assert fail_each_call(program, code) >= {"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete", "cuLinkDestroy"}


# Streams and events


@each_code
def test_each_call_of_streams_may_fail(device, code):
    def program():
        with device.create_stream(options=StreamOptions(priority=0)) as stream, device.create_stream() as other:
            assert stream.is_nonblocking
            assert stream.priority == 0
            stream.wait(other)
            other.wait(LEGACY_DEFAULT_STREAM)
            stream.wait(other.record())
            assert stream.device == device
            stream.sync()
            assert stream.is_done

    failed = fail_each_call(program, code)
    assert failed >= {"cuStreamCreateWithPriority", "cuStreamWaitEvent", "cuEventRecord", "cuStreamQuery"}


@pytest.mark.requires(cuda=(12, 9))
@each_code
def test_each_call_of_events_may_fail(device, stream, code):
    def program():
        timed = EventOptions(timing_enabled=True)
        with stream.record(options=timed) as first, device.create_event(timed) as second:
            stream.record(second)
            second.sync()
            assert second.is_done
            assert second - first >= 0

    failed = fail_each_call(program, code)
    assert failed >= {"cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventQuery", "cuEventElapsedTime_v2"}


@pytest.mark.requires(cuda=(12, 9))
@each_code
def test_each_call_of_streams_in_another_context_may_fail(device, code):
    with foreign_context() as context:

        def program():
            previous = device.set_current(context)
            try:
                with device.create_stream() as stream:
                    device.set_current(previous)
                    with stream.record() as event:
                        event.sync()
                    assert stream.context == context
            finally:
                device.set_current(previous)

        assert fail_each_call(program, code) >= {"cuStreamCreateWithPriority", "cuEventRecord", "cuCtxPushCurrent_v2"}
    assert Device(0).context != context
