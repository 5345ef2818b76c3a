use std::num::NonZeroU32;

use journeyman::{Error, domain::SkillUse, recipe};

use crate::{
    arm::{Arm, Sweep},
    failure::Failure,
    plan::{CellId, Conditions, Plan},
    report::Report,
    result::{CellResult, Checkpoint, HeldOut, LibraryPoint, StreamTask, Written},
    store::Saved,
    summary::{Metric, Results},
};

/// A plan of two arms and a third by a sweep.
fn two() -> Plan {
    let learning = Arm::new("learning", recipe::standard());
    let mut swept = learning.clone();
    swept.name = "learning, group=2".to_owned();
    swept.description = "standard, attempts.group = 2".to_owned();
    swept.recipe.attempts.group = const { NonZeroU32::new(2).unwrap() };
    let world = "toolworld with 16 hidden contracts and 8 plain tools, at most 8 steps an attempt";
    let conditions = Conditions::new("apprentice@0123", world);
    let arms = vec![Arm::without_skills("no skills"), learning, swept];
    let sweep = Sweep {
        arm: "learning".to_owned(),
        path: "attempts.group".to_owned(),
        values: vec![(2.into(), 2)],
    };
    Plan {
        stream: 2,
        held_out: 4,
        checkpoints: 2,
        sweeps: vec![sweep],
        ..Plan::new("two", conditions, arms)
    }
}

/// Four held-out tasks: the first `done` succeed, every second one is hidden.
fn checkpoint(learned: u64, done: usize, tokens: u64) -> Checkpoint {
    let task = |at: usize| HeldOut {
        task: format!("task {at}"),
        hidden: at.is_multiple_of(2),
        first: at < done,
        success: at < done,
        score: 1.0,
        reward: None,
        injected: at < done && learned > 0,
        used: SkillUse::Unknown,
        steps: 2,
        prompt_tokens: tokens,
        output_tokens: 10,
    };
    Checkpoint {
        learned,
        revision: learned,
        tasks: (0..4).map(task).collect(),
    }
}

fn point(learned: u64, skills: usize) -> LibraryPoint {
    LibraryPoint {
        learned,
        tiers: [("cache".to_owned(), skills)].into(),
        states: [("active".to_owned(), skills)].into(),
        deleted: 0,
        changes: [("added".to_owned(), skills.min(1))].into(),
    }
}

fn streamed(at: usize) -> StreamTask {
    StreamTask {
        task: format!("stream {at}"),
        hidden: true,
        failed: 0,
        attempts: 4,
        first: at,
        success: 2,
        injected: at,
        followed: 0,
        use_unknown: at,
        score: 0.5,
        reward: None,
        prompt_tokens: 100,
        output_tokens: 20,
        written: vec![Written {
            admitted: true,
            revised: false,
            drafted: true,
            fallback: at == 1,
            refused: None,
        }],
    }
}

/// A cell in which `before` of the four held-out tasks succeed before the stream, and `after` of them later.
fn learned(before: usize, after: usize, skills: usize) -> CellResult {
    CellResult {
        checkpoints: vec![
            checkpoint(0, before, 100),
            checkpoint(1, after, 110),
            checkpoint(2, after, 112),
        ],
        stream: vec![streamed(0), streamed(1)],
        library: vec![point(0, 0), point(1, 1), point(2, skills)],
    }
}

fn still(done: usize) -> CellResult {
    CellResult {
        checkpoints: vec![checkpoint(0, done, 100)],
        stream: Vec::new(),
        library: vec![LibraryPoint::default()],
    }
}

fn add(results: &mut Results<'_>, arm: usize, seed: u64, result: CellResult) {
    let place = ("arm", seed);
    let key = ("key".to_owned(), "{}");
    results.add(arm, Saved::new(place, key, "build", seed as f64, result));
}

fn filled(plan: &Plan) -> Results<'_> {
    let mut results = Results::new(plan);
    add(&mut results, 0, 1, still(1));
    add(&mut results, 0, 2, still(0));
    add(&mut results, 1, 1, learned(1, 4, 2));
    add(&mut results, 1, 2, learned(0, 2, 1));
    add(&mut results, 2, 1, learned(1, 1, 1));
    results
}

#[test]
fn differences_are_paired_by_task_and_seed() {
    let plan = two();
    let mut results = filled(&plan);
    // 3 of 4 tasks more with the first seed, 2 of 4 with the second.
    let first = results.difference(1, Metric::First).unwrap();
    assert_eq!((first.mean, first.n), (0.625, 2));
    let (low, high) = first.interval().unwrap();
    assert!((low + 0.963_275).abs() < 1e-5 && (high - 2.213_275).abs() < 1e-5);
    // A seed that the baseline lacks is no pair.
    add(&mut results, 1, 3, learned(0, 4, 1));
    assert_eq!(results.difference(1, Metric::First), Some(first));
    let hidden = results.difference(2, Metric::Hidden).unwrap();
    assert_eq!((hidden.mean, hidden.n, hidden.interval()), (0.0, 1, None));
    let tokens = results.overhead(1, 0).unwrap();
    assert!((tokens.mean - 12.0 / 110.0).abs() < 1e-12);
    let curve: Vec<f64> = results
        .curve(0, Metric::First)
        .iter()
        .map(|point| point.0)
        .collect();
    assert_eq!(curve, [0.0, 1.0, 2.0]);
    let missing = results.missing();
    let missing: Vec<_> = missing.iter().map(|cell| (cell.arm, cell.seed)).collect();
    assert_eq!(missing, [(0, 3), (2, 2), (2, 3)]);
}

/// The report has not changed. After an intended change, replace the file by the text that the test prints.
#[test]
fn a_small_report() {
    let plan = two();
    let results = filled(&plan);
    let failed = [Failure {
        cell: CellId { arm: 2, seed: 2 },
        error: Error::invalid("test", "the model said <no> | more"),
    }];
    let report = Report::new(&results, &failed);
    let markdown = report.markdown();
    assert!(
        markdown == include_str!("report.md"),
        "report.md:\n{markdown}"
    );
    let svg = report.svg();
    assert!(svg == include_str!("report.svg"), "report.svg:\n{svg}");
}

#[test]
fn a_report_of_nothing_says_what_is_missing() {
    let plan = two();
    let results = Results::new(&plan);
    let report = Report::new(&results, &[]);
    let markdown = report.markdown();
    assert_eq!(markdown.matches("not run yet").count(), 9);
    assert!(markdown.contains("Cells (an arm with a seed): 0 of 9"));
    assert!(report.svg().contains("no cells are done that this needs"));
    let json = report.json();
    assert_eq!(
        json["arms"][1]["difference"]["first_attempt"],
        serde_json::Value::Null
    );
}
