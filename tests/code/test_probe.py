# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The question that asks the compiler for types and layouts: its answer is right, or there is none."""

import pytest

from cuda.core import Linker, LinkerOptions, NVRTCError, Program, ProgramOptions
from cuda.core._code._probe import Probe, may_ask
from support.hostile_sources import HARD_SOURCES, SOURCES, known_in, wrong_answers
from support.interpreter import run

ARCH = ProgramOptions(arch="sm_90")
KERNEL = 'extern "C" __global__ void f(float x, int* y) { *y = x; }'
TYPES = ["float", "int*"]


def declarations_of(code):
    return code.__reduce__()[1][-1]


def types_in(source, target="ptx", **options):
    code = Program(source, "c++", ProgramOptions(**{"arch": "sm_90", **options})).compile(target)
    return declarations_of(code).types("f")


def test_compiler_knows_the_types_in_hostile_sources():
    assert len(SOURCES) > 50
    assert wrong_answers(SOURCES) == []


def test_answer_about_a_hard_source_is_right_or_missing():
    for source, types, _ in HARD_SOURCES.values():
        assert known_in(source)[0] in (types, None)


@pytest.mark.requires(nvidia_compiler=True)
def test_nvrtc_knows_the_types_in_hostile_sources():
    code = "from support.hostile_sources import *; print(wrong_answers(SOURCES | HARD_SOURCES))"
    assert run(code, CUDA_CORE_DEVICE="hardware", timeout=300) == "[]\n"


@pytest.mark.parametrize("target", ["ptx", "cubin", "ltoir"])
def test_every_target_has_the_answer(target):
    assert types_in(KERNEL, target) == TYPES


@pytest.mark.parametrize(
    "options",
    [
        {"std": "c++11"}, {"std": "c++20"}, {"debug": True}, {"lineinfo": True}, {"relocatable_device_code": True},
        {"device_as_default_execution_space": True}, {"first_line": 7}, {"disable_warnings": True}, {"name": "f.cu"},
    ],
    ids=str,
)  # fmt: skip
def test_every_option_leaves_the_answer(options, own_tempdir):
    assert types_in(KERNEL, **options) == TYPES


SIZES = """
from cuda.core import Program, ProgramOptions
from cuda.core._code._probe import Probe

source = 'struct P { int a; }; extern "C" __global__ void f(P x, int* y) { *y = x.a; }'

def sizes():
    options = ProgramOptions(arch="sm_90", lineinfo=True, name="f.cu")
    return [len(Program(source, "c++", options).compile(target).code) for target in ("ptx", "cubin", "ltoir")]

asked = sizes()
Probe.of_source = classmethod(lambda cls, source, arguments: None)
print(asked == sizes())
"""


@pytest.mark.requires(nvidia_compiler=True)
def test_question_leaves_nothing_in_the_code():
    assert run(SIZES, CUDA_CORE_DEVICE="hardware") == "True\n"


def test_log_and_errors_do_not_show_the_question():
    class Log:
        text = ""

        def write(self, text):
            self.text += text

    log = Log()
    Program(KERNEL + "__global__ void g() { int never; }", "c++", ARCH).compile("ptx", logs=log)
    assert "never" in log.text
    assert "cuda_core_types_" not in log.text
    for source in (KERNEL + " int", KERNEL + '\nextern "C" __global__ void f(float) { undefined(); }'):
        with pytest.raises(NVRTCError) as error:
            Program(source, "c++", ARCH).compile("ptx")
        assert "cuda_core_types_" not in str(error.value)


def test_names_of_the_source_stay_unambiguous_for_expressions():
    source = f"struct P {{ int x; }}; template <class T> __global__ void k(T* p) {{ p->x = 1; }}\n{KERNEL}"
    code = Program(source, "c++", ARCH).compile("ptx", name_expressions=["f", "k<P>"])
    assert code.symbol_mapping == {"f": b"f", "k<P>": b"_Z1kI1PEvPT_"}
    assert declarations_of(code).types("f") == TYPES


def test_kernel_in_an_unmet_condition_leaves_the_others():
    source = f'#if 0\nextern "C" __global__ void g(int x) {{}}\nstruct Q {{ int a; }};\n#endif\n{KERNEL}'
    code = Program(source, "c++", ARCH).compile("ptx")
    assert declarations_of(code).types("f") == TYPES
    assert declarations_of(code).types("g") is None
    assert declarations_of(code).layout("Q") is None


def test_program_is_compiled_again_with_its_answer():
    program = Program(KERNEL, "c++", ARCH)
    for target in ("ptx", "cubin", "ptx"):
        assert declarations_of(program.compile(target)).types("f") == TYPES


