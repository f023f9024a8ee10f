# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays, under the name that other packages import."""

from cuda.core.texture._texture import OpaqueArray, OpaqueArrayOptions

__all__ = ["OpaqueArray", "OpaqueArrayOptions"]
