//! A curator's rollouts for a trainer (SkillOS, row K7): what sessions return, and what is refused.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Result, Seed,
    agent::{EnvironmentJudge, MemoryJournal, MemoryStore},
    contract::{Components, Retriever},
    domain::{Action, Role, Task},
    papers::skillos::{CompositeWeights, GroupRollout, Rollouts},
    recipe,
    run::{Journeyman, Options},
    testing::{
        Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, ScriptedModel,
        ScriptedRetriever, ScriptedRoles, sample,
    },
};
use journeyman_interchange::rollouts::{self, RolloutKind, Validator};
use serde_json::json;

const SECRET: &str = "ghp_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";

const fn n32(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("not 0")
}

fn tasks(n: usize) -> Vec<Task> {
    let words = ["one", "two", "three"];
    (0..n)
        .map(|i| sample::task(&format!("task-{i}"), &[words[i % 3], words[(i + 1) % 3]]))
        .collect()
}

/// The agent says what its task asks for.
fn parts(curator: ScriptedModel) -> Components {
    let agent = ScriptedExecutor::acting(|attempt, steps| {
        let due = attempt.task.payload.get(steps.len());
        let due = due.and_then(|word| word.as_str());
        Play::Give(due.map(|word| Action::Message(word.to_owned())))
    });
    let world = Arc::new(ScriptedEnvironment::words());
    Components::new(Arc::new(agent), world, Arc::new(EnvironmentJudge))
        .with_store(Arc::new(MemoryStore::new()))
        .with_journal(Arc::new(MemoryJournal::new()))
        .with_retriever(Arc::new(ScriptedRetriever::new()))
        .with_prompt_format(Arc::new(ScriptedFormat))
        .with_model(Arc::new(curator))
        .with_roles(Arc::new(ScriptedRoles::only([Role::Curate])))
}

fn insert(name: &str) -> String {
    let arguments = json!({"name": name, "description": "How to say it.", "body": "Say it."});
    json!({"tool": "insert_skill", "arguments": arguments}).to_string()
}

async fn opened(components: Components) -> Journeyman {
    let options = Options::new("test", Seed(7));
    let opened = Journeyman::open(components, recipe::skillos(), options).await;
    opened.expect("it opens")
}

fn plan(count: u32) -> Rollouts {
    Rollouts::new(n32(count)).with_retriever(|| Ok(Arc::new(ScriptedRetriever::new()) as _))
}

/// A curator whose answers in every second rollout of two tasks can be read; in the others neither answers nor repairs can.
fn alternating() -> ScriptedModel {
    ScriptedModel::by(|_, call| {
        Play::Give(match call % 6 {
            0 => insert("say-one"),
            1 => insert("say-two"),
            _ => "prose".to_owned(),
        })
    })
}

async fn rolled(plan: &Rollouts) -> Vec<Result<GroupRollout>> {
    let journeyman = opened(parts(alternating())).await;
    let rolled = journeyman.roll_out(tasks(2), plan).await;
    rolled.expect("it rolls out")
}

#[test]
fn a_curators_rollouts_are_a_group_with_the_composite_reward() {
    block_on(async {
        let mut recorded = plan(4).recorded();
        // One after the other, so that calls are counted in order: a rollout of two readable answers, then one of two
        // answers that could not be read, each with its repair.
        recorded.at_once = NonZeroUsize::MIN;
        let mut rolled = rolled(&recorded).await;
        for one in rolled.iter_mut().flatten() {
            one.terms.quality = Some(0.5);
        }
        let weights = CompositeWeights::default();
        let exported = rollouts::of_curator(&rolled, &weights).expect("it is exported");
        assert!(exported.refused.is_empty(), "{:?}", exported.refused);
        let lines = rollouts::write(&exported.rollouts).expect("they are valid");
        let mut validator = Validator::of_size(n32(4));
        for line in lines.lines() {
            validator.line(line).expect("a valid line");
        }
        validator.finish().expect("a valid group");
        for (made, line) in rolled.iter().flatten().zip(&exported.rollouts) {
            assert_eq!(line.kind, RolloutKind::Curator);
            assert_eq!(line.group, "test/rollouts-0");
            assert_eq!(line.attempt.as_str(), made.report.run.as_str());
            assert_eq!((line.library, line.steps), (made.fork.base(), 2));
            assert_eq!(line.tasks.len(), 2);
            assert_eq!(
                Some(line.reward),
                weights.reward(&made.terms).expect("in range")
            );
            assert_eq!(line.parts["quality"].value, 0.5);
        }
        let steps = |line: &rollouts::Rollout| -> Vec<u32> {
            line.segments.iter().map(|one| one.step).collect()
        };
        let all: Vec<Vec<u32>> = exported.rollouts.iter().map(steps).collect();
        // What could not be read is trained on too, with its repair.
        assert_eq!(
            all,
            [vec![0, 1], vec![0, 0, 1, 1], vec![0, 1], vec![0, 0, 1, 1]]
        );
        // Success 1, quality 0.5 by 0.1, and validity 1 where there is no call too: prose is one invalid call.
        let rewards: Vec<f64> = exported.rollouts.iter().map(|one| one.reward).collect();
        assert_eq!(rewards, [2.05, 1.05, 2.05, 1.05]);
        assert!(exported.rollouts.iter().all(|one| one.advantage.is_some()));
    });
}

