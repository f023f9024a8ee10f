# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Types and definitions shared by generated sources, which all compile without warnings."""

import numpy as np
import pytest

from cuda.core.driver import _kernels
from cuda.core.driver import _random_source as _random_source
from cuda.core.driver._array_functions import BINARY, UNARY
from cuda.core.driver._array_reductions import Reduction
from cuda.core.driver._compilation import Request, compile_object
from cuda.core.driver._kernels import Elementwise, Operand
from cuda.core.driver.elementwise import ElementwiseKernel
from cuda.core.driver.scan import Scan


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("?", "bool"),
        ("i8", "long long"),
        ("f2", "cuda_core::half"),
        ("c8", "pycuda::complex<float>"),
        ("V12", "cuda_core::record<unsigned int, 3>"),
        ("V7", "cuda_core::record<unsigned char, 7>"),
        ("V16", "cuda_core::record<unsigned long long, 2>"),
    ],
)
def test_each_dtype_has_a_storage_type_in_c(dtype, name):
    assert _kernels.storage_name(np.dtype(dtype)) == name


def test_halves_are_computed_as_floats():
    assert _kernels.compute_dtype(np.dtype("f2")) == np.float32
    assert _kernels.compute_dtype(np.dtype("i2")) == np.int16
    assert _kernels.COMPUTE_TYPES[np.dtype("f2")] == "float"


def test_prelude_has_only_the_definitions_that_are_needed():
    assert "struct half" in _kernels.prelude(np.dtype("f2")) and "complex" not in _kernels.prelude(np.dtype("f2"))
    assert _kernels.prelude(np.dtype("c8")).startswith(_kernels.COMPLEX_HEADER)
    assert "half" not in _kernels.prelude(np.dtype("f4"))


def sources():
    """Yield generated sources of all kinds, with names."""
    for name in ("xorwow", "mrg32k3a", "philox"):
        yield name, _random_source.pseudo_source(name)
    for width in (32, 64):
        yield f"sobol{width}", _random_source.quasi_source(width)
    for operation in (*BINARY, *UNARY):
        for kind, dtype in {"i": "i4", "f": "f4", "c": "c16"}.items():
            if operation.bodies.get(kind, operation.default) is not None:
                names = "ab"[: operation.ufunc.nin]
                inputs = [Operand(name, np.dtype(dtype)) for name in names]
                types = "".join(f"typedef {inputs[0].variable} {name}; " for name in ("T", "A"))
                text = operation.expression(kind)
                kernel = Elementwise("f", [Operand("r", np.dtype(dtype))], inputs, f"{types} r = {text}")
                yield f"{operation.name} {dtype}", kernel.dense_source(kernel.width)
    half = Elementwise("f", [Operand("r", np.dtype("f2"))], [Operand("a", np.dtype("f2"))], "r = a")
    yield "strided", half.strided_source(3, "unsigned long long")
    total = Reduction("f", "float", 4, "0", "a + b", "x[i]", ["const float* x"], _kernels.prelude())
    yield "reduction", total.source()
    packed = Reduction(
        "f", "float", 4, "0", "a + b", "x[i]", ["const float* x"], _kernels.prelude(),
        packs=(4, {"x": "float"}, "x_p.items[k]"),
    )  # fmt: skip
    yield "packed reduction", packed.source(True)
    for text in ("y[i] = 2 * x[i]", "y[i] += sin(x[i]) > 0 ? x[i] : n"):
        yield f"packed {text}", ElementwiseKernel("const float *x, double *y", text).packed_source()
    yield "scan", Scan("f", "float", 4, "a + b", "0", "", "", None, False).source


@pytest.mark.requires(nvrtc=True, software=False)
@pytest.mark.parametrize("part", range(24))
def test_generated_sources_compile_without_warnings(part):
    # Messages of a successful compilation are issued as a warning, which fails the test.
    for _, text in list(sources())[part::24]:
        assert compile_object(Request(text, no_extern_c=True, arch="sm_90", cache_dir=False), "cubin") is not None
