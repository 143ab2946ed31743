#!/usr/bin/env python3
"""Runs `wavefit tune` on a device that is lost whenever the best points of a search run in turn,
after all of them have run alone. Each new worker measures them and loses the device again: the
search must end after four of them with one line of error that names the way out, blame no point and
keep what it measured, and the next run must be well.

usage: decision.py TOOL     (as of inject.py)
"""
import os
import shutil
import sys
import tempfile

import inject

LOSSES = 4


def judge(runner, case, place):
    """What is wrong, of a device that is lost at this place in each process."""
    code, out, err, counts, work = runner.run(case, inject.setting("vkQueueSubmit", 1, place, -4))
    told = [line for line in err.splitlines() if line.startswith("wavefit:")]
    lost = [line for line in told if "comparing the best points: loses the device" in line]
    errors = [line for line in told if " warning: " not in line]
    wrong = []
    if sum(line.startswith("failed ") and line != "failed 0" for line in counts) != LOSSES:
        wrong.append(f"the device was not lost {LOSSES} times")
    if code != 1 or len(lost) != LOSSES or len(errors) != 1 or "--forget" not in errors[0]:
        wrong.append(f"exit code {code}, {len(lost)} losses told, {len(errors)} errors")
    if "left out" in err:
        wrong.append("a point is blamed")
    kept = "".join(path.read_text() for path in (work / "cache").rglob("tuning-*.json"))
    if '"best"' not in kept or '"bad"' in kept:
        wrong.append("the cache")
    shutil.move(work / "cache", runner.folder / "warm" / "spmv")
    code, after, told, *_ = runner.run(inject.Case("spmv", "warm"))
    if code != 0 or not inject.RIGHT.search(after) or "(tuned)" not in after:
        wrong.append("the next run")
    lines = "".join(f"FAILED: {line}\n" for line in wrong)
    return f"{lines}{out}{err}{after}{told}" if wrong else ""


def main():
    tool = os.path.abspath(sys.argv[1])
    os.environ["VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        runner = inject.Runner(tool, folder)
        begin, end = inject.code_of(tool, "wfi_search_decide")
        runner.prepare("tune")
        case = inject.Case("tune", "discrete")  # such a device is warmed up first
        places = [place for name, place, code in runner.places(case)
                  if (name, code) == ("vkQueueSubmit", "-4") and
                  any(begin < int(address, 16) <= end for address in runner.chains[place])]
        if len(places) < 3:
            sys.exit("the calls of a decision are not found")
        # How the points are begun with depends on their number; then come the runs that warm the
        # device up, and the rounds.
        wrong = judge(runner, case, places[-2])
    print(wrong or f"{LOSSES} workers lost the device, and the search ended")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
