# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compile and run a whole CUDA C++ program, with host functions, ``main()`` and ``kernel<<<grid, block>>>(...)``.

The files are split into a device part, which ``cuda.core.Program`` compiles, and a host part, which g++ compiles
against the small runtime API in ``programs/runtime/cuda_runtime.h``. The process then calls ``main()``.

    python programs.py FILE.cu ... [-I DIRECTORY] [-D NAME[=VALUE]] [-- ARGUMENTS]

Runs on the GPU or, with CUDA_CORE_DEVICE=software, on the software device. An error that names the line rejects
``__managed__`` variables, texture references, device lambdas, kernels and device variables in unnamed namespaces,
unnamed kernel parameters, and parameter packs. The compilers report their own errors for runtime API functions missing
from the header (textures, graphs, cooperative launches), CUDA's other headers, variables and device functions from
other files, and overloaded kernels.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

RUNTIME = Path(__file__).resolve().parent / "programs" / "runtime"
HEADER = RUNTIME / "cuda_runtime.h"  # included by every program
TOKEN = re.compile(
    r"""(?P<line>^[ \t]*\#.*)"""
    r"""|(?P<space>\n|[ \t\f\v\r]+)"""
    r"""|(?P<string>(?:u8|[uUL])?(?:R"(?P<mark>[^()\s\\]*)\((?s:.*?)\)(?P=mark)"|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))"""
    r"""|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"""
    r"""|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<sign><<<|>>>|::|.)""",
    re.MULTILINE,
)
MARKER = re.compile(r'^# (\d+) "((?:\\.|[^"\\])*)"(.*)\n?', re.MULTILINE)
SPACES = ("home", "line", "space", "system")  # not part of the language
ATTRIBUTES = {"__launch_bounds__", "__attribute__", "__align__", "alignas", "decltype"}  # with parentheses
QUALIFIERS = {"__global__", "__device__", "__host__", "__constant__", "__noinline__"}
TYPES = {"class", "struct", "union", "enum", "typedef", "using", "static_assert", "friend"}
# NVRTC has no <stdint.h> and <sys/types.h>, nor the functions that INFINITY and NAN of <math.h> call.
PRELUDE = """
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_nanf(text) __int_as_float(0x7fffffff)
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long uint64_t; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
"""


class Unsupported(Exception):
    """A program uses a feature that this tool cannot run."""


class Token(NamedTuple):
    text: str
    kind: str
    place: str


def preprocess(path: Path, flags: list[str]) -> list[Token]:
    """Return the tokens of a file and of its own headers; each run of text from system headers is one token."""
    command = ["g++", "-E", "-x", "c++", "-std=c++17", "-isystem", str(RUNTIME), "-include", str(HEADER)]
    text = run([*command, "-D__CUDACC__", "-D__NVCC__", *flags, str(path)])
    tokens, position, system = [], 0, True
    line, name, home = 1, str(path), set()
    for marker in [*MARKER.finditer(text), None]:
        chunk = text[position : marker.start() if marker else len(text)]
        if system:
            tokens.append(Token(chunk, "system", name))
        else:
            for match in TOKEN.finditer(chunk):
                tokens.append(Token(match[0], match.lastgroup, f"{name}:{line}"))
                line += match[0].count("\n")
        if marker:
            line, name, position = int(marker[1]), marker[2], marker.end()
            # Macros from system headers are marked like these headers, but in the file that uses them.
            system = name.startswith(("<", str(RUNTIME))) or (" 3" in marker[3] and name not in home)
            home |= set() if system else {name}
            tokens.append(Token(marker[0], "system" if system else "home", name))
    return tokens


