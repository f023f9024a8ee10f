# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code that meets another process: its checks, compiler, version and headers are part of it, or of its key."""

import os
import struct
import sys
import time

import pytest

from support.compiled import Program

PATHS = f"import sys\nsys.path[:0] = {sys.path!r}\n"
IMAGES = (
    PATHS
    + r'''
import ctypes, pickle
import numpy as np
from cuda.bindings import driver as raw, nvjitlink
from support.compiled import Code, Program
from support.driver import Driver
driver = Driver(); driver.cuInit(0); context = driver.cuCtxCreate(None, 0, 0)
MAIN = """
extern "C" __device__ float plus(float x);
extern "C" __global__ void good(const float* x, float* o) { o[threadIdx.x] = plus(x[threadIdx.x]); }
extern "C" __global__ void bad(const float* x, float* o) { o[threadIdx.x + 1] = plus(x[threadIdx.x]); }
extern "C" __global__ void race(const float* x, float* o)
{ __shared__ float t[64]; t[threadIdx.x] = x[threadIdx.x]; o[threadIdx.x] = t[63 - threadIdx.x]; }
extern "C" __global__ void unset(const float* x, float* o) { __shared__ float t[64]; o[threadIdx.x] = t[threadIdx.x]; }
"""
PLUS = 'extern "C" __device__ float plus(float x) { return x + 1; }'
def link(*inputs):
    linker = nvjitlink.create(2, ["-arch=sm_90", "-lto"])
    for kind, data in inputs:
        nvjitlink.add_data(linker, kind, data, len(data), "part")
    nvjitlink.complete(linker)
    image = bytearray(nvjitlink.get_linked_cubin_size(linker))
    nvjitlink.get_linked_cubin(linker, image)
    return bytes(image)
CUBIN, PTX, LTO = nvjitlink.InputType.CUBIN, nvjitlink.InputType.PTX, nvjitlink.InputType.LTOIR
def images():
    whole = Program(PLUS + MAIN.replace('extern "C" __device__ float plus(float x);', ""), "-arch=sm_90")
    parts = [Program(text, "-arch=sm_90", "-rdc=true").output("CUBIN") for text in (MAIN, PLUS)]
    single = Program(PLUS + MAIN.replace('extern "C" __device__ float plus(float x);', ""), "-arch=sm_90", "-rdc=true")
    lto = Program(PLUS, "-arch=sm_90", "-dlto", "-rdc=true").output("LTOIR")
    return {"module": whole.output("CUBIN"), "text": whole.output("PTX"), "object": single.output("CUBIN"),
            "linked": link((CUBIN, parts[0]), (CUBIN, parts[1])), "parts": parts, "mixed": [parts[0], lto]}
def load(saved):
    for name, image in saved.items():
        if name == "parts":
            image = link((CUBIN, image[0]), (CUBIN, image[1]))
        elif name == "mixed":
            image = link((CUBIN, image[0]), (LTO, image[1]))
        yield name, Code(driver, image)
'''
)
KINDS = ("module", "text", "object", "linked", "parts", "mixed")
SAVE = IMAGES + "pickle.dump(images(), open(PATH, 'wb'))\n"
RUN = IMAGES + (
    "for name, code in load(pickle.load(open(PATH, 'rb'))):\n"
    "    x, o = np.arange(64, dtype='f4'), np.zeros(64, 'f4')\n"
    "    code('good', 1, 64, x, o)\n"
    "    print(name, 'right' if (o == x + 1).all() else o)\n"
)
FIND = RUN.replace(
    "    print(name,",
    "    try: code(KERNEL, 1, 64, x, o); print(name, 'silent')\n"
    "    except driver.Error: print(name, 'found'); cuda.emulator.reset()\n"
    "    print(name,",
).replace("import ctypes", "import cuda.emulator, ctypes")


@pytest.fixture(scope="module")
def saved(child, tmp_path_factory):
    """Return a function that returns the path of images that a process with these checks has compiled."""
    folder = tmp_path_factory.mktemp("images")

    def save(checks):
        path = folder / checks
        if not path.exists():
            child(SAVE.replace("PATH", repr(str(path))), CHECK=checks)
        return repr(str(path))

    return save


