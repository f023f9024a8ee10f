# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""PTX in the forms that LLVM's back end prints, such as that of Triton's kernels."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from support.compiled import Code

HEAD = ".version 8.8\n.target sm_80\n.address_size 64\n"
KERNEL = (
    HEAD
    + """{before}
.visible .entry k(.param .u64 p, .param .u64 q)
{{
\t.reg .pred \t%p<9>;
\t.reg .b16 \t%rs<9>;
\t.reg .b32 \t%r<9>;
\t.reg .b64 \t%rd<9>;
\t.reg .b64 \t%SP;
\t.reg .b32 \t%SPL;
\tld.param.b64 \t%rd1, [p];
{body}
\tret;
}}
{after}"""
)


def run(driver, body, out, *, before="", after="", block=1):
    """Run a kernel whose first parameter is in %rd1, and return the array that it has changed."""
    text = KERNEL.format(body=body, before=before, after=after)
    code = Code(driver, text.encode() + b"\0")
    try:
        code("k", 1, block, out, np.zeros(1))
    finally:
        code.close()
    return out


BODIES = {
    "a line with tabs": ("\t.loc\t1 5 0\n\tst.global.b32 \t[%rd1], 7;", [7, 0]),
    "a line of an inlined function": (
        "\t.loc\t1 5 0, function_name $L__info_string0, inlined_at 1 9 0\n\tst.global.b32 [%rd1], 7;", [7, 0]),
    "a pragma": ('\t.pragma\t"nounroll";\n\tst.global.b32 [%rd1], 7;', [7, 0]),
    "a register in braces": (
        "\tmov.b32 %r1, 7;\n\tst.global.b32 [ %rd1 + 0 ], { %r1 };\n\tld.global.b32 { %r2 }, [ %rd1 + 0 ];\n"
        "\tst.global.b32 [%rd1+4], %r2;", [7, 7]),
    "an atomic operation in braces": (
        "\tmov.b32 %r1, 7;\n\tatom.global.gpu.acq_rel.add.u32 %r2, [ %rd1 + 0 ], { %r1 };\n"
        "\tatom.global.gpu.relaxed.exch.b32 _, [%rd1+4], 3;", [7, 3]),
    "addresses of parameters in 32 bits": (
        "\tmov.b32 %r1, p;\n\tmov.b32 %r2, q;\n\tsetp.eq.u32 %p1, %r3, %r3;\n\tselp.b32 %r4, %r1, %r2, %p1;\n"
        "\tld.param.b64 %rd2, [%r4];\n\tst.global.b32 [%rd2], 7;", [7, 0]),
    "a stack in 32 bits": (
        "\t.local .align 8 .b8 __local_depot0[24];\n\tmov.b32 %SPL, __local_depot0;\n\tcvt.u64.u32 %SP, %SPL;\n"
        "\tcvta.local.u64 %SP, %SP;\n\tadd.u32 %r6, %SPL, 8;\n\tst.local.b32 [%r6], 7;\n\tadd.u64 %rd2, %SP, 8;\n"
        "\tld.b32 %r1, [%rd2];\n\tst.global.b32 [%rd1], %r1;\n\tcvta.to.local.u64 %rd3, %rd2;\n"
        "\tcvt.u32.u64 %r2, %rd3;\n\tld.local.b32 %r3, [%r2];\n\tst.global.b32 [%rd1+4], %r3;", [7, 7]),
    "a constant in 32 bits": (
        "\tmov.b32 %r1, table;\n\tadd.u32 %r1, %r1, 4;\n\tld.const.b32 %r2, [%r1];\n\tst.global.b32 [%rd1], %r2;",
        [9, 0]),
    "equal labels in two blocks": (
        "\tmov.b32 %r1, 0;\n" + 2 * (
            "{\n\t.reg .pred done;\nwait:\n\tadd.u32 %r1, %r1, 1;\n\tand.b32 %r2, %r1, 3;\n\tsetp.eq.u32 done, %r2, 0;"
            "\n\t@!done bra.uni wait;\n\t@done bra.uni end;\n\tst.global.b32 [%rd1+4], 1;\nend:\n}\n") +
        "\tst.global.b32 [%rd1], %r1;", [8, 0]),
    "a register and a range of the same name": (
        "{\n.reg .b32 a;\n.reg .f16 a<2>;\nmov.b32 a, 0x00070009;\nmov.b32 {a0, a1}, a;\nst.global.b16 [%rd1], a1;\n"
        "st.global.b16 [%rd1+4], a0;\n}", [7, 9]),
    "a division by zero": (
        "\tmov.b32 %r1, 0;\n\tdiv.s32 %r2, 5, %r1;\n\trem.u32 %r3, 5, %r1;\n\tmov.b32 %r4, -1;\n"
        "\tmov.b32 %r5, 0x80000000;\n\tdiv.s32 %r6, %r5, %r4;\n\tst.global.b32 [%rd1], %r6;\n"
        "\trem.s32 %r6, %r5, %r4;\n\tst.global.b32 [%rd1+4], %r6;", [-(2**31), 0]),
    "packed floats": (
        "\tmov.b64 %rd2, 0x400000003F800000;\n\tfma.rn.f32x2 %rd3, %rd2, %rd2, %rd2;\n\tadd.f32x2 %rd3, %rd3, %rd2;\n"
        "\tst.global.b64 [%rd1], %rd3;", [0x40400000, 0x41000000]),
    "a copy with a size in a register": (
        "\t.shared .align 16 .b8 s[16];\n\tmov.b32 %r1, s;\n\tmov.b32 %r2, 4;\n\tst.global.b32 [%rd1], 7;\n"
        "\tcp.async.ca.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x8, %r2;\n\tcp.async.wait_all;\n"
        "\tld.shared.v2.b32 {%r3, %r4}, [s];\n\tst.global.v2.b32 [%rd1], {%r4, %r3};", [0, 7]),
    "a wait for an mbarrier": (
        "\t.shared .align 8 .b8 s[32];\n\tmov.b32 %r1, s;\n\tmbarrier.init.shared::cta.b64 [%r1], 1;\n"
        "\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 12;\n"
        "\tst.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1+16], {7, 8}, [%r1];\n"
        "\tred.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1+16], 2, [%r1];\n"
        "waitLoop:\n\tmbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;\n\t@!%p1 bra.uni waitLoop;\n"
        "\tld.shared.v2.b32 {%r2, %r3}, [s+16];\n\tst.global.v2.b32 [%rd1], {%r2, %r3};", [9, 8]),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_forms_of_llvm_run(driver, context, name):
    body, expected = BODIES[name]
    before = ".const .align 4 .u32 table[2] = {5, 9};" if "constant" in name else ""
    out = run(driver, body, np.zeros(2, np.int32), before=before, after='\t.file\t1 "a.py"\n')
    assert out.tolist() == expected


def test_reciprocal_of_double_uses_upper_half(driver, context):
    body = "\n".join(
        f"ld.global.b64 %rd2, [%rd1+{8 * i}];\nrcp.approx.ftz.f64 %rd3, %rd2;\nst.global.b64 [%rd1+{8 * i}], %rd3;"
        for i in range(6)
    )
    x = np.array([1.75, -0.3, np.inf, 0.0, 5e-324, np.nan])
    found = run(driver, body, x.copy())
    np.testing.assert_allclose(found[:3], 1 / x[:3], rtol=2**-20)
    assert hex(found.view(np.uint64)[0]) == "0x3fe2492400000000"  # cut: ...25 is nearer
    assert np.isposinf(found[3:5]).all()
    assert found.view(np.uint64)[5] == 0x7FFFFFFF00000000
    assert not (found.view(np.uint64) & 0xFFFFFFFF).any()


@pytest.mark.parametrize("place", ["before", "after"])
def test_fault_names_line_without_those_of_inline_assembly(driver, context, capfd, place):
    body = (
        "\t.loc\t1 70 3\n\t// begin inline asm\n\tmov.u32 %r1, 0x0;\n\t.loc\t1 71 3\n\t@%p1 bra L;\n"
        "\t.loc\t1 72 3\n\tst.global.b32 [ %rd1 + 4096 ], { %r1 };\n\tL:\n\t// end inline asm\n"
    )
    with pytest.raises(Exception, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        run(driver, body, np.zeros(4, np.int32), **{place: '\t.file\t1 "model.py"\n'})
    assert "model.py:70 " in capfd.readouterr().err


ASSERTION = """
.extern .func __assertfail
(
\t.param .b64 __assertfail_param_0,
\t.param .b64 __assertfail_param_1,
\t.param .b32 __assertfail_param_2,
\t.param .b64 __assertfail_param_3,
\t.param .b64 __assertfail_param_4
)
.noreturn;
.global .align 1 .b8 message[6] = {112, 111, 115, 115, 63, 0};
.global .align 1 .b8 file[5] = {97, 46, 112, 121, 0};
.global .align 1 .b8 name[2] = {107, 0};
"""
FAILING = """
\t{ // callseq 0, 0
\t.param .b64 param0;
\t.param .b64 param1;
\t.param .b32 param2;
\t.param .b64 param3;
\t.param .b64 param4;
\tmov.b64 %rd2, message;
\tst.param.b64 [param0], %rd2;
\tmov.b64 %rd3, file;
\tst.param.b64 [param1], %rd3;
\tst.param.b32 [param2], 12;
\tmov.b64 %rd4, name;
\tst.param.b64 [param3], %rd4;
\tst.param.b64 [param4], 1;
\tcall.uni __assertfail, (param0, param1, param2, param3, param4);
\t} // callseq 0
"""


def test_assertion_of_module_ends_launch(driver, context, capfd):
    with pytest.raises(Exception, match="CUDA_ERROR_ASSERT"):
        run(driver, FAILING, np.zeros(1, np.int32), before=ASSERTION)
    assert re.search(r"a\.py:12: k: .*Assertion `poss\?` failed", capfd.readouterr().err)


@pytest.mark.parametrize(
    "text",
    ["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32", "tensormap.replace.tile.color [%rd1], 1"],
)
def test_instruction_of_newer_device_is_rejected_by_name(driver, context, text):
    log = bytearray(1024)
    option = driver.CUjit_option
    arguments = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [log, len(log)], 2
    image = KERNEL.format(body=f"\t{text};", before="", after="").encode() + b"\0"
    assert driver.result("cuLibraryLoadData", image, *arguments, [], [], 0) == "INVALID_PTX"
    assert f"not supported by the software device: {text}" in log.decode()


# Block 1 stores a value and publishes it; block 0 waits for that and loads the value.
PUBLISHING = {
    "st.release": "st.release.gpu.global.b32 [%rd2], 1;",
    "atom.release": "atom.release.gpu.global.exch.b32 %r5, [%rd2], 1;",
    "atom.acq_rel": "atom.acq_rel.gpu.global.exch.b32 %r5, [%rd2], 1;",
    "atom.release.max": "atom.global.release.gpu.max.u32 %r5, [%rd2], 1;",
    "red.release": "red.release.gpu.global.add.u32 [%rd2], 1;",
    "fence; atom.relaxed": "fence.acq_rel.gpu; atom.relaxed.gpu.global.exch.b32 %r5, [%rd2], 1;",
    "fence; st.relaxed": "fence.acq_rel.gpu; st.relaxed.gpu.global.b32 [%rd2], 1;",
    "membar; st.volatile": "membar.gl; st.volatile.global.b32 [%rd2], 1;",
}
NOT_PUBLISHING = {
    "atom.relaxed": "atom.relaxed.gpu.global.exch.b32 %r5, [%rd2], 1;",
    "st.relaxed": "st.relaxed.gpu.global.b32 [%rd2], 1;",
    "atom.release.cta": "atom.release.cta.global.exch.b32 %r5, [%rd2], 1;",
    "fence.cta": "fence.acq_rel.cta; st.relaxed.gpu.global.b32 [%rd2], 1;",
}
READING = {
    "ld.acquire": "L1: ld.acquire.gpu.global.b32 %r6, [%rd2]; setp.ne.b32 %p3, %r6, 1; @%p3 bra L1;",
    "atom.acquire": "L1: atom.acquire.gpu.global.cas.b32 %r6, [%rd2], 1, 1; setp.ne.b32 %p3, %r6, 1; @%p3 bra L1;",
    "ld.relaxed; fence": "L1: ld.relaxed.gpu.global.b32 %r6, [%rd2]; setp.ne.b32 %p3, %r6, 1; @%p3 bra L1;"
    " fence.acq_rel.gpu;",
}
HANDOVER = """
.visible .entry k{number}(.param .u64 data, .param .u64 lock)
{{
 .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
 ld.param.b64 %rd1, [data]; ld.param.b64 %rd2, [lock];
 mov.u32 %r2, %ctaid.x; setp.eq.b32 %p2, %r2, 0; @%p2 bra READ;
 mov.u32 %r3, 42; st.global.b32 [%rd1], %r3;
 {publish}
 ret;
READ:
 {read}
 ld.global.b32 %r4, [%rd1];
 st.global.b32 [%rd2+4], %r4;
 ret;
}}
"""
_CHILD = """
import ctypes, json, sys
import cuda.emulator
cuda.emulator.activate()
sys.path[:0] = {path!r}
from support.driver import Driver
driver = Driver()
driver.cuInit(0)
driver.cuCtxCreate(None, 0, 0)
library = driver.cuLibraryLoadData({text!r}.encode() + b"\\0", [], [], 0, [], [], 0)
results = []
for number in range({count}):
    kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, b"k%d" % number)))
    data, lock = driver.zeros(8), driver.zeros(8)
    types = (ctypes.c_void_p, ctypes.c_void_p)
    driver.cuLaunchKernel(kernel, 2, 1, 1, 1, 1, 1, 0, driver.CUstream(0), ((int(data), int(lock)), types), 0)
    results.append(driver.result("cuCtxSynchronize"))
    cuda.emulator.reset()
print(json.dumps(results))
"""


def run_handovers(pairs):
    """Return the result of a launch for each pair, with the races check."""
    kernels = [HANDOVER.format(number=i, publish=p, read=r) for i, (p, r) in enumerate(pairs)]
    program = _CHILD.format(path=sys.path, text=HEAD + "".join(kernels), count=len(kernels))
    search = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": search, "CUDA_EMULATOR_CHECK": "races"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_atomics_and_fences_order_threads_for_races():
    names = [(p, r) for p in PUBLISHING for r in READING]
    results = run_handovers([(PUBLISHING[p], READING[r]) for p, r in names])
    assert {name: result for name, result in zip(names, results, strict=True) if result != "SUCCESS"} == {}


def test_relaxed_and_narrow_atomics_do_not_publish():
    names = [(p, r) for p in NOT_PUBLISHING for r in READING]
    results = run_handovers([(NOT_PUBLISHING[p], READING[r]) for p, r in names])
    assert [name for name, result in zip(names, results, strict=True) if result == "SUCCESS"] == []