class Splitter:
    """Writes each declaration of a file to the host part, the device part, or both.

    Declarations omitted from a part become empty lines, so both parts keep the file's line numbers.
    """

    def __init__(self, tokens: list[Token]):
        self.tokens, self.position = tokens, 0
        self.host: list[str] = []
        self.device: list[str] = []
        self.namespaces: list[str] = []
        self.variables: list[str] = []  # on the device
        # Host library classes such as std::vector: the device part omits classes with such members.
        libraries = [token.text for token in tokens if token.kind == "system" and str(RUNTIME) not in token.place]
        classes = re.findall(r"\b(?:class|struct)\s+(\w+)", "".join(libraries))
        self.host_types = {"std", "FILE", "string", *classes}
        self.scope()
        if self.position < len(tokens):
            raise Unsupported(f"{tokens[self.position].place}: unbalanced braces")

    def emit(self, end: int, *, host: bool = True, device: bool = True, without: tuple[str, ...] = ()) -> None:
        """Write the tokens from the current position to ``end``."""
        tokens = self.tokens[self.position : end]
        self.position = end
        self.host += host_text(tokens, without) if host else map(blank, tokens)
        for token in tokens:
            if token.kind == "home":
                marker = MARKER.match(token.text)
                self.device.append(f'#line {max(int(marker[1]), 1)} "{marker[2]}"\n')
            elif token.kind == "line":
                self.device.append(token.text)
            elif token.kind != "system":
                self.device.append(token.text if device and token.text not in without else blank(token))

    def scope(self, *, is_class: bool = False) -> None:
        """Write declarations up to the brace that closes them."""
        while self.position < len(self.tokens) and (token := self.tokens[self.position]).text != "}":
            if token.kind in SPACES or token.text == ";":
                self.emit(self.position + 1)
            elif is_class and token.text in ("public", "private", "protected"):
                self.emit(self.find(":"))
            elif is_class and token.text == ":":
                self.emit(self.position + 1)
            else:
                self.declaration(is_class)

    def find(self, *texts: str) -> int:
        """Return the index of the next token with one of some texts, outside brackets."""
        i = self.position
        while i < len(self.tokens):
            if self.tokens[i].text in texts:
                return i
            i = closing(self.tokens, i) + 1
        raise Unsupported(f"{self.tokens[self.position].place}: this declaration has no end")

    def declaration(self, is_class: bool) -> None:
        first, end = self.tokens[self.position], self.find(";", "{", "}")
        head = [token for token in self.tokens[self.position : end] if token.kind not in SPACES]
        words, bare = {token.text for token in head}, without_attributes(head)
        has_body, is_function = self.tokens[end].text == "{", parameters_of(bare) > 0
        if has_body and not is_function:
            if "namespace" in words or (first.text == "extern" and len(head) == 2):
                self.namespace([token.text for token in head])
                return
            if words & {"class", "struct", "union"} and not words & {"enum", "="}:
                self.type_body(end, words)
                return
        if "__managed__" in words:
            raise Unsupported(f"{first.place}: __managed__ variables are not supported")
        if any(a.text == "texture" and b.text == "<" for a, b in itertools.pairwise(bare)):
            raise Unsupported(f"{first.place}: texture references are not supported, nor are they by CUDA 12")
        has_name = "__global__" in words or (not is_function and bool(words & {"__device__", "__constant__"}))
        if has_name and "namespace" in self.namespaces:
            raise Unsupported(f"{first.place}: kernels and device variables in unnamed namespaces are not supported")
        if "__global__" in words:
            self.kernel(end, bare)
        elif is_function:
            device = "__device__" in words
            stop = self.end_of_body(end) if has_body else end
            self.emit(stop + 1, host="__host__" in words or not device, device=device)
        else:
            self.variable_or_type(words, is_class)

    def end_of_body(self, start: int) -> int:
        """Return the end of a function whose first brace, at ``start``, can initialize a constructor's member."""
        stop = closing(self.tokens, start)
        while (i := next_word(self.tokens, stop)) < len(self.tokens) and self.tokens[i].text in (",", "{"):
            while self.tokens[i].text != "{":
                i = closing(self.tokens, i) + 1
            stop = closing(self.tokens, i)
        return stop

    def namespace(self, head: list[str]) -> None:
        if "namespace" in head:
            self.namespaces.append("".join(head[head.index("namespace") + 1 :]) or "namespace")
        self.emit(self.find("{") + 1)
        self.scope()
        self.emit(self.find("}") + 1)
        if "namespace" in head:
            self.namespaces.pop()

    def type_body(self, end: int, words: set[str]) -> None:
        """Write a class, also to the device part unless it uses a host library class."""
        self.host_types -= words
        start = len(self.device)
        self.emit(end + 1)
        self.scope(is_class=True)
        self.emit(self.find(";") + 1)
        if self.host_types & set(self.device[start:]):
            self.device[start:] = ["\n" * text.count("\n") for text in self.device[start:]]

    def variable_or_type(self, words: set[str], is_class: bool) -> None:
        end = self.find(";")
        tokens = [token for token in self.tokens[self.position : end] if token.kind not in SPACES]
        if words & {"__device__", "__constant__"}:
            self.variables += ["::".join([*self.namespaces, name]) for name in declared_names(tokens)]
            self.emit(end + 1, without=("static",))
        elif "__shared__" in words:
            self.emit(end + 1, host=False)
        else:
            device = is_class or bool(words & TYPES) or is_constant(tokens)
            self.emit(end + 1, device=device and not self.host_types & words)

    def kernel(self, end: int, head: list[Token]) -> None:
        """Write a kernel, and for the host a function with the same signature that launches it."""
        place = self.tokens[self.position].place
        names = parameter_names(head, parameters_of(head), place)
        self.emit(end, without=("static",))
        if self.tokens[end].text == ";":
            return
        arguments = "".join(f"(void*)&{name}, " for name in names)
        self.host.append(
            f"{{ static void* volatile cuda_kernel; void* arguments[] = {{{arguments}nullptr}}; "
            "::cuda_program::launch(cuda_kernel, arguments); }"
        )
        self.emit(closing(self.tokens, end) + 1, host=False)


