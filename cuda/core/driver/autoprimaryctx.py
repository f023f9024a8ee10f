# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Make the default device's primary context current on import, on this thread until the program exits."""

import atexit

from cuda.core.driver._context import Device, check_importer, init, leave_at_exit, make_default_context

__all__ = ["context", "device"]


def _make_current(dev: Device):
    context = dev.retain_primary_context()
    context.push()
    return context


init()
check_importer(__name__)
context = make_default_context(_make_current)
device = context.get_device()
atexit.register(leave_at_exit, context)


def __dir__():
    return list(__all__)
