# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The report of ``python -m cuda.core``: what is installed and what works.

Each fact is determined independently, so a broken installation still produces a report.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import cuda.core
from cuda.core._utils import libraries
from cuda.core._utils.files import cache_root

__all__ = ["diagnosis", "report"]

# Other packages, with what does not work without them.
_DISTRIBUTIONS = {
    "cuda-bindings": "linking, textures, cuda.core.system and cuda.core.driver do not work",
    "cuda-pathfinder": "no CUDA library is found",
    "numpy": "arrays cannot be used",
    "cuda-emulator": "",
}
_VARIABLES = re.compile(r"(CUDA_|NVRTC_|LD_LIBRARY_PATH$|LD_PRELOAD$|XDG_CACHE_HOME$|NVIDIA_VISIBLE_DEVICES$)")

# Components of the CUDA toolkit: display name, name in cuda.pathfinder, what does not work without it, its package.
_LIBRARIES = (
    ("NVRTC", "nvrtc", "CUDA C++ cannot be compiled", "nvidia-cuda-nvrtc"),
    ("nvJitLink", "nvJitLink", "LTO IR cannot be linked; the driver links the rest", "nvidia-nvjitlink"),
    ("NVVM", "nvvm", "NVVM IR cannot be compiled", "nvidia-nvvm"),
)
_FILES = (
    ("libdevice", "locate_bitcode_lib", "device", "NVVM IR has no mathematical functions", "nvidia-nvvm"),
    ("CUDA headers", "locate_nvidia_header_directory", "cudart", "sources cannot include them", "nvidia-cuda-runtime"),
)
_OLDEST_DRIVER = (12, 2)

# The official package has the same name. The author in the metadata of an installation says which of the two it is.
_AUTHOR = "The cuda.core developers"
_REINSTALL = (
    "run `python -m pip uninstall cuda-core` until nothing is left, then install this package from its wheel file or a "
    "clone (guide to installing), because an index has the other package under this name"
)
_INSTALL_EXTRA = (
    "install the `cu13` extra (`cu12` for a CUDA 12 driver) with the wheel file, "
    '`pip install "cuda_core-....whl[cu13]"`, or {}'
)


def _of_core(module: str, name: str):
    """Return a function of this package, or None if it cannot be imported, which the report then explains."""
    try:
        return getattr(importlib.import_module(f"cuda.core._utils.{module}"), name)
    except ImportError:
        return None


call_driver = _of_core("cuda_utils", "call_driver")
driver_version = _of_core("cuda_utils", "driver_version")


def diagnosis(package_directory: str) -> tuple[str, str]:
    """Return why a module of the package in this directory cannot be imported, and what to do."""
    root = os.path.dirname(os.path.dirname(package_directory))
    if os.path.exists(os.path.join(root, "setup.py")):
        return (
            f"cuda.core was found in the source checkout {root}, which is not built for this Python",
            "to use an installed cuda.core, leave the checkout or start Python with -P (such as "
            "`python -P -m cuda.core`); to use the checkout, run `python setup.py build_ext --inplace` in it",
        )
    version = ".".join(map(str, sys.version_info[:2]))
    return (
        f"the installation of cuda.core in {package_directory} is incomplete, or was made for another Python than "
        f"{version}",
        "install it again from its wheel file or a clone: python -m pip install --force-reinstall --no-deps FILE (by "
        "name, pip would install the official package)",
    )


def report() -> dict:
    """Inspect the installation.

    Returns
    -------
    dict
        Strings, numbers, lists and dicts that can be written as JSON: ``python``, ``packages``, ``environment``,
        ``driver``, ``toolkit``, ``devices``, ``software_device``, ``compilers``, ``caches`` and ``problems``,
        a list of dicts with ``what``, ``advice`` and ``is_fatal``.
    """
    problems = []
    found = {
        "python": {"version": platform.python_version(), "executable": sys.executable, "platform": platform.platform()},
        "packages": packages(problems),
        "environment": environment(problems),
        "driver": driver_facts(problems),
        "devices": devices(problems),
        "toolkit": toolkit(problems),
        "software_device": software_device(problems),
        "compilers": compilers(),
        "caches": caches(problems),
    }
    return found | {"problems": problems}


