//! What a skill's life leaves behind, and what the library keeps beside skills.

use super::*;
use crate::{
    domain::{
        Attribution, BundleCase, CaseKind, CaseOutcome, CaseResult, ComparedPair, HandledMark,
        Judgement, Role, RoleRule, SkillUse, Trace,
    },
    id::{AttemptId, RunId, Seed, TaskId},
    testing::sample,
};

fn attribute(id: &str, version: u64, attempt: &str, judgement: Judgement) -> LibraryChange {
    LibraryChange::Attribute(Attribution {
        skill: reference(id, version),
        attempt: attempt.into(),
        task: TaskId::new("t"),
        judgement,
        scope: String::new(),
        reason: "a test".into(),
    })
}

fn expose(id: &str, attempt: &str, injected: bool, used: SkillUse) -> LibraryChange {
    LibraryChange::Expose {
        skill: reference(id, 1),
        attempt: attempt.into(),
        injected,
        used,
        outcome: None,
    }
}

fn case(name: &str, kind: CaseKind) -> BundleCase {
    BundleCase {
        name: name.into(),
        kind,
        task: sample::task("t", &["one"]),
        attempt: AttemptId::new(name),
        world_seed: Seed(1),
        prefix: Vec::new(),
        refusals: 0,
        least_score: 0.0,
    }
}

