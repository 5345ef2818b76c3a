//! A session that says when the scores of its decisions are no longer those that the gate's threshold was fitted on.

use journeyman::{
    ModelId,
    stations::select::{ByOutcomes, GateCalibration, HarmBound, OutcomeScores},
};

use super::{
    by_outcomes::{gated, numbered, parts, scorer},
    proven::with_skills,
    *,
};
use crate::traced::traced;

/// A library with a skill, and a calibration that was fitted on what it scores at a hundred tasks.
async fn calibrated() -> (Arc<MemoryStore>, GateCalibration) {
    let store = Arc::new(MemoryStore::new());
    let parts = parts(&store, scorer(), "first");
    let journeyman = open_as("before", &parts, gated()).await;
    with_skills(&journeyman, &["good"]).await;
    let report = journeyman.evaluate(numbered('w', 0..100)).await;
    let report = report.expect("evaluated");
    let tried = report.tasks.iter().map(|task| {
        OutcomeScores::new(
            task.task.clone(),
            task.selections[0].best().expect("scored").value,
            0.0,
            1.0,
        )
    });
    let tried: Vec<OutcomeScores> = tried.collect();
    let of = (
        &ModelId::new("scripted"),
        ScoreKind::Pmi,
        &ScriptedFormat as _,
    );
    let fit = GateCalibration::by_outcomes(&tried, of, HarmBound::default(), Seed(1));
    let Ok(ByOutcomes::Fitted(fitted)) = fit else {
        panic!("a hundred tasks are enough");
    };
    (store, *fitted)
}

async fn open_by(parts: Components, fitted: &GateCalibration, read_only: bool) -> Journeyman {
    let mut recipe = gated();
    recipe.calibrate(fitted).expect("it is for this score");
    let mut options = Options::new("watched", Seed(7));
    options.read_only = read_only;
    let opened = Journeyman::open(parts, recipe, options).await;
    opened.expect("it opens")
}

/// A session that only reads, in which each task was evaluated that scores a quarter of what the tasks of the fit do.
async fn drifted(store: &Arc<MemoryStore>, fitted: &GateCalibration) -> (Journeyman, Vec<u64>) {
    let journeyman = open_by(parts(store, scorer(), "first"), fitted, true).await;
    let events = journeyman.events();
    let report = journeyman.evaluate(numbered('v', 0..100)).await;
    report.expect("evaluated");
    (journeyman, alarms(events))
}

/// After how many decisions each alarm was raised.
fn alarms(events: Events) -> Vec<u64> {
    let alarms = told(events)
        .into_iter()
        .filter_map(|event| match event.kind {
            EventKind::ScoresDrifted { decisions, .. } => Some(decisions),
            _ => None,
        });
    alarms.collect()
}

fn findings(journeyman: &Journeyman) -> Vec<Finding> {
    let mut findings = journeyman.findings();
    findings.retain(|one| one.kind == FindingKind::ScoresDrifted);
    findings
}

#[test]
fn a_drift_is_said_once_and_changes_no_decision() {
    block_on(async {
        let (store, fitted) = calibrated().await;
        let parts = parts(&store, scorer(), "first");
        let journal = parts.journal.clone().expect("a journal");
        let journeyman = open_by(parts, &fitted, false).await;
        let events = journeyman.events();
        let report = journeyman.learn(numbered('w', 100..200)).await;
        report.expect("it learns");
        assert_eq!(alarms(events), [0_u64; 0]);
        assert_eq!(findings(&journeyman), []);

        // A quarter of the scores.
        let events = journeyman.events();
        let report = journeyman.learn(numbered('v', 0..100)).await;
        let report = report.expect("it learns");
        let alarms = alarms(events);
        assert_eq!(alarms.len(), 1, "{alarms:?}");
        assert!((101..200).contains(&alarms[0]), "{alarms:?}");
        let last = report.tasks.last().expect("a hundred");
        let best = last.selections[0].best().expect("scored").value;
        let injects = last.selections[0].skill().is_some();
        assert_eq!(injects, best > fitted.threshold, "{last:?}");

        let told = findings(&journeyman);
        assert_eq!(told.len(), 1);
        let said = told[0].to_string();
        assert!(said.contains("drifted since the fit"), "{said}");
        assert!(said.contains("calibrate again"), "{said}");
        assert!(report.findings.contains(&told[0]));
        // It is said by the session: what a journal has is the run's.
        let (_, happened) = journaled(&*journal, &report.run).await;
        let is_alarm = |kind: &EventKind| matches!(kind, EventKind::ScoresDrifted { .. });
        assert!(!happened.iter().any(is_alarm));
    });
}

