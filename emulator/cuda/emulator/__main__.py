# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Run a program on the software device.

python -m cuda.emulator program.py [arguments]
python -m cuda.emulator -m module [arguments]
python -m cuda.emulator -c code [arguments]
python -m cuda.emulator program.cu [more.cu] [-I DIRECTORY] [-D NAME[=VALUE]] [-O LEVEL] [-std=STANDARD]
                        [-l LIBRARY] [-L DIRECTORY] [-fopenmp] [-- arguments]

Options, before the program, in any order and together:
  --check C     make the checks C, such as "races,initialized" or "all" (CUDA_EMULATOR_CHECK)
  --shuffle N   run the program N times, each time with another order of unordered work, until one run fails;
                exits with 1 and names the seed of the failed run
  --seed N      run the program once, with the order of this seed
  --coverage D  count how often each line of kernels runs, in the program and its child processes, and write
                D/kernels.info (lcov) and D/index.html
  --advise[=F]  print for each line of the kernels how many sectors of global memory its requests transfer, and its
                bank conflicts and divergent branches; redundant barriers; and what limits the occupancy; as JSON
                in the file F as well
  --report F    write what was found in kernels to the file F: as SARIF, which code hosts show beside a diff, or as
                JSON if its name ends with .json
  --gdb         run the program in gdb, with kernels compiled for it; "help kernel" in gdb lists what helps there
"""

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

_WITH_VALUE = ("--check", "--shuffle", "--seed", "--coverage", "--report")
_ALONE = ("--advise", "--gdb")


class _UsageError(Exception):
    pass


def main(arguments):
    from cuda.emulator import activate

    try:
        options, arguments = _split(arguments)
    except _UsageError as error:
        print(f"python -m cuda.emulator: {error}", file=sys.stderr)
        return 2
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    if "--check" in options:
        os.environ["CUDA_EMULATOR_CHECK"] = options["--check"]
    if "--seed" in options:
        os.environ["CUDA_EMULATOR_MODE"] = f"shuffle:{options['--seed']}"
    os.environ["CUDA_CORE_DEVICE"] = "software"  # child processes inherit it
    try:
        activate()
    except (RuntimeError, ValueError) as error:
        print(f"python -m cuda.emulator: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    if options.keys() - {"--check", "--seed"}:
        return observe(options, arguments)
    return run(arguments)


def _split(arguments):
    """Return a dict of the options before the program, and the rest."""
    options, rest = {}, list(arguments)
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c", "-h", "--help"):
        name, _, value = rest.pop(0).partition("=")
        if name in _WITH_VALUE:
            if not value and not rest:
                raise _UsageError(f"{name} needs a value; --help lists the options")
            value = value or rest.pop(0)
            if name in ("--shuffle", "--seed") and not value.isdecimal():
                raise _UsageError(f"{name} needs a number, not {value!r}")
        elif name not in _ALONE:
            raise _UsageError(f"unknown option {name}; --help lists the options")
        options[name] = value
    if "--shuffle" in options and options.keys() & {"--seed", "--gdb"}:
        raise _UsageError("--shuffle runs the program several times, which --seed and --gdb do not")
    if rest and not rest[0].startswith("-") and not os.path.exists(rest[0]):
        raise _UsageError(f"there is no program {rest[0]!r}")
    return options, rest


def run(arguments):
    """Run the program in this process."""
    if arguments[0].endswith(".cu"):
        from cuda.emulator import programs

        return programs.run(arguments)
    if arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        _set_first_path("")
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
        return 0

    import runpy

    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        _set_first_path(os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        _set_first_path(os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


def observe(options, arguments):
    """Run the program in child processes, and write what they observe."""
    from cuda.emulator import _advice, _coverage, _findings

    with contextlib.ExitStack() as stack:
        if folder := options.get("--coverage"):
            _coverage.prepare(folder)
            os.environ["CUDA_EMULATOR_COVERAGE"] = os.path.abspath(folder)
        for name, variable in (("--advise", "ADVISE"), ("--report", "REPORT")):
            if name in options:
                os.environ[f"CUDA_EMULATOR_{variable}"] = stack.enter_context(tempfile.TemporaryDirectory())
        if "--gdb" in options:
            status = debug(arguments)
        elif "--shuffle" in options:
            status = shuffle(options, arguments)
        else:
            status = subprocess.run([sys.executable, "-m", "cuda.emulator", *arguments]).returncode
        if folder:
            hit, total = _coverage.write_reports(folder)
            print(
                f"python -m cuda.emulator: {hit} of {total} lines of kernels ran; see {folder}/index.html",
                file=sys.stderr,
            )
        if "--advise" in options:
            _write_advice(_advice.read_advice(os.environ["CUDA_EMULATOR_ADVISE"]), options["--advise"])
        if "--report" in options:
            findings = _findings.read_findings(os.environ["CUDA_EMULATOR_REPORT"])
            _findings.write_findings(findings, options["--report"])
    return status


def _write_advice(advice, file):
    from cuda.emulator._advice import format_advice

    print(format_advice(advice), end="")
    if file:
        with open(file, "w") as out:
            json.dump(advice, out, indent=2)
            out.write("\n")


def shuffle(options, arguments):
    """Run the program in a child process for each seed until one fails, and print only the output of that run."""
    count = int(options["--shuffle"])
    for seed in range(1, count + 1):
        command = [sys.executable, "-m", "cuda.emulator", "--seed", str(seed), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.stdout.buffer.write(done.stdout)
            sys.stdout.flush()
            checks = ["--check", options["--check"]] if "--check" in options else []
            words = ["python", "-m", "cuda.emulator", *checks, "--seed", str(seed), *arguments]
            print(
                f"python -m cuda.emulator: seed {seed} of {count} failed with status {done.returncode}; "
                f"repeat it with: {' '.join(words)}",
                file=sys.stderr,
            )
            return 1
    print(f"python -m cuda.emulator: the program ran with {count} seeds and none failed", file=sys.stderr)
    return 0


def debug(arguments):
    """Run the program in gdb."""
    if shutil.which("gdb") is None:
        print("python -m cuda.emulator: --gdb needs gdb, which is not installed", file=sys.stderr)
        return 1
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_gdb.py")
    commands = shlex.split(os.environ.get("CUDA_EMULATOR_GDB", ""))
    # These variables are for the program: gdb runs another Python, which must not import modules of this one.
    ours = [f"set environment {name} {value}" for name, value in os.environ.items() if name.startswith("PYTHON")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as folder:  # the sources of programs that are no files
        command = ["gdb", "-q", "-x", script]
        # Python's own symbols are not read for a program with a main() of its own.
        load = "exec-file" if arguments[0].endswith(".cu") else "file"
        words = shlex.join(["-m", "cuda.emulator", *arguments])
        for line in (*ours, f"directory {folder}", f"{load} {shlex.quote(sys.executable)}", f"set args {words}"):
            command += ["-ex", line]
        command += commands
        environment = {"CUDA_EMULATOR_THREADS": "1", **environment, "CUDA_EMULATOR_DEBUG": folder}
        return subprocess.run(command, env=environment).returncode


def _set_first_path(directory):
    """Set the first entry of ``sys.path`` as Python does for such a program."""
    if not sys.flags.safe_path:
        sys.path[0] = directory
    elif sys.argv[0].endswith(".py"):
        sys.path.insert(0, directory)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
