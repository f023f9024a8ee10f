# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every function of ``triton.language``, each in its own kernel, compared with NumPy.

``python language.py [NAME ...]`` runs those that Triton has, by default all, prints one line for each, and exits with 1
if any failed.
Kernels are given blocks x and y of 64 floats, n and m of 64 integers, and X = x and N = n in 8 rows.
"""

import importlib.util
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
import triton
import triton.language as tl

from support.triton_tensors import Tensor, tensor, zeros

TEMPLATE = """
import triton, triton.language as tl
@triton.jit
def larger(a, b):
    return tl.maximum(a, b)
@triton.jit
def both(a, b):
    return a + b, a - b
@triton.jit
def kernel(xp, yp, np, mp, op, wp, COUNT: tl.constexpr):
    i = tl.arange(0, 64)
    x, y, n, m = tl.load(xp + i), tl.load(yp + i), tl.load(np + i), tl.load(mp + i)
    X, Y, N = tl.reshape(x, (8, 8)), tl.reshape(y, (8, 8)), tl.reshape(n, (8, 8))
    j = tl.arange(0, 8)
    {lines}
    if COUNT == 1:
        tl.store(op, r)
    else:
        tl.store(op + tl.arange(0, COUNT), tl.reshape(r, (COUNT,)))
"""
rng = np.random.default_rng(12)
x, y = rng.uniform(0.1, 1, (2, 64)).astype(np.float32)
n, m = rng.integers(1, 50, (2, 64)).astype(np.int32)
X, Y, N = x.reshape(8, 8), y.reshape(8, 8), n.reshape(8, 8)
i = np.arange(64)
erf = np.vectorize(math.erf)
wide = n.astype(np.uint64) * m.astype(np.uint64)
ANY = None  # only the number of results is known


def atomic(name, expression):
    """Return the row of an atomic operation on n, with m as the operand."""
    return (
        f"tl.store(wp + i, n); tl.debug_barrier(); tl.{name}(wp + i, m); tl.debug_barrier(); r = tl.load(wp + i)",
        expression,
    )


softmax = np.exp(X - X.max(1, keepdims=True))
DESCRIPTOR = "d = tl.make_tensor_descriptor({}, shape=[8, 8], strides=[8, 1], block_shape=[8, 8]); "
ROWS = {
    "abs": ("r = tl.abs(x - y)", abs(x - y)),
    "add": ("r = tl.add(x, y)", x + y),
    "advance": (  # until Triton 3.8
        "p = tl.make_block_ptr(xp, (64,), (1,), (0,), (32,), (0,)); p = tl.advance(p, (32,)); r = tl.load(p)",
        x[32:],
    ),
    "sub": ("r = tl.sub(x, y)", x - y),
    "mul": ("r = tl.mul(x, y)", x * y),
    "arange": ("r = tl.arange(0, 64)", i),
    "argmax": ("r = tl.argmax(X, 1)", X.argmax(1)),
    "argmin": ("r = tl.argmin(X, 0)", X.argmin(0)),
    "associative_scan": ("r = tl.associative_scan(X, 1, larger)", np.maximum.accumulate(X, 1)),
    "assume": ("tl.assume(tl.sum(n) > 0); r = n", n),
    "atomic_add": atomic("atomic_add", n + m),
    "atomic_and": atomic("atomic_and", n & m),
    "atomic_or": atomic("atomic_or", n | m),
    "atomic_xor": atomic("atomic_xor", n ^ m),
    "atomic_max": atomic("atomic_max", np.maximum(n, m)),
    "atomic_min": atomic("atomic_min", np.minimum(n, m)),
    "atomic_xchg": atomic("atomic_xchg", m),
    "atomic_store": atomic("atomic_store", m),
    "atomic_cas": ("tl.store(wp + i, n); tl.debug_barrier(); r = tl.atomic_cas(wp + i, n, m)", n),
    "atomic_load": ("tl.store(wp + i, n); tl.debug_barrier(); r = tl.atomic_load(wp + i)", n),
    "atomic_poll": ("tl.store(wp + i, n); tl.debug_barrier(); r = tl.atomic_poll(wp + i, n).to(tl.int32)", i * 0 + 1),
    "bfloat16": ("r = n.to(tl.bfloat16).to(tl.float32)", n.astype(np.float32)),
    "bitonic_merge": ("r = tl.bitonic_merge(tl.where(i < 32, i, 95 - i))", i),
    "broadcast": ("a, b = tl.broadcast(j[:, None], j); r = a + 10 * b", (np.arange(8)[:, None] + 10 * np.arange(8))),
    "broadcast_to": ("r = tl.broadcast_to(j[None, :], (8, 8))", np.tile(np.arange(8), 8)),
    "cat": ("r = tl.sort(tl.cat(x, y, can_reorder=True))", np.sort(np.concatenate([x, y]))),
    "cast": ("r = tl.cast(x * 50, tl.int32)", (x * 50).astype(np.int32)),
    "cdiv": ("r = tl.cdiv(n, m)", -(-n // m)),
    "ceil": ("r = tl.ceil(x * 9)", np.ceil(x * 9)),
    "clamp": ("r = tl.clamp(x, 0.3, 0.6)", np.clip(x, np.float32(0.3), np.float32(0.6))),
    "condition": ("k = 0\n    while tl.condition(k < 5):\n        k += 1\n    r = n + k", n + 5),
    "const": ("q: tl.constexpr = 3; r = n + q", n + 3),
    "cos": ("r = tl.cos(x)", np.cos(x)),
    "cumprod": ("r = tl.cumprod(X, 1)", X.cumprod(1)),
    "cumsum": ("r = tl.cumsum(X, 0)", X.cumsum(0)),
    "debug_barrier": ("tl.store(wp + i, n); tl.debug_barrier(); r = tl.load(wp + 63 - i)", n[::-1]),
    "device_assert": ('tl.device_assert(n > 0, "positive"); r = n', n),
    "device_print": ('tl.device_print("value", tl.sum(n) * 0 + 7); r = n', n),
    "div_rn": ("r = tl.div_rn(x, y)", x / y),
    "fdiv": ("r = tl.fdiv(x, y)", x / y),
    "dot": (
        "a = tl.reshape(n, (4, 16)); b = tl.trans(a); r = tl.dot(tl.reshape(tl.join(n, n), (8, 16)).to(tl.float16), "
        "tl.reshape(tl.join(m, m), (16, 8)).to(tl.float16))",
        np.repeat(n, 2).reshape(8, 16).astype(np.float32) @ np.repeat(m, 2).reshape(16, 8),
    ),
    "dot of bytes": (
        "a = tl.arange(0, 1024) % 7; b = tl.reshape(a, (32, 32)).to(tl.int8); r = tl.dot(b, b)",
        (np.arange(1024) % 7).reshape(32, 32) @ (np.arange(1024) % 7).reshape(32, 32),
    ),
    "dot_scaled": (
        "a = tl.full((128, 64), 1.0, tl.float8e5); s = tl.full((128, 2), 128, tl.uint8); "
        "b = tl.full((64, 128), 2.0, tl.float8e5); r = tl.dot_scaled(a, s, 'e5m2', b, s, 'e5m2')",
        np.full(128 * 128, 64 * 2 * 4, np.float32),
    ),
    "erf": ("r = tl.erf(x)", erf(x)),
    "exp": ("r = tl.exp(x)", np.exp(x)),
    "exp2": ("r = tl.exp2(x)", np.exp2(x)),
    "expand_dims": ("r = tl.expand_dims(x, 0)", x),
    "expect_zero": ("r = tl.expect_zero(n * 0, n > 0)", 0 * n),
    "flip": ("r = tl.flip(X, 1)", X[:, ::-1]),
    "floor": ("r = tl.floor(x * 9)", np.floor(x * 9)),
    "float16": ("r = n.to(tl.float16).to(tl.float32)", n.astype(np.float32)),
    "float32": ("r = n.to(tl.float32)", n.astype(np.float32)),
    "float64": ("r = (n / m.to(tl.float64)).to(tl.float32)", n / m),
    "float8e4nv": ("r = (n % 8).to(tl.float32).to(tl.float8e4nv).to(tl.float32)", (n % 8).astype(np.float32)),
    "float8e5": ("r = (n % 8).to(tl.float32).to(tl.float8e5).to(tl.float32)", (n % 8).astype(np.float32)),
    "fma": ("r = tl.fma(x, y, x)", x * y + x),
    "full": ("r = tl.full((64,), 3, tl.int32)", n * 0 + 3),
    "gather": ("r = tl.gather(X, N % 8, 1)", np.take_along_axis(X, N % 8, 1)),
    "histogram": ("r = tl.histogram(n, 64)", np.bincount(n, minlength=64)),
    "inline_asm_elementwise": (
        'r = tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r,r", [n, m], tl.int32, True, 1)',
        n + m,
    ),
    "int1": ("r = (n > 9).to(tl.int1).to(tl.int32)", (n > 9).astype(np.int32)),
    "int8": ("r = (n * 9).to(tl.int8).to(tl.int32)", (n * 9).astype(np.int8)),
    "int16": ("r = (n * 9999).to(tl.int16).to(tl.int32)", (n * 9999).astype(np.int16)),
    "int32": ("r = x.to(tl.int32)", x.astype(np.int32)),
    "int64": ("r = (n.to(tl.int64) << 33 >> 33).to(tl.int32)", n),
    "uint8": ("r = (n * 9).to(tl.uint8).to(tl.int32)", (n * 9).astype(np.uint8)),
    "uint16": ("r = (n * 9999).to(tl.uint16).to(tl.int32)", (n * 9999).astype(np.uint16)),
    "uint32": ("r = (n.to(tl.uint32) >> 1).to(tl.int32)", n >> 1),
    "uint64": ("r = (n.to(tl.uint64) >> 1).to(tl.int32)", n >> 1),
    "interleave": ("r = tl.interleave(x, y)", np.stack([x, y], 1)),
    "join": ("r = tl.join(x, y)", np.stack([x, y], 1)),
    "load": (
        "r = tl.load(xp + i, mask=i < 60, other=2.0, cache_modifier='.cg', eviction_policy='evict_last')",
        np.where(i < 60, x, 2),
    ),
    "load_tensor_descriptor": (
        DESCRIPTOR.format("xp") + "r = tl.load_tensor_descriptor(d, [2, 0])",
        np.concatenate([x[16:], 0 * x[:16]]),
    ),
    "make_tensor_descriptor": (DESCRIPTOR.format("xp") + "r = d.load([0, 0])", x),
    "store_tensor_descriptor": (DESCRIPTOR.format("wp") + "tl.store_tensor_descriptor(d, [0, 0], N); r = n", n),
    "log": ("r = tl.log(x)", np.log(x)),
    "log2": ("r = tl.log2(x)", np.log2(x)),
    "map_elementwise": ("a, b = tl.map_elementwise(both, x, y); r = a * b", (x + y) * (x - y)),
    "max": ("r = tl.max(X, 1)", X.max(1)),
    "min": ("r = tl.min(X, 0)", X.min(0)),
    "max_constancy": ("r = tl.max_constancy(n * 0, 64)", 0 * n),
    "max_contiguous": ("r = tl.max_contiguous(i, 64)", i),
    "multiple_of": ("r = tl.multiple_of(i * 4, 4)", 4 * i),
    "maximum": ("r = tl.maximum(x, y)", np.maximum(x, y)),
    "minimum": ("r = tl.minimum(x, y)", np.minimum(x, y)),
    "num_programs": ("r = n + tl.num_programs(0)", n + 1),
    "program_id": ("r = n + tl.program_id(0)", n),
    "pair_uniform_to_normal": (
        "a, b = tl.pair_uniform_to_normal(x, y); r = a",
        np.sqrt(-2 * np.log(x)) * np.cos(6.283185307179586 * y),
    ),
    "permute": ("r = tl.permute(X, (1, 0))", X.T),
    "trans": ("r = tl.trans(X)", X.T),
    "philox": ("a, b, c, d = tl.philox(5, i, 0 * i, 0 * i, 0 * i); r = a.to(tl.int32, bitcast=True)", ANY),
    "philox_impl": (
        "z = (0 * i).to(tl.uint32); a, b, c, d = tl.philox_impl(z, z, z, z, z, z); r = a.to(tl.int32, bitcast=True)",
        ANY,
    ),
    "pointer_type": ("r = tl.load(xp.to(tl.pointer_type(tl.int32)) + i)", x.view(np.int32)),
    "rand": ("r = (tl.rand(1, i) < 1).to(tl.int32)", 0 * i + 1),
    "rand4x": ("a, b, c, d = tl.rand4x(1, i); r = (d < 1).to(tl.int32)", 0 * i + 1),
    "randint": ("r = tl.randint(1, i).to(tl.int32, bitcast=True)", ANY),
    "randint4x": ("a, b, c, d = tl.randint4x(1, i); r = c.to(tl.int32, bitcast=True)", ANY),
    "randn": ("r = (tl.abs(tl.randn(1, i)) < 9).to(tl.int32)", 0 * i + 1),
    "randn4x": ("a, b, c, d = tl.randn4x(1, i); r = (tl.abs(b) < 9).to(tl.int32)", 0 * i + 1),
    "range": ("r = n\n    for k in tl.range(0, 5, num_stages=2):\n        r += k", n + 10),
    "ravel": ("r = tl.ravel(X)", x),
    "reduce": ("r = tl.reduce(X, 0, larger)", X.max(0)),
    "reduce_or": ("r = tl.reduce_or(N, 1)", np.bitwise_or.reduce(N, 1)),
    "reshape": ("r = tl.reshape(x, (2, 32))", x),
    "rsqrt": ("r = tl.rsqrt(x)", 1 / np.sqrt(x)),
    "sigmoid": ("r = tl.sigmoid(x)", 1 / (1 + np.exp(-x))),
    "sin": ("r = tl.sin(x)", np.sin(x)),
    "softmax": ("r = tl.softmax(X, 1)", softmax / softmax.sum(1, keepdims=True)),
    "sort": ("r = tl.sort(X)", np.sort(X)),
    "split": ("a, b = tl.split(tl.reshape(x, (32, 2))); r = a - b", x[::2] - x[1::2]),
    "sqrt": ("r = tl.sqrt(x)", np.sqrt(x)),
    "sqrt_rn": ("r = tl.sqrt_rn(x)", np.sqrt(x)),
    "squeeze": ("r = tl.squeeze(tl.expand_dims(x, 0), 0)", x),
    "unsqueeze": ("r = tl.unsqueeze(x, 1)", x),
    "static_assert": ("tl.static_assert(COUNT == 64); r = n", n),
    "static_print": ("tl.static_print(COUNT); r = n", n),
    "static_range": ("r = n\n    for k in tl.static_range(5):\n        r += k", n + 10),
    "store": ("tl.store(wp + i, n, mask=i < 60); r = n", n),
    "sum": ("r = tl.sum(X, 1)", X.sum(1)),
    "sum of all": ("r = tl.sum(n)", n.sum()),
    "xor_sum": ("r = tl.xor_sum(N, 1)", np.bitwise_xor.reduce(N, 1)),
    "swizzle2d": ("a, b = tl.swizzle2d(i // 8, i % 8, 8, 8, 8); r = a * 8 + b", (i % 8) * 8 + i // 8),
    "target_info": ("r = n + tl.target_info.is_cuda()", n + 1),
    "topk": ("r = tl.topk(X, 4)", -np.sort(-X)[:, :4]),
    "to_tensor": ("r = n + tl.to_tensor(4)", n + 4),
    "tuple": ("t = tl.tuple([n, m]); r = t[0] + t[1]", n + m),
    "uint_to_uniform_float": ("r = (tl.uint_to_uniform_float(n.to(tl.uint32)) * 4294967296 + 0.5).to(tl.int32)", ANY),
    "umulhi": (
        "r = tl.umulhi(n.to(tl.uint32) << 20, m.to(tl.uint32) << 20).to(tl.int32)",
        (wide << np.uint64(8)).astype(np.int64),
    ),
    "view": ("r = tl.view(x, (8, 8))", x),
    "where": ("r = tl.where(n > m, x, y)", np.where(n > m, x, y)),
    "zeros": ("r = tl.zeros((64,), tl.float32)", 0 * x),
    "zeros_like": ("r = tl.zeros_like(n)", 0 * n),
}
# Types and values that the others use, formats of other devices, and what Triton 3.9 has removed.
NOT_CALLED = {
    "PropagateNan", "TRITON_MAX_TENSOR_NUMEL", "block_type", "constexpr", "constexpr_type", "dtype", "extra", "math",
    "pi32_t", "slice", "tensor", "tensor_descriptor", "void", "float8e4b15", "float8e4b8", "float8e5b16",
    "make_block_ptr",
}  # fmt: skip


def run(name, folder):
    """Run a kernel, and return an empty string or what is wrong."""
    lines, expected = ROWS[name]
    expected = np.zeros(64, np.int32) if expected is ANY else np.asarray(expected)
    path = Path(folder) / f"kernel_{name.replace(' ', '_')}.py"
    path.write_text(TEMPLATE.format(lines=lines.replace("; ", "\n    ")))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    is_float = expected.dtype.kind == "f"
    out, work = zeros(expected.size, "float32" if is_float else "int32"), zeros(64, "int32")
    debug = {"debug": True} if name in ("device_assert", "expect_zero") else {}
    try:
        module.kernel[(1,)](*map(tensor, (x, y, n, m)), out, work, COUNT=expected.size, **debug)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"[:200]
    if ROWS[name][1] is ANY:
        return ""
    if np.allclose(out.numpy(), expected.ravel(), rtol=2e-3 if name == "pair_uniform_to_normal" else 1e-5, atol=1e-6):
        return ""
    return f"{out.numpy()[:6]} instead of {expected.ravel()[:6]}"


def main(names):
    triton.set_allocator(lambda size, alignment, stream: Tensor(size, "int8"))
    missing = set(tl.__all__) - ROWS.keys() - NOT_CALLED
    known = [name for name in names or ROWS if hasattr(tl, name.partition(" ")[0])]  # in this version
    failed = len(missing)
    for name in sorted(missing):
        print(f"{name}: not tried")
    with tempfile.TemporaryDirectory() as folder:
        for name in known:
            problem = run(name, folder)
            failed += bool(problem)
            print(f"{name}: {problem or 'right'}", flush=True)
    print(f"{len(known) + len(missing) - failed} right, {failed} not")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
