#!/usr/bin/env bash
# What the tuner is worth on a device: the model's choice, shipped rows (and what is chosen without
# this device's own), two searches and an exhaustive one, side by side, for every family.
# What FILE of --json FILE has already is not measured again.
# usage: bench/tuning.sh WAVEFIT [SECONDS a search, default 60] [tune options, as --suite full --json FILE]
set -euo pipefail
tool=${1:?usage: bench/tuning.sh WAVEFIT [SECONDS] [OPTIONS]}
seconds=${2:-60}
shift $(($# > 1 ? 2 : 1))
exec "$tool" tune --compare --budget "$seconds" "$@"
