# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Settings of compilations, which equal options share, and which later changes of the options do not affect."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from cuda.core import ProgramOptions
from cuda.core._compile._nvrtc import NVRTCBackEnd
from cuda.core._compile._nvvm import NVVMBackEnd
from cuda.core._compile._ptx import PTXBackEnd
from cuda.core._compile._request import CompiledCode, CompileRequest, compile_settings
from cuda.core.typing import SourceCodeType

pytestmark = pytest.mark.requires(nvrtc=True)

CXX, PTX = SourceCodeType.CXX, SourceCodeType.PTX


def settings_of(kind=CXX, **options):
    return compile_settings(kind, ProgramOptions(**{"arch": "sm_90", **options}))


@pytest.mark.parametrize("kind, back_end", [(CXX, NVRTCBackEnd), (PTX, PTXBackEnd)])
def test_type_of_source_chooses_the_back_end(kind, back_end):
    assert settings_of(kind).back_end is back_end


@pytest.mark.requires(nvvm=True)
def test_ir_is_compiled_by_nvvm():
    assert settings_of(SourceCodeType.NVVM).back_end is NVVMBackEnd


@pytest.mark.parametrize(
    "values",
    [
        {}, {"debug": True}, {"include_path": ["a", "b"]}, {"include_path": ("a", Path("b"))},
        {"include_path": Path("b")}, {"diag_suppress": [1, 2]}, {"define_macro": [("A", "1"), "B"]},
        {"define_macro": ("A", "1")}, {"name": None}, {"std": None},
    ],
    ids=str,
)  # fmt: skip
def test_equal_options_share_their_settings(values):
    options = ProgramOptions(arch="sm_90", **values)
    settings = compile_settings(CXX, options)
    assert settings.is_shared
    assert settings.options == options
    for other in (copy.deepcopy(options), pickle.loads(pickle.dumps(options)), replace(options)):
        assert compile_settings(CXX, other) is settings


@pytest.mark.parametrize(
    "one, other",
    [
        ({"debug": True}, {"debug": 1}),
        ({"split_compile": True}, {"split_compile": 1}),
        ({"include_path": ["a"]}, {"include_path": ("a",)}),
        ({"include_path": "a"}, {"include_path": Path("a")}),
        ({"define_macro": ("A", "1")}, {"define_macro": ["A", "1"]}),
        ({"define_macro": [("A", "1")]}, {"define_macro": ["A", "1"]}),
    ],
    ids=str,
)
def test_equal_values_of_other_types_have_separate_settings(one, other):
    assert settings_of(**one) is not settings_of(**other)
    assert settings_of(**other).options == ProgramOptions(arch="sm_90", **other)


def test_options_and_languages_have_separate_settings():
    different = [settings_of(), settings_of(debug=True), settings_of(arch="sm_80"), settings_of(PTX)]
    assert len(set(map(id, different))) == len(different)


def test_assignment_has_other_settings():
    options = ProgramOptions(arch="sm_90", debug=True)
    before = compile_settings(CXX, options)
    options.debug = False
    assert compile_settings(CXX, options) is not before
    options.debug = True
    assert compile_settings(CXX, options) is before


@pytest.mark.parametrize("wrong", [{"max_register_count": True}, {"max_register_count": 1.0}, {"diag_error": (1.0,)}])
def test_value_that_equals_a_valid_one_is_checked_itself(wrong):
    settings_of(max_register_count=1, diag_error=(1,))
    options = ProgramOptions(arch="sm_90", max_register_count=1, diag_error=(1,))
    for name, value in wrong.items():
        setattr(options, name, value)
    with pytest.raises(TypeError, match=next(iter(wrong))):
        compile_settings(CXX, options)


def test_list_that_became_wrong_is_rejected():
    options = ProgramOptions(arch="sm_90", extra_sources=[("a", "source")])
    options.extra_sources.append(("b", ""))
    with pytest.raises(ValueError, match="the source of 'b'"):
        compile_settings(SourceCodeType.NVVM, options)


def test_options_with_values_that_may_change_are_not_shared():
    class Place:
        def __fspath__(self):
            return "a"

    for place in (Place(), [Place()]):
        settings = settings_of(include_path=place)
        assert not settings.is_shared
        assert b"--include-path=a" in settings.arguments


def test_options_of_a_subclass_are_not_shared():
    class Named(ProgramOptions):
        pass

    settings = compile_settings(CXX, Named(arch="sm_90"))
    assert not settings.is_shared
    assert type(settings.options) is Named


def test_settings_have_the_rendered_arguments():
    assert set(settings_of(std="c++17", define_macro="A").arguments) >= {b"--std=c++17", b"--define-macro=A"}


def test_settings_do_not_change_with_the_users_lists():
    macros = ["A"]
    options = ProgramOptions(arch="sm_90", define_macro=macros)
    before = compile_settings(CXX, options)
    macros.append("B")
    after = compile_settings(CXX, options)
    assert before.options.define_macro == ["A"]
    assert after.options.define_macro == ["A", "B"]
    assert before is not after


def test_first_line_is_set_in_front_of_the_source():
    assert settings_of(first_line=7).prefix == b"#line 7\n"
    assert settings_of().prefix == b""


@pytest.mark.parametrize("options, has_file", [({"debug": True}, True), ({"debug": True, "name": "a.cu"}, False)])
def test_debug_file_is_written_if_the_source_has_no_file(options, has_file):
    assert settings_of(**options).has_file is has_file


def test_extra_sources_are_for_ir():
    with pytest.raises(ValueError, match="extra_sources are for code of type 'nvvm', not 'c\\+\\+'"):
        settings_of(extra_sources=[("a", "code")])


def test_request_has_no_key_without_a_cache():
    request = CompileRequest("code", CXX, settings_of(), "cubin", ["f<int>"])
    assert (request.key, request.unresolved_include) == (None, None)
    assert (request.code, request.kind, request.target, request.expressions) == ("code", CXX, "cubin", ["f<int>"])


def test_code_from_a_cache_has_no_messages():
    assert CompiledCode(b"code", []).log == ""
