# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Error messages: diagnostics of compilers, the driver's log, advice, and where a call came from."""

from __future__ import annotations

import re
import sys
import warnings
from _thread import get_native_id
from typing import NamedTuple

__all__ = [
    "ADVICE",
    "Diagnostic",
    "KERNEL_FAILURES",
    "RUNTIME_ADVICE",
    "last_failure",
    "parse_diagnostics",
    "warn_caller",
]


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning for the innermost line of the call stack outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("cuda.core."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# First lines of messages: from the C++ front end, from the PTX assembler, and from tools that give no file name.
_FIRST_LINES = (
    r"(?P<file>.+?)\((?P<line>\d+)\): (?P<severity>catastrophic error|internal error|error|warning|remark|note)"
    r"(?: #\d+(?:-D)?)?: (?P<message>.*)",
    r"ptxas (?P<file>.+?), line (?P<line>\d+); (?P<severity>fatal|error|warning) *: (?P<message>.*)",
    r"(?:\w+:? +)?(?P<severity>fatal|error|warning) *: (?P<message>.*)",
)
# The number of spaces that the front end writes before an excerpt of the source, and before the caret line below it.
_MARGIN = 2


class Diagnostic(NamedTuple):
    """One message of a compiler.

    Attributes
    ----------
    file : str or None
        The name of the source, or the path of the header; None if the message names none.
    line : int or None
        The line number, from 1.
    column : int or None
        The column, from 1; None if the compiler does not show it.
    severity : str
        ``"error"``, ``"warning"``, ``"note"``, ``"remark"``, ``"fatal"``, ``"catastrophic error"`` or
        ``"internal error"``.
    message : str
        The text. Lines after the first one name the template instantiations.
    excerpt : str or None
        The line of the source; None if the compiler does not show it.
    """

    file: str | None
    line: int | None
    column: int | None
    severity: str
    message: str
    excerpt: str | None = None

    def __str__(self):
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        lines = [f"{place}: {self.severity}: {self.message}" if place else f"{self.severity}: {self.message}"]
        if self.excerpt is not None:
            # Keep tabs, so that the caret stands below its character.
            gap = "".join(character if character == "\t" else " " for character in self.excerpt[: self.column - 1])
            lines += [f"  {self.excerpt}", f"  {gap.ljust(self.column - 1)}^"]
        return "\n".join(lines)


def parse_diagnostics(log: str | None) -> tuple[Diagnostic, ...]:
    """Return the messages in a log, in order; other lines, such as counts, are skipped."""
    found = []
    body = None
    for line in (log or "").splitlines():
        match = next(filter(None, (re.fullmatch(first, line) for first in _FIRST_LINES)), None)
        if match:
            body = []
            found.append((match.groupdict(), body))
        elif not line.startswith(" "):
            body = None  # the lines of a message are indented
        elif body is not None:
            body.append(line)
    return tuple(make_diagnostic(parts, body) for parts, body in found)


def make_diagnostic(parts: dict, body: list[str]) -> Diagnostic:
    """Return the record of one message: ``parts`` of its first line, and the lines that follow."""
    message, excerpt, column = [parts["message"]], None, None
    caret = next((index for index, line in enumerate(body) if index and line.strip() == "^"), None)
    if caret is not None:
        excerpt = body[caret - 1][_MARGIN:]
        column = body[caret].index("^") - _MARGIN + 1
        body = body[: caret - 1] + body[caret + 1 :]
    message += [line.strip() for line in body]
    line = parts.get("line")
    return Diagnostic(
        parts.get("file"), int(line) if line else None, column, parts["severity"], "\n".join(message), excerpt
    )


# [time][thread][source][severity][entry point] message, as in the CUDA Programming Guide. Further lines of a message
# have no such head.
_HEAD = r"\[[\d:.]+\]\[(\d+)\]\[\w+\]\[\w\]\[(\w+)\] ?"

# Interruptible waits query instead of blocking, or make the call on a helper thread (`docs/design/waiting.md`). The log
# names the query, or the ID of the helper thread.
_QUERIED_INSTEAD = {"cuStreamSynchronize": "cuStreamQuery", "cuEventSynchronize": "cuEventQuery"}
_ON_HELPER_THREAD = frozenset(
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
    """Return the messages of the driver's log about the last failed call of this thread.

    Parameters
    ----------
    log : bytes
        The log, oldest message first.
    name : str
        The code of the failure, such as ``"CUDA_ERROR_INVALID_VALUE"``.
    api : str or None
        The entry point that failed, without a version suffix; None if unknown.

    Returns
    -------
    str or None
        The messages without their heads, and without the one that only repeats the code; None if there are none, or if
        the last failure in the log is not that of ``name`` and ``api``.
    """
    texts: list[str] = []
    call = None
    for thread, entry, text in _newest_first(log.decode(errors="replace")):
        if thread != get_native_id() and not (api in _ON_HELPER_THREAD and entry == api):
            continue
        if call is None:
            call = entry
        elif entry != call or text.startswith("Returning"):  # the last message of an earlier failure
            break
        texts.insert(0, text)
    joined = " ".join(texts)
    is_other_code = "CUDA_ERROR_" in joined and not re.search(rf"\b{name}\b", joined)
    if (
        call is None
        or is_other_code
        or (not call.startswith((api, _QUERIED_INSTEAD.get(api, api))) if api else "CUDA_ERROR_" not in joined)
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


_FATAL = "The context is lost with all its memory; restart the process."

# For these codes, a report of the kernel in the driver's log replaces the advice.
KERNEL_FAILURES = frozenset({700, 710, 714, 715, 716, 717, 718, 719})

# By the number of a CUresult.
ADVICE: dict[int, str] = {
    0: "The call succeeded.",
    1: "An argument is outside the range that the call accepts: check sizes, pointers, enum values and flags.",
    2: "Free buffers that are no longer used, ask for less, or see which other process holds memory of the device.",
    3: "The driver is not initialized in this process; after a fork, use CUDA only in processes started with 'spawn'.",
    4: "The driver is shutting down: release CUDA resources before the interpreter exits.",
    5: "A profiler is attached from outside, so it cannot be controlled from within the program.",
    6: "Starting the profiler from the program no longer needs an initialization; remove the call.",
    7: "The profiler already runs; remove the second start.",
    8: "The profiler is already stopped; remove the second stop.",
    34: "The libcuda.so found is the toolkit's stub for linking; take its directory out of the library search path.",
    36: "The call is newer than the installed driver: update the display driver.",
    46: "The device is unavailable: another process uses it exclusively, or it is being reset; see nvidia-smi.",
    47: "The hardware has no multicast resources left; release multicast objects that are no longer used.",
    100: "No NVIDIA GPU is visible: check nvidia-smi, CUDA_VISIBLE_DEVICES and, in a container, its GPU option.",
    101: "The ordinal must be below the number of visible devices; CUDA_VISIBLE_DEVICES limits and renumbers them.",
    102: "The licence for the virtual GPU is missing or could not be fetched.",
    200: "The code is no valid PTX, cubin or fat binary; it may be truncated or of another format than stated.",
    201: "No context is current on this thread, or it was destroyed: call Device.set_current() first.",
    202: "The context is already current; do not make it current again.",
    205: "Mapping a graphics resource or memory failed; check that its owner still exists and has not mapped it.",
    206: "Unmapping failed; the resource is in use or was mapped on another stream or in another context.",
    207: "The array is mapped; unmap it before it is destroyed.",
    208: "The resource is already mapped; unmap it before it is mapped again.",
    209: "Compile for the compute capability of this device, or add PTX that the driver can translate.",
    210: "The resource was already acquired; release it before it is acquired again.",
    211: "The resource is not mapped; map it first.",
    212: "The resource was mapped as a pointer, and cannot be accessed as an array.",
    213: "The resource was mapped as an array, and cannot be accessed as a pointer.",
    214: f"The device detected an uncorrectable memory error. {_FATAL} If it occurs again, test the hardware.",
    215: "The device does not have this limit.",
    216: "The context is bound to another thread; only one thread at a time can use it.",
    217: "The two devices cannot access each other's memory: copy through the host, or ask can_access_peer() first.",
    218: "The PTX cannot be assembled; the log of the linker names the line.",
    219: "The OpenGL or Direct3D context is not valid on this thread.",
    220: f"An NVLink between GPUs had an uncorrectable error. {_FATAL} If it occurs again, test the hardware.",
    221: "The compiler library of the driver (libnvidia-ptxjitcompiler) is missing; reinstall the display driver.",
    222: "The PTX comes from a newer compiler than the driver knows: compile to cubin, or update the display driver.",
    223: "JIT compilation of PTX is disabled (CUDA_DISABLE_PTX_JIT); compile to cubin for this device.",
    224: "The device or the system cannot bind a context to a part of the multiprocessors.",
    225: "Kernels can no longer synchronize with the kernels that they launch; use a tail launch or a graph.",
    226: f"An error of the device was contained to this process. {_FATAL}",
    227: "The loader of the driver is older than this code needs: update the display driver.",
    300: "The device source is not valid.",
    301: "The file does not exist or cannot be read: check the path and the working directory.",
    302: "A shared library lacks a symbol; check that all libraries are of the same CUDA version.",
    303: "A shared library could not be loaded or initialized; check that its dependencies are installed.",
    304: "A call of the operating system failed: check permissions, limits (ulimit) and free host memory.",
    400: "The object was destroyed or never created, or belongs to another context.",
    401: "The operation is not allowed in the current state of the resource.",
    402: "The result would lose information: the object uses features newer than the query; use a newer call.",
    500: 'There is no such symbol or value; C++ kernels have mangled names unless they are declared extern "C".',
    600: "The work has not completed; wait with sync(), or query again later.",
    700: f"A kernel accessed memory outside any allocation. {_FATAL} Find the place with compute-sanitizer.",
    701: "The kernel needs more registers, threads or shared memory than a block may have: use a smaller block.",
    702: f"The kernel ran longer than the watchdog of a display device allows. {_FATAL}",
    703: "The texturing mode of the kernel differs from that of its launch.",
    704: "Access to this peer is already enabled; do not enable it again.",
    705: "Access to this peer is not enabled; enable it first.",
    708: "The primary context is already in use; set its flags before the first call that needs it.",
    709: "The context was destroyed; objects created in it cannot be used any more.",
    710: f"An assert() in a kernel failed; its message is on stderr. {_FATAL}",
    711: "The device has access to as many peers as the hardware allows; disable one first.",
    712: "This host memory, or a part of it, is already registered.",
    713: "This host memory is not registered; register it first, and pass its start address.",
    714: f"The call stack of a kernel overflowed or was damaged: deep recursion is the usual cause. {_FATAL}",
    715: f"A kernel executed an illegal instruction; the code may be damaged. {_FATAL}",
    716: f"A kernel accessed an address that is not a multiple of the access size. {_FATAL}",
    717: f"A kernel used an instruction for one memory space with a pointer to another memory space. {_FATAL}",
    718: f"A kernel jumped to an address that holds no code, such as a wrong function pointer. {_FATAL}",
    719: f"A kernel failed during execution. {_FATAL} Find the place with compute-sanitizer.",
    720: "All blocks of a cooperative grid must be resident: use at most as many as the occupancy query returns.",
    721: f"A kernel ended without freeing its tensor memory. {_FATAL}",
    800: "The operation is not permitted to this user, in this container, or in this state of the stream.",
    801: "This device, driver or operating system does not support the operation: check Device.properties first.",
    802: "The system is not ready: on machines with NVSwitch, check that the fabric manager runs.",
    803: "The kernel module and the libraries of the driver differ in version; reboot, or reinstall the driver.",
    804: "Forward compatibility does not cover this device: use the driver's own libcuda, not the cuda-compat package.",
    805: "The client could not connect to the MPS control daemon; check that it runs, and CUDA_MPS_PIPE_DIRECTORY.",
    806: "The MPS server failed or was stopped; see its log.",
    807: "The MPS server is starting or recovering from a fault; try again later.",
    808: "The MPS server has reached its limit of clients; end one of them.",
    809: "The clients of the MPS server have used up its connections; end one of them.",
    810: "The MPS server ended this client; restart the process.",
    811: "Kernels cannot launch kernels here, for instance under MPS.",
    812: "Modules use different versions of CUDA dynamic parallelism; compile all with the same compiler.",
    900: "This operation cannot be captured: synchronize, query and allocate outside the capture.",
    901: "An earlier error ended the capture; end it, and start a new one.",
    902: "Two captures that began apart cannot be joined by an event.",
    903: "The capture must end on the stream on which it began.",
    904: "A stream that the capture forked to was not joined: let the first stream wait for it before the end.",
    905: "The captured work depends on work outside the capture; a graph can depend only on its own nodes.",
    906: "The legacy default stream waits implicitly for captured work: use another stream while capturing.",
    907: "The event was recorded in a capture; it can be waited for only in that capture.",
    908: "The capture must end on the thread that began it, unless it began in relaxed mode.",
    909: "The operation did not complete in time; a kernel or a peer may hang.",
    910: "The new graph differs too much from the instantiated one: instantiate it again.",
    911: f"An asynchronous error occurred in an external device that the work depends on. {_FATAL}",
    912: "The device cannot run clusters of this size with this kernel: use at most 8 blocks, or query its maximum.",
    913: "The function is not loaded yet; load it before a call that cannot load code, such as in a capture.",
    914: "The call does not accept a resource of this type.",
    915: "The resources cannot be combined or split in this way; check the minimum size and alignment of a partition.",
    916: "The keys of confidential computing are being renewed; try again.",
    917: "The stream is detached from its context, which was destroyed.",
    918: "The graph could not be captured again: the new work differs in more than its parameters.",
    919: "The fabric between GPUs is not initialized yet; check that the fabric manager runs, and try again.",
    999: "The driver failed for an unknown reason; see the system log (dmesg) for messages that name NVRM or Xid.",
}

# By the number of a cudaError_t: the codes that the runtime shares with the driver, and its own.
RUNTIME_ADVICE: dict[int, str] = {
    **{code: advice for code, advice in ADVICE.items() if code not in (47, 202, 916)},
    9: "The grid or the block is larger than the device allows, or has a dimension of 0.",
    10: "The libraries of CUDA disagree about the layout of a structure; use one version of all of them.",
    12: "The pitch is larger than the device allows, or smaller than a row.",
    13: "No variable of device code has this name or address.",
    16: "The host pointer is null, or not memory that CUDA knows.",
    17: "The device pointer is null, or not memory of this device.",
    18: "The texture object was destroyed or never created.",
    19: "The texture is not bound to memory; use texture objects.",
    20: "The channel format of the array has sizes or a kind that do not exist.",
    21: "The direction of the copy does not match the memory types of source and destination.",
    22: "Devices of this compute capability do not support taking the address of a constant variable in this way.",
    23: "A fetch from a texture failed in device emulation, which no longer exists.",
    24: "The texture was not bound, in device emulation, which no longer exists.",
    25: "Synchronizing failed in device emulation, which no longer exists.",
    26: "Linear filtering works only for textures that are read as floating point.",
    27: "Reading as normalized floats works only for 8 and 16 bit integers.",
    28: "Device code and device emulation cannot be mixed.",
    31: "The installed runtime does not implement the call.",
    32: "The size is larger than the emulated memory.",
    35: "The display driver is older than the CUDA runtime needs: update it.",
    37: "The surface object was destroyed or never created.",
    43: "Two variables of device code have one name; rename one, or make it static.",
    44: "Two textures have one name; rename one, or make it static.",
    45: "Two surfaces have one name; rename one, or make it static.",
    49: "The context current on this thread cannot be used by the CUDA runtime; make the primary context current.",
    52: "A kernel was launched without a grid and block configuration.",
    53: "An earlier kernel failed; see its error.",
    65: "Kernels launched from kernels are nested too deep.",
    66: "A kernel launched from a kernel uses a texture of file scope; pass a texture object.",
    67: "A kernel launched from a kernel uses a surface of file scope; pass a surface object.",
    68: "Synchronization in nested kernels is deeper than the limit allows.",
    69: "Too many launches from kernels are pending; raise the limit for pending launches.",
    98: "The kernel was not compiled for this device, or is not in the loaded module.",
    103: "The integrity of the software could not be established; reinstall the driver.",
    127: "The CUDA runtime could not start; the installation is damaged.",
    10000: "A library returned an error of its own through the CUDA runtime.",
}
