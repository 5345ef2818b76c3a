//! Attempts are cut, routed and scored, and prototypes are distilled from what was learned (SCRIBE).

use std::sync::atomic::{AtomicUsize, Ordering};

use journeyman::testing::Edited as _;
use journeyman::{
    agent::HashedEmbedder,
    contract::{GenerateRequest, RoleRequest, RoleTask, Roles},
    domain::{Drift, SubgoalScore},
    papers::scribe::{AnchorPolicy, AssessBy, AssessPolicy, CalibrationPolicy, RouteBy},
    policy::Policies,
    run::report::{EventKind, FindingKind},
};

use super::*;

/// What the roles' model answers, by role.
#[derive(Clone, Copy)]
pub(super) struct Judge {
    pub(super) segment: &'static str,
    distil: &'static str,
    score: &'static str,
}

impl Default for Judge {
    fn default() -> Self {
        Self {
            segment: "say the first word | speaking | 0 0\nsay the rest | finishing | 1 9",
            distil: "title: speaking\nuse: words are due\npattern: say each word\ncheck: each word was said",
            score: "2 almost",
        }
    }
}

pub(super) fn scribe() -> Recipe {
    let mut recipe = recipe::scribe();
    recipe.attempts.group = n32(2);
    assess(&mut recipe, |policy| {
        policy.first = n64(3);
        policy.refresh = n64(6);
        policy.anchors = Some(AnchorPolicy::new(NonZeroUsize::new(2).unwrap(), n32(2)));
    });
    recipe
}

/// Changes how a recipe assesses attempts.
fn assess(recipe: &mut Recipe, change: impl FnOnce(&mut AssessPolicy)) {
    let named = recipe.assess.as_ref().expect("it assesses");
    let mut policy = named.read().expect("its options").expect("ours");
    change(&mut policy);
    recipe.assess = Some(policy.into());
}

pub(super) fn scribe_parts(judge: Judge) -> Components {
    let model = ScriptedModel::by(move |request, _| {
        let text = request.prompt.text();
        let role = text.lines().next().unwrap_or_default();
        Play::Give(
            match role.strip_prefix("role: ").unwrap_or_default() {
                "segment" => judge.segment,
                "distil-prototype" => judge.distil,
                "score" => judge.score,
                "route" => "0 0.9",
                "summarize" => "none: it was well known",
                other => panic!("no such role: {other}"),
            }
            .to_owned(),
        )
    });
    let mut components = components();
    components.model = Some(Arc::new(model));
    let played = [
        Role::Summarize,
        Role::Segment,
        Role::DistilPrototype,
        Role::Route,
        Role::Score,
    ];
    components.roles = Some(Arc::new(ScriptedRoles::only(played)));
    components
}

/// Learns from so many tasks; the report, the library, the events, and the roles that are missing.
fn assessed(
    recipe: Recipe,
    components: Components,
    n: usize,
) -> (RunReport, SkillLibrary, Vec<EventKind>) {
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        let report = journeyman.learn(tasks(n)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        let events = events.map(|event| event.kind).collect::<Vec<_>>().await;
        (report, library, events)
    })
}

fn processes(report: &RunReport) -> Vec<Option<f64>> {
    let attempts = report.attempts().filter(|one| one.success.is_some());
    attempts.map(|one| one.process).collect()
}

#[test]
fn attempts_are_scored_once_there_are_prototypes_and_the_reward_is_of_process_and_outcome() {
    let (report, library, events) = assessed(scribe(), scribe_parts(Judge::default()), 5);
    assert!(library.subgoals().count() > 5);
    let titles: Vec<_> = library
        .prototypes()
        .iter()
        .map(|one| &one.rubric.title)
        .collect();
    assert!(!titles.is_empty() && titles.iter().all(|title| *title == "speaking"));
    let first: Vec<_> = report.tasks[..3]
        .iter()
        .flat_map(|task| &task.attempts)
        .collect();
    assert!(first.iter().all(|one| one.process.is_none()));
    let later = report.tasks[3..].iter().flat_map(|task| &task.attempts);
    // An attempt without a step has no subgoal.
    let later: Vec<_> = later.filter(|one| one.steps > 0).collect();
    assert!(!later.is_empty());
    // Nothing is calibrated yet: too few subgoals have a score.
    for one in &later {
        let outcome = f64::from(u8::from(one.success == Some(true)));
        let process = one.process.expect("it was scored");
        assert!((process - 2.0 / 3.0).abs() < 1e-9);
        let reward = one.reward.expect("it was judged");
        assert!((reward - (0.3 * process + 0.7 * outcome)).abs() < 1e-9);
    }
    assert!(
        first
            .iter()
            .all(|one| one.reward == Some(f64::from(u8::from(one.success == Some(true)))))
    );
    let told = events
        .iter()
        .any(|event| matches!(event, EventKind::Assessed { .. }));
    assert!(told);
}

