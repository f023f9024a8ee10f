# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Lambdas that NVRTC takes for host code are errors, in its words and at its places; other lambdas compile."""

import pytest

from support.compiled import Program

pytestmark = pytest.mark.requires(software=True)

BODY = "[](int i) { return i + 1; }"
HOST = (
    "error: The execution space for the lambda closure class members was inferred to be __host__ (based on context). "
    "This is not allowed in JIT mode. Consider using -default-device to infer __device__ execution space for namespace "
    "scope lambda closure classes."
)
ANNOTATED = "error: __host__ or __device__ annotation on lambda is not allowed in JIT mode"
OUTSIDE = {  # the text before and after the lambda
    "variable": ("__device__ auto g = ", ";"),
    "constant": ("constexpr auto g = ", ";"),
    "value": ("constexpr int g = ", "(2);"),
    "static member": ("struct S { static constexpr auto f = ", "; };"),
    "member": ("struct S { int (*f)(int) = ", "; };"),
    "default argument": ("__device__ int h(int a, int (*f)(int) = ", ") { return f(a); }"),
    "alias": ("using F = decltype(", ");"),
    "assertion": ("static_assert(", '(1) == 2, "");'),
    "template": ("template <class T> constexpr auto g = ", ";"),
}
INSIDE = {
    "kernel": f"__global__ void k(int* x) {{ auto f = {BODY}; *x = f(2); }}",
    "template argument": (
        "template <auto f> __device__ int call(int a) { return f(a); }\n"
        f"__global__ void k(int* x) {{ *x = call<{BODY}>(2); }}"
    ),
    "member function": f"struct S {{ __device__ int m() {{ return {BODY}(1); }} }};",
    "constructor": "struct S { int a; __device__ S() : a([] { return 3; }()) {} };",
    "member of a local class": f"__global__ void k(int* x) {{ struct S {{ int (*f)(int) = {BODY}; }}; S().f(1); }}",
    "both spaces": "__host__ __device__ int f() { return [] { return 3; }(); }",
    "no lambda": "[[nodiscard]] __device__ int f() { return 1; } __device__ int a[3]; __device__ int (&b)[3] = a;",
}


def compiled(text, *options):
    return Program(text, "-arch=sm_90", "-std=c++20", *options)


@pytest.mark.parametrize("place", OUTSIDE)
def test_lambda_outside_functions_is_rejected(driver, place):
    before, after = OUTSIDE[place]
    text = before + BODY + after
    log = compiled(text).log
    column = len(before) + 2
    assert f"default_program(1): {HOST}\n  {text}\n  {' ' * column}^\n" in log
    assert "1 error detected" in log
    assert "error" not in compiled(text, "-default-device").log


@pytest.mark.parametrize("place", INSIDE)
def test_lambda_in_device_code_is_accepted(driver, place):
    assert "error" not in compiled(INSIDE[place]).log


@pytest.mark.parametrize("space", ["__device__", "__host__", "__host__ __device__"])
@pytest.mark.parametrize("option", [(), ("-default-device",)])
def test_annotated_lambda_is_rejected(driver, space, option):
    text = f"__global__ void k(int* x) {{ auto f = [=] {space} (int i) {{ return i; }}; *x = f(2); }}"
    log = compiled(text, *option).log
    assert f"default_program(1): {ANNOTATED}\n  {text}\n  {' ' * text.index('(int i)')}^\n" in log
