# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The seam with the software device, and the choice between it and GPUs, made once, before the driver is loaded.

``CUDA_CORE_DEVICE`` selects: ``hardware`` (the default) never uses the software device, ``software`` always does, and
``auto`` does if the driver is missing or reports no device.

The software device is another distribution, ``cuda-emulator``, which need not be installed. This module alone uses its
package ``cuda.emulator``.
"""

from __future__ import annotations

import os
import sys

__all__ = ["apply", "checks_memory", "compiler_build", "facts", "has_dropped_work", "recover"]

# All that this package calls in ``cuda.emulator``, and what each function promises. Both packages test it.
CALLS = {
    "activate": "makes it the driver of this process; RuntimeError if it cannot, ValueError if a variable is wrong",
    "describe": "returns a dict: the path of its `library`, if built; of its `code`, all that a key of a cache needs",
    "has_gpu": "returns whether a driver reports a GPU, and loads no driver for good that reports none",
    "is_active": "returns whether it is the driver of this process, and loads nothing",
    "reset": "makes all contexts usable after a faulty kernel; objects and memory stay valid",
    "settle_interrupts": "waits until a Ctrl-C has ended the kernels; returns whether it has dropped work",
}
NEEDED = 2  # the version of cuda.emulator.INTERFACE with which this package works

_CHOICES = ("hardware", "software", "auto")
_chosen: str | None = None  # the value that apply() found


def apply() -> None:
    """Activate the software device if ``CUDA_CORE_DEVICE`` selects it.

    Raises
    ------
    ValueError
        If the variable, or one of the software device, has a wrong value.
    RuntimeError
        If the software device is selected and is not installed, too old, or cannot be loaded.
    """
    global _chosen
    _chosen = _read_variable()
    if _chosen == "hardware":
        return
    emulator = _installed()
    if emulator is None:
        if _chosen == "auto":
            return  # the first use of the driver says what is missing
        raise RuntimeError(
            "CUDA_CORE_DEVICE=software needs the package cuda-emulator: install it from its wheel file, or "
            "run `pip install ./emulator` in a clone"
        )
    _check_version(emulator)
    is_found = _chosen == "auto" and not emulator.is_active()
    if is_found and emulator.has_gpu():
        return
    emulator.activate()
    if is_found:
        # Child processes use the same device, without searching and printing again.
        os.environ["CUDA_CORE_DEVICE"] = "software"
        print("cuda.core: no CUDA device was found; using the software device", file=sys.stderr)


def has_dropped_work() -> bool:
    """Return whether the software device dropped enqueued work because of Ctrl-C. A GPU always completes it."""
    emulator = _active()
    return emulator is not None and emulator.settle_interrupts()


def recover() -> bool:
    """Make the software device usable again after a faulty kernel; return False on a GPU, which cannot be."""
    emulator = _active()
    if emulator is not None:
        emulator.reset()
    return emulator is not None


def checks_memory() -> bool:
    """Return whether the device checks accesses and reports memory that is left over, so nothing should be kept."""
    return _active() is not None


def compiler_build() -> str:
    """Return what identifies the compilers of this process beside their versions, for keys of caches.

    The versions identify NVIDIA's. The software device compiles with a host compiler, and with the checks that are
    selected.
    """
    emulator = _active()
    return "" if emulator is None else f"software {emulator.describe()['code']}"


def facts() -> dict:
    """Return the value of ``CUDA_CORE_DEVICE`` at the import, and whether the software device is used and where it is.

    The path of its library is None if it is not installed, was not built, or is too old to tell.
    """
    emulator = _installed()
    can_tell = getattr(emulator, "INTERFACE", 0) >= NEEDED
    return {
        "choice": _chosen or _read_variable(),
        "is_active": emulator is not None and emulator.is_active(),
        "library": emulator.describe()["library"] if can_tell else None,
    }


def _installed():
    """Return ``cuda.emulator``, or None if it is not installed."""
    from importlib import import_module

    try:
        return import_module("cuda.emulator")
    except ModuleNotFoundError as error:
        if error.name != "cuda.emulator":
            raise
        return None


def _active():
    """Return ``cuda.emulator`` if it is the driver of this process, or None."""
    emulator = sys.modules.get("cuda.emulator")
    if emulator is None or not emulator.is_active():
        return None
    _check_version(emulator)
    return emulator


def _check_version(emulator) -> None:
    version = getattr(emulator, "INTERFACE", 0)
    if version < NEEDED:
        raise RuntimeError(
            f"this cuda.core needs cuda.emulator with interface {NEEDED} or newer, and the installed one has interface "
            f"{version}: run `pip install --upgrade cuda-emulator`, or `pip install ./emulator` in a clone"
        )


def _read_variable() -> str:
    value = os.environ.get("CUDA_CORE_DEVICE", "").strip().lower() or "hardware"
    if value not in _CHOICES:
        raise ValueError(f"CUDA_CORE_DEVICE must be one of {', '.join(_CHOICES)}, not {value!r}")
    return value
