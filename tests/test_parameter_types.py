# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameter types read from a mangled kernel name, and the advice that follows from them."""

import pytest

from cuda.core._kernel_arg_handler import advice, parameter_types


@pytest.mark.parametrize(
    ("symbol", "types"),
    [
        ("_Z1ki", ["int"]),
        ("_Z4saxyPKfPffm", ["pointer", "pointer", "float", "unsigned long"]),
        ("_Z1kPvPPiRK4Pair", ["pointer", "pointer"]),  # a reference ends the list
        ("_ZN5outer5innerEdx", ["double", "long long"]),
        ("_ZN12_GLOBAL__N_11kEf", ["float"]),
        ("_Z1k4PairS_i", ["Pair", "Pair", "int"]),
        ("_Z5plainPfS_f", ["pointer", "pointer", "float"]),
        ("_Z6plain2PKfPfS0_fd", ["pointer", "pointer", "pointer", "float", "double"]),
        ("_Z5scaleIfEvPT_S0_m", ["pointer", "float", "unsigned long"]),
        ("_Z5scaleIPfEvPT_S1_m", ["pointer", "pointer", "unsigned long"]),
        ("_Z5scaleI6__halfEvPT_S1_m", ["pointer", "__half", "unsigned long"]),
        ("_Z5saxpyIdEvT_PKS0_S2_PS0_m", ["double", "pointer", "pointer", "pointer", "unsigned long"]),
        ("_Z3twoIfiEvPT_PT0_S0_S2_S3_S0_", ["pointer", "pointer", "float", "int", "pointer", "float"]),
        ("_Z3twoI4PairS0_EvPT_PT0_S1_S3_S4_S1_", ["pointer", "pointer", "Pair", "Pair", "pointer", "Pair"]),
        ("_Z3valILi3EfEvPT0_S0_", ["pointer", "float"]),
        ("_Z6halvesP6__halfS_PVff", ["pointer", "__half", "pointer", "float"]),
        ("_ZN2ns5innerIdEEvPT_S1_f", ["pointer", "double", "float"]),
        ("_ZN2ns4flatEP4PairS0_S1_i", ["pointer", "Pair", "pointer", "int"]),
        ("_ZN2ns4deep1kIfEEvPPT_PKS2_S2_", ["pointer", "pointer", "float"]),
        ("_Z1kPfS7_", ["pointer"]),
        ("_Z1kv", None),
        ("_Z1k6__halfi", ["__half", "int"]),
        ("_Z1fIfEvT_i", ["float", "int"]),
        ("_Z1fIfdEvT0_PT_T_", ["double", "pointer", "float"]),
        ("_Z1fILi3ELb1ELin1EEvjPf", ["unsigned int", "pointer"]),
        ("_Z1fIPfEvT_i", ["pointer", "int"]),
        ("_Z1fI6__halfEvT_", ["__half"]),
        ("_ZN2ns1gIfEEvT_PKd", ["float", "pointer"]),
        ("_Z1fIiEvT_T1_", ["int"]),
        ("_Z1fIiEiT_", None),
        ("_Z1fI3VecIfEEvT_", None),
        ("_Z1fIJiEEvDpT_", None),
        ("_ZN1aIiE1gEi", None),
        ("_Z1fI", None),
        ("_Z", None),
        ("_ZN", None),
        ("_Z9k", None),
        ("_Z1k", None),
        ("k", None),
        ("", None),
    ],
)
def test_types_are_read_from_mangled_names(symbol, types):

    assert parameter_types(symbol) == types


@pytest.mark.parametrize(
    ("symbol", "argument", "size", "text"),
    [
        ("_Z1ki", 1.5, 4, "; the parameter is an int: pass an int"),
        ("_Z1kt", 1.5, 2, "; the parameter is an unsigned short: pass an int"),
        ("_Z1kc", 1.5, 1, "; the parameter is a char: pass an int"),
        ("_Z1kf", 1.5, 4, "; the parameter is a float: use numpy.float32"),
        ("_Z1kb", 1.5, 1, "; the parameter is a bool: pass a bool"),
        ("_Z1k6__half", 1.5, 2, "; the parameter is a __half: use numpy.float16"),
        ("_Z1kPf", 1j, 8, "; the parameter is a pointer: pass a Buffer, or an address as an int"),
        ("_Z1kd", 1j, 8, "; the parameter is a double: pass its bytes, numpy.void or ctypes.Structure"),
        ("_Z1k4Pair", 1.5, 4, "; the parameter is a Pair: pass its bytes, numpy.void or ctypes.Structure"),
        ("_Z1fIiEvT_Pf", 1.5, 4, "; the parameter is an int: pass an int"),
        ("_Z1k4Pair", 1, 12, "; pass a structure as bytes, numpy.void or ctypes.Structure"),
        ("k", "text", 4, ""),
    ],
)
def test_advice_names_only_what_fits_the_type(symbol, argument, size, text):
    assert advice(symbol, 0, argument, size) == text
