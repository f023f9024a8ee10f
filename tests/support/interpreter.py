# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Code that runs in a new interpreter."""

from __future__ import annotations

import os
import subprocess
import sys


def run(code: str, *, timeout: float = 60, **variables: str) -> str:
    """Return what code prints in a new interpreter, which must exit with status 0."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout
