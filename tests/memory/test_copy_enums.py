# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The enums of copies, in the module from which other packages import them."""

import pickle

import pytest

from cuda.core import utils
from cuda.core._memory import _copy_enums


@pytest.mark.parametrize("name", _copy_enums.__all__)
def test_enums_are_public_and_pickled_by_their_module(name):
    kind = getattr(_copy_enums, name)
    assert getattr(utils, name) is kind
    assert kind.__module__ == "cuda.core._memory._copy_enums"
    for choice in kind:
        assert pickle.loads(pickle.dumps(choice)) is choice
        assert choice == choice.value == choice.name.lower()
