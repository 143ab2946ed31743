#!/usr/bin/env bash
# Two hosts that share no memory: network namespaces with names and addresses of their own, between
# which Open MPI sends by TCP. Two ranks of the first one share their halos, and the third, on the
# second one, gets messages: the results have the bits of one process. Skipped (77) where namespaces
# cannot be made.
# usage: test_hosts.sh WAVEFIT MPIRUN
set -u
. "$(dirname "$0")/../../tests/tool/expect.sh"
mpirun=$2
. "$(dirname "$0")/under_mpi.sh"

a=wavefit-$$-a b=wavefit-$$-b
skip() {
    echo "skipped: $1"
    exit 77
}
"$mpirun" --version 2>&1 | grep -E 'Open MPI|OpenRTE' >out || skip "mpirun is not Open MPI's"
command -v ip >/dev/null && command -v unshare >/dev/null || skip "there is no ip or no unshare"
ip netns add "$a" 2>err || skip "no network namespaces: $(head -n 1 err)"
trap 'ip netns del "$a"; ip netns del "$b"; rm -rf "$work"' EXIT
ip netns add "$b"
ip link add wf$$a netns "$a" type veth peer name wf$$b netns "$b" 2>err ||
    skip "no virtual links: $(head -n 1 err)"
ip -n "$a" address add 10.77.0.1/24 dev wf$$a
ip -n "$b" address add 10.77.0.2/24 dev wf$$b
for end in "$a wf$$a" "$b wf$$b"; do
    ip -n "${end% *}" link set "${end#* }" up
    ip -n "${end% *}" link set lo up
done
ip netns exec "$a" unshare --uts true 2>err || skip "no names of hosts: $(head -n 1 err)"

# Open MPI starts its daemon on another host by this program.
cat >agent.sh <<END
#!/bin/sh
shift
exec ip netns exec $b unshare --uts sh -c "hostname $b; \$*"
END
chmod +x agent.sh
export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=10.77.0.0/24
export OMPI_MCA_oob_tcp_if_include=10.77.0.0/24 OMPI_MCA_plm_rsh_agent=$work/agent.sh
cat >on_hosts.sh <<END
#!/bin/sh
exec ip netns exec $a unshare --uts sh -c 'hostname $a; exec "\$@"' sh "$mpirun" \
    -x VK_DRIVER_FILES --wdir "$work" --host 10.77.0.1:2,10.77.0.2:1 "\$@"
END
chmod +x on_hosts.sh
mpirun=$work/on_hosts.sh

same() { # ARGS…
    expect 0 'device' "$@" -o one.npy
    succeeds 'device' -n 3 "$tool" "$@" -o many.npy --json many.json
    cmp one.npy many.npy || bad "other bits on two hosts: $*"
    grep -q '"shared_halos": 2,*$' many.json || bad "not 2 shared halos on two hosts: $*"
    grep -q "\"host\": \"$b\"" many.json || bad "no rank on the second host: $*"
    rm -f many.npy
}
same himeno --size 40x24x30 --iterations 7 --no-tuning --variant naive
same laplace --grid 41x57 --tolerance 1e-3 --no-tuning
succeeds 'converged after' -n 3 "$tool" cg --poisson27 8 --type f64 --json many.json
grep -q '"shared_halos": 2,*$' many.json || bad "not 2 shared halos on two hosts: cg"
# A planted fault: the program on the second host cannot be started.
sed -i 's/exec ip netns exec/exit 1;/' agent.sh
under -n 3 "$tool" stencil --grid 9x9x9 --steps 1
if [ "$code" != 0 ]; then passed=$((passed + 1)); else bad "exit 0 without the second host"; fi
finish
