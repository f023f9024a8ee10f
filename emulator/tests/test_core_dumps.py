# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Core dumps: their settings, and callbacks when a kernel fails. The file contains the report of the fault."""

BEGIN = """
import ctypes, os
from cuda.bindings import driver as d, nvrtc
d.cuInit(0)
S, F = d.CUcoredumpSettings, d.CUCoredumpGenerationFlags
ENABLE, FILE, FLAGS = S.CU_COREDUMP_ENABLE_ON_EXCEPTION, S.CU_COREDUMP_FILE, S.CU_COREDUMP_GENERATION_FLAGS
SKIP_ABORT = int(F.CU_COREDUMP_SKIP_ABORT)

def name(result):
    return result[0].name.removeprefix("CUDA_").removeprefix("ERROR_")

def value(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]

seen = []
def callback(word):
    made = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)(
        lambda data, process, device: seen.append((word, data, process == os.getpid(), device, os.path.exists("dump"))))
    return made, d.CUcoredumpStatusCallback(ctypes.cast(made, ctypes.c_void_p).value)

def fault():
    context = value(d.cuDevicePrimaryCtxRetain(0))
    d.cuCtxSetCurrent(context)
    source = b'extern "C" __global__ void wild(int* p) { *p = 1; }'
    program = value(nvrtc.nvrtcCreateProgram(source, b"wild.cu", 0, [], []))
    assert nvrtc.nvrtcCompileProgram(program, 0, [])[0] == 0
    image = bytes(value(nvrtc.nvrtcGetPTXSize(program)))
    nvrtc.nvrtcGetPTX(program, image)
    kernel = value(d.cuModuleGetFunction(value(d.cuModuleLoadData(image)), b"wild"))
    d.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, ((1 << 40,), (ctypes.c_void_p,)), 0)
    return name(d.cuCtxSynchronize())
"""


def test_settings_are_kept(child):
    child(
        BEGIN
        + """
assert value(d.cuCoredumpGetAttributeGlobal(ENABLE)) is False
d.cuCoredumpSetAttributeGlobal(ENABLE, True)
assert value(d.cuCoredumpGetAttributeGlobal(ENABLE)) is True
assert value(d.cuCoredumpGetAttributeGlobal(FILE)).rstrip(b"\\0") == b"core.cuda.%h.%p"
"""
    )


def test_callbacks_run_in_their_order_around_the_dump(child, tmp_path):
    child(
        BEGIN
        + f"""
os.chdir({str(tmp_path)!r})
d.cuCoredumpSetAttributeGlobal(FLAGS, SKIP_ABORT)
d.cuCoredumpSetAttributeGlobal(FILE, b"dump")
d.cuCoredumpSetAttributeGlobal(ENABLE, True)
kept = [callback(word) for word in ("start", "end", "late", "gone")]
value(d.cuCoredumpRegisterCompleteCallback(kept[1][1], 5))
value(d.cuCoredumpRegisterCompleteCallback(kept[2][1], 0))
value(d.cuCoredumpRegisterStartCallback(kept[0][1], 0))
gone = value(d.cuCoredumpRegisterCompleteCallback(kept[3][1], 0))
assert name(d.cuCoredumpDeregisterStartCallback(gone)) == "INVALID_VALUE"
assert name(d.cuCoredumpDeregisterCompleteCallback(gone)) == "SUCCESS"
assert name(d.cuCoredumpDeregisterCompleteCallback(gone)) == "INVALID_VALUE"
assert fault() == "ILLEGAL_ADDRESS"
assert seen == [("start", None, True, 0, False), ("end", 5, True, 0, True), ("late", None, True, 0, True)], seen
assert "wild" in open("dump").read()
"""
    )


def test_nothing_is_written_unless_enabled(child, tmp_path):
    child(
        BEGIN
        + f"""
os.chdir({str(tmp_path)!r})
made, function = callback("end")
value(d.cuCoredumpRegisterCompleteCallback(function, 0))
assert fault() == "ILLEGAL_ADDRESS" and seen == [] and os.listdir() == []
"""
    )


def test_name_of_the_file_has_process_and_host(child, tmp_path):
    child(
        BEGIN
        + f"""
import socket
os.chdir({str(tmp_path)!r})
d.cuCoredumpSetAttributeGlobal(FLAGS, SKIP_ABORT)
d.cuCoredumpSetAttributeGlobal(ENABLE, True)
fault()
assert os.listdir() == [f"core.cuda.{{socket.gethostname()}}.{{os.getpid()}}"], os.listdir()
"""
    )


def test_callbacks_cannot_register_others(child, tmp_path):
    child(
        BEGIN
        + f"""
os.chdir({str(tmp_path)!r})
d.cuCoredumpSetAttributeGlobal(FLAGS, SKIP_ABORT | int(F.CU_COREDUMP_LOG_ONLY) & 0xFFFFFFFF)
d.cuCoredumpSetAttributeGlobal(ENABLE, True)
other = callback("other")
tried = []
made = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)(
    lambda *_: tried.append(name(d.cuCoredumpRegisterCompleteCallback(other[1], 0))))
value(d.cuCoredumpRegisterStartCallback(d.CUcoredumpStatusCallback(ctypes.cast(made, ctypes.c_void_p).value), 0))
fault()
assert tried == ["NOT_PERMITTED"] and os.listdir() == []
"""
    )
