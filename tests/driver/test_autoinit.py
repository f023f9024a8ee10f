# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Importing autoinit gives a program a context until it ends."""

import textwrap

import pytest

from support.interpreter import run

pytestmark = pytest.mark.requires(device=True)


@pytest.mark.parametrize("ending", ["", "context.pop()", "context.detach()", "context.pop(); context.detach()"])
def test_program_gets_a_context_and_may_end_it_in_any_way(ending):
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


@pytest.mark.parametrize("module", ["autoinit", "autoprimaryctx"])
def test_import_that_hides_a_program_name_warns(module):
    program = f"""
        import warnings
        import cuda.core.driver as cuda
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import cuda.core.driver.{module}
        print([(item.category.__name__, item.lineno, str(item.message)) for item in caught])
        """
    caught = run(textwrap.dedent(program))
    assert "('UserWarning', 6," in caught and f"write 'from cuda.core.driver import {module}'" in caught


@pytest.mark.parametrize(
    "lines",
    [
        "import cuda.core.driver as cuda; from cuda.core.driver import autoinit",
        "import cuda.core.driver as cuda; import cuda.core.driver.autoinit as autoinit",
        "import cuda.core.driver as cuda; from cuda.core.driver.autoinit import context",
        "import cuda.core.driver.autoinit; import cuda.core.driver as cuda",
        "import cuda.core.driver as drv; import cuda.core.driver.autoinit; cuda = drv",
    ],
)
def test_other_imports_do_not_warn(lines):
    program = f"""
        import warnings
        warnings.simplefilter("error")
        {lines}
        print(cuda.Context.get_device() == cuda.Device(0))
        """
    assert run(textwrap.dedent(program)) == "True\n"
