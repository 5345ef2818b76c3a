//! Annotated attempts for training a router: what is exported, how it is split, and what the reader finds.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::testing::Edited as _;
use journeyman::{
    ErrorKind, Seed,
    domain::{
        Action, AssessedSubgoal, Assessment, LibraryChange, Route, SubgoalRef, SubgoalScore, Taint,
        Trace, Trust,
    },
    library::SkillLibrary,
    testing::sample,
    text::JsonSchema,
};
use journeyman_interchange::assessments::{
    self, AnnotatedAttempt, JSON_SCHEMA, Split, SplitBy, SplitPart,
};
use serde_json::{Value, json};

fn attempt(number: usize) -> Trace {
    // Two attempts at each task.
    let task = sample::task(&format!("t-{}", number / 2), &["good", "day"]);
    sample::trace(
        &format!("a-{number}"),
        &task,
        &["good", "day"],
        number.is_multiple_of(2),
    )
}

fn assessment(of: &Trace) -> Assessment {
    let subgoal = |place: usize, score| {
        AssessedSubgoal::new(sample::subgoal("say a word", place, place)).edited(|it| {
            it.route = (place == 0).then(|| Route::new("greeting", 0.8));
            it.score = score;
        })
    };
    Assessment::new(of.trajectory.attempt.clone(), of.task.id.clone())
        .with_success(of.verdict.as_ref().and_then(|verdict| verdict.success()))
        .with_subgoals(vec![
            subgoal(0, SubgoalScore::new(2).ok()),
            subgoal(1, None),
        ])
}

fn material(count: usize) -> (Vec<Trace>, Vec<Assessment>) {
    let attempts: Vec<Trace> = (0..count).map(attempt).collect();
    let assessments = attempts.iter().map(assessment).collect();
    (attempts, assessments)
}

fn parts(attempts: &[AnnotatedAttempt]) -> BTreeMap<SplitPart, BTreeSet<String>> {
    let mut parts: BTreeMap<SplitPart, BTreeSet<String>> = BTreeMap::new();
    for one in attempts {
        parts
            .entry(one.split)
            .or_default()
            .insert(one.attempt.to_string());
    }
    parts
}

#[test]
fn annotated_attempts_are_split_nine_to_one_and_come_back_equal() {
    let (attempts, annotations) = material(60);
    let split = Split::new(Seed(7));
    let exported = assessments::of_assessments(&annotations, &attempts, &split).unwrap();
    assert!(exported.refused.is_empty());
    let lines = assessments::write(&exported.attempts).unwrap();
    assert_eq!(assessments::read(&lines).unwrap(), exported.attempts);
    let schema = JsonSchema::new(serde_json::from_str(JSON_SCHEMA).unwrap()).unwrap();
    for line in lines.lines() {
        let faults = schema.faults(&serde_json::from_str(line).unwrap());
        assert!(faults.is_empty(), "{faults:?}");
    }
    let by_attempt = parts(&exported.attempts);
    let sizes: Vec<usize> = by_attempt.values().map(BTreeSet::len).collect();
    assert_eq!(sizes, [54, 6]);

    let first = &exported.attempts[0];
    assert_eq!(
        (first.instruction.as_str(), first.success),
        ("say good and then day", Some(true))
    );
    let words: Vec<&Action> = first.steps.iter().map(|step| &step.action).collect();
    assert_eq!(
        words,
        [
            &Action::Message("good".to_owned()),
            &Action::Message("day".to_owned())
        ]
    );
    let (one, other) = (&first.subgoals[0], &first.subgoals[1]);
    assert_eq!(
        (one.first, one.last, one.score.map(SubgoalScore::get)),
        (0, 0, Some(2))
    );
    assert_eq!(one.prototype, Some("greeting".into()));
    assert_eq!((other.prototype.clone(), other.score), (None, None));

    // The order of the attempts does not matter; the seed does.
    let reversed: Vec<Assessment> = annotations.iter().rev().cloned().collect();
    let again = assessments::of_assessments(&reversed, &attempts, &split).unwrap();
    assert_eq!(parts(&again.attempts), by_attempt);
    let other = assessments::of_assessments(&annotations, &attempts, &Split::new(Seed(8))).unwrap();
    assert_ne!(parts(&other.attempts), by_attempt);
}

#[test]
fn a_split_by_tasks_keeps_the_attempts_at_a_task_together() {
    let (attempts, annotations) = material(60);
    let split = Split::new(Seed(7)).with_by(SplitBy::Task);
    let exported = assessments::of_assessments(&annotations, &attempts, &split).unwrap();
    let mut of_task: BTreeMap<&str, BTreeSet<SplitPart>> = BTreeMap::new();
    for one in &exported.attempts {
        of_task
            .entry(one.task.as_str())
            .or_default()
            .insert(one.split);
    }
    assert!(of_task.values().all(|parts| parts.len() == 1));
    let test = of_task
        .values()
        .filter(|parts| parts.contains(&SplitPart::Test));
    assert_eq!((of_task.len(), test.count()), (30, 3));
    // By attempts a task can be on both sides.
    let split = Split::new(Seed(7)).with_test(0.5);
    let exported = assessments::of_assessments(&annotations, &attempts, &split).unwrap();
    let sides = |task: &str| {
        let own = exported
            .attempts
            .iter()
            .filter(|one| one.task.as_str() == task);
        own.map(|one| one.split).collect::<BTreeSet<_>>().len()
    };
    assert!((0..30).any(|task| sides(&format!("t-{task}")) == 2));
}