def blank(token: Token) -> str:
    return token.text if token.kind in ("home", "line", "system") else "\n" * token.text.count("\n")


def next_word(tokens: list[Token], i: int, step: int = 1) -> int:
    """Return the index of the next token that is not a space, or with step -1 of the previous one."""
    i += step
    while 0 <= i < len(tokens) and tokens[i].kind in SPACES:
        i += step
    return i


def closing(tokens: list[Token], start: int) -> int:
    """Return the index of the bracket that closes the one at ``start``, or ``start`` if there is none."""
    depth = 0
    for i in range(start, len(tokens)):
        if tokens[i].kind == "sign":
            depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}")
        if depth <= 0:
            return i
    raise Unsupported(f"{tokens[start].place}: unbalanced {tokens[start].text}")


def closing_angle(tokens: list[Token], start: int, step: int = 1) -> int:
    """Return the index of the angle bracket that closes, or with step -1 opens, the one at ``start``."""
    depth, i = 0, start
    while 0 <= i < len(tokens):
        text = tokens[i].text
        depth += (text == "<") - (text == ">") - 3 * (text == ">>>")
        if depth == 0:
            return i
        i += step
    raise Unsupported(f"{tokens[start].place}: unbalanced {tokens[start].text}")


def without_attributes(head: list[Token]) -> list[Token]:
    """Return a declaration without template parameters and attributes."""
    found, i = [], 0
    while i < len(head):
        following = head[i + 1].text if i + 1 < len(head) else ""
        if head[i].text == "template" and following == "<":
            i = closing_angle(head, i + 1)
        elif head[i].text in ATTRIBUTES and following == "(":
            i = closing(head, i + 1)
        else:
            found.append(head[i])
        i += 1
    return found


def parameters_of(head: list[Token]) -> int:
    """Return the index of the bracket that opens a function's parameters, or 0 if it is not a function."""
    i = 0
    while i < len(head) and head[i].text != "=":
        if head[i].text == "operator":
            return next((k for k in range(i + 2, len(head)) if head[k].text == "("), 0)
        if head[i].text == "(" and i and head[i - 1].kind == "word" and [t.text for t in head[i + 1 : i + 2]] != ["*"]:
            return i
        i = closing(head, i) + 1
    return 0


