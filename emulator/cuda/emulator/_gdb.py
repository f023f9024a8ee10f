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


class Kernel(gdb.Command):
    """Commands for kernels: "kernel break", "kernel thread" and "kernel where"."""

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
        place = gdb.selected_frame().find_sal()
        if place.symtab is None:
            raise gdb.GdbError("the program has not stopped in a kernel")
        block = match[2] or "block " + ",".join(_values("block"))
        stop = _Stop(f"{place.symtab.filename}:{place.line}", internal=True)
        stop.wanted = _wanted(f"thread {match[1]} {block}")
        stop.silent = True
        try:
            gdb.execute("continue")
            gdb.execute("frame")
        finally:
            stop.delete()


class _Stop(gdb.Breakpoint):
    """A breakpoint for one block and thread. Kernels are not loaded yet, so gdb would reject a condition."""

    wanted = {}

    def stop(self):
        return all(int(gdb.parse_and_eval(place)) == number for place, number in self.wanted.items())


def _wanted(text):
    """Return the numbers that the indices in such a text must have: ``thread 3 block 1,2``."""
    wanted = {}
    for kind, numbers in re.findall(r"(block|thread)\s+([\d,]+)", text):
        for axis, number in enumerate((numbers.split(",") + ["0", "0"])[:3]):
            wanted[_index(kind, axis)] = int(number)
    return wanted


def _values(kind):
    return [str(gdb.parse_and_eval(_index(kind, axis))) for axis in range(3)]


def _index(kind, axis):
    """Return an expression for a component of the stopped thread's ``blockIdx`` or ``threadIdx``."""
    place = f"*((long*)&emulator_indices + {int(kind == 'thread')})"
    return f"*((unsigned*)($fs_base + {place}) + {axis})"


class KernelWhere(gdb.Command):
    """Print the block and thread of the stopped kernel."""

    def __init__(self):
        super().__init__("kernel where", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        print(f"block ({', '.join(_values('block'))}), thread ({', '.join(_values('thread'))})")


Kernel()
KernelBreak()
KernelThread()
KernelWhere()
