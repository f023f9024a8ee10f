# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The enums that ``cuda.core.typing`` imports at their first use; ``tests/test_typing.py`` tests their members."""

import pickle
import subprocess
import sys
from typing import get_type_hints

import pytest

from cuda.core import typing as public
from cuda.core import typing as string_enums


@pytest.mark.parametrize("name", string_enums.__all__)
def test_enums_belong_to_the_public_module(name):
    enum = getattr(string_enums, name)
    assert getattr(public, name) is enum
    assert enum.__module__ == "cuda.core.typing" and enum.__qualname__ == name
    assert pickle.loads(pickle.dumps(list(enum))) == list(enum)


def test_enums_are_imported_at_their_first_use():
    code = (
        "import sys, cuda.core.typing as t; name = 'cuda.core.typing';"
        "print(name in sys.modules);"
        "t.SourceCodeType; print(name in sys.modules); t.GraphMemoryType; print(name in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


def test_annotations_that_name_enums_can_be_resolved():
    def take(kind: string_enums.GraphMemoryType, scope: public.WorkqueueSharingScopeType): ...

    assert get_type_hints(take) == {"kind": public.GraphMemoryType, "scope": string_enums.WorkqueueSharingScopeType}
