# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Program.compile(cache=): which compilations are cache hits, and which are not."""

import os
import threading

import pytest

from cuda.core import NVRTCError, Program, ProgramOptions
from cuda.core._compile import _nvrtc
from cuda.core._compile._request import CompileRequest, compile_settings
from cuda.core._compile.cache import _lookup
from cuda.core.typing import SourceCodeType
from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache, make_program_cache_key

pytestmark = [pytest.mark.requires(nvrtc=True), pytest.mark.usefixtures("any_driver_age")]

SOURCE = "template <class T> __global__ void f(T* x) { *x = VALUE; }\n__global__ void g(int* x) { *x = VALUE; }"
INCLUDING = '#include "value.h"\n' + SOURCE


@pytest.fixture(params=["memory", "files"])
def cache(request, tmp_path):
    return InMemoryProgramCache() if request.param == "memory" else FileStreamProgramCache(tmp_path / "cache")


@pytest.fixture
def compilations(monkeypatch):
    """The arguments of the compilations that are not cache hits; each first calls ``before``."""

    class Calls(list):
        def before(self):
            pass

    calls = Calls()
    real = _nvrtc.NVRTCBackEnd.compile

    def compile(self, *args):
        calls.append(args)
        calls.before()
        return real(self, *args)

    monkeypatch.setattr(_nvrtc.NVRTCBackEnd, "compile", compile)
    return calls


@pytest.fixture
def include(tmp_path):
    """A directory with value.h in it."""
    directory = tmp_path / "include"
    directory.mkdir()
    (directory / "value.h").write_text("#define VALUE 11111\n")
    return directory


def plain(code=SOURCE, **options):
    return Program(code, "c++", ProgramOptions(**{"arch": "sm_90", "define_macro": ("VALUE", "12345"), **options}))


def request(code=SOURCE, target="ptx", expressions=()):
    """Return the compile request of a plain program."""
    settings = compile_settings(SourceCodeType.CXX, plain(code)._options)
    return CompileRequest(code, SourceCodeType.CXX, settings, target, expressions)


def test_code_from_the_cache_has_the_same_name(cache, compilations, own_tempdir):
    for options in ({}, {"name": "scale.cu"}, {"lineinfo": True}):
        program = plain(**options)
        first, second = (program.compile("ptx", cache=cache) for _ in range(2))
        assert second.name == first.name
        assert second is not first
    assert len(compilations) == 3


def test_second_compilation_is_a_hit(cache, compilations):
    first = plain().compile("ptx", cache=cache)
    second = plain().compile("PTX", cache=cache)
    assert len(compilations) == 1
    assert second is not first
    assert (second.code, second.code_type, second.name) == (first.code, "ptx", "default_program")
    assert second.symbol_mapping == {}
    assert (cache.hits, cache.misses, len(cache)) == (1, 1, 1)


def test_key_matches_make_program_cache_key(cache):
    code = plain().compile("cubin", cache=cache)
    options = ProgramOptions(arch="sm_90", define_macro=("VALUE", "12345"))
    key = make_program_cache_key(code=SOURCE, code_type="c++", options=options, target_type="cubin")
    assert cache[key] == code.code
    cache[key] = b"other"
    assert plain().compile("cubin", cache=cache).code == b"other"


@pytest.mark.parametrize(
    "options", [{"define_macro": ("VALUE", "2")}, {"arch": "sm_80"}, {"name": "n"}, {"first_line": 9}], ids=str
)
def test_other_options_are_a_miss(cache, compilations, options):
    plain().compile("ptx", cache=cache)
    plain(**options).compile("ptx", cache=cache)
    assert len(compilations) == 2


def test_targets_have_separate_entries(cache, compilations):
    program = plain()
    codes = {program.compile(target, cache=cache).code for target in ("ptx", "cubin", "ltoir", "ptx", "cubin", "ltoir")}
    assert (len(codes), len(compilations)) == (3, 3)


