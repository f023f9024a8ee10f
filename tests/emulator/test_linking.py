# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""nvJitLink's interface: it joins what the software device compiled."""

import numpy as np
import pytest

from support.compiled import Code, Program

CALLER = '__device__ int far(int);\nextern "C" __global__ void k(int* x) { x[0] = far(x[0]); }'
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
def test_programs_are_joined(driver, context, parts, kind, options):
    link = Link("-arch=sm_90", *options)
    for index, data in enumerate(parts("CUBIN" if kind == "ANY" else kind)):
        link.add(kind, data, f"part {index}")
    assert run(driver, link.complete()) == 42


def test_texts_are_joined_when_asked_for(driver, context, parts):
    link = Link("-arch=sm_90", "-lto", "-ptx")
    for data in parts("LTOIR"):
        link.add("LTOIR", data, "part")
    assert run(driver, link.complete("ptx")) == 42


def test_a_whole_program_is_linked_alone(driver, context):
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
def test_options_that_are_refused(driver, options, error):
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
        ("PTX", b".version 8.0\n.target sm_90\n", "INVALID_INPUT", "made for NVIDIA GPUs"),
    ],
)
def test_inputs_that_are_refused(driver, kind, data, error, log):
    link = Link("-arch=sm_90")
    with pytest.raises(link.api.nvJitLinkError, match=error):
        link.add(kind, data, "name")
    assert log in link.log()
