# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""OpenGL buffers and images in the classic style: ``import cuda.core.driver.gl as cuda_gl``."""

from cuda.core.driver.gl._registered import *
