# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory of malloc() in kernels that nobody freed is in the report of leaks at exit."""

import pytest

pytestmark = pytest.mark.requires(software=True)

CODE = """
import cuda.emulator
import numpy as np
from cuda.bindings import driver as d, nvrtc
from support.compiled import Program
d.cuInit(0)
d.cuCtxSetCurrent(d.cuDevicePrimaryCtxRetain(0)[1])
image = Program('''
struct Node {{ int value[4]; }};
__device__ int* kept;
extern "C" __global__ void f(int bad) {{ {body} }}
''', "-arch=sm_90").image
library = d.cuLibraryLoadData(image, [], [], 0, [], [], 0)[1]
import ctypes
kernel = d.CUfunction(int(d.cuLibraryGetKernel(library, b"f")[1]))
d.cuLaunchKernel(kernel, 2, 1, 1, 4, 1, 1, 0, 0, ((int({bad}),), (ctypes.c_int,)), 0)
print(d.cuCtxSynchronize()[0].name)
d.cuLibraryUnload(library)
"""
# Pointers of `new` are volatile, because g++ 16 leaves out memory that nothing observes.
BODIES = {
    "malloc": (
        "void* p = malloc(24); if (!bad) free(p);",
        "192 bytes of the heap of device 0 (8 calls of malloc() in kernel f)",
    ),
    "new": ("Node* volatile p = new Node; if (!bad) delete p;", "128 bytes of the heap of device 0 (8 calls"),
    "array": (
        "int* volatile p = new int[10]; if (!bad || threadIdx.x) delete[] p;",
        "80 bytes of the heap of device 0 (2 calls",
    ),
    "early_return": (
        "char* p = (char*)malloc(8); if (bad && threadIdx.x == 3) return; free(p);",
        "16 bytes of the heap of device 0 (2 calls",
    ),
    "kept": (
        "if (blockIdx.x == 0 && threadIdx.x == 0) { kept = new int; if (!bad) { delete kept; kept = nullptr; } }",
        "4 bytes of the heap of device 0 (1 call of malloc() in kernel f)",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_memory_left_in_the_heap_is_listed_at_exit(child, name):
    body, words = BODIES[name]
    assert words in child(CODE.format(body=body, bad=1), LEAKS=1)
    assert "heap" not in child(CODE.format(body=body, bad=0), LEAKS=1)
    assert child(CODE.format(body=body, bad=1)).split() == ["CUDA_SUCCESS"]
