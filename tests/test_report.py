# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The contents of ``python -m cuda.core``, with and without a device, and with missing packages or libraries."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import shutil
import sys
from pathlib import Path

import pytest

import cuda.core
import cuda.emulator
from cuda.core import __main__ as program
from support.bindings import binding_version
from support.interpreter import run

KEYS = {
    "python",
    "packages",
    "environment",
    "driver",
    "devices",
    "toolkit",
    "software_device",
    "compilers",
    "caches",
    "problems",
}


def report() -> dict:
    """Return what ``python -m cuda.core --json`` prints, from this process."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        program.main(["--json"])
    return json.loads(out.getvalue())


def report_of(code: str = "", **variables: str) -> dict:
    """Return the report of a new process, which first runs the code."""
    return json.loads(run(f"{code}\nfrom cuda.core import __main__\n__main__.main(['--json'])", **variables))


def texts(found: dict) -> str:
    return "\n".join(f"{problem['what']} -> {problem['advice']}" for problem in found["problems"])


def test_report_has_every_section_and_converts_to_json():
    assert set(report()) == KEYS


def test_report_has_the_versions_of_the_imported_packages():
    rows = {row["name"]: row for row in report()["packages"]}
    assert rows["cuda.core"]["version"] == cuda.core.__version__
    assert rows["cuda-bindings"]["version"].startswith("{}.{}".format(*binding_version()))


@pytest.mark.requires(device=True)
def test_devices_have_their_main_properties(device):
    found = report()
    row = found["devices"][0]
    assert row["name"] == device.name
    assert row["uuid"] == device.uuid
    assert row["compute_capability"] == "{}.{}".format(*device.compute_capability)
    assert row["multiprocessors"] == device.properties.multiprocessor_count
    assert row["memory_bytes"] > 0
    assert row["peers"][0] == "itself" and len(row["peers"]) == len(found["devices"])
    assert found["driver"]["cuda_version"] is not None
    assert not any(problem["is_fatal"] for problem in found["problems"])


@pytest.mark.requires(software=True)
def test_software_device_is_the_driver_in_use():
    found = report()
    assert found["software_device"]["is_active"]
    assert found["driver"]["library"] == found["software_device"]["library"]
    assert {row["found_via"] for row in found["toolkit"] if row["name"] == "NVRTC"} == {"software device"}


@pytest.mark.requires(software=True)
def test_software_device_without_a_compiler_is_a_problem(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CUDA_EMULATOR_CXX", raising=False)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    found = report()
    assert found["compilers"] == []
    assert "ziglang" in texts(found)


def test_missing_package_is_fatal_and_names_it():
    code = (
        "import importlib.metadata as metadata\n"
        "def distribution(name): raise metadata.PackageNotFoundError(name)\n"
        "metadata.distribution = distribution"
    )
    problems = [problem for problem in report_of(code)["problems"] if "is not installed" in problem["what"]]
    fatal = {problem["what"].partition(" ")[0]: problem["is_fatal"] for problem in problems}
    assert fatal == {"cuda-bindings": False, "cuda-pathfinder": True, "numpy": True}
    assert all("pip install" in problem["advice"] for problem in problems)


@pytest.mark.requires(device=True)
def test_devices_are_listed_without_the_bindings():
    found = report_of("import sys; sys.modules['cuda.bindings'] = None")
    assert found["devices"][0]["memory_bytes"] is None
    assert not any(problem["is_fatal"] for problem in found["problems"])
    assert "unknown memory" in program.device_facts(found["devices"][0])


def test_another_installed_version_is_a_problem(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, "0.1", "The cuda.core developers")
    assert "cuda-core 0.1 is installed" in texts(report())


def test_package_of_the_same_name_is_a_problem(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, cuda.core.__version__, "Somebody Else")
    what = f"cuda-core {cuda.core.__version__} is another package of that name, by Somebody Else"
    assert f"{what}; all its files are there" in texts(report())


@pytest.mark.parametrize("overwritten", ["this package", "the other package"])
def test_both_packages_are_reported_if_one_overwrote_the_other(monkeypatch, tmp_path, overwritten):
    other, content = tmp_path / "other", b"other"
    other.mkdir()
    installed = install(monkeypatch, tmp_path, "1.0", "The cuda.core developers")
    install(monkeypatch, other, "2.0", "Somebody Else", content)
    shutil.copytree(other / "cuda_core-2.0.dist-info", tmp_path / "cuda_core-2.0.dist-info")
    if overwritten == "this package":
        installed.write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = report()
    rows = {row["author"]: row["version"] for row in found["packages"] if row["name"] == "cuda-core"}
    assert rows == {"The cuda.core developers": "1.0", "Somebody Else": "2.0"}
    state = "1 of its files are not those that were installed, such as cuda/core/module.py"
    by_other = "cuda-core 2.0 is another package of that name, by Somebody Else"
    is_this = overwritten == "this package"
    assert f"{by_other}; {'all its files are there' if is_this else state}" in texts(found)
    assert (f"cuda-core 1.0 is this package, but {state}" in texts(found)) == is_this


def test_editable_installation_is_the_imported_package(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, "0.1", "The cuda.core developers")
    root = Path(cuda.core.__file__).parents[2]
    origin = {"url": root.as_uri(), "dir_info": {"editable": True}}
    (tmp_path / "cuda_core-0.1.dist-info" / "direct_url.json").write_text(json.dumps(origin))
    assert "is imported, but" not in texts(report())


@pytest.mark.parametrize("content", [b"theirs", b"other"], ids=["of another size", "of the same size"])
def test_overwritten_files_are_a_problem(monkeypatch, tmp_path, content):
    installed = install(monkeypatch, tmp_path, cuda.core.__version__, "The cuda.core developers")
    overwritten = "1 of its files are not those that were installed, such as cuda/core/module.py"
    assert overwritten not in texts(report())
    installed.write_bytes(content)
    assert overwritten in texts(report())


def install(monkeypatch, folder, version: str, author: str, content: bytes = b"there"):
    """Replace cuda-core's metadata with the metadata of a package with one file, and return the file."""
    metadata = folder / f"cuda_core-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: cuda-core\nVersion: {version}\nAuthor: {author}\n"
    )
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    (metadata / "RECORD").write_text(f"cuda/core/module.py,sha256={digest},5\ncuda_core-{version}.dist-info/RECORD,,\n")
    installed = folder / "cuda" / "core" / "module.py"
    installed.parent.mkdir(parents=True)
    installed.write_bytes(content)
    monkeypatch.syspath_prepend(str(folder))
    return installed


