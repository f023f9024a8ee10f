# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Inline PTX as programmers write it by hand: arithmetic, conversions, memory, warps, barriers."""

import math
import struct

import numpy as np
import pytest

from support.compiled import Code, Program

U32, U64, F32 = np.uint32, np.uint64, np.float32
FULL = 2**32 - 1
LETTERS, NAMES = {U32: "r", F32: "f"}, {U32: "unsigned", F32: "float"}


def signed(x):
    return x - 2**32 if x >> 31 else x


def permute(a, b, selector):
    data = struct.pack("<II", a, b)
    out = []
    for i in range(4):
        one = selector >> 4 * i & 15
        byte = data[one & 7]
        out.append((0xFF if byte & 0x80 else 0) if one & 8 else byte)
    return int.from_bytes(bytes(out), "little")


def extract(a, b, c):
    return a >> (b & 255) & ((1 << (c & 255)) - 1) & FULL if (b & 255) < 32 else 0


def insert(a, b, c):
    begin, count = c & 31, c >> 8 & 31
    mask = ((1 << count) - 1) << begin & FULL
    return b & ~mask | a << begin & mask


def as_halves(bits):
    return np.array([bits], U32).view(np.float16)


def halves(values):
    values = np.where(np.isnan(values), np.array([0x7FFF], np.uint16).view(np.float16), values)
    return int(values.view(U32)[0])


