# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Error classes, and the functions that check results."""

import pickle
import re
from dataclasses import dataclass

import pytest
from cuda.bindings import driver, nvrtc, runtime

from cuda.core import CUDAError, LaunchError, NotSupportedError, NVRTCError, OutOfMemoryError
from cuda.core._utils.advice import ADVICE, KERNEL_FAILURES, RUNTIME_ADVICE
from support.contexts import no_context
from support.contract import ComputeCapability, check_or_create_options, cuda_utils, handle_return

SUCCESS = driver.CUresult.CUDA_SUCCESS


@dataclass
class Choice:
    size: int = 1


def raised(error, handle=None):
    with pytest.raises(CUDAError) as caught:
        handle_return((error,), handle)
    return caught.value


# --- handle_return ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "success", [SUCCESS, runtime.cudaError_t.cudaSuccess, nvrtc.nvrtcResult.NVRTC_SUCCESS], ids=lambda value: value.name
)
def test_results_of_successful_calls_are_unpacked(success):
    assert handle_return((success,)) is None
    assert handle_return((success, "a")) == "a"
    assert handle_return((success, "a", "b")) == ("a", "b")


def test_driver_error_has_all_fields():
    error = raised(driver.CUresult.CUDA_ERROR_INVALID_VALUE)
    assert type(error) is CUDAError
    assert (error.code, error.name) == (1, "CUDA_ERROR_INVALID_VALUE")
    assert error.explanation
    assert error.log is None
    assert str(error).startswith("CUDA_ERROR_INVALID_VALUE: ")
    assert ADVICE["CUDA_ERROR_INVALID_VALUE"] in str(error)


def test_runtime_error_is_a_cuda_error():
    error = raised(runtime.cudaError_t.cudaErrorInvalidConfiguration)
    assert (error.code, error.name) == (9, "cudaErrorInvalidConfiguration")
    assert str(error) == f"cudaErrorInvalidConfiguration: {RUNTIME_ADVICE[error.name]} (see errors#cudaerror)"


def test_runtime_error_that_the_driver_shares_has_its_advice():
    error = raised(runtime.cudaError_t.cudaErrorMemoryAllocation)
    assert str(error) == f"cudaErrorMemoryAllocation: {ADVICE['CUDA_ERROR_OUT_OF_MEMORY']} (see errors#cudaerror)"


def test_kernel_timeout_report_replaces_the_display_advice(monkeypatch):
    report = "time limit exceeded: kernel spin"
    monkeypatch.setattr(cuda_utils.errors, "last_failure", lambda *arguments: report)
    see = "see errors#time-limit-exceeded"
    assert str(raised(driver.CUresult.CUDA_ERROR_LAUNCH_TIMEOUT)).endswith(f"\n{report} ({see})")
    report += f"\n  {see}"
    assert str(raised(driver.CUresult.CUDA_ERROR_LAUNCH_TIMEOUT)).endswith(f"\n{report}")


@pytest.mark.parametrize(
    ("name", "anchor"),
    [
        ("CUDA_ERROR_INVALID_HANDLE", "cudaerror"),
        ("CUDA_ERROR_NOT_SUPPORTED", "notsupportederror"),
        ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "out-of-resources"),
        ("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "launcherror"),
    ],
)
def test_driver_error_names_the_section_that_explains_it(name, anchor):
    assert f" (see errors#{anchor})" in str(raised(getattr(driver.CUresult, name)))


@pytest.mark.requires(software=True)
def test_releases_after_the_driver_has_shut_down_are_silent(device):
    from cuda import emulator

    event = device.create_event()
    with emulator.fail("cuEventDestroy*", "CUDA_ERROR_DEINITIALIZED", when="after") as plan:
        event.close()  # a warning would fail the test
    assert plan.matched == 1


def test_nvrtc_error_without_a_program_has_no_log():
    error = raised(nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION)
    assert type(error) is NVRTCError
    assert (error.code, error.name, error.log) == (5, "NVRTC_ERROR_INVALID_OPTION", None)


