# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every example runs in a child process, succeeds, and prints that it verified its result."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
NOTEBOOK = EXAMPLES / "patterns.ipynb"
GALLERY = ROOT / "docs" / "gallery.md"
PILLOW = pytest.mark.requires(module="PIL")
# The driver tells the types of parameters since CUDA 12.4, for numbers that are passed as they are.
# scikit-image brings SciPy and Pillow, which the example uses too.
NEEDS = {
    **dict.fromkeys(("bitonic_sort", "fft", "game_of_life", "histogram", "monte_carlo_pi"), PILLOW),
    **dict.fromkeys(("overlap", "ray_tracer", "sparse_product", "volume_rendering"), PILLOW),
    **dict.fromkeys(("mandelbrot_zoom", "n_body"), pytest.mark.requires(modules=("PIL", "tqdm"), cuda=(12, 4))),
    **dict.fromkeys(("async_server", "captured_steps"), pytest.mark.requires(cuda=(12, 4))),
    "lto_plugin": pytest.mark.requires(module="PIL", nvjitlink=True),
    "clusters": pytest.mark.requires(compute=(9, 0), cooperative_groups=True),
    "tma_matmul": pytest.mark.requires(compute=(9, 0)),
    "heat_flow": pytest.mark.requires(modules=("PIL", "tqdm")),
    "tensor_cores": pytest.mark.requires(compute=(8, 0)),
    "image_filter": pytest.mark.requires(module="skimage"),
    "opengl_sharing": pytest.mark.requires(graphics_buffers=True),
    "jacobi_graph": pytest.mark.requires(module="scipy", cuda=(12, 3)),
    "texture_zoom": pytest.mark.requires(module="skimage"),
}


# What to run of examples that otherwise wait for work of their users.
ARGUMENTS = {"puzzles": ["--verify"]}


def picture(name: str) -> str | None:
    """Return the name of the picture or trace that an example writes, which its docstring says."""
    found = re.search(r"\[(\w+\.(?:gif|png|json))\]", (EXAMPLES / f"{name}.py").read_text())
    return found and found[1]


def run(name: str, *arguments: object) -> subprocess.CompletedProcess:
    """Run an example as a user would."""
    return python(EXAMPLES / f"{name}.py", *arguments)


def python(*arguments: object, **variables: str) -> subprocess.CompletedProcess:
    command = [sys.executable, *map(str, arguments)]
    # A program is not part of this pytest run, even if it is a test itself.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | variables
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


def programs() -> list:
    names = sorted(path.stem for path in EXAMPLES.glob("*.py"))
    return [pytest.param(name, marks=NEEDS.get(name, ())) for name in names]


@pytest.mark.requires(device=True, nvrtc=True)
@pytest.mark.parametrize("name", programs())
def test_example_verifies_its_result(name, tmp_path):
    arguments = [tmp_path / picture(name)] if picture(name) else []
    done = run(name, *arguments, *ARGUMENTS.get(name, ()))
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(path.stat().st_size > 500 for path in arguments)
    assert "verified" in done.stdout
    assert "Warning" not in done.stderr
    if name in PICTURES:
        PICTURES[name](done, *arguments)


def check_image_filter(done: subprocess.CompletedProcess, path: Path) -> None:
    """Three pictures stand side by side: the photograph, the edges, and the edges that SciPy finds."""
    import numpy as np
    from PIL import Image

    with Image.open(path) as image:
        assert image.format == "PNG"
        pixels = np.asarray(image).astype(int)
    assert pixels.shape == (512, 3 * 512)
    photograph, computed, expected = np.hsplit(pixels, 3)
    assert photograph.std() > 10
    assert computed.max() == 255
    assert np.abs(computed - expected).max() <= 1


def check_texture_zoom(done: subprocess.CompletedProcess, path: Path) -> None:
    """A coarse picture stands beside a smooth one."""
    import numpy as np
    from PIL import Image

    with Image.open(path) as image:
        pixels = np.asarray(image).astype(int)
    assert pixels.shape == (384, 2 * 384, 3)
    nearest, filtered = np.hsplit(pixels, 2)
    assert nearest.std() > 10 and np.abs(nearest - filtered).mean() < 10
    # Nearest pixels repeat, so neighbors are equal, or far apart.
    assert (np.diff(nearest, axis=1) == 0).mean() > 2 * (np.diff(filtered, axis=1) == 0).mean()


def check_heat_flow(done: subprocess.CompletedProcess, path: Path) -> None:
    """Heat spreads in the animation."""
    import numpy as np
    from PIL import Image

    assert "40/40" in done.stderr
    with Image.open(path) as image:
        assert (image.format, image.n_frames) == ("GIF", 41)
        brightness = []
        for frame in (0, 40):
            image.seek(frame)
            brightness.append(np.asarray(image.convert("RGB")).astype(float))
    assert brightness[1].std() < brightness[0].std()


# What a picture shows, checked after the run that wrote it.
PICTURES = {"image_filter": check_image_filter, "texture_zoom": check_texture_zoom, "heat_flow": check_heat_flow}


