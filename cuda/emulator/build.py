# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Build the software device: a shared library of C++ sources, without CUDA and Python headers.

``python build.py [OUTPUT [FOLDER]]`` builds it by hand: the library, and the folder for object files.
"""

import os
import shlex
import shutil
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = [
    *("-std=c++17", "-O2", "-g1", "-fPIC", "-fvisibility=hidden", "-pthread"),
    *("-Wall", "-Wextra", "-Werror=return-type", "-fno-strict-aliasing"),
]
LINK_FLAGS = [
    *("-shared", "-pthread", "-Wl,-soname,libcuda.so.1", "-Wl,-Bsymbolic", "-Wl,--no-undefined"),
    *("-Wl,-z,noexecstack", "-static-libgcc"),
]


def _load_generator():
    """Import ``_generate.py`` by its path, because setup.py runs before any package can be imported."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("_emulator_generate", HERE / "_generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_compiler():
    """Return the command of the C++ compiler, through ccache if it is installed."""
    command = shlex.split(os.environ.get("CXX", "")) or [shutil.which("g++") or shutil.which("clang++") or "c++"]
    cache = shutil.which("ccache")
    return [cache, *command] if cache and "ccache" not in command[0] else command


def _sources(folder, generated):
    """Return pairs of a source and its object file."""
    found = sorted(path for kind in ("*.cpp", "*.S") for path in (HERE / "src").rglob(kind))
    pairs = []
    for path in [*found, *generated]:
        known = path.is_relative_to(HERE)
        stem = "-".join(path.relative_to(HERE / "src").parts) if known else f"generated-{path.name}"
        pairs.append((path, folder / f"{stem}.o"))
    return pairs


def _is_current(target, stamp):
    """Return whether an object file is newer than all its dependencies and was compiled with the same command."""
    rules = target.with_suffix(".d")
    if not target.exists() or not rules.exists():
        return False
    made_by, _, text = rules.read_text().partition("\n")
    if made_by != f"# {stamp}":
        return False
    names = shlex.split(text.replace("\\\n", " ").partition(":")[2])
    time = target.stat().st_mtime
    return all(os.path.exists(name) and os.path.getmtime(name) <= time for name in names)


def _compile(command, source, target, stamp):
    """Compile a source if it or a dependency changed; return whether it was compiled."""
    if _is_current(target, stamp):
        return False
    rules = target.with_suffix(".d")
    result = subprocess.run(
        [*command, "-MMD", "-MF", rules, "-c", source, "-o", target], capture_output=True, text=True
    )
    sys.stderr.write(result.stderr)
    if result.returncode:
        target.unlink(missing_ok=True)
        raise RuntimeError(f"{source} cannot be compiled")
    rules.write_text(f"# {stamp}\n{rules.read_text()}")
    return True


def build(output_path, build_dir, jobs=None):
    """Compile the sources that changed and link ``output_path``; return its path."""
    output, folder = Path(output_path).resolve(), Path(build_dir).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    generated = _load_generator().generate(folder / "generated")
    compiler = find_compiler()
    command = [*compiler, *FLAGS, f"-I{folder / 'generated'}", f"-I{HERE / 'src'}"]
    stamp = f"{zlib.crc32(shlex.join(map(str, command)).encode()):08x}"
    pairs = _sources(folder, generated)
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        changed = list(pool.map(lambda pair: _compile(command, *pair, stamp), pairs))
    objects = [target for _, target in pairs]
    if any(changed) or not output.exists() or _is_older(output, objects):
        output.parent.mkdir(parents=True, exist_ok=True)
        partial = output.with_name(f"{output.name}.{os.getpid()}")
        # A process may have loaded the old library, so the new one is a new file that replaces it.
        subprocess.run([*compiler, *LINK_FLAGS, *objects, "-ldl", "-o", partial], check=True)
        partial.replace(output)
    return output


def _is_older(output, objects):
    time = output.stat().st_mtime
    return any(path.stat().st_mtime > time for path in objects)


if __name__ == "__main__":
    default = HERE / "_emulator.so"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE.parent.parent / "build" / "emulator"
    print(build(target, folder))