def split_at_commas(tokens: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "[", "{", "<")) - (token.text in (")", "]", "}", ">"))
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def before_initializer(tokens: list[Token]) -> list[Token]:
    return tokens[: next((i for i, token in enumerate(tokens) if token.text in ("=", "[", "{")), len(tokens))]


def declared_names(tokens: list[Token]) -> list[str]:
    return [before_initializer(part)[-1].text for part in split_at_commas(without_attributes(tokens))]


def parameter_names(head: list[Token], start: int, place: str) -> list[str]:
    """Return the names of a kernel's parameters."""
    names = []
    for part in split_at_commas(head[start + 1 : closing(head, start)]):
        texts = [token.text for token in before_initializer(part)]
        if texts in ([], ["void"]):
            continue
        if "." in texts:
            raise Unsupported(f"{place}: kernels with parameter packs are not supported")
        name = texts[-1]
        for i in range(len(texts) - 2):
            if texts[i : i + 2] == ["(", "*"]:  # a pointer to an array or a function
                name = texts[i + 2]
        if len(texts) < 2 or not name.isidentifier() or name in ("int", "long", "const", "__restrict__"):
            raise Unsupported(f"{place}: kernel parameters without a name are not supported")
        names.append(name)
    return names


def is_constant(tokens: list[Token]) -> bool:
    """Return True if kernels may use a host variable: a scalar constant that calls no function."""
    texts = {token.text for token in tokens}
    calls = any(a.kind == "word" and b.text == "(" and a.text != "sizeof" for a, b in itertools.pairwise(tokens))
    return "=" in texts and bool({"const", "constexpr"} & texts) and not {"*", "["} & texts and not calls


def host_text(tokens: list[Token], without: tuple[str, ...]) -> list[str]:
    """Return C++ for the host, where ``kernel<<<a, b>>>(c)`` is ``::cuda_program::configure(a, b), kernel(c)``."""
    texts = [token.text for token in tokens]
    in_body = False
    for i, token in enumerate(tokens):
        in_body |= token.text == "{"
        if token.text == "__device__" and in_body:
            raise Unsupported(f"{token.place}: device lambdas and local classes with device code are not supported")
        if token.text in ("__launch_bounds__", "__forceinline__", *QUALIFIERS, *without):
            texts[i] = "inline" if token.text == "__forceinline__" else ""
            if token.text == "__launch_bounds__":
                texts[i : closing(tokens, i + 1) + 1] = [""] * (closing(tokens, i + 1) + 1 - i)
        elif token.text == "<<<":
            start, end = start_of_kernel(tokens, i), i + 1
            while end < len(tokens) and tokens[end].text != ">>>":
                end = closing(tokens, end) + 1
            if end == len(tokens):
                raise Unsupported(f"{token.place}: <<< without >>>")
            kernel = "".join(texts[start:i])
            texts[start:i] = [""] * (i - start)
            texts[i], texts[end] = "::cuda_program::configure(", f"), {kernel}"
    return texts


def start_of_kernel(tokens: list[Token], launch: int) -> int:
    """Return the index where the kernel name before ``<<<`` begins."""
    i = next_word(tokens, launch, -1)
    if tokens[i].text == ">":
        i = next_word(tokens, closing_angle(tokens, i, -1), -1)
    if tokens[i].kind != "word":
        raise Unsupported(f"{tokens[launch].place}: only the name of a kernel can stand before <<<")
    while tokens[scope := next_word(tokens, i, -1)].text == "::":
        name = next_word(tokens, scope, -1)
        i = name if tokens[name].kind == "word" else scope
    return i


def run(command: list[str]) -> str:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise Unsupported(finished.stderr.rstrip() or f"{command[0]} failed")
    return finished.stdout


def symbols_of(path: Path, *options: str) -> list[tuple[str, int]]:
    """Return the names and addresses of the symbols an object or library defines, in a fixed order."""
    lines = run(["nm", "-p", "--defined-only", *options, str(path)]).splitlines()
    return [(line.split(" ", 2)[2], int(line.split(" ", 1)[0], 16)) for line in lines]


