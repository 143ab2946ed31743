#!/usr/bin/env bash
# Waits and submissions that fail, one at a time: each run ends with one line of error and exit 1,
# or does without what failed (a measured ceiling) and is verified all the same. Nothing is freed
# that the device still works on, which would end the process with SIGSEGV.
# Runs on the driver of fault_icd.c.
# usage: test_lost.sh WAVEFIT DATA
set -u
. "$(dirname "$0")/expect.sh"
export XDG_CACHE_HOME=$work/cache
memory=-2 lost=-4 # VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST
failures=0

# fails "FUNCTION N CODE" ARGS…
fails() {
    local fault=$1
    shift
    WAVEFIT_FAIL=$fault timeout 120 "$tool" "$@" >out 2>err
    code=$?
    grep '^wavefit:' err | grep -v ' warning: ' >err.tool || true
    if [ "$code" = 0 ] && grep -qE '^(verified|residual) |Gosa' out && ! [ -s err.tool ]; then
        passed=$((passed + 1))
    elif [ "$code" = 1 ] && [ "$(wc -l <err.tool)" = 1 ]; then
        passed=$((passed + 1))
        failures=$((failures + 1))
    else
        bad "exit $code after '$fault': wavefit $*"
    fi
}

# each STEP ARGS…: with every STEP-th call of each function failing, by the two codes in turn
# (both at each call: dev test-faults --every).
each() {
    local step=$1 function calls n code before=$failures
    shift
    [ "${WAVEFIT_TEST_BRIEF:-}" ] && step=$((step * 5))
    [ "${WAVEFIT_TEST_WINDOWS:-}" ] && step=$((step * 4)) # a start takes a quarter of a second
    "$tool" "$@" >out 2>err # what is kept between runs is there
    WAVEFIT_FAIL_COUNT=$work/count "$tool" "$@" >out 2>err || bad "without a fault: wavefit $*"
    for function in vkWaitForFences vkQueueSubmit; do
        calls=$(sed -n "s/^$function //p" count)
        [ "${calls:-0}" -gt 0 ] || bad "$function is not called: wavefit $*"
        code=$lost
        for ((n = 1; n <= calls; n += step)); do
            fails "$function $n $code" "$@"
            code=$((lost + memory - code))
        done
    done
    [ "$failures" -gt "$before" ] || bad "no fault was told of: wavefit $*"
}

each 2 spmv --generate poisson5:8 --repeat 2
each 2 matmul --shape 64x64x64 --repeat 2
each 2 cg --poisson5 12
each 1 laplace --grid 24x24 --tolerance 1e-3
each 6 himeno --size 32x32x64 --iterations 4
# The fence alone tells nothing any more; then a driver that never says that its work has ended, of
# which nothing is freed.
for name in vkWaitForFences Wait; do
    for code in $lost $memory; do
        fails "$name 1+ $code" spmv --generate poisson5:8 --repeat 2
        fails "$name 1+ $code" cg --poisson5 12
        fails "$name 1+ $code" laplace --grid 24x24 --tolerance 1e-3
    done
done
# A device whose memory the host does not see: transfers go through staging, and waits ask for the
# fence before they sleep.
export WAVEFIT_DISCRETE=1
each 2 laplace --grid 24x24 --tolerance 1e-3
for fault in 'vkGetFenceStatus 1' 'vkGetFenceStatus 2' 'vkGetFenceStatus 1+' 'vkQueueSubmit 2+' \
    'Wait 1+'; do
    for code in $lost $memory; do
        fails "$fault $code" laplace --grid 24x24 --tolerance 1e-3
    done
done
finish
