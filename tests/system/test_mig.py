# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Multi-instance GPUs, and hardware units."""

import pytest
from cuda.bindings import nvml

from cuda.core import system

pytestmark = pytest.mark.requires(nvml=True)


@pytest.mark.requires(software=True)
def test_device_without_mig_has_no_instances(gpu):
    mig = gpu.mig
    assert type(mig).__name__ == "MigInfo"
    assert mig.is_mig_device is False and mig.pending_mode is False
    assert mig.device_count == 0 and list(mig.get_all_devices()) == []
    with pytest.raises(system.NotSupportedError):
        mig.mode  # noqa: B018
    with pytest.raises(system.NvmlError):
        mig.get_device_by_index(0)


def test_instances_are_found_by_their_index(gpu, fake):
    def by_index(handle, index):
        if index == 1:
            raise system.NotFoundError(6)
        return handle + 100 + index

    fake("device_get_mig_device_handle_by_index", by_index)
    fake("device_get_max_mig_device_count", 3)
    fake("device_get_device_handle_from_mig_device_handle", gpu._handle)
    fake("device_is_mig_device_handle", 1)
    instances = list(gpu.mig.get_all_devices())
    assert [instance._handle - gpu._handle for instance in instances] == [100, 102]
    assert all(type(instance) is system.Device for instance in instances)
    assert instances[0].mig.parent.uuid == gpu.uuid and instances[0].mig.is_mig_device is True
    with pytest.raises(system.NotFoundError):
        gpu.mig.get_device_by_index(1)
    for wrong in (-1, 1 << 32, 10**5000):
        with pytest.raises(ValueError, match="index must be in the range"):
            gpu.mig.get_device_by_index(wrong)


def test_mode_is_read_and_set(gpu, fake):
    fake("device_get_mig_mode", (0, 1))
    fake("device_set_mig_mode", 0)
    mig = gpu.mig
    assert mig.mode is False and mig.pending_mode is True
    fake.calls.clear()
    mig.mode = True
    mig.mode = False
    assert fake.calls == [("device_set_mig_mode", gpu._handle, 1), ("device_set_mig_mode", gpu._handle, 0)]


def test_count_is_0_if_mig_is_not_supported(gpu, fake, not_supported):
    fake("device_get_max_mig_device_count", not_supported)
    assert gpu.mig.device_count == 0 and list(gpu.mig.get_all_devices()) == []


def test_attributes_of_a_device_are_read(gpu, fake):
    record = nvml.DeviceAttributes()
    fake("device_get_attributes_v2", record)
    names = [name for name in vars(type(gpu.attributes)) if not name.startswith("_")]
    assert len(names) == 9
    for number, name in enumerate(names):
        setattr(record, name, number)
    attributes = gpu.attributes
    assert type(attributes).__name__ == "DeviceAttributes"
    assert [getattr(attributes, name) for name in names] == list(range(9))
