# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The digests are SHA-256, whichever implementation computes them."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest

TEXT = bytes(range(256)) * 50
PRINT = (
    "from cuda.core._utils.files.hashing import sha256; import sys; print(sha256(bytes(range(256)) * 50).hexdigest());"
)


@pytest.mark.parametrize(
    "first", ["", "import hashlib; ", "import sys; sys.modules.update(_sha2=None, _sha256=None); "]
)
def test_every_implementation_gives_the_same_digest(first):
    done = subprocess.run([sys.executable, "-c", first + PRINT], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == [hashlib.sha256(TEXT).hexdigest()], done.stderr


def test_hashing_does_not_load_openssl():
    done = subprocess.run(
        [sys.executable, "-c", f"{PRINT} print('_hashlib' in sys.modules)"], capture_output=True, text=True
    )
    assert done.stdout.split()[-1] == "False", done.stderr
