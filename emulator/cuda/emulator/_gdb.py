# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""gdb commands for kernels on the software device. gdb runs this file."""

import re

import gdb

gdb.execute("set breakpoint pending on")
gdb.execute("set pagination off")
gdb.execute("set debuginfod enabled off")
# The device handles these signals: first accesses to its shadow memory, faults in kernels, and preemption.
for signal in ("SIGSEGV", "SIGBUS", "SIGURG", "SIGFPE", "SIGILL"):
    gdb.execute(f"handle {signal} nostop noprint pass", to_string=True)


# "step" is for the functions of the program.
gdb.execute("skip -gfi */cuda/emulator/device_include/*", to_string=True)
gdb.execute("skip -gfi */cuda/emulator/programs/include/*", to_string=True)
# Expressions can use these variables, which the device has instead of symbols of these names.
for number, variable in enumerate(("threadIdx", "blockIdx", "blockDim", "gridDim")):
    gdb.execute(f"macro define {variable} (*(uint3*)($fs_base + ((long*)&emulator_builtins)[{number}]))")


class Kernel(gdb.Command):
    """Commands for kernels: "kernel break", "kernel thread" and "kernel where".

    In kernels, expressions can use threadIdx, blockIdx, blockDim and gridDim."""

    def __init__(self):
        super().__init__("kernel", gdb.COMMAND_BREAKPOINTS, gdb.COMPLETE_NONE, prefix=True)


class KernelBreak(gdb.Command):
    """Stop at a line of a kernel: kernel break FILE:LINE [block X[,Y[,Z]]] [thread X[,Y[,Z]]]

    FILE is the program's name, "default_program" unless ProgramOptions has a name. Without a block or thread, the
    breakpoint applies to all of them."""

    def __init__(self):
        super().__init__("kernel break", gdb.COMMAND_BREAKPOINTS, gdb.COMPLETE_LOCATION)

    def invoke(self, argument, from_tty):
        match = re.fullmatch(r"(\S+)((?:\s+(?:block|thread)\s+\d+(?:,\d+){0,2})*)\s*", argument)
        if not match:
            raise gdb.GdbError("usage: kernel break FILE:LINE [block X[,Y[,Z]]] [thread X[,Y[,Z]]]")
        _Stop(match[1]).wanted = _wanted(match[2])


class KernelThread(gdb.Command):
    """Continue until another thread is at this line: kernel thread X[,Y[,Z]] [block X[,Y[,Z]]]

    Without a block, it is a thread of the same block. The threads of a block run in turn, so one that has passed this
    line does not reach it again, unless it is in a loop."""

    def __init__(self):
        super().__init__("kernel thread", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        match = re.fullmatch(r"(\d+(?:,\d+){0,2})(\s+block\s+\d+(?:,\d+){0,2})?\s*", argument)
        if not match:
            raise gdb.GdbError("usage: kernel thread X[,Y[,Z]] [block X[,Y[,Z]]]")
        _check_kernel()
        place = gdb.selected_frame().find_sal()
        if place.symtab is None:
            raise gdb.GdbError('there is no source line here; go to one of the kernel with "down"')
        others = [stop for stop in gdb.breakpoints() if stop.enabled and _is_at(stop, place)]
        stop = _Stop(f"{place.symtab.filename}:{place.line}", internal=True)
        stop.wanted = _wanted(f"thread {match[1]} {match[2] or 'block ' + ','.join(_values('block'))}")
        stop.silent = True
        try:
            for other in others:  # would stop in the threads before
                other.enabled = False
            gdb.execute("continue")
            if gdb.selected_thread():  # the program has not ended
                gdb.execute("frame")
        finally:
            stop.delete()
            for other in others:
                other.enabled = True


class _Stop(gdb.Breakpoint):
    """A breakpoint for one block and thread. Kernels are not loaded yet, so gdb would reject a condition."""

    wanted = {}

    def stop(self):
        # gdb moves a breakpoint to another line while the kernel is not loaded, so that it can be in a host function.
        is_wanted = all(int(gdb.parse_and_eval(place)) == number for place, number in self.wanted.items())
        return is_wanted and _is_in_kernel()


class _Fault(gdb.Breakpoint):
    """Stops where a kernel fails, before it ends, and selects the frame of its source."""

    def __init__(self):
        super().__init__("emulator_fault", internal=True)
        self.silent = True
        self.has_stopped = False
        gdb.events.stop.connect(self.show)

    def stop(self):
        self.has_stopped = True
        return True

    def show(self, event):
        if not self.has_stopped:
            return
        self.has_stopped = False
        frame = gdb.newest_frame()
        argument = "x0" if frame.architecture().name().startswith("aarch64") else "rdi"
        title = gdb.parse_and_eval(f"(char*)${argument}").string()
        while frame and (not frame.find_sal().symtab or "/cuda/emulator/" in frame.find_sal().symtab.filename):
            frame = frame.older()
        if frame:
            frame.select()
        print(f"Kernel fault: {title}, in {_place()}")
        gdb.execute("frame")


def _is_at(stop, place):
    """Return whether a breakpoint is at a line of source."""
    try:
        found = gdb.decode_line(stop.location)[1] if stop.location else None
    except gdb.error:  # in code that is not loaded
        return False
    return any(str(spot.symtab) == str(place.symtab) and spot.line == place.line for spot in found or ())


def _wanted(text):
    """Return the numbers that the indices in such a text must have: ``thread 3 block 1,2``."""
    wanted = {}
    for kind, numbers in re.findall(r"(block|thread)\s+([\d,]+)", text):
        for axis, number in zip("xyz", (numbers.split(",") + ["0", "0"])[:3], strict=True):
            wanted[f"{kind}Idx.{axis}"] = int(number)
    return wanted


def _values(kind):
    return [str(gdb.parse_and_eval(f"{kind}Idx.{axis}")) for axis in "xyz"]


def _place():
    return f"block ({', '.join(_values('block'))}), thread ({', '.join(_values('thread'))})"


def _check_kernel():
    """Raise an error unless the selected thread runs a kernel; name those that do."""
    chosen = gdb.selected_thread()
    if chosen is None:
        raise gdb.GdbError("the program is not running")
    if _is_in_kernel():
        return
    running = []
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            if _is_in_kernel():
                running.append(f'"thread {thread.num}"')
    finally:
        chosen.switch()
    advice = f"; select one that does with {' or '.join(sorted(running))}" if running else ", and no other does"
    raise gdb.GdbError(f"thread {chosen.num} of gdb runs no kernel{advice}")


def _is_in_kernel():
    frame = gdb.newest_frame()
    while frame and not (frame.name() or "").startswith("emu::Named<"):  # the caller of every kernel
        frame = frame.older()
    return frame is not None


class KernelWhere(gdb.Command):
    """Print the block and thread of the stopped kernel."""

    def __init__(self):
        super().__init__("kernel where", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        _check_kernel()
        print(_place())


gdb.execute("python _Fault()", to_string=True)  # without the message that there is no such function yet
Kernel()
KernelBreak()
KernelThread()
KernelWhere()
