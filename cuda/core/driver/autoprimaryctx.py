# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Importing this module makes the primary context of the default device current on this thread until exit."""

import atexit

from cuda.core.driver._contexts._context import Device
from cuda.core.driver._contexts._default_context import check_importer, finish, make_default_context
from cuda.core.driver._library import init

__all__ = ["context", "device"]


def _make_current(dev: Device):
    context = dev.retain_primary_context()
    context.push()
    return context


init()
check_importer(__name__)
context = make_default_context(_make_current)
device = context.get_device()
atexit.register(finish, context)


def __dir__():
    return list(__all__)
