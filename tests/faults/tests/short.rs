//! The short pass of each scenario, with a seed that is new in each run and said when it fails.
#![allow(clippy::unwrap_used, missing_docs)]

use std::process::Command;

fn check(scenario: &str) {
    let run = Command::new(env!("CARGO_BIN_EXE_faults"))
        .arg(scenario)
        .output()
        .unwrap();
    let lines = String::from_utf8_lossy(&run.stdout);
    let progress = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{lines}{progress}");
    assert!(lines.contains(", ok"), "no figures: {progress}");
}

#[test]
fn kills() {
    check("F1");
}

#[test]
fn a_loss_of_power() {
    check("F2");
}

#[test]
fn damages() {
    check("F3");
}

#[test]
fn many_writers() {
    check("F4");
}

#[test]
fn many_openers() {
    check("F5");
}

#[test]
fn a_full_disk() {
    check("F6");
}

#[test]
fn failing_syncs() {
    check("F7");
}

#[test]
fn a_persons_edits_during_writes() {
    check("F8");
}

#[test]
fn folders_that_are_gone() {
    check("F9");
}
