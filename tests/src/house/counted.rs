//! The house in numbers: lines, files, public names, circles of imports, examples.

use crate::{
    figures::{Bound, Figures, Outcome},
    source::{Imports, Sources, blank_tests, mask, names},
};

/// Lines and files of `sdk/src/run`, and public items of `sdk/src`, those of private modules too, on commit `ed4ed64`, before the rebuilding.
const BEFORE: [(&str, f64); 3] = [
    ("lines of run", 9_297.0),
    ("files of run", 53.0),
    ("public items", 791.0),
];

/// The parts of `run`; its reports, which left it and came back as a module of their own, count below.
const RUN: [&str; 4] = [
    "sdk/src/run/mod.rs",
    "sdk/src/run/machine/",
    "sdk/src/run/driver/",
    "sdk/src/run/host/",
];

/// The policies that left `run` for their stations, as whole files where they were joined with others.
const LEFT: [&str; 27] = [
    "sdk/src/stations/select/candidates.rs",
    "sdk/src/stations/propose/write_policy.rs",
    "sdk/src/stations/admit/admission.rs",
    "sdk/src/stations/maintain/",
    "sdk/src/policy/",
    "sdk/src/run/report/",
    "sdk/src/papers/arise/gains.rs",
    "sdk/src/papers/hisme/across_tasks.rs",
    "sdk/src/papers/hisme/bundles",
    "sdk/src/papers/hisme/filter.rs",
    "sdk/src/papers/hisme/micro.rs",
    "sdk/src/papers/hisme/options.rs",
    "sdk/src/papers/hisme/overlaps.rs",
    "sdk/src/papers/hisme/refactor",
    "sdk/src/papers/hisme/refinement",
    "sdk/src/papers/hisme/rules",
    "sdk/src/papers/hisme/support.rs",
    "sdk/src/papers/scribe/host.rs",
    "sdk/src/papers/scribe/plan_runs.rs",
    "sdk/src/papers/scribe/subgoal_rollouts.rs",
    "sdk/src/papers/scribe/upkeep.rs",
    "sdk/src/papers/skillos/review.rs",
    "sdk/src/papers/skillos/rollouts.rs",
    "sdk/src/papers/skillos/tagging.rs",
    "sdk/src/papers/skillrl/admission.rs",
    "sdk/src/papers/skillrl/bank.rs",
    "sdk/src/papers/skillrl/host.rs",
];

/// The files that a task passes from `learn` to its commit, with the recipe `standard`: listed by hand. Values alone (`domain`, `report`) are
/// left out, and so is, from the first list on, what these files call for a result: the order of candidates (`stations/retrieve`), scores
/// (`run/driver/scores.rs`), the place and the identity of a drafted skill (`stations/admit/placement.rs`, `identity.rs`).
pub(super) const PASSED: [&str; 27] = [
    "run/host/journeyman.rs",
    "run/host/session.rs",
    "run/driver/drive.rs",
    "run/machine/run_machine.rs",
    "run/machine/effect.rs",
    "run/machine/task_machine.rs",
    "run/machine/attempts.rs",
    "policy/view.rs",
    "stations/select/candidates.rs",
    "stations/select/gate.rs",
    "policy/questions.rs",
    "run/driver/perform.rs",
    "run/driver/performer.rs",
    "run/driver/redaction.rs",
    "run/driver/attempt.rs",
    "stations/inject/render.rs",
    "run/machine/fold.rs",
    "stations/reward/levels.rs",
    "stations/propose/write_policy.rs",
    "stations/admit/admission.rs",
    "stations/admit/draft.rs",
    "stations/credit/rules.rs",
    "run/machine/journal.rs",
    "policy/program/running.rs",
    "policy/checks.rs",
    "stations/maintain/live.rs",
    "library/fold.rs",
];

/// The types that a host meets first: the contracts, the front, the recipe, and the main type of each station.
const PRINCIPAL: [&str; 32] = [
    "Executor",
    "Environment",
    "Judge",
    "LanguageModel",
    "Scorer",
    "Tokenizer",
    "Embedder",
    "Retriever",
    "SkillStore",
    "Journal",
    "Clock",
    "PromptFormat",
    "Guidance",
    "Roles",
    "SkillFiles",
    "Journeyman",
    "AttemptHandle",
    "Options",
    "Components",
    "Recipe",
    "RunMachine",
    "Policies",
    "SkillLibrary",
    "Skill",
    "Policy",
    "RankWeights",
    "HierarchicalReward",
    "WritePolicy",
    "AdmitPolicy",
    "CreditPolicy",
    "Maintenance",
    "ProxyGain",
];

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let sources = Sources::list()?;
    let files = sources.rust("sdk/src/")?;
    let lines = |starts: &[&str]| {
        let chosen = files
            .iter()
            .filter(|(path, _)| starts.iter().any(|start| path.starts_with(start)));
        chosen.map(|(_, text)| text.lines().count()).sum::<usize>() as f64
    };
    for (what, before) in BEFORE {
        figures.record(&format!("{what}, before"), before, Bound::None);
    }
    let run = files
        .iter()
        .filter(|(path, _)| RUN.iter().any(|part| path.starts_with(part)));
    figures.record("files of run", run.count() as f64, Bound::None);
    figures.record("lines of run", lines(&RUN), Bound::None);
    figures.record(
        "lines of the policies that left it",
        lines(&LEFT),
        Bound::None,
    );

    let missing = PASSED
        .iter()
        .filter(|passed| !files.iter().any(|(path, _)| path.ends_with(*passed)));
    figures.record(
        "files that a task passes",
        PASSED.len() as f64,
        Bound::AtMost(34.0),
    );
    figures.record("of these, gone", missing.count() as f64, Bound::AtMost(0.0));

    let public: usize = files.iter().map(|(_, text)| public_names(text)).sum();
    figures.record("public items", public as f64, Bound::None);

    figures.record(
        "circles of imports",
        circles(&sources)? as f64,
        Bound::AtMost(0.0),
    );

    let examples: usize = files.iter().map(|(_, text)| examples(text)).sum();
    figures.record("examples that run", examples as f64, Bound::None);
    let without: Vec<&str> = PRINCIPAL
        .into_iter()
        .filter(|name| !files.iter().any(|(_, text)| has_example(text, name)))
        .collect();
    for name in &without {
        figures.progress(format_args!("no example: {name}"));
    }
    figures.record("principal types", PRINCIPAL.len() as f64, Bound::None);
    figures.record(
        "principal types without an example",
        without.len() as f64,
        Bound::AtMost(0.0),
    );
    Ok(())
}

