//! What head-room costs and buys: `bbr-s` on the bundled LTE trace against `bbr`, by how long the link may run empty.
//!
//! `cargo run --release -p kneepoint-lab --example queue_target [plot.svg]`
//!
//! Prints the throughput and the RTTs of each setting relative to `bbr`, and draws them as a curve beside the claim of
//! the BBR-S paper: at least 95 % of the throughput, and a 99th percentile at least 60 % lower.

#![expect(clippy::print_stdout, reason = "what it measures is for the screen")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kneepoint::quinn::{Factory, IntoFactory as _};
use kneepoint::{Algorithm, BbrSConfig};
use kneepoint_controllers::{Gain, WindowPolicy};
use kneepoint_lab::controllers::Candidate;
use kneepoint_lab::metrics::Row;
use kneepoint_lab::plots::register_font;
use kneepoint_lab::run::run;
use kneepoint_lab::scenario::{Link, Scenario};
use plotters::prelude::*;
use rayon::prelude::*;

type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), AnyError> {
    let scenario = Scenario::bulk(Link::bundled(), Duration::from_secs(60));
    let reference = measure(&scenario, "bbr", Candidate::Quinn(Algorithm::Bbr.factory()))?;
    let rows = PERMILLE
        .par_iter()
        .map(|&permille| {
            let factory = Arc::new(Factory::new(idle(permille))?.seed(1));
            let candidate = Candidate::Quinn(factory);
            Ok((permille, measure(&scenario, "bbr-s", candidate)?))
        })
        .collect::<Result<Vec<_>, AnyError>>()?;

    println!("idle permille  throughput %  RTT mean %  p95 %  p99 %   (of bbr's)");
    let mut curve = Vec::new();
    for (permille, row) in &rows {
        let of = |value: Option<f64>, whole: Option<f64>| {
            value
                .zip(whole)
                .map_or(f64::NAN, |(value, whole)| 100.0 * value / whole)
        };
        let throughput = 100.0 * row.goodput_mbps / reference.goodput_mbps;
        let p99 = of(row.rtt_p99_ms, reference.rtt_p99_ms);
        println!(
            "{permille:13}  {throughput:12.1}  {:10.1}  {:5.1}  {p99:5.1}",
            of(row.rtt_mean_ms, reference.rtt_mean_ms),
            of(row.rtt_p95_ms, reference.rtt_p95_ms),
        );
        curve.push((throughput, 100.0 - p99));
    }
    if let Some(path) = std::env::args_os().nth(1) {
        draw(path.as_ref(), &curve)?;
    }
    Ok(())
}

/// The recommended configuration, but for how long the link may run empty.
fn idle(permille: u32) -> BbrSConfig {
    let mut config = BbrSConfig::default();
    if let WindowPolicy::BusyRate(target) = &mut config.core.window_policy {
        target.idle = Gain::new(permille, 1000);
    }
    config
}

fn measure(scenario: &Scenario, name: &str, candidate: Candidate) -> Result<Row, AnyError> {
    let outcome = run(scenario, &[candidate], &|_| ())?;
    Ok(Row::new(scenario, name, &[], &outcome))
}

fn draw(path: &Path, curve: &[(f64, f64)]) -> Result<(), AnyError> {
    register_font()?;
    let area = SVGBackend::new(path, (800, 500)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .caption(
            "bbr-s against bbr, by head-room: LTE driving, fast",
            ("sans-serif", 20),
        )
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(80.0..102.0, 30.0..75.0)?;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .x_desc("throughput (% of bbr's)")
        .y_desc("99th percentile of the RTT: reduction (%)")
        .draw()?;
    // The paper's claim: at least 95 % of the throughput, and a 99th percentile lower by at least 60 %.
    chart
        .draw_series([Rectangle::new(
            [(95.0, 60.0), (102.0, 75.0)],
            BLUE.mix(0.15).filled(),
        )])?
        .label("the paper's claim")
        .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], BLUE.mix(0.15).filled()));
    chart
        .draw_series(LineSeries::new(curve.iter().copied(), RED.stroke_width(2)).point_size(4))?
        .label("bbr-s")
        .legend(|(x, y)| Circle::new((x + 6, y), 4, RED.filled()));
    chart
        .configure_series_labels()
        .background_style(WHITE)
        .draw()?;
    area.present()?;
    Ok(())
}

/// How long the link may run empty; 40 is recommended.
const PERMILLE: [u32; 9] = [15, 20, 25, 32, 38, 50, 70, 100, 150];
