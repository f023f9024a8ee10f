# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The runtime functions of cuda.bindings run over the driver of the software device."""

import ctypes
import types

import pytest

import cuda.emulator
from cuda.emulator import _runtime

START = """
import ctypes, sys
from cuda.bindings import runtime
from cuda.bindings.runtime import cudaMemcpyKind as Kind
def get(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else None
"""


def test_memory_is_copied_in_rows_and_in_streams(child):
    out = child(
        START + "stream = get(runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking))\n"
        "there = get(runtime.cudaMallocAsync(64, stream))\n"
        "a, b = (ctypes.c_ubyte * 64)(*range(64)), (ctypes.c_ubyte * 64)()\n"
        "get(runtime.cudaMemcpyAsync(there, ctypes.addressof(a), 64, Kind.cudaMemcpyHostToDevice, stream))\n"
        "get(runtime.cudaStreamSynchronize(stream))\n"
        "get(runtime.cudaMemcpy2D(ctypes.addressof(b), 16, there, 8, 8, 4, Kind.cudaMemcpyDefault))\n"
        "print([b[i] for i in (0, 7, 8, 16, 55, 56)])\n"
        "get(runtime.cudaMemset(there, 9, 64)); get(runtime.cudaDeviceSynchronize())\n"
        "get(runtime.cudaMemcpy(ctypes.addressof(b), there, 64, Kind.cudaMemcpyDeviceToHost))\n"
        "print(set(b)); get(runtime.cudaFreeAsync(there, stream)); get(runtime.cudaStreamDestroy(stream))"
    )
    assert out.splitlines() == ["[0, 7, 0, 8, 31, 0]", "{9}"]


def test_streams_events_and_graphs_of_the_runtime_work(child):
    out = child(
        START + "stream = get(runtime.cudaStreamCreate()); there = get(runtime.cudaMalloc(64))\n"
        "start, end = get(runtime.cudaEventCreate()), get(runtime.cudaEventCreate())\n"
        "get(runtime.cudaStreamBeginCapture(stream, runtime.cudaStreamCaptureMode.cudaStreamCaptureModeGlobal))\n"
        "get(runtime.cudaMemsetAsync(there, 5, 64, stream))\n"
        "exec = get(runtime.cudaGraphInstantiate(get(runtime.cudaStreamEndCapture(stream)), 0))\n"
        "get(runtime.cudaEventRecord(start, stream)); get(runtime.cudaGraphLaunch(exec, stream))\n"
        "get(runtime.cudaEventRecord(end, stream)); get(runtime.cudaEventSynchronize(end))\n"
        "print(get(runtime.cudaEventElapsedTime(start, end)) >= 0)\n"
        "b = (ctypes.c_ubyte * 64)()\n"
        "get(runtime.cudaMemcpy(ctypes.addressof(b), there, 64, Kind.cudaMemcpyDefault)); print(set(b))"
    )
    assert out.splitlines() == ["True", "{5}"]


def test_device_and_pointers_are_described_by_the_runtime(child):
    out = child(
        START + "print(get(runtime.cudaGetDevice()), get(runtime.cudaGetDeviceCount()))\n"
        "get(runtime.cudaSetDevice(1)); print(get(runtime.cudaGetDevice()))\n"
        "print(get(runtime.cudaDeviceGetPCIBusId(32, 1)).split(bytes(1))[0].decode())\n"
        "print(get(runtime.cudaDeviceGetAttribute(runtime.cudaDeviceAttr.cudaDevAttrWarpSize, 0)))\n"
        "host = (ctypes.c_ubyte * 8)()\n"
        "for p in (get(runtime.cudaMalloc(8)), get(runtime.cudaMallocHost(8)), get(runtime.cudaMallocManaged(8, 1)),\n"
        "          ctypes.addressof(host)):\n"
        "    a = get(runtime.cudaPointerGetAttributes(p)); print(int(a.type), a.device, a.hostPointer == int(p))",
        DEVICES=2,
    )
    lines = out.splitlines()
    assert lines[:4] == ["0 2", "1", "0000:E1:00.0", "32"]
    assert lines[4:] == ["2 1 False", "1 1 True", "3 1 True", "0 -2 True"]


