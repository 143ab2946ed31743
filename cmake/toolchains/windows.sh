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
    [ -f "$tree/made" ] && return
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
    say "fetching the sources of yyjson and cmocka, which are compiled with wavefit"
    source_packages "$tree/sources" yyjson cmocka
    touch "$tree/made"
}

# Library, tool and tests as release builds them. Under wine run the host's tests, those of the
# library on lavapipe with the validation layer, and those of the tool; the walks over the points of
# each family, which are the same on every system, are left out for time.
test_windows() {
    local failed=0
    setup test
    windows_tree
    build windows
    cmake/toolchains/wine.sh --start
    ctest --preset windows --output-on-failure -j "$(test_jobs)" "$@" || failed=1
    cmake/toolchains/wine.sh --stop
    return $failed
}