@pytest.mark.requires(nvrtc=True)
def test_nvrtc_error_has_the_log_of_its_program():
    program = handle_return(nvrtc.nvrtcCreateProgram(b"nonsense;", b"bad.cu", 0, [], []))
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, 0, [])
        error = raised(status, program)
        assert error.name == "NVRTC_ERROR_COMPILATION"
        assert "nonsense" in error.log
        assert "bad.cu(1)" in error.log
        assert str(error).endswith(error.log)
    finally:
        handle_return(nvrtc.nvrtcDestroyProgram(program))


@pytest.mark.parametrize("result", [(0,), (None,), (object(), 1), (1, 2)])
def test_result_of_unknown_type_is_rejected(result):
    with pytest.raises(RuntimeError, match="unknown error type") as caught:
        handle_return(result)
    assert not isinstance(caught.value, CUDAError)


@pytest.mark.parametrize("wrong", [[SUCCESS], None, SUCCESS])
def test_result_must_be_a_tuple(wrong):
    with pytest.raises(TypeError):
        handle_return(wrong)


def test_results_of_driver_runtime_and_nvrtc_are_checked():
    assert cuda_utils._check_driver_error(SUCCESS) == 0
    assert cuda_utils._check_runtime_error(runtime.cudaError_t.cudaSuccess) == 0
    assert cuda_utils._check_nvrtc_error(nvrtc.nvrtcResult.NVRTC_SUCCESS) == 0
    with pytest.raises(OutOfMemoryError):
        cuda_utils._check_driver_error(driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY)
    with pytest.raises(CUDAError, match="cudaErrorInvalidValue"):
        cuda_utils._check_runtime_error(runtime.cudaError_t.cudaErrorInvalidValue)
    with pytest.raises(NVRTCError, match="NVRTC_ERROR_COMPILATION"):
        cuda_utils._check_nvrtc_error(nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION)


# --- Classes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("CUDA_ERROR_OUT_OF_MEMORY", OutOfMemoryError),
        ("CUDA_ERROR_ILLEGAL_ADDRESS", LaunchError),
        ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", LaunchError),
        ("CUDA_ERROR_LAUNCH_FAILED", LaunchError),
        ("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", LaunchError),
        ("CUDA_ERROR_NOT_SUPPORTED", NotSupportedError),
        ("CUDA_ERROR_NOT_FOUND", CUDAError),
        ("CUDA_ERROR_NOT_READY", CUDAError),
    ],
)
def test_code_decides_the_class(name, kind):
    error = raised(getattr(driver.CUresult, name))
    assert type(error) is kind
    assert error.name == name


def test_every_code_can_be_raised():
    for result in driver.CUresult:
        if int(result):
            error = raised(result)
            assert error.code == int(result)
            # If the driver's log has such a failure of this thread, from an earlier test, it replaces the advice.
            assert (error.log or ADVICE[result.name]).partition("\n")[0] in str(error)


def test_base_classes_of_errors():
    for kind in (OutOfMemoryError, LaunchError, NotSupportedError, NVRTCError):
        assert issubclass(kind, CUDAError)
    assert issubclass(OutOfMemoryError, MemoryError)
    assert not issubclass(CUDAError, RuntimeError)


def test_out_of_memory_error_made_by_users_has_no_sizes():
    error = OutOfMemoryError("text")
    assert (error.free, error.total) == (None, None)


@pytest.mark.requires(device=True)
def test_out_of_memory_error_has_no_sizes_without_a_context(device):
    with no_context():
        error = raised(driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY)
    assert (error.free, error.total) == (None, None)


def test_error_can_be_made_by_users():
    error = CUDAError("text")
    assert str(error) == "text"
    assert (error.code, error.name, error.api, error.explanation, error.log) == (None,) * 5


