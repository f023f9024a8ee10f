# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sphinx extension: a page for each class of the API pages, an index of all names, and signatures with types.

The pages in ``api`` are the only list of public names. Their ``autoclass`` entries move to pages in ``api/generated``,
and a table takes their place.
"""

import builtins
import contextlib
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import driver_coverage
from docutils import nodes

from cuda.core._utils.other_names import OtherName

API = Path(__file__).parent / "api"
PAGES = API / "generated"
ENTRY = re.compile(r"^\.\. auto(class|exception|function):: (\S+)\n((?:   .*\n)*)\n*", re.MULTILINE)
MODULE = re.compile(r"^\.\. (?:py:)?(?:current)?module:: (\S+)", re.MULTILINE)
DATA = re.compile(r"^\.\. (data|exception):: (\S+)\n\n   (.*)\n", re.MULTILINE)
SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
EXCEPTIONS = "https://docs.python.org/3/library/exceptions.html#"
# Classes for the same purpose in `cuda.core` and in `cuda.core.driver`.
CLASSIC = {
    "cuda.core.Buffer": "cuda.core.driver.DeviceAllocation",
    "cuda.core.Context": "cuda.core.driver.Context",
    "cuda.core.Device": "cuda.core.driver.Device",
    "cuda.core.Event": "cuda.core.driver.Event",
    "cuda.core.Kernel": "cuda.core.driver.Function",
    "cuda.core.Linker": "cuda.core.driver.Linker",
    "cuda.core.ObjectCode": "cuda.core.driver.Module",
    "cuda.core.Program": "cuda.core.driver.compiler.SourceModule",
    "cuda.core.Stream": "cuda.core.driver.Stream",
    "cuda.core.CachingMemoryResource": "cuda.core.driver.DeviceMemoryPool",
    "cuda.core.LegacyPinnedMemoryResource": "cuda.core.driver.PagelockedHostAllocation",
    "cuda.core.ManagedBuffer": "cuda.core.driver.ManagedAllocation",
    "cuda.core.GraphicsResource": "cuda.core.driver.gl.RegisteredBuffer",
    "cuda.core.NVRTCError": "cuda.core.driver.CompileError",
    "cuda.core.texture.OpaqueArray": "cuda.core.driver.Array",
    "cuda.core.texture.SurfaceObject": "cuda.core.driver.SurfaceReference",
    "cuda.core.texture.TextureObject": "cuda.core.driver.TextureReference",
    "cuda.core.utils.StridedMemoryView": "cuda.core.driver.gpuarray.GPUArray",
}


def setup(app):
    app.connect("builder-inited", lambda app: write_pages())
    app.connect("source-read", tabulate_classes)
    app.connect("autodoc-process-signature", show_types)
    app.connect(
        "missing-reference", link_builtin_exception, priority=400
    )  # before Sphinx, which leaves them without a link
    return {"parallel_read_safe": True}


def entries(text):
    """Yield the entries of an API page: the kind, the module and name, the options, and the position in the text."""
    found = sorted([*MODULE.finditer(text), *ENTRY.finditer(text)], key=lambda match: match.start())
    module = "cuda.core"
    for match in found:
        if match.re is MODULE:
            module = match[1]
        else:
            name = match[2] if match[2].startswith("cuda.") else f"{module}.{match[2]}"
            yield match[1], name, match[3], match.span()


def named(path):
    """Return the object that an entry names."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def summary(path):
    """Return the first sentence of a docstring, as one line."""
    return summary_of(named(path))


def summary_of(value):
    """Return the first sentence of the docstring of an object, as one line."""
    text = inspect.cleandoc(value.__doc__ or "")
    if re.match(r"\w+\(", text):  # the signature that Cython writes first
        text = re.sub(r"^\w+\([^\n]*\n(--\n)?\n?", "", text)
    text = re.sub(r"^\w+: [\w.| \[\],]+\n\n?", "", text)  # the type of a property, which Cython writes first
    return without_links(" ".join(text.split("\n\n")[0].split()))


def without_links(text):
    """Return a line with names instead of links, which are relative to the module of the docstring."""
    return re.sub(r":\w+:`~?([^`]+)`", r"``\1``", text).replace("|", "\\|")


def reference(path):
    """Return a link to a name that shows its last part."""
    kind = "func" if inspect.isroutine(named(path)) else "class"
    return f":{kind}:`~{path}`"


def title(path):
    """Return the name of a page: a class of a private module by its own name alone."""
    return path.rpartition(".")[2] if re.search(r"\._", path) else path.removeprefix("cuda.core.")