#[test]
fn prototypes_that_persist_keep_their_ids_and_anchors_are_judged_again() {
    let (_, library, events) = assessed(scribe(), scribe_parts(Judge::default()), 12);
    let refreshed: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            EventKind::PrototypesRefreshed {
                prototypes,
                persisting,
                before,
                ..
            } => Some((*prototypes, *persisting, *before)),
            _ => None,
        })
        .collect();
    // After 3 tasks, and after 6 and 12.
    assert_eq!(refreshed.len(), 3, "{refreshed:?}");
    let (now, persisting, before) = refreshed[1];
    assert!(
        persisting == before && now >= before && before > 0,
        "{refreshed:?}"
    );
    assert!(!library.anchors().is_empty() && library.anchors().len() <= 2);
    let checks: Vec<_> = library.anchor_checks().collect();
    assert_eq!(checks.len(), 3);
    let two = SubgoalScore::new(2).unwrap();
    assert!(
        checks
            .iter()
            .all(|check| check.iter().all(|one| one.scores == [two, two]))
    );
    let drifts = drifts(&events);
    assert!(drifts.iter().all(|drift| drift.anchors > 0));
    let steady = |drift: &Drift| drift.changed == 0 && drift.unsteady == 0;
    assert!(drifts.iter().all(steady), "{drifts:?}");
}

fn drifts(events: &[EventKind]) -> Vec<Drift> {
    let drift = |event: &EventKind| match event {
        EventKind::AnchorsChecked { drift } => Some(*drift),
        _ => None,
    };
    events.iter().filter_map(drift).collect()
}

/// The parts whose judge gives another score from the second check of the anchors on; `cut` is how it cuts its `n`-th attempt.
fn changing_parts(cut: fn(usize) -> &'static str, score: fn(usize) -> &'static str) -> Components {
    let (cuts, scores) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let model = ScriptedModel::by(move |request, _| {
        let text = request.prompt.text();
        let role = text.lines().next().unwrap_or_default();
        Play::Give(
            match role.strip_prefix("role: ").unwrap_or_default() {
                "segment" => cut(cuts.fetch_add(1, Ordering::Relaxed)),
                "distil-prototype" => Judge::default().distil,
                "score" => score(scores.fetch_add(1, Ordering::Relaxed)),
                _ => "none: it was well known",
            }
            .to_owned(),
        )
    });
    let mut components = scribe_parts(Judge::default());
    components.model = Some(Arc::new(model));
    components
}

#[test]
fn a_judge_that_changes_drifts_from_each_anchors_first_check() {
    // The first check of the two anchors asks four scores, before anything else is scored.
    let score = |number| if number < 4 { "3 done" } else { "1 hardly" };
    let components = changing_parts(|_| Judge::default().segment, score);
    let (_, library, events) = assessed(scribe(), components, 12);
    let drifts = drifts(&events);
    assert_eq!(library.anchors().len(), 2);
    assert_eq!((drifts[0].anchors, drifts[0].changed), (2, 0), "{drifts:?}");
    for drift in &drifts[1..] {
        assert_eq!((drift.anchors, drift.changed), (2, 2), "{drifts:?}");
        assert!((drift.mean + 2.0).abs() < 1e-9, "{drifts:?}");
    }
}

