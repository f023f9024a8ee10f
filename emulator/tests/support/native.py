# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Builds the executor of the software device with hand-written kernels, without the rest.

It is built for this machine, and for AArch64, where it runs under QEMU.
"""

import fcntl
import functools
import os
import subprocess
import sys
from pathlib import Path

DEVICE = Path(__file__).resolve().parents[2]
SOURCES = DEVICE / "tests" / "native"
FOLDER = DEVICE / "build" / "tests"
AARCH64 = {"compiler": "aarch64-linux-gnu-g++", "run": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]}


def run_case(checks, *words):
    """Run a case of ``driver.cpp`` with "plain" or "checked" kernels; return the printed values by name.

    "aarch64 plain" and "aarch64 checked" run it for AArch64.
    """
    command = [*driver_command(checks), *map(str, words)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    for name in {"out", "more"} & values.keys():
        values[name] = [int(word) for word in values[name].split(",")]
    values["printed"] = [line for line in lines if "=" not in line]
    return values


def line_of(mark):
    """Return the number of the line of ``kernels.cpp`` with the comment ``// at MARK``."""
    for number, line in enumerate((SOURCES / "kernels.cpp").read_text().splitlines(), 1):
        if line.endswith(f"// at {mark}"):
            return number
    raise LookupError(mark)


def driver_command(checks):
    """Return the command that runs ``driver.cpp``, without a case."""
    *machine, kernels = checks.split()
    driver, modules = build_executor(bool(machine))
    return [*(AARCH64["run"] if machine else []), driver, modules[kernels]]


@functools.cache
def build_executor(aarch64):
    """Compile the files that changed; return the path of the driver, and of the modules by name."""
    folder = FOLDER / ("executor-aarch64" if aarch64 else "executor")
    build(SOURCES, folder, aarch64)
    return folder / "driver", {name: folder / f"{name}.so" for name in ("plain", "checked")}


def build(sources, folder, aarch64, *options):
    """Build a folder that has a CMakeLists.txt."""
    folder.mkdir(parents=True, exist_ok=True)
    toolchain = [f"-DCMAKE_TOOLCHAIN_FILE={DEVICE / 'aarch64.cmake'}"] if aarch64 else []
    environment = {name: value for name, value in os.environ.items() if not (aarch64 and name == "CXX")}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", "")])
    with open(folder / "lock", "w") as lock:  # test processes run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (["-S", sources, "-B", folder, "-G", "Ninja", *toolchain, *options], ["--build", folder]):
            done = subprocess.run(["cmake", *command], env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
