# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Build the software device: a shared library from C++ sources that include no CUDA or Python headers.

Each source directory is compiled as one unit, because compiling takes most of its time on the headers that a
directory's sources share. A unit is recompiled if one of its files or the command changes.

``python build.py [OUTPUT [FOLDER]]`` builds by hand: ``OUTPUT`` is the library, ``FOLDER`` the directory for object
files. The library has no debug information; ``CXX="g++ -g"`` adds it.
"""

import os
import runpy
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
FLAGS = [
    *("-std=c++17", "-fPIC", "-fvisibility=hidden", "-pthread", "-fno-strict-aliasing"),
    *("-Wall", "-Wextra", "-Werror=return-type"),
]
LINK_FLAGS = ["-shared", "-pthread", "-Wl,-soname,libcuda.so.1,-Bsymbolic,--no-undefined,-z,noexecstack"]


GENERATOR = runpy.run_path(str(SOURCES / "generate.py"))
write_if_changed = GENERATOR["write_if_changed"]


def find_compiler():
    """Return the command of the C++ compiler, through ccache if it is installed."""
    command = shlex.split(os.environ.get("CXX", "")) or [shutil.which("g++") or shutil.which("clang++") or "c++"]
    cache = shutil.which("ccache")
    return [cache, *command] if cache and "ccache" not in command[0] else command


def write_units(folder):
    """Write the units into ``folder`` and return their paths by name, the largest first."""
    groups = {"generated": GENERATOR["generate"](folder / "generated")}
    for path in sorted(SOURCES.rglob("*.cpp")):
        groups.setdefault(path.parent.relative_to(SOURCES).as_posix(), []).append(path)
    groups["common"] = groups.pop(".")
    units = {}
    for name in sorted(groups, key=lambda name: -sum(path.stat().st_size for path in groups[name])):
        units[name] = folder / f"{name.replace('/', '-')}.cpp"
        write_if_changed(units[name], "".join(f'#include "{path}"\n' for path in groups[name]))
    units.update((path.stem, path) for path in SOURCES.rglob("*.S"))
    return units


def is_current(target, *others):
    """Return True if a file is newer than the files its compiler read, and than ``others``."""
    rules = target.with_suffix(".d")
    if not (target.exists() and rules.exists()):
        return False
    names = shlex.split(rules.read_text().replace("\\\n", " ").partition(":")[2])
    time = target.stat().st_mtime
    return all(path.exists() and path.stat().st_mtime <= time for path in (*map(Path, names), *others))


def compile_source(command, source, target):
    """Compile a source, and list the files it includes next to ``target``."""
    partial = target.with_suffix(".partial")
    subprocess.run([*command, "-MMD", "-MF", target.with_suffix(".d"), "-c", source, "-o", partial], check=True)
    partial.replace(target)


def build(output_path, build_dir, jobs=None):
    """Compile the changed units, link ``output_path`` and return its path."""
    output, folder = Path(output_path).resolve(), Path(build_dir).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    units = write_units(folder)
    compiler = find_compiler()
    command = [*compiler, *FLAGS, f"-I{folder / 'generated'}", f"-I{SOURCES}"]
    link = [*compiler, *LINK_FLAGS]
    record = folder / "commands"
    write_if_changed(record, shlex.join([*command, *link]))
    objects = {name: folder / f"{unit.stem}.o" for name, unit in units.items()}
    stale = [name for name in units if not is_current(objects[name], record)]

    def compile_unit(number, name):
        print(f"software device: unit {number} of {len(stale)}: {name}", file=sys.stderr, flush=True)
        # Kernels spend their time in exec; the other units are as fast with -O1, which compiles faster.
        level = "-O2" if name.startswith("exec") else "-O1"
        compile_source([*command, level], units[name], objects[name])

    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        list(pool.map(compile_unit, range(1, len(stale) + 1), stale))
    if not output.exists() or any(path.stat().st_mtime > output.stat().st_mtime for path in objects.values()):
        output.parent.mkdir(parents=True, exist_ok=True)
        # A process may have the old library loaded, so the new one is a new file that replaces it.
        partial = output.with_name(f"{output.name}.{os.getpid()}")
        subprocess.run([*link, *sorted(objects.values()), "-ldl", "-o", partial], check=True)
        partial.replace(output)
    return output


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else SOURCES.parent / "_emulator.so"
    folder = sys.argv[2] if len(sys.argv) > 2 else SOURCES.parents[2] / "build" / "emulator"
    print(build(target, folder))
