# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""One file of a program: its host object, and the source and names of its device part."""

from __future__ import annotations

import ctypes
import os
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from cuda.emulator.programs import _host
from cuda.emulator.programs._command import Command
from cuda.emulator.programs._device import Code, compile_source
from cuda.emulator.programs._split import GLOBAL_ON_DEVICE, STD_ON_DEVICE, Splitter
from cuda.emulator.programs._tokens import tokens_of

# What host headers declare in every program, and kernels use.
_PRELUDE = """#line 1 "host_headers.h"
#include <cuda/std/cstdint>
typedef unsigned char u_char; typedef unsigned short ushort, u_short; typedef unsigned int uint, u_int;
typedef unsigned long ulong, u_long; typedef long ssize_t, time_t;
"""
_STD = (
    "#include <cuda/std/limits>\n#include <cuda/std/type_traits>\n#include <cuda/std/utility>\n"
    f"namespace std {{ {''.join(f'using cuda::std::{name}; ' for name in sorted(STD_ON_DEVICE))}"
    f"{''.join(f'using ::{name}; ' for name in sorted(GLOBAL_ON_DEVICE))}}}\n"
)


class Unit:
    """One file. Its object is compiled when it is made; ``number`` tells its symbols from those of other files."""

    def __init__(self, path: str, number: int, command: Command, arch: int, directory: str):
        self.path, self.object = path, os.path.join(directory, f"{number}.o")
        self.options = [f"--gpu-architecture=sm_{arch // 10}", f"--std={command.standard.replace('gnu', 'c')}"]
        self.names: dict[str, str] = {}  # of kernels and variables of the device, for symbols of the host
        self.managed: set[str] = set()  # symbols
        if path.endswith(".c") and _host.compile_c(path, self.object, [*command.macros, *command.compiling]):
            self.symbols = [name for name, _ in _host.symbols_of(self.object)]
            return
        mark = f"cuda_kernel_{number}"
        with ThreadPoolExecutor() as threads:
            parts = threads.map(lambda a: _host.preprocess(path, command.standard, command.macros, a), (0, arch))
            host, device = (Splitter(tokens_of(text, path), mark) for text in parts)
        source = os.path.join(directory, f"{number}.ii")
        with open(source, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("".join(host.host))
        _host.compile_object(source, self.object, command.standard, command.compiling)
        includes = "".join(f"#include <{header}>\n" for header in device.headers)
        text = "".join(device.device)
        self.source = _PRELUDE + includes + (_STD if re.search(r"\bstd\b", text) else "") + text
        self._find_names(mark, device)

    def _find_names(self, mark: str, device: Splitter) -> None:
        """Find the symbols of the host part that stand for kernels and variables of the device."""
        self.symbols = [name for name, _ in _host.symbols_of(self.object)]
        signatures: dict[str, str] = {}
        for symbol, (name, _) in zip(self.symbols, _host.symbols_of(self.object, "-C"), strict=True):
            name = name.replace("(anonymous namespace)::", "")
            variable = name.partition("<")[0]  # of an instance of a template
            if name.endswith(f"::{mark}"):
                signatures[symbol] = name.removesuffix(f"::{mark}")
            elif variable in device.variables or variable in device.managed:
                self.names[symbol] = f"&{name}"
                self.managed |= {symbol} if variable in device.managed else set()
        count = Counter(map(name_of_function, signatures.values()))
        for symbol, signature in signatures.items():
            name = name_of_function(signature)  # the type chooses one of several functions of the same name
            self.names[symbol] = f"(void (*){signature[len(name) :]}){name}" if count[name] > 1 else name

    def compile(self) -> tuple[bytes, list[bytes]]:
        """Return the code of the device part, and its symbols of the names."""
        names = list(self.names.values())
        return compile_source(self.source, self.path, self.options, names) if names else (b"", [])

    def load(self, compiled: tuple[bytes, list[bytes]], places: dict[str, int]) -> None:
        """Load the device part, and let symbols of the host part, at these addresses, stand for its names."""
        if not self.names:
            return
        code = Code(compiled[0])
        for (symbol, name), lowered in zip(self.names.items(), compiled[1], strict=True):
            address = places.get(symbol)
            if address is None:  # the linker kept that of another file
                continue
            if symbol in self.managed:
                code.name_managed(address, lowered)
            elif name.startswith("&"):
                code.name_variable(address, lowered)
            else:
                function = places.get(function_of(symbol), address)
                ctypes.c_void_p.from_address(address).value = function
                code.name_kernel(function, lowered)


def function_of(symbol: str) -> str:
    """Return the symbol of a function, for that of a variable in it: ``_Z1fi`` for ``_ZZ1fiE13cuda_kernel_0``."""
    name = re.match(r"_ZZ(.*)E\d+cuda_kernel_\d+$", symbol)[1]
    c_name = re.fullmatch(r"(\d+)(\w+)", name)
    return c_name[2] if c_name and len(c_name[2]) == int(c_name[1]) else f"_Z{name}"


def name_of_function(signature: str) -> str:
    """Return ``f<int>`` for ``f<int>(float*, int)``, or a C function's plain name."""
    depth = 0
    for i in range(len(signature) - 1, -1, -1):
        depth += (signature[i] == ")") - (signature[i] == "(")
        if depth == 0:
            return signature[:i] if signature[i] == "(" else signature
    return signature
