# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A sample of generated kernels is judged as built. ``python -m support.race_kernels 500`` runs many."""

import json

import pytest

from support.race_kernels import generate

pytestmark = pytest.mark.requires(software=True)

COUNT = 24
JUDGE = """
import json, sys
sys.path[:0] = {path!r}
from support.race_kernels import generate, run
print(json.dumps({{case.name: found for case, found in run(generate({count}, seed=4))}}))
"""


@pytest.fixture(scope="module")
def found():
    import os
    import subprocess
    import sys

    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": paths, "CUDA_EMULATOR_CHECK": "races", "CUDA_CORE_DEVICE": "software"}
    command = [sys.executable, "-c", JUDGE.format(path=sys.path, count=COUNT)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", generate(COUNT, seed=4), ids=lambda case: f"{case.name}-{case.pattern}-{case.bug}")
def test_generated_kernel_is_judged_as_it_was_built(found, case):
    assert found[case.name] == case.label, case.source


def test_seed_determines_kernels_and_half_have_a_bug():
    cases = generate(60, seed=3)
    assert cases == generate(60, seed=3)
    assert cases != generate(60, seed=5)
    assert sum(case.label == "none" for case in cases) == 30
    assert len({case.source for case in cases}) == 60
