# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Generates the type stubs of the extensions and of the package, while a wheel is built; not part of the wheel.

Cython's own parser reads a ``.pyx`` file with the parts that it includes, and the ``.pxd`` file beside it. The
``.pyi`` file has what is visible to Python: signatures without docstrings, and the imports that they need.
"""

from __future__ import annotations

import ast
import builtins
import re
import types
from collections.abc import Iterator
from pathlib import Path

from Cython.CodeWriter import ExpressionWriter
from Cython.Compiler import ExprNodes, Nodes
from Cython.Compiler.TreeFragment import parse_from_strings

__all__ = ["write_stubs"]

HEADER = """\
# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Generated from {source}.

from __future__ import annotations

"""

# The Python type for a C type of an argument. Extension types keep their name.
PYTHON_TYPES = {"bint": "bool", "double": "float", "float": "float", "char": "int", "type": "type"}
PYTHON_CLASSES = {"str", "bytes", "bytearray", "tuple", "list", "dict", "set", "frozenset"}
HIDDEN_METHODS = {"__cinit__", "__dealloc__"}
# The buffer protocol has other names and signatures in Python.
BUFFER_METHODS = {
    "__getbuffer__": "def __buffer__(self, flags: int, /) -> memoryview: ...",
    "__releasebuffer__": "def __release_buffer__(self, buffer: memoryview, /) -> None: ...",
}
# Signatures that depend on the type of an argument, for which Cython has no syntax.
UPDATABLE = ("KernelNode", "MemsetNode", "MemcpyNode", "ChildGraphNode", "EventRecordNode", "EventWaitNode")
_CAPTURED = "data: str | Iterable[str] | None = None, mode: str = ..., options: Any = None, maxsize: int = ..."
OVERLOADS = {
    "Graph.__getitem__": [
        *(f"def __getitem__(self, node: {name}) -> Executable{name}: ..." for name in UPDATABLE),
        "def __getitem__(self, node: HostCallbackNode) -> ExecutableHostCallbackNode: ...",
        "def __getitem__(self, node: GraphNode) -> ExecutableGraphNode: ...",
    ],
    "capture": [
        f"def capture(function: Callable[..., Any], *, {_CAPTURED}) -> CapturedFunction: ...",
        f"def capture(function: None = None, *, {_CAPTURED}) -> Callable[[Callable[..., Any]], CapturedFunction]: ...",
    ],
}
BINDINGS = {"driver", "nvrtc", "nvjitlink", "nvvm", "runtime"}


def write_stubs(root: Path, package: Path, target: Path) -> list[Path]:
    """Write the stub of every extension of a package, and of each package that imports its names at their first use.

    Parameters
    ----------
    root : Path
        The directory that module names start from.
    package : Path
        The directory of the package, somewhere below.
    target : Path
        The directory to write into; a stub has the relative path of its source.

    Returns
    -------
    list of Path
        The paths of the stubs.
    """
    modules = [Module(root, source) for source in sorted(package.rglob("*.pyx"))]
    homes = dict(_python_classes(root, package))
    homes.update((name, module.name) for module in modules for name in module.classes)
    stubs = []
    for module in modules:
        stub = target / module.path.with_suffix(".pyi")
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(module.text(homes))
        stubs.append(stub)
    for source in sorted(package.rglob("__init__.py")):
        if text := package_stub(root, source):
            stub = target / source.with_suffix(".pyi").relative_to(root)
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.write_text(text)
            stubs.append(stub)
    return stubs


def package_stub(root: Path, source: Path) -> str:
    """Return the stub of a package that imports its names at their first use; empty for any other package.

    The names and their homes are read from its tables ``_HOMES`` and ``_PACKAGES``, which may be made from those of
    ``cuda.core``. Homes are relative to the package that has the table.
    """
    package = _module_name(source.parent.relative_to(root))
    top = root / "cuda" / "core" / "__init__.py"
    core = types.SimpleNamespace(**package_tables(top, "cuda.core", None))
    tables = package_tables(source, package, core)
    if "_HOMES" not in tables:
        return ""
    homes = sorted(tables["_HOMES"].items(), key=lambda row: (row[1], row[0]))
    # In a stub, only names imported with `as` are public.
    lines = [f"from {package} import {name} as {name}" for name in sorted(tables.get("_PACKAGES", ()))]
    base = "cuda.core" if "from cuda import core" in source.read_text() else package
    lines += [f"from {base}.{home} import {name} as {name}" for name, home in homes]
    lines += ["", f"__all__ = {sorted(tables['_HOMES'])}"]
    lines += ["__version__: str"] if "__version__" in source.read_text() else []
    return HEADER.format(source=source.relative_to(root)) + "\n".join(lines) + "\n"


def package_tables(source: Path, package: str, core) -> dict:
    """Return the tables of a package by their names; ``core`` has those of ``cuda.core``, which the source may use."""
    tables = {}
    for node in ast.parse(source.read_text()).body if source.exists() else ():
        if isinstance(node, ast.Assign) and node.targets[0].id in ("_HOMES", "_PACKAGES", "_PUBLIC"):
            value = compile(ast.Expression(node.value), source, "eval")
            tables[node.targets[0].id] = eval(value, {"core": core, "__name__": package, **tables})
    return tables


class Module:
    """One extension: the definitions of its sources, in order.

    Parameters
    ----------
    root, source : Path
        The directory that module names start from, and the ``.pyx`` file.
    """

    def __init__(self, root: Path, source: Path):
        self.path = source.relative_to(root)
        self.name = _module_name(self.path)
        self.classes: set[str] = set()
        self.functions: set[str] = set()
        self.fields = self._read_fields(source.with_suffix(".pxd"))
        self.imports: dict[str, str] = {}
        self.lines = ["\n".join(self._statement(node)) for node in _statements(_parse(source))]

    def text(self, homes: dict[str, str]) -> str:
        """Return the stub; ``homes`` maps the classes of the package to their modules."""
        body = "\n".join(line for line in self.lines if line) + "\n"
        nodes = list(ast.walk(ast.parse(body)))
        exported = {name.value for node in nodes if _assigns(node, "__all__") for name in node.value.elts}
        # The decorator of a setter names the property, so functions of classes count as defined.
        defined = {name for node in nodes for name in _bound(node)} | set(dir(builtins))
        used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        # A member does not hide an imported name, such as a decorator of another class.
        imports = sorted(self._import(name, homes) for name in (used | exported) - (defined - set(self.imports)))
        return HEADER.format(source=self.path) + "".join(f"{line}\n" for line in imports) + body

    def _import(self, name: str, homes: dict[str, str]) -> str:
        if name in ("Any", "Literal", "overload"):
            return f"from typing import {name}"
        if name in ("Callable", "Iterable"):
            return f"from collections.abc import {name}"
        if name in self.imports:
            return self.imports[name]
        if name in homes:
            return f"from {homes[name]} import {name}"
        if name in BINDINGS:
            return f"from cuda.bindings import {name}"
        return f"from typing import Any as {name}"

    def _read_fields(self, path: Path) -> dict[str, list[str]]:
        """Return the fields that a ``.pxd`` file makes visible to Python, by class."""
        if not path.exists():
            return {}
        classes = [node for node in _statements(_parse(path)) if isinstance(node, Nodes.CClassDefNode)]
        return {
            node.class_name: [line for field in _statements(node.body) for line in _fields(field)] for node in classes
        }

    def _statement(self, node) -> Iterator[str]:
        """Yield the lines of the stub for one statement of the module."""
        if isinstance(node, Nodes.DefNode):
            self.functions.add(node.name)
        if isinstance(node, Nodes.CClassDefNode) and node.body is None:
            return  # a forward declaration
        if isinstance(node, (Nodes.CClassDefNode, Nodes.PyClassDefNode)):
            yield from self._class(node)
        elif isinstance(node, Nodes.FromImportStatNode):
            for name, target in node.items:
                rename = "" if name == target.name else f" as {target.name}"
                self.imports[target.name] = f"from {node.module.module_name.value} import {name}{rename}"
        elif isinstance(node, Nodes.SingleAssignmentNode) and isinstance(node.rhs, ExprNodes.ImportNode):
            self.imports[node.lhs.name] = f"import {node.rhs.module_name.value}"
        elif isinstance(node, Nodes.SingleAssignmentNode):
            yield from self._assignment(node)
        else:
            yield from _function(node)

    def _class(self, node) -> Iterator[str]:
        is_extension = isinstance(node, Nodes.CClassDefNode)
        name = node.class_name if is_extension else node.name
        self.classes.add(name)
        bases = ", ".join(_expression(base) for base in node.bases.args) if node.bases else ""
        yield ""
        yield from _decorators(node)
        yield f"class {name}({bases}):" if bases else f"class {name}:"
        body = list(self.fields.get(name, ())) if is_extension else []
        body.extend(_constructor(name, node.doc))
        for member in _statements(node.body):
            if isinstance(member, Nodes.SingleAssignmentNode):
                body.extend(self._assignment(member))
            else:
                body.extend(_fields(member))
                body.extend(_function(member, name))
        yield from ["    " + line for line in body] or ["    ..."]

    def _assignment(self, node) -> Iterator[str]:
        if not isinstance(node.lhs, ExprNodes.NameNode):
            return
        name, value = node.lhs.name, _expression(node.rhs)
        if name in self.functions:
            return  # replaces a function that is defined above by a faster one with the same signature
        if value.startswith("namedtuple("):
            self.classes.add(name)
        if node.lhs.annotation is not None:
            yield f"{name}: {_annotation(node.lhs.annotation)}" + _default(node.rhs, " = ")
        elif name == "__all__":
            yield f"\n{name} = {value}"
        elif not isinstance(node.rhs, ExprNodes.NoneNode):
            yield f"{name}: {self._type_of(value)}" if not _is_alias(value) else f"{name} = {value}"

    def _type_of(self, value: str) -> str:
        """Return the type of an unannotated value, if it is a literal or a call of a class of this module."""
        try:
            return type(ast.literal_eval(value)).__name__
        except (SyntaxError, ValueError):
            maker = value.split("(")[0].split(".")[0]
            return maker if maker in self.classes else "Any"


def _constructor(name: str, doc: str | None) -> Iterator[str]:
    """Yield the signature at the head of the docstring of a class whose constructor is written in C."""
    head, mark, _ = (doc or "").partition(")\n--\n")
    if mark and head.startswith(f"{name}("):
        yield f"def __init__(self, {head.removeprefix(name + '(')}) -> None: ..."


def _parse(path: Path):
    level = "module_pxd" if path.suffix == ".pxd" else "module"
    whole = re.sub(r'(?m)^include "(.+)"$', lambda part: path.with_name(part[1]).read_text(), path.read_text())
    return parse_from_strings(path.stem, whole, level=level).body


def _statements(node) -> Iterator:
    """Yield statements, including those in ``cdef:`` blocks and other groups."""
    for statement in node.stats if isinstance(node, Nodes.StatListNode) else [node]:
        if isinstance(statement, Nodes.StatListNode):
            yield from _statements(statement)
        else:
            yield statement


def _fields(node) -> Iterator[str]:
    """Yield the fields that a ``cdef public`` or ``cdef readonly`` declaration, or an annotation, makes visible."""
    if isinstance(node, Nodes.ExprStatNode) and getattr(node.expr, "annotation", None) is not None:
        yield f"{node.expr.name}: {_annotation(node.expr.annotation)}"
    if isinstance(node, Nodes.CVarDefNode) and node.visibility in ("public", "readonly"):
        for declarator in node.declarators:
            kind = _c_type(node.base_type) or "Any"
            if node.visibility == "public":
                yield f"{declarator.name}: {kind}"
            else:
                yield "@property"
                yield f"def {declarator.name}(self) -> {kind}: ..."


def _function(node, owner: str = "") -> Iterator[str]:
    """Yield the signature of a ``def`` or ``cpdef`` function; others are invisible to Python."""
    overloads = OVERLOADS.get(f"{owner}.{node.name}".lstrip("."), ()) if isinstance(node, Nodes.DefNode) else ()
    for signature in overloads:
        yield "@overload"
        yield signature
    if overloads:
        return
    if getattr(node, "name", None) in BUFFER_METHODS:
        yield BUFFER_METHODS[node.name]
        return
    if isinstance(node, Nodes.CFuncDefNode) and node.overridable:
        name, result = node.declarator.base.name, _c_type(node.base_type)
        arguments = _arguments(node.declarator.args)
    elif isinstance(node, Nodes.DefNode) and node.name not in HIDDEN_METHODS:
        name = node.name
        result = _annotation(node.return_type_annotation) or ("None" if name == "__init__" else "")
        arguments = _arguments(node.args, node.num_posonly_args, node.star_arg, node.starstar_arg)
        yield from _decorators(node)
    else:
        return
    keyword = "async def" if getattr(node, "is_async_def", False) else "def"
    yield f"{keyword} {name}({', '.join(arguments)})" + (f" -> {result}: ..." if result else ": ...")


def _arguments(arguments, positional: int = 0, star=None, star_star=None) -> Iterator[str]:
    has_star = False
    for index, argument in enumerate(arguments):
        if argument.kw_only and not has_star:
            has_star = True
            yield "*" + _argument(star) if star else "*"
        name = argument.declarator.name or argument.base_type.name
        kind = _annotation(argument.annotation) or (_c_type(argument.base_type) if argument.declarator.name else "")
        if argument.or_none and kind:
            kind += " | None"
        yield (f"{name}: {kind}" if kind else name) + _default(argument.default, " = " if kind else "=")
        if index + 1 == positional:
            yield "/"
    if star and not has_star:
        yield "*" + _argument(star)
    if star_star and star_star.name != "unknown":  # taken only to raise an error that names similar keywords
        yield "**" + _argument(star_star)


def _argument(node) -> str:
    kind = _annotation(node.annotation)
    return f"{node.name}: {kind}" if kind else node.name


def _decorators(node) -> Iterator[str]:
    for decorator in node.decorators or ():
        text = _expression(decorator.decorator)
        if not text.startswith("cython."):
            yield f"@{text}"


def _annotation(node) -> str:
    return node.string.value if node is not None else ""


def _c_type(node) -> str:
    """Return the Python type for a C type, or an empty string for any object."""
    name = getattr(node, "name", None)
    if name is None or name == "object":
        return ""
    if name in PYTHON_TYPES:
        return PYTHON_TYPES[name]
    is_number = node.is_basic_c_type or name.endswith("_t")
    return "int" if is_number and name not in PYTHON_CLASSES else name


def _expression(node) -> str:
    return ExpressionWriter().write(node)


def _default(node, sign: str) -> str:
    """Return a default value if it is a literal, otherwise an ellipsis."""
    if node is None:
        return ""
    text = _expression(node)
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        text = "..."
    return sign + text


def _is_alias(value: str) -> bool:
    """Whether a value is a type or a union of types, which the stub repeats as an alias."""
    if value.startswith("namedtuple("):
        return True
    node = ast.parse(value, mode="eval").body
    return all(isinstance(part, (ast.BinOp, ast.BitOr, ast.Name, ast.Attribute, ast.Load)) for part in ast.walk(node))


def _assigns(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Assign) and node.targets[0].id == name


def _bound(node: ast.AST) -> list[str]:
    """Return the names that a statement of a stub binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


def _python_classes(root: Path, package: Path) -> Iterator[tuple[str, str]]:
    """Yield the classes of the plain Python modules of a package, with their modules."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and path != Path(__file__):
                yield node.name, _module_name(path.relative_to(root))


def _module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)
