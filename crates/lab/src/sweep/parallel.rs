//! Work for all cores.

use rayon::prelude::*;

/// The jobs, those of much weight first, so that the last ones to end are short. Whichever core is free takes the next one.
pub(crate) fn in_order<J: Send>(
    jobs: Vec<J>,
    weight: impl Fn(&J) -> f64,
) -> impl ParallelIterator<Item = J> {
    let mut jobs: Vec<(f64, J)> = jobs.into_iter().map(|job| (weight(&job), job)).collect();
    jobs.sort_by(|a, b| b.0.total_cmp(&a.0));
    jobs.into_iter().map(|(_, job)| job).par_bridge()
}

/// The sum of weights, which shares of the work are parts of: more than zero also where no job has any weight.
pub(super) fn total(weights: impl Iterator<Item = f64>) -> f64 {
    weights.sum::<f64>().max(f64::MIN_POSITIVE)
}

/// Does every job, in parallel on the cores. The results are in the order of the jobs, or the first error in that order.
///
/// `progress` is told the share of the work that has been done since it was last told.
pub(crate) fn in_parallel<J: Sync, R: Send, E: Send>(
    jobs: &[J],
    weight: impl Fn(&J) -> f64 + Sync,
    run: impl Fn(&J) -> Result<R, E> + Sync,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Vec<R>, E> {
    let total = total(jobs.iter().map(&weight));
    let numbered: Vec<(usize, &J)> = jobs.iter().enumerate().collect();
    let results = in_order(numbered, |(_, job)| weight(job)).map(|(index, job)| {
        let result = run(job);
        progress(weight(job) / total);
        (index, result)
    });
    let mut results: Vec<_> = results.collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
