# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that check inline whether memory is accessible, as with the ``memory`` check alone."""

import re

START = """
import ctypes, mmap
import numpy as np
import cuda.emulator
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, launch
def run(name, *arguments, device=0):
    device = Device(device); device.set_current(); stream = device.create_stream()
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel(name), *arguments)
    try: stream.sync(); print("-> passed")
    except Exception as error: print("->", str(error).replace("\\n", " ")); cuda.emulator.reset()
Device(0).set_current()
"""


def outcomes(text: str) -> list[str]:
    return [line[3:] for line in text.splitlines() if line.startswith("-> ")]


def test_second_device_is_checked_against_its_own_memory(child):
    text = child(f"""{START}
code = Program('extern "C" __global__ void store(int* p, int i) {{ p[i] = 1; }}', "c++").compile("cubin")
for used in range(3):  # before, while and after the second device runs code
    Device(0).set_current()
    memory = Device(0).allocate(64, stream=Device(0).create_stream()); Device(0).sync()
    run("store", memory, np.int32(15))
    if used == 1: run("store", memory, np.int32(0), device=1)
    else: run("store", memory, np.int32(16))
""")
    lines = outcomes(text)
    assert len(lines) == 6 and lines[::2] == ["passed"] * 3
    assert all("just past the end of the 64 bytes of device memory of device 0" in line for line in lines[1::4])
    assert "which this device cannot access" in lines[3]


def test_registered_memory_of_the_host_is_accessible_to_its_end(child):
    text = child(f"""{START}
code = Program('extern "C" __global__ void sum(const int* p, int n) {{ int s = 0;'
               ' for (int i = 0; i < n; ++i) s += p[i]; if (s) asm volatile("trap;"); }}', "c++").compile("cubin")
memory = mmap.mmap(-1, 4 << 20)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
assert driver.cuMemHostRegister(address, 4 << 20, 0)[0] == 0
run("sum", np.uint64(address), np.int32(1 << 20))
run("sum", np.uint64(address), np.int32((1 << 20) + 1))
""")
    first, second = outcomes(text)
    assert first == "passed"
    assert "load of 4 bytes" in second and "just past the end of the 4194304 bytes of registered host memory" in second


LINES = """
struct Large { int words[40]; };
extern "C" __global__ void lines(int* p, Large* large, int bad, int* out)
{
    int* at[6] = {p, p, p, p, p, p};
    if (bad < 6) at[bad] += 16;
    out[0] = p[1];
    atomicAdd(at[0], 2);
    out[1] = atomicCAS(at[1], 0, 3);
    out[2] = __ldg(at[2]);
    out[3] = atomicMax((unsigned long long*)(at[3] + (bad == 7)), 4ull);
    *(volatile int*)at[4] = out[0];
    out[4] = *at[5];
    large[bad == 6] = large[0];
}
"""


def test_accesses_in_inlined_functions_are_reported_at_line(child):
    text = child(f"""{START}
code = Program('''{LINES}''', "c++").compile("cubin")
for bad in range(9):
    Device(0).set_current(); stream = Device(0).create_stream()
    memory, large, out = (Device(0).allocate(size, stream=stream) for size in (64, 160, 64)); stream.sync()
    run("lines", memory, large, np.int32(bad), out)
""")
    *faults, last = outcomes(text)
    assert last == "passed"
    found = [int(re.search(r"default_program:(\d+) in lines", fault)[1]) for fault in faults]
    assert found == [8, 9, 10, 11, 12, 13, 14, 11]
    assert "store of 160 bytes" in faults[6] and "misaligned address" in faults[7]


def test_mapping_in_place_of_shadow_is_reported(child):
    text = child("import ctypes\nmap_at = ctypes.CDLL(None).mmap; map_at.restype = ctypes.c_size_t\n"
                 "map_at.argtypes = [ctypes.c_size_t] * 2 + [ctypes.c_int] * 3 + [ctypes.c_size_t]\n"
                 f"assert map_at(0x2FF000000000, 4096, 3, 0x100022, -1, 0) == 0x2FF000000000\n{START}"
                 """source = 'extern "C" __global__ void store(int* p, int i) { p[i] = 1; }'
code = Program(source, "c++").compile("cubin")
memory = Device(0).allocate(64, stream=Device(0).create_stream()); Device(0).sync()
run("store", memory, np.int32(0))
""")  # fmt: skip
    assert "the addresses starting at 0x200000000000 are in use" in text and outcomes(text) == ["passed"]


SHARED = """
extern "C" __global__ void fixed(int i, int* out)
{
    __shared__ char bytes[13];
    __shared__ float4 vectors[3];
    char* at = i & 1 ? (char*)vectors : bytes;
    at[i >> 1] = 1;
    out[0] = at[i >> 1];
}
extern "C" __global__ void dynamic(int i, int* out)
{
    extern __shared__ char bytes[];
    bytes[i] = 1;
    out[0] = bytes[i];
}
"""


def test_shared_memory_is_accessible_to_its_end_during_launch(child):
    text = child(f"""{START}
code = Program('''{SHARED}''', "c++").compile("cubin")
stream = Device(0).create_stream(); out = Device(0).allocate(64, stream=stream); stream.sync()
def fixed(i, vectors=0): run("fixed", np.int32(2 * i + vectors), out)
def dynamic(i, size):
    Device(0).set_current(); stream = Device(0).create_stream()
    launch(stream, LaunchConfig(grid=1, block=1, shmem_size=size), code.get_kernel("dynamic"), np.int32(i), out)
    try: stream.sync(); print("-> passed")
    except Exception as error: print("->", str(error).replace("\\n", " ")); cuda.emulator.reset()
for i in (0, 7, 8, 12): fixed(i)
for i in (0, 47): fixed(i, 1)
for size in (4096, 20): dynamic(size - 1, size)
fixed(13); fixed(-1); fixed(48, 1); dynamic(20, 20); dynamic(100, 20); dynamic(-1, 20); dynamic(0, 0)
""", THREADS=1)  # fmt: skip
    lines = outcomes(text)
    assert lines[:8] == ["passed"] * 8
    for line, words in zip(lines[8:], [
        "just past the end of the 13 bytes of __shared__ bytes",
        "before the 13 bytes of __shared__ bytes",
        "just past the end of the 48 bytes of __shared__ vectors",
        "just past the end of the 20 bytes of dynamic shared memory",
        "80 bytes past the end of the 20 bytes of dynamic shared memory",
        "before the 20 bytes of dynamic shared memory",
        "dynamic shared memory, but the launch requested none",
    ], strict=True):  # fmt: skip
        assert "store of 1 byte" in line and words in line, line
