# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels of irregular programs with and without bugs, whose labels follow from how they are built.

The patterns come from graph algorithms: pull, push, edges, worklists, union-find, scans, reductions and results of
the last block. They vary by type, update, mapping of vertices to threads, traversal, guard and bug. Run them all with
``python -m support.race_kernels [COUNT] [SEED]`` in ``emulator/tests``; it prints how many bugs of each kind it found.
"""

import itertools
import random
import sys
from dataclasses import dataclass

VERTICES = 100
PARAMETERS = "const int* begins, const int* targets, {T}* data, {T}* result, int* queue, int n"

# How vertices map to threads: the vertex, the first edge and the step of a thread; the blocks and threads of a launch.
MAPPINGS = {
    "thread": ("blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x", "0", "1", (4, 32)),
    "warp": ("(blockIdx.x * blockDim.x + threadIdx.x) / 32", "gridDim.x * blockDim.x / 32", "threadIdx.x % 32", "32",
             (51, 64)),
    "block": ("blockIdx.x", "gridDim.x", "threadIdx.x", "blockDim.x", (103, 64)),
}  # fmt: skip
TRAVERSALS = {
    "forward": "for (int j = begins[v] + {first}; j < begins[v + 1]; j += {step})",
    "reverse": "for (int j = begins[v + 1] - 1 - {first}; j >= begins[v]; j -= {step})",
}
TYPES = ("int", "unsigned", "unsigned long long", "float")
UPDATES = {
    "add": ("atomicAdd({p}, {v});", "*({p}) += {v};"),
    "max": ("atomicMax({p}, {v});", "if (*({p}) < {v}) *({p}) = {v};"),
}


@dataclass(frozen=True)
class Case:
    """A kernel, its label (``none``, ``race`` or ``bounds``), and the bug that was built in."""

    name: str
    pattern: str
    bug: str
    label: str
    type: str
    shape: tuple
    source: str


def traversing(pattern, type, update, mapping, traversal, guard, bug):
    """Return the body of a kernel that visits the edges of each vertex."""
    atomic, plain = UPDATES[update]

    def put(place, value):
        return (plain if bug == "no atomic" else atomic).format(p=place, v=value)

    vertex, stride, first, step, _ = MAPPINGS[mapping]
    edges = TRAVERSALS[traversal].format(first=first, step=step)
    if pattern == "push":
        work = f"{edges} {{ {put('&result[targets[j]]', 'data[v] + 1')} }}"
    elif pattern == "conditional push":
        work = f"{edges} if (data[targets[j]] < data[v]) {{ {put('&result[targets[j]]', 'data[v] + 1')} }}"
    elif pattern == "first match":
        work = f"{edges} if (data[targets[j]] < data[v]) {{ {put('&result[targets[j]]', 'data[v] + 1')} break; }}"
    elif pattern == "edges":
        work = f"{edges} if (data[targets[j]] < data[v]) {{ {put('&result[0]', 'data[v] + 1')} }}"
    elif pattern == "worklist":
        place = "atomicAdd(&queue[0], 1)" if bug != "no atomic" else "queue[0]++"
        work = f"{edges} if (data[targets[j]] < data[v]) {{ int at = {place}; queue[1 + at] = v; }}"
    else:  # pull
        out = "data" if bug == "in place" else "result"
        store = f"{out}[v] = best + 1;" if mapping == "thread" else put(f"&{out}[v]", "best + 1")
        work = f"{{ {type} best = data[v]; {edges} if (best < data[targets[j]]) best = data[targets[j]]; {store} }}"
    if guard == "loop":
        return f"for (int v = {vertex}; v < n; v += {stride}) {{ {work} }}"
    test = "" if bug == "no guard" else "if (v >= n) return; "
    return f"int v = {vertex}; {test}{work}"


def scan(type, bug):
    first, second = ("" if bug == f"no {which} barrier" else "__syncthreads();" for which in ("first", "second"))
    return f"""__shared__ {type} sums[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    sums[t] = i < n ? data[i] : 0;
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {{
        {type} other = t >= step ? sums[t - step] : 0;
        {first}
        sums[t] += other;
        {second}
    }}
    __syncthreads();
    if (i < n) result[i] = sums[63 - t];"""


def reduction(type, bug):
    barrier = "" if bug == "no barrier" else "__syncthreads();"
    warp = "" if bug == "no syncwarp" else "__syncwarp();"
    atomic = "result[0] += sums[0];" if bug == "no atomic" else "atomicAdd(&result[0], sums[0]);"
    return f"""__shared__ {type} sums[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    sums[t] = i < n ? data[i] + 1 : 1;
    {barrier}
    if (t < 64) sums[t] += sums[t + 64];
    __syncthreads();
    if (t < 32) {{
        sums[t] += sums[t + 32];
        {warp}
        for (int half = 16; half; half /= 2) {{
            {type} other = t < half ? sums[t + half] : 0;
            {warp}
            if (t < half) sums[t] += other;
            {warp}
        }}
    }}
    if (t == 0) {{ {atomic} }}"""


def last_block(type, bug):
    fence = {"no fence": "", "fence of the block": "__threadfence_block();"}.get(bug, "__threadfence();")
    return f"""if (threadIdx.x) return;
    {type} sum = 1;
    for (int i = blockIdx.x; i < n; i += gridDim.x) sum += data[i];
    result[1 + blockIdx.x] = sum;
    {fence}
    if (atomicAdd(&queue[0], 1) == gridDim.x - 1)
        for (int i = 0; i < gridDim.x; ++i) result[0] += result[1 + i];"""


def union_find(mapping, guard, bug):
    vertex, stride, first, step, _ = MAPPINGS[mapping]
    parent = "((volatile int*)parent)"
    hook = (
        "parent[high] = low; break;"
        if bug == "no atomic"
        else ("if (atomicCAS(&parent[high], high, low) == high) break;")
    )
    work = f"""{TRAVERSALS["forward"].format(first=first, step=step)} for (int tries = 0; tries < 1000; ++tries) {{
            int a = v, b = targets[j];
            while ({parent}[a] != a) a = {parent}[a];
            while ({parent}[b] != b) b = {parent}[b];
            if (a == b) break;
            int high = max(a, b), low = min(a, b);
            {hook}
        }}"""
    begin = "int* parent = queue;"
    if guard == "loop":
        return f"{begin} for (int v = {vertex}; v < n; v += {stride}) {work}"
    return f"{begin} int v = {vertex}; {'' if bug == 'no guard' else 'if (v >= n) return; '}{work}"


def _all():
    """Yield pattern, bug, type, shape and body of all kernels."""
    patterns = ("push", "conditional push", "first match", "edges", "worklist", "pull")
    axes = itertools.product(patterns, TYPES, UPDATES, MAPPINGS, TRAVERSALS, ("test", "loop"))
    for pattern, type, update, mapping, traversal, guard in axes:
        if type == "float" and update == "max":
            continue
        bugs = ["none", "no guard"] if guard == "test" else ["none"]
        if pattern == "pull":
            bugs += ["in place"] if mapping == "thread" else ["no atomic"]
        else:
            bugs += ["no atomic"]
        for bug in bugs:
            body = traversing(pattern, type, update, mapping, traversal, guard, bug)
            yield pattern, bug, type, MAPPINGS[mapping][4], body
    for type, copy in itertools.product(TYPES, range(3)):
        for bug in ("none", "no first barrier", "no second barrier"):
            yield "scan", bug, type, (2, 64), scan(type, bug)
        for bug in ("none", "no barrier", "no syncwarp", "no atomic"):
            yield "reduction", bug, type, (2 + copy, 128), reduction(type, bug)
        for bug in ("none", "no fence", "fence of the block"):
            yield "last block", bug, type, (4 + copy, 32), last_block(type, bug)
    for mapping, guard in itertools.product(MAPPINGS, ("test", "loop")):
        for bug in ("none", "no atomic", *(["no guard"] if guard == "test" else [])):
            yield "union-find", bug, "int", MAPPINGS[mapping][4], union_find(mapping, guard, bug)


def generate(count, seed=1):
    """Return ``count`` kernels, about as many of each pattern and bug as there are, and half of them without a bug."""
    groups = {}
    for row in _all():
        groups.setdefault((row[1] != "none", row[0], row[1]), []).append(row)
    chosen, order = [], random.Random(seed)
    for rows in groups.values():
        order.shuffle(rows)
    keys = {bad: [key for key in groups if key[0] == bad] for bad in (False, True)}
    while len(chosen) < count:
        bad = len(chosen) % 2 == 1
        left = [key for key in keys[bad] if groups[key]] or [key for key in keys[not bad] if groups[key]]
        key = left[len(chosen) // 2 % len(left)]
        chosen.append(groups[key].pop())
    cases = []
    for number, (pattern, bug, type, shape, body) in enumerate(chosen):
        label = {"none": "none", "no guard": "bounds"}.get(bug, "race")
        head = f'extern "C" __global__ void k{number}({PARAMETERS.format(T=type)})'
        cases.append(Case(f"k{number}", pattern, bug, label, type, shape, f"{head}\n{{\n    {body}\n}}\n"))
    return cases


def graph(seed=1):
    """Return the edges of a graph as two arrays, with 4 to 10 edges of each vertex."""
    import numpy as np

    rng = np.random.default_rng(seed)
    begins = np.concatenate([[0], np.cumsum(rng.integers(4, 11, VERTICES))]).astype(np.int32)
    return begins, rng.integers(0, VERTICES, begins[-1]).astype(np.int32)


def run(cases, per_module=25):
    """Run the kernels with the checks of this process; yield each with the report: none, race, bounds or other."""
    import numpy as np

    import cuda.emulator
    from cuda.core import Device, LaunchConfig, LaunchError, Program, launch

    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    begins, targets = graph()
    kinds = {"int": np.int32, "unsigned": np.uint32, "unsigned long long": np.uint64, "float": np.float32}
    for start in range(0, len(cases), per_module):
        part = cases[start : start + per_module]
        module = Program("".join(case.source for case in part), "c++").compile("cubin")
        for case in part:
            data = np.random.default_rng(2).permutation(VERTICES).astype(kinds[case.type])
            first = np.zeros(2000, np.int32)
            if case.pattern == "union-find":
                first[:VERTICES] = range(VERTICES)
            buffers = []
            for array in (begins, targets, data, np.zeros_like(data), first):
                buffers.append(device.allocate(array.nbytes, stream=stream))
                buffers[-1].copy_from(array, stream=stream)
            config = LaunchConfig(grid=case.shape[0], block=case.shape[1])
            found = "none"
            try:
                launch(stream, config, module.get_kernel(case.name), *buffers, np.int32(VERTICES))
                stream.sync()
            except LaunchError as error:
                text = str(error)
                found = "race" if "data race" in text else "bounds" if "illegal address" in text else "other"
                cuda.emulator.reset()
            yield case, found
            for buffer in buffers:
                buffer.close(stream)


def main(count=500, seed=1):
    rows, false = {}, 0
    for case, found in run(generate(count, seed)):
        row = rows.setdefault((case.pattern, case.bug), [0, 0, 0])
        row[0] += 1
        row[1] += found == case.label
        row[2] += found != "none" and found != case.label
        if found != case.label:
            print(f"{case.name}: {case.pattern}, {case.bug}: expected {case.label}, found {found}\n{case.source}")
    print(f"{'pattern':18} {'bug':20} {'kernels':>7} {'right':>6} {'wrong report':>13}")
    for (pattern, bug), (kernels, right, wrong) in sorted(rows.items()):
        print(f"{pattern:18} {bug:20} {kernels:7} {right:6} {wrong:13}")
        false += wrong
    bad = [row for (_, bug), row in rows.items() if bug != "none"]
    good = [row for (_, bug), row in rows.items() if bug == "none"]
    found, clean = sum(row[1] for row in bad), sum(row[1] for row in good)
    print(f"with a bug: {found} of {sum(row[0] for row in bad)} found")
    print(f"without a bug: {clean} of {sum(row[0] for row in good)} silent; wrong reports: {false}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