#[test]
fn a_cluster_of_one_becomes_no_prototype_and_is_told() {
    // The first attempt is like no other.
    let cut = |number| match number {
        0 => "feed the parrot | zoology | 0 9",
        _ => Judge::default().segment,
    };
    let components = changing_parts(cut, |_| "2 almost");
    let (_, library, events) = assessed(scribe(), components, 6);
    let is_odd = |text: String| text.contains("parrot");
    let odd = library
        .subgoals()
        .find(|known| is_odd(known.assessed.subgoal.text()));
    let odd = &odd.expect("it is kept").at;
    let prototypes = library.prototypes();
    assert!(!prototypes.is_empty());
    assert!(prototypes.iter().all(|one| !one.members.contains(odd)));
    assert_eq!(last_left_out(&events), Some((1, 0)), "{events:?}");
}

/// The clusters that became no prototype at the last refresh: those of one subgoal, and the others.
fn last_left_out(events: &[EventKind]) -> Option<(usize, usize)> {
    let mut left_out = events.iter().filter_map(|event| match event {
        EventKind::PrototypesRefreshed {
            alone, left_out, ..
        } => Some((*alone, *left_out)),
        _ => None,
    });
    left_out.next_back()
}

#[test]
fn the_journal_tells_a_cluster_of_one_from_those_that_could_not_be_distilled() {
    let cut = |number| match number {
        0 => "feed the parrot | zoology | 0 9",
        _ => Judge::default().segment,
    };
    let cuts = AtomicUsize::new(0);
    let model = ScriptedModel::by(move |request, _| {
        let text = request.prompt.text();
        Play::Give(
            match text.lines().next().unwrap_or_default() {
                "role: segment" => cut(cuts.fetch_add(1, Ordering::Relaxed)),
                "role: distil-prototype" => "they are all alike",
                _ => "none: it was well known",
            }
            .to_owned(),
        )
    });
    let mut components = scribe_parts(Judge::default());
    components.model = Some(Arc::new(model));
    let journal = components.journal.clone().expect("a journal");
    let (report, library, _) = assessed(scribe(), components, 6);
    assert!(library.prototypes().is_empty());
    let (_, happened) = block_on(journaled(journal.as_ref(), &report.run));
    let (alone, others) = last_left_out(&happened).expect("a refresh");
    assert!(alone == 1 && others > 0, "{alone} and {others}");
    let reasons = role_failures(&happened, Role::DistilPrototype);
    assert!(
        reasons.len() >= others && reasons.iter().all(|reason| reason.contains("KEY: WORDS")),
        "{reasons:#?}"
    );
}

/// Roles that count the rubrics that are read, and may lose the checklists of later ones.
#[derive(Debug)]
struct Distilling {
    roles: ScriptedRoles,
    /// Rubrics that were read.
    read: AtomicUsize,
    /// Whether those behind the first have no checklist.
    forgets: bool,
}

impl Distilling {
    fn new(forgets: bool) -> Arc<Self> {
        let played = [
            Role::Summarize,
            Role::Segment,
            Role::DistilPrototype,
            Role::Score,
        ];
        Arc::new(Self {
            roles: ScriptedRoles::only(played),
            read: AtomicUsize::default(),
            forgets,
        })
    }
}

impl Roles for Distilling {
    fn plays(&self, role: Role) -> bool {
        self.roles.plays(role)
    }

    fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest> {
        self.roles.prompt(request)
    }

    fn read(&self, request: &RoleRequest<'_>, text: &str) -> Result<RoleAnswer> {
        let answer = self.roles.read(request, text)?;
        Ok(match answer {
            RoleAnswer::Rubric(rubric)
                if self.read.fetch_add(1, Ordering::Relaxed) > 0 && self.forgets =>
            {
                RoleAnswer::Rubric(rubric.edited(|it| it.checklist = Vec::new()))
            }
            other => other,
        })
    }

    fn fallback(&self, task: &RoleTask) -> Option<RoleAnswer> {
        self.roles.fallback(task)
    }
}