def test_log_is_not_written_for_a_hit(cache):
    class Log:
        text = ""

        def write(self, text):
            self.text += text

    logs = [Log(), Log()]
    for log in logs:
        plain(SOURCE + "__global__ void h() { int never; }").compile("ptx", cache=cache, logs=log)
    assert "never" in logs[0].text
    assert logs[1].text == ""


def test_name_expressions_are_cached(cache, compilations):
    names = ["f<float>", b"f<int>", "g"]
    first = plain().compile("cubin", names, cache=cache)
    second = plain().compile("cubin", names[::-1], cache=cache)
    assert len(compilations) == 1
    assert second.symbol_mapping == first.symbol_mapping
    assert list(second.symbol_mapping) == names[::-1]
    assert second.symbol_mapping["f<float>"] in second.code
    plain().compile("cubin", ["g"], cache=cache)
    assert len(compilations) == 2


def test_damaged_names_are_a_miss_and_repaired(cache, compilations):
    stored = {}
    set_item = type(cache).__setitem__
    names = ["f<float>", "f<int>"]
    for damage in (b"", b"one", b"one\0", b"one\0two\0three"):
        plain().compile("cubin", names, cache=cache)
        key, _ = _lookup.key_of(request(target="cubin", expressions=names))
        set_item(cache, _lookup.names_key(key), damage)
        stored[damage] = plain().compile("cubin", names, cache=cache).symbol_mapping
    assert len(compilations) == 5
    assert all(mapping == stored[b""] for mapping in stored.values())


def test_damaged_file_is_compiled_again(tmp_path, compilations):
    cache = FileStreamProgramCache(tmp_path)
    code = plain().compile("cubin", cache=cache).code
    (path,) = (tmp_path / "entries").glob("*/*")
    for damage in (code[:100], b"", code[:500] + b"!" + code[501:]):
        with open(path, "r+b") as file:
            file.truncate(0)
            file.write(damage)
        assert plain().compile("cubin", cache=cache).code == code
        assert path.read_bytes() == code
    assert len(compilations) == 4


def test_code_with_headers_is_cached_until_a_header_changes(cache, compilations, include):
    def compiled():
        program = plain(INCLUDING, define_macro=None, include_path=include)
        return program.compile("ptx", cache=cache).code

    assert b"11111" in compiled()
    assert b"11111" in compiled()
    assert len(compilations) == 1
    (include / "value.h").write_text("#define VALUE 22222\n")
    assert b"22222" in compiled()
    assert len(compilations) == 2
    (include / "value.h").write_text("#define VALUE 11111\n")
    assert b"11111" in compiled()
    assert len(compilations) == 2


@pytest.mark.requires(software=False)
def test_new_header_that_hides_another_is_a_miss(cache, compilations, include, tmp_path):
    before = tmp_path / "before"
    before.mkdir()
    program = plain(INCLUDING, define_macro=None, include_path=[before, include])
    assert b"11111" in program.compile("ptx", cache=cache).code
    (before / "value.h").write_text("#define VALUE 33333\n")
    assert b"33333" in program.compile("ptx", cache=cache).code


def test_code_with_headers_beside_the_source_is_cached(cache, compilations, include):
    name = str(include / "source.cu")
    for _ in range(2):
        assert b"11111" in plain(INCLUDING, define_macro=None, name=name).compile("ptx", cache=cache).code
    assert len(compilations) == 1


def test_code_with_headers_included_before_the_source_is_cached(cache, compilations, include):
    path = str(include / "value.h")
    for _ in range(2):
        assert b"11111" in plain(define_macro=None, pre_include=path).compile("ptx", cache=cache).code
    assert len(compilations) == 1


def test_code_is_not_stored_if_a_header_changes_during_compile(cache, include, compilations):
    program = plain(INCLUDING, define_macro=None, include_path=include)
    compilations.before = lambda: (include / "value.h").write_text("#define VALUE 44444\n")
    assert b"44444" in program.compile("ptx", cache=cache).code
    del compilations.before
    assert len(cache) == 0
    (include / "value.h").write_text("#define VALUE 11111\n")
    assert b"11111" in program.compile("ptx", cache=cache).code


