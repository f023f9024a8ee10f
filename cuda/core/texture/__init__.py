# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Textures and surfaces, and the arrays they read and write."""

from cuda.core.texture import _array, _mipmapped_array, _surface  # attributes of the package that other packages use
from cuda.core.texture._texture import *

__all__ = [name for name in dir() if not name.startswith("_")]
