# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The version of a build, for both packages: the number alone stands for the tagged commit and nothing else."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

__all__ = ["build_version", "dynamic_metadata"]


def dynamic_metadata(settings, project) -> dict[str, str]:
    """Return the metadata that ``pyproject.toml`` declares as dynamic, for scikit-build-core."""
    return {"version": build_version(settings["release"])}


def build_version(release: str) -> str:
    """Return the version of the sources in the current directory.

    A source distribution states its version. A checkout has that of the release if its commit has the tag and is
    unchanged, and otherwise the commit as the local segment, as in ``1.3.0+g12ab34cd`` or ``1.3.0+g12ab34cd.dirty``.
    Sources without either have ``1.3.0+unknown``.
    """
    stated = Path("PKG-INFO")
    if stated.exists():
        return re.search(r"^Version: (.+)$", stated.read_text(), re.MULTILINE)[1]
    try:
        git("ls-files", "--error-unmatch", "pyproject.toml")  # the checkout around a copy is not its own
        commit = git("describe", "--always", "--abbrev=8", "--dirty=.dirty", "--exclude=*")
        tags = git("tag", "--points-at", "HEAD").split()
    except (OSError, subprocess.CalledProcessError):
        return f"{release}+unknown"
    is_release = f"v{release}" in tags and not commit.endswith(".dirty")
    return release if is_release else f"{release}+g{commit}"


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()
