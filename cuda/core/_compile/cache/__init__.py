# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Caches of compiled programs."""

from cuda.core._compile.cache._abc import *
from cuda.core._compile.cache._files import *
from cuda.core._compile.cache._in_memory import *
from cuda.core._compile.cache._key import *
