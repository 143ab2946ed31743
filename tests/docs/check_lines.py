#!/usr/bin/env python3
"""check_lines.py ROOT: every line of the sources and documents that Git knows in ROOT has at most
100 characters. Characters are counted, not bytes. The test `check_lines` and `./dev lint` run it.

check_lines.py --self-test: the same on a folder with faults planted in it, each of which must be
found, beside lines that are long in bytes or in files that are left out, which must not."""

import os
import subprocess
import sys
import tempfile

MOST = 100

# What is checked: endings, and names without one. Data have a line a record, however long: .json,
# .def.
ENDINGS = (".c", ".h", ".cpp", ".hpp", ".cu", ".comp", ".glsl", ".vert", ".frag", ".md", ".cmake",
           ".sh", ".py", ".js", ".css", ".html", ".in", ".map", ".supp", ".manifest")
NAMES = ("CMakeLists.txt", "dev", "bionic.txt", ".ci/run", ".clang-tidy", ".clang-format")

# All exceptions: folders whose files are kept as others wrote them, and files that tests read.
LEFT_OUT = ("third_party/notices/", "tests/fuzz/seeds/", "tests/page/data/", "tests/tool/data/")


def is_checked(path):
    """Whether the lines of the file at `path`, relative to the root, are counted."""
    if path.startswith(LEFT_OUT):
        return False
    return path.endswith(ENDINGS) or path in NAMES or os.path.basename(path) in NAMES


def long_lines(root, paths):
    """(path, line number, characters) for every line that is too long."""
    for path in filter(is_checked, paths):
        place = os.path.join(root, path)
        if os.path.islink(place) or not os.path.isfile(place):
            continue
        with open(place, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if len(line.rstrip("\n")) > MOST:
                    yield path, number, len(line.rstrip("\n"))


def tracked(root):
    """Paths that Git knows in the root, and new ones that it does not ignore."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, stdout=subprocess.PIPE).stdout
    return [os.fsdecode(path) for path in sorted(set(listed.split(b"\0"))) if path]


def self_test():
    """Plants long lines and lines that are none."""
    planted = {
        "src/a.c": "int a;\n/* " + "x" * 99 + " */\n",
        "docs/a.md": "word " * 21 + "\n",
        "shaders/a.comp": "// " + "y" * 98,
        "src/CMakeLists.txt": "#" * 101 + "\n",
        "dev": "#" * 101 + "\n",
    }
    harmless = {
        "src/b.c": "/" * 100 + "\n",
        "docs/b.md": "\u00e9" * 100 + "\n",
        "third_party/notices/b.md": "z" * 200 + "\n",
        "src/b.json": "z" * 200 + "\n",
    }
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**planted, **harmless}.items():
            place = os.path.join(root, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8") as file:
                file.write(text)
        found = [path for path, _, _ in long_lines(root, [*planted, *harmless])]
    if sorted(found) != sorted(planted):
        print(f"planted: {sorted(planted)}; found: {sorted(found)}")
        return 1
    print(f"all {len(planted)} planted lines were found, and no other")
    return 0


def main(arguments):
    """Exit status 1: a line is too long; 2: wrong usage."""
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1 or not os.path.isdir(arguments[0]):
        print(__doc__, file=sys.stderr)
        return 2
    found = list(long_lines(arguments[0], tracked(arguments[0])))
    for path, number, length in found:
        print(f"{path}:{number}: {length} characters, at most {MOST} are allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
