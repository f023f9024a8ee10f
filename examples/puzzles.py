# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Solve twenty puzzles: each is a kernel with a planted mistake, and the software device grades your correction.

    python -m cuda.core.examples puzzles              the names of the puzzles
    python -m cuda.core.examples puzzles DIRECTORY    write the puzzles, or grade those that are there
    python -m cuda.core.examples puzzles --verify     check that each mistake is found, and each solution passes

Each puzzle is a file with a task, a drawing and a kernel. Find the mistake, change the kernel, and run this again.
"""

import contextlib
import importlib.util
import os
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__" and importlib.util.find_spec("cuda.emulator"):
    # Before the first import of cuda.core. The checks find mistakes whose results are right by chance.
    os.environ |= {"CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_CHECK": "memory,races,initialized"}
    os.environ.setdefault("CUDA_EMULATOR_TIME_LIMIT", "20")

import numpy as np

from cuda.core import CUDAError, Device
from cuda.core.utils import kernel

SIMPLE = np.arange(1000, dtype=np.float32)
SIGNED = (SIMPLE * 37 % 101 - 120).astype(np.float32)  # all negative
IMAGE = (np.arange(60 * 44) * 7 % 50).astype(np.float32).reshape(44, 60)
SQUARE = IMAGE[:32, :32].copy()
BYTES = (np.arange(1000) * 29 % 16).astype(np.int32)


@dataclass
class Puzzle:
    """A kernel with a planted mistake.

    The kernel takes the input arrays, the output array and the numbers, in this order. ``mistake`` is a part of the
    right source, and what stands there in the puzzle.
    """

    name: str
    task: str
    drawing: str
    source: str
    mistake: tuple[str, str]
    inputs: tuple
    expected: np.ndarray
    numbers: tuple = ()
    grid: object = 4
    block: object = 256
    sorted: bool = False  # the order of the results does not count

    def text(self) -> str:
        """Return the file of the puzzle."""
        right, wrong = self.mistake
        assert self.solution().count(right) == 1, self.name
        comment = f"{self.task}\n\n{textwrap.dedent(self.drawing).strip(chr(10))}\n\nOne mistake is planted. Find it."
        lines = [f"// {line}".rstrip() for line in comment.splitlines()]
        return "\n".join([*lines, "", self.solution().replace(right, wrong), ""])

    def solution(self) -> str:
        """Return the right source."""
        return textwrap.dedent(self.source).strip()

    def grade(self, source: str) -> str:
        """Run a kernel, and return what is wrong with it, or an empty string."""
        device = Device()
        try:
            function = kernel(source, self.name, options={"name": f"{self.name}.cu"}, cache=False)
            inputs = [device.to_device(array) for array in self.inputs]
            out = device.to_device(np.zeros_like(self.expected))
            with quiet():
                function(*inputs, out, *self.numbers, grid=self.grid, block=self.block)
                found = out.to_host()
        except CUDAError as error:
            if "cuda.emulator" in sys.modules:
                sys.modules["cuda.emulator"].reset()
            return str(error)
        except (TypeError, ValueError) as error:
            return str(error)
        found = np.sort(found) if self.sorted else found
        wrong = np.argwhere(~np.isclose(found, self.expected, rtol=1e-4, atol=1e-4))
        if not len(wrong):
            return ""
        place = tuple(int(index) for index in wrong[0])
        right = self.expected[place]
        return f"out{list(place)} is {found[place]:g}, but must be {right:g}; {len(wrong)} elements are wrong"


@contextlib.contextmanager
def quiet():
    """Drop the reports that the software device prints, which its exceptions contain."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def softmax_of(rows: np.ndarray) -> np.ndarray:
    powers = np.exp(rows - rows.max(1, keepdims=True))
    return (powers / powers.sum(1, keepdims=True)).astype(np.float32)


