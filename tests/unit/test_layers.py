#!/usr/bin/env python3
"""Folders of src depend on those below them alone, and no files include or call in a circle.

usage: test_layers.py SOURCE_DIR OBJECT_FILES...

Reads #include lines and the symbols that object files define and ask for; every C file of
SOURCE_DIR must have its object file among OBJECT_FILES. A folder may use itself and the folders of
the rows above its own in LAYERS. docs/structure.md says what each folder is for. Kernels, models
and what runs them test for no vendor, driver or processor: profiles tell them. Advice and the
search test for no family: tables and hooks tell them. The library takes memory through core/heap.h.
"""
import collections
import os
import re
import subprocess
import sys

# From the lowest to the highest; folders of one row do not use each other.
LAYERS = [
    ["core"],
    ["plan", "profiles", "io"],
    ["kernels"],
    ["choose", "model"],
    ["api"],
    ["solve"],
    ["tune"],
    ["tool"],
]
LEVEL = {folder: level for level, row in enumerate(LAYERS) for folder in row}


def folder_of(path):
    return path.split("/")[0]


def includes(source):
    for root, _, names in os.walk(source):
        for name in names:
            if not re.search(r"\.[ch]$", name):
                continue
            path = os.path.join(root, name)
            here = os.path.relpath(path, source)
            with open(path, encoding="utf-8") as file:
                for line in file:
                    found = re.match(r'\s*#\s*include\s+"([\w/]+\.h)"', line)
                    if found and os.path.exists(os.path.join(source, found.group(1))):
                        yield here, found.group(1)


def source_of(object_file):
    """src/CMakeFiles/wavefit.dir/core/device.c.o is made from core/device.c."""
    found = re.search(r"\.dir/((?:\w+/)*\w+\.c)\.o$", os.path.normpath(object_file))
    if not found:
        return None
    folder = re.search(r"src/(?:(\w+)/)?CMakeFiles", object_file)
    inside = folder.group(1) + "/" if folder and folder.group(1) else ""
    return inside + found.group(1)


def unread(source, objects):
    """C files that no object file was made from: their symbols would be missed. Of those that are
    there once a system, one is."""
    read = {source_of(path) for path in objects}
    for root, _, names in os.walk(source):
        for name in names:
            here = os.path.relpath(os.path.join(root, name), source)
            other = re.sub(r"_windows\.c$", "_posix.c", here)
            if name.endswith(".c") and here not in read and other not in read:
                yield here


