# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""With the check ``races``, work of two streams on the same memory needs an event, a wait, or the default stream."""

import json
import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.requires(software=True)

PROGRAM = r"""
import json, threading, warnings
import numpy as np
import cuda.emulator
from cuda.core import Device, LaunchConfig, LaunchError, Program, ProgramOptions, launch
from cuda.core.graph import GraphDefinition

warnings.simplefilter("ignore")
device = Device(0)
device.set_current()
SOURCE = 'extern "C" __global__ void add(int* x, int v) { x[threadIdx.x] += v; }'
kernel = Program(SOURCE, "c++", ProgramOptions(name="add.cu")).compile("cubin").get_kernel("add")
config = LaunchConfig(grid=1, block=32)
a, b = device.create_stream(), device.create_stream()
host = np.empty(128, np.uint8)


def add(stream, buffer):
    launch(stream, config, kernel, buffer, np.int32(1))


def call_back():
    called = threading.Event()
    a.add_callback(lambda error: called.set())
    assert called.wait(30)


def kernels(x): add(a, x); add(b, x)
def event(x): add(a, x); b.wait(a.record()); add(b, x)
def early_event(x): e = a.record(); add(a, x); b.wait(e); add(b, x)
def event_of_another_stream(x): add(a, x); b.wait(b.record()); add(b, x)
def stream_wait(x): add(a, x); a.sync(); add(b, x)
def device_wait(x): add(a, x); device.sync(); add(b, x)
def event_wait(x): add(a, x); a.record().sync(); add(b, x)
def wait_for_reached_event(x):
    add(a, x)
    e = a.record()
    e.sync()
    b.wait(e)
    assert b.is_done  # on the first query, as there is nothing to wait for
    add(b, x)
def query(x):
    add(a, x)
    e = a.record()
    while not e.is_done: pass
    add(b, x)
def callback(x): add(a, x); call_back(); add(b, x)
def chain(x):
    c = device.create_stream()
    add(a, x); c.wait(a.record()); b.wait(c.record()); add(b, x)
def same_stream(x): add(a, x); add(a, x)
def other_memory(x):
    y = device.allocate(128, stream=b)
    add(a, x); add(b, y)
    b.sync(); y.close()
def default_stream(x): add(a, x); device.default_stream.wait(a.record()); add(device.default_stream, x)
def copy_of_result(x): add(a, x); x.copy_to(host, stream=b)
def ordered_copy(x): add(a, x); b.wait(a.record()); x.copy_to(host, stream=b)
def two_copies(x): x.copy_to(host, stream=a); x.copy_to(host, stream=b)
def fill_beside(x): add(a, x); x.fill(1, stream=b)
def kernel_beside_fill(x): x.fill(1, stream=b); add(a, x)
def graph(ordered):
    def run(x):
        definition = GraphDefinition()
        first = definition.launch(config, kernel, x, np.int32(1))
        (first if ordered else definition).launch(config, kernel, x, np.int32(1))
        definition.instantiate().launch(a)
    return run
def graph_before_kernel(x): graph(True)(x); add(a, x)
def kept_by_graph(x):
    import gc, time
    used = device.memory_resource.attributes.used_mem_current
    y = device.allocate(128, stream=a)
    y.fill(0, stream=a)
    a.sync()
    definition = GraphDefinition()
    definition.launch(config, kernel, y, np.int32(1))
    definition.instantiate().launch(b)
    del y, definition  # the memory is freed in stream a, after the graph
    end = time.monotonic() + 20
    while device.memory_resource.attributes.used_mem_current > used and time.monotonic() < end:
        gc.collect()
        a.sync()
def graph_beside_kernel(x): graph(True)(x); add(b, x)
def copy_node(ordered):
    def run(x):
        y = device.allocate(128, stream=a)
        definition = GraphDefinition()
        first = definition.launch(config, kernel, x, np.int32(1))
        (first if ordered else definition).memcpy(y, x, 128)
        definition.instantiate().launch(a)
        device.sync()
    return run
def two_graphs(ordered):
    def run(x):
        definition = GraphDefinition()
        definition.launch(config, kernel, x, np.int32(1))
        first, second = definition.instantiate(), definition.instantiate()
        first.launch(a)
        if ordered: b.wait(a.record())
        second.launch(b)
        device.sync()
    return run
def upload(ordered):
    def run(x):
        x.copy_from(np.ones(32, np.int32), stream=a)
        if ordered: b.wait(a.record())
        add(b, x)
    return run
def free(ordered):
    def run(x):
        y = device.allocate(128, stream=a)
        add(a, y)
        if ordered: b.wait(a.record())
        y.close(b)
    return run
def free_node(ordered):
    def run(x):
        definition = GraphDefinition()
        y = definition.allocate(128)
        used = y.launch(config, kernel, y.dptr, np.int32(1))
        (used if ordered else y).deallocate(y.dptr)
        definition.instantiate().launch(a)
        device.sync()
    return run
def tail(ordered):
    from cuda.core import Linker, LinkerOptions
    from cuda.core.graph import GraphCompleteOptions
    source = '''
    extern "C" __device__ __cudart_builtin__ cudaError_t CUDARTAPI
    cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
    extern "C" __global__ void follow(cudaGraphExec_t graph) { cudaGraphLaunch(graph, (cudaStream_t)(1ull << 56)); }
    '''
    arch = f"sm_{device.arch}"
    code = Program(source, "c++", ProgramOptions(arch=arch, relocatable_device_code=True)).compile("cubin")
    follow = Linker(code, options=LinkerOptions(arch=arch)).link("cubin").get_kernel("follow")
    def run(x):
        last = GraphDefinition()
        first = last.launch(config, kernel, x, np.int32(1))
        (first if ordered else last).launch(config, kernel, x, np.int32(1))
        second = last.instantiate(GraphCompleteOptions(device_launch=True))
        second.upload(a)
        definition = GraphDefinition()
        started = definition.launch(LaunchConfig(grid=1, block=1), follow, int(second.handle))
        started.launch(config, kernel, x, np.int32(1))
        graph = definition.instantiate()
        graph.launch(a)
        add(a, x)
        device.sync()
    return run

cases = [kernels, event, early_event, event_of_another_stream, stream_wait, device_wait, event_wait,
         wait_for_reached_event, query, callback, chain, same_stream, other_memory, default_stream, copy_of_result,
         ordered_copy, two_copies, fill_beside, kernel_beside_fill, graph_before_kernel,
         graph_beside_kernel, kept_by_graph]
reports = {}
pairs = {"edge": graph, "copy_node": copy_node, "two_graphs": two_graphs, "upload": upload, "free": free,
         "free_node": free_node, "tail": tail}
rows = [(name if good else f"no_{name}", make(good)) for name, make in pairs.items() for good in (True, False)]
for name, case in [(f.__name__, f) for f in cases] + rows:
    x = device.allocate(128, stream=a)
    x.fill(0, stream=a)
    device.sync()
    try:
        case(x)
        device.sync()
        reports[name] = ""
    except LaunchError as error:
        reports[name] = str(error)
        cuda.emulator.reset()
    x.close()
print(json.dumps(reports))
"""
RACES = {
    "kernels": "kernel add: data race: (load|store) of 4 bytes",
    "early_event": "kernel add: data race: (load|store) of 4 bytes",
    "event_of_another_stream": "kernel add: data race: (load|store) of 4 bytes",
    "copy_of_result": "(cuMemcpy.*: data race: load of 128 bytes: at offset 0 in the 128 bytes of|kernel add)",
    "fill_beside": "(cuMemset.*|kernel add): data race",
    "kernel_beside_fill": "(cuMemset.*|kernel add): data race",
    "graph_beside_kernel": "kernel add: data race",
    "no_edge": "kernel add: data race",
    "no_copy_node": "(cuGraphLaunch|kernel add): data race",
    "no_two_graphs": "kernel add: data race",
    "no_tail": "kernel add: data race",
    "no_upload": "(cuMemcpy.*|kernel add): data race",
    "no_free": "(cuMemFreeAsync: data race: release of 128 bytes|kernel add: (illegal address|data race))",
    "no_free_node": "(cuGraphLaunch: data race: release of 128 bytes|kernel add: (illegal address|data race))",
}
CLEAN = ["event", "stream_wait", "device_wait", "event_wait", "wait_for_reached_event", "query", "callback", "chain"]
CLEAN += ["same_stream", "other_memory", "default_stream", "ordered_copy", "two_copies", "graph_before_kernel", "edge"]
CLEAN += ["kept_by_graph", "copy_node", "two_graphs", "upload", "free", "free_node", "tail"]


@pytest.fixture(scope="module", params=["eager", "deterministic", "shuffle:3"])
def run(request):
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": paths, "CUDA_EMULATOR_CHECK": "races", "CUDA_CORE_DEVICE": "software"}
    environment["CUDA_EMULATOR_MODE"] = request.param
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", RACES)
def test_work_without_an_order_is_reported_in_every_mode(run, case):
    assert re.search(RACES[case], run[case]), run[case]


@pytest.mark.parametrize("case", CLEAN)
def test_ordered_work_is_not_reported(run, case):
    assert run[case] == ""


def test_report_names_the_earlier_work(run):
    earlier, reports = "nothing orders it after the (load|store) by ", "\n".join(run.values())
    assert re.search(earlier + r"thread \(0, 0, 0\) of block \(0, 0, 0\) of kernel add, with no event", reports)
    assert re.search(earlier + "cuMemset|cuMemset.*: data race: store", reports)
    assert "at add.cu:1 in add" in reports
