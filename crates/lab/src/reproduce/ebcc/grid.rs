//! Tables of rate, loss and fairness: the paper's figure beside ours.

use super::buffer;
use super::dumbbell::{CONTROLLERS, Case, Dumbbell, Run};
use crate::reproduce::Scale;
use crate::reproduce::report::{Table, number, percent};
use crate::reproduce::summary::{Seeds, geometric_mean};

/// A row of the paper's tables.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    pub(super) label: &'static str,
    pub(super) network: Dumbbell,
    pub(super) flows: u64,
    /// NewReno, CUBIC, BBR and eBCC.
    pub(super) paper: [Figures; 4],
}

/// What the paper reports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) sent: f64,
    pub(super) received: f64,
    /// A fraction.
    pub(super) loss: f64,
    /// Only of several flows.
    pub(super) jain: Option<f64>,
}

/// Mb/s sent and received, and the loss in percent.
pub(super) const fn figures(sent: f64, received: f64, loss: f64) -> Figures {
    Figures {
        sent,
        received,
        loss: loss / 100.0,
        jain: None,
    }
}

/// The same of several flows.
pub(super) const fn shared(sent: f64, received: f64, loss: f64, jain: f64) -> Figures {
    Figures {
        jain: Some(jain),
        ..figures(sent, received, loss)
    }
}

impl Setting {
    /// The network with another buffer.
    pub(super) fn network(&self, buffer: u64) -> Dumbbell {
        Dumbbell {
            buffer,
            ..self.network
        }
    }

    /// What the paper has of a controller.
    pub(super) fn paper(&self, controller: &str) -> Option<Figures> {
        let place = CONTROLLERS.iter().position(|&name| name == controller)?;
        self.paper.get(place).copied()
    }

    /// One figure, seed by seed.
    pub(super) fn figures(
        &self,
        results: &[(Case, Run)],
        controller: &str,
        buffer: u64,
        figure: impl Fn(&Run) -> f64,
    ) -> Vec<f64> {
        let network = self.network(buffer);
        results
            .iter()
            .filter(|(case, _)| {
                case.network == network && case.flows == self.flows && case.controller == controller
            })
            .map(|(_, run)| figure(run))
            .collect()
    }

    /// A figure of `ebcc` as a part of `bbr`'s: the geometric mean over the seeds.
    pub(super) fn against_bbr(&self, results: &[(Case, Run)], figure: fn(&Run) -> f64) -> f64 {
        let of = |name| self.figures(results, name, buffer::CHOSEN, figure);
        geometric_mean(
            of("ebcc:paper")
                .iter()
                .zip(of("bbr"))
                .map(|(ebcc, bbr)| ebcc / bbr),
        )
    }
}

/// Every setting with every controller and seed, and then the buffers.
pub(super) fn cases(settings: &[Setting], scale: Scale, swept: &[u64]) -> Vec<Case> {
    let mut cases = Vec::new();
    for setting in settings {
        let mut add = |buffer, controller, seed| {
            cases.push(Case {
                network: setting.network(buffer),
                controller,
                flows: setting.flows,
                seed,
            });
        };
        for controller in CONTROLLERS {
            for seed in scale.seeds() {
                add(buffer::CHOSEN, controller, seed);
            }
        }
        for &buffer in swept.iter().filter(|&&buffer| buffer != buffer::CHOSEN) {
            for controller in buffer::SENSITIVE {
                add(buffer, controller, 1);
            }
        }
    }
    cases
}

/// Rates sent and received, per flow.
pub(super) fn rates(settings: &[Setting], results: &[(Case, Run)]) -> Table {
    let paper = |paper: Figures| format!("{}/{}", number(paper.sent), number(paper.received));
    table(
        format!("Sent/received per flow in Mb/s, {}", means()),
        settings,
        paper,
        |setting, name| {
            let of = |figure: fn(&Run) -> f64| {
                let figures = setting.figures(results, name, buffer::CHOSEN, figure);
                number(Seeds::of(figures).mean)
            };
            format!("{}/{}", of(|run| run.sent), of(|run| run.received))
        },
    )
}

/// Losses.
pub(super) fn losses(settings: &[Setting], results: &[(Case, Run)]) -> Table {
    table(
        format!("Loss, {}", means()),
        settings,
        |paper| percent(paper.loss),
        |setting, name| {
            let figures = setting.figures(results, name, buffer::CHOSEN, |run| run.loss);
            Seeds::of(figures).text(percent)
        },
    )
}

/// Jain's index.
pub(super) fn fairness(settings: &[Setting], results: &[(Case, Run)]) -> Table {
    let print = |value: f64| format!("{value:.3}");
    table(
        format!("Jain's index, {}", means()),
        settings,
        |paper| paper.jain.map_or_else(|| "-".to_owned(), print),
        |setting, name| {
            let figures = setting.figures(results, name, buffer::CHOSEN, |run| run.jain);
            Seeds::of(figures).text(print)
        },
    )
}

fn means() -> String {
    let packets = buffer::CHOSEN;
    format!("buffer of {packets} packets: means over the seeds (least to largest)")
}

fn table(
    caption: String,
    settings: &[Setting],
    paper: impl Fn(Figures) -> String,
    ours: impl Fn(&Setting, &str) -> String,
) -> Table {
    let mut header = vec!["controller".to_owned()];
    for setting in settings {
        header.extend([setting.label.to_owned(), "paper".to_owned()]);
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(caption, &header);
    for name in CONTROLLERS {
        let mut row = vec![format!("`{name}`")];
        for setting in settings {
            row.push(ours(setting, name));
            row.push(setting.paper(name).map_or_else(|| "-".to_owned(), &paper));
        }
        table.row(row);
    }
    table
}

/// A change as a fraction of what it was, in percent.
pub(super) fn change(ratio: f64) -> String {
    format!("{:+.1} %", 100.0 * (ratio - 1.0))
}
