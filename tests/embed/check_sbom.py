#!/usr/bin/env python3
"""What is installed says what is inside it: check_sbom.py PREFIX SOURCES READELF

The SPDX list is well formed; it has every part that CMake fetches, with version and hash; what the
programs link and what is compiled into them is in it; and the notices of all that are installed.
Planted faults show that each of these checks fails where it should."""
import copy
import json
import os
import re
import subprocess
import sys

prefix, sources, readelf = sys.argv[1:4]
SYSTEM = re.compile(r"^(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux[-\w]*)\.so")
ID = re.compile(r"^SPDXRef-[A-Za-z0-9.-]+$")
INSIDE = ("CONTAINS", "STATIC_LINK", "DYNAMIC_LINK")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def below(folder, wanted):
    return [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names
            if wanted(name)]


def form(document):
    """What the specification asks of a document, as far as ours goes."""
    yield from (f"no {key}" for key in ("creationInfo", "name", "documentNamespace")
                if not document.get(key))
    if (document.get("spdxVersion"), document.get("dataLicense"), document.get("SPDXID")) != (
            "SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"):
        yield "not SPDX 2.3"
    made = document.get("creationInfo", {})
    if not re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", made.get("created", "")):
        yield "no date"
    if not re.match(r"^(https?:|urn:uuid:)[^#\s]+$", document.get("documentNamespace", "")):
        yield "no namespace"
    ids = [package["SPDXID"] for package in document["packages"]]
    yield from (f"{name} is no identifier, or is there twice" for name in ids
                if not ID.match(name) or ids.count(name) > 1)
    for package in document["packages"]:
        for key in ("name", "downloadLocation", "licenseConcluded", "licenseDeclared",
                    "copyrightText"):
            if not package.get(key):
                yield f"{package['SPDXID']} has no {key}"
    known = {*ids, "SPDXRef-DOCUMENT"}
    related = set()
    for relation in document["relationships"]:
        ends = {relation["spdxElementId"], relation["relatedSpdxElement"]}
        related |= ends
        yield from (f"{end} is related and is not there" for end in ends - known)
    yield from (f"{name} is related to nothing" for name in known - related)


