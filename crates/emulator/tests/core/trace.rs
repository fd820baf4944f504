//! Rules 1 and 2: what a trace is, and how it repeats.

use kneepoint_emulator::time::Nanos;
use kneepoint_emulator::trace::{OPPORTUNITY_BYTES, Trace, TraceError};

use crate::common::ms;

#[test]
fn bad_texts_are_rejected_with_their_line_and_value() {
    let long = "9".repeat(100);
    let cut = format!(
        "t:1: \"{}\" is not a whole number of milliseconds",
        &long[..40]
    );
    // A trace, in which \n ends a line, and why it is refused.
    let cases = r#"
 => t: the trace is empty
\n => t:1: empty line
1\n\n2\n => t:2: empty line
1\n2\n\n => t:3: empty line
5\n4\n => t:2: 4 ms comes after 5 ms, but times must not decrease
0\n => t:1: the last time is 0 ms, but it is the trace's period and must be positive
0\n0 => t:2: the last time is 0 ms, but it is the trace's period and must be positive
1\nx\n => t:2: "x" is not a whole number of milliseconds
-1\n => t:1: "-1" is not a whole number of milliseconds
+1\n => t:1: "+1" is not a whole number of milliseconds
 1\n => t:1: " 1" is not a whole number of milliseconds
1.5\n => t:1: "1.5" is not a whole number of milliseconds
18446744073709551616\n => t:1: "18446744073709551616" is not a whole number of milliseconds
"#;
    let cases = cases.lines().filter_map(|case| case.split_once(" => "));
    let cases = cases.map(|(text, message)| (text.replace("\\n", "\n"), message));
    for (text, message) in cases.chain([(long.clone(), cut.as_str())]) {
        let error = Trace::parse(&text, "t").unwrap_err();
        assert_eq!(error.to_string(), message, "{text:?}");
    }
    let error = Trace::parse(b"1\n\xff\n", "t").unwrap_err();
    assert!(matches!(error, TraceError::NotANumber { line: 2, .. }));
}

#[test]
fn good_texts() {
    for (text, millis) in [
        ("1\n", &[1][..]),
        ("\u{feff}1\n", &[1]),
        ("1", &[1]),
        ("1\r\n2\r\n", &[1, 2]),
        ("0\n0\n7\n7", &[0, 0, 7, 7]),
        ("007\n", &[7]),
        ("18446744073709551615\n", &[u64::MAX]),
    ] {
        assert_eq!(
            Trace::parse(text, "t").unwrap().millis(),
            millis,
            "{text:?}"
        );
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Trace::load("no/such.trace").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot read trace no/such.trace: "),
        "{error}"
    );
}

#[test]
fn a_trace_repeats_after_its_last_entry() {
    for (text, first) in [
        ("0\n1\n", &[0, 1, 1, 2, 2, 3, 3][..]),
        ("1\n", &[1, 2, 3, 4]),
        ("3\n3\n", &[3, 3, 6, 6, 9]),
        ("2\n5\n", &[2, 5, 7, 10, 12, 15]),
        ("0\n0\n10\n", &[0, 0, 10, 10, 10, 20, 20, 20]),
    ] {
        let trace = Trace::parse(text, "t").unwrap();
        let times: Vec<Nanos> = trace.opportunities().take(first.len()).collect();
        assert_eq!(
            times,
            first.iter().map(|time| ms(*time)).collect::<Vec<_>>(),
            "{text:?}"
        );
    }
    // Started at 45 ms, as mahimahi's base timestamp: 45; 46, 46; 47, 47.
    let trace = Trace::parse("0\n1", "t").unwrap();
    let times: Vec<Nanos> = trace
        .opportunities()
        .take(5)
        .map(|time| ms(45) + time)
        .collect();
    assert_eq!(times, [45, 46, 46, 47, 47].map(ms));
    let after: Vec<Nanos> = trace.opportunities_after(ms(1)).take(2).collect();
    assert_eq!(after, [2, 2].map(ms));
}

#[test]
fn capacity_counts_opportunities_after_the_start_up_to_the_end() {
    let trace = Trace::parse("0\n0\n10\n", "t").unwrap();
    for (from, to, opportunities) in [
        (0, 0, 0),
        (0, 9, 0),
        (0, 10, 3),
        (10, 10, 0),
        (9, 10, 3),
        (10, 20, 3),
        (0, 100, 30),
        (20, 10, 0),
    ] {
        let expected = opportunities * OPPORTUNITY_BYTES;
        assert_eq!(trace.capacity(ms(from), ms(to)), expected, "({from}, {to}]");
    }
    assert_eq!(
        trace.capacity(Nanos(9_999_999), Nanos(10_000_000)),
        3 * OPPORTUNITY_BYTES
    );
    assert_eq!(trace.capacity(Nanos(9_999_998), Nanos(9_999_999)), 0);
    assert_eq!(trace.period(), ms(10));
    assert!((trace.mean_rate() - 3.0 * 1504.0 * 100.0).abs() < 1e-6);
}

#[test]
fn time_ends_without_overflow() {
    let late = Trace::parse(u64::MAX.to_string(), "t").unwrap();
    assert_eq!(late.opportunities().next(), None);
    assert_eq!(late.capacity(Nanos::ZERO, Nanos::MAX), 0);
    let often = Trace::from_millis(vec![1; 1_000_000], "t").unwrap();
    assert!(often.capacity(Nanos::ZERO, Nanos::MAX) > 0);
    assert_eq!(often.opportunities_after(Nanos::MAX).next(), None);
    assert_eq!(often.opportunities().nth(2_000_000), Some(ms(3)));
    assert_eq!(
        often.opportunities().nth(usize::MAX),
        often.opportunities().nth(usize::MAX)
    );
}