# The code with operands %0 (result) and %1 to %3, the types of result and operands, and the Python equivalent.
INTEGERS = {
    "add.u32 %0, %1, %2;": lambda a, b, c: a + b,
    "sub.s32 %0, %1, %2;": lambda a, b, c: a - b,
    "mul.lo.u32 %0, %1, %2;": lambda a, b, c: a * b,
    "mul.hi.u32 %0, %1, %2;": lambda a, b, c: a * b >> 32,
    "mul.hi.s32 %0, %1, %2;": lambda a, b, c: signed(a) * signed(b) >> 32,
    "mad.lo.s32 %0, %1, %2, %3;": lambda a, b, c: a * b + c,
    "mad.hi.u32 %0, %1, %2, %3;": lambda a, b, c: (a * b >> 32) + c,
    "and.b32 %0, %1, %2;": lambda a, b, c: a & b,
    "or.b32 %0, %1, %2;": lambda a, b, c: a | b,
    "xor.b32 %0, %1, 0x55;": lambda a, b, c: a ^ 0x55,
    "{ .reg .u64 w; cvt.u64.u32 w, %1; mul.lo.u64 w, w, -1U; shr.u64 w, w, 32; cvt.u32.u64 %0, w; }":
        lambda a, b, c: -a >> 32,
    "not.b32 %0, %1;": lambda a, b, c: ~a,
    "neg.s32 %0, %1;": lambda a, b, c: -a,
    "abs.s32 %0, %1;": lambda a, b, c: abs(signed(a)),
    "cnot.b32 %0, %1;": lambda a, b, c: a == 0,
    "min.s32 %0, %1, %2;": lambda a, b, c: min(signed(a), signed(b)),
    "max.u32 %0, %1, %2;": lambda a, b, c: max(a, b),
    "shl.b32 %0, %1, %2;": lambda a, b, c: a << b if b < 32 else 0,
    "shr.u32 %0, %1, %2;": lambda a, b, c: a >> b if b < 32 else 0,
    "shr.s32 %0, %1, %2;": lambda a, b, c: signed(a) >> min(b, 31),
    "popc.b32 %0, %1;": lambda a, b, c: a.bit_count(),
    "clz.b32 %0, %1;": lambda a, b, c: 32 - a.bit_length(),
    "brev.b32 %0, %1;": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
    "bfind.u32 %0, %1;": lambda a, b, c: a.bit_length() - 1,
    "bfind.s32 %0, %1;": lambda a, b, c: (a if a >> 31 == 0 else ~a & FULL).bit_length() - 1,
    "bfind.shiftamt.u32 %0, %1;": lambda a, b, c: 32 - a.bit_length() if a else -1,
    "bfe.u32 %0, %1, %2, %3;": extract,
    "bfi.b32 %0, %1, %2, 5, 9;": lambda a, b, c: insert(a, b, 9 << 8 | 5),
    "prmt.b32 %0, %1, %2, %3;": permute,
    "lop3.b32 %0, %1, %2, %3, 0x96;": lambda a, b, c: a ^ b ^ c,
    "lop3.b32 %0, %1, %2, %3, 0xE8;": lambda a, b, c: a & b | a & c | b & c,
    "lop3.b32 %0, %1, %2, %3, 0xCA;": lambda a, b, c: a & b | ~a & c,
    "shf.l.wrap.b32 %0, %1, %2, %3;": lambda a, b, c: ((b << 32 | a) << (c & 31)) >> 32,
    "shf.r.wrap.b32 %0, %1, %2, %3;": lambda a, b, c: (b << 32 | a) >> (c & 31),
    "shf.r.clamp.b32 %0, %1, %2, %3;": lambda a, b, c: (b << 32 | a) >> min(c, 32),
    "shf.l.clamp.b32 %0, %1, %2, %3;": lambda a, b, c: ((b << 32 | a) << min(c, 32)) >> 32,
    "sad.u32 %0, %1, %2, %3;": lambda a, b, c: abs(a - b) + c,
    "selp.b32 %0, %1, %2, 1;": lambda a, b, c: a,
    "slct.s32.s32 %0, %1, %2, %3;": lambda a, b, c: a if signed(c) >= 0 else b,
    "set.lt.u32.s32 %0, %1, %2;": lambda a, b, c: -(signed(a) < signed(b)),
    "cvt.u32.u8 %0, %1;": lambda a, b, c: a & 255,
    "cvt.s32.s8 %0, %1;": lambda a, b, c: (a & 255 ^ 128) - 128,
    "cvt.sat.u8.s32 %0, %1;": lambda a, b, c: min(max(signed(a), 0), 255),
    "{ .reg .pred p; setp.ge.s32 p, %1, %2; selp.u32 %0, 7, 9, p; }":
        lambda a, b, c: 7 if signed(a) >= signed(b) else 9,
    "{ .reg .pred p, q; setp.lt.u32 p|q, %1, %2; @p mov.u32 %0, 1; @q mov.u32 %0, 2; }":
        lambda a, b, c: 1 if a < b else 2,
    "{ .reg .pred %%p<2>; setp.lo.u32 %%p0, %1, %2; setp.ne.and.u32 %%p1, %3, 0, !%%p0; selp.u32 %0, 1, 0, %%p1; }":
        lambda a, b, c: c != 0 and not a < b,
    "{ .reg .u32 t<3>; add.cc.u32 t0, %1, %2; addc.u32 t1, 0, 0; xor.b32 %0, t0, t1; }":
        lambda a, b, c: (a + b & FULL) ^ (a + b > FULL),
    "{ .reg .u32 t, u; sub.cc.u32 t, %1, %2; subc.u32 u, %3, 0; add.u32 %0, t, u; }":
        lambda a, b, c: a - b + c - (a < b),
    "{ .reg .u32 t, u; mad.lo.cc.u32 t, %1, %2, %3; madc.hi.u32 u, %1, %2, 0; xor.b32 %0, t, u; }":
        lambda a, b, c: (a * b + c & FULL) ^ (a * b + c >> 32),
    "{ .reg .b64 w; mov.b64 w, {%1, %2}; shr.u64 w, w, 16; cvt.u32.u64 %0, w; }": lambda a, b, c: (b << 32 | a) >> 16,
    "dp4a.s32.u32 %0, %1, %2, %3;":
        lambda a, b, c: c + sum(((a >> i & 255 ^ 128) - 128) * (b >> i & 255) for i in range(0, 32, 8)),
    "neg.f16x2 %0, %1;": lambda a, b, c: a ^ 0x80008000,
    "fma.rn.f16x2 %0, 0x3C004000, %2, 0;": lambda a, b, c: halves(np.array([2, 1], np.float16) * as_halves(b)),
    "add.f16x2 %0, %1, 0x3C003C00;": lambda a, b, c: halves(as_halves(a) + np.float16(1)),
    "max.f16x2 %0, %1, 0x3C003C00;": lambda a, b, c: halves(np.fmax(as_halves(a), np.float16(1))),
    "{ .reg .f32 f; cvt.rn.f32.u32 f, %3; cvt.rn.f16x2.f32 %0, 0f3F800000, f; }":
        lambda a, b, c: halves(np.array([np.float32(c), 1]).astype(np.float16)),
    "{ .reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {high, low}; }": lambda a, b, c: a >> 16 | a << 16,
}  # fmt: skip