def test_code_with_an_untraceable_include_is_not_cached(cache, compilations):
    program = plain("#if 0\n#include UNKNOWN\n#endif\n" + SOURCE)
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="cache was not used: .* #include UNKNOWN") as caught:
            program.compile("ptx", cache=cache)
        assert caught[0].filename == __file__
    assert (len(compilations), len(cache)) == (2, 0)


@pytest.mark.requires(nvrtc_version=(12, 8))
@pytest.mark.parametrize("option", [{"pch": True}, {"use_pch": "a.pch"}, {"pch_dir": "/a"}], ids=str)
def test_options_that_read_other_files_are_rejected_with_a_cache(cache, option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} make the compiler read files that are not part"):
        plain(**option).compile("ptx", cache=cache)


@pytest.mark.requires(nvrtc_version=(12, 8))
@pytest.mark.parametrize("option", ["create_pch", "time", "fdevice_time_trace"])
def test_options_that_write_files_are_rejected_with_a_cache(cache, option, tmp_path):
    with pytest.raises(ValueError, match=f"{option} make the compiler write files"):
        plain(**{option: str(tmp_path / "file")}).compile("ptx", cache=cache)


def test_failed_and_empty_compilations_are_not_stored(cache):
    with pytest.raises(NVRTCError, match="no_such"):
        plain("__global__ void f() { no_such; }").compile("ptx", cache=cache)
    with pytest.warns(RuntimeWarning, match="generated no ptx"):
        plain(link_time_optimization=True).compile("ptx", cache=cache)
    assert len(cache) == 0


@pytest.mark.parametrize("wrong", [{}, "memory", object(), InMemoryProgramCache])
def test_cache_of_wrong_type_is_rejected(wrong):
    with pytest.raises(TypeError, match="cache must be a ProgramCacheResource or None"):
        plain().compile("ptx", cache=wrong)


def test_closed_program_is_rejected_even_if_its_code_is_cached(cache):
    program = plain()
    program.compile("ptx", cache=cache)
    program.close()
    with pytest.raises(RuntimeError, match="this Program is closed"):
        program.compile("ptx", cache=cache)


def test_programs_are_compiled_if_the_cache_cannot_be_written(tmp_path, compilations):
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        cache = FileStreamProgramCache(tmp_path / "file" / "cache")
    assert b"12345" in plain().compile("ptx", cache=cache).code
    assert b"12345" in plain().compile("ptx", cache=cache).code
    assert len(compilations) == 2


IR = """
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define void @k() { ret void }
!nvvm.annotations = !{!0}
!0 = !{void ()* @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
"""


@pytest.mark.requires(nvvm=True)
@pytest.mark.parametrize("use_libdevice", [None, True])
def test_nvvm_ir_is_cached_also_with_libdevice(cache, use_libdevice):
    codes = []
    for code in (IR, IR.encode(), bytearray(IR.encode())):
        program = Program(code, "nvvm", ProgramOptions(arch="sm_90", use_libdevice=use_libdevice))
        codes.append(program.compile("ptx", cache=cache).code)
    assert codes[0] == codes[1] == codes[2]
    assert (cache.hits, len(cache)) == (2, 1)


def test_threads_share_programs_and_caches(cache):
    program = plain()
    program.compile("ptx", cache=cache)
    codes = []
    work = [lambda: codes.append(program.compile("ptx", cache=cache).code) for _ in range(4)]
    work += [lambda: codes.append(plain().compile("ptx", cache=cache).code) for _ in range(4)]
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(codes), len(set(codes)), cache.hits) == (8, 1, 8)


@pytest.mark.requires(nvjitlink=True)
def test_ptx_is_cached(cache):
    ptx = plain().compile("ptx").code.rstrip(b"\0").decode()
    options = ProgramOptions(arch="sm_90")
    first = Program(ptx, "ptx", options).compile("cubin", ["ignored"], cache=cache)
    again = Program(ptx, "ptx", options).compile("cubin", cache=cache)
    assert again.code == first.code
    assert (cache.hits, len(cache)) == (1, 1)
    assert os.path.dirname(first.name) == ""
