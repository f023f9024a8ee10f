# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Linker with each kind of input, by nvJitLink, which needs no driver; the driver's linker has its own tests."""

import gc
import pickle
import warnings
import weakref

import pytest

from cuda.core import CUDAError, Linker, LinkerOptions, ObjectCode, Program, ProgramOptions, _linker
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType
from support.code import (
    ARCH,
    MAIN,
    PART,
    RUNTIME,
    compiled,
    run_on_int,
    runtime_fatbin,
    runtime_library,
    runtime_object,
)

pytestmark = pytest.mark.requires(nvrtc=True, nvjitlink=True, software=False)


def options(**changes):
    return LinkerOptions(**{"arch": ARCH, **changes})


def linker_of(*formats, **changes):
    parts = zip((MAIN, PART), formats, strict=False)
    return Linker(*(compiled(source, kind) for source, kind in parts), options=options(**changes))


def is_cubin(code):
    return code.code_type == "cubin" and code.code.startswith(b"\x7fELF") and b"f" in code.code


@pytest.mark.parametrize("formats", [("cubin", "cubin"), ("ptx", "ptx"), ("ptx", "cubin"), ("cubin", "ptx")])
def test_inputs_are_linked_to_a_cubin(formats):
    linker = linker_of(*formats)
    code = linker.link("cubin")
    assert isinstance(code, ObjectCode)
    assert is_cubin(code)
    assert code.name == "<default linker>"
    assert linker.get_error_log() == ""


def test_link_time_optimization_makes_smaller_code():
    code = linker_of("ltoir", "ltoir", link_time_optimization=True).link("cubin")
    assert is_cubin(code)
    assert len(code.code) < len(linker_of("cubin", "cubin").link("cubin").code)


def test_ltoir_can_be_linked_to_ptx():
    code = linker_of("ltoir", "ltoir", link_time_optimization=True, ptx=True).link("PTX")
    assert code.code_type == "ptx"
    assert b".entry f(" in code.code
    assert b"call" not in code.code


@pytest.mark.requires(cudadevrt=True)
@pytest.mark.parametrize(
    "kind, code",
    [
        ("object", runtime_object),
        ("fatbin", runtime_fatbin),
        ("library", runtime_library),
    ],
)
def test_objects_libraries_and_fat_binaries_are_linked(kind, code):
    main = compiled(RUNTIME, "cubin")
    with pytest.raises(CUDAError, match="GetDevice"):
        Linker(main, options=options()).link("cubin")
    assert is_cubin(Linker(main, getattr(ObjectCode, f"from_{kind}")(code()), options=options()).link("cubin"))


@pytest.mark.parametrize("kind", ["cubin", "ptx", "ltoir"])
def test_files_are_linked(kind, tmp_path):
    (tmp_path / "main").write_bytes(compiled(MAIN, kind).code)
    main = getattr(ObjectCode, f"from_{kind}")(tmp_path / "main")
    lto = kind == "ltoir"
    assert is_cubin(Linker(main, compiled(PART, kind), options=options(link_time_optimization=lto)).link("cubin"))


@pytest.mark.parametrize("made_of", [bytes, bytearray, memoryview])
def test_bytes_like_objects_are_linked(made_of):
    code = made_of(compiled(MAIN, "cubin").code)
    linked = Linker(ObjectCode.from_cubin(code), compiled(PART, "cubin"), options=options()).link("cubin")
    assert is_cubin(linked)


def test_result_is_named_after_the_options():
    assert linker_of("cubin", "cubin", name="mine").link("cubin").name == "mine"
    assert linker_of("cubin", "cubin", name=None).link("cubin").name == "<default linker>"


def test_options_may_be_a_dict_and_are_copied():
    given = options(name="before")
    linker = Linker(compiled(PART, "cubin"), options=given)
    given.name = "after"
    assert linker.link("cubin").name == "before"
    assert Linker(compiled(PART, "cubin"), options={"arch": ARCH, "name": "dict"}).link("cubin").name == "dict"


def test_arguments_are_rendered_anew_for_changed_options():
    given = options(ptxas_options=["-v"])
    assert given.as_bytes() == [b"-arch=sm_90", b"-Xptxas=-v"]
    given.ptxas_options = ("-v",)
    given.as_bytes().clear()
    assert given.as_bytes() == [b"-arch=sm_90", b"-Xptxas=-v"]
    given.debug = True
    assert given.as_bytes() == [b"-arch=sm_90", b"-g", b"-Xptxas=-v"]