def test_handle_stays_valid_when_the_question_fails():
    source = 'template <class T> __global__ void f(T x) {} namespace n { extern "C" __global__ void f(int x) {} }'
    source += ' extern "C" __global__ void f(int);'  # the question about it is ambiguous, but not that about n::f
    program = Program(source, "c++", ARCH)
    before = int(program.handle)
    code = program.compile("ptx")
    assert declarations_of(code).types("f") == ["int"]
    assert int(program.handle) != before
    program.close()


def test_only_a_source_with_candidates_is_asked():
    for source in (
        "__global__ void f(int x) {}",
        "template <class T, class U = int> __global__ void f(T x) {}",
        "template <template <class> class T> __global__ void f(T<int> x) {}",
    ):
        assert not may_ask(source)
        assert Probe.of_source(source) is None
    for source in (KERNEL, "class A { }; __global__ void f(A a) {}", "union U { int x; }; __global__ void f(U u) {}"):
        assert may_ask(source)
        assert Probe.of_source(source) is not None


def test_question_is_the_same_after_a_cache():
    probe = Probe(["f", "n::g"], {"P": ("a", "*b"), "Empty": ()})
    again = Probe.from_text(probe.text)
    assert (again.line, again.expressions, again.text) == (probe.line, probe.expressions, probe.text)


def test_another_symbol_is_no_answer():
    probe = Probe(["f"], {})
    assert probe.read([]) == probe.read(["variable"]) == ({}, [])
    assert probe.read(["void cuda_core_types_::of_cc<int, int>()"]) == ({}, [])
    assert probe.read(["void cuda_core_types_::of_cc<int>()"]) == ({}, [])
    answer = "void cuda_core_types_::of_cc<cuda_core_types_::kernel_cc<void (*)(int), &{}> >()"
    assert probe.read([answer.format("f")])[0] == {"f": [["int"]]}
    assert probe.read([answer.format("(f(int))")])[0] == {}
    assert probe.read([answer.format("g")])[0] == {}
    assert probe.read([answer.format("f").replace("void (*)(int)", "int*")])[0] == {}


def test_many_kernels_and_fields_are_known():
    fields = " ".join(f"int field_{number};" for number in range(100))
    kernels = " ".join(KERNEL.replace(" f(", f" f_{number}(") for number in range(50))
    code = Program(f"struct Large {{ {fields} }}; {kernels} {KERNEL}", "c++", ARCH).compile("ptx")
    declarations = declarations_of(code)
    assert all(declarations.types(f"f_{number}") == TYPES for number in range(50))
    assert [field[0] for field in declarations.layout("Large").fields] == [f"field_{number}" for number in range(100)]


OFFSETS = """
from cuda.core import Program, ProgramOptions
from cuda.core._code import _probe

begin = _probe._BEGIN
_probe._BEGIN = begin.replace("__has_builtin(__builtin_offsetof)", "0")
assert _probe._BEGIN != begin
SOURCE = '''
struct Inner { char a; double b; };
struct Outer { char a; alignas(16) int b[3]; Inner c[2]; const volatile short d; union { float e; int f; }; };
struct __attribute__((packed)) Packed { char a; double b; };
struct Member { char a; __device__ constexpr Member* operator&() { return nullptr; } };
struct Friend { char a; friend __device__ constexpr Friend* operator&(Friend&) { return nullptr; } };
struct WithMember { int a; Member b; };
struct WithFriend { int a; Friend b; };
__global__ void f(Inner*, Outer*, Packed*, WithMember*, WithFriend*) {}
'''

def offsets(name):
    code = Program(SOURCE, "c++", ProgramOptions(arch="sm_90")).compile("ptx")
    fields = code.__reduce__()[1][-1].layout(name).fields
    return fields and [field[3] for field in fields]
"""


@pytest.mark.requires(nvidia_compiler=True)
def test_old_compilers_tell_the_right_offsets_or_none():
    code = f"{OFFSETS}print(*[offsets(name) for name in ('Inner', 'Outer', 'Packed', 'WithMember', 'WithFriend')])"
    assert run(code, CUDA_CORE_DEVICE="hardware") == "[0, 8] [0, 16, 32, 64, 68, 68] [0, 1] None None\n"


@pytest.mark.requires(nvjitlink=True)
@pytest.mark.parametrize("target", ["ptx", "ltoir"])
def test_answers_of_linked_sources_do_not_collide(target):
    options = ProgramOptions(arch="sm_90", relocatable_device_code=target != "ltoir" or None)
    sources = [KERNEL, KERNEL.replace(" f(", " g("), KERNEL.replace(" f(", " h(").replace("float", "double")]
    inputs = [Program(source, "c++", options).compile(target) for source in sources]
    is_lto = target == "ltoir"
    linked = Linker(*inputs, options=LinkerOptions(arch="sm_90", link_time_optimization=is_lto or None)).link("cubin")
    found = [declarations_of(linked).types(name) for name in "fgh"]
    assert found == [TYPES, TYPES, ["double", "int*"]]
