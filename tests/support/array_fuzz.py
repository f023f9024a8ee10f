# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fuzzer of array imports: random objects with malformed array protocols, passed to everything that reads arrays.

A reader must raise one of the exceptions in ``ALLOWED``, or return a view whose attributes agree with each other, and
must keep no reference to the object. The addresses are invented, so the memory is never accessed.

    cd tests && CUDA_CORE_DEVICE=auto PYTHONPATH=$PWD/..:. python -m support.array_fuzz --count 100000 --seed 1
"""

from __future__ import annotations

import argparse
import collections
import gc
import json
import random
import sys
import weakref

import numpy as np

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, Device
from cuda.core.utils import StridedMemoryView, register_importer
from support.contract import ParamHolder, _StridedLayout
from support.tensors import DLPackExporter, VersionedExporter

TYPESTRS = ["<f4", "|u1", "<i8", ">f8", "<c16", "|b1", "|V8", "<U3", "|O", "<M8[ns]", "<f", "", "<x9"]
ALLOWED = (AttributeError, BufferError, NotImplementedError, OverflowError, TypeError, ValueError)


class Surprise(ValueError):
    """The exception that a hostile object raises."""


class Hostile:
    """An object whose ``__index__`` raises, imports another array in the middle of an import, or returns 3."""

    def __init__(self, rng):
        self.action = rng.choice(["raise", "reenter", "return"])

    def __index__(self):
        if self.action == "raise":
            raise Surprise
        if self.action == "reenter":
            StridedMemoryView.from_any_interface(np.zeros(2), -1)
        return 3


class Interface:
    """An object that gets ``__cuda_array_interface__`` or ``__array_interface__``."""


class Image:
    """An object of a type with a registered importer."""


class Fuzzer:
    """Makes objects from a seed, passes them to readers, and counts the outcomes."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.outcomes = collections.Counter()
        self.failures = []

    def number(self):
        rng = self.rng
        return rng.choice(
            [0, 1, 2, 3, 8, 64, -1, -8, 2**31, 2**32 - 1, 2**62, 2**63, 2**64, -(2**63), 10**30, rng.getrandbits(48)]
        )

    def anything(self):
        rng = self.rng
        makers = [
            self.number,
            lambda: None,
            lambda: rng.random() * 1e300,
            lambda: "text",
            lambda: b"bytes",
            lambda: True,
            lambda: (),
            lambda: [1, 2],
            lambda: {"a": 1},
            lambda: np.int64(5),
            lambda: np.zeros(2),
            lambda: Hostile(rng),
            lambda: float("nan"),
        ]
        return rng.choice(makers)()

    def extents(self, most=5):
        rng = self.rng
        if rng.random() < 0.1:
            return self.anything()
        usual = [0, 1, 2, 3, 4, 8, 16]
        pick = [rng.choice(usual) if rng.random() < 0.9 else self.anything() for _ in range(rng.randint(0, most))]
        return tuple(pick) if rng.random() < 0.95 else pick

    def interface(self):
        rng = self.rng
        shape = self.extents()
        entries = {
            "shape": shape,
            "typestr": rng.choice(TYPESTRS),
            "data": (rng.getrandbits(40) * 16, rng.random() < 0.3),
            "version": 3,
        }
        if rng.random() < 0.5:
            length = len(shape) if isinstance(shape, (tuple, list)) else 1
            entries["strides"] = tuple(rng.choice([4, 8, -8, 16, 0, 3, 2**40]) for _ in range(length))
        if rng.random() < 0.3:
            entries["stream"] = rng.choice([None, 1, 2])
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            name = rng.choice(["shape", "typestr", "data", "version", "strides", "mask", "descr"])
            if rng.random() < 0.3:
                entries.pop(name, None)
            else:
                entries[name] = self.anything()
        thing = Interface()
        name = rng.choice(["__cuda_array_interface__", "__cuda_array_interface__", "__array_interface__"])
        setattr(thing, name, entries if rng.random() < 0.97 else self.anything())
        return thing

    def tensor(self):
        rng = self.rng
        rank = rng.randint(0, 4)
        kind = rng.choice([DLPackExporter, VersionedExporter])
        more = {}
        if kind is VersionedExporter:
            more = {"flags": rng.getrandbits(3), "version": (rng.choice([0, 1, 1, 1, 2]), 5)}
        exporter = kind(
            rng.choice([(1, 0), (2, 0), (3, 0), (13, 0), (10, 0), (2, -1), (-5, 7)]),
            code=rng.randint(0, 20),
            bits=rng.choice([0, 1, 4, 6, 8, 16, 32, 64, 128, 255]),
            lanes=rng.choice([0, 1, 1, 1, 2, 65535]),
            shape=tuple(rng.choice([0, 1, 3, 8, -1, 2**40, 2**62]) for _ in range(rank)),
            strides=rng.choice([None, tuple(rng.choice([1, 8, 0, -3, 2**61]) for _ in range(rank))]),
            offset=rng.choice([0, 64, 2**63, 2**64 - 1]),
            data=rng.choice([0x1000, 0, 2**63]),
            **more,
        )
        if rng.random() < 0.1:
            tensor = exporter._versioned.tensor if kind is VersionedExporter else exporter._managed.tensor
            tensor.ndim = rng.choice([-1, 65, 2**31 - 1])
        if rng.random() < 0.1:
            exporter.device = self.anything()
        return exporter

    def use(self, view):
        """Read the attributes of a view, and assert that they agree with each other."""
        shape, strides = view.shape, view.strides
        assert all(type(extent) is int and extent >= 0 for extent in shape)
        assert strides is None or len(strides) == len(shape)
        assert 0 <= view.ptr < 2**64 and view.size >= 0
        assert view.dlpack_dtype is None or len(view.dlpack_dtype) == 3
        assert isinstance(repr(view), str)
        layout = view._layout
        assert isinstance(layout, _StridedLayout) and layout.itemsize > 0
        _ = layout.offset_bounds, layout.is_unique, layout.flattened(), view.dtype
        again = StridedMemoryView.from_dlpack(view, -1)
        assert (again.shape, again._layout.itemsize) == (shape, layout.itemsize)

    def once(self):
        """Make one object, and give it to one reader."""
        rng = self.rng
        thing = self.tensor() if rng.random() < 0.5 else self.interface()
        seen = weakref.ref(thing)
        exporter = thing if isinstance(thing, DLPackExporter) else None
        # The driver would dereference other numbers as stream handles.
        stream = rng.choice([-1, -1, -1, None, 1, -2, 2**70, "text", 1.5, b"1"])
        if rng.random() < 0.1:
            image = Image()
            image.pixels, thing = thing, image
        reader = rng.choice(
            [
                lambda: self.use(StridedMemoryView.from_any_interface(thing, stream)),
                lambda: self.use(StridedMemoryView.from_any_interface(thing, -1)),
                lambda: self.use(StridedMemoryView.from_dlpack(thing, -1)),
                lambda: self.use(StridedMemoryView.from_cuda_array_interface(thing, -1)),
                lambda: self.use(StridedMemoryView.from_array_interface(thing)),
                lambda: ParamHolder((thing,)),
                lambda: Buffer.from_handle(0, 0).copy_from(thing, stream=LEGACY_DEFAULT_STREAM),
                lambda: Buffer.from_handle(0, 0).copy_to(thing, stream=LEGACY_DEFAULT_STREAM),
            ]
        )
        try:
            reader()
            outcome = "read"
        except ALLOWED as error:
            outcome = type(error).__name__
        taken = 0
        if exporter is not None:
            too_new = isinstance(exporter, VersionedExporter) and exporter._versioned.major != 1
            taken = 0 if too_new else len(exporter.calls)
            released = exporter.released
        image = thing = reader = None
        if exporter is not None and released != taken:
            gc.collect()
            released = exporter.released
        if exporter is not None and released != taken:
            self.failures.append(f"{taken} tensors were taken and {released} released")
        # An exporter is always in a reference cycle with its deleter.
        if exporter is None and seen() is not None:
            gc.collect()
            if seen() is not None:
                self.failures.append(f"kept after {outcome}")
        self.outcomes[outcome] += 1

    def run(self, count: int) -> dict:
        """Return the count of each outcome, and the failures. Needs a current device, whose default stream is used."""
        register_importer(Image, lambda image, stream_ptr: image.pixels)
        try:
            for number in range(count):
                try:
                    self.once()
                except Exception as error:
                    self.failures.append(f"input {number}: {error!r}")
        finally:
            register_importer(Image, None)
        return {"outcomes": dict(self.outcomes), "failures": self.failures[:10], "failed": len(self.failures)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    Device(0).set_current()
    result = Fuzzer(arguments.seed).run(arguments.count)
    print(json.dumps(result, indent=1))
    return 1 if result["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
