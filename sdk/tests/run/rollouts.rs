//! Rollouts of a group of tasks (SkillOS): each with a library of its own; merging one back; tags of tasks.

use journeyman::{
    SkillId,
    agent::ForkStore,
    contract::Retriever,
    domain::{LibraryChange, Role, Skill, State},
    library::ConflictReason,
    papers::skillos::{CompositeTerms, CompositeWeights, GroupRollout, Grouping, Rollouts},
    run::report::{CallCounts, FindingKind},
    testing::WordTokenizer,
};
use serde_json::json;

use super::*;

/// A recipe whose rollouts have two tries at chance: the agent's seed decides whether it knows the words without a skill.
fn skillos() -> Recipe {
    let mut recipe = recipe::skillos();
    // Rollouts run in sequence all the same.
    recipe.batch = n64(4);
    recipe
}

/// Inserts a skill named for the task, after successes alone.
fn curator() -> ScriptedModel {
    ScriptedModel::by(|request, _| {
        let text = request.prompt.text();
        let word = text
            .split("task: say ")
            .nth(1)
            .and_then(|text| text.split_whitespace().next());
        let call = json!({"tool": "insert_skill", "arguments": {
            "name": format!("say-{}", word.unwrap_or("nothing")),
            "description": "How to say it.",
            "body": "Say it.",
        }});
        Play::Give(match text.contains("correct: Some(true)") {
            true => call.to_string(),
            false => "none".to_owned(),
        })
    })
}

fn parts() -> Components {
    let mut components = components();
    components.scorer = None;
    components.model = Some(Arc::new(curator()));
    components.roles = Some(Arc::new(ScriptedRoles::only([Role::Curate, Role::Tag])));
    components.tokenizer = Some(Arc::new(WordTokenizer));
    components
}

async fn opened(components: Components) -> Journeyman {
    let opened = Journeyman::open(components, skillos(), Options::new("test", Seed(7))).await;
    opened.expect("it opens")
}

fn rollouts(count: u32) -> Rollouts {
    Rollouts::new(n32(count)).with_retriever(|| Ok(Arc::new(ScriptedRetriever::new()) as _))
}

async fn rolled(journeyman: &Journeyman, n: usize, count: u32) -> Vec<GroupRollout> {
    let rolled = journeyman.roll_out(tasks(n), &rollouts(count)).await;
    let rolled = rolled.expect("it rolls out").into_iter();
    rolled.map(|one| one.expect("a rollout")).collect()
}

/// What a rollout came to, without what is shared.
fn summary(one: &GroupRollout) -> (u32, String, Option<f64>, RunReport) {
    let library = bytes(one.fork.library());
    (one.number, library, one.reward, one.report.clone())
}

#[test]
fn each_rollout_runs_the_group_in_sequence_on_a_library_of_its_own() {
    block_on(async {
        let components = parts();
        let (store, journal) = (components.store.clone(), components.journal.clone());
        let journeyman = opened(components).await;
        let rolled = rolled(&journeyman, 6, 8).await;
        assert_eq!(rolled.len(), 8);
        for (number, one) in (0..).zip(&rolled) {
            assert_eq!(one.number, number);
            assert_eq!(
                one.report.run.as_str(),
                format!("test/rollouts-0/{number}/learn-0")
            );
            assert_eq!(one.report.tasks.len(), 6);
            assert_eq!(one.fork.library().tasks_learned(), 6);
            // A skill that a task's curator inserted is there for the next task.
            let mut held: usize = 0;
            for task in &one.report.tasks {
                let injected = task.attempts[0].injected.len();
                assert_eq!(
                    injected,
                    held.min(2),
                    "rollout {number}, task {}",
                    task.step
                );
                let curation = task.curation.as_ref().expect("it was asked");
                held += curation.counts().valid as usize;
            }
            let added = one
                .fork
                .changes()
                .iter()
                .filter(|one| matches!(one, LibraryChange::Add(_)));
            assert_eq!(added.count(), one.fork.library().entries().count());
        }
        let seeds: std::collections::BTreeSet<Seed> =
            rolled.iter().map(|one| one.report.seed).collect();
        assert_eq!(seeds.len(), 8);
        let sizes: std::collections::BTreeSet<usize> = rolled
            .iter()
            .map(|one| one.fork.library().entries().count())
            .collect();
        assert!(sizes.len() > 1, "all rollouts went alike: {sizes:?}");
        // The library is as it was, and the journal has no rollout.
        let revision = store
            .expect("a store")
            .load()
            .await
            .expect("it loads")
            .revision;
        assert_eq!(revision, Revision(0));
        assert!(
            journal
                .expect("a journal")
                .runs()
                .await
                .expect("runs")
                .is_empty()
        );
    });
}

