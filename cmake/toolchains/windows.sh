# Sourced by ./dev: the tree with wine and the cross compiler, and what runs there.

# Sources of Debian 13's packages, each unpacked into FOLDER/PACKAGE; apt verifies them.
source_packages() { # FOLDER PACKAGE…
    local to=$1 uri package lists
    shift
    uri=$(debian_mirror)
    [ -n "$uri" ] ||
        fail "no Debian mirror among the apt sources: name one in WAVEFIT_DEBIAN_MIRROR"
    lists=$to/apt
    mkdir -p "$lists/partial"
    printf 'Types: deb-src\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' "$uri" \
        /usr/share/keyrings/debian-archive-keyring.gpg >"$to/debian.sources"
    local options=(-q -o "Dir::Etc::SourceList=$to/debian.sources"
        -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$lists" -o "Dir::Cache=$lists"
        -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >/dev/null
    for package in "$@"; do
        (cd "$to" && apt-get "${options[@]}" source --download-only --tar-only "$package" \
            >/dev/null)
        mkdir -p "$to/$package"
        tar -C "$to/$package" --strip-components=1 -xf "$to/$package"_*.orig.tar.*
        rm -f "$to/$package"_*
    done
    rm -rf "$lists" "$to/debian.sources"
}

windows_packages=(libwine wine64 libz-mingw-w64 binutils-mingw-w64-ucrt64 gcc-mingw-w64-base
    mingw-w64-common mingw-w64-ucrt64-dev gcc-mingw-w64-ucrt64-runtime gcc-mingw-w64-ucrt64
    libz-mingw-w64-dev)

# Wine and the compiler lie in a tree of their own: installing wine from Debian 13 on a Debian 12
# would take packages of the system away.
windows_tree() {
    local tree=$PWD/.cache/windows ID=unknown
    [ -f "$tree/made" ] && [ -d "$tree/sources/zlib" ] && return
    # shellcheck disable=SC1091
    [ -f /etc/os-release ] && . /etc/os-release
    [ "$ID" = debian ] || fail "wine and mingw-w64 are taken from Debian's packages; this is $ID"
    install_missing libunwind8 debian-archive-keyring
    add_trixie
    apt-cache show wine64/trixie >/dev/null 2>&1 || as_root apt-get update -q
    say "unpacking wine and mingw-w64 of Debian 13 into .cache/windows: 177 MB to fetch, 1.3 GB"
    rm -rf "$tree"
    unpack "$tree" "${windows_packages[@]}"
    ln -sfn . "$tree/usr/share/wine/wine"
    ln -sf wineserver64 "$tree/usr/lib/wine/wineserver"
    say "fetching the sources of yyjson, cmocka and zlib, which are compiled with wavefit"
    source_packages "$tree/sources" yyjson cmocka zlib
    # Debian leaves zlib's Windows files out; its CMakeLists.txt names one.
    mkdir -p "$tree/sources/zlib/win32"
    touch "$tree/sources/zlib/win32/zlib1.rc" "$tree/made"
}

# Wine's headers and import libraries where clang-cl and lld-link look for Microsoft's.
microsoft_tree() {
    local tree=$PWD/.cache/windows/microsoft libraries name from made_of
    made_of=$(cat cmake/toolchains/clang-cl.c | sha256sum)
    [ "$(cat "$tree/made_of" 2>/dev/null)" = "$made_of" ] && return
    say "unpacking wine's headers into .cache/windows, for clang-cl: 6 MB to fetch, 122 MB"
    rm -rf "$tree"
    unpack "$tree" libwine-dev
    mkdir -p "$tree/bin" "$tree/lib"
    # By a script, for ccache; a link to Clang would lose its name.
    printf '#!/bin/sh\nexec clang --driver-mode=cl "$@"\n' >"$tree/bin/clang-cl"
    chmod +x "$tree/bin/clang-cl"
    libraries=../usr/lib/x86_64-linux-gnu/wine/x86_64-windows # so that a checkout can be moved
    for name in kernel32 user32 gdi32 winspool shell32 ole32 oleaut32 uuid comdlg32 advapi32 \
        msvcrt oldnames; do
        from=$name
        case $name in msvcrt | oldnames) from=ucrtbase ;; esac
        ln -s "$libraries/lib$from.a" "$tree/lib/$name.lib"
    done
    "$tree/bin/clang-cl" --target=x86_64-pc-windows-msvc -D_UCRT /MD /GS- /W3 /WX \
        -imsvc "$tree/usr/include/wine/wine/msvcrt" -imsvc "$tree/usr/include/wine/wine/windows" \
        /c "/Fo$tree/lib/start.obj" cmake/toolchains/clang-cl.c
    printf '%s\n' "$made_of" >"$tree/made_of"
}

exported() { # FILE.dll
    .cache/windows/usr/bin/x86_64-w64-mingw32ucrt-objdump -p "$1" |
        awk '/Ordinal\/Name Pointer/ { on = 1 } on && /\+base\[/ { print $NF }' | sort
}

clang_cl_packages=(lld llvm)

# Library and tool in Microsoft's dialect and binary interface: they compile without a warning, the
# DLL exports what GCC's does, and the program's results are verified under wine.
test_clang_cl() {
    local tool=build/clang-cl/wavefit.exe driver command
    install_missing "${clang_cl_packages[@]}"
    microsoft_tree
    build clang-cl
    [ -n "$(exported build/clang-cl/wavefit.dll)" ] &&
        [ "$(exported build/clang-cl/wavefit.dll)" = "$(exported build/windows/wavefit.dll)" ] ||
        fail "clang-cl's wavefit.dll exports other functions than GCC's"
    for driver in /usr/share/vulkan/icd.d/lvp_icd*.json; do :; done
    for command in 'matmul --shape 96x80x72 --type f64' 'spmv tests/tool/data/small.mtx' \
        'stencil --grid 40x30x20'; do
        # shellcheck disable=SC2086
        VK_DRIVER_FILES=$driver cmake/toolchains/wine.sh "$tool" $command >build/clang-cl/said &&
            grep -q '^verified' build/clang-cl/said ||
            { cat build/clang-cl/said; fail "clang-cl's wavefit.exe $command did not hold"; }
    done
    say "compiled by clang-cl, library and tool hold under wine: $(stat -c %s "$tool") bytes"
}

# Library, tool and tests as release builds them. Under wine run the host's tests, those of the
# library on lavapipe with the validation layer, and those of the tool; the walks over the points of
# each family, which are the same on every system, are left out for time.
test_windows() {
    local failed=0 turn
    setup test
    windows_tree
    build windows
    cmake/toolchains/wine.sh --start
    read -r -a turn <<<"$(turn_options)"
    ctest --preset windows --output-on-failure -j "$(test_jobs)" "${turn[@]}" "$@" || failed=1
    [ $# -gt 0 ] || ! has_turn 2 || (test_clang_cl) || failed=1
    cmake/toolchains/wine.sh --stop
    return $failed
}