FLOATS = {
    "add.rn.f32 %0, %1, %2;": lambda a, b, c: a + b,
    "sub.f32 %0, %1, %2;": lambda a, b, c: a - b,
    "mul.rz.f32 %0, %1, %2;": lambda a, b, c: a * b,
    "fma.rn.f32 %0, %1, %2, %3;": lambda a, b, c: F32(float(a) * float(b) + float(c)),
    "mad.rm.f32 %0, %1, %2, %3;": lambda a, b, c: F32(float(a) * float(b) + float(c)),
    "div.full.f32 %0, %1, %2;": lambda a, b, c: a / b,
    "div.rn.f32 %0, %1, 0f40000000;": lambda a, b, c: a / 2,
    "neg.f32 %0, %1;": lambda a, b, c: -a,
    "abs.f32 %0, %1;": lambda a, b, c: abs(a),
    "min.f32 %0, %1, %2;": lambda a, b, c: min(a, b),
    "max.ftz.f32 %0, %1, %2;": lambda a, b, c: max(a, b),
    "sqrt.approx.f32 %0, %2;": lambda a, b, c: math.sqrt(b),
    "rsqrt.approx.ftz.f32 %0, %2;": lambda a, b, c: 1 / math.sqrt(b),
    "rcp.rn.f32 %0, %2;": lambda a, b, c: 1 / b,
    "ex2.approx.f32 %0, %1;": lambda a, b, c: 2.0 ** float(a),
    "lg2.approx.f32 %0, %2;": lambda a, b, c: math.log2(b),
    "lg2.approx.f32.ftz %0, %2;": lambda a, b, c: math.log2(b),
    "sin.approx.f32 %0, %1;": lambda a, b, c: math.sin(a),
    "tanh.approx.f32 %0, %1;": lambda a, b, c: math.tanh(a),
    "add.sat.f32 %0, %1, %2;": lambda a, b, c: min(max(a + b, 0), 1),
    "copysign.f32 %0, %1, %2;": lambda a, b, c: math.copysign(b, a),
    "cvt.rni.f32.f32 %0, %1;": lambda a, b, c: np.rint(a),
    "cvt.rpi.f32.f32 %0, %1;": lambda a, b, c: math.ceil(a),
    "{ .reg .s32 t; cvt.rzi.s32.f32 t, %1; cvt.rn.f32.s32 %0, t; }": lambda a, b, c: np.trunc(a),
    "{ .reg .f64 t; cvt.f64.f32 t, %1; mul.f64 t, t, 0d3FE0000000000000; cvt.rn.f32.f64 %0, t; }":
        lambda a, b, c: a / 2,
    "{ .reg .pred p; setp.gtu.f32 p, %1, %3; selp.f32 %0, %1, %3, p; }": lambda a, b, c: max(a, c),
}  # fmt: skip


def kernel(name, text, kind):
    letter, c_type = LETTERS[kind], NAMES[kind]
    count = max(int(text[i + 1]) for i in range(len(text) - 1) if text[i] == "%" and text[i + 1].isdigit())
    inputs = ", ".join(f'"{letter}"({one})' for one in "abc"[:count])
    return (
        f'extern "C" __global__ void {name}({c_type}* out, const {c_type}* x, const {c_type}* y, const {c_type}* z)\n'
        f"{{ int i = threadIdx.x; {c_type} a = x[i], b = y[i], c = z[i], r = 0;\n"
        f'  asm volatile("{text}" : "={letter}"(r) : {inputs}); out[i] = r; (void)a, (void)b, (void)c; }}\n'
    )


