# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Bulk copies in inline PTX: results, rejected instructions, and reports of misuse."""

import re

import numpy as np
import pytest

from support.compiled import Code, Program
from support.tensor_maps import MappedArray

SOURCE = r"""
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
#define SHARED(p) (unsigned int)__cvta_generic_to_shared(p)
#define COPY "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
extern "C" {
__global__ void plain(int* x, int* y)
{
    __shared__ alignas(16) int middle[64];
    __shared__ unsigned long long barrier;
    unsigned long long state;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(SHARED(&barrier)), "r"(blockDim.x));
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 256; // both halves\n\t"
                     COPY " [%1], [%2], 128, [%0];\n\t" COPY " [%1 + 128], [%2+128], 128, [%0];"
                     :: "r"(SHARED(&barrier)), "r"(SHARED(middle)), "l"(x) : "memory");
    }
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(SHARED(&barrier)) : "memory");
    asm volatile("{ .reg .pred DONE; /* spins */ AGAIN: mbarrier.try_wait.shared::cta.b64 DONE, [%0], %1, 1000;\n"
                 "@!DONE bra AGAIN; }" :: "r"(SHARED(&barrier)), "l"(state) : "memory");
    middle[threadIdx.x] += threadIdx.x;
    asm volatile("fence.proxy.async;");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     :: "l"(y), "r"(SHARED(middle)), "n"(256) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(SHARED(&barrier)));
    }
}
__global__ void words(unsigned int* x, float* f)
{
    unsigned int lane = 0, elected = 0, both = 0, less = 0, signed_less = 0;
    float same;
    if (threadIdx.x >= 4)
        asm("{ .reg .b32 l; .reg .pred p; elect.sync l|p, %2; mov.u32 %0, l; selp.b32 %1, 1, 0, p; }"
            : "=r"(lane), "=r"(elected) : "r"(0xfffffff0u));
    asm("{ .reg .pred p, q; setp.lt.u32 p, %3, %4; setp.lt.s32 q, %3, %4; selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q;"
        "  @p mov.u32 %2, 7; @!p mov.u32 %2, %%laneid; }"
        : "=r"(less), "=r"(signed_less), "+r"(both) : "r"(5), "r"(-1));
    asm("mov.b32 %0, %1;" : "=f"(same) : "f"(f[0]));
    unsigned int t = threadIdx.x;
    x[6 * t] = lane, x[6 * t + 1] = elected, x[6 * t + 2] = less, x[6 * t + 3] = signed_less, x[6 * t + 4] = both;
    x[6 * t + 5] = *(unsigned int*)&same;
    __shared__ unsigned int back[32];
    *(unsigned int*)__cvta_shared_to_generic(SHARED(&back[t])) = t;
    if (back[t] != t) __trap();
}
}
"""


@pytest.fixture(scope="module")
def image(driver):
    return Program(SOURCE, "-arch=sm_90").image


@pytest.fixture
def code(driver, context, image):
    code = Code(driver, image)
    yield code
    code.close()


def test_barrier_waits_for_bulk_copies(code):
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    code("plain", 1, 64, x, y)
    assert np.array_equal(y, 2 * np.arange(64))


def test_instructions_used_with_bulk_copies_are_executed(code):
    x, f = np.zeros((32, 6), np.uint32), np.array([1.5], np.float32)
    code("words", 1, 32, x, f)
    assert x[:, 0].tolist() == [0] * 4 + [4] * 28
    assert x[:, 1].tolist() == [0] * 4 + [1] + [0] * 27
    assert x[:, 2:5].tolist() == [[1, 0, 7]] * 32
    assert x[:, 5].tolist() == [f.view(np.uint32)[0]] * 32


