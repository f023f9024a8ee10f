# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Advice about kernels whose transactions, bank conflicts, branches and barriers follow from their construction."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.requires(software=True)

PROGRAM = '''
from cuda.core import Device, LaunchConfig, Program, launch

SOURCE = """
extern "C" __global__ void coalesced(float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void stride_2(float* x, float* y) { y[threadIdx.x] = x[2 * threadIdx.x]; }
extern "C" __global__ void stride_32(float* x, float* y) { y[threadIdx.x] = x[32 * threadIdx.x]; }
extern "C" __global__ void misaligned(float* x, float* y) { y[threadIdx.x + 1] = x[threadIdx.x + 1]; }
extern "C" __global__ void broadcast(float* x, float* y) { y[threadIdx.x] = x[0]; }
extern "C" __global__ void vectors(float4* x, float4* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void columns(float* x, float* y)
{
    __shared__ float tile[32][32], padded[32][33];
    int i = threadIdx.x;
    tile[i][0] = 1;
    padded[i][0] = 2;
    tile[0][i] = 3;
    y[i] = padded[3][0];
}
extern "C" __global__ void wide(float* x, float* y)
{
    __shared__ double numbers[64];
    numbers[threadIdx.x] = 1;
    numbers[2 * threadIdx.x] = 1;
}
extern "C" __global__ void patterns(float* x, float* y)
{
    __shared__ float words[64];
    __shared__ unsigned char bytes[128];
    __shared__ double pairs[64];
    __shared__ float4 quads[64];
    int i = threadIdx.x;
    words[2 * i] = 1;
    words[i / 2] = 2;
    words[5] = 3;
    bytes[127 - i] = 4;
    bytes[4 * i] = 5;
    pairs[i % 16] = 6;
    pairs[3] = 7;
    float4 four = {8, 8, 8, 8};
    quads[i] = four;
    quads[2 * i] = four;
    if (i < 4)
        words[16 * i] = 10;
    y[i] = words[63 - 2 * i];
}
extern "C" __global__ void divergent(float* x, float* y)
{
    int i = threadIdx.x;
    if (i % 2)
        y[i] = 1;
    if (i < 64)
        y[i] = 2;
    for (int k = 0; k < min(i, 1); ++k)
        y[i] += 1;
}
extern "C" __global__ void barriers(float* x, float* y)
{
    __shared__ float s[64];
    int i = threadIdx.x;
    s[i] = i;
    __syncthreads();
    s[i] += 1;
    __syncthreads();
    y[i] = s[63 - i];
    atomicAdd(&y[64], 1.0f);
}
"""
device = Device(0)
device.set_current()
stream = device.create_stream()
x, y = (device.allocate(8192, stream=stream) for _ in range(2))
x.fill(0, stream=stream)
code = Program(SOURCE, "c++").compile("cubin")
names = "coalesced stride_2 stride_32 misaligned broadcast vectors columns wide patterns divergent barriers"
for name in names.split():
    threads = 64 if name == "barriers" else 32
    launch(stream, LaunchConfig(grid=2, block=threads), code.get_kernel(name), x, y)
stream.sync()
raise SystemExit(3)
'''


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("advice")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "cuda.emulator", "--advise=advice.json", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200, cwd=folder)
    done.advice = json.loads((folder / "advice.json").read_text())
    return done


def row_of(done, source):
    (row,) = (row for row in done.advice["lines"] if source in row["source"])
    return row


def test_exit_status_is_the_programs(done):
    assert done.returncode == 3, done.stderr


@pytest.mark.parametrize(
    ("kernel", "loads", "best", "stores"),
    [
        ("coalesced", 4, 4, 4),
        ("stride_2", 8, 4, 4),
        ("stride_32", 32, 4, 4),
        ("misaligned", 5, 4, 5),
        ("broadcast", 1, 1, 4),
        ("vectors", 16, 16, 16),
    ],
)
def test_sectors_of_global_requests(done, kernel, loads, best, stores):
    row = row_of(done, f"void {kernel}(")
    assert row["loads"] == row["stores"] == 2
    found = row["load_sectors"] / 2, row["best_load_sectors"] / 2, row["store_sectors"] / 2
    assert found == (loads, best, stores)


@pytest.mark.parametrize(
    ("source", "conflicts"),
    [
        ("tile[i][0] = 1", 31),
        ("padded[i][0] = 2", 0),
        ("tile[0][i] = 3", 0),
        ("padded[3][0]", 0),
        ("numbers[threadIdx.x]", 0),
        ("numbers[2 * threadIdx.x]", 2),  # each half of the warp in two passes
        ("words[2 * i] = 1", 1),
        ("words[i / 2] = 2", 0),  # two lanes each at the same word
        ("words[5] = 3", 0),
        ("bytes[127 - i] = 4", 0),  # four lanes each in one word
        ("bytes[4 * i] = 5", 0),
        ("pairs[i % 16] = 6", 0),
        ("pairs[3] = 7", 0),
        ("quads[i] = four", 0),
        ("quads[2 * i] = four", 4),  # each quarter of the warp in two passes
        ("words[16 * i] = 10", 1),  # of four lanes
        ("words[63 - 2 * i]", 1),
    ],
)
def test_bank_conflicts_of_shared_requests(done, source, conflicts):
    row = row_of(done, source)
    assert row["shared_accesses"] == 2
    assert row["bank_conflicts"] / 2 == conflicts


def test_divergent_branches(done):
    row = row_of(done, "if (i % 2)")
    assert (row["branches"], row["divergent_branches"]) == (2, 2)
    row = row_of(done, "k < min(i, 1)")  # all lanes but one run it once; the branch of min() does not count
    assert (row["branches"], row["divergent_branches"]) == (4, 2)
    assert not any("i < 64" in row["source"] for row in done.advice["lines"])


def test_redundant_barriers(done):
    first, second = done.advice["barriers"]
    assert (first["executions"], first["redundant"]) == (2, True)
    assert (second["executions"], second["redundant"]) == (2, False)
    assert second["line"] == first["line"] + 2


def test_atomic_functions_are_not_counted(done):
    assert not any("atomicAdd" in row["source"] for row in done.advice["lines"])
    assert row_of(done, "y[i] = s[63 - i]")["stores"] == 4


def test_occupancy(done):
    kernels = {row["kernel"]: row for row in done.advice["kernels"]}
    assert kernels["coalesced"]["warps"] == 32
    assert kernels["coalesced"]["limit"] == "the number of blocks"
    assert kernels["columns"]["shared_bytes"] == 4096 + 4224
    assert kernels["columns"]["limit"] == "shared memory"
    assert (kernels["barriers"]["warps"], kernels["barriers"]["limit"]) == (64, None)


def test_table_has_each_line_barrier_and_kernel(done):
    lines = done.stdout.splitlines()
    assert lines[0].split() == (
        "place loads sectors best stores sectors best shared conflicts divergent source".split()
    )
    (stride,) = (line.split() for line in lines if "void stride_32(" in line)
    assert stride[1:7] == ["2", "32.0", "4.0", "2", "4.0", "4.0"]
    assert sum("a redundant barrier: in 2 of 2 executions" in line for line in lines) == 1
    assert any(line.endswith("24 blocks and 24 of 64 warps on an SM, limited by shared memory")
               for line in lines)  # fmt: skip
