# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""With the check ``races``, two threads that access the same byte without an order are reported with both places."""

import re

import pytest

from support.check_runs import run_cases

pytestmark = pytest.mark.requires(software=True)

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" {
__global__ void missing_barrier(int* x, int* out, int bad)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x; // first of missing_barrier
    if (!bad) __syncthreads();
    atomicExch(&out[threadIdx.x % 32], tile[63 - threadIdx.x]); // at missing_barrier
}
// The barrier after the loads is missing, so the next round overwrites them.
__global__ void missing_second_barrier(int* x, int* out, int bad)
{
    extern __shared__ int values[];
    for (int round = 0; round < 2; ++round) {
        if (threadIdx.x < 32) values[threadIdx.x] = round; // at missing_second_barrier
        __syncthreads();
        if (threadIdx.x >= 32) out[threadIdx.x - 32] = values[threadIdx.x - 32]; // first of missing_second_barrier
        if (!bad) __syncthreads();
    }
}
__global__ void reduction(int* x, int* out, int bad)
{
    __shared__ int sums[64];
    sums[threadIdx.x] = 1;
    __syncthreads();
    for (int half = 32; half; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half]; // at reduction // first of reduction
        if (half > 16 || !bad) __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = sums[0];
}
__global__ void missing_syncwarp(int* x, int* out, int bad)
{
    __shared__ int lanes[64];
    lanes[threadIdx.x] = threadIdx.x; // first of missing_syncwarp
    if (!bad) __syncwarp();
    atomicExch(&out[threadIdx.x % 32], lanes[threadIdx.x ^ 1]); // at missing_syncwarp
}
__global__ void counter(int* x, int* out, int bad)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (bad) count = count + 1; // at counter // first of counter
    else atomicAdd(&count, 1);
    __syncthreads();
    out[0] = count;
}
__global__ void read_beside_atomics(int* x, int* out, int bad)
{
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1u); // first of read_beside_atomics
    if (!bad) __syncthreads();
    if (threadIdx.x == 0 || !bad) atomicExch(&out[threadIdx.x % 32], count); // at read_beside_atomics
}
__global__ void different_values(int* x, int* out, int bad)
{
    __shared__ int winner;
    winner = bad ? threadIdx.x : 7; // at different_values // first of different_values
    __syncthreads();
    out[0] = winner;
}
// A named barrier for one half does not order the other.
__global__ void named_barrier(int* x, int* out, int bad)
{
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x; // first of named_barrier
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    tile.sync();
    atomicExch(&out[threadIdx.x % 32], values[threadIdx.x ^ (bad ? 32 : 1)]); // at named_barrier
}
// Atomic functions pass on what the thread knows, also what it learned from others at another address.
__global__ void chain_of_atomics(int* x, int* out, int bad)
{
    __shared__ int value, flags[3];
    if (threadIdx.x < 3) flags[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 5; // first of chain_of_atomics
        atomicExch(&flags[0], 1);
    } else if (threadIdx.x == 1) {
        while (!atomicAdd(&flags[0], 0)) ;
        atomicExch(&flags[1], 1);
    } else if (threadIdx.x == 2) {
        atomicExch(&flags[2], 1);
    } else if (threadIdx.x == 40) {
        while (!atomicAdd(&flags[bad ? 2 : 1], 0)) ;
        out[0] = value; // at chain_of_atomics
    }
}
// Silent: neighboring bytes, several barriers, one thread for all, ordered by atomics, and values of one thread.
__global__ void silent(int* x, int* out, int bad)
{
    __shared__ unsigned char bytes[64];
    __shared__ int total, done, flags[2];
    bytes[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) total = done = 0;
    __syncthreads();
    atomicAdd(&total, bytes[63 - threadIdx.x]);
    if (atomicAdd(&done, 1) == 63)
        out[0] = total;
    flags[threadIdx.x / 32] = 5;
    auto block = cg::this_thread_block();
    auto token = block.barrier_arrive();
    block.barrier_wait(static_cast<decltype(token)&&>(token));
    int sum = __shfl_down_sync(~0u, bytes[threadIdx.x], 1);
    bytes[threadIdx.x] = sum + flags[1 - threadIdx.x / 32];
}
}
"""
BUGS = {  # a thread can be preempted at any check, so either access of a race may come first
    "missing_barrier": "(load|store) of 4 bytes at .* in the 256 bytes of __shared__ tile",
    "missing_second_barrier": "(load|store) of 4 bytes at .* in the 128 bytes of dynamic shared memory",
    "reduction": "(load|store) of 4 bytes at .* in the 256 bytes of __shared__ sums",
    "missing_syncwarp": "(load|store) of 4 bytes at .* in the 256 bytes of __shared__ lanes",
    "counter": "(load|store) of 4 bytes at .* in the 4 bytes of __shared__ count",
    "read_beside_atomics": "(load of|store of) 4 bytes at .* in the 4 bytes of __shared__ count",
    "different_values": "store of 4 bytes at .* in the 4 bytes of __shared__ winner",
    "named_barrier": "(load|store) of 4 bytes at .* in the 256 bytes of __shared__ values",
    "chain_of_atomics": "(load|store) of 4 bytes at .* in the 4 bytes of __shared__ value",
}


@pytest.fixture(scope="module")
def reports():
    return run_cases(SOURCE, [*BUGS, "silent"], "races", block=64)


def lines(words):
    return {number for number, line in enumerate(SOURCE.splitlines(), 1) if f"// {words}" in line}


@pytest.mark.parametrize("bug", BUGS)
def test_race_is_reported_with_both_places(reports, bug):
    text = reports[bug, 1]
    assert re.search(rf"kernel {bug}: data race: {BUGS[bug]}", text), text
    other, place = re.findall(r"bugs\.cu:(\d+)", text)
    assert {int(other), int(place)} <= lines(f"at {bug}") | lines(f"first of {bug}"), text
    assert re.search(r"no barrier orders it after the \w+( access)? by thread \(\d+, 0, 0\)\n  at bugs", text), text
    assert re.search(r"block \(0, 0, 0\) of \(1, 1, 1\), thread \(\d+, 0, 0\) of \(64, 1, 1\)", text)
    for number, source in re.findall(r"  at bugs\.cu:(\d+) in .*\n    (.*)", text, re.MULTILINE):
        assert SOURCE.splitlines()[int(number) - 1].strip() == source
    assert len(re.findall(r"  at bugs\.cu:\d+ in .*\n    \S", text)) == 2, text
    digits = r"0x([0-9a-f]{2}){1,8}"
    assert re.search(rf", which (loads {digits}|stores {digits} over {digits})\n", text), text


@pytest.mark.parametrize("bug", [*BUGS, "silent"])
def test_kernel_without_the_race_is_not_reported(reports, bug):
    assert reports[bug, 0] == ""


LOOPS = r"""
__device__ int sum;
__device__ double total;
__device__ float most;
__device__ double add(double* p, double value)
{
    unsigned long long* word = (unsigned long long*)p;
    unsigned long long old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, (unsigned long long)__double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__device__ void raise(float* p, float value)
{
    for (int old = *(int*)p, assumed; value > __int_as_float(old);) {
        assumed = old;
        if ((old = atomicCAS((int*)p, assumed, __float_as_int(value))) == assumed) break;
    }
}
extern "C" {
__global__ void loop(int* x, int* out, int bad)
{
    add(&total, 1);
    if (bad && blockIdx.x == 1) total = 5;
}
__global__ void loop_that_ends_early(int* x, int* out, int bad)
{
    raise(&most, threadIdx.x ^ 5);
    if (bad && threadIdx.x == 7) atomicAdd(&most, 1.f), most = 3;
}
__global__ void loop_in_shared_memory(int* x, int* out, int bad)
{
    __shared__ double part;
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    if (bad) atomicAdd(&part, 1.0); // other updates do not verify what was loaded
    else add(&part, 1);
    if (bad && threadIdx.x == 9) out[0] = part;
}
__global__ void swap_in_a_block(int* x, int* out, int bad)
{
    int old = sum, next = bad + 2 * blockIdx.x + 1;
    if (threadIdx.x == 0) bad ? atomicCAS_block(&sum, old, next) : atomicCAS(&sum, old, next);
}
}
"""


def test_loads_that_compare_and_swap_verifies_are_no_race():
    names = ["loop", "loop_that_ends_early", "loop_in_shared_memory", "swap_in_a_block"]
    reports = run_cases(LOOPS, names, "races", grid=2, block=64)
    assert [reports[name, 0] for name in names] == [""] * 4
    assert [name for name in names if "data race" not in reports[name, 1]] == []


MEETING = r"""
__device__ unsigned arrived;
__device__ volatile unsigned generation;
extern "C" __global__ void meet(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    for (int round = 0; round < 400; ++round) {
        unsigned mine = generation;
        __threadfence();
        if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
            arrived = 0;
            __threadfence();
            generation = mine + 1;
        } else {
            while (generation == mine) ;
        }
        __threadfence();
        if (bad) x[0] = blockIdx.x;
    }
}
"""


def test_last_block_can_reset_the_counter_of_arrivals():
    # Blocks may update the counter in another order than the one in which the updates were noted.
    reports = run_cases(MEETING, ["meet"], "races", grid=2)
    assert reports["meet", 0] == ""
    assert "data race" in reports["meet", 1]


def test_without_the_check_races_are_not_reported():
    texts = run_cases(SOURCE, ["missing_barrier", "counter"], "memory", block=64)
    assert set(texts.values()) == {""}


LOCK = r"""
__device__ int mutex, total;
extern "C" __global__ void locked(int* x, int* out, int bad)
{
    if (threadIdx.x)
        return;
    for (int i = 0; i < 20; ++i) {
        while (atomicCAS(&mutex, 0, 1)) ;
        __threadfence();
        total += 1;
        if (!bad) __threadfence();
        atomicExch(&mutex, 0);
    }
}
"""


def test_lock_handed_to_another_block_orders_both():
    reports = run_cases(LOCK, ["locked"], "races", grid=64)
    assert reports["locked", 0] == ""
    assert "data race" in reports["locked", 1]


OTHER = r"""
extern "C" __global__ void vector(int* x, int* out, int bad)
{
    ((float2*)(out + bad))->x = 1;
}
extern "C" __global__ void twice(int* x, int* out, int bad)
{
    if (threadIdx.x)
        return;
    int* p = (int*)malloc(8);
    free(p);
    if (bad) free(p);
}
"""


def test_other_faults_are_reported_with_the_check_of_races():
    reports = run_cases(OTHER, ["vector", "twice"], "races")
    assert (reports["vector", 0], reports["twice", 0]) == ("", "")
    assert re.search(r"misaligned address: .*\n  at bugs\.cu:4 in vector", reports["vector", 1])
    assert re.search(r"\n  at bugs\.cu:12 in twice", reports["twice", 1])


SAME_VALUES = """
import cuda.emulator
import numpy as np
from cuda.core import Device, LaunchConfig, Program, launch
device = Device()
device.set_current()
stream = device.create_stream()
source = '''extern "C" __global__ void same(double* x, double* out)
{
    double sum = 0;
    for (int i = 0; i < 40; ++i) {
        sum += x[threadIdx.x % 4];
        x[threadIdx.x % 4] = 1;
    }
    out[blockIdx.x * 8 + threadIdx.x] = sum;
}'''
kernel = Program(source, "c++").compile("cubin").get_kernel("same")
x, out = device.to_device(np.ones(4), stream=stream), device.allocate(1024, stream=stream)
for _ in range(40):
    launch(stream, LaunchConfig(grid=16, block=8), kernel, x, out)
    stream.sync()
