# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""With the check ``races``, work of two streams on the same memory needs an event, a wait, or the default stream."""

import json
import os
import re
import subprocess
import sys

import pytest

MODES = ["eager", "deterministic", "shuffle:3"]
pytestmark = pytest.mark.requires(software=True)

BEGIN = r"""
import json, threading, warnings
import numpy as np
import cuda.emulator
from cuda.core import CachingMemoryResource, Device, GraphMemoryResource, LaunchConfig, LaunchError
from cuda.core import LegacyPinnedMemoryResource, PinnedMemoryResource, Program, ProgramOptions, StreamOptions, launch
from cuda.core.graph import GraphDefinition

warnings.simplefilter("ignore")
device = Device(0)
device.set_current()
SOURCE = 'extern "C" __global__ void add(int* x, int v) { x[threadIdx.x] += v; }'
kernel = Program(SOURCE, "c++", ProgramOptions(name="add.cu")).compile("cubin").get_kernel("add")
config = LaunchConfig(grid=1, block=32)
a, b = device.create_stream(), device.create_stream()
host = np.empty(128, np.uint8)
kept = []  # the buffers of a case


def add(stream, buffer):
    launch(stream, config, kernel, buffer, np.int32(1))


def call_back():
    called = threading.Event()
    a.add_callback(lambda error: called.set())
    assert called.wait(30)
"""
WORK = r"""
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
def value(x):
    y = LegacyPinnedMemoryResource().allocate(8)
    y.fill(0, stream=a)
    add(a, x); a.write_value(y, 1); b.wait_value(y, 1); add(b, x)
    device.sync()
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
pairs = {"edge": graph, "copy_node": copy_node, "two_graphs": two_graphs, "upload": upload, "free": free,
         "free_node": free_node, "tail": tail}
rows = [(name if good else f"no_{name}", make(good)) for name, make in pairs.items() for good in (True, False)]
cases = [(f.__name__, f) for f in cases] + rows
cases += [("value", value)]  # last, because what waits for such a stream is not compared with others
"""
ALLOCATIONS = r"""
def new(stream=a, resource=device.memory_resource):
    kept.append(resource.allocate(128, stream=stream))
    return kept[-1]
def run_graph(stream, y):
    definition = GraphDefinition()
    definition.launch(config, kernel, y, np.int32(1))
    definition.instantiate().launch(stream)
def poll(what):
    while not what.is_done: pass
def through_third_stream():
    c = device.create_stream()
    c.wait(a.record())
    b.wait(c.record())
def host_node():
    called = threading.Event()
    definition = GraphDefinition()
    definition.callback(called.set)
    definition.instantiate().launch(a)
    assert called.wait(30)

USES = {
    "kernel": lambda y: add(b, y),
    "view": lambda y: launch(b, LaunchConfig(grid=1, block=8), kernel, int(y.handle) + 64, np.int32(1)),
    "graph": lambda y: run_graph(b, y),
    "fill": lambda y: y.fill(1, stream=b),
    "copy_in": lambda y: y.copy_from(np.ones(32, np.int32), stream=b),
    "copy_out": lambda y: y.copy_to(host, stream=b),
    "copy_on_device": lambda y: new(b).copy_from(y, stream=b),
}
ORDERS = {
    "event": lambda: b.wait(a.record()),
    "third_stream": through_third_stream,
    "stream_wait": a.sync,
    "device_wait": device.sync,
    "event_wait": lambda: a.record().sync(),
    "query": lambda: poll(a),
    "query_of_event": lambda: poll(a.record()),
    "callback": call_back,
    "host_node": host_node,
}
def use_after(order, use):
    def run(x):
        y = new()
        order()
        use(y)
    return run
cases = [(f"no_order_of_{name}", use_after(lambda: None, use)) for name, use in USES.items()]
cases += [(f"ordered_{name}", use_after(ORDERS["event"], use)) for name, use in USES.items()]
cases += [(f"order_by_{name}", use_after(order, USES["kernel"])) for name, order in ORDERS.items()]

def behind_kernel(x): add(a, x); add(b, new())
def event_before(x): e = a.record(); y = new(); b.wait(e); add(b, y)
def wait_before(x): a.sync(); add(b, new())
def memory_of_host(x): add(b, new(resource=pinned))
def memory_of_default_stream(x): add(b, new(device.default_stream))
def in_default_stream(x): add(device.default_stream, new())
def node_without_edge(x):
    definition = GraphDefinition()
    y = definition.allocate(128)
    definition.launch(config, kernel, y.dptr, np.int32(1))
    definition.instantiate().launch(a)
    device.sync()
def beside_graph(x):
    definition = GraphDefinition()
    y = definition.allocate(128)
    definition.instantiate().launch(a)
    launch(b, config, kernel, y.dptr, np.int32(1))
    device.sync()

def own_stream(x): y = new(); add(a, y); run_graph(a, y); y.copy_to(host, stream=a)
def ordered_memory_of_host(x): y = new(resource=pinned); b.wait(a.record()); add(b, y)
def blocking_stream(x):
    c = device.create_stream(options=StreamOptions(nonblocking=False))
    add(c, new(device.default_stream)); add(device.default_stream, new(c))
def memory_without_stream(x): add(b, new(resource=LegacyPinnedMemoryResource()))
def freed_in_another_stream(x):
    y = new(); b.wait(a.record()); add(b, y); y.close(b)
    y = new(b); add(b, y); y.close(b)
    y = new(); add(a, y); y.close(a)
def freed_without_use(x): new().close(b)
def memory_of_thread(x):
    thread = threading.Thread(target=lambda: (device.set_current(), new()))
    thread.start(); thread.join()
    add(a, kept[-1])
def cached_memory(x):
    resource = CachingMemoryResource(device.memory_resource)
    for stream in (a, b, a):
        y = resource.allocate(128, stream=stream)
        add(stream, y)
        y.close(stream)
    device.sync()
def arrays(x):
    with b.use():
        array = device.zeros(32, np.int32)
        run_graph(b, array)
        assert array.to_host()[0] == 1
def node_with_edge(x):
    definition = GraphDefinition()
    y = definition.allocate(128)
    used = y.launch(config, kernel, y.dptr, np.int32(1))
    freed = used.deallocate(y.dptr)
    graph = definition.instantiate()
    for _ in range(3): graph.launch(a)
    graph.launch(b)
    device.sync()
def after_graph(x):
    definition = GraphDefinition()
    y = definition.allocate(128)
    graph = definition.instantiate()
    for _ in range(2):
        graph.launch(a)
        launch(a, config, kernel, y.dptr, np.int32(1))
        b.wait(a.record())
        launch(b, config, kernel, y.dptr, np.int32(1))
        free = GraphDefinition()
        free.deallocate(y.dptr)
        free.instantiate().launch(b)
        a.wait(b.record())
    device.sync()
def captured(x):
    builder = a.create_graph_builder().begin_building()
    y = GraphMemoryResource(device).allocate(128, stream=builder)
    launch(builder, config, kernel, y, np.int32(1))
    y.close(builder)
    graph = builder.end_building().complete()
    for stream in (a, a, b): graph.launch(stream)
    device.sync()

pinned = PinnedMemoryResource()
named = [behind_kernel, event_before, wait_before, memory_of_host, memory_of_default_stream, in_default_stream,
         node_without_edge, beside_graph, own_stream, ordered_memory_of_host, blocking_stream, memory_without_stream,
         freed_in_another_stream, freed_without_use, memory_of_thread, cached_memory, arrays, node_with_edge,
         after_graph, captured]
cases += [(f.__name__, f) for f in named]
"""
POLLING = r"""
SOURCE = '''
extern "C" __global__ void follow(volatile unsigned long long* mail)
{
    while (!mail[0]) {}
    *(int*)mail[0] += 1;
}
'''
follow = Program(SOURCE, "c++", ProgramOptions(name="follow.cu")).compile("cubin").get_kernel("follow")
mail = LegacyPinnedMemoryResource().allocate(8)
words = np.from_dlpack(mail).view(np.uint64)
def send(prepare):
    def run(x):
        words[0] = 0
        launch(b, LaunchConfig(grid=1, block=1), follow, mail)
        kept.append(device.allocate(128, stream=a))
        prepare(kept[-1])
        a.sync()
        words[0] = int(kept[-1].handle)
        b.sync()
    return run
cases = [("memory", send(lambda y: None)), ("contents", send(lambda y: y.fill(0, stream=a)))]
"""
END = r"""
reports = {}
for name, case in cases:
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
    kept.clear()
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
CLEAN += ["kept_by_graph", "copy_node", "two_graphs", "upload", "free", "free_node", "tail", "value"]


BY_KERNEL = r"kernel add: data race: load of 4 bytes at 0x\w+: at offset \d+"
EARLY = {  # the uses of new memory, with nothing between the allocation and them
    "no_order_of_kernel": BY_KERNEL,
    "no_order_of_view": BY_KERNEL.replace(r"\d+", "(64|68|7.|8.|9.)"),
    "no_order_of_graph": BY_KERNEL,
    "no_order_of_fill": "cuMemset.*: data race: store of 128 bytes: at offset 0",
    "no_order_of_copy_in": "cuMemcpy.*: data race: store of 128 bytes: at offset 0",
    "no_order_of_copy_out": "cuMemcpy.*: data race: load of 128 bytes: at offset 0",
    "no_order_of_copy_on_device": "cuMemcpy.*: data race: load of 128 bytes: at offset 0",
    "behind_kernel": BY_KERNEL,
    "event_before": BY_KERNEL,
    "wait_before": BY_KERNEL,
    "memory_of_host": BY_KERNEL,
    "memory_of_default_stream": BY_KERNEL,
    "in_default_stream": BY_KERNEL,
    "node_without_edge": BY_KERNEL,
    "beside_graph": BY_KERNEL,
}
LATE = """
own_stream ordered_memory_of_host blocking_stream memory_without_stream freed_in_another_stream freed_without_use
memory_of_thread cached_memory arrays node_with_edge after_graph captured
ordered_kernel ordered_view ordered_graph ordered_fill ordered_copy_in ordered_copy_out ordered_copy_on_device
order_by_event order_by_third_stream order_by_stream_wait order_by_device_wait order_by_event_wait order_by_query
order_by_query_of_event order_by_callback order_by_host_node
""".split()


def run_cases(program, mode):
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": paths, "CUDA_EMULATOR_CHECK": "races", "CUDA_CORE_DEVICE": "software"}
    environment["CUDA_EMULATOR_MODE"] = mode
    command = [sys.executable, "-c", BEGIN + program + END]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", params=MODES)
def run(request):
    return run_cases(WORK, request.param)


@pytest.fixture(scope="module", params=MODES)
def allocations(request):
    return run_cases(ALLOCATIONS, request.param)


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


@pytest.mark.parametrize("case", EARLY)
def test_use_of_memory_before_its_allocation_is_reported(allocations, case):
    made = "cuMemAllocFromPoolAsync|cuGraphAdd"  # by the call that returned the address
    begun = r"\n  nothing orders it after the allocation by (cuMemAllocFromPoolAsync|cuGraphLaunch)\n"
    assert re.search(f"{EARLY[case]} in the 128 bytes of .* from ({made})", allocations[case]), allocations[case]
    assert re.search(begun, allocations[case]), allocations[case]


@pytest.mark.parametrize("case", LATE)
def test_use_of_memory_after_its_allocation_is_not_reported(allocations, case):
    assert allocations[case] == ""


def test_kernel_that_polls_the_host_can_follow_later_work():
    assert run_cases(POLLING, "eager") == {"memory": "", "contents": ""}
