//! Both programs run, what they say they learned is learned, and each is one file of under 60 lines.
#![allow(clippy::panic, clippy::unwrap_used, missing_docs)]

use std::process::Command;

const PROGRAMS: [&str; 2] = [
    include_str!("../src/bin/hand_over.rs"),
    include_str!("../src/bin/own_loop.rs"),
];

/// Runs a program in a folder of its own, where it leaves its library; what it prints.
fn run(program: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let run = Command::new(program)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{errors}");
    assert!(folder.path().join("library/library.db").is_file());
    String::from_utf8(run.stdout).unwrap()
}

/// The share of attempts that were done, as a report's line gives it, in percent.
fn share_done(report: &str) -> f64 {
    let (_, rest) = report.split_once("done: ").unwrap();
    rest.split_once('%').unwrap().0.parse().unwrap()
}

#[test]
fn handed_over_tasks_are_learned_from() {
    let said = run(env!("CARGO_BIN_EXE_hand_over"));
    let (before, after) = said.split_once("after: ").unwrap();
    let (before_done, after_done) = (share_done(before), share_done(after));
    assert!(before_done < 90.0 && after_done == 100.0, "{said}");
    let no_skill = "with a skill in the prompt: 0 attempts";
    assert!(
        before.contains(no_skill) && !after.contains(no_skill),
        "{said}"
    );
}

#[test]
fn the_own_loop_learns_from_its_first_tasks() {
    let said = run(env!("CARGO_BIN_EXE_own_loop"));
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("task "))
        .collect();
    assert_eq!(lines.len(), 20, "{said}");
    let refused = |line: &&&str| line.contains(": 1 calls refused");
    let (first, last) = lines.split_at(10);
    assert!(
        refused(&&lines[0]) && lines[0].ends_with("with a skill: false"),
        "{said}"
    );
    let (before, after) = (
        first.iter().filter(refused).count(),
        last.iter().filter(refused).count(),
    );
    assert!(after < before, "{before} refusals, then {after}:\n{said}");
    for line in lines
        .iter()
        .filter(|line| line.ends_with("with a skill: true"))
    {
        assert!(line.contains(": 0 calls refused"), "{line}");
    }
    assert!(
        last.iter().filter(|line| line.ends_with("true")).count() >= 8,
        "{said}"
    );
}

#[test]
fn each_program_is_one_file_of_under_sixty_lines() {
    for program in PROGRAMS {
        let lines = program.lines().count();
        assert!(lines < 60, "{lines} lines");
    }
}
