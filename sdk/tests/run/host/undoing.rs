//! Taking runs back: what returns, what stays away, and what two writers learn at once.

use std::sync::atomic::AtomicBool;

use journeyman::{
    domain::Timestamp,
    library::{FoundRun, RunFilter},
    papers::hisme::{MacroPolicy, MicroPolicy},
    run::report::WriteReport,
    stations::admit::{Duplicates, Identity},
};

use super::*;

/// A writer that says the same each time, in one of two wordings.
fn writer(in_other_words: bool) -> ScriptedModel {
    ScriptedModel::by(move |request, _| {
        let text = request.prompt.text();
        let word = text.split("say ").nth(1).and_then(|t| t.split(' ').next());
        let word = word.unwrap_or("nothing");
        Play::Give(match in_other_words {
            false => format!(
                "say-{word}: How to say {word} first.\n1. Call `say_{word}`.\n2. Call `go_on`."
            ),
            true => {
                format!("{word}-first: Saying {word} first.\nBefore go_on, call say_{word} once.")
            }
        })
    })
}

fn parts(in_other_words: bool) -> Components {
    let mut parts = components();
    parts.model = Some(Arc::new(writer(in_other_words)));
    parts
}

fn recipe_with(duplicates: Duplicates, identity: Identity) -> Recipe {
    let mut recipe = recipe();
    recipe.admit.duplicates = duplicates;
    recipe.admit.identity = identity;
    recipe
}

/// The names of the skills that a run may offer.
fn offered(library: &SkillLibrary) -> Vec<String> {
    let offered = library
        .entries()
        .filter(|entry| entry.skill.state.is_offered());
    let mut names: Vec<String> = offered.map(|entry| entry.skill.name.to_string()).collect();
    names.sort();
    names
}

#[test]
fn what_went_with_its_run_is_learned_again() {
    for duplicates in [Duplicates::Add, Duplicates::Distinct, Duplicates::Revise] {
        block_on(async {
            let parts = parts(false);
            let recipe = recipe_with(duplicates, Identity::Bytes);
            let journeyman = open_as("test", &parts, recipe).await;
            journeyman.learn(tasks(3)).await.expect("it learns");
            let learned = offered(&journeyman.library().await.expect("a library"));
            assert_eq!(learned, ["say-one", "say-three", "say-two"]);
            let planned = journeyman
                .would_retire(&RunFilter::of_session("test"))
                .await;
            let planned = planned.expect("a plan");
            assert_eq!(planned.applied.moves.len(), 3, "{planned:?}");
            assert_eq!(planned.revision, None);
            let after = journeyman.library().await.expect("a library");
            assert_eq!(offered(&after), learned, "it was shown alone");
            let retired = journeyman
                .retire(&RunFilter::of_session("test"), "a bad day")
                .await;
            assert!(retired.expect("it is taken back").revision.is_some());
            let after = journeyman.library().await.expect("a library");
            assert_eq!(offered(&after), [""; 0]);
            // The same tasks again are other evidence.
            journeyman.learn(tasks(3)).await.expect("it learns");
            let again = journeyman.library().await.expect("a library");
            assert_eq!(offered(&again), learned, "{duplicates:?}");
            // A second undo of the first run leaves alone what was learned since.
            let first = RunFilter::of_run("test/learn-0");
            let none = journeyman.retire(&first, "again").await.expect_err("none");
            assert_eq!(none.kind(), ErrorKind::NotFound);
            let twice = LibraryChange::RetireRun {
                run: "test/learn-0".into(),
                reason: "twice".to_owned(),
            };
            let commit = sample::commit(again.revision().0, "twice", vec![twice]);
            let store = parts.store.clone().expect("a store");
            store.commit(&commit).await.expect("it commits");
            let after = journeyman.library().await.expect("a library");
            assert_eq!(offered(&after), learned);
        });
    }
}