#[test]
fn the_same_seed_gives_the_same_rollouts_however_many_are_under_way() {
    let roll = |at_once: usize| {
        block_on(async {
            let journeyman = opened(parts()).await;
            let mut plan = rollouts(6);
            plan.at_once = NonZeroUsize::new(at_once).expect("not 0");
            let rolled = journeyman
                .roll_out(tasks(5), &plan)
                .await
                .expect("it rolls out");
            let all: Vec<_> = rolled
                .iter()
                .map(|one| summary(one.as_ref().expect("one")))
                .collect();
            // Another group has other seeds.
            let again = journeyman
                .roll_out(tasks(5), &plan)
                .await
                .expect("it rolls out");
            let again: Vec<_> = again
                .iter()
                .map(|one| summary(one.as_ref().expect("one")))
                .collect();
            assert_ne!(all, again);
            (all, again)
        })
    };
    let all = roll(6);
    assert_eq!(roll(1), all);
    assert_eq!(roll(3), all);
}

#[test]
fn the_reward_is_made_of_what_the_rollout_shows() {
    block_on(async {
        let journeyman = opened(parts()).await;
        for one in rolled(&journeyman, 6, 4).await {
            let later = &one.report.tasks[1..];
            let done = later
                .iter()
                .filter(|task| task.attempts[0].success == Some(true));
            let success = done.count() as f64 / 5.0;
            let mut counts = CallCounts::default();
            let curations = || {
                one.report
                    .tasks
                    .iter()
                    .filter_map(|task| task.curation.as_ref())
            };
            curations().for_each(|curation| counts.add(curation.counts()));
            let prompts: u64 = curations().map(|curation| curation.context_tokens).sum();
            let repository =
                journeyman::papers::skillos::repository_tokens(one.fork.library(), &WordTokenizer);
            let compression = 1.0 - repository.expect("counted") as f64 / prompts as f64;
            assert_eq!(
                one.terms,
                CompositeTerms::default()
                    .with_success(success)
                    .with_validity(counts.validity())
                    .with_compression(compression)
            );
            let reward = one.reward.expect("later tasks were judged");
            assert!((reward - (success + counts.validity() + 0.05 * compression)).abs() < 1e-12);
            // A host that judges the content sets its score.
            let judged = one.terms.with_quality(0.5);
            let judged = CompositeWeights::default()
                .reward(&judged)
                .expect("in range");
            assert!((judged.expect("as before") - reward - 0.05).abs() < 1e-12);
        }
    });
}

#[test]
fn a_group_of_one_task_has_no_reward() {
    let parts = parts();
    let journal = parts.journal.clone().expect("a journal");
    block_on(async {
        let journeyman = opened(parts).await;
        let groups = Grouping::default()
            .groups(vec![tasks(1).remove(0)])
            .expect("groups");
        assert_eq!(groups.len(), 1);
        for group in groups {
            for one in journeyman
                .roll_out(group, &rollouts(3))
                .await
                .expect("it rolls out")
            {
                let one = one.expect("a rollout");
                assert_eq!((one.terms.success, one.reward), (None, None));
                assert_eq!(one.terms.validity, Some(1.0));
                let mut found = one.report.findings.iter();
                assert!(found.any(|one| one.kind == FindingKind::GroupOfOne));
            }
        }
        // The rollouts write nothing to the journal; the session's next run says it there.
        let learned = journeyman.learn(tasks(1)).await.expect("it learns");
        let (found, _) = journaled(journal.as_ref(), &learned.run).await;
        let one = found.iter().find(|one| one.kind == FindingKind::GroupOfOne);
        assert!(
            one.expect("a finding")
                .reason
                .contains("the group has one task")
        );
    });
}

