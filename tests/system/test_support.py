# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Bindings with a compatible NVML module, and the errors of calls without one."""

import pytest

from cuda.core import system


@pytest.mark.requires(device=True)
def test_calls_name_the_bindings_version_that_they_need(run_without_nvml):
    out = run_without_nvml(
        "from cuda.core import Device\n"
        "for call in (system.get_driver_branch, system.get_kernel_mode_driver_version, system.get_nvml_version,\n"
        "             lambda: system.get_process_name(1), Device(0).to_system_device,\n"
        "             system._nvml_context.initialize, system._nvml_context.validate):\n"
        "    try: call()\n"
        "    except RuntimeError as error: print(error)"
    )
    lines = out.splitlines()
    assert len(lines) == 7 and all("needs cuda-bindings 13.2 or later" in line for line in lines)
    assert lines[4].startswith("Device.to_system_device needs")


@pytest.mark.parametrize(
    "version, fits",
    [
        ((12, 9, 5), False),
        ((12, 9, 6), True),
        ((13, 0, 3), False),
        ((13, 1, 9), False),
        ((13, 2, 0), True),
        ((14, 0, 0), True),
    ],
)
def test_versions_of_compatible_bindings(version, fits):
    assert system._support._is_compatible(version) is fits