@pytest.fixture(scope="module")
def image(driver):
    source = "".join(kernel(f"i{n}", text, U32) for n, text in enumerate(INTEGERS))
    return Program(source + "".join(kernel(f"f{n}", text, F32) for n, text in enumerate(FLOATS)), "-arch=sm_90").image


@pytest.fixture
def code(driver, context, image):
    code = Code(driver, image)
    yield code
    code.close()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, about random bits of half precision
def test_integer_instructions(code, rng):
    values = rng.integers(0, 2**32, (3, 64), U32)
    values[:, :8] = rng.integers(0, 40, (3, 8))
    values[1:, 8:32] = rng.integers(0, 70, (2, 24))
    values[0, 8:12] = 0, FULL, 2**31, 2**31 - 1
    for number, (text, reference) in enumerate(INTEGERS.items()):
        out = np.empty(64, U32)
        code(f"i{number}", 1, 64, out, *values)
        assert out.tolist() == [int(reference(*map(int, column))) & FULL for column in values.T], text


def test_float_instructions(code, rng):
    values = rng.normal(size=(3, 64)).astype(F32)
    values[1] = abs(values[1]) + F32(0.1)
    for number, (text, reference) in enumerate(FLOATS.items()):
        out = np.empty(64, F32)
        code(f"f{number}", 1, 64, out, *values)
        expected = [reference(*column) for column in values.T]
        np.testing.assert_allclose(out, np.array(expected, F32), rtol=1e-6, atol=1e-7, err_msg=text)


MEMORY = r"""
extern "C" {
__global__ void memory(unsigned* x, float* f, unsigned long long* total)
{
    __shared__ __align__(16) float s[64];
    unsigned i = threadIdx.x, a, b, c, d, old;
    float p, q;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(x + 4 * i));
    asm volatile("st.global.cs.v2.b32 [%0 + 8], {%1, %2};" :: "l"(x + 4 * i), "r"(a + b), "r"(c + d) : "memory");
    asm volatile("st.shared.f32 [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(s + i)), "f"(f[i]) : "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];"
                 : "=f"(p), "=f"(q) : "r"((unsigned)__cvta_generic_to_shared(s + (i & ~1u))));
    f[i] = p - q;
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" :: "l"(total), "l"((unsigned long long)i) : "memory");
    asm volatile("atom.global.max.u64 %0, [%1], %2;" : "=l"(total[2 + i]) : "l"(total + 1), "l"(7ull));
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(old) : "l"(x + 4 * i));
    asm volatile("st.release.sys.global.u32 [%0 + 4], %1;" :: "l"(x + 4 * i), "r"(old + 100) : "memory");
    asm volatile("membar.gl; fence.acq_rel.gpu;");
}
__global__ void warps(unsigned* x)
{
    unsigned i = threadIdx.x, a, b, c, d, e, g, h, k;
    asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %2, 5; vote.sync.ballot.b32 %0, p, 0xffffffff;\n"
                 "vote.sync.any.pred q, !p, -1; selp.u32 %1, 1, 0, q; }" : "=r"(a), "=r"(b) : "r"(i));
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(c) : "r"(i & 3));
    asm volatile("activemask.b32 %0;" : "=r"(d));
    asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 1, 0x1f, -1; selp.u32 %1, 1, 0, p; }"
                 : "=r"(e), "=r"(g) : "r"(i));
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(h) : "r"(i));
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 3; bar.red.popc.u32 %0, 0, p; }" : "=r"(k) : "r"(i));
    asm volatile("nanosleep.u32 10;");
    unsigned all[] = {a, b, c, d, e, g, h, k};
    for (int n = 0; n < 8; ++n)
        x[32 * n + i] = all[n];
    if (i == 9)
        asm volatile("exit;");
    x[32 * 8 + i] = 1;
}
#define SHUFFLE(mode)                                                                                                \
    asm volatile("{ .reg .pred p; shfl.sync." #mode ".b32 %0|p, %2, %3, %4, -1; selp.u32 %1, 1, 0, p; }"              \
                 : "=r"(value), "=r"(is_in_range) : "r"(100 + i), "r"(by[i]), "r"(control[i]));                       \
    *out++ = value, *out++ = is_in_range;
__global__ void shuffles(const unsigned* by, const unsigned* control, unsigned* out)
{
    unsigned i = threadIdx.x, value, is_in_range;
    out += 8 * i;
    SHUFFLE(up) SHUFFLE(down) SHUFFLE(bfly) SHUFFLE(idx)
}
__global__ void stops() { asm volatile("trap;"); }
}
"""