def test_arrays_and_boxes_of_the_runtime_are_copied(child):
    out = child(
        START + "from cuda.bindings.runtime import cudaChannelFormatKind as Format\n"
        "desc = get(runtime.cudaCreateChannelDesc(8, 8, 0, 0, Format.cudaChannelFormatKindUnsigned))\n"
        "array = get(runtime.cudaMallocArray(desc, 4, 2, runtime.cudaArraySurfaceLoadStore))\n"
        "a, b = (ctypes.c_ubyte * 16)(*range(16)), (ctypes.c_ubyte * 16)()\n"
        "to, back = Kind.cudaMemcpyHostToDevice, Kind.cudaMemcpyDeviceToHost\n"
        "get(runtime.cudaMemcpyToArray(array, 0, 0, ctypes.addressof(a), 16, to))\n"
        "get(runtime.cudaMemcpy2DFromArray(ctypes.addressof(b), 8, array, 2, 1, 6, 1, back)); print(list(b)[:7])\n"
        "_, told, extent, flags = runtime.cudaArrayGetInfo(array)\n"
        "print(told.x, told.y, told.z, told.f.name, extent.width, extent.height, flags)\n"
        "resource = runtime.cudaResourceDesc(); resource.resType = runtime.cudaResourceType.cudaResourceTypeArray\n"
        "resource.res.array.array = array\n"
        "surface = get(runtime.cudaCreateSurfaceObject(resource)); get(runtime.cudaDestroySurfaceObject(surface))\n"
        "texture = get(runtime.cudaCreateTextureObject(resource, runtime.cudaTextureDesc(), None))\n"
        "get(runtime.cudaDestroyTextureObject(texture)); get(runtime.cudaFreeArray(array))\n"
        "box = get(runtime.cudaMalloc3D(runtime.make_cudaExtent(5, 3, 2)))\n"
        "print(box.xsize, box.ysize, box.pitch >= 5)\n"
        "get(runtime.cudaMemset3D(box, 7, runtime.make_cudaExtent(5, 3, 2)))\n"
        "wrong = runtime.cudaChannelFormatDesc(); wrong.x = 7\n"
        "print(runtime.cudaMallocArray(wrong, 4, 0, 0)[0].name, runtime.cudaMallocArray(None, 4, 0, 0)[0].name)\n"
        "print(runtime.cudaMemcpyToArray(array, 0, 0, ctypes.addressof(a), 16, to)[0].name)"
    )
    assert out.splitlines() == [
        "[10, 11, 12, 13, 14, 15, 0]",
        "8 8 0 cudaChannelFormatKindUnsigned 4 2 2",
        "5 3 True",
        "cudaErrorInvalidValue cudaErrorInvalidValue",
        "cudaErrorInvalidResourceHandle",
    ]


def test_last_error_is_kept_until_it_is_read(child):
    out = child(
        START + "print(int(runtime.cudaMalloc(1 << 60)[0]), int(runtime.cudaPeekAtLastError()[0]))\n"
        "print(int(runtime.cudaGetLastError()[0]), int(runtime.cudaGetLastError()[0]))\n"
        "print(runtime.cudaSetDevice(99)[0].name)\n"
        "for code in runtime.cudaError_t:\n"
        "    assert get(runtime.cudaGetErrorName(code)).decode() == code.name\n"
        "    assert b'unrecognized' not in get(runtime.cudaGetErrorString(code)), code\n"
    )
    assert out.splitlines() == ["2 2", "2 0", "cudaErrorInvalidDevice"]


def test_function_that_is_not_served_is_named(child):
    out = child(
        START + "import cuda.emulator\n"
        "for _ in range(2): print(runtime.cudaGetSurfaceObjectResourceDesc(0)[0].name)\n"
        "print(runtime.cudaGetLastError()[0].name, cuda.emulator.unsupported_calls())\n"
        "print(runtime.make_cudaExtent(1, 2, 3).height)"
    )
    lines = ["cudaErrorNotSupported"] * 2 + ["cudaErrorNotSupported {'cudaGetSurfaceObjectResourceDesc': 2}", "2"]
    sentence = "the software device does not implement this function of the CUDA runtime"
    assert sorted(out.splitlines()) == sorted([*lines, f"cuda.emulator: cudaGetSurfaceObjectResourceDesc: {sentence}"])


