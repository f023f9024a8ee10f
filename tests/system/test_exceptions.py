# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVML exceptions: the bindings' classes, one for each code."""

import builtins

import pytest
from cuda.bindings import nvml

from cuda.core import system

ERRORS = set(
    """NvmlError UninitializedError InvalidArgumentError NotSupportedError NoPermissionError AlreadyInitializedError
    NotFoundError InsufficientSizeError InsufficientPowerError DriverNotLoadedError TimeoutError IrqIssueError
    LibraryNotFoundError FunctionNotFoundError CorruptedInforomError GpuIsLostError ResetRequiredError
    OperatingSystemError LibRmVersionMismatchError InUseError MemoryError NoDataError VgpuEccNotSupportedError
    InsufficientResourcesError FreqNotSupportedError ArgumentVersionMismatchError DeprecatedError NotReadyError
    GpuNotFoundError InvalidStateError ResetTypeNotSupportedError UnknownError""".split()
)


def test_public_names_are_the_errors():
    assert set(system.exceptions.__all__) == ERRORS == set(dir(system.exceptions)) and len(ERRORS) == 32


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_errors_match_the_bindings(name):
    error = getattr(system, name)
    assert error is getattr(nvml, name) is getattr(system.exceptions, name)
    assert issubclass(error, system.NvmlError)


def test_errors_do_not_hide_builtin_ones_by_inheritance():
    assert not issubclass(system.TimeoutError, builtins.TimeoutError)
    assert not issubclass(system.MemoryError, builtins.MemoryError)


def test_every_code_of_nvml_has_an_error_class():
    codes = {member.name for member in nvml.Return} - {"SUCCESS"}
    raised = set()
    for code in codes:
        with pytest.raises(system.NvmlError) as caught:
            nvml.check_status(nvml.Return.__members__[code])
        raised.add(type(caught.value).__name__.removeprefix("Nvml"))
    assert raised == ERRORS - {"NvmlError"}, "NVML has an error that has no public name"
