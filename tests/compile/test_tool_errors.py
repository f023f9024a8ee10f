# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of NVVM and nvJitLink, which are instances of the bindings' class and of CUDAError, and have the log."""

import importlib
import pickle

import pytest

from cuda.core import CUDAError
from cuda.core._compile import _tools as tool_errors

KINDS = {"nvvmError": "cuda.bindings.nvvm", "nvJitLinkError": "cuda.bindings.nvjitlink"}


@pytest.mark.parametrize("kind", KINDS)
def test_error_is_an_instance_of_both_classes(kind):
    error = tool_errors.tool_error(kind, 3, "toolCall", "what was done", "the log\n")
    assert isinstance(error, getattr(importlib.import_module(KINDS[kind]), kind))
    assert isinstance(error, CUDAError)
    assert type(error).__name__ == kind
    assert (error.status, error.code, error.api, error.log) == (3, 3, "toolCall", "the log")
    assert error.name.startswith("ERROR_")
    assert str(error).startswith(f"{error.name} (3): ")
    assert str(error).endswith("(toolCall); see errors#compile-errors\nwhat was done\nthe log")


def test_error_without_detail_and_log():
    error = tool_errors.tool_error("nvJitLinkError", 6, "nvJitLinkComplete")
    assert str(error) == "ERROR_INTERNAL (6): internal (nvJitLinkComplete); see errors#compile-errors"
    assert error.log is None


def test_unknown_status_is_shown_by_its_number():
    assert str(tool_errors.tool_error("nvJitLinkError", 999, "nvJitLinkComplete")).startswith("ERROR_999 (999)")


@pytest.mark.parametrize("kind", KINDS)
def test_error_is_pickled(kind):
    error = tool_errors.tool_error(kind, 3, "toolCall", "detail", "the log")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) is getattr(tool_errors, kind)
    assert (str(again), again.__dict__) == (str(error), error.__dict__)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tool_errors.no_such_name
