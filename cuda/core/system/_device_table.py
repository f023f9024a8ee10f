# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The HTML table that a notebook displays for a device."""

from __future__ import annotations

import html

from cuda.core.system._support import nvml

__all__ = ["html_of"]


def _memory(device) -> str:
    info = device.memory_info
    return f"{info.used / 2**30:.1f} of {info.total / 2**30:.1f} GiB in use"


def _utilization(device) -> str:
    rates = device.utilization
    return f"{rates.gpu} % kernels, {rates.memory} % memory"


_ROWS = {
    "Index": lambda device: device.index,
    "UUID": lambda device: device.uuid,
    "PCI address": lambda device: device.pci_bus_id,
    "Architecture": lambda device: device.arch.name.capitalize(),
    "Compute capability": lambda device: "{}.{}".format(*device.cuda_compute_capability),
    "Memory": _memory,
    "Utilization": _utilization,
    "Temperature": lambda device: f"{device.temperature.get_sensor()} °C",
    "Performance state": lambda device: device.performance_state,
    "Processes": lambda device: len(device.compute_running_processes),
}


def html_of(device) -> str:
    """Return the table, without rows for what the device does not support."""
    cells = {"Device": _cell(lambda device: device.name, device)}
    cells.update((title, _cell(row, device)) for title, row in _ROWS.items())
    rows = "".join(
        f"<tr><th style='text-align:left'>{title}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
        for title, text in cells.items()
        if text is not None
    )
    return f"<table>{rows}</table>"


def _cell(row, device) -> str | None:
    try:
        value = row(device)
    except (nvml.NvmlError, RuntimeError):
        return None
    return None if value is None else str(value)
