# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The table of a device in notebooks."""

from html.parser import HTMLParser

import pytest

from cuda.core import system

pytestmark = pytest.mark.requires(nvml=True)


class Cells(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.cells, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.cells.append(data)


def table(gpu):
    cells = Cells(gpu._repr_html_()).cells
    return dict(zip(cells[::2], cells[1::2], strict=True))


def test_it_shows_what_the_device_tells(gpu):
    rows = table(gpu)
    assert rows["Device"] == gpu.name and rows["UUID"] == gpu.uuid and rows["PCI address"] == gpu.pci_bus_id
    assert rows["Compute capability"] == "{}.{}".format(*gpu.cuda_compute_capability)
    assert rows["Memory"].endswith("GiB in use") and rows["Utilization"].endswith("% memory")


def test_it_leaves_out_what_the_device_has_not(gpu, told, refused):
    for name in ("device_get_temperature_v", "device_get_utilization_rates", "device_get_memory_info_v2"):
        told(name, refused)
    told("device_get_performance_state", 32)
    assert not {"Temperature", "Utilization", "Memory", "Performance state"} & set(table(gpu))


def test_text_is_escaped(told):
    told("device_get_name", "<b>&")
    assert table(system.Device(index=0))["Device"] == "<b>&"


def test_it_never_raises(told, refused):
    from cuda.bindings import nvml

    for name in [name for name in dir(nvml) if name.startswith("device_get_") and "handle" not in name]:
        told(name, refused)
    assert system.Device(index=0)._repr_html_() == "<table></table>"
