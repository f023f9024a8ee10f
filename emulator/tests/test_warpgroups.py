# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""wgmma, and tensor maps that kernels write."""

import numpy as np
import pytest

from support.compiled import Code

HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 s[];\n"
MODES = {16: 0, 128: 1, 64: 2, 32: 3}  # by the width of the swizzle pattern

# Copies bytes to shared memory, multiplies once, and stores each thread's sums.
PRODUCT = (
    HEAD
    + """
.visible .entry product(.param .u64 bytes, .param .u32 size, .param .u64 a, .param .u64 left, .param .u64 right,
                        .param .u64 out)
{{
    .reg .b32 %i, %n, %at, %v, %a<4>, %d<{registers}>;
    .reg .b64 %x, %y, %left, %right, %base;
    .reg .pred %p;
    mov.b32 %i, %tid.x;
    ld.param.b32 %n, [size];
    ld.param.b64 %x, [bytes];
    mov.b32 %at, s;
    shl.b32 %v, %i, 2;
COPY:
    cvt.u64.u32 %y, %v;
    add.u64 %y, %x, %y;
    ld.global.b32 %a0, [%y];
    add.u32 %a1, %at, %v;
    st.shared.b32 [%a1], %a0;
    add.u32 %v, %v, 512;
    setp.lt.u32 %p, %v, %n;
    @%p bra COPY;
    fence.proxy.async;
    bar.sync 0;
    ld.param.b64 %x, [a];
    mad.wide.u32 %y, %i, 16, %x;
    ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%y];
    shr.u32 %v, %at, 4;
    and.b32 %v, %v, 0x3fff;
    cvt.u64.u32 %base, %v;
    ld.param.b64 %left, [left];
    add.u64 %left, %left, %base;
    ld.param.b64 %right, [right];
    add.u64 %right, %right, %base;
    ld.param.b64 %x, [out];
    mad.wide.u32 %y, %i, {bytes}, %x;
    {loads}
    setp.eq.u32 %p, 0, {adds};
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.{shape}.{types} {{{sums}}}, {left}, %right, !%p{flags};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    {stores}
    ret;
}}
"""
)


def place(rows, depth, size, width, by_rows):
    """Return the byte offset of each element of a matrix of ``rows`` with ``depth`` elements, and the two strides."""
    r, k = np.meshgrid(np.arange(rows), np.arange(depth), indexing="ij")
    if by_rows:  # the elements of a row are adjacent
        kb = k * size
        if width == 16:
            leading, stride = 128, 256
            return r % 8 * 16 + r // 8 * stride + kb // 16 * leading + kb % 16, leading, stride
        stride = 8 * width
        return r % 8 * width + r // 8 * stride + kb, 16, stride
    if width == 16:
        stride, leading = 128, rows // 8 * 128
        return r % 8 * 2 + r // 8 * stride + k % 8 * 16 + k // 8 * leading, leading, stride
    across = width // 2
    stride = 8 * width
    leading = depth // 8 * stride
    return r % across * 2 + r // across * leading + k % 8 * width + k // 8 * stride, leading, stride


def swizzled(at, width):
    return at ^ (at >> 3 & (width - 16))


def lay_out(matrix, memory, start, width, by_rows):
    """Write a matrix to ``memory`` at ``start``, and return its descriptor."""
    size = matrix.itemsize
    at, leading, stride = place(*matrix.shape, size, width, by_rows)
    at = swizzled(at + start, width)
    data = matrix.view(np.uint8).reshape(*matrix.shape, size)
    for i in range(size):
        memory[at + i] = data[..., i]
    return np.uint64(start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | MODES[width] << 62)