#[test]
fn what_is_no_rollout_of_a_curator_is_refused_with_its_reason() {
    block_on(async {
        let weights = CompositeWeights::default();
        let none = rollouts::of_curator(&[], &weights).expect("nothing");
        assert_eq!(none, rollouts::ExportedRollouts::default());

        // Not recorded.
        let bare = rolled(&plan(2)).await;
        assert!(bare.iter().flatten().all(|one| one.generations.is_empty()));
        let exported = rollouts::of_curator(&bare, &weights).expect("refusals");
        assert_eq!((exported.rollouts.len(), exported.refused.len()), (0, 2));
        let error = &exported.refused[0].error;
        assert!(error.to_string().contains("Rollouts::recorded"), "{error}");

        // One that failed.
        let made = Arc::new(AtomicUsize::new(0));
        let failing = Rollouts::new(n32(3)).recorded().with_retriever(move || {
            match made.fetch_add(1, Ordering::SeqCst) {
                0 => Err(Error::new(ErrorKind::Unavailable, "an index", "no room")),
                _ => Ok(Arc::new(ScriptedRetriever::new()) as Arc<dyn Retriever>),
            }
        });
        let partly = rolled(&failing).await;
        let exported = rollouts::of_curator(&partly, &weights).expect("two");
        assert_eq!(exported.rollouts.len(), 2);
        assert_eq!(exported.rollouts[0].attempts, 3, "three were made");
        let refused = &exported.refused[0];
        assert_eq!(refused.attempt.as_str(), "rollout-0");
        assert_eq!(refused.error.kind(), ErrorKind::Unavailable);

        // Two groups at once.
        let journeyman = opened(parts(alternating())).await;
        let mut both = Vec::new();
        for _ in 0..2 {
            let group = journeyman.roll_out(tasks(2), &plan(1).recorded()).await;
            both.extend(group.expect("it rolls out"));
        }
        let refused = rollouts::of_curator(&both, &weights).expect_err("two groups");
        assert_eq!(refused.kind(), ErrorKind::Invalid);

        // A host's quality that is none.
        let mut wrong = rolled(&plan(1).recorded()).await;
        wrong
            .iter_mut()
            .flatten()
            .for_each(|one| one.terms.quality = Some(7.0));
        let refused = rollouts::of_curator(&wrong, &weights).expect_err("no quality");
        assert_eq!(refused.kind(), ErrorKind::Invalid);
    });
}

/// A rollout whose curator's answers about two tasks are recorded, and one of a group of one task.
#[test]
fn a_rollout_that_is_not_whole_is_refused_with_its_reason() {
    block_on(async {
        let weights = CompositeWeights::default();
        let message = |rollouts: &[Result<GroupRollout>]| {
            let exported = rollouts::of_curator(rollouts, &weights).expect("refusals");
            assert_eq!((exported.rollouts.len(), exported.refused.len()), (0, 1));
            exported.refused[0].error.message().to_owned()
        };
        let journeyman = opened(parts(alternating())).await;
        let one = journeyman.roll_out(tasks(1), &plan(1).recorded()).await;
        assert_eq!(
            message(&one.expect("it rolls out")),
            "the attempt has no reward"
        );

        // The answer about the second task held a secret.
        let secret = ScriptedModel::by(|_, call| {
            Play::Give(insert(match call {
                0 => "first",
                _ => SECRET,
            }))
        });
        let journeyman = opened(parts(secret)).await;
        let rolled = journeyman.roll_out(tasks(2), &plan(1).recorded()).await;
        let rolled = rolled.expect("it rolls out");
        assert_eq!(message(&rolled), "an answer of the curator has no record");

        // A model that gives no tokens.
        let bare = alternating().without_records();
        let journeyman = opened(parts(bare)).await;
        let rolled = journeyman.roll_out(tasks(2), &plan(1).recorded()).await;
        let rolled = rolled.expect("it rolls out");
        assert_eq!(
            message(&rolled),
            "no generation of the attempt was recorded"
        );

        // A task whose policy failed.
        let mut broken = rolled_once().await;
        let error = Error::invalid("a policy", "broken");
        broken
            .iter_mut()
            .flatten()
            .for_each(|one| one.report.tasks[0].failed = Some(error.clone()));
        assert_eq!(message(&broken), "broken");
    });
}

async fn rolled_once() -> Vec<Result<GroupRollout>> {
    rolled(&plan(1).recorded()).await
}