#[test]
fn evaluations_of_a_session_that_learns_are_not_compared_and_those_of_one_that_reads_are() {
    block_on(async {
        let (store, fitted) = calibrated().await;
        let learns = open_by(parts(&store, scorer(), "first"), &fitted, false).await;
        let events = learns.events();
        let report = learns.evaluate(numbered('v', 0..100)).await;
        report.expect("evaluated");
        assert_eq!(alarms(events), [0_u64; 0]);
        assert_eq!(findings(&learns), []);
        let (reads, alarms) = drifted(&store, &fitted).await;
        assert_eq!((alarms.len(), findings(&reads).len()), (1, 1));
    });
}

#[test]
fn a_calibration_without_scores_or_for_another_model_looks_for_no_drift() {
    block_on(async {
        let (store, fitted) = calibrated().await;
        let mut without = fitted.clone();
        without.scores = None;
        let mut other = fitted;
        other.fitted_for.model = ModelId::new("another");
        for fitted in [without, other] {
            let parts = parts(&store, scorer(), "first");
            assert!(!open_by(parts, &fitted, true).await.watches_drift());
            assert_eq!(drifted(&store, &fitted).await.1, [0_u64; 0]);
        }
    });
}

#[test]
fn attempts_at_one_task_are_compared_once_and_raise_no_alarm() {
    block_on(async {
        let (store, fitted) = calibrated().await;
        for read_only in [true, false] {
            let parts = parts(&store, scorer(), "first");
            let journeyman = open_by(parts, &fitted, read_only).await;
            let events = journeyman.events();
            let task = numbered('v', 0..1).remove(0);
            let many = NonZeroUsize::new(20).expect("not 0");
            for _ in 0..10 {
                let group = journeyman.begin_group(task.clone(), many).await;
                drop(group.expect("it begins"));
            }
            assert_eq!(alarms(events), [0_u64; 0], "{read_only}");
            assert_eq!(findings(&journeyman), []);
        }
        // Other tasks with such scores raise it, and the one task counts once.
        let journeyman = open_by(parts(&store, scorer(), "first"), &fitted, true).await;
        assert!(journeyman.watches_drift());
        let events = journeyman.events();
        for task in [
            numbered('v', 0..1),
            numbered('v', 0..1),
            numbered('v', 0..100),
        ] {
            journeyman.evaluate(task).await.expect("evaluated");
        }
        let alarms = alarms(events);
        assert_eq!(alarms.len(), 1, "{alarms:?}");
        // As after the hundred alone.
        assert_eq!(alarms, drifted(&store, &fitted).await.1);
    });
}

#[test]
fn a_drift_is_in_telemetry() {
    let kept = traced(async || {
        let (store, fitted) = calibrated().await;
        drifted(&store, &fitted).await;
    });
    let drifts = kept.events("journeyman.drift");
    assert_eq!(drifts.len(), 1);
    let number = |field: &str| -> f64 {
        let value = drifts[0].field(field).expect("it is there");
        value.parse().expect("a number")
    };
    assert!((8.0..100.0).contains(&number("journeyman.drift.decisions")));
    assert!(number("journeyman.drift.evidence") >= 100.0);
}
