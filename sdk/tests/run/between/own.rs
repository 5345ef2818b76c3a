//! Policies of a host's own: named by a recipe, asked, saved, and failing alone.

use std::{
    num::NonZeroU64,
    sync::atomic::{AtomicU32, Ordering},
};

use journeyman::testing::Edited as _;
use journeyman::{
    Version, async_trait,
    contract::{Journal, RoleTask},
    domain::{Query, ScoreKind, Selection, Skill, SkillRef, TurnQuery},
    policy::{Ask, Case, MaintenanceProgram, Policies, Policy, SelectProgram, View},
    run::{Performer, RunMachine, RunPlan},
};
use serde_json::json;

use super::*;

/// Chooses the first skill that is offered, or what it is told to do instead.
#[derive(Debug)]
enum Chooses {
    First,
    /// The first skill, so many times.
    Often(usize),
    WhatIsNotThere,
    Nothing,
    Panics,
    /// Asks everything that it can, and chooses nothing.
    AsksAll,
}

#[async_trait]
impl SelectProgram for Chooses {
    async fn select(
        &self,
        ask: &mut Ask,
        view: &View,
        _: &TurnQuery,
    ) -> journeyman::Result<Selected> {
        let first = view.offered().next().map(|entry| entry.skill.reference());
        let inject = |skills| {
            Selection::unscored(Decision::Inject {
                skills,
                explored: false,
            })
        };
        let selection = match (self, first) {
            (Self::First | Self::Often(_), Some(first)) => inject(vec![first]),
            (Self::WhatIsNotThere, _) => inject(vec![SkillRef {
                id: "nowhere".into(),
                version: Version(1),
            }]),
            (Self::Panics, _) => panic!("a selector that panics"),
            (Self::AsksAll, _) => {
                ask_all(ask, view).await;
                Selection::nothing(NothingReason::Disabled)
            }
            (Self::First | Self::Often(_), None) => Selection::nothing(NothingReason::NoCandidates),
            (Self::Nothing, _) => {
                return Err(Error::invalid("Chooses::select", "it does not want to"));
            }
        };
        Ok(match self {
            Self::Often(times) => Selected::new(Vec::new(), vec![selection; *times]),
            _ => selection.into(),
        })
    }
}

fn choosing(chooses: Chooses) -> (Recipe, Policies) {
    let chooses: Arc<dyn SelectProgram> = Arc::new(chooses);
    let policies = Policies::new().with_selector("own", move |_| Ok(Arc::clone(&chooses)));
    let mut recipe = hisme();
    recipe.select.selector = Policy::new("own");
    (recipe, policies)
}

async fn open_with(recipe: Recipe, policies: Policies) -> journeyman::Result<Journeyman> {
    let (components, _) = parts(Script::default());
    let options = Options::new("own", Seed(7)).with_policies(policies);
    Journeyman::open(components, recipe, options).await
}