@pytest.mark.requires(device=True, nvrtc=True, module="PIL", cuda=(12, 4))
def test_notebook_prints_what_it_shows(tmp_path):
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    (tmp_path / "cells.py").write_text("\n".join("".join(cell["source"]) for cell in cells))
    done = python(tmp_path / "cells.py")
    assert done.returncode == 0, done.stderr
    shown = "".join("".join(output.get("text", [])) for cell in cells for output in cell["outputs"])
    number = r"\d+\.\d+"  # times differ
    assert re.sub(number, "", done.stdout) == re.sub(number, "", shown) and "verified" in shown
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert sum("image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"]) == 2
    assert f"examples/{NOTEBOOK.name}" in GALLERY.read_text()


EVERYDAY = sorted(path.stem for path in (EXAMPLES / "everyday").glob("*.py"))
EVERYDAY_NEEDS = {"ipc": {"ipc": True}, "struct_argument": {"cuda": (12, 4)}, "test_scale": {"cuda": (12, 4)}}


@pytest.mark.requires(device=True, nvrtc=True)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.requires(**EVERYDAY_NEEDS.get(name, {}))) for name in EVERYDAY]
)
def test_everyday_program_is_short_and_verifies_its_result(name):
    path = EXAMPLES / "everyday" / f"{name}.py"
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", path] if name.startswith("test_") else [path]
    done = python(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("3 passed" if name.startswith("test_") else "verified") in done.stdout
    assert "Warning" not in done.stderr
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert len(lines) <= 21


@pytest.mark.requires(device=True, nvrtc=True)
@pytest.mark.parametrize("ranks", [1, 3])
def test_stencil_is_divided_among_processes(ranks):
    done = run("stencil_ranks", ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"40 steps by {ranks} rank(s)" in done.stdout and "verified" in done.stdout


MISSING = {
    "heat_flow": "tqdm", "image_filter": "scipy", "jacobi_graph": "scipy", "texture_zoom": "skimage",
    "volume_rendering": "PIL",
}  # fmt: skip


@pytest.mark.parametrize(("name", "module"), MISSING.items())
def test_example_names_a_missing_package(name, module):
    path = str(EXAMPLES / f"{name}.py")
    done = python(
        "-c", f"import runpy, sys; sys.modules[{module!r}] = None; runpy.run_path({path!r}, run_name='__main__')"
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{name}.py needs "), done.stderr
    assert "pip install" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.requires(device=False)
def test_example_without_a_device_fails_with_the_library_error():
    done = run("saxpy")
    assert done.returncode != 0
    assert "verified" not in done.stdout
    assert "Error" in done.stderr.splitlines()[-1] or "driver" in done.stderr


def test_every_example_is_documented_and_checks_its_result():
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text()
        assert '"""' in text, path
        assert "verified" in text, path
        assert "sys.exit(main())" in text or "raise SystemExit(" in text, path
        assert f"examples/{path.name}" in GALLERY.read_text(), path


def test_readme_counts_the_examples():
    count = len(list(EXAMPLES.glob("*.py")))
    assert f"{count} complete programs" in (ROOT / "README.md").read_text()


def test_command_lists_every_example():
    done = python("-P", "-m", "cuda.core.examples")
    assert done.returncode == 0, done.stderr
    listed = [line.split()[0] for line in done.stdout.partition("\n\n")[0].splitlines()]
    assert listed == sorted(path.stem for path in EXAMPLES.glob("*.py"))
    assert "saxpy" in listed and "Compile a kernel from CUDA C++" in done.stdout


@pytest.mark.requires(device=True, nvrtc=True)
def test_command_runs_an_example_and_returns_its_status():
    done = python("-P", "-m", "cuda.core.examples", "matrix_product", "20")
    assert done.returncode == 0 and "verified: both products of 20 x 20" in done.stdout, done.stderr


def test_command_ends_in_silence_if_its_reader_has_enough():
    with subprocess.Popen(
        [sys.executable, "-u", "-P", "-m", "cuda.core.examples"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)


def test_command_names_the_examples_if_there_is_none_of_the_name():
    done = python("-P", "-m", "cuda.core.examples", "nothing")
    assert done.returncode == 2 and "'nothing'" in done.stderr and "saxpy" in done.stderr


@pytest.mark.requires(device=True, nvrtc=True, source=True)
def test_puzzles_are_written_and_graded(tmp_path):
    import runpy

    puzzles = runpy.run_path(str(EXAMPLES / "puzzles.py"))["PUZZLES"]
    assert len(puzzles) == 20
    assert len({puzzle.name for puzzle in puzzles}) == 20
    directory = tmp_path / "mine"
    directory.mkdir()
    for number, puzzle in enumerate(puzzles[:3], 1):
        (directory / f"{number:02}_{puzzle.name}.cu").write_text(puzzle.solution())
    done = run("puzzles", directory)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 of 20 puzzles are solved." in done.stdout
    assert f"Next: {directory / '04_map2d.cu'}" in done.stdout
    assert len(list(directory.iterdir())) == 20
    assert "map2d      Double each pixel" in run("puzzles").stdout
    blocked = run("puzzles", directory / "01_map.cu")
    assert (blocked.returncode, blocked.stderr.count("\n")) == (1, 1), blocked.stderr
    assert blocked.stderr.startswith("the puzzles need a directory: ")