#[test]
fn a_merged_rollout_is_one_commit_that_can_be_taken_back() {
    block_on(async {
        let components = parts();
        let store = components.store.clone().expect("a store");
        let journeyman = opened(components).await;
        let mut rolled = rolled(&journeyman, 6, 4).await;
        let best = rolled
            .iter()
            .position(|one| one.fork.library().entries().count() == 3);
        let best = rolled.remove(best.expect("one learned all three"));
        let merged = journeyman
            .merge(&best, "the best of four")
            .await
            .expect("it merges");
        assert!(merged.conflicts.is_empty());
        assert_eq!(merged.revision, Revision(1));
        let library = journeyman.library().await.expect("a library");
        let names = |library: &SkillLibrary| -> Vec<(String, Skill)> {
            let entries = library.entries().map(|entry| &entry.skill);
            entries
                .map(|skill| (skill.name.to_string(), skill.clone()))
                .collect()
        };
        assert_eq!(names(&library), names(best.fork.library()));
        let commit = store.load().await.expect("it loads").committed.remove(0);
        assert_eq!(commit.cause.run.as_ref(), Some(&best.report.run));
        assert_eq!(commit.changes.len(), merged.committed);

        // Twice is a conflict, and another one of the group gets other names.
        let twice = journeyman
            .merge(&best, "again")
            .await
            .map_err(|error| error.kind());
        assert_eq!(twice, Err(ErrorKind::Conflict));
        let other = rolled
            .iter()
            .find(|one| one.fork.library().entries().count() > 0);
        let other = journeyman
            .merge(other.expect("another one learned"), "too")
            .await;
        assert!(other.expect("it merges").conflicts.is_empty());
        let library = journeyman.library().await.expect("a library");
        assert!(
            library
                .entries()
                .any(|entry| entry.skill.name.as_str().ends_with("-2"))
        );

        // Its run takes all of it back.
        let last = store.load().await.expect("it loads").committed.len() as u64;
        let retire = LibraryChange::RetireRun {
            run: best.report.run.clone(),
            reason: "a mistake".to_owned(),
        };
        store
            .commit(&sample::commit(last, "back", vec![retire]))
            .await
            .expect("it commits");
        let library = journeyman.library().await.expect("a library");
        for skill in best.fork.library().entries().map(|entry| &entry.skill.id) {
            assert_eq!(
                library.get(skill).expect("kept").skill.state,
                State::Disabled
            );
        }
        // A later process does not use the names of these rollouts again.
        let mut components = parts();
        components.store = Some(store);
        let next = opened(components).await;
        let next = next
            .roll_out(tasks(2), &rollouts(1))
            .await
            .expect("it rolls out");
        let run = next
            .into_iter()
            .next()
            .expect("one")
            .expect("a rollout")
            .report
            .run;
        assert_eq!(run.as_str(), "test/rollouts-1/0/learn-0");
    });
}

#[test]
fn what_changed_meanwhile_is_a_conflict_and_the_rest_is_merged() {
    block_on(async {
        let mut components = parts();
        let update =
            json!({"tool": "update_skill", "arguments": {"skill": "say-one", "body": "Mine."}});
        let insert = json!({"tool": "insert_skill", "arguments": {
            "name": "more", "description": "More.", "body": "More.",
        }});
        let text = format!("{update}\n{insert}");
        components.model = Some(Arc::new(ScriptedModel::always(text)));
        let journeyman = opened(components).await;
        let start = vec![sample::skill("say-one"), sample::skill("other")];
        journeyman.add(start, "a start").await.expect("added");
        let one = rolled(&journeyman, 1, 1).await.remove(0);
        let skill = SkillId::new("say-one");
        assert_eq!(
            one.fork.library().get(&skill).expect("there").skill.body,
            "Mine."
        );
        journeyman
            .set_state(&skill, State::Disabled, "meanwhile")
            .await
            .expect("set");
        let merged = journeyman.merge(&one, "late").await.expect("it merges");
        assert!(!merged.conflicts.is_empty());
        for conflict in &merged.conflicts {
            assert_eq!(conflict.skill.as_ref(), Some(&skill));
            assert_eq!(conflict.reason, ConflictReason::StateChanged);
        }
        let library = journeyman.library().await.expect("a library");
        let kept = &library.get(&skill).expect("there").skill;
        assert_eq!((kept.version.0, kept.state), (1, State::Disabled));
        assert!(
            library
                .entries()
                .any(|entry| entry.skill.name.as_str() == "more")
        );
    });
}

