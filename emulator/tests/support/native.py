# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Builds the executor of the software device with hand-written kernels, without the rest.

It is built for this machine, and for AArch64, where it runs under QEMU.
"""

import fcntl
import functools
import importlib.util
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "emulator" / "native"
DEVICE = ROOT / "cuda" / "emulator"
FOLDER = ROOT / "build" / "emulator_tests"
KERNEL_FLAGS = [
    *("-std=c++17", "-O1", "-g1", "-gdwarf-4", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off"),
    *("-fno-gnu-unique", "-fno-exceptions", "-fno-rtti", "-fstack-clash-protection"),
]
AARCH64 = {"compiler": "aarch64-linux-gnu-g++", "run": ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]}
SMALL_GUARDS = ["--param", "stack-clash-protection-guard-size=12"]
LINK_FLAGS = ["-shared", "-nostdlib", "-Wl,-Bsymbolic"]
CHECK_FLAGS = [
    *("-fsanitize=kernel-address", "--param", "asan-instrumentation-with-call-threshold=0"),
    *("--param", "asan-stack=0", "--param", "asan-globals=0"),
]


def _load(path):
    spec = importlib.util.spec_from_file_location(f"_native_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    folder = FOLDER / "aarch64" if aarch64 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:  # test processes run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build_executor(folder, aarch64)


def _build_executor(folder, aarch64):
    build = _load(DEVICE / "src" / "build.py")
    units = build.write_units(folder)
    compiler = [AARCH64["compiler"]] if aarch64 else build.find_compiler()
    headers = [f"-I{folder / 'generated'}", f"-I{DEVICE / 'src'}", f"-I{DEVICE / 'device_include'}"]
    command = [*compiler, "-O2", *build.FLAGS, *headers]
    sources = [
        *(units["exec"], units["exec/checks"], units["fiber_x86_64"], units["fiber_aarch64"]),
        DEVICE / "src" / "config.cpp",
        *(SOURCES / "harness.cpp", SOURCES / "driver.cpp"),
    ]
    objects = [folder / f"{source.name}.o" for source in sources]
    changed = [_compile_if_changed(build, command, *pair) for pair in zip(sources, objects, strict=True)]
    driver = folder / "driver"
    if any(changed) or not driver.exists():
        subprocess.run([*compiler, "-rdynamic", "-pthread", *objects, "-ldl", "-o", driver], check=True)
    flags = KERNEL_FLAGS + (
        ["-fsanitize=integer-divide-by-zero", "-mno-outline-atomics", *SMALL_GUARDS] if aarch64 else []
    )
    modules = {}
    for name, more in (("plain", []), ("checked", CHECK_FLAGS)):
        code, modules[name] = folder / f"{name}.o", folder / f"{name}.so"
        command = [*compiler, *flags, *more, *headers]
        if _compile_if_changed(build, command, SOURCES / "kernels.cpp", code) or not modules[name].exists():
            subprocess.run([*compiler, *LINK_FLAGS, code, "-o", modules[name]], check=True)
    return driver, modules


def _compile_if_changed(build, command, source, target):
    if build.is_current(target):
        return False
    build.compile_source(command, source, target)
    return True
