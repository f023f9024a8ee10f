# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""make_program_cache_key: which arguments change the key, which do not, and which have no key."""

import subprocess
import sys

import pytest

from cuda.core import CUDAError, Linker, ProgramOptions
from cuda.core._compile import _nvjitlink, _nvvm
from cuda.core._compile.cache import _key
from cuda.core._utils import libraries
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, SourceCodeType
from cuda.core.utils import make_program_cache_key

CODE = "__global__ void f() {}"
DIGEST = b"d" * 32


class Machine:
    """The key's inputs from the machine. An exception as a value is raised; None leaves the real answer."""

    backend = CompilerBackendType.NVJITLINK  # every machine seems to link with nvJitLink
    nvrtc_version = nvjitlink_version = driver_version = load_nvvm = compiler_build = None

    def answer(self, name, real):
        def call():
            value = getattr(self, name)
            if isinstance(value, Exception):
                raise value
            return real() if value is None else value

        return call


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """The machine that keys are made for."""
    machine = Machine()
    monkeypatch.setattr(Linker, "which_backend", classmethod(lambda cls: machine.backend))
    homes = ((_key, "nvrtc_version"), (_key, "driver_version"), (libraries, "compiler_build"))
    for module, name in (*homes, (_nvjitlink, "nvjitlink_version"), (_nvvm, "load_nvvm")):
        monkeypatch.setattr(module, name, machine.answer(name, getattr(module, name)))
    return machine


def key(code=CODE, code_type="c++", target_type="ptx", *, name_expressions=(), extra_digest=None, **options):
    if code_type != "c++" and target_type == "ptx" and code_type.lower() == "ptx":
        target_type = "cubin"
    return make_program_cache_key(
        code=code,
        code_type=code_type,
        options=ProgramOptions(**{"arch": "sm_90", **options}),
        target_type=target_type,
        name_expressions=name_expressions,
        extra_digest=extra_digest,
    )


def test_key_has_32_bytes_and_is_the_same_each_time():
    assert type(key()) is bytes
    assert len(key()) == 32
    assert key() == key()