fn learned(recipe: Recipe, policies: Policies) -> (RunReport, SkillLibrary, Vec<Event>) {
    block_on(async {
        let journeyman = open_with(recipe, policies).await.expect("it opens");
        let events = journeyman.events();
        let report = journeyman.learn(tasks(9)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        (report, library, events.collect().await)
    })
}

#[test]
fn a_selector_of_the_hosts_own_chooses() {
    let (recipe, policies) = choosing(Chooses::First);
    let (report, ..) = learned(recipe, policies);
    let injected = report.attempts().filter(|one| !one.injected.is_empty());
    assert!(injected.count() > 0);
}

#[test]
fn a_selector_that_fails_costs_the_injection_and_not_the_task() {
    for (chooses, why) in [
        (Chooses::WhatIsNotThere, "a skill that is not offered"),
        (Chooses::Often(0), "one selection, or one for each attempt"),
        (Chooses::Often(7), "one selection, or one for each attempt"),
        (Chooses::Nothing, "it does not want to"),
    ] {
        let (recipe, policies) = choosing(chooses);
        let (report, library, _) = learned(recipe, policies);
        assert!(report.attempts().all(|one| one.injected.is_empty()));
        assert!(
            library.entries().count() > 0,
            "skills are written all the same"
        );
        let last = report.tasks.last().expect("a task");
        let NothingReason::SelectorFailed(reason) = (match &last.selections[0].decision {
            Decision::Nothing(reason) => reason,
            other => panic!("{other:?}"),
        }) else {
            panic!("{:?}", last.selections);
        };
        assert!(reason.contains(why), "{reason}");
    }
}

#[test]
fn a_selector_that_panics_fails_its_task_with_the_reason() {
    let (recipe, policies) = choosing(Chooses::Panics);
    block_on(async {
        let journeyman = open_with(recipe, policies).await.expect("it opens");
        let events = journeyman.events();
        let learned = journeyman.learn(tasks(9)).await;
        drop(journeyman);
        let events: Vec<Event> = events.collect().await;
        let failed = events.iter().filter_map(|event| match &event.kind {
            EventKind::TaskFailed { reason } => Some(reason.as_str()),
            _ => None,
        });
        let failed: Vec<&str> = failed.collect();
        assert!(
            !failed.is_empty()
                && failed
                    .iter()
                    .all(|why| why.contains("a selector that panics"))
        );
        // The first tasks have no skill to choose from; it is asked once there is one.
        let report = learned.expect("the first tasks are done");
        let done = report.tasks.iter().filter(|task| task.failed.is_none());
        assert_eq!(done.count(), 9 - failed.len());
        assert!(failed.len() < 9);
    });
}

/// Asks everything that a host's own policy can ask.
async fn ask_all(ask: &mut Ask, view: &View) {
    let query = Query::new("one", 3);
    let skills: Vec<Skill> = view.offered().map(|entry| entry.skill.clone()).collect();
    let attempts: Vec<_> = view.library().traces().take(1).cloned().collect();
    let _ = ask.retrieve(query).await;
    let _ = ask
        .score("one".to_owned(), skills.clone(), ScoreKind::Pmi)
        .await;
    let _ = ask.embed(vec!["one".to_owned()]).await;
    let summarize = attempts.first().map(|attempt| RoleTask::Summarize {
        attempts: vec![attempt.clone()],
        shown_chars: None,
        keeps_reasoning: false,
    });
    ask.roles(summarize.into_iter().collect()).await;
    let cases = view
        .library()
        .entries()
        .flat_map(|entry| &entry.life.bundle);
    let cases = cases
        .take(1)
        .map(|bundled| Case::new(Box::new(bundled.case.clone())));
    ask.play(cases.collect()).await;
    let gains = skills
        .into_iter()
        .take(1)
        .map(|skill| (skill, attempts.clone()));
    ask.gains(gains.collect()).await;
}

#[test]
fn a_policy_of_the_hosts_own_can_ask_everything_and_its_run_replays() {
    let (choosing, selectors) = choosing(Chooses::AsksAll);
    let (maintaining, programs) = doing(Does::AsksAll);
    for (recipe, policies) in [(choosing, selectors), (maintaining, programs)] {
        block_on(async {
            let (mut components, _) = parts(Script::default());
            let journal = Arc::new(MemoryJournal::new());
            components.journal = Some(journal.clone());
            let options = Options::new("own", Seed(7)).with_policies(policies.clone());
            let journeyman = Journeyman::open(components, recipe, options)
                .await
                .expect("it opens");
            let report = journeyman.learn(tasks(9)).await.expect("it learns");
            assert_eq!(report.tasks.len(), 9);
            let library = journeyman.library().await.expect("a library");
            let entries = journal.read(&report.run).await.expect("entries");
            let replayed = replay(&entries, &policies).expect("a replay");
            assert!(replayed.is_finished());
            assert_eq!(bytes(replayed.library()), bytes(&library));
        });
    }
}

/// What a maintenance program does.
#[derive(Clone, Debug)]
enum Does {
    /// Archives the skill that was written first, by asking nobody.
    Archives,
    /// Changes a skill that is not there.
    Misses,
    /// Gives a change that breaks its rules.
    BreaksRules,
    /// Gives a skill without a description.
    Undescribed,
    /// Gives a skill that names a file nobody put.
    WithoutFile,
    /// Records evidence.
    Records,
    /// Asks everything that it can.
    AsksAll,
    Fails,
    Panics,
    /// Asks a role without end.
    NeverEnds,
    /// Waits for what is no answer.
    Waits,
    /// Asks another number of texts each time that it is run.
    AsksOtherwise(Arc<AtomicU32>),
}

#[async_trait]
impl MaintenanceProgram for Does {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> journeyman::Result<Vec<LibraryChange>> {
        let set = |skill| LibraryChange::SetState {
            skill,
            state: State::Archived,
            reason: "by hand".to_owned(),
        };
        let first = view.library().entries().next();
        match self {
            Self::Archives => {
                let live = first.filter(|entry| entry.skill.state != State::Archived);
                Ok(live
                    .map(|entry| set(entry.skill.id.clone()))
                    .into_iter()
                    .collect())
            }
            Self::Misses => Ok(vec![set("nowhere".into())]),
            Self::BreaksRules => Ok(vec![LibraryChange::Credit {
                skill: SkillRef {
                    id: "nowhere".into(),
                    version: Version(1),
                },
                attempt: "a".into(),
                reward: f64::NAN,
                uses: 1,
            }]),
            Self::Undescribed => {
                let mut skill = sample::skill("brew");
                skill.description.clear();
                Ok(vec![LibraryChange::Add(Box::new(skill))])
            }
            Self::WithoutFile => {
                let mut skill = sample::skill("brew");
                let file = journeyman::domain::FileRef::of(b"a form").expect("small");
                skill.files.insert(
                    journeyman::domain::FilePath::new("forms.md").expect("a path"),
                    file,
                );
                Ok(vec![LibraryChange::Add(Box::new(skill))])
            }
            Self::Records => Ok(vec![LibraryChange::Maintain]),
            Self::AsksAll => {
                ask_all(ask, view).await;
                Ok(Vec::new())
            }
            Self::Fails => Err(Error::invalid("Does::maintain", "it does not want to")),
            Self::Panics => panic!("a program that panics"),
            Self::NeverEnds => loop {
                ask.embed(vec!["again".to_owned()]).await;
            },
            Self::Waits => std::future::pending().await,
            Self::AsksOtherwise(calls) => {
                let call = calls.fetch_add(1, Ordering::SeqCst);
                ask.embed(vec![format!("text {call}")]).await;
                ask.embed(vec!["the same".to_owned()]).await;
                Ok(Vec::new())
            }
        }
    }
}

fn doing(does: Does) -> (Recipe, Policies) {
    let program: Arc<dyn MaintenanceProgram> = Arc::new(does);
    let policies =
        Policies::new().with_program("own", move |options| match options["works"].as_bool() {
            Some(false) => Err(Error::invalid("own", "it does not work")),
            _ => Ok(Arc::clone(&program)),
        });
    let every = NonZeroU64::new(3).expect("three");
    (hisme().with_program(every, Policy::new("own")), policies)
}

#[test]
fn a_program_of_the_hosts_own_changes_the_library_in_a_commit_of_its_own() {
    let (recipe, policies) = doing(Does::Archives);
    let (_, library, events) = learned(recipe, policies);
    let archived = library
        .entries()
        .filter(|entry| entry.skill.state == State::Archived);
    assert!(archived.count() > 0);
    let told = events.iter().any(|event| {
        matches!(&event.kind, EventKind::StateChanged { reason, .. } if reason == "by hand")
    });
    assert!(told);
}

#[test]
fn a_program_that_fails_fails_alone_and_says_why() {
    let mut plain = doing(Does::Fails).0;
    let programs = &mut plain.maintenance.programs;
    programs.retain(|one| one.program.name != "own");
    let (_, without, _) = learned(plain, Policies::new());
    for (does, why) in [
        (Does::BreaksRules, "finite"),
        (Does::Undescribed, "description"),
        (Does::WithoutFile, "a file that no skill"),
        (Does::Records, "may not record evidence"),
        (Does::Fails, "it does not want to"),
        (Does::Panics, "a program that panics"),
        (Does::NeverEnds, "more than 100000 questions"),
        (Does::Waits, "waits for something else than an answer"),
    ] {
        let (recipe, policies) = doing(does.clone());
        let (report, library, events) = learned(recipe, policies);
        let failed: Vec<&str> = events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::MaintenanceFailed { part, reason } if part == "own" => {
                    Some(reason.as_str())
                }
                _ => None,
            })
            .collect();
        assert!(failed.len() >= 2, "{does:?} is due again: {failed:?}");
        assert!(
            failed.iter().all(|reason| reason.contains(why)),
            "{does:?}: {failed:?}"
        );
        let found = report.findings.iter();
        let found =
            found.filter(|one| one.kind == journeyman::run::report::FindingKind::PolicyFailed);
        assert_eq!(found.count(), 1, "{does:?}");
        assert_eq!(bytes(&library), bytes(&without), "{does:?} loses nothing");
    }
}

