# What tests under mpirun share. Needs tests/tool/expect.sh and $mpirun.
# Tests run as root and with more ranks than cores; containers refuse to read another process.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl=self,vader
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
brief=${WAVEFIT_TEST_BRIEF:-}

# under MPIRUN_ARGS… : what it says goes to out and err; a run that hangs is ended by and by.
under() {
    timeout 300 "$mpirun" "$@" >out 2>err
    code=$?
    grep '^wavefit:' err >err.tool || true
    if grep -qE 'Validation Error|VUID-|SYNC-HAZARD|runtime error|Sanitizer' out err; then
        bad "a layer objects: mpirun $*"
    fi
}

succeeds() { # PATTERN MPIRUN_ARGS…
    local pattern=$1
    shift
    under "$@"
    if [ "$code" != 0 ] || ! grep -qE -- "$pattern" out; then
        bad "exit $code, or no '$pattern': mpirun $*"
    elif is_wide; then
        bad "a line of over 100 columns: mpirun $*"
    else
        passed=$((passed + 1))
    fi
}

# fails CODE PATTERN MPIRUN_ARGS…: one line of the tool's, and the code on every rank. Ranks end by
# themselves, since mpirun, where one ends with another code than 0, would end the others, with a
# second's sleep for each.
fails() {
    local want=$1 pattern=$2 args=()
    shift 2
    while [ $# -gt 0 ]; do
        args+=("$1")
        if [ "$1" = -n ]; then
            args+=("$2" bash "$work/ends.sh")
            shift
        fi
        shift
    done
    printf '"$@"\necho $? >>codes\n' >ends.sh
    : >codes
    under "${args[@]}"
    [ "$code" != 0 ] || code=$(sort -u codes | paste -sd ' ')
    if [ "$code" != "$want" ]; then
        bad "exit $code instead of $want: mpirun $*"
    elif [ "$(wc -l <err.tool)" != 1 ] || ! grep -qE -- "$pattern" err.tool; then
        bad "not one line of error with '$pattern': mpirun $*"
    else
        passed=$((passed + 1))
    fi
}

# A cache of the test's own, where faults may leave what they like, with what is kept of devices.
own_cache() {
    mkdir -p "$work/cache"
    [ ! -d "${XDG_CACHE_HOME:-}/wavefit" ] || cp -r "$XDG_CACHE_HOME/wavefit" "$work/cache"
    export XDG_CACHE_HOME=$work/cache
}

# same_bits PATTERN MPIRUN_ARGS… -- ARGS…: the tool with $grid and ARGS under mpirun writes to
# many.npy the cells of one.npy, which one process wrote.
same_bits() {
    local pattern=$1 before=()
    shift
    while [ "$1" != -- ]; do
        before+=("$1")
        shift
    done
    shift
    rm -f many.npy
    succeeds "$pattern" "${before[@]}" "$tool" $grid "$@" -o many.npy
    if cmp one.npy many.npy >cmp.out 2>&1; then
        passed=$((passed + 1))
    else
        bad "other cells than one device's: mpirun ${before[*]} $grid $* ($(cat cmp.out))"
    fi
}
