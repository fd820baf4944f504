#!/bin/sh
# Makes a sweep as a Slurm job array, one task for each shard. The arguments are a directory that all nodes share, and a command of
# kneepoint:
#
#   sbatch contrib/sweeps/slurm.sh DIR compare --rate 10Mbps --controllers knee,quinn-cubic
#
# A task that is requeued goes on where it stopped. When all have ended, `kneepoint merge DIR` joins them. As a job of its own:
#
#   sbatch --dependency=afterok:JOB --wrap "kneepoint merge DIR"
#
#SBATCH --job-name=kneepoint
#SBATCH --array=1-16
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
set -eu

out=$1
shift
export RAYON_NUM_THREADS="${SLURM_CPUS_PER_TASK:-1}"
exec "${KNEEPOINT:-kneepoint}" "$@" --out "$out" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
