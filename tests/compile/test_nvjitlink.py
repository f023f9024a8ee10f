# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Links of nvJitLink: one thread uses them all, whatever threads, forks, exits and failures do with the linkers."""

import gc
import pickle
import signal
import subprocess
import sys
import threading

import pytest

from cuda.core import CUDAError, CUDAWarning, Linker, LinkerOptions, ObjectCode
from cuda.core._compile import _nvjitlink
from cuda.core._compile._nvjitlink import destroy, fetch_log
from cuda.core.typing import ObjectCodeFormatType
from support.code import ARCH, INTERRUPT, MAIN, PART, compiled, runtime_object
from support.threads import run_in_threads

pytestmark = pytest.mark.requires(nvrtc=True, nvjitlink=True, software=False)

SMALL = """
from cuda.core import Linker, LinkerOptions, ObjectCode
ptx = ObjectCode.from_ptx(b'.version 7.8\\n.target sm_90\\n.address_size 64\\n.visible .entry f() { ret; }\\n')
def make():
    return Linker(ptx, options=LinkerOptions(arch='sm_90'))
"""


def linker_of(kind="cubin"):
    return Linker(compiled(MAIN, kind), compiled(PART, kind), options=LinkerOptions(arch=ARCH))


def run_in_child(script):
    command = [sys.executable, "-W", "ignore", "-c", SMALL + script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout, done.stderr


class OtherThread:
    """A thread that makes calls for the test until ``end()``."""

    def __init__(self):
        self._calls = []
        self._has_call = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self):
        while True:
            self._has_call.acquire()
            function, results, is_done = self._calls.pop()
            if function is None:
                return
            results.append(function())
            del function
            is_done.set()

    def __call__(self, function):
        results, is_done = [], threading.Event()
        self._calls.append((function, results, is_done))
        self._has_call.release()
        assert is_done.wait(30)
        return results[0]

    def end(self):
        self._calls.append((None, None, None))
        self._has_call.release()
        self._thread.join()


@pytest.fixture
def other():
    thread = OtherThread()
    yield thread
    thread.end()


def links():
    """Return how many links exist after those that were dropped have been destroyed."""
    gc.collect()
    _nvjitlink.call_on_linker_thread(gc.collect)
    return sum(type(item).__name__ == "Link" for item in gc.get_objects())