print("silent")
"""


def test_concurrent_stores_of_equal_values_are_not_reported(child):
    assert child(SAME_VALUES, CHECK="races", THREADS=8) == "silent\n"


PREEMPTED = """
from cuda.core import Device, LaunchConfig, Program, launch
device = Device()
device.set_current()
stream = device.create_stream()
source = '''extern "C" __global__ void same(int* out)
{
    __shared__ int cell;
    int sum = 0;
    for (int i = 0; i < 2000; ++i) {
        cell = i;
        __syncthreads();
        sum += cell;
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}'''
kernel = Program(source, "c++").compile("cubin").get_kernel("same")
out = device.allocate(1024, stream=stream)
for _ in range(3):
    launch(stream, LaunchConfig(grid=1, block=128), kernel, out)
    stream.sync()
print("silent")
"""


# The threads of this kernel are preempted now and then: not between the check of a store and the store.
def test_equal_stores_of_preempted_threads_are_not_reported(child):
    assert child(PREEMPTED, CHECK="races") == "silent\n"


SCOPES = """
import cuda.emulator
from cuda.core import Device, LaunchConfig, LaunchError, Program, launch
source = '''extern "C" {
__global__ void mixed(int* own, int* all)
{
    for (int i = 0; i < 30000; ++i) {
        if (threadIdx.x < 32) atomicAdd_block(&own[blockIdx.x], 1);
        else atomicAdd(all, 1);
    }
}
__global__ void wild(int* p) { atomicAdd_block(p + (1LL << 40), 1); }
__global__ void count(int* p) { atomicAdd(p, 1); }
}'''

