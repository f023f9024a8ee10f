# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Mipmapped arrays, under the name that other packages import."""

from cuda.core.texture._texture import MipmappedArray, MipmappedArrayOptions

__all__ = ["MipmappedArray", "MipmappedArrayOptions"]