/// Takes a skill out of use, has it written again in other words, and gives what became of that.
fn written_again(state: State, duplicates: Duplicates, by_host: bool) -> Vec<WriteReport> {
    block_on(async {
        let recipe = recipe_with(duplicates, Identity::Bytes);
        let first = parts(false);
        let journeyman = open_as("test", &first, recipe.clone()).await;
        journeyman.learn(tasks(1)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        let skill = library.entries().next().expect("a skill").skill.id.clone();
        if by_host {
            let set = journeyman.set_state(&skill, state, "it is wrong").await;
            set.expect("it is set");
        } else {
            let store = first.store.clone().expect("a store");
            let change = LibraryChange::SetState {
                skill,
                state,
                reason: "by evidence".to_owned(),
            };
            let mut commit = sample::commit(library.revision().0, "a run", vec![change]);
            commit.cause.run = Some("other/learn-0".into());
            store.commit(&commit).await.expect("it commits");
        }
        let mut again = parts(true);
        again.store = first.store.clone();
        let journeyman = open_as("later", &again, recipe).await;
        let report = journeyman.learn(tasks(1)).await.expect("it learns");
        report.written().cloned().collect()
    })
}

#[test]
fn what_a_person_takes_out_of_use_does_not_come_back_in_other_words() {
    for duplicates in [Duplicates::Add, Duplicates::Distinct, Duplicates::Revise] {
        for state in [State::Quarantined, State::Disabled, State::Archived] {
            let written = written_again(state, duplicates, true);
            let [written] = written.as_slice() else {
                panic!("one draft: {written:?}");
            };
            assert_eq!(written.admitted, None, "{duplicates:?} {state:?}");
            let said = written.refused.as_deref().expect("a reason");
            for part in [
                "the library has this skill already, in other words: `say-one`",
                &state.to_string(),
                "by the host or a person",
                "journeyman skill release say-one",
            ] {
                assert!(said.contains(part), "{part:?} in {said}");
            }
        }
    }
    // Evidence decides of the wording that it saw.
    let written = written_again(State::Disabled, Duplicates::Distinct, false);
    assert!(written[0].admitted.is_some(), "{written:?}");
}

#[test]
fn another_skill_of_its_title_neither_overwrites_nor_waits_for_what_a_person_took_out_of_use() {
    for state in [State::Quarantined, State::Disabled, State::Archived] {
        for identity in [Identity::Bytes, Identity::MEANING] {
            block_on(async {
                let recipe = recipe_with(Duplicates::Revise, identity);
                let first = parts(false);
                let journeyman = open_as("test", &first, recipe.clone()).await;
                journeyman.learn(tasks(1)).await.expect("it learns");
                let library = journeyman.library().await.expect("a library");
                let wrong = library.entries().next().expect("a skill").skill.clone();
                let set = journeyman.set_state(&wrong.id, state, "it is wrong").await;
                set.expect("it is set");
                // Another wording of the other skill is its next version, and no third one.
                for (session, way) in [("later", "bow"), ("last", "wave")] {
                    let other = format!("say-one: A song.\n1. Call `sing`.\n2. Call `{way}`.");
                    let other = ScriptedModel::by(move |_, _| Play::Give(other.clone()));
                    let mut again = parts(false);
                    again.store = first.store.clone();
                    again.model = Some(Arc::new(other));
                    let journeyman = open_as(session, &again, recipe.clone()).await;
                    journeyman.learn(tasks(1)).await.expect("it learns");
                    let after = journeyman.library().await.expect("a library");
                    let kept = &after.get(&wrong.id).expect("it is there").skill;
                    assert_eq!(
                        (kept.state, kept.version, &kept.body),
                        (state, wrong.version, &wrong.body)
                    );
                    assert_eq!(offered(&after), ["say-one-2"], "{state:?} {identity:?}");
                }
            });
        }
    }
}

#[test]
fn a_retired_run_gives_back_what_it_disabled() {
    block_on(async {
        let parts = parts(false);
        let journeyman = open_as("test", &parts, recipe()).await;
        journeyman.learn(tasks(2)).await.expect("it learns");
        let learned = journeyman.library().await.expect("a library");
        let store = parts.store.clone().expect("a store");
        let disables = learned.entries().map(|entry| LibraryChange::SetState {
            skill: entry.skill.id.clone(),
            state: State::Disabled,
            reason: "a judge's mistake".to_owned(),
        });
        let mut commit = sample::commit(learned.revision().0, "bad", disables.collect());
        commit.cause.run = Some("test/begin-7".into());
        commit.cause.at = Some(Timestamp(1_000));
        store.commit(&commit).await.expect("it commits");
        let mut bad = RunFilter::default();
        bad.since = Some(Timestamp(1_000));
        bad.skill = learned.entries().next().map(|entry| entry.skill.id.clone());
        let retired = journeyman.retire(&bad, "a bad day").await.expect("done");
        let runs: Vec<&str> = retired.runs.iter().map(|one| one.run.as_str()).collect();
        assert_eq!(runs, ["test/begin-7"]);
        let after = journeyman.library().await.expect("a library");
        assert_eq!(offered(&after), offered(&learned));
    });
}

/// The runs of a filter over two runs of one session, with tasks and times, and one state that a host set.
fn found(filter: &RunFilter) -> Vec<String> {
    let made = |revision: u64, run: &str, task: &str, at: Option<u64>| {
        let mut commit = sample::commit(revision - 1, run, Vec::new());
        commit.cause.run = Some(run.into());
        commit.cause.task = Some(task.into());
        commit.cause.at = at.map(Timestamp);
        commit.made_on(Revision(revision - 1)).expect("made")
    };
    let commits = [
        made(1, "desk/learn-0", "a", Some(10)),
        made(2, "desk/begin-0", "b", Some(30)),
        // The clock was set back.
        made(3, "desk/begin-0", "c", Some(5)),
        made(4, "desk/state-0", "a", Some(40)),
        made(5, "other/learn-0", "a", None),
    ];
    let name = |found: FoundRun| found.run.to_string();
    filter.runs(&commits).into_iter().map(name).collect()
}

#[test]
fn runs_are_found_by_session_task_and_time() {
    let all = RunFilter::default();
    let everything = ["other/learn-0", "desk/begin-0", "desk/learn-0"];
    assert_eq!(found(&all), everything);
    assert_eq!(found(&RunFilter::of_session("desk")), everything[1..]);
    assert_eq!(found(&RunFilter::of_session("des")), [""; 0]);
    // A session whose name goes on is another one.
    assert!(!journeyman::RunId::new("desk/west/learn-0").is_of("desk"));
    assert!(journeyman::RunId::new("desk/west/learn-0").is_of("desk/west"));
    let task = |task: &str| {
        let mut filter = RunFilter::default();
        filter.task = Some(task.into());
        filter
    };
    assert_eq!(found(&task("a")), ["other/learn-0", "desk/learn-0"]);
    assert_eq!(found(&task("c")), ["desk/begin-0"]);
    let since = |at: u64| {
        let mut filter = RunFilter::default();
        filter.since = Some(Timestamp(at));
        filter
    };
    assert_eq!(found(&since(20)), ["desk/begin-0"]);
    assert_eq!(found(&since(10)), everything[1..]);
    // What a host decided is taken back by its id alone.
    let state = RunFilter::of_run("desk/state-0");
    assert_eq!(found(&state), ["desk/state-0"]);
}

#[test]
fn two_undos_at_once_are_one() {
    block_on(async {
        let parts = parts(false);
        let journeyman = open_as("test", &parts, recipe()).await;
        let none = journeyman.retire(&RunFilter::of_session("test"), "").await;
        assert_eq!(none.expect_err("nothing yet").kind(), ErrorKind::NotFound);
        let all = journeyman.retire(&RunFilter::default(), "").await;
        assert_eq!(all.expect_err("all").kind(), ErrorKind::Invalid);
        journeyman.learn(tasks(3)).await.expect("it learns");
        let other = open_as("other", &parts, recipe()).await;
        let filter = RunFilter::of_session("test");
        let (one, two) = futures::join!(
            journeyman.retire(&filter, "one"),
            other.retire(&filter, "two")
        );
        assert!(one.is_ok() || two.is_ok(), "{one:?} {two:?}");
        let after = other.library().await.expect("a library");
        assert_eq!(offered(&after), [""; 0]);
        other.learn(tasks(3)).await.expect("it learns");
        let again = other.library().await.expect("a library");
        assert_eq!(offered(&again).len(), 3);
    });
}

/// A store in which another writer commits the same skill, in other words, right before the first commit that adds one.
#[derive(Debug)]
struct Overtaking {
    inner: MemoryStore,
    other: Skill,
    done: AtomicBool,
}

#[async_trait]
impl SkillStore for Overtaking {
    async fn load(&self) -> journeyman::Result<Snapshot> {
        self.inner.load().await
    }

    async fn since(&self, revision: Revision) -> journeyman::Result<Vec<Committed>> {
        self.inner.since(revision).await
    }

    async fn commit(&self, commit: &Commit) -> journeyman::Result<Committed> {
        let adds = |change: &LibraryChange| matches!(change, LibraryChange::Add(_));
        if commit.changes.iter().any(adds) && !self.done.swap(true, Ordering::SeqCst) {
            let add = LibraryChange::Add(Box::new(self.other.clone()));
            let mut theirs = sample::commit(commit.base.0, "theirs", vec![add]);
            theirs.cause.run = Some("theirs/learn-0".into());
            self.inner.commit(&theirs).await?;
        }
        self.inner.commit(commit).await
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

/// One task learned from while another process learns the same: what became of the draft, and the library.
fn overtaken(recipe: Recipe) -> (RunReport, SkillLibrary) {
    let mut other = sample::skill("one-first");
    "Saying one first.".clone_into(&mut other.description);
    "Before go_on, call say_one once.".clone_into(&mut other.body);
    let store = Overtaking {
        inner: MemoryStore::new(),
        other,
        done: AtomicBool::new(false),
    };
    let mut parts = parts(false);
    parts.store = Some(Arc::new(store));
    parts.executor = Some(Arc::new(ScriptedExecutor::acting(|attempt, steps| {
        let due: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        Play::Give(due.get(steps.len()).cloned().map(Action::Message))
    })));
    block_on(async {
        let journeyman = open_as("ours", &parts, recipe).await;
        let report = journeyman.learn(tasks(1)).await.expect("it learns");
        // What the journal has of the run gives the same.
        let journal = parts.journal.clone().expect("a journal");
        let entries = journal.read(&report.run).await.expect("entries");
        let machine = replay(&entries, &journeyman::policy::Policies::new()).expect("a replay");
        let library = journeyman.library().await.expect("a library");
        assert_eq!(bytes(machine.library()), bytes(&library));
        (report, library)
    })
}

#[test]
fn a_skill_that_another_process_committed_meanwhile_is_recognized() {
    for duplicates in [Duplicates::Revise, Duplicates::Distinct] {
        let recipe = recipe_with(duplicates, Identity::MEANING);
        let (report, library) = overtaken(recipe);
        assert_eq!(library.entries().count(), 1, "{duplicates:?}");
        let written: Vec<&WriteReport> = report.written().collect();
        let same = written[0].duplicate.as_ref().expect("it is known");
        assert_eq!(same.skill.id.as_str(), "one-first");
    }
    // Where the recipe lets doubles in, so it is.
    let recipe = recipe_with(Duplicates::Add, Identity::Bytes);
    assert_eq!(overtaken(recipe).1.entries().count(), 2);
}

#[test]
fn a_skill_that_another_process_committed_gets_the_attempt_as_a_test_case() {
    let mut recipe = recipe::hisme_robust();
    recipe.select = super::recipe().select;
    recipe.write.when = WriteWhen::Always;
    recipe.maintenance.remove::<MacroPolicy>();
    recipe.maintenance.edit(|micro: &mut MicroPolicy| {
        micro.refine = None;
        micro.filter = None;
    });
    let (report, library) = overtaken(recipe);
    let written: Vec<&WriteReport> = report.written().collect();
    let same = written[0].duplicate.as_ref().expect("it is known");
    assert!(same.confirms, "{written:?}");
    let entry = library.get(&"one-first".into()).expect("it is there");
    assert_eq!(entry.life.bundle.len(), 1);
}
