# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pythonic access to the CUDA driver, compiler and linker."""

from cuda.core._version import __version__
