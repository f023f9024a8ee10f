# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The samples about the software device run, with the device and stream that their page takes for given.

All other programs of the documentation are whole, and run in ``tests/docs``.
"""

import pytest

import cuda.core
from support.pages import code_blocks


@pytest.mark.requires(software=True)
def test_samples_about_the_software_device_run(device, stream):
    resetting, checking, failing, sweeping = code_blocks("guide/software-device.md")
    names = {"cuda": cuda, "device": device, "stream": stream}
    exec(resetting, names)
    exec(checking, names)
    exec(failing, names)
    assert names["message"].startswith("CUDA_ERROR_OUT_OF_MEMORY: out of memory (cuMemAllocFromPoolAsync)")
    exec(sweeping, names)
    assert "cuStreamCreateWithPriority" in names["names"]
