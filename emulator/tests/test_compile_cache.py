# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The host compiler and the cache of its results: hits, corrupt or planted entries, and missing compilers."""

import os
import runpy
import shutil
import stat
import subprocess
import sys
import threading

import pytest

from support.compiled import Code, Program
from support.paths import SOURCES

KERNEL = '#include "value.h"\nextern "C" __global__ void k(int* x) { x[0] = VALUE; }\n'
CHILD = f"""
import sys
sys.path[:0] = {sys.path!r}
from cuda.bindings import driver
driver.cuInit(0)
from support.compiled import Program
program = Program({KERNEL!r}, "-arch=sm_90", *sys.argv[1:], headers={{"value.h": "#define VALUE 3\\n"}})
print(program.result, program.log)
"""


@pytest.fixture(scope="session")
def first(child, tmp_path_factory):
    """A cache with the entries of CHILD."""
    folder = tmp_path_factory.mktemp("first") / "cache"
    assert child(CHILD, CACHE_DIR=folder).startswith("SUCCESS")
    return folder


@pytest.fixture
def cache(first, tmp_path):
    """A copy of the filled cache, because compiling takes longer than copying."""
    return shutil.copytree(first, tmp_path / "cache")


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in files_of(folder)}


def test_results_are_cached_on_disk(child, tmp_path):
    assert child(CHILD, CACHE_DIR=tmp_path).startswith("SUCCESS")
    files = times(tmp_path)
    assert len(files) >= 2
    assert child(CHILD, CACHE_DIR=tmp_path, CXX=sys.executable).startswith("BUILTIN_OPERATION_FAILURE")
    assert child(CHILD, CACHE_DIR=tmp_path).startswith("SUCCESS")
    assert files == times(tmp_path)


def test_corrupt_entries_are_compiled_again(child, cache):
    for path in files_of(cache):
        path.write_bytes(path.read_bytes()[:-9] + b"something")
    assert child(CHILD, CACHE_DIR=cache).startswith("SUCCESS")


@pytest.mark.parametrize("folder", ["none", "/proc/nothing/here"])
def test_programs_compile_without_a_cache(child, folder):
    out = child(CHILD, CACHE_DIR=folder)
    assert out.startswith("SUCCESS")
    assert ("cannot be written" in out) == (folder != "none")


def test_changed_header_is_compiled_again(driver, tmp_path):
    (tmp_path / "value.h").write_text("#define VALUE 1\n")
    first = Program(KERNEL, "-arch=sm_90", f"-I{tmp_path}").output("PTX")
    assert Program(KERNEL, "-arch=sm_90", f"-I{tmp_path}").output("PTX") == first
    (tmp_path / "value.h").write_text("#define VALUE 22\n")
    assert Program(KERNEL, "-arch=sm_90", f"-I{tmp_path}").output("PTX") != first