def write_pages():
    """Write the page of each class, and the index of all names."""
    wanted, names = {}, {}
    for page in sorted(API.glob("*.rst")):
        text = page.read_text()
        for kind, path, options, _ in entries(text):
            names[path] = f"{reference(path)}\n     - {summary(path)}\n"
            if kind != "function":
                wanted[f"{path}.rst"] = class_page(kind, path, options, page.stem, text.partition("\n")[0])
        names |= data_entries(text)
    wanted["names.rst"] = index_of_names(names)
    wanted["error-codes.rst"] = error_codes()
    wanted["driver-coverage.rst"] = driver_coverage_page()
    PAGES.mkdir(exist_ok=True)
    for page in PAGES.iterdir():
        if page.name not in wanted:
            page.unlink()
    for name, text in wanted.items():
        if not (PAGES / name).exists() or (PAGES / name).read_text() != text:
            (PAGES / name).write_text(text)


def members_of(cls, options):
    """Return the names of the members that a class page describes, in the order of the alphabet.

    ``options`` are those of the entry, as Sphinx reads them.
    """
    wanted = re.search(r":members:(.*)", options)
    special = re.findall(r"__\w+__", (re.search(r":special-members:(.*)", options) or [""])[0])
    if wanted is None:
        return []
    if wanted[1].strip():
        return [*special, *re.findall(r"\w+", wanted[1])]
    inherited = re.search(r":inherited-members:(.*)", options)
    bases = [cls] if inherited is None else [base for base in cls.__mro__ if base is not object]
    if inherited and inherited[1].strip():  # the first base whose members are left out
        bases = bases[: [base.__name__ for base in bases].index(inherited[1].strip())]
    names = {name for base in bases for name in vars(base) if not name.startswith("_")} & set(dir(cls))
    return [*special, *sorted(name for name in names if is_described(cls, name))]


def is_described(cls, name):
    """Return true for a method or a computed attribute with a docstring of its own."""
    value = inspect.getattr_static(cls, name)
    is_member = inspect.isroutine(value) or inspect.isdatadescriptor(value)
    return is_member and not isinstance(value, OtherName) and bool(summary_of(getattr(cls, name)))


def members_table(path, options):
    """Return a table of the members of a class: links, and the first sentence of each."""
    cls = named(path)
    rows = ""
    for name in members_of(cls, options):
        value = inspect.getattr_static(cls, name)
        role = "attr" if inspect.isdatadescriptor(value) else "meth"
        link = f":{role}:`{name} <{path}.{name}>`"
        if isinstance(value, property) and (value.__doc__ or "").startswith(f"{name}(self)"):
            link = f"``{name}``"  # Sphinx takes the signature that Cython writes for a part of the name
        rows += f"   * - {link}\n     - {summary_of(getattr(cls, name))}\n"
    return f"\n.. list-table::\n   :class: names\n   :widths: 30 70\n\n{rows}\n" if rows.count("* -") > 1 else ""


def class_page(kind, path, options, topic, topic_title):
    heading = title(path)
    # Hundreds of classes in the sidebar of each page would hide the rest, and take most of the build's time.
    text = (
        f":orphan:\n\n:doc:`API <../index>` / :doc:`{topic_title} <../{topic}>`\n\n{heading}\n{'=' * len(heading)}\n\n"
    )
    text += f".. currentmodule:: {path.rpartition('.')[0]}\n\n{members_table(path, options)}"
    text += f".. auto{kind}:: {path}\n{options}"
    others = {**CLASSIC, **{classic: core for core, classic in CLASSIC.items()}}
    if path in others:
        style = "With today's interface" if path.startswith("cuda.core.driver") else "In the classic style"
        text += f"\n.. seealso:: {style}: {reference(others[path])}.\n"
    return text


def data_entries(text):
    """Return the rows of the index for names that a page describes itself."""
    rows, modules = {}, list(MODULE.finditer(text))
    for match in DATA.finditer(text):
        module = [found[1] for found in modules if found.start() < match.start()][-1]
        path = match[2] if match[2].startswith("cuda.") else f"{module}.{match[2]}"
        rows[path] = f":{'data' if match[1] == 'data' else 'exc'}:`~{path}`\n     - {without_links(match[3])}\n"
    return rows


def index_of_names(names):
    """Return a page with a table per module: each name and its first line."""
    text = "All names\n=========\n\nWith members and parameters: :ref:`genindex`.\n"
    modules = {}
    for path in names:
        public, *private = re.split(r"\._", path)
        group = f"{public}: what its attributes and methods return" if private else path.rpartition(".")[0]
        modules.setdefault(group, []).append(path)
    for module in sorted(modules):
        text += f"\n{module}\n{'-' * len(module)}\n\n.. list-table::\n   :class: names\n   :widths: 30 70\n\n"
        for path in sorted(modules[module], key=lambda path: path.rpartition(".")[2].lower()):
            text += f"   * - {names[path]}"
    return text


def error_codes():
    """Return a page with an anchor for each error code of the driver, and the advice that messages contain."""
    from cuda.core._utils.advice import ADVICE

    text = "Error codes\n===========\n\nThe advice of :class:`cuda.core.CUDAError`, by the ``name`` of the code.\n"
    for name, advice in ADVICE.items():
        text += f"\n.. _{name}:\n\n{name}\n{'-' * len(name)}\n\n{advice}\n"
    return text