def test_no_finder_stays_after_the_import(child):
    out = child(
        "import sys\n"
        "def finders(): return [f for f in sys.meta_path if type(f).__module__ == 'cuda.emulator._runtime']\n"
        "print(len(finders())); from cuda.bindings import runtime; print(len(finders()))"
    )
    assert out.split() == ["1", "0"]


def test_table_imported_before_activation_is_filled(child):
    out = child(
        "import cuda.bindings.cyruntime, cuda.emulator; cuda.emulator.activate()\n"
        "from cuda.bindings import runtime; print(runtime.cudaDeviceSynchronize()[0].name)",
        device=False,
    )
    assert out.split() == ["cudaSuccess"]


def served_functions():
    """Return rows of name, address and parameters."""
    text = cuda.emulator._text(cuda.emulator._library.emulator_runtime_functions)
    return [line.split(" ", 2) for line in text.splitlines()]


@pytest.fixture
def capsule():
    """Return a function that makes a capsule with a signature, and one that calls a capsule's function."""
    new, pointer = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_GetPointer
    new.argtypes, new.restype = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p), ctypes.py_object
    pointer.argtypes, pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
    return types.SimpleNamespace(
        make=lambda signature: new(1, signature, None),
        address=lambda made, signature: pointer(made, signature),
    )


# The signature of the first is ours; the second one has another parameter; the third is unknown.
SIGNATURES = {
    "cudaStreamQuery": b"cudaError_t (cudaStream_t)",
    "cudaEventQuery": b"cudaError_t (cudaEvent_t, unsigned int)",
    "cudaFromTheFuture": b"cudaError_t (struct cudaFuture const *)",
    "make_cudaPos": b"struct cudaPos (size_t, size_t, size_t)",
}


@pytest.mark.requires(software=True)
def test_function_is_replaced_if_its_signature_is_ours(capsule):
    table = {name: capsule.make(signature) for name, signature in SIGNATURES.items()}
    _runtime._fill(types.SimpleNamespace(__pyx_capi__=table), cuda.emulator._library, cuda.emulator._text)
    address = {name: capsule.address(table[name], SIGNATURES[name]) for name in table}
    assert address["make_cudaPos"] == 1
    served = {name: int(place) for name, place, _ in served_functions()}
    assert address["cudaStreamQuery"] == served["cudaStreamQuery"]
    assert address["cudaEventQuery"] not in (1, served["cudaEventQuery"])
    for name in ("cudaEventQuery", "cudaFromTheFuture"):
        before = cuda.emulator.unsupported_calls().get(name, 0)
        assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(address[name])(None) == 801
        assert cuda.emulator.unsupported_calls()[name] == before + 1


# Bindings 12.9 have these with the signatures of CUDA 12, and others only they have.
OF_CUDA_12 = {"cudaMemAdvise", "cudaMemPrefetchAsync", "cudaStreamGetCaptureInfo"}
ONLY_12 = {"cudaEventElapsedTime_v2", "cudaMemAdvise_v2", "cudaMemPrefetchAsync_v2"}


@pytest.mark.requires(software=True)
def test_all_served_functions_have_signatures_of_bindings():
    from cuda.bindings import cyruntime

    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.argtypes, get_name.restype = (ctypes.py_object,), ctypes.c_char_p
    missing, different = set(), set()
    for name, _, parameters in served_functions():
        if name not in cyruntime.__pyx_capi__:
            missing.add(name)
            continue
        theirs = "(" + get_name(cyruntime.__pyx_capi__[name]).decode().partition("(")[2]
        if _runtime._types(parameters, named=True) != _runtime._types(theirs):
            different.add(name)
    assert (missing, different) in ((ONLY_12, set()), (set(), OF_CUDA_12))