@pytest.mark.parametrize(
    ("before", "after", "kernel"),
    [
        ("none", "memory", "bad"),
        ("memory", "races", "race"),
        ("memory", "initialized", "unset"),
        ("races", "memory", "bad"),
        ("none", "all", "race"),
    ],
)
def test_saved_code_is_checked_as_selected(child, saved, before, after, kernel):
    out = child(FIND.replace("PATH", saved(before)).replace("KERNEL", repr(kernel)), CHECK=after)
    lines = [line for line in out.splitlines() if line.endswith(("found", "silent", "right"))]
    assert lines == [f"{kind} {what}" for kind in KINDS for what in ("found", "right")]


def test_saved_code_runs_without_checks(child, saved):
    out = child(RUN.replace("PATH", saved("memory")), CHECK="none")
    assert out.splitlines() == [f"{kind} right" for kind in KINDS]


def test_saved_code_counts_lines_for_coverage(child, saved, tmp_path):
    child(RUN.replace("PATH", saved("memory")), COVERAGE=tmp_path)
    counts = next(tmp_path.glob("*.counts")).read_text()
    lines = [line for line in counts.splitlines() if line.startswith("L ")]
    assert {"L 3 64", "L 3 384"} & set(lines), lines


ERROR = (
    PATHS
    + """
from support.driver import Driver
driver = Driver(); driver.cuInit(0)
print(driver.result("cuLibraryLoadData", open(PATH, "rb").read(), [], [], 0, [], [], 0))
"""
)


def test_saved_code_needs_a_compiler_for_other_checks(child, driver, tmp_path):
    (tmp_path / "module").write_bytes(Program('extern "C" __global__ void k() {}', "-arch=sm_90").output("CUBIN"))
    code = ERROR.replace("PATH", repr(str(tmp_path / "module")))
    assert child(code, CXX="no-such-compiler").startswith("SUCCESS")
    out = child(code, CXX="no-such-compiler", CHECK="races")
    assert out.startswith("JIT_COMPILER_NOT_FOUND")


def checksum(image):
    """Return the checksum that the device stores in the padding of the header."""
    total, mask = len(image), (1 << 64) - 1
    for at in range(0, len(image), 8):
        total = (total ^ int.from_bytes(image[at : at + 8], "little")) * 0x9FB21C651E98DF25 & mask
        total ^= total >> 32
    return total


def test_saved_code_without_source_is_rejected(child, driver, tmp_path):
    image = bytearray(Program('extern "C" __global__ void k() {}', "-arch=sm_90").output("CUBIN"))
    image = bytearray(bytes(image).replace(b"\0.emu_unit\0", b"\0.no_unit_\0"))
    mark, image[48:52], image[9:16] = image[48:52], bytes(4), bytes(7)
    image[9:16], image[48:52] = struct.pack("<Q", checksum(image))[:7], mark
    (tmp_path / "module").write_bytes(image)
    code = ERROR.replace("PATH", repr(str(tmp_path / "module")))
    assert child(code).startswith("SUCCESS")
    assert child(code, CHECK="races").startswith("INVALID_IMAGE")


# --- Keys ----------------------------------------------------------------------------------------

CODE = PATHS + "import cuda.emulator\nprint(cuda.emulator.describe()['code'])\n"


@pytest.mark.parametrize(
    ("variables", "is_other"),
    [
        ({"CHECK": "races"}, True),
        ({"CHECK": "none"}, True),
        ({"CHECK": "memory,rows"}, True),
        ({"DRIVER_VERSION": "12.4"}, True),
        ({"CXX": "g++ -O2"}, True),
        ({"DEVICES": "1"}, False),
        ({"MODE": "shuffle:3"}, False),
        ({"CHECK": "sync"}, False),
    ],
)
def test_identity_of_code_covers_what_changes_it(child, variables, is_other):
    assert (child(CODE, **variables) != child(CODE)) is is_other


def test_coverage_shares_no_compiled_code(child, tmp_path):
    assert child(CODE, COVERAGE=tmp_path) != child(CODE, COVERAGE=tmp_path)


