#!/bin/sh
# test_links.sh ROOT: every place that a document, a comment or a script names in the pages of ROOT is
# there: the page, and its anchor where one is named. Then the same on a copy of the pages with faults
# planted in it, each of which must be found.
set -u
root=$1

# Anchors of a page: explicit ones, and those that GitHub makes of headings.
anchors() {
    sed -n 's/.*<a id="\([^"]*\)".*/\1/p' "$1"
    sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'
}

# FILE TARGET on every line: links of documents, and pages of measurements that others name.
links() {
    find . -name '*.md' ! -path './build/*' ! -path './.*/*' ! -path './third_party/*' |
        while read -r file; do
            grep -oE '\]\([^) ]+\)' "$file" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' |
                sed "s|^|$file |"
        done
    grep -roE 'bench/notes/[a-z-]+\.md(#[a-z0-9-]+)?' src shaders tests bench docs README.md |
        sed 's|^\([^:]*\):|./\1 /|'
}

check() {
    (
        cd "$1" || exit 1
        links | while read -r file target; do
            page=${target%%#*}
            case $page in
            '') page=$file ;;
            /*) page=.$page ;;
            *) page=$(dirname "$file")/$page ;;
            esac
            if ! [ -e "$page" ]; then
                echo "$file: no such file: $target"
            elif [ "$target" != "${target#*#}" ] &&
                ! anchors "$page" | grep -qxF -e "${target#*#}"; then
                echo "$file: no such place: $target"
            fi
        done
    )
}

broken=$(check "$root")
if [ -n "$broken" ]; then
    echo "$broken"
    exit 1
fi

copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
(cd "$root" && tar cf - README.md bench docs src/kernels shaders tests/docs) | (cd "$copy" && tar xf -)
printf '\n[a](nowhere.md) [b](docs/glossary.md#nowhere)\n' >> "$copy/README.md"
printf '\n/* bench/notes/matmul.md#%s */\n' nowhere >> "$copy/src/plan/plan.c"
found=$(check "$copy" | grep -c nowhere)
if [ "$found" -ne 3 ]; then
    echo "3 faults were planted, $found were found"
    exit 1
fi
echo "all links lead somewhere; 3 planted faults were found"