def test_many_threads_link_concurrently():
    results = []
    inputs = compiled(MAIN, "ptx"), compiled(PART, "ptx")
    link = lambda: results.append(Linker(*inputs, options=LinkerOptions(arch=ARCH)).link("cubin").code)  # noqa: E731
    threads = [threading.Thread(target=link) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert len(set(results)) == 1


def test_many_threads_use_one_linker():
    expected = linker_of("ptx").link("cubin").code
    for _ in range(10):
        linker = linker_of("ptx")
        codes = []

        def use(number, linker=linker, codes=codes):
            if number == 0:
                codes.append(linker.link("cubin").code)  # uses a link of this thread
            for _ in range(20):
                assert (linker.get_error_log(), linker.get_info_log()) == ("", "")
                assert linker.handle is not None

        assert run_in_threads(use) == []
        assert codes == [expected]


# nvJitLink corrupts memory if a thread uses or destroys a link that another thread created.


@pytest.mark.parametrize("kind", ["cubin", "ptx"])
def test_threads_use_and_close_linkers_of_each_other(other, kind):
    expected = linker_of(kind).link("cubin").code
    for _ in range(10):
        here, there = linker_of(kind), other(lambda: linker_of(kind))
        assert other(lambda: here.link("cubin")).code == there.link("cubin").code == expected  # noqa: B023
        dropped = [linker_of(kind), other(lambda: linker_of(kind))]
        other(here.close)
        there.close()
        other(dropped.clear)
        assert other(lambda: linker_of(kind).link("cubin")).code == expected


def test_links_of_one_thread_are_used_in_any_order():
    expected = linker_of().link("cubin").code
    linkers = [linker_of() for _ in range(4)]
    linkers.pop(1).close()
    assert linkers[2].link("cubin").code == expected
    del linkers[0]
    assert [linker.link("cubin").code for linker in (linkers[0], linker_of())] == [expected] * 2


def test_dropped_links_are_destroyed(other):
    before = links()
    dropped = [linker_of("ptx"), other(linker_of), linker_of("ptx")]
    assert links() == before + 3
    dropped.pop().close()
    assert links() == before + 2
    other(dropped.clear)
    assert links() == before


def test_ctrl_c_ends_a_link_and_the_next_one_is_made():
    script = (
        INTERRUPT
        + """
from cuda.core import Program, ProgramOptions
numbers = range(1500)
source = "".join(
    'extern "C" __device__ int h@(int x) { for (int i = 0; i < x; i++) x = x * x + @; return x; }'.replace('@', str(i))
    for i in numbers
) + 'extern "C" __global__ void f(int* p) { int x = *p; *p = ' + '+'.join(f'h{i}(x)' for i in numbers) + '; }'
options = ProgramOptions(arch='sm_90', relocatable_device_code=True, link_time_optimization=True)
slow = Program(source, 'c++', options).compile('ltoir')
linker = Linker(slow, options=LinkerOptions(arch='sm_90', link_time_optimization=True))
threading.Thread(target=send).start()
try: linker.link('cubin')
except KeyboardInterrupt: back(); print('interrupted')
print(len(make().link('cubin').code) > 100)
linker.close()
print(linker.is_closed)
"""
    )
    assert run_in_child(script) == (0, "interrupted\nTrue\nTrue\n", "")


def test_signal_handler_links_in_the_middle_of_a_link():
    linked = []
    expected = linker_of().link("cubin").code
    before = signal.signal(signal.SIGALRM, lambda *_: linked.append(linker_of("ptx").link("cubin").code))
    try:
        linker = linker_of("ptx")
        while len(linked) < 3:
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            code = linker_of("ptx").link("cubin").code
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert linker.link("cubin").code == code
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert set(linked) == {expected}


def test_links_outlive_the_thread_that_created_them():
    other = OtherThread()
    kept = other(linker_of)
    handle = kept.handle
    assert handle != 0
    other.end()
    assert kept.handle == handle
    assert kept.link("cubin").code == linker_of().link("cubin").code
    kept.close()
    assert (kept.handle, kept.is_closed) == (0, True)


def test_logs_are_readable_on_other_threads(other):
    linker = Linker(compiled(MAIN, "cubin"), options=LinkerOptions(arch=ARCH))
    assert other(linker.get_error_log) == ""
    with pytest.raises(CUDAError, match="Undefined reference to 'part'"):
        linker.link("cubin")
    assert "Undefined reference to 'part'" in other(linker.get_error_log)
    other(linker.close)
    assert "Undefined reference to 'part'" in linker.get_error_log()


FOREIGN = """
from cuda.core import Program, ProgramOptions
def compile(source, target, arch):
    return Program(source, "c++", ProgramOptions(relocatable_device_code=True, arch=arch)).compile(target)
MAIN = 'extern "C" __device__ int add(int a); extern "C" __global__ void k(int* x) { *x = add(*x); }'
ADD = 'extern "C" __device__ int add(int a) { return a + 1; }'
main, ptx = compile(MAIN, "cubin", "sm_90"), compile(ADD, "ptx", "sm_90")
def fail(code=None):
    code = code or compile(ADD, "cubin", ARCH)
    try: Linker(main, code, options=LinkerOptions(arch="sm_90")).link("cubin")
    except Exception as error: say(str(error).split()[0])
def link(code=ptx):
    say(Linker(main, code, options=LinkerOptions(arch="sm_90")).link("cubin").code_type)
def say(word):
    sys.stdout.write(word + chr(10))  # in one piece, which print() does not promise where several threads write
def on_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
import sys, threading
"""


# After it rejects machine code of another architecture, nvJitLink keeps a lock of the thread. 13.0 accepts sm_90a.
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_100"])
@pytest.mark.parametrize("order", ["fail(); link()", "on_thread(fail); link()", "fail(); on_thread(link)"])
def test_valid_link_works_after_a_failed_one(arch, order):
    assert run_in_child(f"ARCH = {arch!r}\n{FOREIGN}\n{order}") == (0, "ERROR_INVALID_INPUT\ncubin\n", "")


def test_cubins_and_ptx_link_after_failures_on_many_threads():
    script = """
threads = [threading.Thread(target=target) for target in (fail, link, fail, link)]
for thread in threads: thread.start()
for thread in threads: thread.join()
link(compile(ADD, "cubin", "sm_90"))
"""
    code, out, err = run_in_child(f"ARCH = 'sm_80'\n{FOREIGN}{script}")
    assert (code, sorted(out.split()), err) == (0, ["ERROR_INVALID_INPUT"] * 2 + ["cubin"] * 3, "")


def test_valid_link_works_after_a_failed_file(tmp_path):
    script = f"""
from pathlib import Path
path = Path({str(tmp_path / "old.cubin")!r})
path.write_bytes(compile(ADD, "cubin", ARCH).code)
fail(ObjectCode.from_cubin(str(path)))
on_thread(link)
"""
    assert run_in_child(f"ARCH = 'sm_80'\n{FOREIGN}{script}") == (0, "ERROR_INVALID_INPUT\ncubin\n", "")


def test_linker_thread_can_link_in_a_finalizer():
    linker = linker_of()
    results = []

    class Finalized:
        def __del__(self):
            results.append(linker.link("cubin").code_type)

    _nvjitlink.linker_thread().post(Finalized)  # creates one there, and drops it
    links()
    assert results == ["cubin"]


def test_exit_links_and_closes():
    script = """
import atexit
kept = make()
atexit.register(lambda: print(kept.link('cubin').code_type, flush=True))
class Late:
    def __del__(self, linker=kept):
        linker.close()
late = Late()
"""
    assert run_in_child(script) == (0, "cubin\n", "")


def test_close_during_a_link_waits_or_rejects_the_link():
    for _ in range(10):
        linker = linker_of("ptx")
        thread = threading.Thread(target=linker.close)
        thread.start()
        try:
            assert linker.link("cubin").code.startswith(b"\x7fELF")
        except RuntimeError as error:
            assert "this Linker is closed" in str(error)
        thread.join()
        assert linker.is_closed
        assert linker.handle == 0


def test_closed_back_end_is_rejected():
    linker = linker_of()
    linker.close()
    with pytest.raises(RuntimeError, match="this Linker is closed"):
        linker._linker.link(ObjectCodeFormatType.CUBIN)
    with pytest.raises(RuntimeError, match="this Linker is closed"):
        linker._linker.add(ObjectCodeFormatType.PTX, b"text", "late")


def test_forked_child_creates_its_own_links():
    script = """
import os
made = make()
child = os.fork()
if child == 0:
    code = made.link('cubin').code
    made.close()
    del made
    os._exit(7 * (code == make().link('cubin').code))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(made.link('cubin').code) > 100)
"""
    assert run_in_child(script) == (0, "7 True\n", "")


def test_child_forked_while_other_threads_have_links_can_link():
    script = """
import os, threading
made, is_linked, go = [], threading.Event(), threading.Event()
def work():
    made.append(make())
    made[0].link('cubin')
    is_linked.set()
    go.wait()
thread = threading.Thread(target=work)
thread.start()
is_linked.wait()
child = os.fork()
if child == 0:
    made.clear()
    os._exit(7 * (len(make().link('cubin').code) > 100))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
go.set()
thread.join()
"""
    assert run_in_child(script) == (0, "7\n", "")


@pytest.mark.parametrize("thread", ["", "import threading\nthreading.Thread(target=run, daemon=True).start()\n"])
def test_exit_with_open_linkers_is_silent(thread):
    script = f"""
import time
def run():
    global kept
    kept = make()
    kept.link('cubin')
    kept.again = kept
    print('linked', flush=True)
    if {bool(thread)}:
        time.sleep(60)
{thread or "run()"}
while 'kept' not in globals() or not hasattr(kept, 'again'): pass
time.sleep(0.1)
"""
    assert run_in_child(script) == (0, "linked\n", "")


def test_log_that_cannot_be_fetched_raises():
    for kind, entry in (("error", "nvJitLinkGetErrorLog"), ("info", "nvJitLinkGetInfoLog")):
        with pytest.raises(CUDAError, match=f"{entry}.*\n.*cannot be fetched"):
            fetch_log(0, kind)


def test_failed_release_warns():
    with pytest.warns(CUDAWarning, match="releasing the linker 0x[0-9a-f]+ failed: .*nvJitLinkDestroy"):
        destroy(0)


@pytest.mark.parametrize("arch", ["sm_9", "sm_09", "lto_8", "99", "sm_", "", "native", "sm_90 -g", "sm_90\n"])
def test_architectures_that_end_the_process_are_rejected(arch):
    from cuda.bindings.nvjitlink import nvJitLinkError

    with pytest.raises(nvJitLinkError, match="such as 'sm_90'; the loaded nvJitLink .* does not support these options"):
        Linker(compiled(PART, "cubin"), options=LinkerOptions(arch=arch))


def test_names_of_inputs_in_the_log_outlive_the_call():
    name = "number {} of the program"
    code = ObjectCode.from_ptx(compiled(MAIN, "ptx").code, name=name.format(7))
    linker = Linker(code, options=LinkerOptions(arch=ARCH))
    gc.collect()
    with pytest.raises(CUDAError, match="'part' in 'number 7 of the program'"):
        linker.link("cubin")


def damaged_cubin():
    code = bytearray(compiled(MAIN, "cubin").code)
    code[58:60] = b"\1\0"  # the size of section headers
    return bytes(code)


@pytest.mark.parametrize("place", ["bytes", "file"])
def test_malformed_input_raises_value_error_and_nvjitlink_error(place, tmp_path):
    from cuda.bindings.nvjitlink import nvJitLinkError

    code = damaged_cubin()
    if place == "file":
        (tmp_path / "damaged").write_bytes(code)
        code = tmp_path / "damaged"
    with pytest.raises(ValueError, match="is corrupt: its section headers have 1 bytes") as caught:
        Linker(ObjectCode.from_cubin(code), options=LinkerOptions(arch=ARCH))
    assert isinstance(caught.value, nvJitLinkError)
    assert isinstance(caught.value, CUDAError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (type(caught.value), str(caught.value))


@pytest.mark.requires(cudadevrt=True)
def test_files_of_host_objects_are_linked(tmp_path):
    (tmp_path / "runtime.o").write_bytes(runtime_object())
    code = ObjectCode.from_object(str(tmp_path / "runtime.o"))
    linked = Linker(compiled(PART, "cubin"), code, options=LinkerOptions(arch=ARCH)).link("cubin")
    assert linked.code.startswith(b"\x7fELF")
