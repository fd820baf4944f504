//! Tables of rate, loss and fairness: the paper's figure beside ours.

use super::buffer;
use super::dumbbell::{CONTROLLERS, Case, Dumbbell, Run};
use super::verdicts;
use crate::reproduce::report::{Section, Table, code, number, percent};
use crate::reproduce::{Runs, Scale};

/// Several settings, each of which is a row of the paper's tables.
pub(super) struct Tables {
    pub(super) settings: &'static [Setting],
    /// How many of the settings a quick run leaves out, the first ones.
    pub(super) left_out: usize,
    /// The buffers that are tried, if any: by a quick run and by a full one.
    pub(super) swept: [&'static [u64]; 2],
    /// The setting whose rates are shown by buffer.
    pub(super) shown: &'static str,
    /// What the section begins with.
    /// What it ends with.
    pub(super) last: fn(Section, &Measured<'_>) -> Section,
}

/// A row of the paper's tables.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    pub(super) label: &'static str,
    pub(super) network: Dumbbell,
    pub(super) flows: u64,
    /// Of NewReno, CUBIC, BBR and eBCC: Mb/s sent and received, the loss in percent, and of several flows Jain's index.
    paper: &'static [&'static [f64]],
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

impl Setting {
    pub(super) const fn new(label: &'static str, network: Dumbbell, flows: u64) -> Self {
        Self {
            label,
            network,
            flows,
            paper: &[],
        }
    }

    /// With what the paper reports.
    pub(super) const fn with(mut self, paper: &'static [&'static [f64]]) -> Self {
        self.paper = paper;
        self
    }

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
        let [sent, received, loss, jain @ ..] = self.paper.get(place)? else {
            return None;
        };
        Some(Figures {
            sent: *sent,
            received: *received,
            loss: loss / 100.0,
            jain: jain.first().copied(),
        })
    }
}

impl Tables {
    fn settings(&self, scale: Scale) -> &'static [Setting] {
        &self.settings[scale.pick(self.left_out, 0)..]
    }

    fn swept(&self, scale: Scale) -> &'static [u64] {
        scale.pick(self.swept[0], self.swept[1])
    }

    /// Every setting with every controller and seed, and then the buffers.
    pub(super) fn cases(&self, scale: Scale) -> Vec<Case> {
        let mut cases = Vec::new();
        for setting in self.settings(scale) {
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
            let others = self.swept(scale).iter();
            for &buffer in others.filter(|&&buffer| buffer != buffer::CHOSEN) {
                for controller in buffer::SENSITIVE {
                    add(buffer, controller, 1);
                }
            }
        }
        cases
    }

    /// The section of the report.
    pub(super) fn report(
        &self,
        scale: Scale,
        runs: &Runs<'_, Case, Run>,
        mut section: Section,
    ) -> Section {
        let measured = Measured {
            settings: self.settings(scale),
            swept: self.swept(scale),
            runs,
        };
        for setting in measured.settings {
            section = verdicts::against_bbr(section, setting, &measured);
        }
        let swept = !measured.swept.is_empty();
        if swept {
            section = buffer::rates(section, &measured, self.shown);
        }
        section = section.table(measured.rates()).table(measured.losses());
        section = section.table(if swept {
            buffer::table(&measured)
        } else {
            measured.fairness()
        });
        (self.last)(section.note(verdicts::THROUGHPUT), &measured)
    }
}

/// What came of the settings.
pub(super) struct Measured<'a> {
    pub(super) settings: &'static [Setting],
    /// The buffers that were tried.
    pub(super) swept: &'static [u64],
    runs: &'a Runs<'a, Case, Run>,
}

impl<'a> Measured<'a> {
    /// The runs of a controller in a setting, with this buffer.
    pub(super) fn of(
        &self,
        setting: &Setting,
        controller: &str,
        buffer: u64,
    ) -> Runs<'a, Case, Run> {
        let network = setting.network(buffer);
        self.runs.only(|case| {
            case.network == network && case.flows == setting.flows && case.controller == controller
        })
    }

    /// Those with the buffer that was chosen.
    pub(super) fn chosen(&self, setting: &Setting, controller: &str) -> Runs<'a, Case, Run> {
        self.of(setting, controller, buffer::CHOSEN)
    }

    /// A figure of `ebcc` as a part of `bbr`'s: the geometric mean over the seeds.
    pub(super) fn against_bbr(&self, setting: &Setting, figure: fn(&Run) -> f64) -> f64 {
        let bbr = self.chosen(setting, "bbr");
        self.chosen(setting, "ebcc:paper").ratio(&bbr, figure)
    }

    /// Rates sent and received, per flow.
    fn rates(&self) -> Table {
        let pair = |sent, received| format!("{}/{}", number(sent), number(received));
        self.table(
            "Sent/received per flow in Mb/s",
            |paper| pair(paper.sent, paper.received),
            |runs| {
                let [sent, received] = [|run: &Run| run.sent, |run: &Run| run.received];
                pair(runs.over(sent).mean, runs.over(received).mean)
            },
        )
    }

    /// Losses.
    fn losses(&self) -> Table {
        self.table(
            "Loss",
            |paper| percent(paper.loss),
            |runs| runs.over(|run| run.loss).text(percent),
        )
    }

    /// Jain's index.
    fn fairness(&self) -> Table {
        let print = |value: f64| format!("{value:.3}");
        self.table(
            "Jain's index",
            |paper| paper.jain.map_or_else(|| "-".to_owned(), print),
            |runs| runs.over(|run| run.jain).text(print),
        )
    }

    fn table(
        &self,
        what: &str,
        paper: impl Fn(Figures) -> String,
        ours: impl Fn(&Runs<'_, Case, Run>) -> String,
    ) -> Table {
        let packets = buffer::CHOSEN;
        let caption =
            format!("{what}, buffer of {packets} packets: means over the seeds (least to largest)");
        let labels = self
            .settings
            .iter()
            .flat_map(|setting| [setting.label, "paper"]);
        let header: Vec<&str> = ["controller"].into_iter().chain(labels).collect();
        let mut table = Table::new(caption, &header);
        for name in CONTROLLERS {
            let cells = self.settings.iter().flat_map(|setting| {
                let paper = setting.paper(name).map_or_else(|| "-".to_owned(), &paper);
                [ours(&self.chosen(setting, name)), paper]
            });
            table.row([code(name)].into_iter().chain(cells));
        }
        table
    }
}
