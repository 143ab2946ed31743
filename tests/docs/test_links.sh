#!/bin/sh
# test_links.sh ROOT: what documents, comments and scripts of ROOT name is there: pages, with the
# anchor where one is named, and source files, by path or by name. Then the same on a copy with
# faults planted in it, each of which must be found.
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
            grep -oE '\]\([^) ]+\)|^\[[^]]+\]: .+' "$file" |
                sed 's/^](//; s/)$//; s/^\[.*\]: //' | grep -vE '^[a-z]+:' |
                sed "s|^|$file |"
        done
    grep -roE 'bench/notes/[a-z-]+\.md(#[a-z0-9-]+)?' src shaders tests bench docs README.md |
        sed 's|^\([^:]*\):|./\1 /|'
}

# FILE:PATH or FILE:NAME on every line: sources that comments and documents name, by a path from
# the root or by a name that begins with a family's or a folder's. CHANGELOG.md is left out, since
# it tells of files that went.
sources() {
    prefix='(cg|grid|himeno|laplace|matmul|peaks|plan|selftest|spmv|stencil|test|vector)_'
    folder='(src|shaders|tests|bench|docs)/'
    grep -roE --include='*.[ch]' --include='*.cpp' --include='*.comp' --include='*.glsl' \
        --include='*.md' --include='*.js' \
        -e "(^|[^a-z/_])$folder[A-Za-z0-9_./-]+\.(c|h|comp|glsl|json|md|py|sh)\b" \
        -e "(^|[^a-z0-9_/.\$])$prefix[a-z0-9_]+\.(c|h|comp|glsl)\b" \
        src shaders tests docs bench README.md | sed 's/:[^a-z]/:/'
}

check() {
    (
        cd "$1" || exit 1
        find src shaders tests bench docs -type f | sed 's|.*/||' > "$names"
        sources | while IFS=: read -r file name; do
            case $name in
            */*) [ -e "$name" ] ;;
            *) grep -qxF -e "$name" "$names" ;;
            esac || echo "$file: no such file: $name"
        done
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

names=$(mktemp) || exit 1
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$names" "$copy"' EXIT
broken=$(check "$root")
if [ -n "$broken" ]; then
    echo "$broken"
    exit 1
fi

(cd "$root" && tar cf - README.md bench docs src shaders tests/docs) | (cd "$copy" && tar xf -)
printf '\n[a](nowhere.md) [b](docs/glossary.md#nowhere)\n[c]: nowhere.png\n' >> "$copy/README.md"
{
    printf '\n/* bench/notes/matmul.md#%s */\n' nowhere
    printf '/* matmul_nowhere.comp and src/plan/%s.c */\n' nowhere
} >> "$copy/src/plan/plan.c"
found=$(check "$copy" | grep -c nowhere)
if [ "$found" -ne 6 ]; then
    echo "6 faults were planted, $found were found"
    check "$copy" | grep nowhere
    exit 1
fi
echo "all links lead somewhere; 6 planted faults were found"
