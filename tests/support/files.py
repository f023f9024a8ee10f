# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Files, and the clock of their file system."""

from pathlib import Path


def let_clock_tick(folder: Path) -> None:
    """Return when a file of this folder that changes now has another time than those that changed before."""
    # Not in the folder itself, whose own time is watched, too.
    probe = folder.parent / f"{folder.name}.probe"
    probe.write_text("")
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        probe.write_text("")
    probe.unlink()
