# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Files, and the clock of their file system."""

from pathlib import Path


def let_clock_tick(folder: Path) -> None:
    """Wait until a file that changes now gets another time stamp than those that changed before."""
    # Not in the folder itself, because its own time stamp counts as well.
    probe = folder.parent / f"{folder.name}.probe"
    probe.write_text("")
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        probe.write_text("")
    probe.unlink()