def fragment(matrix):
    """Return each thread's four registers of A."""
    each = 4 // matrix.itemsize
    t = np.arange(128)
    out = np.empty((128, 4, each), matrix.dtype)
    for i in range(4):
        for h in range(each):
            row = 16 * (t // 32) + t % 32 // 4 + 8 * (i % 2)
            out[:, i, h] = matrix[row, each * (t % 4) + h + 4 * each * (i // 2)]
    return out


def sums_of(out, columns):
    """Return the matrix of sums that the threads have stored."""
    t, d = np.meshgrid(np.arange(128), np.arange(columns // 2), indexing="ij")
    matrix = np.empty((64, columns), out.dtype)
    matrix[16 * (t // 32) + t % 32 // 4 + 8 * (d // 2 % 2), 8 * (d // 4) + 2 * (t % 4) + d % 2] = out.reshape(128, -1)
    return matrix


def multiply(
    driver, a, b, start, types, flags, *, width=128, a_rows=True, b_rows=True, in_registers=False, adds=1, depth=None
):
    """Return ``a @ b.T + start``, computed by four warps."""
    columns = b.shape[0]
    depth = depth or 32 // a.itemsize
    memory = np.zeros(16384, np.uint8)
    left = lay_out(a, memory, 0, width, a_rows)
    right = lay_out(b, memory, 8192, width, b_rows)
    out = np.empty((128, columns // 2), start.dtype)
    t, d = np.meshgrid(np.arange(128), np.arange(columns // 2), indexing="ij")
    out[:] = start[16 * (t // 32) + t % 32 // 4 + 8 * (d // 2 % 2), 8 * (d // 4) + 2 * (t % 4) + d % 2]
    registers = out.nbytes // 128 // 4
    names = [f"%d{i}" for i in range(registers)]
    text = PRODUCT.format(
        registers=registers, bytes=4 * registers, adds=adds, types=types, shape=f"m64n{columns}k{depth}",
        sums=", ".join(names), flags=flags, left="{%a0, %a1, %a2, %a3}" if in_registers else "%left",
        loads="\n".join(f"ld.global.b32 {name}, [%y+{4 * i}];" for i, name in enumerate(names)),
        stores="\n".join(f"st.global.b32 [%y+{4 * i}], {name};" for i, name in enumerate(names)),
    )  # fmt: skip
    code = Code(driver, text.encode() + b"\0")
    try:
        code("product", 1, 128, memory, memory.size, fragment(a), left, right, out, shared=memory.size)
    finally:
        code.close()
    return sums_of(out, columns)


@pytest.mark.parametrize("columns", [8, 64])
@pytest.mark.parametrize("width", MODES)
def test_halves_are_multiplied_with_each_swizzle(driver, context, rng, width, columns):
    a = rng.integers(-4, 5, (64, 16)).astype(np.float16)
    b = rng.integers(-4, 5, (columns, 16)).astype(np.float16)
    start = rng.integers(-9, 10, (64, columns)).astype(np.float32)
    found = multiply(driver, a, b, start, "f32.f16.f16", ", 1, -1, 0, 0", width=width)
    np.testing.assert_array_equal(found, start - a.astype(np.float32) @ b.astype(np.float32).T)


@pytest.mark.parametrize("width", MODES)
def test_halves_with_adjacent_columns_are_multiplied(driver, context, rng, width):
    a, b = (rng.integers(-4, 5, (64, 16)).astype(np.float16) for _ in range(2))
    start = rng.integers(-9, 10, (64, 64)).astype(np.float16)
    found = multiply(driver, a, b, start, "f16.f16.f16", ", 1, 1, 1, 1", width=width, a_rows=False, b_rows=False)
    np.testing.assert_array_equal(found, start + a @ b.T)


def test_factor_in_registers_is_multiplied(driver, context, rng):
    a = rng.integers(-99, 100, (64, 32)).astype(np.int8)
    b = rng.integers(-99, 100, (32, 32)).astype(np.int8)
    start = rng.integers(-99, 100, (64, 32)).astype(np.int32)
    product = a.astype(np.int32) @ b.astype(np.int32).T
    found = multiply(driver, a, b, start, "s32.s8.s8", "", in_registers=True, adds=0)
    np.testing.assert_array_equal(found, product)
    floats = a[:, :8].astype(np.float32), b[:, :8].astype(np.float32), start.astype(np.float32)
    found = multiply(driver, *floats, "f32.tf32.tf32", ", 1, 1", in_registers=True)
    np.testing.assert_array_equal(found, floats[2] + floats[0] @ floats[1].T)


@pytest.mark.parametrize(
    "text",
    [
        "mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r, %r}, %x, %x, 1, 1, 1, 0, 0",
        "mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%r, %r, %r, %r}, %x, %x, 1, 1, 1, 0, 0",
        "mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r, %r}, %x, %x, 1, 1, 1, 0, 0",
        "mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r, %r, %r, %r}, %x, %x, 1, 1, 1, 2, 0",
        "mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r, %r, %r, %r}, %x, %x, %r, 0, 1, 1, 1, 0, 0",
    ],
)
def test_unknown_products_are_rejected_by_name(driver, context, text):
    log = bytearray(1024)
    option = driver.CUjit_option
    arguments = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [log, len(log)], 2
    image = HEAD + f".visible .entry k()\n{{ .reg .b32 %r; .reg .b64 %x; wgmma.{text}; }}\0"
    assert driver.result("cuLibraryLoadData", image.encode(), *arguments, [], [], 0) == "INVALID_PTX"
    assert f"wgmma.{text}" in log.decode()


@pytest.mark.parametrize("in_registers", [False, True])
def test_bits_are_multiplied(driver, context, rng, in_registers):
    a, b = (rng.integers(0, 256, (count, 32)).astype(np.uint8) for count in (64, 16))
    start = rng.integers(-9, 10, (64, 16)).astype(np.int32)
    bits = [np.unpackbits(x, axis=1).astype(np.int32) for x in (a, b)]
    found = multiply(driver, a, b, start, "s32.b1.b1.and.popc", "", in_registers=in_registers, depth=256)
    np.testing.assert_array_equal(found, start + bits[0] @ bits[1].T)


@pytest.mark.parametrize("place", [128, 256, 384])
@pytest.mark.parametrize("width", [32, 64])
def test_base_offset_moves_the_pattern(driver, context, rng, monkeypatch, width, place):
    whole = lay_out

    def moved(matrix, memory, start, width, by_rows):  # the pattern of the first factor begins at `place`
        if start:
            return whole(matrix, memory, start, width, by_rows)
        around = memory[place:8192]
        return np.uint64(int(whole(matrix, around, 0, width, by_rows)) | place >> 4 | (place >> 7 & 7) << 49)

    a, b = (rng.integers(-4, 5, (64, 16)).astype(np.float16) for _ in range(2))
    monkeypatch.setitem(globals(), "lay_out", moved)
    found = multiply(driver, a, b, np.zeros((64, 64), np.float32), "f32.f16.f16", ", 1, 1, 0, 0", width=width)
    np.testing.assert_array_equal(found, a.astype(np.float32) @ b.astype(np.float32).T)


# Warp 0 writes a tensor map into shared memory, copies it to global memory, and loads a tile with it.
MAPPED = (
    HEAD
    + """
.visible .entry mapped(.param .u64 x, .param .u64 map, .param .u64 out)
{{
    .reg .b32 %i, %at, %v, %w, %z;
    .reg .b64 %x, %map, %out;
    .reg .pred %first, %done;
    mov.b32 %i, %tid.x;
    mov.b32 %at, s;
    ld.param.b64 %x, [x];
    ld.param.b64 %map, [map];
    ld.param.b64 %out, [out];
    setp.eq.u32 %first, %i, 0;
    mad.lo.u32 %v, %i, 4, %at;
    st.shared.b32 [%v], 0;
    bar.warp.sync -1;
    @!%first bra COPY;
    {edits}
COPY:
    bar.warp.sync -1;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%map], [%at], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%map], 128;
    bar.sync 0;
    add.u32 %v, %at, 128;
    add.u32 %w, %at, 256;
    @!%first bra WAIT;
    mbarrier.init.shared::cta.b64 [%v], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%v], 128;
    cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%w], [%map, {{4, 2}}], [%v];
WAIT:
    bar.sync 0;
LOOP:
    mbarrier.try_wait.parity.shared.b64 %done, [%v], 0;
    @!%done bra LOOP;
    mad.lo.u32 %z, %i, 4, %w;
    ld.shared.b32 %v, [%z];
    mad.wide.u32 %out, %i, 4, %out;
    st.global.b32 [%out], %v;
    ret;
}}
"""
)
EDITS = (
    ("global_address", "b64", "%x"), ("rank", "b32", "1"), ("box_dim", "b32", "0, 8"), ("box_dim", "b32", "1, 4"),
    ("global_dim", "b32", "0, 16"), ("global_dim", "b32", "1, 10"), ("global_stride", "b64", "0, 64"),
    ("element_stride", "b32", "0, 1"), ("element_stride", "b32", "1, 1"), ("elemtype", "b32", "7"),
    ("interleave_layout", "b32", "0"), ("swizzle_mode", "b32", "0"), ("fill_mode", "b32", "0"),
)  # fmt: skip


def load_mapped(driver, edits, version="8.8"):
    lines = [f"tensormap.replace.tile.{field}.shared::cta.b1024.{kind} [%at], {value};" for field, kind, value in edits]
    text = MAPPED.format(edits="\n".join(lines)).replace("8.8", version)
    x = np.arange(160, dtype=np.float32).reshape(10, 16)
    out = np.zeros((4, 8), np.float32)
    code = Code(driver, text.encode() + b"\0")
    try:
        code("mapped", 1, 32, x, np.zeros(128, np.uint8), out, shared=1024)
    finally:
        code.close()
    return out, x


def test_kernel_makes_tensor_map(driver, context):
    out, x = load_mapped(driver, EDITS)
    np.testing.assert_array_equal(out, x[2:6, 4:12])


def test_strides_of_older_ptx_count_16_bytes(driver, context):
    edits = [(field, kind, value.replace("0, 64", "0, 4")) for field, kind, value in EDITS]
    out, x = load_mapped(driver, edits, "8.5")
    np.testing.assert_array_equal(out, x[2:6, 4:12])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("box_dim", "b32", "0, 257"), "tensormap.replace with a value that no tensor map can have"),
        (("global_stride", "b64", "4, 64"), "tensormap.replace with a value that no tensor map can have"),
    ],
)
def test_wrong_value_of_tensor_map_is_a_fault(driver, context, capfd, edit, message):
    with pytest.raises(Exception, match="CUDA_ERROR_LAUNCH_FAILED"):
        load_mapped(driver, (*EDITS, edit))
    assert message in capfd.readouterr().err


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("[%at]", "tensormap.replace changes memory that does not contain a CUtensorMap"),
        ("[%at+4]", "the address of a tensor map must be a multiple of 64 bytes"),
    ],
)
def test_map_is_edited_only_where_one_is(driver, context, capfd, place, message):
    edit = f"st.shared.b32 [%at], 5;\n tensormap.replace.tile.rank.shared::cta.b1024.b32 {place}, 1;"
    code = Code(driver, MAPPED.format(edits=edit).encode() + b"\0")
    with pytest.raises(Exception, match="CUDA_ERROR_LAUNCH_FAILED"):
        code("mapped", 1, 32, np.zeros(4), np.zeros(128, np.uint8), np.zeros(4), shared=1024)
    code.close()
    assert message in capfd.readouterr().err
