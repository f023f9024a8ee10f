# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The first calls of the fuzz, and tests that it detects bad results; ``.ci/fuzz`` runs it for a minute."""

import os

import pytest

from fuzz import campaign, surface, values, verdict, worker
from fuzz.surface import Target

CASES = 800  # the same on machines of any speed

pytestmark = pytest.mark.requires(device=True, nvrtc=True)


@pytest.fixture(scope="module")
def targets():
    """All targets of this process."""
    from cuda.core import Device

    Device(0).set_current()
    return surface.targets(surface.Subjects())


def test_hostile_values_get_documented_exceptions():
    result = campaign.run(120, stop=CASES)
    assert result.findings == []
    assert result.calls == CASES and result.targets > 2500


def test_there_are_enough_values():
    assert len(values.NAMES) > 130 and len(set(values.NAMES)) == len(values.NAMES)


@pytest.mark.parametrize(
    "name",
    [
        "launch: config",
        "Buffer: args",
        "ProgramOptions: std",
        "_stream.Stream.wait: event_or_stream",
        "_memory._buffer.Buffer.fill: value",
        pytest.param("MulticastObject: devices", marks=pytest.mark.requires(multicast=True)),
        pytest.param(
            "_memory._multicast.MulticastObject.bind: offset",
            marks=pytest.mark.requires(multicast=True, software=True),
        ),
        "_launch_config.LaunchConfig.grid: value",
        "_layout._StridedLayout.__eq__: other",
        "graph._graph.GraphDefinition.memcpy: dst",
        "system._device.Device.name: None",
        "utils.copy_batch: dsts",
    ],
)
def test_targets_include_each_kind_of_callable(targets, name):
    names = {f"{target.name}: {(target.parameter or 'None').lstrip('*')}" for target in targets}
    assert name in names


def test_cases_are_the_same_for_the_same_seed(targets):
    def some(seed):
        return [case for case, _ in zip(worker.cases(targets, seed), range(500), strict=False)]

    assert some(1) == some(1) != some(2)


class ClosedAttributeError(RuntimeError, AttributeError):
    """Like the error of a property of a closed object."""


CALL = Target("Buffer.fill", "Buffer", "call", "fill", "value")
SET = Target("Buffer.size", "Buffer", "set", "size", "value")


@pytest.mark.parametrize(
    ("error", "target"),
    [
        (ValueError("Exceeds the limit (4300 digits) for integer string conversion"), CALL),
        (RecursionError("maximum recursion depth exceeded"), CALL),
        (KeyError("x"), CALL),
        (AttributeError("'NoneType' object has no attribute 'x'"), CALL),
        (AttributeError("'NoneType' object has no attribute 'x'"), SET),
        (TypeError("'NoneType' object is not callable"), CALL),
        (TypeError("'float' object is not iterable"), CALL),
        (TypeError(""), CALL),
        (SystemError("x"), CALL),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), CALL),
    ],
    ids=lambda value: str(value)[:30],
)
def test_internal_errors_are_findings(error, target):
    assert verdict.complaint(error, target, "None")


@pytest.mark.parametrize(
    ("error", "target", "value"),
    [
        (TypeError("value must be an int, not str"), CALL, "str"),
        (values.Hostile(), CALL, "__index__ raises"),
        (AttributeError("attribute 'size' of 'Buffer' objects is not writable"), SET, "0"),
        (ReferenceError(), CALL, "dead reference"),
        (KeyError("x"), Target("Cache.get", "Cache", "operator", "__getitem__", "key"), "str"),
        (ClosedAttributeError("this Buffer is closed"), CALL, "closed buffer"),
        (TypeError("int() argument must be a string, not 'Device'"), CALL, "int type"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_documented_errors_are_not_findings(error, target, value):
    assert verdict.complaint(error, target, value) is None


CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"


@pytest.mark.parametrize(("body", "reason"), [(CRASH, "a crash, status -11"), ("while True: pass", "a hang")])
def test_crash_and_a_hang_are_findings(monkeypatch, tmp_path, body, reason):
    (tmp_path / "sitecustomize.py").write_text(
        "import faulthandler, signal, struct, sys\n"
        "place = next((a.partition('=')[2] for a in sys.orig_argv if a.startswith('--state=')), None)\n"
        "if place:\n"
        "    faulthandler.register(signal.SIGUSR1)\n"
        "    open(place, 'r+b').write(struct.pack('=q', 7))\n"
        f"    {body}\n"
    )
    monkeypatch.setattr(campaign, "PATIENCE", 0.1)
    monkeypatch.setattr(campaign, "environment", lambda: os.environ | {"PYTHONPATH": str(tmp_path)})
    result = campaign.run(0.3, workers=1)
    assert {(finding["reason"], finding["case"]) for finding in result.findings} == {(reason, 7)}
    assert result.ends() == result.findings