@pytest.fixture
def words(driver, context):
    code = Code(driver, Program(MEMORY, "-arch=sm_90").image)
    yield code
    code.close()


def test_loads_stores_and_atomics(words, rng):
    x, f, total = rng.integers(0, 1000, (64, 4), U32), rng.random(64, F32), np.zeros(66, U64)
    before, values = x.copy(), f.reshape(32, 2).copy()
    words("memory", 1, 64, x, f, total)
    np.testing.assert_array_equal(x[:, 0], before[:, 0])
    np.testing.assert_array_equal(x[:, 1], before[:, 0] + 100)
    np.testing.assert_array_equal(x[:, 2:], np.stack([before[:, 0] + before[:, 1], before[:, 2] + before[:, 3]], 1))
    np.testing.assert_array_equal(f, np.repeat(values[:, 0] - values[:, 1], 2))
    assert total[0] == 63 * 32 and total[1] == 7 and sorted(total[2:].tolist()) == [0] + 63 * [7]


def test_instructions_of_warps_and_barriers(words):
    x, lane = np.zeros((9, 32), U32), np.arange(32)
    words("warps", 1, 32, x)
    expected = [31 + 0 * lane, 1 + 0 * lane, 0x11111111 << (lane & 3), FULL + 0 * lane, np.minimum(lane + 1, 31)]
    expected += [lane < 31, 496 + 0 * lane, 1 + 0 * lane, lane != 9]
    np.testing.assert_array_equal(x, np.array(expected, U32))


def shuffled(mode, lane, by, control):
    """Return the lane that is read, and whether it is in the segment, as the PTX ISA defines them."""
    by, segment = by & 31, control >> 8 & 31
    end = lane & segment | control & 31 & ~segment
    found = {"up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": lane & segment | by & ~segment}[mode]
    in_range = found >= end if mode == "up" else found <= end
    return (100 + found if in_range else 100 + lane), int(in_range)


def test_shuffles_have_any_segment_and_clamp(words, rng):
    for row in range(60):
        by, control = rng.integers(0, 40, 32, U32), rng.integers(0, 2**13, 32, U32)
        if row % 2:  # the same for all lanes, as in sums of the first lanes
            by[:], control[:] = 1 << row % 5, row // 2
        out = np.zeros((32, 4, 2), U32)
        words("shuffles", 1, 32, by, control, out)
        lanes = zip(range(32), by.tolist(), control.tolist(), strict=True)
        expected = [[shuffled(mode, *lane) for mode in ("up", "down", "bfly", "idx")] for lane in lanes]
        np.testing.assert_array_equal(out, expected)


def test_comparisons_cause_no_warnings(driver):
    text = "{ .reg .pred p, q; setp.lt.f16x2 p|q, %1, %1; setp.lt.u32 q, %1, 3; set.lt.u32.s32 %0, %1, 4; }"
    program = Program(f'__global__ void k(int* x) {{ asm("{text}" : "=r"(x[0]) : "r"(x[1])); }}', "-arch=sm_90")
    assert program.result == "SUCCESS" and program.log == ""


