# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The rows of the tables of calls: one operation as a statement in C, with ``cuda.core``, CuPy and PyCUDA.

``report.py`` runs this script once per library and asks for samples. To add a row, add an entry to a table: its
statements run in a loop, with the names that the library's ``*_names`` function, or ``calls.c``, defines.

    python calls.py                      print our figures on the driver that does nothing, in nanoseconds
    python calls.py --device launch      print our figures of rows whose names contain "launch", on the GPU
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import itertools
import statistics
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from turns import OFFICIAL, OURS, serve, timed_loop, working

import native

BATCH = 100
SLOW = ("capture 100 kernels",)  # in batches of one

LAUNCH = "cuLaunchKernelEx(&config, h.{0}, {1}, 0)"
C_EVENT = "void* event; TRY(cuEventCreate(&event, 2)); TRY(cuEventRecord(event, h.stream)); "

# Each table: the name of a row, and the statements by library. "core" is any cuda.core, "ours" only this one.
TABLES: dict[str, dict[str, dict[str, str]]] = {
    "Launches": {
        "launch, no argument": {
            "C": LAUNCH.format("none", 0),
            "core": "launch(stream, config, none)",
            "CuPy": "none(one_block, one_block, ())",
            "PyCUDA": "none.prepared_async_call(grid, block, stream)",
        },
        "launch, 1 buffer": {
            "C": LAUNCH.format("one", "one_values"),
            "core": "launch(stream, config, one, x)",
            "CuPy": "one(one_block, one_block, (x,))",
            "PyCUDA": "one.prepared_async_call(grid, block, stream, x)",
        },
        "launch, saxpy": {
            "C": LAUNCH.format("saxpy", "saxpy_values"),
            "core": "launch(stream, config, saxpy, a, x, y, out, n)",
            "CuPy": "saxpy(one_block, one_block, (a, x, y, out, n))",
            "PyCUDA": "saxpy.prepared_async_call(grid, block, stream, a, x, y, out, n)",
        },
        "launch, 16 integers": {
            "C": LAUNCH.format("many", "many_values"),
            "core": "launch(stream, config, many, *integers)",
            "CuPy": "many(one_block, one_block, integers)",
            "PyCUDA": "many.prepared_async_call(grid, block, stream, *integers)",
        },
        "launch, 16 buffers": {
            "C": LAUNCH.format("many", "many_values"),
            "core": "launch(stream, config, many, *buffers)",
            "CuPy": "many(one_block, one_block, buffers)",
            "PyCUDA": "many.prepared_async_call(grid, block, stream, *buffers)",
        },
        # A call of a function has a Python frame of its own, which a loop within one frame does not show.
        "launch, no argument, from a function": {
            "C": LAUNCH.format("none", 0),
            "core": "launch_none()",
        },
        "launch, saxpy, from a function": {
            "C": LAUNCH.format("saxpy", "saxpy_values"),
            "core": "launch_saxpy(a, x, y, out, n)",
        },
        "launch, saxpy, *args from a function": {
            "C": LAUNCH.format("saxpy", "saxpy_values"),
            "core": "launch_saxpy_args(a, x, y, out, n)",
        },
        "launch, config made inline": {
            "C": LAUNCH.format("none", 0),
            "core": "launch(stream, LaunchConfig(grid=1, block=1), none)",
        },
        "bound kernel, saxpy": {
            "C": LAUNCH.format("saxpy", "saxpy_values"),
            "ours": "bound(a, x, y, out, n)",
        },
    },
    "Waits": {
        "launch + stream.sync()": {
            "C": f"TRY({LAUNCH.format('none', 0)}); TRY(cuStreamSynchronize(h.stream))",
            "core": "launch(stream, config, none); stream.sync()",
            "CuPy": "none(one_block, one_block, ()); stream.synchronize()",
            "PyCUDA": "none.prepared_async_call(grid, block, stream); stream.synchronize()",
        },
        "launch + device.sync()": {
            "C": f"TRY({LAUNCH.format('none', 0)}); TRY(cuCtxSynchronize())",
            "core": "launch(stream, config, none); device.sync()",
            "CuPy": "none(one_block, one_block, ()); device.synchronize()",
            "PyCUDA": "none.prepared_async_call(grid, block, stream); Context.synchronize()",
        },
        "launch + record + event.sync()": {
            "C": f"TRY({LAUNCH.format('none', 0)}); {C_EVENT}TRY(cuEventSynchronize(event)); cuEventDestroy(event)",
            "core": "launch(stream, config, none); stream.record().sync()",
            "CuPy": "none(one_block, one_block, ()); stream.record().synchronize()",
            "PyCUDA": "none.prepared_async_call(grid, block, stream); Event().record(stream).synchronize()",
        },
        "stream.sync(), idle": {
            "C": "cuStreamSynchronize(h.stream)",
            "core": "stream.sync()",
            "CuPy": "stream.synchronize()",
            "PyCUDA": "stream.synchronize()",
        },
        "device.sync(), idle": {
            "C": "cuCtxSynchronize()",
            "core": "device.sync()",
            "CuPy": "device.synchronize()",
            "PyCUDA": "Context.synchronize()",
        },
        "event.is_done": {
            "C": "cuEventQuery(h.event)",
            "core": "event.is_done",
            "CuPy": "event.done",
            "PyCUDA": "event.query()",
        },
        "launch + record + device.sync() + is_done": {
            "C": f"TRY({LAUNCH.format('none', 0)}); TRY(cuEventRecord(h.event, h.stream)); TRY(cuCtxSynchronize()); "
            "TRY(cuEventQuery(h.event))",
            "core": "launch(stream, config, none); stream.record(event); device.sync(); event.is_done",
        },
    },
    "Streams and events": {
        "create and close a stream": {
            "C": "void* made; TRY(cuStreamCreateWithPriority(&made, 1, 0)); TRY(cuStreamDestroy(made))",
            "core": "device.create_stream().close()",
            "CuPy": "Stream(non_blocking=True)",
            "PyCUDA": "Stream()",
        },
        "launch + create and close a stream": {
            "C": f"void* made; TRY({LAUNCH.format('none', 0)}); TRY(cuStreamCreateWithPriority(&made, 1, 0)); "
            "TRY(cuStreamDestroy(made))",
            "core": "launch(stream, config, none); device.create_stream().close()",
        },
        "record, new event": {
            "C": f"{C_EVENT}TRY(cuEventDestroy(event))",
            "core": "stream.record()",
            "CuPy": "Event(disable_timing=True).record(stream)",
            "PyCUDA": "Event().record(stream)",
        },
        "record, same event": {
            "C": "cuEventRecord(h.event, h.stream)",
            "core": "stream.record(event)",
            "CuPy": "event.record(stream)",
            "PyCUDA": "event.record(stream)",
        },
        "wait for an event": {
            "C": "cuStreamWaitEvent(h.other, h.event, 0)",
            "core": "other.wait(event)",
            "CuPy": "other.wait_event(event)",
            "PyCUDA": "other.wait_for_event(event)",
        },
        "wait for a stream": {
            "C": f"{C_EVENT}TRY(cuStreamWaitEvent(h.other, event, 0)); TRY(cuEventDestroy(event))",
            "core": "other.wait(stream)",
        },
    },
    "Memory": {
        "allocate and free 1 KiB": {
            "C": "Pointer p; TRY(cuMemAllocFromPoolAsync(&p, 1024, h.pool, h.stream)); "
            "TRY(cuMemFreeAsync(p, h.stream))",
            "core": "device.allocate(1024, stream=stream).close()",
            "CuPy": "malloc_async(1024)",
            "PyCUDA": "mem_alloc(1024).free()",
        },
        "copy 1 KiB": {
            "C": "cuMemcpyAsync(h.out, h.x, 1024, h.stream)",
            "core": "x.copy_to(out, stream=stream)",
            "CuPy": "out.data.copy_from_device_async(x.data, 1024, stream)",
            "PyCUDA": "memcpy_dtod_async(out, x, 1024, stream)",
        },
        "fill 1 KiB": {
            "C": "cuMemsetD8Async(h.x, 0, 1024, h.stream)",
            "core": "x.fill(0, stream=stream)",
            "CuPy": "x.data.memset_async(0, 1024, stream)",
            "PyCUDA": "memset_d8_async(x, 0, 1024, stream)",
        },
    },
    "Graphs": {
        "replay 10 kernels": {
            "C": "cuGraphLaunch(h.graph, h.stream)",
            "core": "graph.launch(stream)",
            "CuPy": "graph.launch(stream)",
        },
        "update a node": {
            "C": "cuGraphExecKernelNodeSetParams(h.graph, h.node, &node_values)",
            "core": "node.update(config=config, kernel=one, args=(address,))",
        },
        "captured function, new pointer in 3 nodes": {
            "C": "for (int k = 0; k < 3; k++) TRY(cuGraphExecKernelNodeSetParams(h.graph, h.node, &node_values)); "
            "TRY(cuGraphLaunch(h.graph, h.stream))",
            "ours": "step(stream, next(addresses))",
        },
        "capture 100 kernels": {
            "C": "void *graph, *made; TRY(cuStreamBeginCapture(h.stream, 2)); "
            f"for (int k = 0; k < 100; k++) TRY({LAUNCH.format('one', 'one_values')}); "
            "TRY(cuStreamEndCapture(h.stream, &graph)); TRY(cuGraphInstantiateWithFlags(&made, graph, 0)); "
            "TRY(cuGraphExecDestroy(made)); TRY(cuGraphDestroy(graph))",
            "core": "capture_all()",
        },
    },
    "Views": {
        "view of a NumPy array": {"core": "view(array, stream_ptr=-1)"},
        "view of a CuPy array": {"core": "view(cupy_array, stream_ptr=-1)"},
        "view of a torch tensor": {"core": "view(tensor, stream_ptr=-1)"},
    },
    "Objects": {
        "LaunchConfig()": {"core": "LaunchConfig(grid=1, block=1)"},
        "get_kernel, seen before": {"core": "code.get_kernel('none')"},
        "Device()": {"core": "Device()"},
        "set_current": {"core": "device.set_current()"},
        "compute_capability": {"core": "device.compute_capability"},
        "properties.x": {"core": "device.properties.multiprocessor_count"},
        "int(buffer.handle)": {"core": "int(x.handle)"},
        "buffer.size": {"core": "x.size"},
    },
}
ROWS = {name: row for table in TABLES.values() for name, row in table.items()}
# A kernel's name contains the sizes of its parameters, for null_driver.c.
KERNELS = {"none": "none", "one": "one_8", "saxpy": "saxpy_4_8_8_8_8", "many": "many" + "_8" * 16}
SOURCE = f"""
extern "C" __global__ void {KERNELS["none"]}() {{}}
extern "C" __global__ void {KERNELS["one"]}(float* p) {{}}
extern "C" __global__ void {KERNELS["saxpy"]}(float a, const float* x, const float* y, float* out, size_t n) {{}}
extern "C" __global__ void {KERNELS["many"]}({", ".join(f"int* p{i}" for i in range(16))}) {{}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help="words that the names of the rows to measure contain")
    parser.add_argument("--device", action="store_true", help="use the driver of this machine")
    parser.add_argument("--arrays", action="store_true", help="import CuPy and torch for the rows of views")
    parser.add_argument("--serve", metavar="LIBRARY", help="measure the rows of a library that stdin names")
    arguments = parser.parse_args()
    if not arguments.device:
        native.load_null_driver()
    batches = batches_of(arguments.serve or OURS, arguments.rows, arguments.arrays)
    if arguments.serve:
        serve(batches)
        return 0
    for name, batch in working(batches).items():
        print(f"{name:44}{statistics.median(batch() for _ in range(31)):10.0f}")
    return 0


def batches_of(library: str, words: list[str], with_arrays: bool = False) -> dict[str, Callable[[], float]]:
    """Return the batches of a library's rows, by name.

    Arrays from other libraries are for processes that measure nothing else, because waits take longer once another
    library takes part.
    """
    keys = {OURS: ("ours", "core"), OFFICIAL: ("core",)}.get(library, (library,))
    statements = {
        name: next((row[key] for key in keys if key in row), None)
        for name, row in ROWS.items()
        if not words or any(word in name for word in words)
    }
    statements = {name: statement for name, statement in statements.items() if statement}
    counts = {name: 1 if name in SLOW else BATCH for name in statements}
    if library == "C":
        return c_batches(statements, counts)
    names = {OURS: core_names, OFFICIAL: core_names, "CuPy": cupy_names, "PyCUDA": pycuda_names}[library]()
    if with_arrays:
        names |= array_names()
    settle = names.pop("settle")
    return {name: settled(timed_loop(statement, counts[name], names), settle) for name, statement in statements.items()}


def settled(batch: Callable[[], float], settle: Callable[[], object]) -> Callable[[], float]:
    """Return a batch that is followed by a wait, which is not timed."""

    def run() -> float:
        taken = batch()
        settle()
        return taken

    return run


def core_names() -> dict[str, object]:
    """Return the names of statements for a ``cuda.core``."""
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
    from cuda.core.utils import StridedMemoryView

    device = Device()
    device.set_current()
    stream, other = device.create_stream(), device.create_stream()
    code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    kernels = {short: code.get_kernel(name) for short, name in KERNELS.items()}
    x, y, out = (device.allocate(1024, stream=stream) for _ in range(3))
    config, event = LaunchConfig(grid=1, block=1), stream.record()
    names = {
        "settle": stream.sync,
        "Device": Device,
        "LaunchConfig": LaunchConfig,
        "launch": launch,
        "view": StridedMemoryView.from_any_interface,
        "device": device,
        "stream": stream,
        "other": other,
        "event": event,
        "code": code,
        "config": config,
        "x": x,
        "y": y,
        "out": out,
        "array": np.ones((64, 64), np.float32),
        "integers": (int(x.handle),) * 16,
        "buffers": (x,) * 16,
        "a": np.float32(2),
        "n": np.uint64(256),
        "address": int(x.handle),
    }
    names |= kernels | launching_functions(stream, config, kernels["none"], kernels["saxpy"])
    if hasattr(kernels["saxpy"], "bind"):
        names["bound"] = kernels["saxpy"].bind(config, stream=stream)
    # Rows whose names are missing are left out.
    for more in (graph_names, captured_names):
        with contextlib.suppress(Exception):
            names |= more(names)
    return names


def launching_functions(stream, config, none, saxpy) -> dict[str, object]:
    """Return functions that launch, as most programs have them."""
    from cuda.core import launch

    def launch_none():
        launch(stream, config, none)

    def launch_saxpy(a, x, y, out, n):
        launch(stream, config, saxpy, a, x, y, out, n)

    def launch_saxpy_args(*arguments):
        launch(stream, config, saxpy, *arguments)

    return {"launch_none": launch_none, "launch_saxpy": launch_saxpy, "launch_saxpy_args": launch_saxpy_args}


def graph_names(core: dict) -> dict[str, object]:
    from cuda.core.graph import GraphDefinition

    config, one, address, launch = core["config"], core["one"], core["address"], core["launch"]
    definition = GraphDefinition()
    first = last = definition.launch(config, one, address)
    for _ in range(9):
        last = last.launch(config, one, address)
    graph = definition.instantiate()

    def capture_all():
        builder = core["device"].create_graph_builder().begin_building()
        for _ in range(100):
            launch(builder, config, one, address)
        graph = builder.end_building().complete()
        graph.close()
        builder.close()

    names = {"graph": graph, "first": first, "definition": definition, "capture_all": capture_all}
    with contextlib.suppress(TypeError):
        names["node"] = graph[first]
    return names


def captured_names(core: dict) -> dict[str, object]:
    """Return a captured function and new addresses, because a reused address would get its own executable."""
    from cuda.core.graph import capture

    config, one, address, launch = core["config"], core["one"], core["address"], core["launch"]

    @capture(data="address")
    def step(stream, address):
        for _ in range(3):
            launch(stream, config, one, address)

    step(core["stream"], address)
    return {"step": step, "addresses": itertools.count(address + 256, 256)}


def array_names() -> dict[str, object]:
    names = {}
    with contextlib.suppress(Exception):
        import cupy

        names["cupy_array"] = cupy.ones((64, 64), np.float32)
    with contextlib.suppress(Exception):
        import torch

        names["tensor"] = torch.ones(64, 64, device="cuda")
    return names


def cupy_names() -> dict[str, object]:
    """Return the names of statements for CuPy. Its stream is current."""
    import cupy

    stream, other = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
    stream.use()
    module = cupy.RawModule(code=SOURCE)
    kernels = {short: module.get_function(name) for short, name in KERNELS.items()}
    x, y, out = (cupy.zeros(256, np.float32) for _ in range(3))
    event = stream.record()
    names = {"x": x, "y": y, "out": out, "stream": stream, "other": other, "event": event} | kernels
    names |= {
        "settle": cupy.cuda.Device().synchronize,
        "device": cupy.cuda.Device(),
        "Stream": cupy.cuda.Stream,
        "Event": cupy.cuda.Event,
        "malloc_async": cupy.cuda.malloc_async,
        "one_block": (1,),
        "integers": (x.data.ptr,) * 16,
        "buffers": (x,) * 16,
        "a": np.float32(2),
        "n": np.uint64(256),
    }
    stream.begin_capture()
    for _ in range(10):
        kernels["one"]((1,), (1,), (x,))
    return names | {"graph": stream.end_capture()}


def pycuda_names() -> dict[str, object]:
    """Return the names of statements for PyCUDA, in the primary context. Its launches are prepared."""
    import pycuda.autoprimaryctx
    import pycuda.compiler
    import pycuda.driver as drv

    module = pycuda.compiler.SourceModule(SOURCE, no_extern_c=True)
    kernels = {short: module.get_function(name) for short, name in KERNELS.items()}
    for short, types in (("none", ""), ("one", "P"), ("saxpy", "fPPPQ"), ("many", "P" * 16)):
        kernels[short].prepare(types)
    x, y, out = (drv.mem_alloc(1024) for _ in range(3))
    stream = drv.Stream()
    names = {name: getattr(drv, name) for name in ("Stream", "Event", "Context", "mem_alloc")}
    names |= {name: getattr(drv, name) for name in ("memcpy_dtod_async", "memset_d8_async")}
    names |= {
        "settle": drv.Context.synchronize,
        "x": x,
        "y": y,
        "out": out,
        "stream": stream,
        "other": drv.Stream(),
        "event": drv.Event().record(stream),
        "grid": (1, 1),
        "block": (1, 1, 1),
        "integers": (int(x),) * 16,
        "buffers": (x,) * 16,
        "a": np.float32(2),
        "n": 256,
    }
    return names | kernels


def c_batches(statements: dict[str, str], counts: dict[str, int]) -> dict[str, Callable[[], float]]:
    """Return the batches of statements in C. Our ``cuda.core`` makes the objects that they use."""
    names = core_names()
    library = c_library(statements.values(), names)

    def batch_of(function, count: int) -> Callable[[], float]:
        function.restype = ctypes.c_int64

        def batch() -> float:
            assert names  # the objects outlive the batch
            total = function(ctypes.c_int(count))
            if total < 0:
                raise RuntimeError(f"code {-total}")
            return total / count

        return settled(batch, library.synchronize)

    return {name: batch_of(library[f"row_{i}"], counts[name]) for i, name in enumerate(statements)}


def c_library(statements: Iterable[str], names: dict) -> ctypes.CDLL:
    """Return calls.c with a function for each statement."""
    functions = "".join(C_LOOP.format(i, body(statement)) for i, statement in enumerate(statements))
    library = native.compile_text(Path(__file__).with_name("calls.c").read_text() + C_TRY + functions)
    set_up(library, names)
    library.launch_on_threads.restype = ctypes.c_int64
    return library


C_TRY = """
#define TRY(call) do { const int error = (call); if (error) return -error; } while (0)
"""
C_LOOP = """
EXPORT int64_t row_{0}(int count) {{
    const int64_t start = now();
    for (int i = 0; i < count; i++) {{ {1}; }}
    return now() - start;
}}
"""


def body(statement: str) -> str:
    """Return a statement that checks the result, if it is a single call."""
    return statement if "TRY" in statement else f"TRY({statement})"


def set_up(library: ctypes.CDLL, names: dict) -> None:
    """Give the C code the driver's functions and the objects."""
    handles = [int(names[name].handle) for name in ("stream", "other", "event")]
    handles.append(int(names["device"].memory_resource.handle))
    handles += [int(names[name].handle) for name in ("none", "one", "saxpy", "many", "graph", "first")]
    handles += [int(names[name].handle) for name in ("x", "y", "out")]
    error = library.set_up(ctypes.CDLL("libcuda.so.1").cuGetProcAddress_v2, (ctypes.c_uint64 * len(handles))(*handles))
    if error:
        raise RuntimeError(f"this driver lacks functions: error {error}")


if __name__ == "__main__":
    sys.exit(main())
