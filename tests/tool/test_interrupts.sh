#!/usr/bin/env bash
# Ctrl-C, SIGTERM and SIGHUP, and loads without end.
set -u
. "$(dirname "$0")/expect.sh"

# The run ends soon, what was measured is written, the rest is marked. All at once, since two cores
# have the time; what would end soonest by itself comes first. None is timed for a moment alone, as
# rough rates would have it.
cut() { # NAME ARGS…
    local name=$1
    shift
    WAVEFIT_ROUGH_RATES=0 "$tool" "$@" --quiet --json "cut-$name.json" \
        >/dev/null 2>"cut-$name.err" &
    cuts="$cuts $name:$!"
}

# Until a run has its device it ends like any program: whether it looks after SIGINT by now.
catches() { # PID
    case $(sed -n 's/^SigCgt:.*\(.\)$/\1/p' "/proc/$1/status" 2>/dev/null) in
    [2367abef]) return 0 ;;
    *) return 1 ;;
    esac
}

# Whether it has worked for so many seconds of processor time, so that there is something to keep.
worked() { # PID SECONDS
    local ticks
    ticks=$(awk '{print $14 + $15}' "/proc/$1/stat" 2>/dev/null) || return 0
    [ "${ticks:-0}" -ge $(($2 * $(getconf CLK_TCK))) ]
}

patiently() { # COMMAND…: until it is so, or two minutes are over
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.2
    done
}

cuts=
cut explain explain himeno --size M --variant naive
cut ladder ladder spmv --matrix poisson27:64
cut sweep sweep matmul --shape 512x512x512 --variant naive --over work-group
cut peaks peaks --budget 300
cut bench bench --suite full
cut sustained bench --sustained 5 --family spmv
cut himeno himeno --size XS --seconds 600
cut cg cg --poisson5 500 --max-iterations 1000000 --tolerance 1e-30
for one in $cuts; do
    patiently catches "${one#*:}"
    case $one in
    explain:* | ladder:* | sweep:*) patiently worked "${one#*:}" 2 ;;
    *) patiently worked "${one#*:}" 3 ;; # these have no end
    esac
    begun=${EPOCHREALTIME/[.,]/}
    case $one in # a batch system's time limit, a terminal that goes away
    cg:* | bench:* | sweep:*) kill -TERM "${one#*:}" ;;
    himeno:* | peaks:*) kill -HUP "${one#*:}" ;;
    *) kill -INT "${one#*:}" ;;
    esac
    # As timeout(1) does: two signals that mean one, where they come within 0.3 s. A busy machine
    # may take long to start `sleep`, and to come back here: then the second would be another.
    case $one in
    ladder:*)
        for _ in {1..5000}; do :; done
        [ $((${EPOCHREALTIME/[.,]/} - begun)) -lt 200000 ] && kill -INT "${one#*:}"
        ;;
    esac
done
for one in $cuts; do
    name=${one%:*}
    begun=$SECONDS
    wait "${one#*:}"
    code=$?
    check "Ctrl-C: $name ends with 1" test "$code" = 1
    check "Ctrl-C: $name ends soon" test $((SECONDS - begun)) -le 60
    check "Ctrl-C: $name says so in a line" sh -c \
        "grep -c '^wavefit: .*interrupted' 'cut-$name.err' | grep -qx 1"
    check "Ctrl-C: $name leaves its results" grep -q '"status": "cancelled"' "cut-$name.json"
    check "Ctrl-C: they are whole" "$tool" report "cut-$name.json" -o "again-$name.html"
done
check 'Ctrl-C: bench leaves its page' grep -q '</html>' cut-bench.html
check 'Ctrl-C: himeno has what it came to' grep -q '"gosa"' cut-himeno.json
check 'Ctrl-C: cg has its residuals' grep -q '"history"' cut-cg.json
# Before there is a device these signals end the program; a file that it was writing does not stay.
mkdir written
for n in 1 2 3 4 5 6; do
    "$tool" spmv --generate poisson27:60 -o written/m.mtx >/dev/null 2>&1 &
    for _ in {1..600}; do # until there is a file, by name or without one
        compgen -G 'written/m.mtx.*' >/dev/null && break
        ls -l "/proc/$!/fd" 2>/dev/null | grep -q '/written/' && break
        sleep 0.02
    done
    kill -$([ $((n % 2)) = 0 ] && echo TERM || echo HUP) $! 2>/dev/null
    wait $!
done
check 'a signal leaves no temporary file' sh -c '! ls written | grep -q "m.mtx\."'
# Progress goes to terminals alone.
check 'no progress in files' sh -c '! grep -q "iteration [0-9]" cut-himeno.err'
if command -v script >/dev/null; then
    script -qec "\"$tool\" himeno --size 33x33x33 --seconds 2" /dev/null \
        >progress.txt 2>err </dev/null
    check 'progress tells how much is left' grep -q 'iteration [0-9]*, [0-9]* of 2 s' progress.txt
fi

# A load without end: long enough to settle, once a build, and with pauses.
if [ -z "${WAVEFIT_TEST_BRIEF:-}" ]; then
    expect 0 'settled +[0-9]' bench --sustained 0.17 --family spmv --json sustained.json
    check 'the curve is in the results' grep -q '"curve": \[' sustained.json
fi
expect 0 'a pause of' bench --sustained 0.06 --family himeno --work 1 --pause 1

finish
