//! Chat templates of families of models: renderings and answers against recordings of the reference implementation, as the tests
//! of `adapters/llama-cpp` compare them.

use std::process::Command;

use crate::{
    adapters::external,
    figures::{Bound, Figures, Outcome},
};

/// Conversations of kept templates and of those that `record.sh` fetches without a folder.
const CONVERSATIONS: usize = 620;
/// Recorded answers with calls, of the same.
const ANSWERS: usize = 112;
/// Names the folder of the fetched templates.
const FETCHED: &str = "JOURNEYMAN_TEMPLATES";

/// Measures and records. What was not compared counts as different.
pub(super) fn record(figures: &mut Figures<'_>) -> Outcome {
    if external::set_up(FETCHED).is_none() {
        figures.progress(format_args!(
            "the fetched templates are missing: export {FETCHED}=$(bash adapters/llama-cpp/tests/templates/record.sh)"
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
    // `WHAT: SAME of ALL`, in several tests.
    let missing = |what: &str, least: usize| {
        let counts = said
            .lines()
            .filter_map(|line| line.trim().strip_prefix(what)?.split_once(" of "));
        let sum = |(same, all): (usize, usize), (s, a): (&str, &str)| {
            let number = |text: &str| text.trim().parse::<usize>().unwrap_or(0);
            (same + number(s), all + number(a))
        };
        let (same, all) = counts.fold((0, 0), sum);
        all.max(least).saturating_sub(same) as f64
    };
    figures.record(
        "template families: conversations that are rendered otherwise than by the reference, or not compared",
        missing("rendered as by the reference: ", CONVERSATIONS),
        Bound::AtMost(0.0),
    );
    figures.record(
        "template families: answers that are read otherwise than they were meant, or not compared",
        missing("read as they were meant: ", ANSWERS),
        Bound::AtMost(0.0),
    );
    Ok(())
}