def run(name, grid, block):
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(source, "c++").compile("cubin").get_kernel(name)
    arguments = [device.zeros(4, "i4", stream=stream) for _ in kernel.arguments_info]
    launch(stream, LaunchConfig(grid=grid, block=block), kernel, *arguments)
    stream.sync()
"""
ENDS = """
for _ in range(8):
    try: run("wild", 8, 1)
    except LaunchError as error: assert "illegal address" in str(error), error
    cuda.emulator.reset()
    run("count", 64, 32)
print("silent")
"""


def test_scope_of_a_preempted_thread_is_its_own(child):
    assert child(SCOPES + "run('mixed', 4, 64); print('silent')", CHECK="races") == "silent\n"


def test_scope_of_a_thread_ends_with_it_at_a_fault(child):
    assert "silent\n" in child(SCOPES + ENDS, CHECK="races")


ENDED = r"""
template <class F> __device__ void race(int* x, int* out, int bad, F next)
{
    int thread = threadIdx.x;
    if (thread == 3) out[0] = x[7];
    if (thread == 5) {
        if (bad) x[7] = 9;
        return;
    }
    next(thread);
}
extern "C" {
__global__ void access(int* x, int* out, int bad)
{
    race(x, out, bad, [=](int thread) { if (thread == 12) out[1] = x[0]; });
}
__global__ void barrier(int* x, int* out, int bad) { race(x, out, bad, [](int) { __syncthreads(); }); }
__global__ void mask(int* x, int* out, int bad) { race(x, out, bad, [=](int) { atomicOr(out + 2, __activemask()); }); }
__global__ void wait(int* x, int* out, int bad) { race(x, out, bad, [](int) { __nanosleep(100); }); }
__global__ void end(int* x, int* out, int bad) { race(x, out, bad, [](int) {}); }
}
"""
AFTER = ["access", "barrier", "mask", "wait", "end"]


@pytest.fixture(scope="module")
def ended():
    return run_cases(ENDED, AFTER, "races")


@pytest.mark.parametrize("after", AFTER)
def test_race_found_after_its_thread_exited_names_thread(ended, after):
    assert ended[after, 0] == ""
    text = ended[after, 1]
    # Thread 3 loads and thread 5 stores, usually in this order.
    found = re.search(r"data race: (\w+) of 4 bytes .*\n.* by thread \((\d), 0, 0\)\n", text)
    thread = re.search(r", thread \((\d), 0, 0\) of \(32, 1, 1\)", text)
    assert (*found.groups(), thread[1]) in [("store", "3", "5"), ("load", "5", "3")], text