#[test]
fn what_cannot_be_exported_is_refused_with_the_reason() {
    let (mut attempts, mut annotations) = material(20);
    attempts.remove(3);
    annotations[5].subgoals.pop();
    annotations.push(annotations[7].clone());
    let mut untrusted = attempts[0].clone();
    untrusted.trajectory.steps[0].result.source = sample::source(Trust::Untrusted);
    attempts[0] = untrusted;
    let exported =
        assessments::of_assessments(&annotations, &attempts, &Split::new(Seed(7))).unwrap();
    let refused: Vec<(&str, &str)> = exported
        .refused
        .iter()
        .map(|one| (one.attempt.as_str(), one.error.message()))
        .collect();
    assert_eq!(
        refused,
        [
            ("a-3", "the attempt is not there any more"),
            ("a-5", "the last steps belong to no subgoal"),
            ("a-7", "another assessment is of the same attempt"),
        ]
    );
    assert_eq!(exported.attempts.len(), 18);
    // The split is of those that are left.
    assert_eq!(parts(&exported.attempts)[&SplitPart::Test].len(), 2);
    let taints: Vec<Taint> = exported.attempts.iter().map(|one| one.taint).collect();
    assert_eq!((taints[0], taints[1]), (Taint::Tainted, Taint::Clean));
    for test in [0.0, 1.0, -0.1, f64::NAN] {
        let split = Split::new(Seed(7)).with_test(test);
        assert!(
            assessments::of_assessments(&annotations, &attempts, &split).is_err(),
            "{test}"
        );
    }
    let other = AnnotatedAttempt::new(&annotations[1], &attempts[0], SplitPart::Test);
    assert_eq!(
        other.unwrap_err().message(),
        "the assessment is of another attempt"
    );
}

#[test]
fn a_library_gives_its_annotations_and_the_prototypes_that_they_name() {
    let (attempts, annotations) = material(10);
    let member = SubgoalRef {
        attempt: "a-0".into(),
        place: 1,
    };
    let greeting = sample::prototype("greeting").edited(|it| it.members = vec![member]);
    // The library keeps the latest eight attempts.
    let mut policy = journeyman::domain::TierPolicy::default();
    policy.traces = 8;
    let mut changes = vec![LibraryChange::Configure(policy)];
    for (attempt, annotation) in attempts.iter().zip(&annotations) {
        changes.push(LibraryChange::Assess(Box::new(annotation.clone())));
        changes.push(LibraryChange::Observe(Box::new(attempt.clone())));
    }
    changes.push(LibraryChange::SetPrototypes(vec![greeting]));
    let library = SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap();
    let exported = assessments::of_library(&library, &Split::new(Seed(7))).unwrap();
    assert_eq!((exported.attempts.len(), exported.refused.len()), (8, 2));
    let lines = assessments::prototypes(library.prototypes()).unwrap();
    let prototype: Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!(prototype["schema"], "journeyman.prototype");
    let named = exported.attempts.iter().flat_map(|one| &one.subgoals);
    let named: BTreeSet<_> = named.filter_map(|one| one.prototype.clone()).collect();
    let ids: BTreeSet<_> = [prototype["id"].as_str().unwrap().into()].into();
    assert_eq!(named, ids);
    assert!(prototype["rubric"]["checklist"][0].is_string());
}

#[test]
fn a_faulty_line_is_named() {
    let (attempts, annotations) = material(4);
    let exported =
        assessments::of_assessments(&annotations, &attempts, &Split::new(Seed(7))).unwrap();
    let lines = assessments::write(&exported.attempts).unwrap();
    let check = |at: &str, to: Value, kind: ErrorKind, message: &str| {
        let changed = lines.lines().enumerate().map(|(number, text)| {
            let mut value: Value = serde_json::from_str(text).unwrap();
            if number == 2 {
                *value.pointer_mut(at).unwrap() = to.clone();
            }
            value.to_string()
        });
        let error = assessments::read(&changed.collect::<Vec<_>>().join("\n\n")).unwrap_err();
        // A blank line stands between any two.
        let found = (error.fact("line"), error.kind(), error.message());
        assert_eq!(found, (Some("5"), kind, message), "{at}");
    };
    let invalid = ErrorKind::Invalid;
    let no_attempt = "the line is no annotated attempt";
    check(
        "/attempt",
        json!("a-0"),
        invalid,
        "the attempt has two lines",
    );
    check(
        "/subgoals/1/first",
        json!(0),
        invalid,
        "a subgoal begins before the one before it ends",
    );
    check(
        "/subgoals/1/last",
        json!(2),
        invalid,
        "a subgoal ends before it begins or after the last step",
    );
    check(
        "/subgoals",
        json!([]),
        invalid,
        "the last steps belong to no subgoal",
    );
    check(
        "/subgoals/0/subgoal",
        json!(" "),
        invalid,
        "a subgoal has no words",
    );
    check("/subgoals/0/score", json!(4), invalid, no_attempt);
    check("/split", json!("held_out"), invalid, no_attempt);
    check("/steps/0/action", json!("sing"), invalid, no_attempt);
    check(
        "/version",
        json!(9),
        ErrorKind::Unsupported,
        "this is journeyman.assessment 9, and journeyman.assessment 1 is read here",
    );
    let mut broken = exported.attempts[0].clone();
    broken.subgoals.clear();
    assert_eq!(
        assessments::write(&[broken]).unwrap_err().fact("attempt"),
        Some("a-0")
    );
}
