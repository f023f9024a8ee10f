# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Driver and bindings versions."""

import importlib.metadata

import pytest

from support.contract import binding_version, driver_version


def test_binding_version_matches_the_package():
    version = binding_version()
    assert importlib.metadata.version("cuda-bindings").startswith(".".join(map(str, version[:2])))
    assert len(version) == 3
    assert binding_version() is version


@pytest.mark.requires(driver=True)
def test_driver_version_matches_the_driver():
    from cuda.bindings import driver

    major, minor, patch = driver_version()
    assert driver.cuDriverGetVersion()[1] == major * 1000 + minor * 10 + patch
    assert major >= 12


@pytest.mark.requires(driver=False)
def test_missing_driver_is_named():
    with pytest.raises(RuntimeError, match="libcuda"):
        driver_version()