def symbols(source, objects):
    """Arrows from who asks for a symbol to who defines it, and all that is asked for."""
    defined, asked = {}, []
    names = {path: source_of(path) for path in objects}
    known = [path for path, name in names.items()
             if name and os.path.exists(os.path.join(source, name))]
    listing = subprocess.run(["nm", "-P", "-A", *known], check=True, capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        path, _, rest = line.rpartition(": ")
        symbol, kind = rest.split()[:2]
        if kind == "U":
            asked.append((names[path], symbol))
        elif kind.isupper():
            defined[symbol] = names[path]
    return [(name, defined[symbol], symbol) for name, symbol in asked
            if symbol in defined and defined[symbol] != name], asked


def allocations(asked):
    """Files of the library that ask the C library for memory, beside core/heap.c."""
    return sorted({f"{name} uses {symbol}" for name, symbol in asked
                   if symbol in HEAP and folder_of(name) in NO_HEAP and name != "core/heap.c"})


def upward(arrows):
    for origin, target, why in arrows:
        a, b = folder_of(origin), folder_of(target)
        if a == b or "include" in (a, b):
            continue
        if a not in LEVEL or b not in LEVEL:
            yield f"{origin} -> {target}: a folder that has no layer"
        elif LEVEL[b] >= LEVEL[a]:
            yield f"{origin} -> {target} ({why})"


def circles(arrows):
    """Strongly connected sets of more than one file (Tarjan)."""
    graph = collections.defaultdict(set)
    for origin, target, _ in arrows:
        graph[origin].add(target)
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on.add(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while True:
                other = stack.pop()
                on.discard(other)
                component.append(other)
                if other == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for node in list(graph):
        if node not in index:
            visit(node)
    return found


def self_check():
    """Planted arrows are found, so that silence means something."""
    planted = [("core/a.c", "tool/b.h", "planted"), ("plan/a.c", "core/b.h", "allowed")]
    assert len(list(upward(planted))) == 1
    circle = [("plan/a.c", "plan/b.c", ""), ("plan/b.c", "plan/a.c", "")]
    assert circles(circle) == [["plan/a.c", "plan/b.c"]]
    assert not circles(planted)
    assert source_of("src/CMakeFiles/wavefit.dir/./core/device.c.o") == "core/device.c"
    assert source_of("src/io/CMakeFiles/wavefit_io.dir/npy.c.o") == "io/npy.c"
    assert len(questions("if (caps->vendor_id == WFI_NVIDIA)\nif (wfi_is_cpu(caps))\n")) == 2
    assert not questions("o.vendor_id = caps->vendor_id;\nprofile->fences\n")
    assert allocations([("plan/a.c", "malloc"), ("core/heap.c", "malloc"), ("io/b.c", "free"),
                        ("plan/a.c", "wfi_malloc")]) == ["plan/a.c uses malloc"]
    planted = 'if (strcmp(o->family, "spmv") == 0)\nreturn p->spmv ? WF_FAMILY_SPMV : other;\n'
    assert len(questions(planted, FAMILY)) == 2
    assert not questions("family < WF_FAMILY_COUNT\nstrcmp(row->name, o->family)\n", FAMILY)


# What a device is asked for must be a profile's: a new GPU needs rows, and no code.
ASKED = re.compile(r"(vendor_id|driver_id|device_type)\s*[!=]=|[!=]=\s*(WFI_(NVIDIA|AMD|INTEL)|"
                   r"VK_(DRIVER_ID|PHYSICAL_DEVICE_TYPE)_\w+)|wfi_is_cpu\(|core/vendors\.h")
# What a search or advice asks of a family must be its row's or its hooks': a new family needs no
# code there.
FAMILY = re.compile(r"strcmp\(\w+(\.|->)family,|WF_FAMILY_(?!COUNT)")
NO_FAMILIES = ("model", "tune")
NO_VENDORS = ("kernels", "model", "plan", "solve", "tune", "api")
# The library's memory comes from wf_device_params.allocator: core/heap.c alone asks the C library,
# and what it gives must not go to the C library's free.
HEAP = {"malloc", "calloc", "realloc", "free", "strdup", "strndup", "aligned_alloc",
        "posix_memalign", "asprintf", "vasprintf", "getline", "getdelim", "open_memstream"}
NO_HEAP = ("core", "plan", "kernels", "choose", "model", "api", "solve", "tune")


def questions(text, pattern=ASKED):
    """Lines that test for a vendor, a driver or a processor, or for what the pattern finds."""
    return [line.strip() for line in text.splitlines() if pattern.search(line)]


def tests_for(source, folders, pattern):
    for folder in folders:
        for root, _, names in os.walk(os.path.join(source, folder)):
            for name in names:
                path = os.path.join(root, name)
                with open(path, encoding="utf-8") as file:
                    for line in questions(file.read(), pattern):
                        yield f"{os.path.relpath(path, source)}: {line}"


def main():
    source, objects = sys.argv[1], sys.argv[2:]
    self_check()
    arrows = [(a, b, "include") for a, b in includes(source)]
    by_symbol, asked_for = symbols(source, objects)
    missed = sorted(unread(source, objects))
    if not arrows or not by_symbol or missed:
        sys.exit(f"no object file was given of: {', '.join(missed)}")
    wrong = sorted(set(upward(arrows + by_symbol)))
    for line in wrong:
        print("upward:", line)
    rings = circles(arrows + by_symbol)
    for ring in rings:
        print("circle:", ", ".join(ring))
    asked = sorted(tests_for(source, NO_VENDORS, ASKED))
    for line in asked:
        print("test for a vendor, a driver or a processor:", line)
    named = sorted(tests_for(source, NO_FAMILIES, FAMILY))
    for line in named:
        print("test for a family:", line)
    outside = allocations(asked_for)
    for line in outside:
        print("memory that is not core/heap.h's:", line)
    print(f"{len(arrows)} includes and {len(by_symbol)} symbols read")
    sys.exit(1 if wrong or rings or asked or named or outside else 0)


if __name__ == "__main__":
    main()
