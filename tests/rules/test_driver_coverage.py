# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every name of CUDA's headers has a state on the page that docs/driver_coverage.py writes."""

from __future__ import annotations

import importlib
import sys
from collections import Counter

import pytest

from support.source import CORE

pytestmark = pytest.mark.requires(source=True, extensions=True)


@pytest.fixture(scope="module")
def coverage():
    sys.path.insert(0, str(CORE.parents[1] / "docs"))
    try:
        return importlib.import_module("driver_coverage")
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def sections(coverage):
    return coverage.sections(CORE)


def test_each_name_of_the_headers_has_a_state(sections):
    assert [f"{title}: {row.name}" for title, rows in sections.items() for row in rows if not row.state] == []


def test_tables_have_the_names_of_the_headers(sections):
    assert len(sections["Functions"]) >= 540
    assert all(len(rows) > 15 for rows in sections.values())
    names = Counter(row.name for row in sections["Functions"])
    assert names.most_common(1)[0][1] == 1


def test_list_has_no_name_that_is_reached_or_unknown(coverage, sections):
    found = {row.name: row for rows in sections.values() for row in rows}
    reached = coverage.reached(CORE)
    wrong = [name for name, _ in coverage.listed_rows() if name not in found or name in reached]
    assert wrong == []


def test_versions_come_from_the_header(sections):
    since = {row.name: row.since for row in sections["Functions"]}
    assert since["cuMemAllocAsync"] == "11.2"
    assert since["cuLogsDumpToMemory"] == "12.9"


def test_public_names_come_from_docstrings(sections):
    rows = {row.name: row for found in sections.values() for row in found}
    assert "``Stream.sync``" in rows["cuStreamSynchronize"].text
    assert rows["CU_DEVICE_ATTRIBUTE_WARP_SIZE"].text == "``Device.properties.warp_size``"
    assert rows["--use_fast_math"].text == "``ProgramOptions.use_fast_math``"


def test_name_without_a_row_is_found(coverage):
    row = coverage.row("cuNew", "cuNew", "14.0", None, set(), {})
    assert row.state == ""
    assert coverage.row("cuNew", "cuNew", "14.0", None, {"cuNew"}, {}).state == "used"
    assert coverage.row("cuNew", "cuNew", "", None, set(), {"cuNew": ("left out", "why")}).text == "why"
