#!/usr/bin/env python3
"""tag_wheel.py WHEEL: names the wheel by the oldest glibc that it runs with (PEP 600), in place of
"linux", and prints the new path. It fails where the compiled module needs another library than
glibc's, exports more than its one entry, or is not of Python's stable interface.

It reads what auditwheel reads, by binutils. Where the glibc that is built with is newer than the
symbols that are used, the tag is still theirs."""

import os
import re
import subprocess
import sys
import tempfile
import zipfile

ALLOWED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2",
           "ld-linux-aarch64.so.1"}


def told(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def oldest_glibc(module):
    """(major, minor) of the newest symbol version that the module asks for."""
    needed = set(re.findall(r"NEEDED\s+(\S+)", told("objdump", "-p", module)))
    if needed - ALLOWED:
        raise SystemExit(f"{module} needs {', '.join(sorted(needed - ALLOWED))}")
    symbols = told("objdump", "-T", module)
    exported = [line.split()[-1] for line in symbols.splitlines()
                if " g " in line and "*UND*" not in line]
    if exported != ["PyInit__native"]:
        raise SystemExit(f"{module} exports {exported}")
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", symbols)
    return max((int(major), int(minor)) for major, minor in versions)


def main():
    (wheel,) = sys.argv[1:]
    name = os.path.basename(wheel)
    match = re.match(r"wavefit-[^-]+-cp39-abi3-linux_(\w+)\.whl$", name)
    if not match:
        raise SystemExit(f"{name} is no wheel of Python 3.9's stable interface for Linux")
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        modules = [n for n in archive.namelist() if ".so" in n]
        if modules != ["wavefit/_native.abi3.so"]:
            raise SystemExit(f"{name} has {modules}")
        glibc = oldest_glibc(archive.extract(modules[0], folder))
    tag = f"manylinux_{glibc[0]}_{glibc[1]}_{match[1]}"
    made = told(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, wheel)
    print(os.path.join(os.path.dirname(wheel), made.strip().splitlines()[-1]))


if __name__ == "__main__":
    main()