fn patch(id: &str, cases: Vec<BundleCase>, dropped: &[&str]) -> LibraryChange {
    LibraryChange::PatchBundle {
        skill: id.into(),
        cases,
        dropped: dropped.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn test(id: &str, version: u64, failed: Option<&str>) -> LibraryChange {
    LibraryChange::Test {
        skill: reference(id, version),
        outcomes: vec![CaseOutcome {
            name: "one".into(),
            result: match failed {
                None => CaseResult::Passed { refusals: 0 },
                Some(reason) => CaseResult::Failed {
                    reason: reason.to_owned(),
                    refusals: 0,
                },
            },
        }],
    }
}

fn trace(attempt: &str) -> Trace {
    sample::trace(attempt, &sample::task("t", &["one"]), &["one"], true)
}

fn rules(words: &str) -> LibraryChange {
    LibraryChange::SetRules {
        role: Role::Extract,
        rules: vec![RoleRule::new(words).unwrap()],
    }
}

fn of_run(run: &str, revision: u64, changes: Vec<LibraryChange>) -> Committed {
    let mut committed = committed(revision, changes);
    committed.cause.run = Some(RunId::new(run));
    committed
}

fn fold(commits: &[Committed]) -> SkillLibrary {
    SkillLibrary::replay(commits).unwrap()
}

fn keeping(traces: usize) -> LibraryChange {
    LibraryChange::Configure(TierPolicy {
        traces,
        ..TierPolicy::default()
    })
}

#[test]
fn an_attempt_counts_once_for_each_version_and_counts_begin_anew() {
    let library = fold(&[committed(
        1,
        vec![
            add("a"),
            expose("a", "t1", true, SkillUse::NotFollowed),
            expose("a", "t1", true, SkillUse::Followed),
            expose("a", "t2", false, SkillUse::NotFollowed),
            attribute("a", 1, "t1", Judgement::Harmful),
            attribute("a", 1, "t1", Judgement::Helpful),
            attribute("a", 1, "t2", Judgement::Neutral),
            revise("a", "a", 2),
            attribute("a", 2, "t1", Judgement::Helpful),
            attribute("z", 1, "t1", Judgement::Helpful),
        ],
    )]);
    let entry = library.get(&"a".into()).unwrap();
    let lifetime = entry.life.lifetime();
    assert_eq!(
        (lifetime.retrieved, lifetime.injected, lifetime.used),
        (2, 1, 0)
    );
    let (first, second) = (entry.life.counts(Version(1)), entry.life.counts(Version(2)));
    assert_eq!((first.harmful, first.helpful, first.neutral), (1, 0, 1));
    assert_eq!((second.total(), second.helpful), (1, 1));
    assert_eq!(library.passed_over()[&PassReason::SeenBefore], 2);
    assert_eq!(library.passed_over()[&PassReason::Unknown], 1);
}

#[test]
fn a_lifetime_counts_use_as_said_and_where_nothing_was_said_as_judged() {
    use Judgement::{Harmful, Helpful, Neutral, Uncertain};
    use SkillUse::{Followed, NotFollowed, Unknown};
    // Each attempt: its use, what a role judged, and whether it counts as used, as unknown, or as neither.
    let cases = [
        (Followed, None, (1, 0)),
        (Followed, Some(Neutral), (1, 0)),
        (NotFollowed, None, (0, 0)),
        (NotFollowed, Some(Harmful), (0, 0)),
        (Unknown, None, (0, 1)),
        (Unknown, Some(Helpful), (1, 0)),
        (Unknown, Some(Harmful), (1, 0)),
        (Unknown, Some(Neutral), (0, 0)),
        (Unknown, Some(Uncertain), (0, 1)),
    ];
    for (used, judgement, expect) in cases {
        let mut changes = vec![add("a"), expose("a", "t1", true, used)];
        changes.extend(judgement.map(|judgement| attribute("a", 1, "t1", judgement)));
        // What another attempt was judged says nothing of this one.
        changes.push(attribute("a", 1, "t2", Helpful));
        let library = fold(&[committed(1, changes)]);
        let entry = library.get(&"a".into()).unwrap();
        let lifetime = entry.life.lifetime();
        assert_eq!((lifetime.retrieved, lifetime.injected), (1, 1));
        assert_eq!(
            (lifetime.used, lifetime.use_unknown),
            expect,
            "{used} {judgement:?}"
        );
        let judged = entry.life.judgement(Version(1), &AttemptId::new("t1"));
        assert_eq!(judged, judgement);
    }
    // A skill that was found and not injected has no use, and none that is unknown.
    let changes = vec![add("a"), expose("a", "t1", false, NotFollowed)];
    let library = fold(&[committed(1, changes)]);
    let lifetime = library.get(&"a".into()).unwrap().life.lifetime();
    assert_eq!((lifetime.injected, lifetime.use_unknown), (0, 0));
}

#[test]
fn a_bundle_is_patched_by_name_and_bounded() {
    let many = (0..20).map(|number| {
        let kind = if number < 2 {
            CaseKind::Unit
        } else {
            CaseKind::Integration
        };
        case(&format!("case-{number}"), kind)
    });
    let library = fold(&[committed(
        1,
        vec![
            add("a"),
            patch(
                "a",
                vec![case("one", CaseKind::Unit), case("two", CaseKind::Unit)],
                &[],
            ),
            patch("a", vec![case("one", CaseKind::Negative)], &["two"]),
            add("b"),
            patch("b", many.collect(), &[]),
        ],
    )]);
    let bundle = |id: &str| -> Vec<(String, CaseKind)> {
        let entry = library.get(&id.into()).unwrap();
        let cases = entry.life.bundle.iter().map(|bundled| &bundled.case);
        cases.map(|case| (case.name.clone(), case.kind)).collect()
    };
    assert_eq!(bundle("a"), [("one".to_owned(), CaseKind::Negative)]);
    let names: Vec<String> = bundle("b").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 12);
    assert_eq!(
        names[..3],
        ["case-0", "case-1", "case-10"],
        "unit cases stay, of others the latest"
    );
}

#[test]
fn a_version_passes_by_its_own_test_alone() {
    let library = |changes: Vec<LibraryChange>| {
        let changes = [vec![add("a")], changes].concat();
        let library = fold(&[committed(1, changes)]);
        let entry = library.get(&"a".into()).unwrap().clone();
        entry.life.passes(entry.skill.version)
    };
    assert_eq!(library(vec![]), None);
    assert_eq!(library(vec![test("a", 1, None)]), Some(true));
    assert_eq!(library(vec![test("a", 1, Some("no"))]), Some(false));
    assert_eq!(library(vec![test("a", 1, None), revise("a", "a", 2)]), None);
    assert_eq!(
        library(vec![test("a", 2, None)]),
        None,
        "another version's outcome is passed over"
    );
}

#[test]
fn attempts_are_kept_up_to_the_policys_number_the_latest() {
    let observe = |attempt: &str| LibraryChange::Observe(Box::new(trace(attempt)));
    let kept = |most: usize| -> Vec<String> {
        let changes = vec![
            keeping(most),
            observe("t1"),
            observe("t2"),
            observe("t2"),
            observe("t3"),
        ];
        let library = fold(&[committed(1, changes)]);
        let attempts = library
            .traces()
            .map(|trace| trace.trajectory.attempt.to_string());
        attempts.collect()
    };
    assert_eq!(kept(2), ["t2", "t3"]);
    assert!(kept(0).is_empty());
}

#[test]
fn a_retired_run_takes_its_word_back() {
    let before = vec![
        committed(1, vec![keeping(9), add("a")]),
        of_run(
            "good",
            2,
            vec![
                attribute("a", 1, "t1", Judgement::Helpful),
                patch("a", vec![case("one", CaseKind::Unit)], &[]),
                rules("Keep it."),
                LibraryChange::Observe(Box::new(trace("t1"))),
            ],
        ),
    ];
    let mut all = before.clone();
    all.push(of_run(
        "bad",
        3,
        vec![
            attribute("a", 1, "t2", Judgement::Harmful),
            expose("a", "t2", true, SkillUse::Followed),
            patch("a", vec![case("two", CaseKind::Unit)], &[]),
            test("a", 1, Some("no")),
            rules("Spoil it."),
            LibraryChange::Observe(Box::new(trace("t2"))),
            LibraryChange::Handled {
                fingerprint: HandledMark::done("group"),
            },
        ],
    ));
    assert_eq!(fold(&all).rules(Role::Extract)[0].as_str(), "Spoil it.");
    assert!(fold(&all).is_handled("group"));
    let retire = LibraryChange::RetireRun {
        run: RunId::new("bad"),
        reason: "a test".into(),
    };
    all.push(committed(4, vec![retire]));
    let (then, now) = (fold(&before), fold(&all));
    let life = |library: &SkillLibrary| library.get(&"a".into()).unwrap().life.clone();
    assert_eq!(life(&now), life(&then));
    assert_eq!(now.rules(Role::Extract), then.rules(Role::Extract));
    assert_eq!(now.traces().count(), 1);
    assert!(!now.is_handled("group"));
}

#[test]
fn what_no_library_takes_is_refused() {
    assert!(RoleRule::new("x".repeat(RoleRule::MAX + 1)).is_err());
    let rules = |rules: Vec<&str>| LibraryChange::SetRules {
        role: Role::Extract,
        rules: rules
            .into_iter()
            .map(|rule| RoleRule::new(rule).unwrap())
            .collect(),
    };
    let mut wrong = case("one", CaseKind::Unit);
    wrong.least_score = 1.5;
    for change in [rules(vec!["a"; 6]), patch("a", vec![wrong], &[])] {
        assert!(change.validate().is_err(), "{change:?}");
    }
    assert!(rules(vec!["a"; 5]).validate().is_ok());
}

#[test]
fn a_skill_is_made_with_the_tasks_that_it_and_its_sources_were_written_from_tested_by_or_compared_at()
 {
    let of = |id: &str, task: &str| {
        let mut skill = skill(id, id);
        skill.provenance.tasks = vec![task.into()];
        LibraryChange::Add(Box::new(skill))
    };
    let mut merged = skill("merged", "merged");
    merged.provenance.tasks = vec!["first".into()];
    let mut next = merged.clone();
    next.version = Version(2);
    next.provenance.tasks = vec!["later".into()];
    let pair = ComparedPair {
        task: "compared".into(),
        before: 0.0,
        with: 1.0,
        against: None,
        sources: Vec::new(),
        model: None,
    };
    let mut tested = case("tested", CaseKind::Integration);
    tested.task = sample::task("tested", &["one"]);
    let library = fold(&[committed(
        1,
        vec![
            of("one", "of-one"),
            of("two", "of-two"),
            patch("two", vec![tested], &[]),
            LibraryChange::Merge {
                skill: Box::new(merged),
                sources: vec!["one".into(), "two".into()],
                beside: false,
            },
            LibraryChange::Compare {
                skill: reference("merged", 1),
                pairs: vec![pair],
            },
            LibraryChange::Revise(Box::new(next)),
        ],
    )]);
    assert!(library.passed_over().is_empty());
    for (skill, tasks) in [
        (
            "merged",
            &["first", "later", "compared", "of-one", "of-two", "tested"][..],
        ),
        ("two", &["of-two", "tested"][..]),
        ("one", &["of-one"][..]),
    ] {
        for task in [
            "first", "later", "compared", "of-one", "of-two", "tested", "new",
        ] {
            let made = library.is_made_with(&skill.into(), &TaskId::new(task));
            assert_eq!(made, tasks.contains(&task), "{skill} and {task}");
        }
    }
}
