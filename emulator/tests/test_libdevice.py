# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions of libdevice that PTX modules declare and do not define."""

import math
import re

import numpy as np
import pytest

from support.compiled import Code
from support.paths import ROOT

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
BITS = {"f": 32, "i": 32, "u": 32, "d": 64, "l": 64, "U": 64, "p": 64, "F": 64, "D": 64}
ONE = {"f": "0f3F000000", "d": "0d3FE0000000000000", "i": "1", "u": "1", "l": "1", "U": "1"}


def functions():
    """Return the types of all functions by name, from the table of the translator."""
    text = (ROOT / "src" / "front" / "ptx_libdevice.cpp").read_text()
    table = text[text.index("const Group groups[]") : text.index("const std::map<std::string, Renamed>& functions")]
    rows = {}
    for types, names in re.findall(r'\{"(\w+)", "\w*",\s*((?:"[^"]*"\s*)+)\}', table):
        rows |= dict.fromkeys("".join(re.findall(r'"([^"]*)"', names)).split(), types)
    return rows | dict(re.findall(r'\{"(\w+)", \{"(\w+)", "[\w:]+"\}\}', table))


def call(name, types, number=0, arguments=None):
    """Return a declaration of a function, and PTX that calls it and stores the result as element ``number``."""
    result, given = types[0], types[1:]
    parameters = ", ".join(f".param .b{BITS[kind]} p{i}" for i, kind in enumerate(given))
    declared = "" if result == "v" else f"(.param .b{BITS[result]} result) "
    head = f".extern .func {declared}__nv_{name}({parameters});\n"
    lines = ["{ .local .align 8 .b8 local[16]; .reg .b64 %at; .reg .b32 %low; .reg .b64 %high;"]
    for i, kind in enumerate(given):
        value = ONE.get(kind, "%at") if arguments is None else arguments[i]
        lines.append(f".param .b{BITS[kind]} a{i};")
        if kind in "pFD":
            lines.append(f"mov.b64 %at, local; cvta.local.u64 %at, %at; add.u64 %at, %at, {8 * (i % 2)};")
        lines.append(f"st.param.b{BITS[kind]} [a{i}], {value};")
    names = ", ".join(f"a{i}" for i in range(len(given)))
    if result == "v":
        lines.append(f"call __nv_{name}, ({names}); ld.local.b32 %low, [local]; cvt.u64.u32 %high, %low;")
    else:
        register = "%high" if BITS[result] == 64 else "%low"
        lines.append(f".param .b{BITS[result]} got; call (got), __nv_{name}, ({names});")
        lines.append(f"ld.param.b{BITS[result]} {register}, [got];")
        lines += ["cvt.u64.u32 %high, %low;"] if BITS[result] == 32 else []
    return head, " ".join([*lines, f"st.global.b64 [%out+{8 * number}], %high; }}\n"])


def run(driver, rows, arguments=None):
    """Return the bits of the results of functions, given by name and types."""
    calls = [call(name, types, i, arguments) for i, (name, types) in enumerate(rows)]
    body = ".reg .b64 %out; ld.param.u64 %out, [out];\n" + "".join(text for _, text in calls)
    text = HEAD + "".join(head for head, _ in calls) + f".visible .entry k(.param .u64 out)\n{{ {body} }}\n"
    out = np.zeros(len(rows), np.uint64)
    code = Code(driver, text.encode() + b"\0")
    code("k", 1, 1, out)
    code.close()
    return out


@pytest.mark.requires(source=True)
def test_every_function_can_be_called(driver, context):
    rows = functions()
    assert len(rows) > 290
    found = run(driver, list(rows.items()))
    results = dict(zip(rows, found, strict=True))
    for name in ("sin", "erf", "lgamma", "exp", "tanh", "cosh"):
        assert results[name].view(np.float64) == pytest.approx(getattr(math, name)(0.5), rel=1e-12)
        assert results[name + "f"].astype(np.uint32).view(np.float32) == pytest.approx(
            getattr(math, name)(0.5), rel=1e-5
        )
    assert results["popc"] == 1 and results["float_as_int"] == 0x3F000000


def test_results_through_pointers_are_stored(driver, context):
    found = run(driver, [("sincosf", "vfFF"), ("frexp", "ddp"), ("modff", "ffF")])
    assert found.astype(np.uint32).view(np.float32)[[0, 2]] == pytest.approx([math.cos(0.5), 0.5], rel=1e-6)
    assert found[1:2].view(np.float64) == 0.5


def test_unknown_function_is_named(driver, context):
    head, body = call("unknown", "ff")
    text = HEAD + head + f".visible .entry k(.param .u64 out)\n{{ .reg .b64 %out; {body} }}\n"
    log = bytearray(1024)
    option = driver.CUjit_option
    arguments = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [log, len(log)], 2
    assert driver.result("cuLibraryLoadData", text.encode() + b"\0", *arguments, [], [], 0) != "SUCCESS"
    assert "__nv_unknown" in log.decode()
