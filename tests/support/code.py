# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code of every format, and a program that compiles slowly and interrupts its own compilation."""

from __future__ import annotations

import functools
import struct
from pathlib import Path

ARCH = "sm_90"

MAIN = 'extern "C" __device__ int part(int); extern "C" __global__ void f(int* x) { *x = part(*x); }'
PART = 'extern "C" __device__ int part(int y) { return 3 * y + 1; }'
RUNTIME = 'extern "C" __global__ void f(int* x) { x[0] = cudaGetDevice(x + 1); }'

PTX = """.version 7.8
.target sm_80
.address_size 64
.visible .entry triple(.param .u64 x)
{
    .reg .b64 %a;
    .reg .b32 %v;
    ld.param.u64 %a, [x];
    cvta.to.global.u64 %a, %a;
    ld.global.u32 %v, [%a];
    mul.lo.s32 %v, %v, 3;
    st.global.u32 [%a], %v;
    ret;
}
"""


@functools.cache
def compiled(source: str, target: str):
    """Return a source compiled for linking."""
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(arch=ARCH, relocatable_device_code=True, name=target)
    program = Program(source, "c++", options)
    program._warnings = lambda *args: ()  # that the driver may be too old for the code does not matter here
    return program.compile(target)


def runtime_library() -> str:
    """Return the path of the CUDA runtime's library for device code, which is a host library."""
    from cuda.pathfinder import find_static_lib

    return find_static_lib("cudadevrt")


@functools.cache
def runtime_object() -> bytes:
    """Return the host object file in that library: the first ELF file in the archive."""
    archive = Path(runtime_library()).read_bytes()
    start = len("!<arch>\n")
    while True:
        size = int(archive[start + 48 : start + 58])
        member = archive[start + 60 : start + 60 + size]
        if member.startswith(b"\x7fELF"):
            return member
        start += 60 + size + size % 2


@functools.cache
def runtime_fatbin() -> bytes:
    """Return the fat binary in that object file."""
    data = runtime_object()
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQ", data, table + index * size) for index in range(count)]
    for name, _, _, _, start, length in sections:
        if data.startswith(b"__nv_relfatbin\0", sections[names][4] + name):
            return data[start : start + length]
    raise LookupError("the object file has no fat binary")


def run_on_int(stream, kernel, value: int) -> int:
    """Run a kernel that changes one int in place, and return the changed value."""
    from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, launch

    with LegacyPinnedMemoryResource().allocate(4) as buffer, memoryview(buffer) as raw, raw.cast("B") as view:
        view[:] = struct.pack("<i", value)
        launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
        stream.sync()
        return struct.unpack("<i", view)[0]


# `send()` interrupts the main thread once it compiles, links or loads; `back()` checks that the handler has run.
INTERRUPT = r"""
import os, signal, sys, threading, time
from cuda.core._utils import host_wait as waiting
busy = []
def children(): return any(open(f"/proc/self/task/{n}/children").read() for n in os.listdir("/proc/self/task"))
def stop(*arguments): busy.append(bool(waiting._running or children())); signal.default_int_handler(*arguments)
signal.signal(signal.SIGINT, stop)
def send():
    while not (waiting._running or children()): time.sleep(0.01)
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
def back(): assert busy == [True], busy
"""

_PROGRAM = r'''
from cuda.core import Program, ProgramOptions
source = """
template<int N> struct F { static __device__ float f(float x) { return F<N-1>::f(x*1.01f) + sinf(x)*F<N-2>::f(x+N); } };
template<> struct F<0> { static __device__ float f(float x) { return x; } };
template<> struct F<1> { static __device__ float f(float x) { return x + 1; } };
""" + "".join(f"extern \"C\" __global__ void k{i}(float* p) {{ *p = F<{DEPTH + i % 3}>::f(*p + {i}); }}\n"
              for i in range(KERNELS))
source += f"__device__ double stamp = {time.time()};"  # so that no cache has it
'''


def slow_program(depth: int, kernels: int = 40) -> str:
    """Return the first part of a program, which defines ``source``, ``send()`` and ``back()``.

    NVIDIA's compiler takes some seconds for a depth of 5, and minutes for 12. The host compiler
    of the software device takes some seconds for a thousand kernels.
    """
    return INTERRUPT + _PROGRAM.replace("DEPTH", str(depth)).replace("KERNELS", str(kernels))