def test_missing_part_of_the_toolkit_is_a_problem(monkeypatch):
    class Pathfinder:
        @staticmethod
        def load_nvidia_dynamic_lib(name):
            raise RuntimeError("none")

        locate_bitcode_lib = locate_nvidia_header_directory = staticmethod(lambda name: None)

    monkeypatch.setitem(sys.modules, "cuda.pathfinder", Pathfinder)
    found = report()
    assert "NVVM was not found: NVVM IR cannot be compiled" in [problem["what"] for problem in found["problems"]]
    assert {row["name"]: row["path"] for row in found["toolkit"]}["CUDA headers"] is None


@pytest.mark.parametrize("name", ["CUDA_HOME", "CUDA_PATH"])
def test_variables_without_a_directory_are_a_problem(monkeypatch, tmp_path, name):
    other = {"CUDA_HOME": "CUDA_PATH", "CUDA_PATH": "CUDA_HOME"}[name]
    monkeypatch.setenv(other, str(tmp_path))
    monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    found = report()
    assert found["environment"][name] == str(tmp_path / "nowhere")
    assert f"{name} is not a directory: '{tmp_path}/nowhere'" in texts(found)
    assert f"{other} is not" not in texts(found)


@pytest.mark.requires(software=True)
def test_automatic_choice_is_reported_as_such():
    found = report_of(CUDA_CORE_DEVICE="auto")
    assert (found["software_device"]["choice"], found["environment"]["CUDA_CORE_DEVICE"]) == ("auto", "auto")


@pytest.mark.requires(software=True)
def test_old_driver_is_a_problem():
    found = report_of(CUDA_EMULATOR_DRIVER_VERSION="12010")
    assert found["driver"]["cuda_version"] == "12.1"
    assert "at least 12.2" in texts(found)


@pytest.mark.requires(software=True)
def test_hidden_devices_are_a_problem_with_advice():
    found = report_of(CUDA_VISIBLE_DEVICES="")
    assert found["devices"] == [] and found["driver"]["cuda_version"] is None
    assert "the CUDA driver cannot be initialized: CUDA_ERROR_NO_DEVICE" in texts(found)
    assert "CUDA_ERROR_NO_DEVICE" in texts(found) and "check nvidia-smi, CUDA_VISIBLE_DEVICES" in texts(found)


def test_no_device_is_a_problem_with_advice():
    code = "import cuda.core\ncuda.core.Device = type('Device', (), {'get_all_devices': classmethod(lambda cls: ())})"
    found = report_of(code, CUDA_VISIBLE_DEVICES="0")
    assert found["devices"] == []
    if found["driver"]["cuda_version"]:
        assert "the driver reports no device (CUDA_VISIBLE_DEVICES may hide some) -> " in texts(found)
        assert "CUDA_CORE_DEVICE=auto" in texts(found)


@pytest.mark.requires(software=True)
def test_broken_device_does_not_end_the_report():
    with cuda.emulator.fail("cuDeviceTotalMem*", "CUDA_ERROR_UNKNOWN"):
        found = report()
    assert found["devices"] == []
    assert "device 0 fails: CUDA_ERROR_UNKNOWN" in texts(found)


def test_cache_size_counts_files(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "cuda-python" / "deep"
    folder.mkdir(parents=True)
    (folder / "file").write_bytes(b"12345")
    assert report()["caches"] == {"path": str(folder.parent), "files": 1, "bytes": 5}


def test_caches_that_cannot_be_written_are_a_problem(monkeypatch, tmp_path):
    (tmp_path / "file").touch()  # not executable, even for root
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    found = report()
    assert found["caches"]["files"] == 0
    assert f"{tmp_path}/file/cuda-python is not writable" in texts(found)


def test_without_a_home_directory_there_are_no_caches(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "~")
    assert report()["caches"] == {"path": None, "files": 0, "bytes": 0}
