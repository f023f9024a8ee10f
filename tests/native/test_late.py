# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""References of lower layers to higher ones: each function returns an object or a module of the package."""

import pytest

from cuda.core import texture
from cuda.core._compile.cache import _lookup
from cuda.core._native import _late
from cuda.core._tensor_map import tensor_map_of
from support.interpreter import run


@pytest.mark.requires(device=True)
def test_devices_are_found_by_ordinal_and_uuid(device):
    assert _late.device_of(0) == device == _late.device_of_uuid(device.uuid)
    assert _late.device_of_uuid("no such UUID") is None
    assert _late.is_device(device) and not _late.is_device(0)


@pytest.mark.requires(device=True, nvml=True)
def test_a_device_of_nvml_is_found_by_uuid(device):
    assert _late.system_device_of(device.to_system_device().uuid).uuid_without_prefix == device.uuid


def test_packages_and_functions_are_returned():
    assert _late.texture_package() is texture
    assert _late.program_caches() is _lookup
    assert _late.tensor_map_factory() is tensor_map_of


def test_importing_the_module_imports_no_higher_layer():
    higher = ("_device", "_launcher", "_stream", "graph", "system", "texture", "_tensor_map")
    code = (
        "import sys; from cuda.core._native import _late\n"
        f"print([name for name in {higher!r} if f'cuda.core.{{name}}' in sys.modules])"
    )
    assert run(code) == "[]\n"