#[test]
fn a_rubric_without_a_checklist_leaves_the_prototype_that_is_there() {
    // All subgoals are alike: one cluster, whose rubric is due again when it has twice the members.
    let judge = Judge {
        segment: "say it all | speaking | 0 9",
        ..Judge::default()
    };
    let mut components = scribe_parts(judge);
    let roles = Distilling::new(true);
    components.roles = Some(roles.clone());
    let (_, library, events) = assessed(scribe(), components, 12);
    assert!(
        roles.read.load(Ordering::Relaxed) > 1,
        "its rubric was due again"
    );
    let counts: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            EventKind::PrototypesRefreshed {
                prototypes,
                persisting,
                ..
            } => Some((*prototypes, *persisting)),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [(1, 0), (1, 1), (1, 1)], "{events:#?}");
    assert_eq!(
        library.prototypes()[0].rubric.checklist,
        ["each word was said"]
    );
    let why = "the rubric has no checklist";
    assert!(
        role_failures(&events, Role::DistilPrototype).contains(&why),
        "{events:#?}"
    );
}

#[test]
fn a_rubric_is_distilled_anew_as_often_as_the_recipe_says() {
    let distilled = |growth| {
        let judge = Judge {
            segment: "say it all | speaking | 0 9",
            ..Judge::default()
        };
        let mut recipe = scribe();
        assess(&mut recipe, |policy| {
            policy.cluster.growth = NonZeroUsize::new(growth).expect("not 0");
        });
        let mut components = scribe_parts(judge);
        let roles = Distilling::new(false);
        components.roles = Some(roles.clone());
        let (_, _, events) = assessed(recipe, components, 12);
        let refreshed = |event: &&EventKind| matches!(event, EventKind::PrototypesRefreshed { .. });
        let refreshes = events.iter().filter(refreshed).count();
        (roles.read.load(Ordering::Relaxed), refreshes)
    };
    // All subgoals are alike: there is one cluster from the first refresh on.
    assert_eq!(distilled(1), (3, 3));
    assert_eq!(distilled(2), (2, 3));
    assert_eq!(distilled(1_000), (1, 3));
}

#[test]
fn a_calibrated_score_reaches_the_reward() {
    let mut recipe = scribe();
    assess(&mut recipe, |policy| {
        policy.calibrate = Some(CalibrationPolicy::new(n32(1)));
    });
    let (report, _, _) = assessed(recipe, scribe_parts(Judge::default()), 12);
    let judged = report
        .attempts()
        .filter_map(|one| Some((one, one.process?)));
    let judged: Vec<_> = judged.collect();
    // All scores are 2, so that a calibrated one is the rate of success so far, and not two thirds.
    let calibrated = |process: f64| (process - 2.0 / 3.0).abs() > 1e-9;
    assert!(judged.iter().any(|(_, process)| calibrated(*process)));
    for (one, process) in judged {
        let outcome = f64::from(u8::from(one.success == Some(true)));
        let reward = one.reward.expect("it was judged");
        assert!((reward - (0.3 * process + 0.7 * outcome)).abs() < 1e-9);
    }
}

#[test]
fn without_an_embedder_words_are_compared_and_it_is_a_finding() {
    let components = scribe_parts(Judge::default());
    let journal = components.journal.clone().expect("a journal");
    let (report, ..) = assessed(scribe(), components, 1);
    let (found, _) = block_on(journaled(journal.as_ref(), &report.run));
    let missing = found
        .iter()
        .find(|one| one.kind == FindingKind::NoEmbedder)
        .expect("the journal has it at the run's start");
    assert!(
        missing.reason.contains("the host gave no embedder"),
        "{missing}"
    );
    let open = |components| {
        let opened = Journeyman::open(components, scribe(), Options::new("test", Seed(7)));
        let findings = block_on(opened).expect("it opens").findings();
        findings
            .iter()
            .any(|one| one.kind == FindingKind::NoEmbedder)
    };
    let components = scribe_parts(Judge::default());
    assert!(open(components.clone()));
    assert!(!open(
        components.with_embedder(Arc::new(HashedEmbedder::default()))
    ));
    let (_, without, _) = assessed(scribe(), scribe_parts(Judge::default()), 6);
    let components = scribe_parts(Judge::default());
    let components = components.with_embedder(Arc::new(HashedEmbedder::default()));
    let (_, with, _) = assessed(scribe(), components, 6);
    assert!(!without.prototypes().is_empty());
    assert_eq!(without.prototypes(), with.prototypes());
}