PUZZLES = [
    Puzzle(
        "map",
        "Add 10 to each of n numbers: one thread for each, in 4 blocks of 256.",
        """
        block      0       1       2       3
        thread  0..255  0..255  0..255  0..255
                  |        |       |       |
        out     0..255 256..511 512..767 768..999
        """,
        """
        __global__ void map(const float* a, float* out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) out[i] = a[i] + 10;
        }
        """,
        ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"),
        (SIMPLE,),
        SIMPLE + 10,
        (1000,),
    ),
    Puzzle(
        "zip",
        "Add two arrays, element by element.",
        """
        a    [0] [1] [2] ...
              +   +   +
        b    [0] [1] [2] ...
              =   =   =
        out  [0] [1] [2] ...
        """,
        """
        __global__ void zip(const float* a, const float* b, float* out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) out[i] = a[i] + b[i];
        }
        """,
        ("a[i] + b[i]", "a[i] + b[threadIdx.x]"),
        (SIMPLE, SIGNED),
        SIMPLE + SIGNED,
        (1000,),
    ),
    Puzzle(
        "guard",
        "Double each of n numbers. The last block has more threads than there are numbers left.",
        """
        threads  ... 996 997 998 999 | 1000 ... 1023
        array    ... 996 997 998 999 | nothing is here
        """,
        """
        __global__ void guard(const float* a, float* out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) out[i] = 2 * a[i];
        }
        """,
        ("i < n", "i <= n"),
        (SIMPLE,),
        2 * SIMPLE,
        (1000,),
    ),
    Puzzle(
        "map2d",
        "Double each pixel of an image: x counts columns, y counts rows.",
        """
               0  1  2 ... width - 1      x
          0    .  .  .       .
          1    .  .  .       .
          :                               the pixel (y, x) is element y * width + x
         height - 1
          y
        """,
        """
        __global__ void map2d(const float* a, float* out, int width, int height) {
            int x = blockIdx.x * blockDim.x + threadIdx.x;
            int y = blockIdx.y * blockDim.y + threadIdx.y;
            if (x < width && y < height) out[y * width + x] = 2 * a[y * width + x];
        }
        """,
        ("out[y * width + x] =", "out[x * height + y] ="),
        (IMAGE,),
        2 * IMAGE,
        (60, 44),
        (4, 3),
        (16, 16),
    ),
    Puzzle(
        "stride",
        "Square n numbers with a grid that is smaller than n: each thread takes every so-many-th number.",
        """
        thread   0   1   2  ... 127 |  0   1  ...
        number   0   1   2  ... 127 | 128 129 ...     4 blocks of 32 threads
        """,
        """
        __global__ void stride(const float* a, float* out, int n) {
            int threads = gridDim.x * blockDim.x;
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
                atomicAdd(&out[i], a[i] * a[i]);
        }
        """,
        ("gridDim.x * blockDim.x;", "blockDim.x;"),
        (SIMPLE,),
        SIMPLE * SIMPLE,
        (1000,),
        4,
        32,
    ),
    Puzzle(
        "broadcast",
        "Add a column and a row: out[y][x] = a[y] + b[x].",
        """
                b[0] b[1] b[2] ... width
         a[0]    +    +    +
         a[1]    +    +    +
          :
        height
        """,
        """
        __global__ void broadcast(const float* a, const float* b, float* out, int width, int height) {
            int x = blockIdx.x * blockDim.x + threadIdx.x;
            int y = blockIdx.y * blockDim.y + threadIdx.y;
            if (x < width && y < height) out[y * width + x] = a[y] + b[x];
        }
        """,
        ("x < width && y < height", "x < height && y < width"),
        (SIMPLE[:44], SIGNED[:60]),
        SIMPLE[:44, None] + SIGNED[None, :60],
        (60, 44),
        (4, 4),
        (16, 16),
    ),
    Puzzle(
        "gradient",
        "Fill an image with a slope from 0 at the left to 1 at the right edge.",
        """
        x        0    1    2   ...  width - 1
        value   0.0 0.02 0.03  ...    1.0
        """,
        """
        __global__ void gradient(float* out, int width, int height) {
            int x = blockIdx.x * blockDim.x + threadIdx.x;
            int y = blockIdx.y * blockDim.y + threadIdx.y;
            if (x < width && y < height) out[y * width + x] = float(x) / (width - 1);
        }
        """,
        ("float(x) / (width - 1)", "x / (width - 1)"),
        (),
        np.tile(np.linspace(0, 1, 60, dtype=np.float32), (44, 1)),
        (60, 44),
        (4, 3),
        (16, 16),
    ),
    Puzzle(
        "stencil",
        "Replace each number by the mean of itself and its neighbors. At the ends, the number is its own neighbor.",
        """
        a     [i - 1]  [i]  [i + 1]
                    \\   |   /
        out            [i]
        """,
        """
        __global__ void stencil(const float* a, float* out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            int left = max(i - 1, 0), right = min(i + 1, n - 1);
            out[i] = (a[left] + a[i] + a[right]) / 3;
        }
        """,
        ("min(i + 1, n - 1)", "min(i + 1, n)"),
        (SIGNED,),
        (np.pad(SIGNED, 1, mode="edge")[:-2] + SIGNED + np.pad(SIGNED, 1, mode="edge")[2:]) / 3,
        (1000,),
    ),
    Puzzle(
        "reverse",
        "Reverse the numbers of each block, through shared memory.",
        """
        a      0   1  ... 254 255
               v   v       v   v
        tile   0   1  ... 254 255      every thread writes one, then every thread reads another one
               v   v       v   v
        out   255 254 ...  1   0
        """,
        """
        __global__ void reverse(const float* a, float* out) {
            __shared__ float tile[256];
            int first = blockIdx.x * 256, t = threadIdx.x;
            tile[t] = a[first + t];
            __syncthreads();
            out[first + t] = tile[255 - t];
        }
        """,
        ("    __syncthreads();\n", ""),
        (np.arange(1024, dtype=np.float32),),
        np.arange(1024, dtype=np.float32).reshape(4, 256)[:, ::-1].ravel(),
    ),
    Puzzle(
        "reduce",
        "Add the 256 numbers of a block: half of the threads add a pair, then a quarter, and so on.",
        """
        tile   0 1 2 3 4 5 6 7
               |/ / /  half = 4: tile[t] += tile[t + 4]
               0 1 2 3
               |/      half = 2
               0 1
               |       half = 1
               0
        """,
        """
        __global__ void reduce(const float* a, float* out) {
            __shared__ float tile[256];
            int t = threadIdx.x;
            tile[t] = a[t];
            __syncthreads();
            for (int half = 128; half > 0; half /= 2) {
                if (t < half) tile[t] += tile[t + half];
                __syncthreads();
            }
            if (t == 0) *out = tile[0];
        }
        """,
        ("half > 0", "half > 1"),
        (SIMPLE[:256],),
        SIMPLE[:256].sum(keepdims=True),
        (),
        1,
    ),
    Puzzle(
        "sum",
        "Add n numbers: all threads add to one result.",
        """
        thread  0  1  2  3  ...
                 \\ |  | /
                  out[0]
        """,
        """
        __global__ void sum(const float* a, float* out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) atomicAdd(out, a[i]);
        }
        """,
        ("atomicAdd(out, a[i])", "*out += a[i]"),
        (SIMPLE,),
        SIMPLE.sum(keepdims=True),
        (1000,),
    ),
    Puzzle(
        "maximum",
        "Find the greatest of n numbers, with one block.",
        """
        thread 0:  a[0]  a[256]  a[512] ...   its own greatest
        thread 1:  a[1]  a[257]  a[513] ...
           :
        then the threads compare, half by half
        """,
        """
        __global__ void maximum(const float* a, float* out, int n) {
            __shared__ float best[256];
            int t = threadIdx.x;
            float mine = a[t];
            for (int i = t; i < n; i += 256) mine = fmaxf(mine, a[i]);
            best[t] = mine;
            __syncthreads();
            for (int half = 128; half > 0; half /= 2) {
                if (t < half) best[t] = fmaxf(best[t], best[t + half]);
                __syncthreads();
            }
            if (t == 0) *out = best[0];
        }
        """,
        ("float mine = a[t];", "float mine = 0;"),
        (SIGNED,),
        SIGNED.max(keepdims=True),
        (1000,),
        1,
    ),
    Puzzle(
        "histogram",
        "Count how often each of 16 values occurs: each block counts in shared memory, then adds its counts.",
        """
        values   3 0 3 15 ...
                 |
        counts  [0] [1] [2] [3] ... [15]    one row in the shared memory of each block
                 +   +   +   +        +
        out     [0] [1] [2] [3] ... [15]
        """,
        """
        __global__ void histogram(const int* values, int* out, int n) {
            __shared__ int counts[16];
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (threadIdx.x < 16) counts[threadIdx.x] = 0;
            __syncthreads();
            if (i < n) atomicAdd(&counts[values[i]], 1);
            __syncthreads();
            if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
        }
        """,
        ("counts[threadIdx.x] = 0;\n    __syncthreads();", "counts[threadIdx.x] = 0;"),
        (BYTES,),
        np.bincount(BYTES, minlength=16).astype(np.int32),
        (1000,),
    ),
    Puzzle(
        "scan",
        "Compute all sums from the beginning: out[i] = a[0] + ... + a[i], for 256 numbers.",
        """
        step 1   0   1   2   3   4        tile[t] += tile[t - 1]
                   \\ + \\ + \\ + \\ +
        step 2   0   1   2   3   4        tile[t] += tile[t - 2]
                     \\___\\ + \\ +
        step 4   ...                      every thread must read before any thread writes
        """,
        """
        __global__ void scan(const float* a, float* out) {
            __shared__ float tile[256];
            int t = threadIdx.x;
            tile[t] = a[t];
            __syncthreads();
            for (int step = 1; step < 256; step *= 2) {
                float left = t >= step ? tile[t - step] : 0;
                __syncthreads();  // all have read
                tile[t] += left;
                __syncthreads();
            }
            out[t] = tile[t];
        }
        """,
        ("        __syncthreads();  // all have read\n", ""),
        (SIMPLE[:256],),
        np.cumsum(SIMPLE[:256]).astype(np.float32),
        (),
        1,
    ),
    Puzzle(
        "transpose",
        "Transpose a matrix of 32 x 32 elements through a tile, so that neighbors read and write neighbors.",
        """
        in   0 1 2      tile   0 1 2      out   0 3 6
             3 4 5  ->         3 4 5  ->        1 4 7
             6 7 8             6 7 8            2 5 8
        """,
        """
        __global__ void transpose(const float* a, float* out) {
            __shared__ float tile[32][33];
            int x = threadIdx.x, y = threadIdx.y;
            tile[y][x] = a[32 * y + x];
            __syncthreads();
            out[32 * y + x] = tile[x][y];
        }
        """,
        ("= tile[x][y]", "= tile[y][x]"),
        (SQUARE,),
        SQUARE.T.copy(),
        (),
        1,
        (32, 32),
    ),
    Puzzle(
        "matmul",
        "Multiply two matrices of 32 x 32 elements, in tiles of 16 x 16.",
        """
                        b  [tile 0]
                           [tile 1]   step by step: load a tile of a and a tile of b,
        a [tile 0][tile 1] [ out  ]   add their product, then load the next two
        """,
        """
        __global__ void matmul(const float* a, const float* b, float* out) {
            __shared__ float left[16][16], right[16][16];
            int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
            float total = 0;
            for (int tile = 0; tile < 32; tile += 16) {
                left[ty][tx] = a[32 * y + tile + tx];
                right[ty][tx] = b[32 * (tile + ty) + x];
                __syncthreads();
                for (int k = 0; k < 16; ++k) total += left[ty][k] * right[k][tx];
                __syncthreads();  // before the next tile
            }
            out[32 * y + x] = total;
        }
        """,
        ("        __syncthreads();  // before the next tile\n", ""),
        (SQUARE, SQUARE.T.copy()),
        SQUARE @ SQUARE.T,
        (),
        (2, 2),
        (16, 16),
    ),
    Puzzle(
        "softmax",
        "Compute the softmax of each row: exp(a[i]) over the sum of all exp(a[i]). One thread takes one row.",
        """
        row     100  101  102        exp(102) is far above the greatest float
        less     -2   -1    0        so take the greatest number of the row away first
        exp    0.14 0.37  1.0
        out    0.09 0.24 0.67
        """,
        """
        __global__ void softmax(const float* a, float* out, int width, int height) {
            int y = blockIdx.x * blockDim.x + threadIdx.x;
            if (y >= height) return;
            const float* row = a + y * width;
            float greatest = row[0], total = 0;
            for (int x = 1; x < width; ++x) greatest = fmaxf(greatest, row[x]);
            for (int x = 0; x < width; ++x) total += expf(row[x] - greatest);
            for (int x = 0; x < width; ++x) out[y * width + x] = expf(row[x] - greatest) / total;
        }
        """,
        ("total += expf(row[x] - greatest)", "total += expf(row[x])"),
        (IMAGE * 3,),
        softmax_of(IMAGE * 3),
        (60, 44),
        1,
        64,
    ),
    Puzzle(
        "warp",
        "Add the numbers of each warp of 32 threads, by shuffles and without shared memory.",
        """
        offset 16   lane 0 + lane 16, lane 1 + lane 17, ...
        offset  8   lane 0 + lane  8, ...
            :
        offset  1   lane 0 + lane 1: the sum of all 32
        """,
        """
        __global__ void warp(const float* a, float* out) {
            float value = a[threadIdx.x];
            for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
            if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = value;
        }
        """,
        ("int offset = 16", "int offset = 8"),
        (SIMPLE[:256],),
        SIMPLE[:256].reshape(8, 32).sum(1),
        (),
        1,
    ),
    Puzzle(
        "convolve",
        "Weigh each number and its two neighbors on either side. Outside of the array, numbers count as 0.",
        """
        a        [i-2] [i-1]  [i]  [i+1] [i+2]
        weights    w0    w1    w2    w3    w4
                    \\_____\\____|____/____/
        out                   [i]
        """,
        """
        __global__ void convolve(const float* a, const float* weights, float* out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            float total = 0;
            for (int k = -2; k <= 2; ++k)
                if (0 <= i + k && i + k < n) total += a[i + k] * weights[k + 2];
            out[i] = total;
        }
        """,
        ("weights[k + 2]", "weights[k]"),
        (SIMPLE, np.array([1, 2, 4, 3, 5], np.float32)),
        np.convolve(SIMPLE, [5, 3, 4, 2, 1], "same").astype(np.float32),
        (1000,),
    ),
    Puzzle(
        "compact",
        "Keep the values above 7: each thread that has one takes the next free place. The order does not count.",
        """
        values   3 9 1 12 8 ...
                   |   |  |       place = the count before mine
        out      9 12 8 ...
        """,
        """
        __device__ int taken;
        __global__ void compact(const int* values, int* out, int n) {
            if (threadIdx.x == 0) taken = 0;
            __syncthreads();
            for (int i = threadIdx.x; i < n; i += blockDim.x)
                if (values[i] > 7) out[atomicAdd(&taken, 1)] = values[i];
        }
        """,
        ("out[atomicAdd(&taken, 1)] = values[i]", "{ out[taken] = values[i]; atomicAdd(&taken, 1); }"),
        (BYTES,),
        np.sort(BYTES[BYTES > 7]),
        (1000,),
        1,
        256,
        sorted=True,
    ),
]