VERSION = PATHS + (
    "from support.compiled import Program\n"
    "source = 'extern \"C\" __global__ void k(int* x) { x[0] = __CUDACC_VER_MAJOR__; }'\n"
    "print('= 12;' in Program(source, '-arch=sm_90').output('PTX').decode())\n"
)


def test_cached_program_sees_another_version(child, tmp_path):
    first, second = (child(VERSION, CACHE_DIR=tmp_path, DRIVER_VERSION=version) for version in ("12.4", "13.0"))
    assert (first, second) == ("True\n", "False\n")


class Compiler:
    """A script that calls g++, counts its calls, and reports a version."""

    def __init__(self, folder):
        self.path, self.calls, self.version = folder / "compiler", folder / "calls", folder / "version"
        self.path.write_text(
            f'#!/bin/sh\nif [ "$1" = --version ]; then cat {self.version}; exit; fi\n'
            f'echo >>{self.calls}; exec g++ "$@"\n'
        )
        self.path.chmod(0o755)
        self.replace("1.0")

    def replace(self, version):
        self.version.write_text(f"g++ (a test) {version}\nFree Software Foundation\n")
        self.calls.write_text("")

    @property
    def ran(self):
        return self.calls.read_text() != ""


@pytest.fixture
def compiler(tmp_path):
    return Compiler(tmp_path)


BUILD = PATHS + (
    "from support.compiled import Program\n"
    'source = \'#include "value.h"\\nextern "C" __global__ void k(int* x) { x[0] = VALUE; }\'\n'
    "program = Program(source, '-arch=sm_90', '-IFOLDER/first', '-IFOLDER/second')\n"
    "print(program.output('PTX').decode().rpartition('= ')[2][0], program.log)\n"
)


@pytest.fixture
def build(child, compiler, tmp_path):
    """Return a function that compiles a program with a header in the second of two directories, and returns its value.

    The script of the compiler shows whether it was compiled.
    """
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    (tmp_path / "second" / "value.h").write_text("#define VALUE 1\n")

    def run():
        time.sleep(0.05)  # a file that changes during a compilation is not cached
        compiler.calls.write_text("")
        code = BUILD.replace("FOLDER", str(tmp_path))
        return int(child(code, CACHE_DIR=tmp_path / "cache", CXX=compiler.path).split()[0])

    return run


def test_unchanged_program_runs_no_compiler(build, compiler):
    assert build() == 1 and compiler.ran
    assert build() == 1 and not compiler.ran


def test_replaced_compiler_compiles_again(build, compiler):
    assert build() == 1
    compiler.replace("1.1")
    assert build() == 1 and compiler.ran


def replace_in_place(folder):
    path = folder / "second" / "value.h"
    state = path.stat()
    path.write_text("#define VALUE 2\n")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def add_before(folder):
    (folder / "first" / "value.h").write_text("#define VALUE 2\n")


def replace_folder(folder):
    (folder / "second").rename(folder / "old")
    (folder / "second").mkdir()
    (folder / "second" / "value.h").write_text("#define VALUE 2\n")


def link_elsewhere(folder):
    (folder / "other.h").write_text("#define VALUE 2\n")
    (folder / "second" / "value.h").unlink()
    (folder / "second" / "value.h").symlink_to(folder / "other.h")


@pytest.mark.parametrize("change", [replace_in_place, add_before, replace_folder, link_elsewhere])
def test_changed_headers_compile_again(build, tmp_path, change):
    assert build() == 1
    change(tmp_path)
    assert build() == 2


def test_header_found_by_has_include_compiles_again(build, tmp_path):
    header = '#if __has_include("extra.h")\n#define VALUE 2\n#else\n#define VALUE 1\n#endif\n'
    (tmp_path / "second" / "value.h").write_text(header)
    assert build() == 1
    (tmp_path / "first" / "extra.h").write_text("")
    assert build() == 2


def test_header_with_the_time_is_not_cached(build, compiler, tmp_path):
    (tmp_path / "second" / "value.h").write_text("const char* const time = __TIME__;\n#define VALUE 1\n")
    build()
    build()
    assert compiler.ran
