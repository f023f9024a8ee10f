# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The nvJitLink interface and the driver's linker, which link code compiled for the software device."""

import ctypes

import numpy as np
import pytest

import cuda.emulator
from support.compiled import Code, Program

CALLER = '__device__ int far(int);\nextern "C" __global__ void k(int* x) { x[0] = far(x[0]); }'
ALONE = 'extern "C" __global__ void k(int* x) { x[0] += 1; }'
CALLED = "__device__ int far(int a) { return a + 40; }"


class Link:
    def __init__(self, *options):
        from cuda.bindings import nvjitlink

        self.api = nvjitlink
        self.handle = nvjitlink.create(len(options), list(options))

    def add(self, kind, data, name):
        self.api.add_data(self.handle, getattr(self.api.InputType, kind), data, len(data), name)
        return self

    def log(self, kind="error"):
        text = bytearray(getattr(self.api, f"get_{kind}_log_size")(self.handle))
        getattr(self.api, f"get_{kind}_log")(self.handle, text)
        return text.rstrip(b"\0").decode()

    def complete(self, output="cubin"):
        self.api.complete(self.handle)
        image = bytearray(getattr(self.api, f"get_linked_{output}_size")(self.handle))
        getattr(self.api, f"get_linked_{output}")(self.handle, image)
        return bytes(image)


@pytest.fixture
def parts(driver):
    def make(kind):
        options = ["-arch=sm_90", "-dlto" if kind == "LTOIR" else "-rdc=true"]
        return [Program(source, *options).output(kind) for source in (CALLER, CALLED)]

    return make


def run(driver, image):
    x = np.array([2], np.int32)
    code = Code(driver, image)
    code("k", 1, 1, x)
    code.close()
    return x[0]


@pytest.mark.parametrize(("kind", "options"), [("CUBIN", []), ("PTX", []), ("LTOIR", ["-lto"]), ("ANY", [])])
def test_programs_are_linked(driver, context, parts, kind, options):
    link = Link("-arch=sm_90", *options)
    for index, data in enumerate(parts("CUBIN" if kind == "ANY" else kind)):
        link.add(kind, data, f"part {index}")
    assert run(driver, link.complete()) == 42


def test_ltoir_is_linked_to_a_text_module(driver, context, parts):
    link = Link("-arch=sm_90", "-lto", "-ptx")
    for data in parts("LTOIR"):
        link.add("LTOIR", data, "part")
    assert run(driver, link.complete("ptx")) == 42


def test_whole_program_is_linked_alone(driver, context):
    image = Program('extern "C" __global__ void k(int* x) { x[0] *= 4; }', "-arch=sm_90").image
    assert run(driver, Link("-arch=sm_90").add("CUBIN", image, "whole").complete()) == 8


def test_undefined_symbols_are_named(driver, parts):
    link = Link("-arch=sm_90").add("CUBIN", parts("CUBIN")[0], "caller")
    with pytest.raises(link.api.nvJitLinkError, match="INTERNAL"):
        link.complete()
    assert link.log() == "error   : Undefined reference to '_Z3fari' in 'caller'\nERROR 9: complete\n"


def test_symbols_defined_twice_are_named(driver, parts):
    caller, called = parts("CUBIN")
    link = Link("-arch=sm_90").add("CUBIN", caller, "a").add("CUBIN", called, "b").add("CUBIN", called, "c")
    with pytest.raises(link.api.nvJitLinkError):
        link.complete()
    assert "error   : Multiple definition of '_Z3fari'" in link.log()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ([], "NULL_INPUT"),
        (["-arch=sm_77"], "UNRECOGNIZED_ARCH"),
        (["-arch=compute_90"], "INCOMPATIBLE_OPTIONS"),
        (["-arch=sm_90", "-ptx"], "INCOMPATIBLE_OPTIONS"),
        (["-arch=sm_90", "-foo"], "UNRECOGNIZED_OPTION"),
        (["-arch=sm_90", "-O1"], "UNRECOGNIZED_OPTION"),
        (["-arch=sm_90", "--lto"], "UNRECOGNIZED_OPTION"),
    ],
)
def test_invalid_options_are_rejected(driver, options, error):
    from cuda.bindings import nvjitlink

    with pytest.raises(nvjitlink.nvJitLinkError, match=error):
        Link(*options)