def show(directory: Path) -> int:
    """Write the puzzles that are missing, grade all of them, and show what is wrong with the first one."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"the puzzles need a directory: {error}")
    solved, first = 0, None
    for number, puzzle in enumerate(PUZZLES, 1):
        path = directory / f"{number:02}_{puzzle.name}.cu"
        if not path.exists():
            path.write_text(puzzle.text())
        wrong = puzzle.grade(path.read_text(errors="replace"))
        solved += not wrong
        print(f"{'solved' if not wrong else 'open':7} {path}")
        if wrong and first is None:
            first = path, wrong
    print(f"\n{solved} of {len(PUZZLES)} puzzles are solved.")
    if first:
        print(f"\nNext: {first[0]}\n{textwrap.indent(first[1], '  ')}\n")
        print("Correct the kernel in this file, and run this again.")
    return 0


def verify() -> int:
    """Check that each planted mistake is found, and that each solution passes."""
    bad = 0
    for puzzle in PUZZLES:
        if not puzzle.grade(puzzle.text()):
            print(f"{puzzle.name}: the mistake is not found")
            bad += 1
        if wrong := puzzle.grade(puzzle.solution()):
            print(f"{puzzle.name}: the solution is wrong: {wrong}")
            bad += 1
    print(
        f"{len(PUZZLES)} puzzles: " + ("verified, each mistake is found and each solution passes" if not bad else "bad")
    )
    return int(bad > 0)


def main() -> int:
    if "--verify" in sys.argv:
        return verify()
    if len(sys.argv) > 1:
        return show(Path(sys.argv[1]))
    for number, puzzle in enumerate(PUZZLES, 1):
        print(f"{number:2}  {puzzle.name:10} {puzzle.task}")
    print("\nBegin with: python -m cuda.core.examples puzzles DIRECTORY")
    return 0


if __name__ == "__main__":
    sys.exit(main())