class Unit:
    """One file of a program: a host object, and the source and names of its device part."""

    def __init__(self, path: Path, flags: list[str], arch: int, object_file: Path):
        self.path = path
        host, device = (Splitter(preprocess(path, [*flags, *more])) for more in ((), (f"-D__CUDA_ARCH__={arch}",)))
        source = object_file.with_suffix(".cpp")
        source.write_text("".join(host.host))
        run(["g++", "-std=c++17", "-O1", "-w", "-fPIC", "-fno-gnu-unique", "-c", str(source), "-o", str(object_file)])
        self.device = PRELUDE + "".join(device.device)
        # The shadow of a variable has its name; the pointer to a kernel is a variable in the function that launches it.
        self.names: dict[str, str] = {}
        for (symbol, _), (name, _) in zip(symbols_of(object_file), symbols_of(object_file, "-C"), strict=True):
            if name.endswith("::cuda_kernel"):
                self.names[symbol] = name_of_function(name.removesuffix("::cuda_kernel"))
            elif name in device.variables:
                self.names[symbol] = f"&{name}"

    def load(self, library: ctypes.CDLL, addresses: dict[str, int]):
        """Compile the device part, and pass its kernels and variable addresses to the host part."""
        from cuda.core import Program, ProgramOptions

        program = Program(self.device, "c++", ProgramOptions(name=str(self.path), std="c++17"))
        code = program.compile("cubin", name_expressions=tuple(self.names.values()))
        for symbol, name in self.names.items():
            if name.startswith("&"):
                pointer = ctypes.c_uint64(int(code.get_global(name).handle))
                library.cuda_program_add_symbol(ctypes.c_void_p(addresses[symbol]), pointer)
            else:
                ctypes.c_void_p.from_address(addresses[symbol]).value = int(code.get_kernel(name).handle)
        return code


def name_of_function(signature: str) -> str:
    """Return ``f<int>`` for ``f<int>(float*, int)``, or a C function's plain name."""
    depth = 0
    for i in range(len(signature) - 1, -1, -1):
        depth += (signature[i] == ")") - (signature[i] == "(")
        if depth == 0:
            return signature[:i] if signature[i] == "(" else signature
    return signature


def build(units: list[Unit], objects: list[Path], directory: Path) -> tuple[ctypes.CDLL, list]:
    """Link and load the host parts, and compile the device parts."""
    linked = directory / "program.so"
    run(["g++", "-shared", "-o", str(linked), *map(str, objects)])
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    library, symbols = ctypes.CDLL(str(linked)), dict(symbols_of(linked))
    if "main" not in symbols:
        raise Unsupported("the program has no main()")
    base = ctypes.cast(library.main, ctypes.c_void_p).value - symbols["main"]
    addresses = {name: base + address for name, address in symbols.items()}
    return library, [unit.load(library, addresses) for unit in units if unit.names]


def main() -> int:
    arguments = sys.argv[1:]
    last = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.cu")
    parser.add_argument("-I", action="append", default=[], metavar="DIRECTORY", help="where to search for headers")
    parser.add_argument("-D", action="append", default=[], metavar="NAME[=VALUE]", help="a macro")
    options = parser.parse_args(arguments[:last])
    flags = [*(f"-I{directory}" for directory in options.I), *(f"-D{macro}" for macro in options.D)]

    from cuda.core import CUDAError, Device

    device = Device(0)
    device.set_current()
    major, minor = device.compute_capability
    try:
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            objects = [directory / f"{i}.o" for i in range(len(options.files))]
            units = [
                Unit(path, flags, 100 * major + 10 * minor, made)
                for path, made in zip(options.files, objects, strict=True)
            ]
            library, _codes = build(units, objects, directory)
    except (Unsupported, CUDAError) as error:
        print(error, file=sys.stderr)
        return 1
    words = [str(options.files[0]), *arguments[last + 1 :]]
    return library.main(len(words), (ctypes.c_char_p * (len(words) + 1))(*map(str.encode, words)))


if __name__ == "__main__":
    sys.exit(main())