#[test]
fn a_change_that_does_not_apply_has_no_effect_and_is_told() {
    let (recipe, policies) = doing(Does::Misses);
    let (_, _, events) = learned(recipe, policies);
    let why = "has no effect: the library never had the skill";
    let told = events
        .iter()
        .any(|event| matches!(&event.kind, EventKind::Refused { reason } if reason.ends_with(why)));
    assert!(told);
}

#[test]
fn a_recipe_that_names_what_nobody_registered_is_refused_with_what_is_known() {
    block_on(async {
        let (recipe, known) = doing(Does::Archives);
        let missing = open_with(recipe.clone(), Policies::new()).await;
        let missing = missing.expect_err("refused").to_string();
        // Ours are registered beside the host's.
        assert!(missing.contains("registered are: bank, "), "{missing}");
        let other = recipe
            .clone()
            .with_program(NonZeroU64::MIN, Policy::new("another"));
        let refused = open_with(other, known.clone()).await.expect_err("refused");
        assert_eq!(refused.kind(), ErrorKind::NotFound);
        assert!(
            refused.to_string().contains("micro, own, prototypes"),
            "{refused}"
        );
        // Its options are tried at the start too.
        let mut broken = recipe;
        let programs = broken.maintenance.programs.iter_mut();
        for own in programs.filter(|one| one.program.name == "own") {
            own.program = Policy::new("own").with_options(json!({ "works": false }));
        }
        let refused = open_with(broken, known).await.expect_err("refused");
        assert!(
            refused.to_string().contains("it does not work"),
            "{refused}"
        );
    });
}