def test_failed_link_raises_with_the_log():
    from cuda.bindings.nvjitlink import nvJitLinkError

    linker = Linker(compiled(MAIN, "cubin"), options=options())
    with pytest.raises(nvJitLinkError, match="linking to cubin failed") as caught:
        linker.link("cubin")
    error = caught.value
    assert isinstance(error, CUDAError)
    assert error.api == "nvJitLinkComplete"
    assert "Undefined reference to 'part' in 'cubin'" in error.log
    assert error.log in str(error)
    assert linker.get_error_log().strip() == error.log
    linker.close()
    assert "Undefined reference to 'part'" in linker.get_error_log()


def test_info_log_is_kept_after_close():
    # A result from the cache of nvJitLink lacks a part of the log.
    linker = linker_of("ptx", "cubin", verbose=True, time=True, no_cache=True)
    linker.link("cubin")
    log = linker.get_info_log()
    assert "ptxas info" in log
    assert "time" in log
    linker.close()
    assert linker.get_info_log() == log


@pytest.mark.parametrize(
    "module, text",
    [
        (ObjectCode.from_ptx(b"garbage", name="mine"), "ptx input 'mine' of 7 bytes failed"),
        (ObjectCode.from_cubin(b""), "cubin input 'input 0' of 0 bytes failed"),
        (ObjectCode.from_cubin("/no/such.cubin"), "cubin file '/no/such.cubin' failed\nno such file"),
        (ObjectCode.from_library("/no/such.a"), "library file '/no/such.a' failed"),
        (ObjectCode.from_cubin(b"\x7fELF"), "cubin input 'input 0' of 4 bytes failed"),
    ],
)
def test_malformed_input_is_named(module, text):
    from cuda.bindings.nvjitlink import nvJitLinkError

    with pytest.raises(nvJitLinkError, match=text):
        Linker(module, options=options())