def test_trap_ends_the_kernel(words):
    with pytest.raises(Exception, match="CUDA_ERROR_LAUNCH_FAILED"):
        words("stops", 1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "addc.u32 %0, %1, 1;",  # no carry in this statement
        "add.cc.f32 %0, %1, 1;",
        "mul24.wide.u32 %0, %1, %1;",
        "prmt.b32.abc %0, %1, %1, %1;",
        "dp2a.u32.u32 %0, %1, %1, %1;",
        "szext.u32 %0, %1, 3;",
        "testp.odd.f32 %0, %1;",
        "cvt.pack.sat.u4.s32.b32 %0, %1, %1, %1;",
        "sub.u16x2 %0, %1, %1;",
        "cvt.rn.satfinite.ue8m0x2.f32 %0, %1, %1;",
        "cvt.rz.satfinite.ue8m0x2.f16x2 %0, %1;",
        "cvt.rz.satfinite.e2m3x2.f32 %0, %1, %1;",
        "cvt.rp.tf32.f32 %0, %1;",
        "cvt.f16.f32 %0, %1;",
        "div.rn.f16 %0, %1, %1;",
        "cvt.u32.f32 %0, %1;",
        "ld.param.u32 %0, [%1];",
        "ld.global.L2::cache_hint.u32 %0, [%1];",
        "bar.red.xor.pred %0, 1, %1;",
        "isspacep.param %0, %1;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.and.u32 [%1], [%1], 16;",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%1], [%1], 16, [%1];",
        "atom.global.add.f16 %0, [%1], %1;",
        "atom.global.min.noftz.f16 %0, [%1], %1;",
        "red.shared.add.v2.f32 [%0], {%1, %1};",
        "red.global.add.v8.f32 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};",
        "fma.rn.relu.f32 %0, %1, %1, %1;",
        "min.xorsign.f32 %0, %1, %1;",
        "min.abs.f32 %0, %1, %1;",
        "set.lt.f16x2.bf16x2 %0, %1, %1;",
        "set.lt.f32.f16x2 %0, %1, %1;",
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;",
        "mapa.u32 %0, %1, 0;",
        "vadd.s32.s32.s32 %0.b4, %1, %1, %1;",
        "vadd.s32.s32.s32.max %0.b1, %1, %1, %1;",
        "vadd2.s32.s32.s32 %0, %1.h4, %1, %1;",
        "vadd4.s32.s32.s32 %0, %1.b76543, %1, %1;",
        "vavrg.s32.s32.s32 %0, %1, %1;",
        "vmad4.s32.s32.s32 %0, %1, %1, %1;",
        "vmad.s32.s32.s32.po %0, -%1, %1, %1;",
        "vset.s32.s32.s32.lt %0, %1, %1;",
        "vshl.s32.s32.u32 %0, %1, %1;",
        "vshr.s32.s32.s32.wrap %0, %1, %1;",
        "tex.2d.v4.f32.s32 {%0, %0, %0, %0}, [%1, {%1, %1}];",
        "tex.2d.v4.f32.f32 {%0, %0}, [%1, {%1, %1}];",
        "tex.2d.v4.f32.f32 {%0, %0, %0, %0}, [%1, %1, {%1, %1}];",
        "tex.2dms.v4.f32.s32 {%0, %0, %0, %0}, [%1, {%1, %1, %1, %1}];",
        "tex.grad.2d.v4.f32.f32 {%0, %0, %0, %0}, [%1, {%1, %1}], {%1, %1}, {%1};",
        "txq.channel_order.b32 %0, [%1];",
        "suld.b.2d.v4.b64.trap {%0, %0, %0, %0}, [%1, {%1, %1}];",
        "sust.p.2d.b32.trap [%1, {%1, %1}], %0;",
        "sured.b.add.2d.u32.trap [%1, {%1, %1}], %0;",
        "wmma.load.a.sync %0, %1;",
        "wmma.load.a.sync.aligned.row.m16n16k32.s4 {%0, %0}, [%1];",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%0, %0}, [%1];",
        "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 %0, %1, %1, %1;",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 %0, %1, %1, %1;",
        "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32 %0, %1, %1, %1;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 %0, %1, %1, %1, %1, 0;",
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};",
        "movmatrix.sync.aligned.m8n8.b16 %0, %1;",
        "add.rn.u32 %0, %1, 1;",
        "div.f32 %0, %1, %1;",
    ],
)
def test_other_instructions_are_rejected_by_name(driver, text):
    log = Program(f'__global__ void k(int* x) {{ asm("{text}" : "=r"(x[0]) : "r"(x[1])); }}', "-arch=sm_90").log
    assert "inline PTX is not supported" in log and text[:-1] in log
