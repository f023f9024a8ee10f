# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The process that makes the calls: ``python -m fuzz.worker``, started by ``fuzz.campaign``.

It writes the number of the current case to a file, which the parent reads if the process crashes or hangs.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import inspect
import itertools
import json
import mmap
import os
import random
import signal
import struct
import sys
import time
import traceback
import warnings

STATE = struct.Struct("=q")  # the number of the current case
BLOCKS = 24  # each pass over the targets uses one of so many parts of the values


def cases(targets: list, seed: int):
    """Yield (target, name of a value) endlessly: first each pair once, then random pairs."""
    from fuzz.values import NAMES

    rng = random.Random(seed)
    order = list(targets)
    rng.shuffle(order)
    for block in range(BLOCKS):
        for number, target in enumerate(order):
            if target.parameter is None:
                if block == 0:
                    yield target, None
                continue
            for name in NAMES[(block + number) % BLOCKS :: BLOCKS]:
                yield target, name
    while True:
        yield rng.choice(order), rng.choice(NAMES)


class Caller:
    """Makes one call after another, and returns the findings."""

    def __init__(self, seed: int):
        from cuda.core import Device
        from fuzz import surface

        Device(0).set_current()
        self.surface = surface
        self.subjects = surface.Subjects()
        self.targets = surface.targets(self.subjects)
        self.seed = seed
        self.subject = None
        self.of = None
        self.counts = collections.Counter()
        self.unraisable = []
        sys.unraisablehook = self.unraisable.append

    def call(self, number: int, target, name: str | None) -> dict | None:
        """Make one call, and return the finding, or None."""
        from fuzz import verdict

        rng = random.Random(f"{self.seed} {number}")
        subject = self.subject_for(target)
        self.unraisable.clear()
        problem = None
        try:
            self.make_call(target, name, subject, rng)
            self.counts["returned"] += 1
        except Exception as error:
            self.counts[type(error).__name__] += 1
            if reason := verdict.complaint(error, target, name):
                problem = (reason, "".join(traceback.format_exception(error))[-1500:])
        if problem is None and is_output_closed():
            problem = ("it closed a file of the process", "descriptor 1")
        if self.unraisable and problem is None:
            info = self.unraisable[0]
            if not isinstance(info.exc_value, verdict.Hostile):
                text = f"{info.exc_type}: {info.exc_value} in {info.object!r}"
                problem = ("an exception that cannot be caught", text)
        self.unraisable.clear()
        if problem is None:
            return None
        self.of = None
        return {"case": number, "call": describe(target, name), "reason": problem[0], "text": problem[1]}

    def subject_for(self, target):
        """Return an open object for the target: the last call's object, if it fits the target and is still open."""
        if target.subject is None:
            return None
        if self.of != target or getattr(self.subject, "is_closed", False) is True:
            self.subject, self.of = self.subjects.make(target.subject), target
        return self.subject

    def is_trusted(self, target) -> bool:
        """Return whether the parameter takes addresses, handles or timeouts, so that numbers are not passed to it."""
        if target.parameter == "*":  # any parameter may get the value
            return any(t.parameter in self.surface.TRUSTED for t in self.targets if t.name == target.name)
        return target.parameter in self.surface.TRUSTED

    def make_call(self, target, name, subject, rng) -> None:
        from fuzz import arguments, values

        hostile = None if name is None else values.make(name, subject)
        if self.is_trusted(target) and values.is_address(hostile):
            return
        if target.kind == "read":
            result = getattr(subject, target.member)
        elif target.kind == "set":
            result = setattr(subject, target.member, hostile)
        elif target.kind == "operator":
            extra = (arguments.BY_NAME["value"](),) if target.member == "__setitem__" else ()
            result = getattr(type(subject), target.member)(subject, hostile, *extra)
        else:
            function = self.surface.find(target.member) if subject is None else getattr(subject, target.member)
            result = call_with(function, target.parameter, hostile, rng)
        look_at(result)
        if subject is not None:
            repr(subject)
            hash(subject) if type(subject).__hash__ is not None else None


def is_output_closed() -> bool:
    """Return whether the call closed standard output, or gave its descriptor to another file; restore it."""
    try:
        if os.path.sameopenfile(1, _output):
            return False
    except OSError:
        pass
    os.dup2(_output, 1)
    return True


_output = os.dup(1)


def describe(target, name: str | None) -> str:
    """Return the description of a call."""
    what = f"{target.kind} {target.name}"
    return what if target.parameter is None else f"{what}: {target.parameter} = <{name}>"


def call_with(function, parameter: str, hostile, rng: random.Random):
    """Return the result of a call with a hostile value for one parameter."""
    from fuzz import arguments

    positional, named = arguments.arguments_of(function, rng=rng)
    if parameter == "*" or parameter.isdecimal():
        return function(*positional, hostile)
    if parameter == "**":
        return function(*positional, **named, **{hostile if isinstance(hostile, str) else "no_such_name": hostile})
    if parameter.startswith("**"):
        return function(*positional, **named, x=hostile)
    if parameter.startswith("*"):
        kinds = inspect.signature(function).parameters.items()
        before = [named.pop(key) for key, kind in kinds if key in named and kind.kind is kind.POSITIONAL_OR_KEYWORD]
        return function(*positional, *before, hostile, **named)
    kind = inspect.signature(function).parameters[parameter].kind
    if kind is inspect.Parameter.POSITIONAL_ONLY:
        index = [key for key in inspect.signature(function).parameters].index(parameter)
        positional[index : index + 1] = [hostile]
        return function(*positional, **named)
    return function(*positional, **(named | {parameter: hostile}))


def look_at(result) -> None:
    """Use a result of unknown type: print it, or read the first items of a generator."""
    # Dataclasses and tuples hold hostile values, whose repr may raise.
    if type(result).__module__.startswith("cuda.core") and not hasattr(type(result), "__match_args__"):
        repr(result)
    if inspect.isgenerator(result):
        list(itertools.islice(result, 3))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--stop", type=int, default=1 << 60, help="the first case that is not made")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--describe", type=int, help="only print the description of this case")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--state", default=os.devnull)
    options = parser.parse_args()
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    warnings.simplefilter("ignore")
    if options.state == os.devnull:
        state = bytearray(STATE.size)
    else:
        with open(options.state, "r+b") as file:
            state = mmap.mmap(file.fileno(), STATE.size)
    STATE.pack_into(state, 0, -1)
    caller = Caller(options.seed)
    if options.describe is not None:
        print(describe(*next(itertools.islice(cases(caller.targets, options.seed), options.describe, None))))
        return 0
    end = time.monotonic() + options.seconds
    done = 0
    for number, (target, name) in enumerate(cases(caller.targets, options.seed)):
        if number < options.start or number % options.step != options.start % options.step:
            continue
        if number >= options.stop or time.monotonic() > end:
            break
        STATE.pack_into(state, 0, number)
        found = caller.call(number, target, name)
        done += 1
        if found:
            print(json.dumps({"finding": found}), flush=True)
    end_of_all = {"done": done, "next": number, "targets": len(caller.targets), "counts": caller.counts}
    print(json.dumps(end_of_all), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
