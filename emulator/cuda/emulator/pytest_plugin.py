# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that runs tests of kernels on the software device, or on a GPU.

It does nothing unless pytest gets one of its options, which begin with ``--cuda-``. The fixtures ``cuda_device`` and
``cuda_stream`` always exist. It uses the public names of whichever ``cuda.core`` is installed.
"""

import argparse
import ctypes
import gc
import os
import sys
import time

import pytest

from cuda import emulator

_MEMORY = ("device memory", "managed memory", "pinned memory", "memory without address")
_FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser):
    group = parser.getgroup("cuda", "tests of CUDA kernels")
    group.addoption(
        "--cuda-device",
        choices=("auto", "software", "hardware"),
        help="run the tests on the software device, on a GPU, or on a GPU if there is one",
    )
    group.addoption(
        "--cuda-check",
        metavar="LIST",
        help="what the software device checks, as in CUDA_EMULATOR_CHECK: all, or a list such as memory,races; implies "
        "--cuda-device=software",
    )
    group.addoption(
        "--cuda-shuffle",
        metavar="N",
        type=_shuffle_count,
        default=0,
        help="run each test N times, each time with another order of unordered work; implies --cuda-device=software",
    )
    group.addoption(
        "--cuda-time-limit",
        metavar="S",
        type=_seconds,
        help="end each kernel on the software device that runs longer than S seconds; 0: no limit. The default is "
        "CUDA_EMULATOR_TIME_LIMIT, or 60",
    )
    group.addoption(
        "--cuda-coverage",
        metavar="DIR",
        help="write the coverage of kernels into this directory, as lcov and as HTML; implies --cuda-device=software",
    )


def _shuffle_count(text):
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be an int of 1 or more, not {text!r}")
    return int(text)


def _seconds(text):
    try:
        if 0 <= float(text) <= 1e9:
            return text
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"must be a number of seconds from 0 to 1000000000, not {text!r}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config, parser, args):
    """Select the device before a conftest.py imports a package that loads the driver."""
    _select_device(early_config.known_args_namespace)
    result = yield
    former = [word for word in args if word == "--cuda" or word.startswith("--cuda=")]
    if former and set(former) & set(parser.parse_known_and_unknown_args(args)[1]):  # a project may have this option
        raise pytest.UsageError("the option --cuda is now --cuda-device")
    return result


def _select_device(options):
    needs_software = options.cuda_check or options.cuda_shuffle or options.cuda_coverage
    if options.cuda_device == "hardware" and needs_software:
        raise pytest.UsageError(
            "--cuda-check, --cuda-shuffle and --cuda-coverage need the software device, not --cuda-device=hardware"
        )
    choice = "software" if needs_software else options.cuda_device
    if choice is None:
        return
    if options.cuda_coverage:
        from cuda.emulator._coverage import prepare

        if "PYTEST_XDIST_WORKER" not in os.environ:  # the main process starts the workers after this
            prepare(options.cuda_coverage)
        os.environ["CUDA_EMULATOR_COVERAGE"] = os.path.abspath(options.cuda_coverage)
    if options.cuda_check:
        os.environ["CUDA_EMULATOR_CHECK"] = options.cuda_check
    if choice == "auto":
        choice = "hardware" if emulator.has_gpu() else "software"
    os.environ["CUDA_CORE_DEVICE"] = choice  # for cuda.core, here and in child processes
    if choice == "software":
        if options.cuda_time_limit is not None:
            os.environ["CUDA_EMULATOR_TIME_LIMIT"] = options.cuda_time_limit
        os.environ.setdefault("CUDA_EMULATOR_TIME_LIMIT", "60")
        try:
            emulator.activate()
        except (RuntimeError, ValueError) as error:
            raise pytest.UsageError(f"the software device cannot be used: {error}") from None


def pytest_configure(config):
    if not _is_on(config) or not emulator.is_active():
        return
    library = emulator._active()
    library.emulator_set_locator(ctypes.cast(_locate, ctypes.c_void_p))
    config.pluginmanager.register(_SoftwareDevice(library, config.getoption("cuda_shuffle")), "cuda-software-device")


def pytest_unconfigure(config):
    if config.pluginmanager.hasplugin("cuda-software-device"):
        emulator._active().emulator_set_locator(None)
    folder = config.getoption("cuda_coverage")
    if folder and emulator.is_active():
        from cuda.emulator._coverage import write_reports

        emulator._active().emulator_finish_coverage()
        if not hasattr(config, "workerinput"):  # a worker of pytest-xdist leaves it to the main process
            hit, total = write_reports(folder)
            print(f"\ncuda: {hit} of {total} lines of kernels ran; see {folder}/index.html")


def pytest_report_header(config):
    if not _is_on(config):
        return None
    checks = os.environ.get("CUDA_EMULATOR_CHECK", "memory")
    return f"cuda: the software device, checks: {checks}" if emulator.is_active() else "cuda: a GPU"


def _is_on(config):
    return any(config.getoption(name) for name in ("cuda_device", "cuda_check", "cuda_shuffle", "cuda_coverage"))


@pytest.fixture
def cuda_device():
    """Device 0, current on this thread."""
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def cuda_stream(cuda_device):
    """A new stream of device 0, synchronized and closed after the test."""
    stream = cuda_device.create_stream()
    yield stream
    if not getattr(stream, "is_closed", False):
        stream.sync()
        stream.close()


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
def _locate(buffer, size):
    """Write the place of the innermost frame that belongs neither to this package nor to ``cuda.core``."""
    frame = sys._getframe(1) if sys._getframe().f_back else None
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("cuda.", "ctypes")):
        frame = frame.f_back
    if frame is not None:
        text = f"{os.path.relpath(frame.f_code.co_filename)}:{frame.f_lineno}".encode()[: size - 1]
        ctypes.memmove(buffer, text + b"\0", len(text) + 1)


class _SoftwareDevice:
    """The hooks that are active while tests run on the software device."""

    def __init__(self, library, seeds):
        self.library = library
        self.seeds = seeds
        self.kept = set()  # memory that was allocated outside of tests

    def pytest_generate_tests(self, metafunc):
        if self.seeds:
            metafunc.fixturenames.append("cuda_seed")
            metafunc.parametrize("cuda_seed", range(1, self.seeds + 1), ids="seed{}".format)

    @pytest.fixture
    def cuda_seed(self, request):
        """The seed of the order in which this test runs unordered work, or None without --cuda-shuffle."""
        return getattr(request, "param", None)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        before = self.memory() if fixturedef.scope != "function" else None
        try:
            return (yield)
        finally:
            if before is not None:
                self.kept |= self.memory() - before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.recover()
        item.stash[_FAILED] = False
        self.kept &= self.memory()
        self.before = self.memory()
        seed = getattr(item, "callspec", None) and item.callspec.params.get("cuda_seed")
        if seed:
            self.library.emulator_shuffle(1, seed)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        """Fail a test whose kernels had a fault that no call has returned, and end its fixtures on a working device."""
        try:
            result = yield
            self.library.emulator_wait(1000)
            faults = emulator._text(self.library.emulator_unreported_faults).strip()
            if faults:
                pytest.fail(f"a kernel had a fault, and the test did not wait for it:\n{faults}", pytrace=False)
            return result
        except BaseException:
            item.stash[_FAILED] = True
            raise
        finally:
            self.recover()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        """Add to the report of a failed test what is needed to repeat it."""
        report = yield
        if report.failed:
            text = f"checks: {os.environ.get('CUDA_EMULATOR_CHECK', 'memory')}"
            seed = getattr(item, "callspec", None) and item.callspec.params.get("cuda_seed")
            report.sections.append(("software device", f"{text}, seed: {seed}" if seed else text))
        return report

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item):
        """Restore the device after the fixtures of the test have ended, and fail a test that leaks memory."""
        try:
            result = yield
        finally:
            self.recover()
            if self.seeds:
                self.library.emulator_shuffle(0, 0)
        if item.stash.get(_FAILED, False):
            return result  # its traceback keeps objects alive
        leaked = self.leaked()
        if leaked:
            pytest.fail("the test did not release:\n  " + "\n  ".join(sorted(leaked)), pytrace=False)
        return result

    def recover(self):
        if self.library.emulator_is_spoiled():
            emulator.reset()

    def memory(self):
        return {line for line in emulator.leaks() if line.startswith(_MEMORY)}

    def leaked(self):
        """Return what the test allocated and has not released. Releases can be deferred until work has completed."""
        for attempt in range(5):
            leaked = self.memory() - self.before - self.kept
            if not leaked:
                break
            gc.collect()
            self.library.emulator_wait(1000)
            if attempt:
                time.sleep(0.01)
        return leaked
