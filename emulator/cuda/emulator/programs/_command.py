# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The command line of a program in CUDA C++."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from cuda.emulator.programs._host import ProgramError, check_library

SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
_ALLOWED = "-I DIRECTORY, -D NAME[=VALUE], -O LEVEL, -std=STANDARD, -l LIBRARY, -L DIRECTORY and -fopenmp"


class Command(NamedTuple):
    """What to compile, and the arguments of the program."""

    files: list[str]
    arguments: list[str]
    standard: str
    macros: list[str]  # options of the preprocessor
    compiling: list[str]  # and of the compiler
    linking: list[str]  # and of the linker


def parse_command(words: list[str]) -> Command:
    """Return the command ``program.cu [more.cu] [options] [-- arguments]``; raise ProgramError if it is wrong."""
    words = list(words)
    last = words.index("--") if "--" in words else len(words)
    words, arguments = words[:last], words[last + 1 :]
    files, standard, level = [], "c++17", "1"
    macros, compiling, linking = [], [], []
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            files.append(_checked(word))
        elif word == "-fopenmp":
            for options in (macros, compiling, linking):
                options.append(word)
        elif word.startswith(("-std", "--std")):
            standard = _value(word, word.partition("=")[2], words)
            if not re.fullmatch(r"(c|gnu)\+\+(11|14|17|20|23)", standard):
                raise ProgramError(f"-std={standard}: the standards are c++11, c++14, c++17, c++20 and c++23")
        elif word[:2] in ("-I", "-D", "-O", "-l", "-L"):
            value = _value(word[:2], word[2:], words)
            if word[:2] == "-O":
                level = value
            elif word[:2] in ("-I", "-D"):
                macros.append(word[:2] + value)
            elif word[:2] == "-L" or check_library(value):
                linking.append(word[:2] + value)
        else:
            raise ProgramError(f"unknown option {word}; programs in CUDA C++ take {_ALLOWED}, after --check and others")
    if level not in ("0", "1", "2", "3", "s", "fast"):
        raise ProgramError(f"-O{level}: the levels are 0, 1, 2, 3, s and fast")
    if os.environ.get("CUDA_EMULATOR_DEBUG"):  # gdb runs the program
        level, compiling = "0", ["-g", *compiling]
    return Command(files, arguments, standard, macros, [f"-O{level}", *compiling], linking)


def _value(name: str, value: str, words: list[str]) -> str:
    if not value and not words:
        raise ProgramError(f"{name} needs a value")
    return value or words.pop(0)


def _checked(path: str) -> str:
    if not path.endswith(SOURCES):
        raise ProgramError(f"{path}: a program has files ending in {', '.join(SOURCES)}; its arguments stand after --")
    if not os.path.isfile(path):
        raise ProgramError(f"{path}: no such file")
    return path
