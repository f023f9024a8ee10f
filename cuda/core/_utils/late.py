# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Modules of this package that others import on first use, because they load slowly and are rarely needed."""

from __future__ import annotations

import sys

__all__ = ["LateModule"]


class LateModule:
    """A module that is imported when one of its attributes is first read.

    Parameters
    ----------
    name : str
        Its full name.
    """

    def __init__(self, name: str):
        self.__name__ = name

    def __getattr__(self, attribute: str):
        __import__(self.__name__)  # unlike importlib.import_module(), seen by `python -X importtime`
        return getattr(sys.modules[self.__name__], attribute)