#[test]
fn a_program_that_asks_otherwise_when_it_is_resumed_is_found_out() {
    let (recipe, policies) = doing(Does::AsksOtherwise(Arc::default()));
    let (components, _) = parts(Script::default());
    let performer = Performer::new(Arc::new(components), recipe.limits);
    let plan = RunPlan::new(RunId::new("run"), Seed(7), recipe, tasks(4)).edited(|it| {
        it.replays = true;
        it.policies = policies.clone();
    });
    let mut machine = RunMachine::new(plan).expect("a machine");
    let mut failed = Vec::new();
    while !machine.is_finished() {
        // Saved before each answer, and resumed.
        let saved = machine.save().expect("saved");
        machine = RunMachine::resume(&saved, &policies).expect("it resumes");
        let (id, effect) = machine.effects().remove(0);
        let answer = block_on(performer.perform(effect)).expect("performed");
        machine.answer(id, answer).expect("it fits");
        failed.extend(
            machine
                .take_events()
                .into_iter()
                .filter_map(|event| match event.kind {
                    EventKind::MaintenanceFailed { reason, .. } => Some(reason),
                    _ => None,
                }),
        );
    }
    let [failed] = failed.as_slice() else {
        panic!("once in four tasks: {failed:?}");
    };
    assert!(
        failed.contains("asks something else than in its first run"),
        "{failed}"
    );
}

#[test]
fn a_program_that_asks_otherwise_when_its_journal_is_replayed_is_found_out() {
    let (recipe, policies) = doing(Does::AsksOtherwise(Arc::default()));
    let (components, _) = parts(Script::default());
    let journal = Arc::new(MemoryJournal::new());
    let components = components.with_journal(Arc::clone(&journal) as _);
    let options = Options::new("own", Seed(7)).with_policies(policies.clone());
    block_on(async {
        let journeyman = Journeyman::open(components, recipe, options).await;
        let report = journeyman.expect("it opens").learn(tasks(4)).await;
        let run = report.expect("it learns").run;
        let entries = journal.read(&run).await.expect("it reads");
        let error = replay(&entries, &policies).expect_err("it asks otherwise");
        let said = error.to_string();
        assert!(said.contains("asks something else than it did"), "{said}");
        assert!(said.contains("/Maintain/"), "the place: {said}");
    });
}

/// Searches for another text each time that it is run.
#[derive(Debug, Default)]
struct Fickle(AtomicU32);

#[async_trait]
impl SelectProgram for Fickle {
    async fn select(&self, ask: &mut Ask, _: &View, _: &TurnQuery) -> journeyman::Result<Selected> {
        let query = Query::new(format!("text {}", self.0.fetch_add(1, Ordering::SeqCst)), 1);
        ask.retrieve(query).await?;
        Ok(Selection::nothing(NothingReason::NoCandidates).into())
    }
}

#[test]
fn another_first_question_of_the_first_task_is_found_out_on_replay() {
    let fickle: Arc<dyn SelectProgram> = Arc::new(Fickle::default());
    let policies = Policies::new().with_selector("own", move |_| Ok(Arc::clone(&fickle)));
    let mut recipe = hisme();
    recipe.select.selector = Policy::new("own");
    let (components, _) = parts(Script::default());
    let journal = Arc::new(MemoryJournal::new());
    let components = components.with_journal(Arc::clone(&journal) as _);
    let options = Options::new("own", Seed(7)).with_policies(policies.clone());
    block_on(async {
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let skills = vec![sample::skill("one")];
        journeyman.add(skills, "a start").await.expect("added");
        let run = journeyman.learn(tasks(1)).await.expect("it learns").run;
        let entries = journal.read(&run).await.expect("it reads");
        let error = replay(&entries, &policies).expect_err("it asks otherwise");
        assert!(error.to_string().contains("0/Retrieve/"), "{error}");
    });
}
