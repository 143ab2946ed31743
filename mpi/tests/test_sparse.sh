#!/usr/bin/env bash
# Sparse matrices on many ranks: the library's own test (test_sparse.c) on 1 to 4 ranks, uneven and
# empty ones and two drivers in one run; then the tool, beside one process.
# usage: test_sparse.sh WAVEFIT MPIRUN SWIFTSHADER_ICD FAULT_ICD TEST FAULTY_ICD
set -u
. "$(dirname "$0")/../../tests/tool/expect.sh"
mpirun=$2 other_icd=$3 fault_icd=$4 test=$5 faulty_icd=$6
. "$(dirname "$0")/under_mpi.sh"

# GCC's build has it in turns 1 and 2 of CI's, half of these runs each; the brief one two ranks.
turn=${WAVEFIT_TURN:-all}
[ -z "$brief" ] || turn=brief
case $turn in 1 | all)
    for ranks in 1 4; do
        succeeds 'are right' -n $ranks "$test"
    done
    succeeds 'are right' -n 3 "$test" 0 0 1
    ;;
esac
case $turn in 2 | all | brief) succeeds 'are right' -n 2 "$test" ;; esac
case $turn in 2 | all)
    succeeds 'are right' -n 2 env WAVEFIT_MPI_HOST=a "$test" 3 0 1 2.5 : \
        -n 2 env WAVEFIT_MPI_HOST=b "$test" 3 0 1 2.5
    if [ -f "$other_icd" ]; then
        succeeds 'are right' -n 1 "$test" : -n 2 env VK_DRIVER_FILES="$other_icd" "$test"
    fi
    ;;
esac

# The tool: x of four uneven ranks is that of one process but for rounding.
solve="cg --poisson27 12 --type f64 --tolerance 1e-12"
expect 0 '^result    converged' $solve -o one.npy
succeeds 'converged after' -n 4 "$tool" $solve --weights 2,1,0,1 -o many.npy --json many.json
python3 - <<'END' || bad "x or the results are not what they should be"
import json, struct, sys
def read(name):
    data = open(name, "rb").read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack("<%dd" % ((len(data) - start) // 8), data[start:])
one, many = read("one.npy"), read("many.npy")
scale = max(map(abs, one))
far = max(abs(a - b) for a, b in zip(one, many)) / scale
case = json.load(open("many.json"))["cases"][0]
ok = len(one) == len(many) == 12 ** 3 and far < 1e-11
ok = ok and len(case["history"]) == case["iterations"] and len(case["ranks"]) == 4
ok = ok and [r["count"] for r in case["ranks"]][2] == 0
ok = ok and case["shared_halos"] == 4 # of three ranks in a row
ok = ok and sum(r["count"] for r in case["ranks"]) == 12 ** 3
sys.exit(not ok)
END
passed=$((passed + 1))
if [ -z "$brief" ]; then
    cat >m.mtx <<'END'
%%MatrixMarket matrix coordinate real general
5 7 6
1 1 2.5
2 7 -1
3 3 4
5 1 1
5 6 2
5 7 3
END
    succeeds '^verified  5 of 5' -n 4 "$tool" spmv m.mtx -o y.npy
    # Each rank chooses for its rows, and variants add a row's products in orders of their own.
    succeeds '^verified  5 of 5' -n 4 "$tool" spmv m.mtx --variant lanes -o y.npy
    "$tool" spmv m.mtx --variant lanes -o one.npy >out 2>err || bad "spmv m.mtx on one process"
    cmp -s one.npy y.npy || bad "y of 4 ranks is not that of one process"
fi
# Both forms are tried, and the faster one solves.
succeeds '^form +(plain|pipelined), by a trial: plain .* pipelined .* an iteration' -n 2 "$tool" \
    cg --poisson27 8 --type f64 --form auto
fails 2 "'both'" -n 2 "$tool" cg --poisson27 8 --form both
succeeds 'FLOPS' -n 3 "$tool" spmv --generate rmat:9 --type f64 --balance
grep -q '^balanced ' out || bad "not balanced"
if [ -f "$other_icd" ] && [ -z "$brief" ]; then # devices of other speeds
    succeeds '^balanced ' -n 1 "$tool" cg --poisson27 16 --balance : \
        -n 1 env VK_DRIVER_FILES="$other_icd" "$tool" cg --poisson27 16 --balance
fi

# Wrong usage is told once.
fails 2 'give one of' -n 2 "$tool" cg
fails 2 'jacobi' -n 2 "$tool" cg --poisson27 4 --precondition block-jacobi
fails 2 'weight' -n 2 "$tool" spmv --generate diagonal:9 --weights 0,0
[ "$brief" ] || fails 2 'weight' -n 2 "$tool" spmv --generate diagonal:9 --weights 1,inf
fails 1 'nothing.mtx' -n 2 "$tool" spmv nothing.mtx
[ -f m.mtx ] && fails 1 'square' -n 2 "$tool" cg m.mtx

# A rank that loses its device ends all of them with its words.
lost() { # N RANKS BEFORE
    fails 1 "rank $3: .*DEVICE_LOST" -n "$3" "$tool" cg --poisson27 8 : \
        -n 1 env "VK_DRIVER_FILES=$fault_icd" "WAVEFIT_FAIL=vkQueueSubmit $1 -4" \
        "$tool" cg --poisson27 8 : -n $(($2 - $3 - 1)) "$tool" cg --poisson27 8
}
own_cache
lost 12 3 1
[ "$brief" ] || lost 30 3 1

# An iteration is one submission, or two where a halo is waited for, with any pieces of the update;
# three where the driver makes no events; and two more to a queue that exchanges halos beside it.
submits() { # A_RANK RANKS PIECES FAULT [ASIDE]
    local counts=$work/counts
    rm -f "$counts"
    WAVEFIT_MPI_PIECES=$3 succeeds 'converged after' -n "$2" \
        env ${5:+WAVEFIT_SIDE_QUEUES=1} "VK_DRIVER_FILES=$faulty_icd" \
        "WAVEFIT_FAULTY_COUNT=$counts" "WAVEFIT_FAULTY=$4" \
        "$tool" cg --poisson27 12 --type f64
    python3 - "$1" <<'END' || bad "not $1 submissions an iteration: $2 ranks, pieces $3, '$4'"
import re, sys
made = max(int(n) for n in re.findall(r"call vkQueueSubmit (\d+)", open("counts").read()))
iterations = int(re.search(r"after (\d+)", open("out").read())[1])
a_rank = int(sys.argv[1])
sys.exit(not a_rank * iterations <= made <= a_rank * iterations + 8)
END
}
if [ -f "$faulty_icd" ] && [ -z "$brief" ]; then
    submits 1 1 0 ''
    submits 2 2 0 ''
    submits 2 2 1 ''
    submits 3 2 1 'vkCreateEvent 1 -2'
    submits 4 2 1 '' aside
    submits 5 2 1 'vkCreateEvent 1 -2' aside
    fails 1 'DEVICE_LOST' -n 1 env "VK_DRIVER_FILES=$faulty_icd" \
        'WAVEFIT_FAULTY=vkGetEventStatus 9 -4' "$tool" cg --poisson27 8 : \
        -n 1 "$tool" cg --poisson27 8
    fails 1 'vkResetEvent' -n 1 env "VK_DRIVER_FILES=$faulty_icd" \
        'WAVEFIT_FAULTY=vkResetEvent 5 -2' "$tool" cg --poisson27 8 : \
        -n 1 "$tool" cg --poisson27 8
fi

finish
