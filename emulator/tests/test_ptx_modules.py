# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""PTX modules that were written by hand or made by open compilers."""

import re

import numpy as np
import pytest

from support.compiled import Code

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

# In the manner of LLVM and of tinygrad, and by hand.
MODULE = (
    HEAD
    + r"""
.visible .global .align 4 .u32 counter = 5; // a comment; with a semicolon
.const .align 4 .b8 table[8] = {1, 2, 3, 4, 0, 0, 128, 63};
.global .align 4 .f32 scale[2] = {0f40000000, 0f3F000000};
.extern .shared .align 16 .b8 dynamic[];

.func (.param .b32 result) twice(.param .b32 given)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [given];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result+0], %r2;
    ret;
}

/* x[i] = 2 * x[i] + counter
   for each i */
.visible .entry twice_each(.param .u64 x, .param .u32 count)
.maxntid 128, 1, 1
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra $L__BB0_2;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r6, [%rd4];
    { // callseq 0, 0
    .reg .b32 temp_param_reg;
    .param .b32 param0;
    st.param.b32 [param0+0], %r6;
    .param .b32 retval0;
    call.uni (retval0),
    twice,
    (param0);
    ld.param.b32 %r7, [retval0+0];
    }
    ld.global.u32 %r8, [counter];
    add.s32 %r7, %r7, %r8;
    st.global.u32 [%rd4], %r7;
$L__BB0_2:
    ret;
}

.visible .entry sums(.param .u64 .ptr .global .align 4 x, .param .align 4 .b8 pair[8], .param .u64 out)
{
    .shared .align 4 .b8 s[256];
    .reg .b32 %i, %j, %a, %b, %at, %n, %k;
    .reg .b64 %x, %o, %w;
    .reg .f32 %f, %g;
    .reg .pred %more, %first;
    ld.param.u64 %x, [x];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %w, %i, 4;
    add.u64 %w, %x, %w;
    ld.global.u32 %a, [%w];
    mov.u32 %at, s;
    shl.b32 %j, %i, 2;
    add.u32 %at, %at, %j;
    st.shared.u32 [%at], %a;
    mov.u32 %at, dynamic;
    add.u32 %at, %at, %j;
    st.shared.u32 [%at], %i;
    bar.sync 0;
    setp.ne.u32 %first, %i, 0;
    @%first bra DONE;
    mov.u32 %n, 0;
    mov.u32 %b, 0;
LOOP:
    shl.b32 %j, %n, 2;
    mov.u32 %at, s;
    add.u32 %at, %at, %j;
    ld.shared.u32 %a, [%at];
    add.u32 %b, %b, %a;
    mov.u32 %at, dynamic;
    add.u32 %at, %at, %j;
    ld.shared.u32 %a, [%at];
    add.u32 %b, %b, %a;
    add.u32 %n, %n, 1;
    setp.lt.u32 %more, %n, %ntid.x;
    @%more bra LOOP;
    ld.param.u64 %o, [out];
    st.global.u32 [%o], %b;
    ld.param.u32 %a, [pair+4];
    st.global.u32 [%o+4], %a;
    ld.const.u8 %k, [table+2];
    st.global.u32 [%o+8], %k;
    ld.const.f32 %f, [table+4];
    ld.global.f32 %g, [scale];
    mul.f32 %f, %f, %g;
    st.global.f32 [%o+12], %f;
DONE:
    ret;
}

.visible .entry halves(.param .u64 x)
{
    .reg .f16 %h<6>;
    .reg .f32 %f<2>;
    .reg .b64 %w;
    .reg .pred %p;
    ld.param.u64 %w, [x];
    ld.global.b16 %h0, [%w];
    ld.global.b16 %h1, [%w+2];
    add.f16 %h2, %h0, %h1;
    st.global.b16 [%w+4], %h2;
    mul.rn.f16 %h2, %h0, %h1;
    st.global.b16 [%w+6], %h2;
    fma.rn.f16 %h2, %h0, %h1, %h0;
    st.global.b16 [%w+8], %h2;
    cvt.f32.f16 %f0, %h0;
    add.f32 %f0, %f0, 0f3F800000;
    cvt.rn.f16.f32 %h3, %f0;
    st.global.b16 [%w+10], %h3;
    max.f16 %h4, %h0, %h1;
    st.global.b16 [%w+12], %h4;
    setp.lt.f16 %p, %h0, %h1;
    selp.f16 %h5, %h0, %h1, %p;
    neg.f16 %h5, %h5;
    st.global.b16 [%w+14], %h5;
    ret;
}

.visible .entry switches(.param .u64 x)
{
    .reg .b64 %w;
    .reg .b32 %r<2>;
    ld.param.u64 %w, [x];
    mov.u32 %r0, %tid.x;
    mad.wide.u32 %w, %r0, 4, %w;
TARGETS: .branchtargets ZERO, ONE, TWO;
    brx.idx %r0, TARGETS;
ZERO: mov.u32 %r1, 10; bra STORE;
ONE: mov.u32 %r1, 20; bra STORE;
TWO: mov.u32 %r1, 30;
STORE: st.global.u32 [%w], %r1;
}

.file 1 "model.py"
.visible .entry wild(.param .u64 x)
{
    .reg .b64 %w;
    .loc 1 70 3
    ld.param.u64 %w, [x];
    .loc 1 77 5
    st.global.u32 [%w+4096], 1;
    ret;
}
"""
)