#[test]
fn a_judge_that_answers_otherwise_leaves_the_outcome() {
    let why = "does not begin with a score from 0 to 3";
    for score in ["7 too good", "well done", ""] {
        let judge = Judge {
            score,
            ..Judge::default()
        };
        let components = scribe_parts(judge);
        let journal = components.journal.clone().expect("a journal");
        let (report, library, events) = assessed(scribe(), components, 5);
        assert_eq!(processes(&report).iter().flatten().count(), 0, "{score:?}");
        assert!(!library.prototypes().is_empty(), "{score:?}: {events:?}");
        let failed = |event: &EventKind| matches!(event, EventKind::RoleFailed { role, .. } if *role == Role::Score);
        assert!(events.iter().any(failed), "{score:?}");
        let (_, happened) = block_on(journaled(journal.as_ref(), &report.run));
        let reasons = role_failures(&happened, Role::Score);
        assert!(
            !reasons.is_empty() && reasons.iter().all(|reason| reason.contains(why)),
            "{score:?}: {reasons:#?}"
        );
        let attempts = report.attempts().filter(|one| one.success.is_some());
        assert!(
            attempts
                .map(|one| one.reward)
                .all(|reward| reward == Some(0.0) || reward == Some(1.0))
        );
    }
}

#[test]
fn an_attempt_that_cannot_be_cut_is_not_assessed() {
    let judge = Judge {
        segment: "it went well",
        ..Judge::default()
    };
    let (report, library, events) = assessed(scribe(), scribe_parts(judge), 4);
    let failed = |event: &EventKind| matches!(event, EventKind::RoleFailed { role, .. } if *role == Role::Segment);
    assert!(events.iter().any(failed), "{events:?}");
    assert_eq!(library.subgoals().count(), 0);
    assert_eq!(processes(&report).iter().flatten().count(), 0);
    assert!(library.prototypes().is_empty());
}

#[test]
fn a_rubric_that_cannot_be_read_makes_no_prototype() {
    let judge = Judge {
        distil: "they are all alike",
        ..Judge::default()
    };
    let (_, library, events) = assessed(scribe(), scribe_parts(judge), 4);
    assert!(library.subgoals().count() > 0 && library.prototypes().is_empty());
    let failed = |event: &EventKind| matches!(event, EventKind::RoleFailed { role, .. } if *role == Role::DistilPrototype);
    assert!(events.iter().any(failed));
}

#[test]
fn the_baseline_scores_each_step_without_a_rubric() {
    let mut recipe = scribe();
    assess(&mut recipe, |policy| {
        policy.by = AssessBy::Steps;
        policy.anchors = None;
    });
    let (report, library, _) = assessed(recipe, scribe_parts(Judge::default()), 2);
    let steps: u32 = report
        .attempts()
        .filter(|one| one.success.is_some())
        .map(|one| one.steps)
        .sum();
    assert_eq!(library.subgoals().count(), steps as usize);
    assert!(
        library
            .subgoals()
            .all(|known| known.assessed.route.is_none())
    );
    let mut judged = report.attempts().filter(|one| one.success.is_some());
    assert!(judged.all(|one| one.process.is_some() == (one.steps > 0)));
}