def environment(problems: list) -> dict[str, str]:
    """Return the environment variables that affect CUDA."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        value = os.environ.get(name)
        if value and not os.path.isdir(value):
            add_problem(
                problems,
                f"{name} is not a directory: {value!r}",
                "set it to the root of a CUDA toolkit, or unset it",
            )
    found = {name: value for name, value in sorted(os.environ.items()) if _VARIABLES.match(name)}
    if "CUDA_CORE_DEVICE" in found:
        found["CUDA_CORE_DEVICE"] = libraries.facts()["choice"]  # the import sets the variable for child processes
    return found


def packages(problems: list) -> list[dict]:
    """Return the version and location of this package and its dependencies, and who wrote what is installed as it."""
    imported = Path(cuda.core.__file__).parent
    rows = [{"name": "cuda.core", "version": cuda.core.__version__, "path": str(imported), "author": _AUTHOR}]
    for distribution in installed_as_this():  # none if built in place
        rows.append(package_row(distribution) | {"author": author_of(distribution)})
        report_overwriting(problems, distribution)
        if author_of(distribution) == _AUTHOR and not is_imported(distribution, imported):
            add_problem(
                problems,
                f"cuda.core {cuda.core.__version__} is imported, but cuda-core {distribution.version} is installed",
                "another copy comes first on sys.path: leave its directory, or start Python with -P",
            )
    for name, loss in _DISTRIBUTIONS.items():
        try:
            rows.append(package_row(importlib.metadata.distribution(name)))
        except importlib.metadata.PackageNotFoundError:
            if loss:
                advice = _INSTALL_EXTRA.format(f"pip install {name}")
                add_problem(problems, f"{name} is not installed: {loss}", advice, is_fatal=name != "cuda-bindings")
    if call_driver is None:
        what = "cuda.core cannot be imported"
        result_or_problem(problems, what, lambda: importlib.import_module("cuda.core._utils.cuda_utils"))
    return rows


def installed_as_this() -> list[importlib.metadata.Distribution]:
    """Return what is installed under the name of this package, in the first directory of ``sys.path`` that has any.

    These are two packages if one was installed over the other without uninstalling that one.
    """
    found = list(importlib.metadata.distributions(name="cuda-core"))
    here = [one for one in found if one.locate_file("") == found[0].locate_file("")]
    return list({(one.version, author_of(one)): one for one in here}.values())


def package_row(distribution: importlib.metadata.Distribution) -> dict:
    name, path = distribution.metadata["Name"], str(distribution.locate_file(""))
    return {"name": name, "version": distribution.version, "path": path}


def is_imported(distribution: importlib.metadata.Distribution, imported: Path) -> bool:
    """Return whether the imported package is the installed one: its files, or the checkout of an editable one."""
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        return Path(unquote(urlsplit(origin["url"]).path)) in imported.parents
    return Path(str(distribution.locate_file("cuda/core"))).resolve() == imported.resolve()


def author_of(distribution: importlib.metadata.Distribution) -> str:
    """Return the author in the metadata of an installed package."""
    metadata = distribution.metadata
    return metadata.get("Author") or metadata.get("Author-email") or "unknown"


def report_overwriting(problems: list, distribution: importlib.metadata.Distribution) -> None:
    """Add a problem if the other package of this name is installed, or if one of the two has overwritten files."""
    author, changed = author_of(distribution), [str(file) for file in distribution.files or () if is_changed(file)]
    state = f"{len(changed)} of its files are not those that were installed, such as {changed[0]}" if changed else ""
    if author != _AUTHOR:
        what = f"the installed cuda-core {distribution.version} is another package of that name, by {author}"
        add_problem(problems, f"{what}; {state or 'all its files are there'}", _REINSTALL)
    elif changed:
        what = f"cuda-core {distribution.version} is this package, but {state}"
        add_problem(problems, f"{what}; another package of that name may have overwritten them", _REINSTALL)


def is_changed(file: importlib.metadata.PackagePath) -> bool:
    """Return whether an installed file differs from its hash in RECORD."""
    content = result_or_none(file.read_binary) if file.hash else None
    if content is None:
        return False
    digest = hashlib.new(file.hash.mode, content).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value


def driver_facts(problems: list) -> dict:
    """Return the version and the path of the CUDA driver."""
    facts = {"cuda_version": None, "library": None, "display_version": display_driver()}
    if driver_version is None:
        return facts
    version = result_or_problem(problems, "the CUDA driver cannot be initialized", driver_version, is_fatal=False)
    facts["library"] = mapped_file("libcuda.so") or (libraries.facts()["library"] if version else None)
    if version is not None:
        facts["cuda_version"] = f"{version[0]}.{version[1]}"
        if version[:2] < _OLDEST_DRIVER:
            wanted = ".".join(map(str, _OLDEST_DRIVER))
            add_problem(
                problems,
                f"the driver is for CUDA {facts['cuda_version']}, but cuda.core needs at least {wanted}",
                "install driver version 535 or later",
            )
    return facts


def devices(problems: list) -> list[dict]:
    """Return the main properties of each device."""
    if call_driver is None:
        return []
    try:
        driver_version()
    except Exception:
        return []  # driver_facts() has reported the problem
    what = "the devices cannot be listed"
    found = result_or_problem(problems, what, lambda: cuda.core.Device.get_all_devices(), is_fatal=False)
    if found == ():
        add_problem(
            problems,
            "the driver reports no device"
            + (" (CUDA_VISIBLE_DEVICES may hide some)" if "CUDA_VISIBLE_DEVICES" in os.environ else ""),
            "use the software device: set CUDA_CORE_DEVICE=auto",
        )
    rows = [
        result_or_problem(problems, f"device {device.device_id} fails", lambda d=device: facts_of(d))
        for device in found or ()
    ]
    return [row for row in rows if row is not None]


def facts_of(device) -> dict:
    """Return the main properties of a device."""
    return {
        "id": device.device_id,
        "name": device.name,
        "compute_capability": ".".join(map(str, device.compute_capability)),
        "memory_bytes": memory_size(device),
        "multiprocessors": device.properties.multiprocessor_count,
        "has_memory_pools": device.properties.memory_pools_supported,
        "pci_bus_id": device.pci_bus_id,
        "uuid": device.uuid,
        "peers": peers_of(device),
    }


def memory_size(device) -> int | None:
    """Return the number of bytes of a device's memory, or None without the bindings, which this call needs."""
    try:
        return int(call_driver("cuDeviceTotalMem", device.device_id))
    except ModuleNotFoundError:
        return None


