# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Whole programs in CUDA C++, with host functions, ``main()`` and ``kernel<<<grid, block>>>(...)``.

Each file is split into a device part, which the software device compiles, and a host part, which g++ compiles with the
headers in ``include``. The host part calls the CUDA runtime that the software device exports, and ``main()`` runs in
this process.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import cuda.emulator
from cuda.emulator.programs import _device, _host
from cuda.emulator.programs._command import Command, parse_command
from cuda.emulator.programs._host import ProgramError
from cuda.emulator.programs._unit import Unit

__all__ = ["run"]


def run(words: list[str]) -> int:
    """Compile and run ``program.cu [more.cu] [options] [-- arguments]``, and return the status of the program.

    Parameters
    ----------
    words : list of str
        The command, without the options of ``python -m cuda.emulator`` before it.

    Returns
    -------
    int
        What ``main()`` returned, or 1 if the program cannot be compiled or the command is wrong, which stderr explains.
    """
    try:
        command = parse_command(words)
        if kept := os.environ.get("CUDA_EMULATOR_DEBUG"):  # gdb reads the program there
            main = _build(command, kept)
        else:
            with tempfile.TemporaryDirectory(prefix="cuda-emulator-") as directory:
                main = _build(command, directory)
    except ProgramError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    name = os.path.splitext(command.files[0])[0]  # as of an executable that was made of the file
    arguments = [os.fsencode(word) for word in (name, *command.arguments)]
    sys.stdout.flush()
    for number in (signal.SIGINT, signal.SIGPIPE):  # Ctrl-C and a closed pipe end the program
        signal.signal(number, signal.SIG_DFL)
    environment = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "environ")
    return main(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments), environment)


def _build(command: Command, directory: str) -> ctypes._CFuncPtr:
    """Compile, link and load a program, and return its ``main()``."""
    arch = _device.compute_capability()
    linked = os.path.join(directory, "program.so")
    with ThreadPoolExecutor() as threads:
        made = [threads.submit(Unit, path, i, command, arch, directory) for i, path in enumerate(command.files)]
        units = [unit.result() for unit in made]
        codes = threads.map(Unit.compile, units)  # while the host part is linked
        libraries = [cuda.emulator.library_path(), *command.linking]
        objects = [unit.object for unit in units]
        # As in an executable, the program's own functions come before those of the same name in other libraries.
        rules = ["-shared", "-Wl,--no-undefined,-Bsymbolic"]
        _host.run([_host.compiler(), *rules, "-o", linked, *objects, *libraries])
        codes = list(codes)
    symbols = _host.symbols_of(linked)
    offsets = dict(symbols)
    if "main" not in offsets:
        raise ProgramError("the program has no main()")
    try:
        library = ctypes.CDLL(linked, mode=os.RTLD_NOW)
    except OSError as error:
        raise ProgramError(str(error)) from None
    base = ctypes.cast(library.main, ctypes.c_void_p).value - offsets["main"]
    for unit, code, places in zip(units, codes, _places(units, symbols, base), strict=True):
        unit.load(code, places)
    return library.main


def _places(units: list[Unit], symbols: list[tuple[str, int]], base: int) -> list[dict[str, int]]:
    """Return the addresses of the symbols of each unit: files can have symbols of the same name, in order."""
    addresses = defaultdict(list)
    for name, address in symbols:
        addresses[name].append(base + address)
    places = []
    for unit in units:
        mine = {}
        for name in unit.symbols:
            if found := addresses[name]:
                mine[name] = found.pop(0) if len(found) > 1 else found[0]
        places.append(mine)
    return places