/// Circles of imports among the files of the SDK, of adapters and of the laboratory's world.
fn circles(sources: &Sources) -> std::io::Result<usize> {
    let mut circles = 0;
    let folders = [
        "sdk/src/",
        "adapters/cli/src/",
        "adapters/disk/src/",
        "adapters/experiment/src/",
        "adapters/llama-cpp/src/",
        "adapters/tantivy/src/",
        "tests/lab/toolworld/src/",
    ];
    for folder in folders {
        let files = sources.rust(folder)?;
        let files = files
            .iter()
            .map(|(path, text)| (path.trim_start_matches(folder), text.as_str()));
        circles += Imports::of(files).circles().len();
    }
    Ok(circles)
}

/// Public items of a file outside its tests.
fn public_names(text: &str) -> usize {
    const KEYWORDS: [&str; 6] = ["fn", "struct", "enum", "trait", "type", "const"];
    let (code, _) = blank_tests(&mask(text));
    let lines: Vec<&str> = code.lines().collect();
    let is_public = |line: usize| {
        let line = lines.get(line.saturating_sub(1)).copied();
        line.is_some_and(|line| line.trim_start().starts_with("pub "))
    };
    let found = names(&code, &KEYWORDS);
    found.iter().filter(|(line, _)| is_public(*line)).count()
}

/// Whether a block of documentation opens an example that is compiled and run.
fn opens(line: &str) -> bool {
    let text = line.trim_start();
    let text = text
        .strip_prefix("///")
        .or(text.strip_prefix("//!"))
        .map(str::trim);
    text == Some("```")
}

fn examples(text: &str) -> usize {
    // Blocks open and close alike, and one with another label is not run.
    let mut inside = None;
    let mut count = 0;
    for line in text.lines() {
        let text = line.trim_start();
        let is_doc = text.starts_with("///") || text.starts_with("//!");
        let fence = is_doc
            && text
                .trim_start_matches(['/', '!'])
                .trim()
                .starts_with("```");
        match (fence, inside) {
            (true, None) => inside = Some(opens(line)),
            (true, Some(runs)) => {
                count += usize::from(runs);
                inside = None;
            }
            _ => {}
        }
    }
    count
}

/// Whether the documentation of a public type or trait has an example.
fn has_example(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let is_it = |line: &str| {
        let rest = line
            .strip_prefix("pub struct ")
            .or(line.strip_prefix("pub enum "))
            .or(line.strip_prefix("pub trait "));
        let rest = rest.and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    (0..lines.len()).filter(|at| is_it(lines[*at])).any(|at| {
        let above = lines[..at].iter().rev();
        let mut above = above.take_while(|line| {
            let line = line.trim_start();
            line.starts_with("///") || line.starts_with("#[") || line.starts_with(')')
        });
        above.any(|line| opens(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Further types that users meet: values, reports, options, and the traits of policies.
    const MET: [&str; 68] = [
        "Action",
        "AddFate",
        "AddReport",
        "AdmitRule",
        "Applied",
        "Attempt",
        "AttemptPolicy",
        "AttemptReport",
        "ComparePolicy",
        "CreditRule",
        "Decision",
        "DecisionCost",
        "Duplicates",
        "Entry",
        "Episode",
        "Error",
        "ErrorKind",
        "Event",
        "EventKind",
        "Events",
        "Finding",
        "FindingKind",
        "FnEnvironment",
        "GateCalibration",
        "GateInForce",
        "GatePolicy",
        "GenerateRequest",
        "HarmBound",
        "Injection",
        "JudgedAttempt",
        "LiftPolicy",
        "LiftReport",
        "Lifts",
        "Limits",
        "MaintenanceProgram",
        "Message",
        "ModelCapabilities",
        "NothingReason",
        "Observation",
        "Outcome",
        "Prompt",
        "Recovered",
        "Retirement",
        "Retry",
        "RewardRule",
        "Role",
        "RunFilter",
        "RunReport",
        "SelectProgram",
        "Selection",
        "SkillDraft",
        "SkillRef",
        "Source",
        "State",
        "Step",
        "StepResult",
        "Task",
        "TaskReport",
        "TierPolicy",
        "TokenSink",
        "ToolCall",
        "ToolDefinition",
        "Transition",
        "Usage",
        "Verdict",
        "Withhold",
        "WriteProgram",
        "WriteWhen",
    ];

    #[test]
    fn types_that_users_meet_have_an_example() {
        let sources = Sources::list().unwrap();
        let files = sources.rust("sdk/src/").unwrap();
        let is_shown = |name: &str| files.iter().any(|(_, text)| has_example(text, name));
        let without: Vec<&str> = MET.into_iter().filter(|name| !is_shown(name)).collect();
        assert!(without.is_empty(), "no example that runs: {without:?}");
    }
}
