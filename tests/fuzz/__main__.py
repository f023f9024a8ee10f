# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""``python -m fuzz``: runs a campaign, or repeats one case."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from fuzz import campaign


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1, help="seed of the order of cases")
    parser.add_argument("--turn", type=int, default=0, help="where to begin: each turn continues the one before")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--case", type=int, help="repeat only this call, in a child process, and show its output")
    parser.add_argument("--ends", action="store_true", help="fail only for crashes and hangs; print all findings")
    options = parser.parse_args()
    if options.case is not None:
        return one(options.seed, options.case)
    began = time.monotonic()
    result = campaign.run(
        options.minutes * 60, options.seed, options.workers, options.turn % campaign.TURNS * campaign.STRIDE
    )
    for (call, reason, _), found in sorted(result.grouped().items()):
        print(f"\n{call}: {reason}, {len(found)} times, such as case {found[0]['case']}, {found[0]['call']}")
        print("    " + found[0]["text"].strip().replace("\n", "\n    "))
    seconds = time.monotonic() - began
    print(f"\n{result.calls} calls of {result.targets} targets in {seconds:.0f} s: {dict(result.counts)}")
    print(f"{len(result.findings)} findings in {len(result.grouped())} groups; seed {options.seed}")
    return 1 if (result.ends() if options.ends else result.findings) else 0


def one(seed: int, case: int) -> int:
    """Make one call in a child process, and return its exit status."""
    command = [sys.executable, "-X", "faulthandler", "-m", "fuzz.worker"]
    command += [f"--seed={seed}", f"--start={case}", f"--stop={case + 1}"]
    subprocess.run([*command[:5], f"--seed={seed}", f"--describe={case}"], env=campaign.environment(), check=True)
    return subprocess.run(command, env=campaign.environment()).returncode


if __name__ == "__main__":
    sys.exit(main())