@pytest.mark.parametrize(
    ("kind", "data", "error", "log"),
    [
        (
            "CUBIN",
            b"junkjunkjunk",
            "INCORRECT_INPUT_TYPE",
            "ERROR 1: bad input: does not match type NVJITLINK_INPUT_CUBIN",
        ),
        ("ANY", b"junkjunkjunk", "UNRECOGNIZED_INPUT", "unrecognized input type: name\n"),
        ("CUBIN", b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xbe\0" + bytes(44), "INVALID_INPUT", "made for NVIDIA GPUs"),
    ],
)
def test_invalid_inputs_are_rejected(driver, kind, data, error, log):
    link = Link("-arch=sm_90")
    with pytest.raises(link.api.nvJitLinkError, match=error):
        link.add(kind, data, "name")
    assert log in link.log()


def archive(**members):
    """Return a library in the format of ``ar``."""
    long_names = "".join(f"{name}.o/\n" for name in members if len(name) > 13)
    rows = [("//", long_names.encode())] if long_names else []
    for name, data in members.items():
        rows.append((f"/{long_names.index(name)}" if len(name) > 13 else f"{name}.o/", data))
    text = b"!<arch>\n"
    for name, data in rows:
        text += f"{name:16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    return text


def compiled(source):
    return Program(source, "-arch=sm_90", "-rdc=true").output("CUBIN")


@pytest.fixture
def parts_of_library(driver):
    """far() calls near(); nothing uses the third member, which has an undefined reference."""
    return {
        "far": compiled("__device__ int near(int);\n__device__ int far(int a) { return near(a) + 30; }"),
        "a_name_longer_than_sixteen_bytes": compiled("__device__ int near(int a) { return a + 10; }"),
        "unused": compiled("__device__ int nowhere(int);\n__device__ int other(int a) { return nowhere(a); }"),
    }


def link_with_driver(driver, *inputs):
    state = driver.cuLinkCreate(0, [], [])
    kinds = driver.CUjitInputType
    for kind, data in inputs:
        driver.cuLinkAddData(state, getattr(kinds, f"CU_JIT_INPUT_{kind}"), data, len(data), b"input", 0, [], [])
    address, size = driver.cuLinkComplete(state)
    image = ctypes.string_at(int(address), size)
    driver.cuLinkDestroy(state)
    return image


def test_only_used_library_members_are_linked(driver, context, parts_of_library):
    link = Link("-arch=sm_90").add("LIBRARY", archive(**parts_of_library), "some.a")
    link.add("OBJECT", compiled(CALLER), "caller.o")
    assert run(driver, link.complete()) == 42
    image = link_with_driver(driver, ("LIBRARY", archive(**parts_of_library)), ("OBJECT", compiled(CALLER)))
    assert run(driver, image) == 42


def test_symbol_missing_from_library_is_named(driver, parts_of_library):
    del parts_of_library["a_name_longer_than_sixteen_bytes"]
    link = Link("-arch=sm_90").add("LIBRARY", archive(**parts_of_library), "some.a")
    link.add("OBJECT", compiled(CALLER), "caller.o")
    with pytest.raises(link.api.nvJitLinkError):
        link.complete()
    assert "near" in link.log()
    assert "some.a(far.o)" in link.log()
    assert "nowhere" not in link.log()


@pytest.mark.parametrize("cut", [9, 40, 69, 200, -1])
def test_corrupt_library_is_rejected(driver, parts_of_library, cut):
    link = Link("-arch=sm_90").add("LIBRARY", archive(**parts_of_library)[:cut], "some.a")
    link.add("OBJECT", compiled(CALLER), "caller.o")
    with pytest.raises(link.api.nvJitLinkError):
        link.complete()
    assert "corrupt" in link.log()


def test_library_with_other_contents_is_rejected(driver):
    link = Link("-arch=sm_90").add("LIBRARY", archive(data=b"neither ELF nor text"), "some.a")
    link.add("OBJECT", compiled(CALLER), "caller.o")
    with pytest.raises(link.api.nvJitLinkError):
        link.complete()
    assert "some.a(data.o)" in link.log()


def test_code_that_is_not_a_library_is_rejected(driver):
    link = Link("-arch=sm_90")
    with pytest.raises(link.api.nvJitLinkError, match="INCORRECT_INPUT_TYPE"):
        link.add("LIBRARY", compiled(CALLER), "caller.o")


def test_the_device_runtime_of_gpus_is_not_needed(driver, context):
    foreign = archive(runtime=b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xbe\0" + bytes(44))
    link = Link("-arch=sm_90").add("CUBIN", compiled(ALONE), "k").add("LIBRARY", foreign, "libcudadevrt.a")
    assert run(driver, link.complete()) == 3
    link = Link("-arch=sm_90").add("CUBIN", compiled(ALONE), "k").add("LIBRARY", foreign, "libother.a")
    with pytest.raises(link.api.nvJitLinkError):
        link.complete()


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(
    ("kind", "option", "made", "fits"),
    [
        ("LTOIR", "-dlto", 100, False),
        ("LTOIR", "-dlto", 80, True),
        ("CUBIN", "-rdc=true", 80, False),
        ("CUBIN", "-rdc=true", 100, False),
        ("CUBIN", "-rdc=true", 90, True),
    ],
)
def test_code_of_another_architecture_is_not_linked(kind, option, made, fits):
    options = ["-arch=sm_90", "-lto"] if kind == "LTOIR" else ["-arch=sm_90"]
    link = Link(*options)
    for source, architecture in ((CALLER, 90), (CALLED, made)):
        link.add(kind, Program(source, f"-arch=sm_{architecture}", option).output(kind), f"{architecture}")
    if fits:
        link.complete()
    else:
        with pytest.raises(Exception, match="ERROR_"):
            link.complete()
        assert f"'{made}' is for sm_{made}, and cannot be linked for sm_90" in link.log()


@pytest.mark.parametrize(
    ("version", "result"),
    [("99.0", "UNSUPPORTED_PTX_VERSION"), ("10.0", "UNSUPPORTED_PTX_VERSION"), ("9.0", "SUCCESS")],
)
def test_ptx_of_an_unknown_version_is_rejected(driver, context, version, result):
    text = f".version {version}\n.target sm_90\n.address_size 64\n.visible .entry k() {{ ret; }}\n".encode()
    assert driver.result("cuModuleLoadData", text + b"\0") == result


@pytest.mark.parametrize("version", ["12_0", "13_5"])
@pytest.mark.parametrize("name", ["nvJitLinkCreate", "nvJitLinkGetLinkedCubin", "nvJitLinkGetInfoLogSize"])
def test_functions_have_names_of_each_version(driver, name, version):
    library = ctypes.CDLL(cuda.emulator.library_path())
    plain, named = (ctypes.cast(library[n], ctypes.c_void_p).value for n in (name, f"__{name}_{version}"))
    assert plain == named
