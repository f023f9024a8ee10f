# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reading the driver's log of failed calls (``cuLogsDumpToMemory``, CUDA 13)."""

from __future__ import annotations

import re
from _thread import get_native_id

__all__ = ["last_failure"]

# [time][thread][source][severity][entry point] message, as the CUDA Programming Guide gives it. The lines of a message
# that follow its first one have no such head.
_HEAD = r"\[[\d:.]+\]\[(\d+)\]\[\w+\]\[\w\]\[(\w+)\] ?"


# Waits that can be interrupted ask instead, or leave the call to another thread: `docs/design/waiting.md`.
_ASKED_INSTEAD = {"cuStreamSynchronize": "cuStreamQuery", "cuEventSynchronize": "cuEventQuery"}
_ON_ANOTHER_THREAD = frozenset(
    {
        "cuArrayDestroy",
        "cuCtxSynchronize",
        "cuLibraryGetKernelCount",
        "cuLibraryGetModule",
        "cuLibraryLoadData",
        "cuLibraryLoadFromFile",
        "cuLibraryUnload",
        "cuLinkAddData",
        "cuLinkAddFile",
        "cuLinkComplete",
        "cuMemFree",
        "cuMemFreeHost",
        "cuMipmappedArrayDestroy",
    }
)


def last_failure(log: bytes, name: str, api: str | None) -> str | None:
    """Return the messages of the log about the last failed call of this thread.

    Parameters
    ----------
    log : bytes
        The log, oldest message first.
    name : str
        The code of the failure, such as ``"CUDA_ERROR_INVALID_VALUE"``.
    api : str or None
        The entry point that failed, without a version suffix; None where it is not known.

    Returns
    -------
    str or None
        The messages, without their heads and without the one that only repeats the code; None where there are none.
    """
    texts: list[str] = []
    call = None
    for thread, entry, text in _newest_first(log.decode(errors="replace")):
        if thread != get_native_id() and not (api in _ON_ANOTHER_THREAD and entry == api):
            continue
        if call is None:
            call = entry
        elif entry != call or text.startswith("Returning"):  # of an earlier failure
            break
        texts.insert(0, text)
    told = " ".join(texts)
    is_other_code = "CUDA_ERROR_" in told and not re.search(rf"\b{name}\b", told)
    if (
        call is None
        or is_other_code
        or (not call.startswith((api, _ASKED_INSTEAD.get(api, api))) if api else "CUDA_ERROR_" not in told)
    ):
        return None
    return "\n".join(text for text in texts if not text.startswith("Returning")) or None


def _newest_first(log):
    following: list[str] = []
    for line in reversed(log.splitlines()):
        head = re.match(_HEAD, line)
        if head is None:
            following.insert(0, line)
            continue
        yield int(head[1]), head[2], "\n".join([line[head.end() :], *(row.removeprefix("  ") for row in following)])
        following = []
