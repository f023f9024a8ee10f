# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Triton on the software device: its kernels run on the CPU, with every check.

Under ``python -m cuda.emulator`` and with ``CUDA_CORE_DEVICE=software``, Triton finds the device by itself if
``cuda-emulator`` is installed. Otherwise call ``cuda.emulator.triton.activate()`` before the first launch.
"""

from __future__ import annotations

__all__ = ["activate"]


def __dir__():
    return list(__all__)


def activate() -> None:
    """Make the software device Triton's device in this process.

    Raises
    ------
    RuntimeError
        If the software device cannot be activated, or if this version of Triton has another interface.
    """
    import cuda.emulator

    cuda.emulator.activate()
    import triton

    from cuda.emulator.triton.driver import SoftwareDriver

    triton.runtime.driver.set_active(SoftwareDriver())