def test_key_is_the_same_in_another_process():
    script = (
        "from cuda.core.utils import make_program_cache_key as make\n"
        "from cuda.core import ProgramOptions\n"
        f"print(make(code={CODE!r}, code_type='c++', options=ProgramOptions(arch='sm_90'), target_type='ptx').hex())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == key().hex()


@pytest.mark.parametrize(
    "changed",
    [
        {"code": CODE + " "},
        {"target_type": "cubin"},
        {"name": "other"},
        {"arch": "sm_80"},
        {"debug": True},
        {"ftz": False},
        {"define_macro": "A"},
        {"first_line": 7},
        {"name_expressions": ["f"]},
        {"extra_digest": DIGEST},
    ],
    ids=str,
)
def test_other_arguments_have_another_key(changed):
    assert key(**changed) != key()


@pytest.mark.parametrize(
    "one, other",
    [
        ({"code_type": "C++", "target_type": "PTX"}, {}),
        ({"code_type": SourceCodeType.CXX, "target_type": ObjectCodeFormatType.PTX}, {}),
        ({"debug": False}, {"debug": None}),
        ({"define_macro": "A"}, {"define_macro": ["A"]}),
        ({"undefine_macro": ["A"]}, {"undefine_macro": ("A",)}),
        ({"name": None}, {"name": "default_program"}),
        ({"use_libdevice": True}, {}),
        ({"name_expressions": ["a", "b"]}, {"name_expressions": ("b", "a")}),
    ],
    ids=str,
)
def test_equivalent_arguments_have_the_same_key(one, other):
    assert key(**one) == key(**other)


def test_text_and_bytes_are_different_name_expressions():
    assert key(name_expressions=["f"]) != key(name_expressions=[b"f"])


def test_arguments_are_separated_in_the_key():
    assert key(name_expressions=["ab"]) != key(name_expressions=["a", "b"])
    assert key(code="a", name="bc") != key(code="ab", name="c")


@pytest.mark.parametrize("code_type, code, option", [("ptx", "x", {"std": "c++20"}), ("nvvm", "x", {"pch": True})])
def test_options_of_other_compilers_do_not_change_the_key(code_type, code, option):
    assert key(code, code_type, **option) == key(code, code_type)


@pytest.mark.parametrize("option", [{"ftz": True}, {"debug": True}, {"max_register_count": 32}, {"arch": "sm_80"}])
def test_options_of_the_linker_change_the_key(option):
    assert key("x", "ptx", **option) != key("x", "ptx")


def test_time_is_allowed_for_the_linker():
    assert key("x", "ptx", time=True) != key("x", "ptx", time=False) == key("x", "ptx")


def test_extra_sources_of_nvvm_and_their_order_change_the_key():
    assert key("x", "nvvm") == key(b"x", "nvvm") == key(bytearray(b"x"), "nvvm")
    one, two = ("a", "1"), ("b", b"2")
    keys = {key("x", "nvvm", extra_sources=sources) for sources in ([one], [one, two], [two, one], None)}
    assert len(keys) == 4
    assert key("x", "nvvm", extra_sources=[one]) == key("x", "nvvm", extra_sources=(("a", bytearray(b"1")),))


@pytest.mark.parametrize("code_type", ["c++", "ptx"])
def test_extra_sources_are_for_nvvm(code_type):
    with pytest.raises(ValueError, match="extra_sources are for code of type 'nvvm'"):
        key("x", code_type, extra_sources=[("a", "b")])


@pytest.mark.parametrize("code_type", ["c", "", None, 5])
def test_unknown_code_type_is_rejected(code_type):
    with pytest.raises(ValueError, match="code_type"):
        make_program_cache_key(code=CODE, code_type=code_type, options=ProgramOptions(arch="sm_90"), target_type="ptx")


@pytest.mark.parametrize("code_type, target", [("c++", "fatbin"), ("c++", None), ("ptx", "ltoir"), ("nvvm", "cubin")])
def test_targets_that_a_source_cannot_have_are_rejected(code_type, target):
    with pytest.raises(ValueError, match="target_type"):
        make_program_cache_key(code="x", code_type=code_type, options=ProgramOptions(arch="sm_90"), target_type=target)


@pytest.mark.parametrize("code, code_type", [(b"x", "c++"), (b"x", "ptx"), (5, "c++"), (None, "nvvm")])
def test_code_of_wrong_type_is_rejected(code, code_type):
    with pytest.raises(TypeError, match="code of type .* must be a str"):
        key(code, code_type)


@pytest.mark.parametrize("options", [None, {}, "sm_90"])
def test_options_of_wrong_type_are_rejected(options):
    with pytest.raises(TypeError, match="options must be ProgramOptions"):
        make_program_cache_key(code=CODE, code_type="c++", options=options, target_type="ptx")


@pytest.mark.parametrize("expressions", ["f", b"f", 5, None, {"f"}, [5], [bytearray(b"f")], [None]])
def test_name_expressions_of_wrong_type_are_rejected(expressions):
    with pytest.raises(TypeError, match="name_expressions must (be|contain)"):
        key(name_expressions=expressions)


@pytest.mark.parametrize("digest", ["text", 5])
def test_extra_digest_of_wrong_type_is_rejected(digest):
    with pytest.raises(TypeError, match="extra_digest must be bytes"):
        key(extra_digest=digest)


@pytest.mark.parametrize(
    "option",
    [
        {"include_path": "/a"},
        {"pre_include": "a.h"},
        {"pch": True},
        {"use_pch": "a.pch"},
        {"pch_dir": "/a"},
        {"name": "/a/b.cu"},
        {"name": "a/b.cu"},
    ],
    ids=str,
)
def test_options_that_read_files_need_an_extra_digest(option):
    with pytest.raises(ValueError, match=f"extra_digest must be .* because of {next(iter(option))}"):
        key(**option)
    assert key(**option, extra_digest=DIGEST) != key(**option, extra_digest=b"e" * 32)


def test_libdevice_needs_an_extra_digest():
    with pytest.raises(ValueError, match="extra_digest must be .* because of use_libdevice"):
        key("x", "nvvm", use_libdevice=True)
    assert key("x", "nvvm", use_libdevice=True, extra_digest=DIGEST) != key("x", "nvvm", extra_digest=DIGEST)


@pytest.mark.parametrize("option", [{"create_pch": "a"}, {"time": "a.csv"}, {"fdevice_time_trace": "a.json"}], ids=str)
def test_options_that_write_files_have_no_key(option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} make the compiler write files"):
        key(**option, extra_digest=DIGEST)


@pytest.mark.parametrize("option", [{"time": True}, {"ptxas_options": "-v"}, {"split_compile": 2}], ids=str)
def test_options_that_the_driver_linker_lacks_are_rejected(option, machine):
    machine.backend = CompilerBackendType.DRIVER
    with pytest.raises(ValueError, match=f"the driver's linker.* does not support {next(iter(option))}"):
        key("x", "ptx", **option)


def test_compiler_versions_change_the_key(machine):
    keys = {key(), key("x", "nvvm"), key("x", "ptx")}
    machine.nvrtc_version = machine.nvjitlink_version = (99, 1)
    machine.load_nvvm = RuntimeError("none")
    keys |= {key(), key("x", "nvvm"), key("x", "ptx")}
    machine.driver_version, machine.backend = (99, 1), CompilerBackendType.DRIVER
    keys.add(key("x", "ptx"))
    assert len(keys) == 7


def test_software_device_builds_have_different_keys(machine):
    keys = set()
    for build in ("", "software 1 2", "software 1 3"):
        machine.compiler_build = build
        keys.add(key())
    assert len(keys) == 3


@pytest.mark.parametrize("kind", [RuntimeError, CUDAError])
def test_missing_compiler_has_a_separate_key(machine, kind):
    present = key()
    machine.nvrtc_version = kind("missing")
    assert key() == key() != present


def test_default_arch_matches_the_device(set_current_arch):
    set_current_arch("90")
    assert key(arch=None) == key(arch="sm_90")
