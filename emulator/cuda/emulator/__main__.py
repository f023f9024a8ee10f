# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Run a program on the software device.

python -m cuda.emulator program.py [arguments]
python -m cuda.emulator -m module [arguments]
python -m cuda.emulator -c code [arguments]

Options, before the program:
  --check C     make the checks C, such as "races,initialized" or "all" (CUDA_EMULATOR_CHECK); before other options
  --shuffle N   run the program N times, each time with another order of unordered work, until one run fails;
                exits with 1 and names the seed of the failed run
  --seed N      run the program once, with the order of this seed
  --coverage D  count how often each line of kernels runs, in the program and its child processes, and write
                D/kernels.info (lcov) and D/index.html
  --advise[=F]  print for each line of the kernels how many sectors of global memory its requests transfer, and its
                bank conflicts and divergent branches; redundant barriers; and what limits the occupancy; as JSON
                in the file F as well
  --gdb         run the program in gdb, with kernels compiled for it; "help kernel" in gdb lists what helps there
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile


def main(arguments):
    from cuda.emulator import activate

    option, count = None, 0
    if arguments and arguments[0] == "--check":
        if len(arguments) > 1:
            os.environ["CUDA_EMULATOR_CHECK"] = arguments[1]
        arguments = arguments[2:]
    if arguments and arguments[0] in ("--shuffle", "--seed", "--coverage"):
        option, count = arguments[0], arguments[1] if len(arguments) > 1 else ""
        if option != "--coverage" and not count.isdecimal():
            print(f"python -m cuda.emulator: {option} needs a number, not {count!r}", file=sys.stderr)
            return 2
        arguments = arguments[2:]
    elif arguments and arguments[0].partition("=")[0] in ("--gdb", "--advise"):
        (option, _, count), arguments = arguments[0].partition("="), arguments[1:]
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    if arguments[0].startswith("-") and arguments[0] not in ("-m", "-c"):
        print(f"python -m cuda.emulator: unknown option {arguments[0]}; --help lists the options", file=sys.stderr)
        return 2
    if option == "--seed":
        os.environ["CUDA_EMULATOR_MODE"] = f"shuffle:{count}"
    os.environ["CUDA_CORE_DEVICE"] = "software"  # child processes inherit it
    try:
        activate()
    except (RuntimeError, ValueError) as error:
        print(f"python -m cuda.emulator: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    if option == "--shuffle":
        return shuffle(int(count), arguments)
    if option == "--coverage":
        return cover(count, arguments)
    if option == "--advise":
        return advise(count, arguments)
    if option == "--gdb":
        return debug(arguments)
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


def shuffle(count, arguments):
    """Run the program in a child process for each seed until one fails, and print only the output of that run."""
    for seed in range(1, count + 1):
        command = [sys.executable, "-m", "cuda.emulator", "--seed", str(seed), *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.stdout.buffer.write(done.stdout)
            sys.stdout.flush()
            program = " ".join(arguments)
            print(
                f"python -m cuda.emulator: seed {seed} of {count} failed with status {done.returncode}; "
                f"repeat it with: python -m cuda.emulator --seed {seed} {program}",
                file=sys.stderr,
            )
            return 1
    print(f"python -m cuda.emulator: the program ran with {count} seeds and none failed", file=sys.stderr)
    return 0


def cover(folder, arguments):
    """Run the program in a child process, and write the coverage of its kernels into the folder."""
    from cuda.emulator._coverage import prepare, write_reports

    prepare(folder)
    environment = {**os.environ, "CUDA_EMULATOR_COVERAGE": os.path.abspath(folder)}
    status = subprocess.run([sys.executable, "-m", "cuda.emulator", *arguments], env=environment).returncode
    hit, total = write_reports(folder)
    print(f"python -m cuda.emulator: {hit} of {total} lines of kernels ran; see {folder}/index.html", file=sys.stderr)
    return status


def advise(file, arguments):
    """Run the program in a child process, print the advice about its kernels, and write it into a JSON file."""
    from cuda.emulator._advice import format_advice, read_advice

    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CUDA_EMULATOR_ADVISE": folder}
        status = subprocess.run([sys.executable, "-m", "cuda.emulator", *arguments], env=environment).returncode
        advice = read_advice(folder)
    print(format_advice(advice), end="")
    if file:
        with open(file, "w") as out:
            json.dump(advice, out, indent=2)
            out.write("\n")
    return status


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
        for line in (*ours, f"directory {folder}"):
            command += ["-ex", line]
        command += [*commands, "--args", sys.executable, "-m", "cuda.emulator", *arguments]
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
