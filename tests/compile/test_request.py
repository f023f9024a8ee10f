# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Settings of compilations, which later changes of the options do not affect."""

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


def test_settings_are_those_of_the_latest_assignment():
    options = ProgramOptions(arch="sm_90", debug=True)
    assert b"--device-debug" in compile_settings(CXX, options).arguments
    options.debug = False
    assert b"--device-debug" not in compile_settings(CXX, options).arguments


@pytest.mark.parametrize("wrong", [{"max_register_count": True}, {"max_register_count": 1.0}, {"diag_error": (1.0,)}])
def test_a_value_that_became_wrong_is_rejected(wrong):
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


def test_settings_keep_the_class_of_the_options():
    class Named(ProgramOptions):
        pass

    assert type(compile_settings(CXX, Named(arch="sm_90")).options) is Named


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
