# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Importing autoinit gives a program a context until it ends."""

import textwrap

import pytest

from support.interpreter import run

pytestmark = pytest.mark.requires(device=True)


@pytest.mark.parametrize("ending", ["", "context.pop()", "context.detach()", "context.pop(); context.detach()"])
def test_a_program_gets_a_context_and_may_leave_it_as_it_likes(ending):
    program = f"""
        import cuda.core.driver as drv
        import cuda.core.driver.autoinit
        from cuda.core.driver.autoinit import context, device
        assert drv.Context.get_current() is context and context.get_device() == device
        memory = drv.mem_alloc(16)
        context.synchronize()
        {ending}
        print("done")
        """
    assert run(textwrap.dedent(program)) == "done\n"
