# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""PTX: the back end that compiles it with a linker, with the interface that ``_nvrtc`` describes."""

from __future__ import annotations

from cuda.core._compile._tools import CallLock
from cuda.core._linker import Linker
from cuda.core._module import ObjectCode
from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core.typing import ObjectCodeFormatType

__all__ = ["PTXBackEnd"]


class PTXBackEnd:
    """Compiles PTX to CUBIN, with a linker.

    Parameters
    ----------
    source : bytes
        The PTX.
    name : bytes
        The name of the input in messages.
    settings : CompileSettings
        The compile settings.

    Raises
    ------
    nvJitLinkError, CUDAError
        If the linker rejects the PTX or an option.
    """

    backend = None  # nvJitLink or the driver, as Linker.which_backend() returns
    targets = (ObjectCodeFormatType.CUBIN, ObjectCodeFormatType.PTX)
    pch_status = None

    def __init__(self, source: bytes, name: bytes, settings):
        self._options = settings.arguments
        self._input = ObjectCode.from_ptx(source, name=name.decode(errors="replace"))
        self._call_lock = CallLock()  # one compilation of a program at a time
        self._is_linked = False
        self._linker = Linker(self._input, options=self._options)

    def close(self) -> None:
        """Close the linker, after a running compilation in another thread."""
        self._call_lock.after_call(lambda: self._linker.close())

    @property
    def handle(self):
        """The handle of the linker."""
        return self._linker.handle

    @staticmethod
    def null_handle():
        """Return the handle of a closed program."""
        return 0  # only needed for nvJitLink, because the driver's linker is created with the Program

    def compile(self, target: ObjectCodeFormatType, name_expressions: list[bytes]):
        """Link the PTX as the only input.

        Parameters
        ----------
        target : ObjectCodeFormatType
            The output format.
        name_expressions : list of bytes
            Ignored: the symbols of PTX are mangled already.

        Returns
        -------
        tuple
            The code, an empty list, and the log.

        Raises
        ------
        nvJitLinkError, CUDAError
            If linking fails; the exception has the log.
        """
        with self._call_lock:
            if self._linker.is_closed:
                raise UnavailableError("this Program is closed")
            if self._is_linked:
                # A linker can link once.
                self._linker.close()
                self._linker = Linker(self._input, options=self._options)
            self._is_linked = True
            return self._linker.link(target).code, [], self._linker.get_info_log()
