# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Control over when garbage is collected."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Collect garbage now, and not inside the block, where releases of other tests' objects would be counted."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
