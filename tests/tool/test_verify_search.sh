#!/usr/bin/env bash
# `wavefit verify` on a driver that is well: half a minute, or as long as WAVEFIT_VERIFY_SECONDS
# says. Each day has a seed of its own, which the log tells; WAVEFIT_VERIFY_SEED sets another.
# usage: test_verify_search.sh WAVEFIT DATA
set -u
seed=${WAVEFIT_VERIFY_SEED:-$(date -u +%Y%m%d)}
echo "seed $seed"
exec "$1" verify --seconds "${WAVEFIT_VERIFY_SECONDS:-28}" --seed "$seed" --quiet