def test_truncated_cubins_are_rejected():
    code = compiled(MAIN, "cubin").code
    for size in (1, 16, 64, 100, len(code) // 2, len(code) - 1):
        with pytest.raises(CUDAError, match="ERROR_"):
            Linker(ObjectCode.from_cubin(code[:size]), compiled(PART, "cubin"), options=options()).link("cubin")


def test_at_least_one_input_is_required():
    with pytest.raises(ValueError, match="at least one ObjectCode"):
        Linker(options=options())


@pytest.mark.parametrize("wrong", [5, None, b"code", "path"])
def test_inputs_of_another_type_are_rejected(wrong):
    with pytest.raises(TypeError, match=f"ObjectCode objects, not {type(wrong).__name__}"):
        Linker(compiled(PART, "cubin"), wrong, options=options())


def test_code_of_another_type_is_rejected():
    with pytest.raises(TypeError, match="input 1 must be bytes or the path of a file, not int"):
        Linker(compiled(PART, "cubin"), ObjectCode.from_cubin(5), options=options())


@pytest.mark.parametrize("was_made", [True, False])
def test_closed_inputs_are_rejected(was_made):
    code = ObjectCode.from_ptx(b"") if was_made else ObjectCode.__new__(ObjectCode)
    code.close()
    with pytest.raises(RuntimeError, match="closed"):
        Linker(code, options=options())


def test_options_of_another_type_are_rejected():
    with pytest.raises(TypeError, match="linker options must be LinkerOptions"):
        Linker(compiled(PART, "cubin"), options=5)


@pytest.mark.parametrize("changes", [{"arch": "sm_999"}, {"optimization_level": 2}, {"ptx": True}])
def test_options_that_nvjitlink_rejects_are_named(changes):
    with pytest.raises(CUDAError, match=r"the loaded nvJitLink \d+\.\d+ does not support these options: -arch"):
        Linker(compiled(PART, "cubin"), options=options(**changes))


def test_default_arch_matches_the_current_device(set_current_arch):
    set_current_arch("90")
    assert is_cubin(Linker(compiled(MAIN, "cubin"), compiled(PART, "cubin")).link("cubin"))


def test_null_character_in_a_path_is_rejected():
    with pytest.raises(ValueError, match="path of the module contains a null character"):
        Linker(ObjectCode.from_cubin("a\0b"), options=options())


@pytest.mark.parametrize("target", ["fatbin", "", None, 5])
def test_unknown_targets_are_rejected(target):
    with pytest.raises(ValueError, match="target_type; it must be 'cubin', 'ltoir' or 'ptx'"):
        linker_of("cubin", "cubin").link(target)


def test_target_is_taken_in_any_case():
    assert is_cubin(linker_of("cubin", "cubin").link("CuBin"))
    assert is_cubin(linker_of("cubin", "cubin").link(ObjectCodeFormatType.CUBIN))


@pytest.mark.parametrize(
    "target, changes",
    [
        ("ptx", {}),
        ("ptx", {"link_time_optimization": True}),
        ("cubin", {"link_time_optimization": True, "ptx": True}),
    ],
)
def test_target_that_needs_other_options_is_rejected(target, changes):
    lto = bool(changes)
    linker = linker_of(*["ltoir" if lto else "cubin"] * 2, **changes)
    with pytest.raises(CUDAError, match="link_time_optimization=True and ptx=True"):
        linker.link(target)


def test_linker_links_once():
    linker = linker_of("cubin", "cubin")
    linker.link("cubin")
    with pytest.raises(RuntimeError, match="this Linker has already linked"):
        linker.link("cubin")


def test_closed_linker_has_no_handle_and_rejects_to_link():
    linker = linker_of("cubin", "cubin")
    assert linker.handle != 0
    assert not linker.is_closed
    assert repr(linker) == "<Linker backend='nvJitLink'>"
    linker.close()
    linker.close()
    assert linker.handle == 0
    assert linker.is_closed
    assert repr(linker) == "<Linker backend='nvJitLink' closed>"
    assert linker.get_error_log() == linker.get_info_log() == ""
    with pytest.raises(RuntimeError, match="this Linker is closed"):
        linker.link("cubin")
    with pytest.raises(RuntimeError, match="this Linker is closed"):
        linker._linker.link(ObjectCodeFormatType.CUBIN)


def test_with_block_closes_the_linker():
    with linker_of("cubin", "cubin") as linker:
        code = linker.link("cubin")
    assert linker.is_closed
    assert is_cubin(code)


def test_linkers_compare_by_identity_and_support_weakrefs():
    linker, other = linker_of("cubin"), linker_of("cubin")
    assert linker == linker
    assert linker != other
    assert len({linker, other}) == 2
    reference = weakref.ref(linker)
    del linker
    gc.collect()
    assert reference() is None


def test_linkers_are_not_pickled():
    with pytest.raises(TypeError, match="Linker cannot be pickled or copied; pickle the ObjectCode"):
        pickle.dumps(linker_of("ptx", "ptx"))


def test_errors_are_pickled():
    linker = Linker(compiled(MAIN, "cubin"), options=options())
    with pytest.raises(CUDAError) as caught:
        linker.link("cubin")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert (str(again), again.log, again.status) == (str(caught.value), caught.value.log, caught.value.status)


# The choice of the linker


@pytest.fixture
def undecided():
    _linker._decision.cache_clear()
    yield
    _linker._decision.cache_clear()


def test_nvjitlink_is_used_where_it_is_installed(undecided):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Linker.which_backend() is CompilerBackendType.NVJITLINK
        assert _linker._decide_nvjitlink_or_driver() is False


def test_first_driver_linker_warns_at_the_caller(without_nvjitlink):
    with pytest.warns(RuntimeWarning, match="pip install nvidia-nvjitlink.*driver's linker") as caught:
        assert Linker.which_backend() is CompilerBackendType.DRIVER
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Linker.which_backend() == "driver"
        assert _linker._decide_nvjitlink_or_driver() is True


def test_handle_type_includes_int_and_the_bindings_type():
    from cuda.bindings.driver import CUlinkState

    assert isinstance(CUlinkState(), _linker.LinkerHandleT)
    assert isinstance(5, _linker.LinkerHandleT)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = _linker.no_such_name


# On a device


@pytest.mark.requires(ptx=True)
@pytest.mark.parametrize("formats", [("cubin", "cubin"), ("ptx", "ptx"), ("ltoir", "ltoir")])
def test_linked_code_runs(stream, formats):
    arch = f"sm_{stream.device.arch}"
    made = [
        Program(source, "c++", ProgramOptions(arch=arch, relocatable_device_code=True)).compile(kind)
        for source, kind in zip((MAIN, PART), formats, strict=True)
    ]
    lto = formats[0] == "ltoir"
    linker = Linker(*made, options=LinkerOptions(arch=arch, link_time_optimization=lto))
    assert run_on_int(stream, linker.link("cubin").get_kernel("f"), 13) == 3 * 13 + 1
