//! The programs run, on a scripted model or on the one that they name; what they say they learned is learned, and each is one file
//! of few lines that needs nothing but published crates.

use std::{collections::BTreeSet, process::Command};

use journeyman_disk::LibraryReader;

const SHORTEST: &str = include_str!("../../src/bin/shortest.rs");
const PROGRAMS: [&str; 2] = [
    include_str!("../../src/bin/hand_over.rs"),
    include_str!("../../src/bin/own_loop.rs"),
];

/// Runs a program in a folder of its own, where it leaves a library that opens again; what it prints.
fn run(program: &mut Command) -> String {
    let folder = tempfile::tempdir().unwrap();
    let run = program.current_dir(folder.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{errors}");
    LibraryReader::open(&folder.path().join("library")).unwrap();
    String::from_utf8(run.stdout).unwrap()
}

/// The same for a program on the scripted model.
fn run_scripted(program: &str) -> String {
    run(Command::new(env!("CARGO_BIN_EXE_scripted")).arg(program))
}

/// The share of attempts that were done, as a report's line gives it, in percent.
fn share_done(report: &str) -> f64 {
    let (_, rest) = report.split_once("done: ").unwrap();
    rest.split_once('%').unwrap().0.parse().unwrap()
}

/// Before and after learning, as a program prints them.
fn check_learned(program: &str) {
    let said = run_scripted(program);
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
fn handed_over_tasks_are_learned_from() {
    check_learned("hand_over");
}

#[test]
fn the_shortest_host_learns() {
    check_learned("shortest");
}

/// The README's program, with the public model that it names, which is fetched at the first run. The README promises no learning of
/// that model.
#[test]
fn the_program_of_the_readme_runs() {
    let said = run(&mut Command::new(env!("CARGO_BIN_EXE_first")));
    let lines: Vec<&str> = said.lines().collect();
    let is_note = |line: &&&str| line.starts_with("note: ");
    let notes = lines.iter().rev().take_while(is_note).count();
    let lines = &lines[..lines.len() - notes];
    assert_eq!(lines.len(), 8, "{said}");
    // No skill is there yet.
    assert_eq!(lines[0], "task 0: 3 calls");
    for (number, line) in lines.iter().enumerate() {
        let calls = [2, 3].map(|calls| format!("task {number}: {calls} calls"));
        assert!(calls.iter().any(|expect| expect == line), "{said}");
    }
}

/// The README's second command.
#[test]
fn the_own_loop_learns_from_its_first_tasks() {
    let said = run_scripted("own_loop");
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

/// Blank lines and the file's own documentation do not count.
#[test]
fn the_shortest_host_has_at_most_25_lines() {
    let code = SHORTEST.lines().filter(|line| !line.starts_with("//!"));
    let lines = code.filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 25, "{lines} lines");
}

/// Crates that a program names, by the first part of each path in it.
fn crates(program: &str) -> BTreeSet<&str> {
    let starts = program.match_indices("::").map(|(at, _)| {
        let before = &program[..at];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = before.rsplit(|c: char| !is_name(c)).next().unwrap();
        let is_first = !before[..before.len() - name.len()].ends_with("::");
        (name, is_first)
    });
    let is_crate = |name: &str| name.starts_with(|c: char| c.is_ascii_lowercase());
    let first = starts.filter(|(name, is_first)| *is_first && is_crate(name));
    first.map(|(name, _)| name).collect()
}

/// A copy of one file compiles with the crates that the page names.
#[test]
fn each_program_needs_nothing_but_the_crates_of_the_page() {
    let page = include_str!("../../../../docs/tutorial/own-loop.md");
    // The standard library and its types, the linter, and modules of the SDK.
    let known = ["std", "usize", "clippy", "contract", "prelude", "recipe"];
    for program in PROGRAMS {
        let named = crates(program);
        assert!(named.contains("journeyman_llama_cpp"), "{named:?}");
        for name in named.into_iter().filter(|name| !known.contains(name)) {
            let is_listed = [name.to_owned(), name.replace('_', "-")]
                .iter()
                .any(|package| page.contains(&format!("\n{package} = ")));
            assert!(is_listed, "the page does not list {name}");
        }
    }
    assert_eq!(
        crates("use host::{a::b}; Arc::new(c::d())"),
        BTreeSet::from(["a", "c", "host"])
    );
}

/// Two lines of a manifest: the crate with the parts, and the runtime.
#[test]
fn the_shortest_host_needs_two_crates() {
    let mut named = crates(SHORTEST);
    // The linter, and names of the crate with the parts.
    for known in ["clippy", "tool"] {
        named.remove(known);
    }
    assert_eq!(named, BTreeSet::from(["journeyman_local", "tokio"]));
    let page = include_str!("../../../../docs/tutorial/hand-over-tasks.md");
    let (_, manifest) = page.split_once("```toml\n").unwrap();
    let (manifest, _) = manifest.split_once("```").unwrap();
    let lines = manifest.lines().filter(|line| line.contains(" = "));
    let listed: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(listed, ["journeyman-local", "tokio"]);
}

#[test]
fn a_model_that_is_not_there_is_an_error_of_each() {
    for program in [
        env!("CARGO_BIN_EXE_shortest"),
        env!("CARGO_BIN_EXE_hand_over"),
        env!("CARGO_BIN_EXE_own_loop"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let run = Command::new(program).current_dir(folder.path()).output();
        let run = run.unwrap();
        assert_eq!(run.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(errors.contains("model.gguf"), "{errors}");
    }
}