def peers_of(device) -> list[str]:
    """Return for each device what the link to it supports: ``"atomics"``, ``"access"``, ``"-"`` or ``"itself"``."""
    found = []
    for peer in cuda.core.Device.get_all_devices():
        if peer == device:
            found.append("itself")
            continue
        link = device.peer_attributes(peer)
        found.append("atomics" if link.native_atomic_supported else "access" if link.access_supported else "-")
    return found


def toolkit(problems: list) -> list[dict]:
    """Return the components of the CUDA toolkit, with their paths and how they were found."""
    try:
        pathfinder = importlib.import_module("cuda.pathfinder")
    except ImportError:
        return []  # packages() has reported the problem
    rows, software = [], libraries.facts()
    for name, library, loss, package in _LIBRARIES:
        if name != "NVVM" and software["is_active"]:
            rows.append(toolkit_row(name, library, software["library"], "software device"))
            continue
        found = result_or_none(lambda library=library: pathfinder.load_nvidia_dynamic_lib(library))
        rows.append(toolkit_row(name, library, getattr(found, "abs_path", None), getattr(found, "found_via", None)))
        report_missing(problems, name, found, loss, package)
    for name, function, key, loss, package in _FILES:
        found = result_or_none(lambda function=function, key=key: getattr(pathfinder, function)(key))
        rows.append(toolkit_row(name, None, getattr(found, "abs_path", None), getattr(found, "found_via", None)))
        report_missing(problems, name, found, loss, package)
    return rows