#[test]
fn the_program_that_refreshes_prototypes_is_the_assessors_to_schedule() {
    let program = Policy::new("prototypes").with_options(AssessPolicy::default());
    let twice = scribe().with_program(n64(7), program.clone());
    let error = twice
        .resolve(&Policies::new())
        .expect_err("it is there twice");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let said = error.to_string();
    for part in ["maintenance.programs", "prototypes"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Without the assessor a recipe may have what it learned looked after.
    let alone = recipe::standard().with_program(n64(7), program);
    let mut alone = alone;
    alone.tiers.traces = 1;
    alone.resolve(&Policies::new()).expect("it resolves");
}

#[test]
fn a_role_can_route() {
    let mut recipe = scribe();
    assess(&mut recipe, |policy| {
        policy.route = RouteBy::Role;
        policy.least_confidence = 0.5;
    });
    let (report, library, _) = assessed(recipe.clone(), scribe_parts(Judge::default()), 5);
    let first = &library.prototypes()[0].id;
    let routed = library
        .subgoals()
        .filter_map(|known| known.assessed.route.as_ref());
    let routed: Vec<_> = routed.collect();
    assert!(!routed.is_empty());
    assert!(
        routed
            .iter()
            .all(|route| route.prototype == *first && route.confidence == 0.9)
    );
    assert!(processes(&report).iter().flatten().count() > 0);
    // A router that is less sure than the recipe asks for gives no prototype, and nothing is scored.
    assess(&mut recipe, |policy| policy.least_confidence = 0.95);
    let (report, ..) = assessed(recipe, scribe_parts(Judge::default()), 5);
    assert_eq!(processes(&report).iter().flatten().count(), 0);
}

#[test]
fn roles_that_nobody_plays_are_findings() {
    let mut components = scribe_parts(Judge::default());
    components.roles = Some(Arc::new(ScriptedRoles::only([Role::Summarize])));
    block_on(async {
        let journeyman =
            Journeyman::open(components, scribe(), Options::new("test", Seed(7))).await;
        let findings = journeyman.expect("it opens").findings();
        let text: Vec<_> = findings.iter().map(|one| format!("{one:?}")).collect();
        for role in [Role::Segment, Role::DistilPrototype, Role::Score] {
            assert!(
                text.iter().any(|one| one.contains(role.name())),
                "{role}: {text:?}"
            );
        }
        assert!(findings.iter().any(|one| one.kind == FindingKind::NoRoles));
    });
}

#[test]
fn nothing_is_assessed_in_evaluation() {
    let components = scribe_parts(Judge::default());
    block_on(async {
        let journeyman =
            Journeyman::open(components, scribe(), Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.evaluate(tasks(3)).await.expect("it evaluates");
        assert_eq!(processes(&report).iter().flatten().count(), 0);
        assert_eq!(
            journeyman
                .library()
                .await
                .expect("a library")
                .subgoals()
                .count(),
            0
        );
    });
}

#[test]
fn an_assessed_run_replays_and_resumes_to_the_same_bytes() {
    let journal = Arc::new(MemoryJournal::new());
    let mut components = scribe_parts(Judge::default());
    components.journal = Some(journal.clone());
    block_on(async {
        let journeyman =
            Journeyman::open(components, scribe(), Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(tasks(7)).await.expect("it learns");
        let json = bytes(&journeyman.library().await.expect("a library"));
        let entries = journal.read(&report.run).await.expect("it reads");
        let replayed = replay(&entries, &journeyman::policy::Policies::new()).expect("it replays");
        assert_eq!(bytes(replayed.library()), json);
        let saved = replayed.save().expect("it saves");
        let resumed = RunMachine::resume(&saved, &journeyman::policy::Policies::new());
        assert_eq!(resumed.expect("it resumes"), replayed);
        assert_eq!(
            bytes(&SkillLibrary::from_json(&json).expect("it is read")),
            json
        );
    });
}

#[test]
fn taking_a_run_back_takes_its_assessments() {
    let components = scribe_parts(Judge::default());
    block_on(async {
        let journeyman =
            Journeyman::open(components, scribe(), Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(tasks(4)).await.expect("it learns");
        assert!(
            !journeyman
                .library()
                .await
                .expect("a library")
                .prototypes()
                .is_empty()
        );
        let change = LibraryChange::RetireRun {
            run: report.run.clone(),
            reason: "a test".to_owned(),
        };
        let mut library = journeyman.library().await.expect("a library");
        let retired = journeyman::domain::Committed::new(
            library.revision().next(),
            "retire",
            Cause::new("a test"),
            vec![change],
        );
        library.apply(&retired).expect("it is taken back");
        assert!(library.prototypes().is_empty() && library.anchors().is_empty());
        assert_eq!(
            (library.subgoals().count(), library.anchor_checks().count()),
            (0, 0)
        );
    });
}