def driver_coverage_page():
    """Return a page with a row for each name of CUDA's headers."""
    text = "Driver coverage\n===============\n\n"
    text += "Each driver function (``cuda.h``), attribute and compiler option, and what reaches it.\n\n"
    text += "*Wrapped*: the docstring of the public name describes it. *Used*: other calls need it.\n"
    text += "If the installed driver is older than *Since*, the call raises :class:`cuda.core.NotSupportedError`.\n"
    for title, rows in driver_coverage.sections(API.parent.parent / "cuda" / "core").items():
        text += f"\n{title}\n{'-' * len(title)}\n\n.. list-table::\n   :header-rows: 1\n   :widths: 40 10 15 35\n\n"
        text += "   * - Name\n     - Since\n     - State\n     - Public name, or reason\n"
        for row in rows:
            text += f"   * - ``{row.name}``\n     - {row.since}\n     - {row.state}\n     - {row.text}\n"
    return text


def tabulate_classes(app, docname, source):
    """Put a table of links in the place of the classes of a page."""
    if not docname.startswith("api/") or docname.startswith("api/generated"):
        return
    text, groups, last = source[0], [], None
    for kind, path, _, (start, end) in entries(text):
        if kind == "function":
            continue
        if last == start:
            groups[-1] = (groups[-1][0], end, [*groups[-1][2], path])
        else:
            groups.append((start, end, [path]))
        last = end
    for start, end, paths in reversed(groups):
        table = ".. list-table::\n   :class: names\n   :widths: 30 70\n\n"
        table += "".join(f"   * - {reference(path)}\n     - {summary(path)}\n" for path in paths)
        text = f"{text[:start]}{table}\n{text[end:]}"
    source[0] = text


def show_types(app, what, name, obj, options, signature, result):
    """Complete a signature by the types in the docstring; hide it for classes that only other calls construct."""
    is_class = what in ("class", "exception")
    if is_class and signature and (re.search(r"\._", name) or signature in ("(*args, **kwargs)", "(*args)", "(value)")):
        return "", None
    if not signature or not (is_class or what in ("function", "method")):
        return None
    shown = re.sub(r"^\((self|cls)(, )?", "(", signature)
    shown = re.sub(r"<(?:function|class) '?(?:[\w.]*\.)?(\w+)[^>]*>", r"\1", shown)
    types = {}
    for base in reversed(obj.__mro__ if is_class else [obj]):
        types |= all_types(base.__doc__ or "", name)
    for parameter, kind in types.items():
        shown = re.sub(rf"(?<=[(, *]){parameter}(?=[=,)])(=?)", lambda match, kind=kind: typed(match, kind), shown)
    return shown, result


def typed(match, kind):
    return f"{match[0].removesuffix('=')}: {kind}" + (" = " if match[1] else "")


def all_types(doc, name, depth=3):
    """Return the types in a docstring, and before them those of the objects that it refers to for parameters."""
    types = {}
    for references in re.findall(r"(?:See|As for)((?:\s+(?:and )?:\w+:`[^`]+`)+)", doc) if depth else ():
        for target in re.findall(r"`~?([\w.]+)`", references):
            types |= all_types(referred(target, name).__doc__ or "", name, depth - 1)
    return types | documented_types(doc)


def referred(target, name):
    """Return what a reference in the docstring of ``name`` means: a name in the innermost scope that has it."""
    while name := name.rpartition(".")[0]:
        with contextlib.suppress(ImportError, AttributeError, ValueError):
            return pkgutil.resolve_name(target if target.startswith("cuda.") else f"{name}.{target}")
    return None


def documented_types(doc):
    """Return the types in a section of parameters that are expressions of Python, by name."""
    section = re.search(
        r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", inspect.cleandoc(doc), re.MULTILINE | re.DOTALL
    )
    types = {}
    for names, kind in re.findall(r"^([\w*, ]+) : (.+)$", section[1], re.MULTILINE) if section else ():
        kind = re.sub(r":\w+:`~?([^`]+)`", lambda match: match[1].rpartition(".")[2], kind).replace("`", "")
        kind = re.sub(r",? *\(?(optional|default\b.*|keyword only)\)?", "", kind).replace(" or ", " | ").strip(" ,")
        kind = re.sub(r", (?=[\w. |,]+ \| )", " | ", kind)
        kind = re.sub(r"\b(tuple|list|sequence|dict) of (\w+)", r"\1[\2]", kind)
        try:
            compile(kind, "a type", "eval")
        except SyntaxError:
            continue
        types |= {parameter.strip(" *"): kind for parameter in names.split(",")}
    return types


def link_builtin_exception(app, env, node, contnode):
    """Link an exception to Python's page, without its inventory, which a build would have to download."""
    name = node["reftarget"]
    value = getattr(builtins, name, None)
    if node["refdomain"] == "py" and isinstance(value, type) and issubclass(value, BaseException):
        return nodes.reference("", "", contnode, internal=False, refuri=EXCEPTIONS + name)
    return None