@pytest.mark.parametrize(
    "text",
    [
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];",
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %3, %3}], [%4], {%5};",
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %3, %3}], [%4], {%5};",
        "cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];",
        "cp.async.bulk.tensor.6d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.mul.bulk_group [%1, {%2, %3}], [%0];",
        "cp.reduce.async.bulk.tensor.4d.shared::cta.global.add.bulk_group [%1, {%2, %3, %2, %3}], [%0];",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 %0, [%0];",
        "mbarrier.test_wait.shared.b64 unknown, [%0], %1;",
        "mbarrier.init.shared.b64 %0, 1;",
        "mbarrier.init.shared.b64 [%9], 1;",
        "mbarrier.pending_count.b64 unknown, %1;",
        "tcgen05.wait::ld.sync.aligned;",
        "tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%0], 0;",
        "mov.u32 %0, %%envreg3;",
        "bra NOWHERE;",
        "setp.xy.u32 %0, %1, %2;",
        "@p mov.u32 %0, 1;",
        "elect.sync %0, %1;",
    ],
)
def test_other_instructions_are_rejected_by_name(driver, text):
    source = f"""extern "C" __global__ void k(int* x) {{ int a = 0;
        asm volatile("{text}" : "+r"(a) : "l"(x), "r"(a), "r"(a), "r"(a), "h"((short)a)); }}"""
    log = Program(source, "-arch=sm_90").log
    assert "default_program(2): error: inline PTX is not supported" in log
    assert text.split()[0].strip(";") in log


# ---- faults, which are reported with their line


INIT = 'asm("mbarrier.init.shared.b64 [%0], 1;" :: "r"(SHARED(&b)));'
TILES = {
    "store": 'asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" '
    ':: "l"(&map), "r"(x), "r"(y), "r"(SHARED(s)) : "memory");',
    "reduce": 'asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.bulk_group [%0, {%1, %2}], [%3];" '
    ':: "l"(&map), "r"(x), "r"(y), "r"(SHARED(s)) : "memory");',
    "load": 'asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes '
    '[%0], [%1, {%2, %3}], [%4];" :: "r"(SHARED(s)), "l"(&map), "r"(x), "r"(y), "r"(SHARED(&b)) : "memory");',
    "columns": 'asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes '
    '[%0], [%1, {%2, %3, %2, %2}], [%4], {%5, %5};" '
    ':: "r"(SHARED(s)), "l"(&map), "r"(x), "r"(y), "r"(SHARED(&b)), "h"((short)0) : "memory");',
}


def tile_fault_of(driver, kind, tensor_map, x, y):
    """Run a kernel that loads or stores the tile at (x, y), and return the result."""
    source = (
        "struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };\n"
        "#define SHARED(p) (unsigned int)__cvta_generic_to_shared(p)\n"
        'extern "C" __global__ void k(const __grid_constant__ CUtensorMap map, int x, int y) {\n'
        "__shared__ alignas(1024) char s[1024]; __shared__ unsigned long long b;\n"
        f"{INIT} {TILES[kind]} }}"
    )
    code = Code(driver, Program(source, "-arch=sm_90").image)
    with pytest.raises(driver.Error) as caught:
        code("k", 1, 1, tensor_map, x, y)
    code.close()
    return caught.value.result.name


@pytest.mark.parametrize(
    ("kind", "corner", "message"),
    [
        ("store", (0, -4), "a tile is stored at a negative coordinate"),
        ("load", (8, -2), "begins at coordinate -2 of the contiguous axis, which is byte -8"),
    ],
)
def test_coordinates_rejected_by_copy_engine_are_faults(driver, context, capfd, kind, corner, message):
    array = MappedArray(driver, np.zeros((64, 96), np.float32))
    result = tile_fault_of(driver, kind, array.tile((8, 16)), *reversed(corner))
    assert result == "CUDA_ERROR_ILLEGAL_INSTRUCTION"
    assert message in capfd.readouterr().err


def test_reduction_of_unsuitable_type_is_a_fault(driver, context, capfd):
    array = MappedArray(driver, np.zeros((64, 96), np.float32))
    assert tile_fault_of(driver, "reduce", array.tile((8, 16)), 0, 0) == "CUDA_ERROR_LAUNCH_FAILED"
    assert "cp.reduce.async.bulk.tensor with a type of elements that it does not have" in capfd.readouterr().err


