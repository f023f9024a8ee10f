# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Importing autoprimaryctx gives a program the primary context until it ends."""

import pytest

from support.interpreter import run


@pytest.mark.requires(device=True)
@pytest.mark.parametrize("ending", ["pass", "context.pop()", "context.detach()"])
def test_program_gets_the_primary_context(ending):
    code = (
        "import cuda.core.driver as drv\n"
        "from cuda.core.driver.autoprimaryctx import context, device\n"
        "assert drv.Context.get_current() is context and context.get_device() == device\n"
        "from cuda.core import Device\n"
        "Device(0).set_current()\n"
        "assert int(Device(0).context.handle) == context.handle\n"
        "memory = drv.mem_alloc(4)\n"
        f"{ending}\n"
        "print('end')\n"
    )
    assert run(code) == "end\n"