@pytest.fixture
def without_zig(tmp_path_factory, monkeypatch):
    """Hides the ziglang package by an empty one."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "ziglang").mkdir()
    (folder / "ziglang" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


def test_log_names_compilers_to_install(child, tmp_path, without_zig):
    out = child(CHILD, CACHE_DIR=tmp_path, CXX="no-such-compiler")
    assert out.startswith("BUILTIN_OPERATION_FAILURE")
    assert "CUDA_EMULATOR_CXX=no-such-compiler does not name an executable program" in out
    code = CHILD.replace("import sys\n", "import sys, os\nos.environ['PATH'] = '/nonexistent'\n", 1)
    assert "install g++ or clang++, or `pip install ziglang`" in child(code, CACHE_DIR=tmp_path)


def run_without_compiler(child, folder, tmp_path):
    """Compile in a working directory, with a PATH that has no compiler."""
    change = f"import sys, os\nos.environ['PATH'] = '/nonexistent'\nos.chdir({str(folder)!r})\n"
    return child(CHILD.replace("import sys\n", change, 1), CACHE_DIR=tmp_path / "cache")


def test_working_directory_module_is_not_run_as_compiler(child, tmp_path, without_zig):
    (tmp_path / "ziglang.py").write_text("open('planted', 'w')\nprint('clang version 1')\n")
    (tmp_path / "importlib").mkdir()
    (tmp_path / "importlib" / "__init__.py").write_text("open('planted', 'w')\n")
    out = run_without_compiler(child, tmp_path, tmp_path)
    assert "install g++ or clang++, or `pip install ziglang`" in out
    assert not (tmp_path / "planted").exists()


def test_installed_package_compiler_is_run_by_path(child, tmp_path, monkeypatch):
    package = tmp_path / "packages" / "ziglang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "zig").write_text(f'#!/bin/sh\nshift\nPATH={os.environ["PATH"]} exec g++ "$@"\n')
    (package / "zig").chmod(0o755)
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    assert "SUCCESS" in run_without_compiler(child, tmp_path, tmp_path)


WORDS = """
import os
os.chdir({folder!r})
from cuda.bindings import driver
driver.cuInit(0)
from support.compiled import Program
program = Program({kernel!r}, {options}, name={name!r})
print(program.result, program.log)
"""


@pytest.mark.parametrize(
    ("name", "option"),
    [("@options/k.cu", ""), ("k.cu", "-I@options"), ("k.cu", "--include-path=@options"), ("=options/k.cu", "")],
)
def test_program_strings_are_not_read_as_option_files(child, tmp_path, name, option):
    (tmp_path / "options").write_text("-o planted\n")
    for folder in ("@options", "=options"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "value.h").write_text("#define VALUE 3\n")
    code = f"import sys\nsys.path[:0] = {sys.path!r}\n"
    code += WORDS.format(kernel=KERNEL, folder=str(tmp_path), name=name, options=repr(option or "-DX"))
    assert child(code, CACHE_DIR="none").startswith("SUCCESS")
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize("option", ["-D@options", "-U@options", "-D1", "-D"])
def test_macro_begins_with_a_letter(driver, tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "options").write_text("-DVALUE=3\n")
    program = Program('extern "C" __global__ void k(int* x) { x[0] = VALUE; }', option)
    kind = "undefinition" if option[1] == "U" else "definition"
    assert program.result == "COMPILATION"
    assert f"invalid macro {kind}: {option[2:]}\n" in program.log


def test_missing_temporary_directory_is_replaced(child, tmp_path):
    code = CHILD.replace("import sys\n", "import sys, os\nos.environ['TMPDIR'] = '/nonexistent'\n", 1)
    assert child(code, CACHE_DIR=tmp_path).startswith("SUCCESS")


def test_no_temporary_files_are_left(child, tmp_path):
    code = CHILD.replace("import sys\n", f"import sys, os\nos.environ['TMPDIR'] = {str(tmp_path)!r}\n", 1)
    assert child(code, CACHE_DIR="none").startswith("SUCCESS")
    assert os.listdir(tmp_path) == []


def test_threads_compile_at_the_same_time(driver):
    results = {}

    def work(index):
        source = f'extern "C" __global__ void k(int* x) {{ x[0] = {index}; }}'
        results[index] = Program(source, "-arch=sm_90").result

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(4), "SUCCESS")


def test_first_compiling_threads_share_precompiled_prelude(child, tmp_path):
    code = CHILD.partition("program =")[0] + (
        "import threading\n"
        "def work(index):\n"
        "    text = f'extern \"C\" __global__ void k(int* x) {{ x[0] = {index}; }}'\n"
        "    program = Program(text, '-arch=sm_90'); results.add((program.result, program.log))\n"
        "results = set(); threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
        "print(results)\n"
    )
    assert child(code, CACHE_DIR=tmp_path) == "{('SUCCESS', '')}\n"


FOREIGN = {
    b"// Generated by NVIDIA NVVM Compiler\n.version 8.0\n.target sm_90\n.address_size 64\n": "NO_BINARY_FOR_GPU",
    b"// comment\n\n.version 8.0\n\0": "INVALID_PTX",
    b"\x50\xed\x55\xba" + bytes(60): "NO_BINARY_FOR_GPU",
    b"BC\xc0\xde" + bytes(60): "NO_BINARY_FOR_GPU",
    b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xbe\x00" + bytes(44): "NO_BINARY_FOR_GPU",
    b"junk, and not very much of it\0": "INVALID_IMAGE",
    b"\x7fELF junk" + bytes(64): "INVALID_IMAGE",
}


@pytest.mark.parametrize("image", FOREIGN)
def test_loading_rejects_foreign_images(driver, context, image):
    arguments = (bytes(image) + bytes(64), [], [], 0, [], [], 0)
    assert driver.result("cuLibraryLoadData", *arguments) == FOREIGN[image]


def test_corrupt_images_never_crash(child):
    code = f"""
