#!/usr/bin/env python3
"""What `wavefit devices --profile` says would run is within the limits of the profile.

usage: test_devices.py WAVEFIT PROFILE...

The limits are read from the files, by names of Vulkan's, and not by wavefit. No Vulkan driver is
needed: the environment has none. A profile that is tightened on purpose shows that a plan beyond a
limit would be found, and that wavefit keeps to the tighter limit.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile


def member(profile, section, name):
    """The value of that name, in whichever structure."""
    for structure in profile["capabilities"]["device"][section].values():
        for values in (structure, structure.get("limits", {})):
            if name in values:
                return values[name]
    return None


def ask(tool, path):
    found = subprocess.run([tool, "devices", "--profile", path, "--json", "-"], check=True,
                           capture_output=True, text=True)
    return json.loads(found.stdout)


def faults(profile, answer):
    """What of the answer is beyond the profile."""
    items = member(profile, "properties", "maxComputeWorkGroupInvocations")
    sizes = member(profile, "properties", "maxComputeWorkGroupSize")
    shared = member(profile, "properties", "maxComputeSharedMemorySize")
    least = member(profile, "properties", "minSubgroupSize")
    f64 = member(profile, "features", "shaderFloat64")
    f16 = member(profile, "features", "storageBuffer16BitAccess")
    for run in answer["runs"]:
        name = f"{run['family']} {run['type']} {run['problem']}"
        if "refused" in run:
            if run["type"] == "f32" or (run["type"] == "f64" and f64) or \
                    (run["type"] == "f16" and f16):
                yield f"{name} is refused: {run['refused']}"
            continue
        x, y, z = run["group_size"]
        if x * y * z > items:
            yield f"{name}: {x * y * z} work-items of {items}"
        if any(a > b for a, b in zip((x, y, z), sizes)):
            yield f"{name}: {x} x {y} x {z} work-items of {sizes}"
        if run["shared_bytes"] > shared:
            yield f"{name}: {run['shared_bytes']} bytes of shared memory, of {shared}"
        if least and run["subgroup_size"] < least:
            yield f"{name}: subgroups of {run['subgroup_size']}, at least {least}"
        if run["type"] == "f64" and not f64:
            yield f"{name} would run without 64-bit floats"


def one_memory(profile):
    """Whether the host sees all memory of the device but what is protected."""
    heaps = member(profile, "properties", "memoryHeaps") or []
    types = member(profile, "properties", "memoryTypes") or []
    seen, plain = set(), set()
    for kind in types:
        if "VK_MEMORY_PROPERTY_PROTECTED_BIT" not in kind["propertyFlags"]:
            plain.add(kind["heapIndex"])
        if "VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT" in kind["propertyFlags"]:
            seen.add(kind["heapIndex"])
    own = {i for i, heap in enumerate(heaps) if "VK_MEMORY_HEAP_DEVICE_LOCAL_BIT" in heap["flags"]}
    return own & plain <= seen and "INTEGRATED" in member(profile, "properties", "deviceType")


def tighten(profile):
    """The same with what Vulkan guarantees of two limits."""
    limits = profile["capabilities"]["device"]["properties"]["VkPhysicalDeviceProperties"]["limits"]
    limits["maxComputeWorkGroupInvocations"] = 128
    limits["maxComputeSharedMemorySize"] = 16384
    return profile


def main():
    tool, paths = sys.argv[1], sys.argv[2:]
    wrong, chosen = [], set()
    for path in paths:
        with open(path, encoding="utf-8") as file:
            profile = json.load(file)
        if not profile.get("sources"):
            wrong.append(f"{path} names no source")
        answer = ask(tool, path)
        if answer["device"]["name"] != member(profile, "properties", "deviceName"):
            wrong.append(f"{path}: shown as {answer['device']['name']}")
        if answer["device"]["features"]["unified_memory"] != one_memory(profile):
            wrong.append(f"{path}: one memory of host and device, or not")
        wrong += [f"{os.path.basename(path)}: {fault}" for fault in faults(profile, answer)]
        chosen.add(json.dumps(answer["runs"]))
        # The same device with less: the old answer is found to be beyond it, the new one is not.
        small = tighten(copy.deepcopy(profile))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(small, file)
            file.flush()
            new = ask(tool, file.name)
        if not list(faults(small, answer)):
            wrong.append(f"{path}: no fault was found in plans for a larger device")
        wrong += [f"{os.path.basename(path)} tightened: {fault}" for fault in faults(small, new)]
    if len(chosen) < 2:
        wrong.append("all devices get the same")
    for line in wrong:
        print(line)
    print(f"{len(paths)} profiles, {len(chosen)} different answers")
    sys.exit(1 if wrong or not paths else 0)


if __name__ == "__main__":
    main()