#[test]
fn what_cannot_be_rolled_out_is_refused_before_anything_runs() {
    block_on(async {
        let journeyman = opened(parts()).await;
        let refused = |error: Error, words: &str| {
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            assert!(error.to_string().contains(words), "{error}");
        };
        let empty = journeyman.roll_out(Vec::new(), &rollouts(2)).await;
        refused(empty.expect_err("refused"), "no tasks");
        // The session's index is of the session's library.
        let bare = Rollouts::new(n32(2));
        let shared = journeyman.roll_out(tasks(2), &bare).await;
        refused(shared.expect_err("refused"), "cannot share");
        // Without a retriever, and where the recipe searches none, there is nothing to share.
        let mut without = parts();
        without.retriever = None;
        let rolled = opened(without).await.roll_out(tasks(2), &bare).await;
        assert!(rolled.expect("it rolls out").iter().all(Result::is_ok));
        let mut cached = skillos();
        cached.select.candidates = journeyman::stations::select::Candidates::Cache;
        let opened = Journeyman::open(parts(), cached, Options::new("cached", Seed(7))).await;
        let rolled = opened.expect("it opens").roll_out(tasks(2), &bare).await;
        assert!(rolled.expect("it rolls out").iter().all(Result::is_ok));
    });
}

#[test]
fn a_rollout_that_fails_is_its_error_and_leaves_the_others() {
    block_on(async {
        let made = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let failing = Rollouts::new(n32(4)).with_retriever(move || {
            match made.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                1 => Err(Error::new(
                    ErrorKind::Unavailable,
                    "a host's index",
                    "no room",
                )),
                _ => Ok(Arc::new(ScriptedRetriever::new()) as Arc<dyn Retriever>),
            }
        });
        let journeyman = opened(parts()).await;
        let rolled = journeyman
            .roll_out(tasks(2), &failing)
            .await
            .expect("it rolls out");
        let failed: Vec<bool> = rolled.iter().map(Result::is_err).collect();
        assert_eq!(failed, [false, true, false, false]);
        let error = rolled
            .into_iter()
            .nth(1)
            .expect("four")
            .expect_err("it failed");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    });
}

#[test]
fn a_rollout_ends_by_an_error_only_where_none_of_its_attempts_could_be_made() {
    block_on(async {
        let mut components = parts();
        components.executor = Some(Arc::new(ScriptedExecutor::acting(|attempt, steps| {
            let id = attempt.id.as_str();
            let is_late = id.contains("rollouts-0/1/")
                || id.contains("rollouts-0/2/") && attempt.task.id.as_str() == "task-0";
            if is_late {
                let late = Error::new(ErrorKind::Timeout, "a model", "not finished within 60 s");
                return Play::Fail(late);
            }
            let due = attempt.task.payload.get(steps.len());
            let word = due.and_then(|word| word.as_str()).map(str::to_owned);
            Play::Give(word.map(Action::Message))
        })));
        let journeyman = opened(components).await;
        let rolled = journeyman.roll_out(tasks(2), &rollouts(3)).await;
        let rolled = rolled.expect("it rolls out");
        let faults: Vec<Option<usize>> = (rolled.iter())
            .map(|one| Some(one.as_ref().ok()?.report.errors().count()))
            .collect();
        assert_eq!(faults, [Some(0), None, Some(1)]);
        let error = rolled[1].as_ref().expect_err("it failed");
        assert_eq!(error.kind(), ErrorKind::Timeout);
        let first = std::error::Error::source(error).and_then(|one| one.downcast_ref::<Error>());
        assert_eq!(first.map(Error::operation), Some("a model"));
    });
}

#[test]
fn a_read_only_session_rolls_out_and_merges_nothing() {
    block_on(async {
        let options = Options::new("test", Seed(7)).read_only();
        let opened = Journeyman::open(parts(), skillos(), options).await;
        let journeyman = opened.expect("it opens");
        let rolled = rolled(&journeyman, 2, 2).await;
        let merged = journeyman.merge(&rolled[0], "no").await;
        assert_eq!(
            merged.map_err(|error| error.kind()),
            Err(ErrorKind::Unsupported)
        );
    });
}

#[test]
fn a_host_may_send_rollouts_to_another_thread() {
    fn sent<T: Send>(one: T) -> T {
        one
    }
    let journeyman = block_on(opened(parts()));
    let plan = rollouts(2);
    let rolled = block_on(sent(journeyman.roll_out(tasks(2), &plan))).expect("it rolls out");
    let one = rolled.into_iter().next().expect("two").expect("a rollout");
    assert!(block_on(sent(journeyman.merge(&one, "one"))).is_ok());
    assert!(block_on(sent(journeyman.tag(Vec::new()))).is_ok());
}

