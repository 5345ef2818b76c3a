//! Chat templates of families of models: renderings and answers against recordings of the reference implementation, as the tests
//! of `adapters/llama-cpp` compare them.

use std::process::Command;

use crate::{
    adapters::external,
    figures::{Bound, Figures, Outcome},
};

/// Conversations of the table, of kept templates and of fetched ones.
const CONVERSATIONS: usize = 70;
/// Recorded answers with calls.
const ANSWERS: usize = 13;
/// Names the folder of the fetched templates.
const FETCHED: &str = "JOURNEYMAN_TEMPLATES";

/// Measures and records. What was not compared counts as different.
pub(crate) fn run(figures: &mut Figures<'_>) -> Outcome {
    if external::set_up(FETCHED).is_none() {
        figures.progress(format_args!(
            "four of nine families are missing: export {FETCHED}=$(bash adapters/llama-cpp/tests/templates/record.sh)"
        ));
    }
    figures.progress(format_args!("template families"));
    let mut command = Command::new("cargo");
    command.args(["nextest", "run", "--workspace", "--lib", "--no-fail-fast"]);
    command.args(["--color", "never", "--run-ignored", "all", "--no-capture"]);
    let families = "package(journeyman-llama-cpp) and test(template::tests::families)";
    command.args(["-E", families]);
    let ended = external::run(command)?;
    let said = format!("{}\n{}", ended.out, ended.err);
    let counted = |what: &str| -> usize {
        let counts = said
            .lines()
            .filter_map(|line| line.trim().strip_prefix(what));
        counts.filter_map(|count| count.parse::<usize>().ok()).sum()
    };
    let different = |of: usize, what: &str| of.saturating_sub(counted(what)) as f64;
    figures.record(
        "template families: conversations of 70 that are rendered otherwise than by the reference, or not compared",
        different(CONVERSATIONS, "rendered as by the reference: "),
        Bound::AtMost(0.0),
    );
    figures.record(
        "template families: answers of 13 that are read otherwise than they were meant, or not compared",
        different(ANSWERS, "read as they were meant: "),
        Bound::AtMost(0.0),
    );
    Ok(())
}
