# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Warnings point at the line outside the package, however deep in it they arise."""

import pytest

from cuda.core._utils import errors as caller


def test_warning_points_at_the_first_line_outside_the_package():
    inside = {"__name__": "cuda.core._somewhere", "warn": caller.warn_caller}
    exec("def inner(): warn('the reason', UserWarning)\ndef outer(): inner()", inside)
    with pytest.warns(UserWarning, match="the reason") as caught:
        inside["outer"]()
    assert caught[0].filename == __file__


def test_warning_without_the_package_points_at_the_call():
    with pytest.warns(RuntimeWarning, match="the reason") as caught:
        caller.warn_caller("the reason", RuntimeWarning)
    assert caught[0].filename == __file__
