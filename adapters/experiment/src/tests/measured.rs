use std::collections::BTreeMap;

use journeyman::{
    Error, ErrorKind, TaskId,
    domain::{
        Cause, CommitKey, Committed, LibraryChange, NothingReason, Revision, Selection, SkillUse,
        State, TierPolicy, Usage,
    },
    run::report::{AttemptReport, RunReport},
    testing::sample,
};

use crate::measure::{History, held_out, stream};

fn attempt(success: bool, first: bool) -> AttemptReport {
    let skills = [sample::skill("brew")];
    let injected = if first { &skills[..] } else { &[] };
    let mut report = sample::attempt_report("a", injected, success);
    report.used = SkillUse::Unknown;
    report.parts = BTreeMap::from([("first_attempt".to_owned(), f64::from(u8::from(first)))]);
    report.reward = Some(1.0);
    report.steps = 2;
    report.usage = Usage::new(10, 3);
    report.end = None;
    report
}

fn report(selections: Vec<Selection>, attempts: Vec<AttemptReport>) -> RunReport {
    let mut written = sample::write_report("brew");
    written.fallback = true;
    written.refused = Some("too long".to_owned());
    let mut task = sample::task_report("t");
    task.tags = vec!["hidden".to_owned()];
    task.selections = selections;
    task.attempts = attempts;
    task.written = vec![written];
    let mut report = sample::run_report();
    report.tasks = vec![task];
    report
}

#[test]
fn a_group_is_counted() {
    let mut lost = attempt(false, false);
    lost.error = Some(Error::invalid("test", "gone"));
    lost.reward = None;
    let nothing = Selection::nothing(NothingReason::ScorerUnavailable("gone".to_owned()));
    let attempts = vec![attempt(true, true), attempt(true, false), lost];
    let task = stream(&report(vec![nothing], attempts)).remove(0);
    let counts = [
        task.attempts,
        task.failed,
        task.first,
        task.success,
        task.injected,
        task.followed,
        task.use_unknown,
    ];
    assert_eq!(counts, [3, 2, 1, 2, 1, 0, 1]);
    assert!(task.hidden);
    assert_eq!((task.prompt_tokens, task.output_tokens), (30, 9));
    assert_eq!((task.score, task.reward), (2.0 / 3.0, Some(1.0)));
    let written = &task.written[0];
    assert!(written.drafted && written.fallback && !written.admitted);
}

#[test]
fn a_success_counts_as_first_where_the_judge_reports_no_such_part() {
    let mut silent = attempt(true, false);
    silent.parts.clear();
    let tasks = held_out(&report(Vec::new(), vec![silent])).unwrap();
    assert!(tasks[0].first);
    let tasks = held_out(&report(Vec::new(), vec![attempt(true, false)])).unwrap();
    assert!(tasks[0].success && !tasks[0].first);
}

#[test]
fn what_failed_outside_the_agent_is_no_result() {
    let check = |reason: NothingReason, attempts: Vec<AttemptReport>, expect: Option<&str>| {
        let found = held_out(&report(vec![Selection::nothing(reason)], attempts));
        match expect {
            None => assert!(found.unwrap()[0].success),
            Some(said) => {
                let error = found.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Unavailable);
                assert!(error.message().contains(said), "{error}");
            }
        }
    };
    let done = || vec![attempt(true, true)];
    let nothing = NothingReason::NoCandidates;
    check(nothing.clone(), done(), None);
    let said = || "gone".to_owned();
    check(
        NothingReason::ScorerUnavailable(said()),
        done(),
        Some("the scorer failed: gone"),
    );
    check(
        NothingReason::RetrieverUnavailable(said()),
        done(),
        Some("the retriever failed: gone"),
    );
    let mut lost = attempt(false, false);
    lost.error = Some(Error::invalid("test", "gone"));
    check(nothing.clone(), vec![lost], Some("outside the agent: gone"));
    check(nothing, Vec::new(), Some("was not attempted"));
}

/// Commits of these changes, each for a task or for none.
fn committed(commits: &[(Option<&str>, Vec<LibraryChange>)]) -> Vec<Committed> {
    let commits = (1..).zip(commits);
    commits
        .map(|(revision, (task, changes))| {
            let mut cause = Cause::new("test");
            cause.task = task.map(TaskId::new);
            let key = CommitKey::new(format!("key {revision}"));
            Committed::new(Revision(revision), key, cause, changes.clone())
        })
        .collect()
}

#[test]
fn a_library_is_counted_after_each_task_however_many_commits_there_are() {
    let add = |name| LibraryChange::Add(Box::new(sample::skill(name)));
    let disable = |name: &str| LibraryChange::SetState {
        skill: sample::skill(name).id,
        state: State::Disabled,
        reason: "test".to_owned(),
    };
    let mut one = TierPolicy::default();
    one.cache = 1;
    let commits = committed(&[
        (None, vec![LibraryChange::Configure(one), add("start")]),
        (Some("a"), vec![add("brew"), LibraryChange::Maintain]),
        (Some("a"), vec![disable("brew")]),
        (None, vec![LibraryChange::Maintain]),
        (Some("b"), vec![add("grind")]),
    ]);
    let history = History::of(&commits, 3).unwrap();
    let ends: Vec<usize> = (0..5).map(|learned| history.end(learned)).collect();
    assert_eq!(ends, [1, 4, 5, 5, 5]);
    let points = &history.points;
    let learned: Vec<u64> = points.iter().map(|point| point.learned).collect();
    assert_eq!(learned, [0, 1, 2, 3]);
    let tiers = |at: usize| {
        points[at]
            .tiers
            .iter()
            .map(|(n, c)| (n.as_str(), *c))
            .collect::<Vec<_>>()
    };
    assert_eq!(tiers(0), [("cache", 1)]);
    assert_eq!(tiers(1), [("aside", 1), ("cache", 1)]);
    assert_eq!(tiers(2), [("aside", 1), ("cache", 2)]);
    assert_eq!(points[2].states, points[3].states);
    assert_eq!(points[1].changes["active to disabled"], 1);
    assert_eq!(points[1].changes["added"], 1);
    assert!(points[3].changes.is_empty());
}

#[test]
fn of_no_commits_there_is_an_empty_library() {
    let history = History::of(&[], 0).unwrap();
    assert_eq!((history.points.len(), history.end(0)), (1, 0));
}