def toolkit_row(name: str, library: str | None, path: str | None, via: str | None) -> dict:
    """Return the row of one component, with the version that the library itself reports."""
    row = {"name": name, "path": path, "found_via": via, "version": None}
    if library is not None and path is not None:
        version = result_or_none(lambda: library_version(library))
        row["version"] = None if version is None else ".".join(map(str, version[:2]))
    return row


def library_version(library: str) -> tuple[int, ...]:
    """Return the version that a library reports."""
    bindings = importlib.import_module(f"cuda.bindings.{library.lower()}")
    return bindings.nvrtcVersion()[1:] if library == "nvrtc" else tuple(bindings.version())


def report_missing(problems: list, name: str, found, loss: str, package: str) -> None:
    if found is None:
        add_problem(problems, f"{name} was not found: {loss}", f"pip install {package}")


def software_device(problems: list) -> dict:
    """Return whether the software device is installed, and whether this process uses it."""
    found = libraries.facts()
    if found["is_active"] and not host_compilers():
        add_problem(problems, "the software device has found no C++ compiler", "install g++, or pip install ziglang")
    return found


def compilers() -> list[dict]:
    """Return the host compilers, with which the software device compiles kernels."""
    return [{"name": name, "path": path} for name, path in host_compilers().items()]


def host_compilers() -> dict[str, str]:
    names = [os.environ[name] for name in ("CUDA_EMULATOR_CXX",) if os.environ.get(name)]
    found = {name: shutil.which(name.split()[0]) for name in (*names, "g++", "clang++")}
    zig = importlib.util.find_spec("ziglang")
    if zig is not None and zig.origin:
        found["ziglang"] = str(Path(zig.origin).parent)
    return {name: path for name, path in found.items() if path}


def caches(problems: list) -> dict:
    """Return the directory of the caches, and the number and total size of its files."""
    root = result_or_none(cache_root)
    files = result_or_none(lambda: [path for path in root.rglob("*") if path.is_file()]) or []
    existing = next((path for path in (root, *root.parents) if os.path.lexists(path)), None) if root else None
    if existing and not os.access(existing, os.W_OK | os.X_OK):
        advice = "set XDG_CACHE_HOME to a writable directory, or pass a path to FileStreamProgramCache"
        add_problem(problems, f"the cache directory {root} is not writable", advice)
    sizes = [result_or_none(lambda path=path: path.stat().st_size) or 0 for path in files]
    return {"path": str(root) if root else None, "files": len(files), "bytes": sum(sizes)}


def display_driver() -> str | None:
    """Return the version of the display driver, as its kernel module reports it."""
    text = result_or_none(lambda: Path("/proc/driver/nvidia/version").read_text())
    match = re.search(r"\s(\d{3,}\.\d+(?:\.\d+)?)\s", text or "")
    return match.group(1) if match else None


def mapped_file(name: str) -> str | None:
    """Return the path of a library that is loaded into this process."""
    text = result_or_none(lambda: Path("/proc/self/maps").read_text()) or ""
    match = re.search(rf"(/\S*/{re.escape(name)}\S*)", text)
    return match.group(1) if match else None


def result_or_none(function: Callable[[], object]):
    """Return the result of a function, or None if it fails."""
    try:
        return function()
    except Exception:
        return None


def result_or_problem(problems: list, what: str, function: Callable[[], object], is_fatal: bool = True):
    """Return the result of a function, or add a problem and return None if it fails."""
    try:
        return function()
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("cuda.core"):
            add_problem(problems, *diagnosis(str(Path(cuda.core.__file__).parent)), is_fatal)
        else:
            add_problem(problems, f"{what}: {error}", _INSTALL_EXTRA.format(f"the package of {error.name}"), is_fatal)
    except Exception as error:
        # Messages of this package have the problem, then the advice after "; ", or on the next line for driver errors.
        text, _, todo = str(error).partition("\n" if "\n" in str(error) else "; ")
        add_problem(problems, f"{what}: {text or type(error).__name__}", todo or "see the guide to errors", is_fatal)
    return None


def add_problem(problems: list, what: str, advice: str, is_fatal: bool = False) -> None:
    problems.append({"what": what, "advice": advice, "is_fatal": is_fatal})
