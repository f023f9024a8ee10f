# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Matrix products of warps (mma.h), compared with NumPy, on any device."""

import numpy as np
import pytest

from support.compiled import Program
from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, cuda_headers=True, compute=(8, 0))

SIZES = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
TYPES = [
    ("half", "float", "half"), ("half", "half", "half"), ("__nv_bfloat16", "float", "__nv_bfloat16"),
    ("signed char", "int", "signed char"), ("unsigned char", "int", "unsigned char"),
]  # fmt: skip
CASES = [(size, types) for types in TYPES for size in SIZES]
CASES += [((16, 16, 8), ("wmma::precision::tf32", "float", "float")), ((8, 8, 4), ("double", "double", "double"))]
CASES += [((8, 8, 32), (f"wmma::experimental::precision::{kind}", "int", "int")) for kind in ("s4", "u4")]
NUMPY = {"half": np.float16, "float": np.float32, "double": np.float64, "int": np.int32, "signed char": np.int8,
         "unsigned char": np.uint8}  # fmt: skip


def name_of(size, types):
    return f"product<{', '.join(map(str, size))}, {', '.join(types)}>"


SATURATED = [f"saturated<wmma::experimental::precision::{kind}>" for kind in ("u4", "s4")]
products = KernelFile("warp_products.cu", *(name_of(*case) for case in CASES), *SATURATED, headers=True)


@pytest.mark.parametrize("size, types", CASES, ids=[name_of(*case)[8:-1] for case in CASES])
def test_fragments_are_multiplied(stream, rng, size, types):
    m, n, k = size
    kind, total, _ = types
    least = 0 if kind in ("unsigned char", "wmma::experimental::precision::u4") else -8
    end = 8 if kind.endswith("s4") else 9
    # Small integers, whose sums every type represents.
    a, b = rng.integers(least, end, (m, k)), rng.integers(least, end, (n, k))
    c = rng.integers(-50, 50, (m, n)).astype(NUMPY[total])
    out = np.zeros_like(c)

    def stored(values):
        if kind == "__nv_bfloat16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        if kind.endswith("4"):
            return (values[:, ::2] & 15 | (values[:, 1::2] & 15) << 4).astype(np.uint8)
        return values.astype(NUMPY["float" if "tf32" in kind else kind])

    products(stream, name_of(size, types), 1, 32, stored(a), stored(b), c, out, NUMPY[total](2))
    np.testing.assert_array_equal(out, (2 * (a @ b.T) + c).astype(NUMPY[total]))


def test_matrices_are_multiplied_by_warps(stream, rng):
    n = 64
    a, b = (rng.normal(size=(n, n)).astype(np.float16) for _ in range(2))
    out = np.zeros((n, n), np.float32)
    products(stream, "tiled_warps", (2, 4), 64, a, b, out, n)
    # The result is stored by columns.
    np.testing.assert_allclose(out.T, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kernel", SATURATED, ids=["u4", "s4"])
def test_products_of_four_bits_are_saturated(stream, kernel):
    a, b = (np.full((8, 16), 0x77, np.uint8) for _ in range(2))  # 32 times 7 in a row
    out = np.zeros((8, 8), np.int32)
    products(stream, kernel, 1, 32, a, b, out, np.int32(2**31 - 1000))
    assert (out == 2**31 - 1).all()


@pytest.mark.parametrize("is_and", [False, True])
def test_bits_are_multiplied(stream, rng, is_and):
    a, b = (rng.integers(0, 2, (8, 128), np.uint8) for _ in range(2))
    rows, columns = (np.packbits(bits, axis=1, bitorder="little") for bits in (a, b))
    out = np.zeros((8, 8), np.int32)
    products(stream, "bits", 1, 32, rows, columns, out, np.int32(is_and))
    pairs = a[:, None], b[None]
    np.testing.assert_array_equal(out.T, (np.bitwise_and if is_and else np.bitwise_xor)(*pairs).sum(2) + 5)


def test_nonexistent_sizes_are_rejected(driver):
    source = (
        "#include <mma.h>\n__global__ void k() { nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 4, 4, 4, int> f; }"
    )
    log = Program(source, "-arch=sm_90").log
    assert "these sizes of a fragment are not available for this type" in log
