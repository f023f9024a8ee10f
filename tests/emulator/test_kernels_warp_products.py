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
NUMPY = {"half": np.float16, "float": np.float32, "double": np.float64, "int": np.int32, "signed char": np.int8,
         "unsigned char": np.uint8}  # fmt: skip


def name_of(size, types):
    return f"product<{', '.join(map(str, size))}, {', '.join(types)}>"


products = KernelFile("warp_products.cu", *(name_of(*case) for case in CASES), headers=True)


@pytest.mark.parametrize("size, types", CASES, ids=[name_of(*case)[8:-1] for case in CASES])
def test_fragments_are_multiplied(stream, rng, size, types):
    m, n, k = size
    kind, total, _ = types
    least = 0 if kind == "unsigned char" else -8
    # Small integers, whose sums every type represents.
    a, b = rng.integers(least, 9, (m, k)), rng.integers(least, 9, (n, k))
    c = rng.integers(-50, 50, (m, n)).astype(NUMPY[total])
    out = np.zeros_like(c)

    def stored(values):
        if kind == "__nv_bfloat16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
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


def test_sizes_that_do_not_exist_are_rejected(driver):
    source = (
        "#include <mma.h>\n__global__ void k() { nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 4, 4, 4, int> f; }"
    )
    log = Program(source, "-arch=sm_90").log
    assert "these sizes of a fragment are not available for this type" in log
