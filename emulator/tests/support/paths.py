# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The directories of the software device and of its tests."""

from pathlib import Path

import cuda.emulator

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
HEADERS = Path(cuda.emulator.__file__).parent / "device_include"
KERNELS = ROOT / "tests" / "kernels"
PAGES = ROOT.parent / "docs"