@pytest.fixture
def code(driver, context):
    code = Code(driver, MODULE.encode() + b"\0")
    yield code
    code.close()


def test_module_with_calls_and_variables(code, driver):
    x = np.arange(200, dtype=np.uint32)
    code("twice_each", 2, 128, x, 150)
    np.testing.assert_array_equal(x, [2 * i + 5 if i < 150 else i for i in range(200)])
    _, size = driver.cuLibraryGetGlobal(code.library, b"counter")
    assert size == 4


def test_shared_memory_loops_and_structures(code, rng):
    x, out = rng.integers(0, 99, 64).astype(np.uint32), np.zeros(4, np.uint32)
    code("sums", 1, 64, x, np.uint64(7 << 32 | 3), out, shared=256)
    assert out[:3].tolist() == [x.sum() + 63 * 32, 7, 3]
    assert out[3:].view(np.float32) == 2


def test_half_precision(code):
    x = np.zeros(8, np.float16)
    x[:2] = a, b = np.float16(1.1), np.float16(-3.7)
    code("halves", 1, 1, x)
    fused = np.float16(float(a) * float(b) + float(a))
    assert x[2:].tolist() == [a + b, a * b, fused, np.float16(np.float32(a) + 1), a, -b]


MATRICES = (
    HEAD
    + """
.visible .entry matrices(.param .u64 x)
{
    .shared .align 16 .b8 s[512];
    .reg .b32 %d<5>, %i, %at;
    .reg .b64 %x, %y, %z;
    ld.param.u64 %x, [x];
    mov.u32 %i, %laneid;
    mad.wide.u32 %y, %i, 16, %x;
    mov.u32 %at, s;
    mad.lo.u32 %at, %i, 16, %at;
    ld.global.v4.b32 {%d0, %d1, %d2, %d3}, [%y];
    st.shared.v4.b32 [%at], {%d0, %d1, %d2, %d3};
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d0, %d1, %d2, %d3}, [%at];
    st.global.v4.b32 [%y+512], {%d0, %d1, %d2, %d3};
    ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%d4}, [%at];
    mad.wide.u32 %z, %i, 4, %x;
    st.global.b32 [%z+1024], %d4;
}
"""
)


