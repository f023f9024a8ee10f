# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Importing autoinit for OpenGL gives a program a context until it ends."""

import pytest

from support.interpreter import run


@pytest.mark.requires(device=True)
def test_program_gets_a_context():
    program = (
        "import cuda.core.driver as drv\n"
        "from cuda.core.driver.gl import autoinit\n"
        "print(drv.Context.get_current() is autoinit.context, autoinit.device == drv.Device(0))\n"
    )
    assert run(program) == "True True\n"
