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


def test_table_shows_the_device_attributes(gpu):
    rows = table(gpu)
    assert rows["Device"] == gpu.name and rows["UUID"] == gpu.uuid and rows["PCI address"] == gpu.pci_bus_id
    assert rows["Compute capability"] == "{}.{}".format(*gpu.cuda_compute_capability)
    assert rows["Memory"].endswith("GiB in use") and rows["Utilization"].endswith("% memory")


def test_table_omits_unsupported_attributes(gpu, fake, not_supported):
    for name in ("device_get_temperature_v", "device_get_utilization_rates", "device_get_memory_info_v2"):
        fake(name, not_supported)
    fake("device_get_performance_state", 32)
    assert not {"Temperature", "Utilization", "Memory", "Performance state"} & set(table(gpu))


def test_text_is_escaped(fake):
    fake("device_get_name", "<b>&")
    assert table(system.Device(index=0))["Device"] == "<b>&"


def test_table_is_empty_if_nothing_is_supported(fake, not_supported):
    from cuda.bindings import nvml

    for name in [name for name in dir(nvml) if name.startswith("device_get_") and "handle" not in name]:
        fake(name, not_supported)
    assert system.Device(index=0)._repr_html_() == "<table></table>"
