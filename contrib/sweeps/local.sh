#!/bin/sh
# Makes a sweep on one machine, in shards side by side, and joins them. The last arguments are a command of kneepoint:
#
#   contrib/sweeps/local.sh SHARDS DIR compare --rate 10Mbps --controllers knee,quinn-cubic
#
# Shards run under GNU parallel if it is there, and otherwise under xargs. A sweep that was interrupted goes on where it stopped.
# KNEEPOINT names the program, JOBS how many shards run at once (otherwise: one for each core).
set -eu

if [ $# -lt 3 ]; then
    echo "usage: $0 SHARDS DIR COMMAND [OPTIONS]" >&2
    exit 2
fi
shards=$1 out=$2
shift 2
kneepoint=${KNEEPOINT:-kneepoint}
if ! command -v "$kneepoint" >/dev/null; then
    echo "$0: there is no command $kneepoint: install it with 'cargo install --path crates/lab', or name it in KNEEPOINT" >&2
    exit 127
fi
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
# A shard has one core: the others have the other shards.
export RAYON_NUM_THREADS=1

if [ "${RUNNER:-parallel}" = parallel ] && parallel --version 2>/dev/null | grep -q GNU; then
    # One that fails is started once more, and goes on where it stopped.
    seq "$shards" | parallel --jobs "$jobs" --retries 2 --halt soon,fail=1 --quote \
        "$kneepoint" "$@" --out "$out" --shard "{}/$shards"
else
    seq "$shards" | xargs -P "$jobs" -I SHARD "$kneepoint" "$@" --out "$out" --shard "SHARD/$shards"
fi
"$kneepoint" merge "$out"
