# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Create a default context for OpenGL on import, current on this thread until the program exits."""

import atexit

from cuda.core.driver._context import check_importer, init, leave_at_exit, make_default_context
from cuda.core.driver.gl._registered import make_context

__all__ = ["context", "device"]

init()
check_importer(__name__)
context = make_default_context(make_context)
device = context.get_device()
atexit.register(leave_at_exit, context)


def __dir__():
    return list(__all__)
