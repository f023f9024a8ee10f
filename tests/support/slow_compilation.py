# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A program text that compiles slowly, and that interrupts its own compilation by a signal."""

# `send()` interrupts the main thread once it compiles, links or loads; `back()` checks that the handler ran meanwhile.
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