#[test]
fn tags_come_from_the_role_where_a_task_has_none() {
    let mut components = parts();
    components.model = Some(Arc::new(ScriptedModel::by(|request, _| {
        let text = request.prompt.text();
        assert!(!text.contains("hunter2"), "{text}");
        Play::Give(match text.contains("say two") {
            true => " \n".to_owned(),
            false => "saying\n one \nsaying".to_owned(),
        })
    })));
    block_on(async {
        let journeyman = opened(components).await;
        let mut all = tasks(3);
        all[2].tags = vec!["own".to_owned()];
        all[0].instruction += " password=hunter2hunter2";
        let tagged = journeyman.tag(all.clone()).await.expect("it tags");
        assert_eq!(tagged.tasks[0].tags, ["saying", "one"]);
        // The host's task comes back as it was, secrets included.
        assert_eq!(tagged.tasks[0].instruction, all[0].instruction);
        assert_eq!(tagged.tasks[1], all[1]);
        assert_eq!(tagged.tasks[2], all[2]);
        let [untagged] = tagged.untagged.as_slice() else {
            panic!("{:?}", tagged.untagged);
        };
        assert_eq!(
            (&untagged.task, untagged.error.kind()),
            (&all[1].id, ErrorKind::Model)
        );
        assert!(tagged.usage.total() > 0);
        let groups = Grouping::default().groups(tagged.tasks).expect("groups");
        assert_eq!(groups.len(), 3);
    });
}

#[test]
fn without_a_model_that_tags_there_are_no_tags() {
    let check = |change: fn(&mut Components)| {
        let mut components = parts();
        change(&mut components);
        let journeyman = block_on(opened(components));
        let refused = block_on(journeyman.tag(tasks(2))).expect_err("refused");
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
    };
    check(|components| components.model = None);
    check(|components| components.roles = None);
    check(|components| components.roles = Some(Arc::new(ScriptedRoles::only([Role::Curate]))));
}

#[test]
fn a_fork_store_begins_with_its_base_and_keeps_its_own_commits_apart() {
    let add = |name: &str| vec![LibraryChange::Add(Box::new(sample::skill(name)))];
    block_on(async {
        let store = MemoryStore::new();
        store
            .commit(&sample::commit(0, "a", add("a")))
            .await
            .expect("it commits");
        store
            .commit(&sample::commit(1, "b", add("b")))
            .await
            .expect("it commits");
        let base = store.load().await.expect("it loads");
        let one = ForkStore::new(base.clone()).expect("a store");
        let other = one.another();
        let made = one
            .commit(&sample::commit(2, "c", add("c")))
            .await
            .expect("it commits");
        assert_eq!(made.revision, Revision(3));
        // A key of the base, or its own, is committed once.
        let again = one
            .commit(&sample::commit(9, "a", add("x")))
            .await
            .expect("it was made");
        assert_eq!(again, base.committed[0]);
        assert_eq!(
            one.commit(&sample::commit(2, "c", add("x")))
                .await
                .expect("it was made"),
            made
        );
        let late = one.commit(&sample::commit(2, "d", add("d"))).await;
        assert_eq!(late.expect_err("refused").kind(), ErrorKind::Conflict);
        let all = one.load().await.expect("it loads");
        assert_eq!((all.revision, all.committed.len()), (Revision(3), 3));
        for since in 0..=3 {
            let expect = &all.committed[since as usize..];
            assert_eq!(one.since(Revision(since)).await.expect("since"), expect);
        }
        assert_eq!(
            one.since(Revision(4)).await.expect_err("refused").kind(),
            ErrorKind::Invalid
        );
        assert_eq!(other.load().await.expect("it loads"), base);
        let fork = one.fork().expect("a fork");
        assert_eq!(
            (fork.base(), fork.changes()),
            (Revision(2), add("c").as_slice())
        );
        let folded = SkillLibrary::replay(&all.committed).expect("it folds");
        assert_eq!(bytes(fork.library()), bytes(&folded), "keys included");
        let mut gap = base;
        gap.committed.remove(0);
        assert_eq!(
            ForkStore::new(gap).expect_err("refused").kind(),
            ErrorKind::Invalid
        );
    });
}