def test_wide_column_maps_need_instructions_of_their_mode(driver, context, capfd):
    """The result is undefined on a GPU, and a device of compute capability 9.0 lacks instructions for these modes."""
    image = MappedArray(driver, np.zeros((2, 6, 7, 8), np.float32))
    assert tile_fault_of(driver, "columns", image.wide_columns(8, 16), 0, 0) == "CUDA_ERROR_LAUNCH_FAILED"
    assert "im2col::w and im2col::w::128, which need compute capability 10.0" in capfd.readouterr().err


def fault_of(driver, body, capfd):
    """Run a kernel of one thread with a barrier, shared memory, a bad map and 16 bytes; return the report."""
    source = (
        "struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };\n"
        "#define SHARED(p) (unsigned int)__cvta_generic_to_shared(p)\n"
        'extern "C" __global__ void k(char* x) {\n'
        "__shared__ alignas(128) char s[256]; __shared__ unsigned long long b; s[0] = b = 0; CUtensorMap map = {};\n"
        f"{body} }}"
    )
    code = Code(driver, Program(source, "-arch=sm_90").image)
    with pytest.raises(driver.Error):
        code("k", 1, 1, np.zeros(16, np.int8))
    code.close()
    return capfd.readouterr().err


LOAD = (
    'asm("cp.async.bulk.tensor.%dd.shared::cluster.global.mbarrier::complete_tx::bytes [%%0], [%%1, {%s}], [%%2];" '
    ':: "r"(SHARED(s)), "l"(%s), "r"(SHARED(&b)));'
)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            'asm("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(SHARED(&b)));',
            "an mbarrier is used before it is initialized",
        ),
        ('asm("mbarrier.init.shared.b64 [%0], 0;" :: "r"(SHARED(&b)));', r"must be from 1 to 2\*\*20 - 1"),
        ('asm("mbarrier.init.shared.b64 [%0], 1;" :: "r"(SHARED(s) + 4));', "mbarrier must begin at a multiple of 8"),
        (INIT + 'asm("mbarrier.arrive.shared.b64 _, [%0], 2;" :: "r"(SHARED(&b)));', "more threads arrive"),
        (INIT + LOAD % (2, "0, 0", "&map"), "memory that does not contain a CUtensorMap"),
        (INIT + LOAD % (2, "0, 0", "(char*)&map + 8"), "the address of a tensor map must be a multiple of 64 bytes"),
        (
            INIT + 'asm("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 8;" :: "l"(x), "r"(SHARED(s)));',
            "the size and both addresses of a bulk copy must be multiples of 16 bytes",
        ),
        (
            'asm("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" :: "l"(x), "r"(SHARED(s)));',
            "__shared__ s",
        ),
        (
            'asm("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" :: "l"(x), "r"(SHARED(s)));',
            "access of 256 bytes|256 bytes",
        ),
    ],
)
def test_misuse_is_reported_with_its_line(driver, context, capfd, body, message):
    report = fault_of(driver, body, capfd)
    assert re.search(message, report), report
    assert "default_program:5" in report, report


def test_allocation_class_has_no_effect(driver, context):
    mapped = MappedArray(driver, np.arange(64, dtype=np.int32).reshape(8, 8))
    tile = mapped.tile((4, 8))
    kinds = driver.CUtensorMapAllocClass
    for kind in (kinds.CU_TENSOR_MAP_ALLOC_CLASS_LARGE, kinds.CU_TENSOR_MAP_ALLOC_CLASS_AUTO):
        assert driver.cuTensorMapSetAllocationClass(tile, kind) == kinds.CU_TENSOR_MAP_ALLOC_CLASS_SMALL
    empty = driver.raw.CUtensorMap()
    assert driver.result("cuTensorMapSetAllocationClass", empty, kinds(1)) == "INVALID_VALUE"
    mapped.read()