def declared(texts):
    """The parts that CMake's files declare: name, version, hash and where each is fetched from."""
    for text in texts:
        for words in re.findall(r"^wavefit_part\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text, re.M):
            def value(key):
                found = re.search(rf"\b{key}\s+(\S+)", words)
                return found.group(1) if found else ""
            yield (words.split()[0], value("VERSION"), value("COMMIT") or value("SHA256"),
                   value("GIT") or value("ARCHIVE"))


def pins(document, texts):
    """Every part that can be fetched is pinned by a hash, and the list has it."""
    fetched = 0
    for name, version, pin, where in declared(texts):
        if not where:
            continue
        fetched += 1
        if not re.match(r"^([0-9a-f]{40}|[0-9a-f]{64})$", pin):
            yield f"{name} is not pinned by a hash: '{pin}'"
        entry = [package for package in document["packages"]
                 if package["SPDXID"] == "SPDXRef-" + name.replace("_", "-")]
        said = json.dumps(entry)
        yield from (f"{name}: the list does not have its {what}" for what in (version, pin, where)
                    if not what or what not in said)
        tests = {"relationshipType": "TEST_DEPENDENCY_OF",
                 "spdxElementId": f"SPDXRef-{name}"}.items()
        if entry and not entry[0].get("versionInfo") and not any(
                tests <= relation.items() for relation in document["relationships"]):
            yield f"{name}: the list does not say which version is inside"
    if fetched < 7:
        yield f"only {fetched} parts are declared in a way that this test reads"


def strays(files):
    """Nothing is fetched but by wavefit_part."""
    for path, text in files.items():
        if not path.endswith("parts.cmake"):
            yield from (f"{path}: {call} is not of wavefit_part" for call in re.findall(
                r"FetchContent_Declare|ExternalProject_Add|file\s*\(\s*DOWNLOAD", text))


def inside(document):
    """The packages that are compiled in, embedded or linked, and those linked dynamically."""
    relations = [(r["relatedSpdxElement"], r["relationshipType"])
                 for r in document["relationships"]]
    ours = {r["relatedSpdxElement"] for r in document["relationships"]
            if r["relationshipType"] == "DESCRIBES"}
    return [(package, kind) for package in document["packages"] for name, kind in relations
            if name == package["SPDXID"] and kind in INSIDE and name not in ours]


def linked(document, needed):
    """What a program needs at run time is in the list, and what the list says is so."""
    stems = [package["packageFileName"].split(".")[0] for package, kind in inside(document)
             if kind == "DYNAMIC_LINK"]
    for name in needed:
        if not SYSTEM.match(name) and not name.startswith("libwavefit.") and not any(
                name.startswith(stem) for stem in stems):
            yield f"{name} is linked and is not in the list"
    yield from (f"{stem} is in the list and is not linked" for stem in stems
                if not any(name.startswith(stem) for name in needed))


def compiled_in(document, page_script, library):
    """What can be seen of it in the bytes."""
    names = {package["name"] for package, _ in inside(document)}
    for name, there in (("volk", b"wfi_volk" in library or b"vkGetInstanceProcAddr" in library),
                        ("Chart.js", b"Chart.js v" in page_script),
                        ("@kurkle/color", b"@kurkle/color v" in page_script)):
        if not there or name not in names:
            yield f"{name}: in the list {name in names}, in the files {there}"


def notices(document, installed):
    """The notices of all that is inside; GCC's own libraries and MPI, which are linked, have none
    here."""
    for package, kind in inside(document):
        if package["name"] in ("libgomp", "LLVM's OpenMP runtime", "MPI") and (
                kind == "DYNAMIC_LINK"):
            continue
        holder = re.sub(r"^Copyright( \([Cc]\))? [\d-]* ?", "", package["copyrightText"])
        if not any(holder in text for text in installed):
            yield f"no notice names {holder}, of {package['name']}"


def main():
    places = below(prefix, lambda name: name == "wavefit.spdx.json")
    if len(places) != 1:
        sys.exit(f"not one wavefit.spdx.json is installed: {places}")
    document = json.loads(read(places[0]))
    cmake = {os.path.relpath(path, sources): read(path)
             for part in ("CMakeLists.txt", "cmake", "third_party", "src", "tests", "bench",
                          "shaders")
             for path in ([os.path.join(sources, part)] if part.endswith(".txt") else below(
                 os.path.join(sources, part),
                 lambda name: name.endswith(".cmake") or name == "CMakeLists.txt"))}
    texts = [text for path, text in cmake.items()]
    folder = os.path.join(os.path.dirname(places[0]), "notices")
    installed = [" ".join(read(path).split()) for path in below(folder, lambda name: True)]
    tool = os.path.join(prefix, "bin", "wavefit")
    with open(tool, "rb") as file:
        program = file.read()
    library = below(prefix, lambda name: name == "libwavefit.a")[0]
    with open(library, "rb") as file:
        archive = file.read()
    programs = [tool, *below(os.path.dirname(tool), lambda name: name == "wavefit-mpi")]
    needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(
        [readelf, "--wide", "--dynamic", *programs], check=True, capture_output=True,
        text=True).stdout)

    def faults(document=document, texts=texts, files=cmake, needed=needed, installed=installed):
        return [*form(document), *pins(document, texts), *strays(files),
                *linked(document, needed), *compiled_in(document, program, archive),
                *notices(document, installed)]

    failed = faults()
    for fault in failed:
        print(fault)

    def planted(what, **changed):
        if not faults(**changed):
            failed.append(what)
            print(f"not noticed: {what}")

    count = len(document["packages"])
    for index in range(count):
        less = copy.deepcopy(document)
        name = less["packages"].pop(index)["SPDXID"]
        planted(f"{name} left out of the list", document=less)
        less["relationships"] = [r for r in less["relationships"] if name not in r.values()]
        if name != "SPDXRef-glslang" or "git+" in json.dumps(document["packages"][index]):
            planted(f"{name} left out, its relations too", document=less)
    for name, _, pin, where in declared(texts):
        if where:
            planted(f"{name} with another hash", document=json.loads(
                json.dumps(document).replace(pin, pin[::-1])))
            planted(f"{name} pinned by a tag", texts=[t.replace(pin, "v1.0") for t in texts])
    planted("a fetch elsewhere", files={"x.cmake": "FetchContent_Declare(x URL y)"})
    planted("a library linked besides", needed=[*needed, "libother.so.1"])
    planted("no notices", installed=[])
    for index in range(len(installed)):
        planted(f"notice {index} left out", installed=installed[:index] + installed[index + 1:])
    print(f"{count} packages, {len(installed)} notices, {len(failed)} faults")
    return 1 if failed else 0


sys.exit(main())
