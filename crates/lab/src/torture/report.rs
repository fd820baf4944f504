//! Tables of records.

use std::collections::BTreeMap;

use super::record::Record;
use crate::frontier::report::three;
use crate::output::table::table;

/// A table for each case and host, and one for all of them together.
pub fn report(records: &[Record]) -> String {
    let mut groups: Vec<(String, Vec<&Record>)> = Vec::new();
    for record in records {
        let Record {
            fault,
            scenario,
            host,
            ..
        } = record;
        let title = format!("{fault}: {scenario}, {host} hosts");
        match groups.iter_mut().find(|(known, _)| *known == title) {
            Some((_, members)) => members.push(record),
            None => groups.push((title, vec![record])),
        }
    }
    let tables: String = groups
        .iter()
        .map(|(title, records)| format!("{title}\n{}\n\n", each(records)))
        .collect();
    format!("{tables}all faults\n{}\n", summary(records))
}

/// A line for each run.
fn each(records: &[&Record]) -> String {
    let titles = [
        "controller",
        "silent\nms",
        "to 90 %\nms",
        "queue short\nafter RTTs",
        "queue\nmax ms",
        "queue max\nx base RTT",
        "lost\nkB",
        "bound",
    ];
    let lines = records.iter().map(|record| {
        vec![
            record.controller.clone(),
            optional(record.silent_ms),
            match &record.closed {
                Some(_) => "closed".to_owned(),
                None => record.regain_ms.map_or_else(|| "never".to_owned(), three),
            },
            record.calm_rtts.map_or_else(|| "never".to_owned(), three),
            three(record.queue_max_ms),
            three(record.queue_max_rtts),
            three(record.lost_bytes as f64 / 1e3),
            match record.kept {
                None => "-".to_owned(),
                Some(true) => "kept".to_owned(),
                Some(false) => "not kept".to_owned(),
            },
        ]
    });
    let closed: String = records
        .iter()
        .filter_map(|record| {
            let reason = record.closed.as_ref()?;
            Some(format!(
                "\n  {}: connection closed: {reason}",
                record.controller
            ))
        })
        .collect();
    format!("{}{closed}", table(titles, lines))
}

/// A line for each controller.
fn summary(records: &[Record]) -> String {
    let mut controllers: BTreeMap<&str, (usize, Vec<&Record>)> = BTreeMap::new();
    for (place, record) in records.iter().enumerate() {
        let entry = controllers
            .entry(&record.controller)
            .or_insert((place, Vec::new()));
        entry.1.push(record);
    }
    let mut rows: Vec<_> = controllers.into_iter().collect();
    rows.sort_by_key(|(_, (place, _))| *place);
    let titles = [
        "controller",
        "runs",
        "closed",
        "never\nat 90 %",
        "to 90 %\nmax ms",
        "queue max\nx base RTT",
        "bounds\nkept",
    ];
    let lines = rows.into_iter().map(|(controller, (_, runs))| {
        let count = |what: fn(&&&Record) -> bool| runs.iter().filter(what).count();
        let max = |value: fn(&Record) -> Option<f64>| {
            runs.iter()
                .filter_map(|record| value(record))
                .reduce(f64::max)
        };
        let bounds = count(|record| record.kept.is_some());
        vec![
            controller.to_owned(),
            runs.len().to_string(),
            count(|record| record.closed.is_some()).to_string(),
            count(|record| record.closed.is_none() && record.regain_ms.is_none()).to_string(),
            optional(max(|record| record.regain_ms)),
            optional(max(|record| Some(record.queue_max_rtts))),
            format!("{} of {bounds}", count(|record| record.kept == Some(true))),
        ]
    });
    table(titles, lines).to_string()
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), three)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::Fault;

    #[test]
    fn closed_connections_and_bounds_are_counted() {
        let record = |controller: &str, regain_ms, kept| Record {
            fault: Fault::Rate,
            scenario: "1 to 100".to_owned(),
            host: "ideal".to_owned(),
            controller: controller.to_owned(),
            closed: None,
            base_rtt_ms: 40.0,
            silent_ms: Some(12.0),
            regain_ms,
            calm_rtts: None,
            queue_max_ms: 80.0,
            queue_max_rtts: 2.0,
            lost_bytes: 1500,
            kept,
        };
        let mut records = [
            record("knee", Some(150.0), Some(true)),
            record("cubic", None, Some(false)),
        ];
        records[1].closed = Some("timed out".to_owned());
        let text = report(&records);
        for part in [
            "rate: 1 to 100, ideal hosts",
            "cubic: connection closed: timed out",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // The last line of a controller is that of the summary.
        let line = |controller: &str| {
            let mut lines = text.lines().rev().map(str::trim);
            let line = lines.find(|line| line.starts_with(controller) && !line.contains(':'));
            line.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        assert_eq!(line("knee").as_deref(), Some("knee 1 0 0 150 2.000 1 of 1"));
        assert_eq!(line("cubic").as_deref(), Some("cubic 1 1 0 - 2.000 0 of 1"));
    }
}
