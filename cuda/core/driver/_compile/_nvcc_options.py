# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Translation of ``nvcc`` options to :class:`cuda.core.ProgramOptions`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from cuda.core._utils.validators import shown
from cuda.core.driver._checks import texts_argument

__all__ = ["UnknownOptionError", "split_options", "translate"]


class UnknownOptionError(Exception):
    """An option is unknown, or its value is missing."""


# Keys are option names without dashes. Options without a value:
_SWITCHES = {
    "G": "debug",
    "device-debug": "debug",
    "lineinfo": "lineinfo",
    "generate-line-info": "lineinfo",
    "use_fast_math": "use_fast_math",
    "extra-device-vectorization": "extra_device_vectorization",
    "w": "disable_warnings",
    "disable-warnings": "disable_warnings",
    "restrict": "restrict",
    "dlto": "link_time_optimization",
    "dlink-time-opt": "link_time_optimization",
    "dc": "relocatable_device_code",
    "device-c": "relocatable_device_code",
    "ewp": "extensible_whole_program",
    "extensible-whole-program": "extensible_whole_program",
    "default-device": "device_as_default_execution_space",
    "device-as-default-execution-space": "device_as_default_execution_space",
    "device-int128": "device_int128",
    "no-source-include": "no_source_include",
}
# Options with the value true or false:
_TOGGLES = {
    "ftz": "ftz",
    "prec-div": "prec_div",
    "prec-sqrt": "prec_sqrt",
    "fmad": "fma",
    "rdc": "relocatable_device_code",
    "relocatable-device-code": "relocatable_device_code",
    "builtin-move-forward": "builtin_move_forward",
    "builtin-initializer-list": "builtin_initializer_list",
    "brief-diagnostics": "brief_diagnostics",
    "brief-diag": "brief_diagnostics",
}
# Options with a value that may be repeated:
_LISTS = {
    "D": "define_macro",
    "define-macro": "define_macro",
    "U": "undefine_macro",
    "undefine-macro": "undefine_macro",
    "I": "include_path",
    "include-path": "include_path",
    "isystem": "include_path",
    "system-include": "include_path",
    "include": "pre_include",
    "pre-include": "pre_include",
    "Xptxas": "ptxas_options",
    "ptxas-options": "ptxas_options",
    "diag-suppress": "diag_suppress",
    "diag-error": "diag_error",
    "diag-warn": "diag_warn",
}
# Options whose value may follow without a separator:
_JOINED = ("D", "U", "I")
_NUMBERS = {"maxrregcount": "max_register_count"}
# Options that do not apply to the compilation of device code, without and with a value:
_IGNORED = frozenset(
    "g m64 c keep k verbose v cuda cubin shared expt-relaxed-constexpr extended-lambda expt-extended-lambda save-temps"
    " Wreorder Wdefault-stream-launch Wmissing-launch-bounds Wext-lambda-captures-this dryrun no-compress".split()
)
_IGNORED_WITH_VALUE = frozenset(
    "Xcompiler compiler-options Xlinker linker-options Xarchive Xcudafe Xnvlink ccbin compiler-bindir cudart"
    " default-stream Werror x language t threads l library L library-path keep-dir odir output-directory o".split()
)
_ARCH = frozenset(("arch", "gpu-architecture"))
_CODE = frozenset(("code", "gpu-code"))


def split_options(options) -> list[str]:
    """Return a list of single options, also from strings that contain several.

    Raises
    ------
    TypeError
        If ``options`` is neither a str nor a list of str.
    """
    parts = []
    for option in texts_argument("options", options):
        # A path may contain blanks, so a string is split only if another option follows a blank.
        parts += shlex.split(option) if re.search(r"\s-|^-\S+\s+\S", option) else [option.strip()]
    return [part for part in parts if part]


def translate(options: list[str]) -> dict:
    """Return the fields of :class:`~cuda.core.ProgramOptions` for options of ``nvcc``.

    Raises
    ------
    UnknownOptionError
        If the compiler does not know an option, or one lacks its value.
    """
    fields = {}
    rest = iter(options)
    for option in rest:
        if not option.startswith("-"):
            raise UnknownOptionError(f"an option must begin with '-', not be {shown(option)}")
        name, has_value, value = option.lstrip("-").partition("=")
        _translate_one(fields, option, name, value if has_value else None, rest)
    return fields


def _translate_one(fields: dict, option: str, name: str, value: str | None, rest: Iterator[str]) -> None:
    if name in _SWITCHES and value is None:
        fields[_SWITCHES[name]] = True
    elif name == "dopt":
        fields["device_code_optimize"] = _value_of(option, value, rest) == "on"
    elif name in _TOGGLES:
        fields[_TOGGLES[name]] = _truth_of(option, _value_of(option, value, rest))
    elif name in _LISTS:
        _append(fields, _LISTS[name], _value_of(option, value, rest))
    elif name[:1] in _JOINED and not option.startswith("--"):
        # Taken from the option itself, because the definition of a macro may contain "=".
        _append(fields, _LISTS[name[0]], option[2:])
    elif name in _NUMBERS:
        fields[_NUMBERS[name]] = int(_value_of(option, value, rest))
    elif name in _ARCH:
        fields["arch"] = arch_of(_value_of(option, value, rest))
    elif name in _CODE:
        fields.setdefault("arch", arch_of(_value_of(option, value, rest)))
    elif name in ("gencode", "generate-code"):
        fields["arch"] = _arch_of_pair(_value_of(option, value, rest))
    elif name == "std":
        fields["std"] = _value_of(option, value, rest).replace("gnu++", "c++")
    elif re.fullmatch(r"O[0-3]|optimize", name):
        _append(fields, "ptxas_options", f"-O{_value_of(option, value, rest) if name == 'optimize' else name[1]}")
    elif name in ("resource-usage", "res-usage"):
        _append(fields, "ptxas_options", "-v")
    elif name in _IGNORED_WITH_VALUE:
        _value_of(option, value, rest)
    elif name not in _IGNORED and not re.match(r"[lL].|Wno-|Wall$|Wextra$", name):
        raise UnknownOptionError(f"unrecognized option {shown(option)}")


def arch_of(text: str) -> str:
    """Return the target architecture: the first one of a list."""
    text = text.split(",")[0].strip("'\"[]")
    return text.replace("compute_", "sm_", 1)


def _arch_of_pair(text: str) -> str:
    """Return the architecture of a pair such as ``arch=compute_70,code=sm_70``: that of ``code`` if it is given."""
    parts = dict(part.split("=", 1) for part in re.findall(r"\w+=(?:\[[^\]]*\]|[^,]*)", text))
    return arch_of(parts.get("code") or parts.get("arch") or text)


def _append(fields: dict, name: str, value: str) -> None:
    # Options of ptxas and numbers of diagnostics may be lists, separated by commas.
    several = value.split(",") if name == "ptxas_options" or name.startswith("diag_") else [value]
    if name.startswith("diag_"):
        several = [int(number) for number in several]
    fields.setdefault(name, []).extend(several)


def _value_of(option: str, value: str | None, rest: Iterator[str]) -> str:
    if value is None:
        value = next(rest, None)
    if value is None:
        raise UnknownOptionError(f"option {shown(option)} needs a value")
    return value


def _truth_of(option: str, value: str) -> bool:
    if value not in ("true", "false"):
        raise UnknownOptionError(f"option {shown(option)} must be true or false, not {shown(value)}")
    return value == "true"