import sys, random
sys.path[:0] = {sys.path!r}
from cuda.bindings import driver
from support.compiled import Program
driver.cuInit(0)
context = driver.cuDevicePrimaryCtxRetain(0)[1]
driver.cuCtxSetCurrent(context)
source = 'extern "C" __global__ void k(int* x, float y) {{ __shared__ int s[4]; s[0] = 1; x[0] = s[0]; }}'
image = Program(source, "-arch=sm_90").image
random.seed(1)
results = set()
for i in range(150):
    damaged = bytearray(image)
    for _ in range(random.choice([1, 3, 20])):
        # Headers, tables and names; damaged machine code may do anything, as on a GPU.
        at = random.choice([random.randrange(64), random.randrange(len(image) - 2000, len(image))])
        damaged[at] = random.randrange(256)
    results.add(driver.cuLibraryLoadData(bytes(damaged), [], [], 0, [], [], 0)[0].name)
for size in list(range(0, 200, 7)) + [1000, 5000, len(image) - 1]:
    driver.cuLibraryLoadData(image[:size] + bytes(max(0, 64 - size)), [], [], 0, [], [], 0)
print(sorted(results))
"""
    assert "CUDA_ERROR_INVALID_IMAGE" in child(code)


@pytest.mark.parametrize("options", [["-arch=sm_100"], ["-arch=compute_100"], ["-arch=sm_80"]])
def test_loading_rejects_images_for_another_architecture(driver, context, options):
    image = Program('extern "C" __global__ void k() {}', *options).image
    assert driver.result("cuLibraryLoadData", image, [], [], 0, [], [], 0) == "NO_BINARY_FOR_GPU"


def test_text_modules_are_compiled_for_the_device_when_loaded(driver, context):
    import numpy as np

    program = Program('extern "C" __global__ void k(int* x) { x[threadIdx.x] = __CUDA_ARCH__; }', "-arch=compute_80")
    assert program.image.startswith(b"// cuda.emulator text module")
    out = np.zeros(2, np.int32)
    code = Code(driver, program.image)
    code("k", 1, 2, out)
    code.close()
    assert out.tolist() == [800, 800]


def files_of(folder):
    return sorted(path for path in folder.iterdir() if path.is_file())


def put_fifo(path):
    path.unlink()
    os.mkfifo(path)


def put_folder(path):
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x")


def put_giant(path):
    with open(path, "r+b") as file:  # keeps its valid header
        file.truncate(1 << 40)


def put_link(path):
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


def put_other_users(path):
    os.chown(path, 4321, -1)


def put_writable_by_all(path):
    path.chmod(0o666)


def put_entry_of_another_key(path):
    # The next entry's contents: with three or more entries none gets its own contents back.
    entries = files_of(path.parent)
    path.write_bytes(entries[(entries.index(path) + 1) % len(entries)].read_bytes())


def put_nothing(path):
    path.write_bytes(b"")


MAY_CHOWN = os.geteuid() == 0
PLANTED = [
    *(put_fifo, put_folder, put_giant, put_link, put_writable_by_all, put_entry_of_another_key, put_nothing),
    *([put_other_users] if MAY_CHOWN else []),
]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_files_planted_in_place_of_entries_are_replaced(child, cache, plant):
    entries = {path: path.stat().st_size for path in files_of(cache)}
    assert len(entries) >= 3
    for path in entries:
        plant(path)
    assert child(CHILD, CACHE_DIR=cache).startswith("SUCCESS")
    for path, size in entries.items():
        state = path.lstat()
        assert (state.st_mode, state.st_size, state.st_uid) == (stat.S_IFREG | 0o600, size, os.geteuid())


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_files_and_directories_are_private_with_any_umask(child, tmp_path, umask):
    folder = tmp_path / "some" / "folders"
    code = CHILD.replace("import sys\n", f"import sys, os\nos.umask({umask})\n", 1)
    with_files = code if umask != 0o777 else code.replace(f"os.umask({umask})", "pass")
    assert child(with_files, CACHE_DIR=folder).startswith("SUCCESS")
    modes = {path: path.stat().st_mode & 0o777 for path in [folder.parent, *tmp_path.rglob("*")]}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_prelude_in_directory_writable_by_others_is_not_used(child, cache):
    folders = [path for path in cache.iterdir() if path.is_dir()]
    for path in files_of(cache):
        path.unlink()
    for folder in folders:
        (folder / "emulator_prelude.h.gch").write_bytes(b"planted")
        folder.chmod(0o777)
    assert child(CHILD, CACHE_DIR=cache).startswith("SUCCESS")
    assert {(folder / "emulator_prelude.h.gch").read_bytes() for folder in folders} <= {b"planted"}


def test_prelude_in_cache_writable_by_others_is_not_used(child, cache):
    (prelude,) = cache.glob("prelude-*/emulator_prelude.h.gch")
    time = prelude.stat().st_mtime_ns
    for path in files_of(cache):
        path.unlink()
    prelude.write_bytes(b"planted")
    cache.chmod(0o777)
    assert child(CHILD, CACHE_DIR=cache).startswith("SUCCESS")
    assert prelude.stat().st_mtime_ns > time and prelude.read_bytes() == b"planted"


@pytest.mark.requires(compiler=True, source=True)
def test_removing_directory_does_not_follow_links(tmp_path):
    source = SOURCES / "front" / "process.cpp"
    (tmp_path / "main.cpp").write_text(
        f'#include "{source}"\nuint64_t emu::file_size_limit() {{ return UINT64_MAX; }}\n'
        "int main(int, char** words) { emu::front::remove_folder(words[1]); }\n"
    )
    program = tmp_path / "program"
    runpy.run_path(str(source.parents[1] / "generate.py"))["generate"](tmp_path / "generated")
    headers = f"-I{tmp_path / 'generated'}"
    subprocess.run(["g++", "-std=c++17", headers, tmp_path / "main.cpp", "-o", program], check=True)
    for name in ("kept", "removed/inner"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "removed" / "inner" / "link").symlink_to(tmp_path / "kept")
    for name in ("link", "removed"):
        subprocess.run([program, tmp_path / name], check=True)
    assert not (tmp_path / "removed").exists()
    assert (tmp_path / "link").is_symlink() and (tmp_path / "kept" / "file").exists()


def test_copy_of_the_cache_is_used(child, cache):
    before = times(cache)
    assert child(CHILD, CACHE_DIR=cache).startswith("SUCCESS")
    assert times(cache) == before


def test_full_disk_prevents_only_the_entry(child, first, tmp_path):
    sizes = [path.stat().st_size for path in files_of(first)]
    # Entries are a little longer than the files that the compiler writes into its own directory.
    limit = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({max(sizes) - 1},) * 2)\n"
    folder = tmp_path / "second"
    assert child(CHILD.replace("import sys\n", "import sys\n" + limit, 1), CACHE_DIR=folder).startswith("SUCCESS")
    left = [path.stat().st_size for path in files_of(folder)]
    assert sorted(left) == sorted(sizes)[:-1]