def test_matrices_are_loaded_from_shared_memory(driver, context, rng):
    x = rng.integers(0, 2**16, 576).astype(np.uint16)
    code = Code(driver, MATRICES.encode() + b"\0")
    code("matrices", 1, 32, x)
    code.close()
    four = x[:256].reshape(4, 8, 4, 2)  # matrix, row, pair, element
    np.testing.assert_array_equal(x[256:512].reshape(8, 4, 4, 2), four.transpose(1, 2, 0, 3))
    np.testing.assert_array_equal(x[512:].reshape(8, 8), x[:64].reshape(8, 8).T)


def test_branches_by_index(code):
    x = np.zeros(3, np.uint32)
    code("switches", 1, 3, x)
    assert x.tolist() == [10, 20, 30]


def test_fault_names_line_of_ptx_source(code, capfd):
    with pytest.raises(Exception, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        code("wild", 1, 1, np.zeros(4, np.uint32))
    assert "model.py:77" in capfd.readouterr().err


MARK = "//\n// Generated by NVIDIA NVVM Compiler\n//\n"
ENTRY = ".visible .entry k()\n{\n"


@pytest.mark.parametrize(
    ("text", "result", "message"),
    [
        (MARK + HEAD, "NO_BINARY_FOR_GPU", "this PTX was generated by NVIDIA's compilers"),
        (HEAD.replace("80", "120"), "NO_BINARY_FOR_GPU", "PTX for sm_120 does not run on this device"),
        (".version 8.0\n", "INVALID_PTX", "the directive .target is missing"),
        (HEAD + ENTRY + "  wgmma.fence;\n}\n", "INVALID_PTX", r"ptx\(6\): error: this is not supported .*wgmma.fence"),
        (
            HEAD + ENTRY + ".reg .b32 %r;\n{ .reg .b32 %r; }\n}\n",
            "INVALID_PTX",
            r"ptx\(7\): .*supported .*: .reg .b32 %r",
        ),
        (HEAD + ENTRY + ".reg .b32 %r;\n.reg .b32 r;\n}\n", "INVALID_PTX", "not supported .*: .reg .b32 r"),
        (HEAD + ENTRY + "  bra NOWHERE;\n}\n", "INVALID_PTX", "a label is missing"),
        (HEAD + ENTRY + "  ret;\n", "INVALID_PTX", "a function has no end"),
        (HEAD + ENTRY + ".reg .b64 %r;\n call %r, (1), OTHER;\n}\n", "INVALID_PTX", "not supported .*: call %r"),
        (HEAD + ENTRY + "call unknown, (1);\n}\n", "INVALID_PTX", "not supported .*: call unknown"),
        (HEAD + ".visible .entry k(.reg .u32 x)\n{\n}\n", "INVALID_PTX", "this parameter is not supported"),
        (HEAD + ".tex .u64 image;\n", "INVALID_PTX", "this variable is not supported"),
        (HEAD + ".global .u32;\n", "INVALID_PTX", "this declaration is not supported"),
        (HEAD + ".global .u64 p = other;\n", "INVALID_PTX", "an initial value must be a number or an address"),
        (HEAD + ".global .u32 p;\n.global .u32 q = p;\n", "INVALID_PTX", "an address has 64 bits: .global .u32 q = p"),
        (HEAD + ".global .u32 p", "INVALID_PTX", "a declaration has no end"),
    ],
)
def test_untranslatable_code_is_rejected_with_reason(driver, context, text, result, message):
    log = bytearray(4096)
    option = driver.CUjit_option
    arguments = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [log, len(log)], 2
    assert driver.result("cuLibraryLoadData", text.encode() + b"\0", *arguments, [], [], 0) == result
    assert re.search(message, log.rstrip(b"\0").decode())


# In the manner of LLVM: a call of a pointer with its prototype, and of vprintf with a structure of its arguments; then
# parameters in registers, as older programs have them.
CALLS = (
    HEAD
    + r"""
.extern .func (.param .b32 result) vprintf
(
    .param .b64 format,
    .param .b64 values
)
;
.visible .func (.param .b32 result) successor(.param .b32 x, .param .b64 y);
.visible .func (.param .b32 result) product(.param .b32 x, .param .b64 y);
.const .align 1 .b8 format[28] = {37, 100, 124, 37, 53, 46, 49, 102, 124, 37, 45, 42, 115, 124, 37, 108, 108, 100, 124,
    37, 99, 124, 37, 120, 37, 37, 10, 0};
.const .align 1 .b8 word[3] = {97, 98, 0};
.visible .global .align 8 .u64 table[3] = {successor, product, 0};
.visible .global .align 8 .u64 words[1] = {generic(word)};
.func (.reg .u32 %result) triple(.reg .u32 %given)
{
    mul.lo.u32 %result, %given, 3;
    mov.u32 %given, 0;
    ret;
}
.visible .func (.param .b32 result) successor(.param .b32 x, .param .b64 y)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [x];
    add.s32 %r2, %r1, 1;
    st.param.b32 [result+0], %r2;
    ret;
}
.visible .func (.param .b32 result) product(.param .b32 x, .param .b64 y)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u32 %r1, [x];
    ld.param.u64 %rd1, [y];
    cvt.u32.u64 %r2, %rd1;
    mul.lo.s32 %r3, %r1, %r2;
    st.param.b32 [result+0], %r3;
    ret;
}
.visible .entry calls(.param .u64 x)
{
    .local .align 8 .b8 __local_depot0[48];
    .reg .b32 %r<9>;
    .reg .b64 %rd<15>, %SP;
    mov.u64 %SP, __local_depot0;
    cvta.local.u64 %SP, %SP;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    st.local.u32 [%SP], -7;
    st.local.u64 [%SP+8], 0d4004000000000000;
    st.local.u32 [%SP+16], 4;
    ld.global.u64 %rd2, [words];
    st.local.u64 [%SP+24], %rd2;
    st.local.u64 [%SP+32], -5;
    st.local.u32 [%SP+40], 122;
    st.local.u32 [%SP+44], 255;
    mov.u64 %rd3, format;
    cvta.const.u64 %rd3, %rd3;
    { // callseq 0, 0
    .param .b64 param0;
    st.param.b64 [param0+0], %rd3;
    .param .b64 param1;
    st.param.b64 [param1+0], %SP;
    .param .b32 retval0;
    call.uni (retval0),
    vprintf,
    (
    param0,
    param1
    );
    ld.param.b32 %r2, [retval0+0];
    }
    mul.wide.u32 %rd4, %r1, 8;
    mov.u64 %rd5, table;
    add.s64 %rd5, %rd5, %rd4;
    ld.global.u64 %rd6, [%rd5];
    { // callseq 1, 0
    .param .b32 param0;
    st.param.b32 [param0+0], %r2;
    .param .b64 param1;
    st.param.b64 [param1+0], 100;
    .param .b32 retval0;
    prototype_1 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);
    call (retval0),
    %rd6,
    (
    param0,
    param1
    )
    , prototype_1;
    ld.param.b32 %r3, [retval0+0];
    }
    call (%r4), triple, (%r3);
    call (%r5), triple, (7);
    add.u32 %r4, %r4, %r5;
    mad.lo.u32 %r4, %r3, 1000, %r4;
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    st.global.u32 [%rd1], %r4;
    ret;
}
"""
)


def test_calls_of_pointers_of_vprintf_and_with_registers(driver, context, capfd):
    code = Code(driver, CALLS.encode() + b"\0")
    x = np.zeros(2, np.uint32)
    code("calls", 1, 2, x)
    code.close()
    assert capfd.readouterr().out == 2 * "-7|  2.5|ab  |-5|z|ff%\n"
    # vprintf returns the number of values.
    assert x.tolist() == [1000 * y + 3 * y + 21 for y in (8, 700)]
