# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The classic linker, implemented with :class:`cuda.core.Linker`."""

from __future__ import annotations

import builtins
import contextlib
import functools
import glob
import os

from cuda import core
from cuda.core import CUDAError, ObjectCode
from cuda.core._classic import list_argument, shown
from cuda.core.driver._checks import callable_argument, checked_int
from cuda.core.driver._constants import jit_input_type, jit_option
from cuda.core.driver._context import classic_member, context_for
from cuda.core.driver._errors import INVALID_VALUE, LogicError, classic_error, logic_error
from cuda.core.driver._module import Module, code_of, read_file

__all__ = ["Linker", "module_from_buffer"]

_MAKERS = {
    jit_input_type.CUBIN: ObjectCode.from_cubin,
    jit_input_type.PTX: ObjectCode.from_ptx,
    jit_input_type.FATBINARY: ObjectCode.from_fatbin,
    jit_input_type.OBJECT: ObjectCode.from_object,
    jit_input_type.LIBRARY: ObjectCode.from_library,
}


class Linker:
    """A linker of device code (``cuLinkCreate``).

    Parameters
    ----------
    message_handler : callable, optional
        A function called as ``message_handler(ok, info, error)`` with the linker's logs before :meth:`link_module`
        returns or raises.
    options : list, optional
        Pairs of a :class:`jit_option` and an int. Options that do not apply to linking are ignored.
    log_verbose : bool, optional
        Whether the linker writes a verbose log. Defaults to False.

    Raises
    ------
    LogicError
        If no context is current, or an option is unknown.
    TypeError
        If ``options`` is not a list of such pairs.
    """

    def __init__(self, message_handler=None, options: list | None = None, log_verbose: bool = False):
        context_for("cuLinkCreate")
        self._message_handler = message_handler
        self._fields = linker_fields(options or (), log_verbose)
        self._codes = []

    def __repr__(self):
        return f"<cuda.core.driver.Linker with {len(self._codes)} inputs>"

    def add_data(self, data: bytes, input_type: int, name: str = "unknown") -> None:
        """Add code from memory (``cuLinkAddData``).

        Parameters
        ----------
        data : bytes
            The code.
        input_type : jit_input_type | int
            The type of the code.
        name : str, optional
            The name to show in messages. Defaults to ``"unknown"``.

        Raises
        ------
        LogicError
            If ``input_type`` is not valid.
        """
        make = _MAKERS[classic_member(jit_input_type, input_type, "cuLinkAddData")]
        self._codes.append(make(bytes(data), name=name))

    def add_file(self, filename: str | os.PathLike, input_type: int) -> None:
        """Add code from a file (``cuLinkAddFile``).

        Parameters
        ----------
        filename : str or path-like
            The path of the file.
        input_type : jit_input_type | int
            The type of the code.

        Raises
        ------
        RuntimeError
            If the file does not exist.
        LogicError
            If ``input_type`` is not valid.
        """
        classic_member(jit_input_type, input_type, "cuLinkAddFile")
        self.add_data(read_file(filename, "cuLinkAddFile"), input_type, os.path.basename(os.fspath(filename)))

    def link_module(self) -> Module:
        """Link the added code and return the loaded module (``cuLinkComplete``).

        Raises
        ------
        LogicError
            If no code was added, or linking fails.
        """
        if not self._codes:
            raise LogicError("cuLinkComplete failed: no code was added; call add_data() or add_file() first")
        code = link(self._codes, self._fields, self._message_handler)
        return Module._of_code(code)


def module_from_buffer(buffer, options=(), message_handler=None) -> Module:
    """Load a module from memory (``cuModuleLoadDataEx``). See :class:`Module`.

    Parameters
    ----------
    buffer : bytes-like
        A CUBIN, PTX or a fat binary.
    options : list, optional
        Pairs of a :class:`jit_option` and an int for compiling PTX. Ignored for other code.
    message_handler : callable, optional
        A function called as ``message_handler(ok, info, error)`` with the compiler's logs.

    Raises
    ------
    LogicError
        If the code is invalid, an option is unknown, or no context is current.
    """
    context = context_for("cuModuleLoadDataEx")
    code = code_of(buffer)
    callable_argument("message_handler", message_handler)
    fields = linker_fields(options, False)
    if code.code_type == "ptx" and (fields or message_handler is not None):
        code = link([code], fields, message_handler)
    elif message_handler is not None:
        message_handler(True, "", "")
    return Module._of_code(code, context)


def link(codes: list[ObjectCode], fields: dict, message_handler) -> ObjectCode:
    """Link codes into a CUBIN, and pass the linker's logs to a handler."""
    linker = None
    try:
        # Their first use loads nvJitLink, which few programs need.
        linker = core.Linker(*codes, options=core.LinkerOptions(**fields))
        code = linker.link("cubin")
    except (CUDAError, builtins.RuntimeError) as error:
        if message_handler is not None:
            info = "" if linker is None else linker.get_info_log()
            message_handler(False, info, getattr(error, "log", None) or str(error))
        if isinstance(error, CUDAError) and error.code is not None:
            raise classic_error(error, "cuLinkComplete") from None
        raise LogicError(f"cuLinkComplete failed: {error}") from None
    if message_handler is not None:
        message_handler(True, linker.get_info_log(), linker.get_error_log())
    return code


def linker_fields(options, log_verbose: bool) -> dict:
    """Return the fields of :class:`~cuda.core.LinkerOptions` for pairs of a :class:`jit_option` and an int."""
    fields = {"verbose": True} if log_verbose else {}
    for pair in list_argument("options", options, "a list of pairs"):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"options must contain pairs of a jit_option and an int, not {shown(pair)}")
        option, value = pair[0], checked_int("the value of an option", pair[1], 0, 2**32 - 1)
        option = classic_member(jit_option, option, "cuLinkCreate")
        if option is jit_option.MAX_REGISTERS:
            fields["max_register_count"] = int(value)
        elif option is jit_option.OPTIMIZATION_LEVEL:
            # The linker has only two levels.
            fields["optimization_level"] = 3 if int(value) else 0
        elif option is jit_option.TARGET:
            features = {0: "", 1: "a", 2: "f"}.get(int(value) >> 16)
            if features is None:
                raise logic_error("cuLinkCreate", INVALID_VALUE, f"TARGET must be a jit_target, not {value}")
            fields["arch"] = f"sm_{int(value) & 0xFFFF}{features}"
    return fields


@functools.cache
def find_library(name: str, directory: str | None = None) -> str:
    """Return the path of a static CUDA library with device code.

    Parameters
    ----------
    name : str
        The library name, such as ``"cudadevrt"``.
    directory : str, optional
        The directory to search. Defaults to the CUDA packages and the toolkit.

    Raises
    ------
    RuntimeError
        If the library is not found.
    """
    file = name if name.endswith((".a", ".lib")) else f"lib{name}.a"
    folders = [directory] if directory is not None else _library_folders()
    for folder in folders:
        path = os.path.join(folder, file)
        if os.path.isfile(path):
            return path
    where = f" in {directory!r}" if directory is not None else "; install nvidia-cuda-runtime, or pass cuda_libdir"
    raise logic_error("cuLinkAddFile", 301, f"{file} was not found{where}")


def _library_folders() -> list[str]:
    from cuda import pathfinder  # slow to import, and few programs link libraries

    folders = []
    with contextlib.suppress(builtins.RuntimeError):
        folders.append(os.path.dirname(pathfinder.find_static_lib("cudadevrt")))
    home = pathfinder.get_cuda_path_or_home()
    return folders + (glob.glob(os.path.join(home, "lib*")) if home else [])