@pytest.mark.parametrize("kind", [CUDAError, OutOfMemoryError, LaunchError, NotSupportedError, NVRTCError])
def test_errors_survive_pickling(kind):
    error = kind("text", code=7, name="N", api="cuX", explanation="E", log="L")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), vars(again)) == ("text", vars(error))


def test_failed_call_names_its_entry_point(device):
    with no_context(), pytest.raises(CUDAError) as caught, device:
        driver.cuCtxPopCurrent()
    error = caught.value
    assert (error.code, error.name, error.api) == (201, "CUDA_ERROR_INVALID_CONTEXT", "cuCtxPopCurrent")
    assert "(cuCtxPopCurrent)" in str(error)


def test_unknown_code_keeps_its_number():
    with pytest.raises(CUDAError, match="CUDA_ERROR_98765") as caught:
        cuda_utils._check_driver_error(98765)
    assert caught.value.code == 98765


# --- Options ---------------------------------------------------------------------------------------


def test_options_are_made_from_an_instance_none_or_a_dict():
    given = Choice(2)
    assert check_or_create_options(Choice, given) is given
    assert check_or_create_options(Choice, None) == Choice()
    assert check_or_create_options(Choice, {"size": 3}) == Choice(3)
    assert check_or_create_options(Choice, None, keep_none=True) is None
    assert check_or_create_options(Choice, given, "the choice", True) is given


@pytest.mark.parametrize("wrong", [1, "size", ("size", 1), [], object])
def test_options_of_wrong_type_are_rejected(wrong):
    with pytest.raises(TypeError, match="the choice must be Choice"):
        check_or_create_options(Choice, wrong, "the choice")


def test_options_with_unknown_fields_are_rejected():
    with pytest.raises(TypeError, match="color"):
        check_or_create_options(Choice, {"color": 1})


# --- Names for other packages ----------------------------------------------------------------------


@pytest.mark.requires(bindings=(13, 0))
def test_names_for_other_packages_are_available():
    assert cuda_utils.driver is driver
    assert cuda_utils.runtime is runtime
    assert cuda_utils.nvrtc is nvrtc
    assert cuda_utils.nvvmError.__name__ == "nvvmError"
    assert cuda_utils.nvJitLinkError.__name__ == "nvJitLinkError"
    assert cuda_utils.DRIVER_CU_RESULT_EXPLANATIONS == {int(error): ADVICE[error.name] for error in driver.CUresult}
    explanations = cuda_utils.RUNTIME_CUDA_ERROR_EXPLANATIONS
    assert set(explanations) == {int(error) for error in runtime.cudaError_t}
    assert explanations[9] == RUNTIME_ADVICE["cudaErrorInvalidConfiguration"]
    assert explanations[2] == ADVICE["CUDA_ERROR_OUT_OF_MEMORY"]


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        cuda_utils.no_such_name  # noqa: B018


def test_compute_capability_is_a_pair():
    assert ComputeCapability(9, 0) == (9, 0)
    assert ComputeCapability(9, 0).major == 9
    assert ComputeCapability(9, 0).minor == 0


# --- Advice -----------------------------------------------------------------------------------------


@pytest.mark.requires(bindings=(13, 0))
def test_every_driver_error_has_advice():
    assert set(ADVICE) == {error.name for error in driver.CUresult}
    assert KERNEL_FAILURES < set(ADVICE)


@pytest.mark.requires(bindings=(13, 0))
def test_every_runtime_error_has_advice():
    shared = {int(error) for error in driver.CUresult}
    assert set(RUNTIME_ADVICE) == {error.name for error in runtime.cudaError_t if int(error) not in shared}


@pytest.mark.parametrize("table", [ADVICE, RUNTIME_ADVICE], ids=["driver", "runtime"])
def test_advice_is_sentences(table):
    for name, text in table.items():
        assert re.fullmatch(r"[A-Z].{20,200}\.", text) or name == "CUDA_SUCCESS", (name, text)
    assert len(set(table.values())) == len(table)
