//! Generations of roles that a session records, and a curator's rollouts for a trainer (SkillOS, row K7).

use journeyman::{
    Result,
    contract::{Journal, Retriever},
    domain::Role,
    interchange::rollouts::{self, RolloutKind, Validator},
    policy::RoleGeneration,
    reward::CompositeWeights,
    run::{GroupRollout, Rollouts, RunEntry},
};
use serde_json::json;

use super::*;

const SECRET: &str = "ghp_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";

/// The agent says what its task asks for.
fn parts(curator: ScriptedModel) -> Backends {
    let mut backends = backends();
    backends.scorer = None;
    backends.executor = Some(Arc::new(ScriptedExecutor::acting(|attempt, steps| {
        let due = attempt.task.payload.get(steps.len());
        let due = due.and_then(|word| word.as_str());
        Play::Give(due.map(|word| Action::Message(word.to_owned())))
    })));
    backends.model = Some(Arc::new(curator));
    backends.roles = Some(Arc::new(ScriptedRoles::only([Role::Curate])));
    backends
}

fn insert(name: &str) -> String {
    let arguments = json!({"name": name, "description": "How to say it.", "body": "Say it."});
    json!({"tool": "insert_skill", "arguments": arguments}).to_string()
}

async fn opened(backends: Backends, record_roles: bool) -> Journeyman {
    let mut options = Options::new("test", Seed(7));
    options.record_roles = record_roles;
    let opened = Journeyman::open(backends, recipe::skillos(), options).await;
    opened.expect("it opens")
}

fn plan(count: u32) -> Rollouts {
    Rollouts::new(n32(count)).with_retriever(|| Ok(Arc::new(ScriptedRetriever::new()) as _))
}

/// The roles' generations in a run's journal.
async fn recorded(journal: &dyn Journal, run: &RunId) -> Vec<RoleGeneration> {
    let entries = journal.read(run).await.expect("entries");
    let answers = entries.iter().filter_map(|entry| {
        let RunEntry::Answered { answer, .. } = RunEntry::from_entry(entry).expect("an entry")
        else {
            return None;
        };
        match *answer {
            Answer::Played(Ok(Some(played))) => Some(played.generations),
            Answer::Played(Err(failed)) => Some(failed.generations),
            _ => None,
        }
    });
    answers.flatten().collect()
}

/// The first answer cannot be read and is repaired; the second task's cannot be read at all; the third's holds a secret.
fn stumbling() -> ScriptedModel {
    ScriptedModel::by(|_, call| {
        Play::Give(match call {
            0 => "prose".to_owned(),
            1 => insert("first"),
            2 | 3 => "prose again".to_owned(),
            4 => insert(SECRET),
            _ => insert("last"),
        })
    })
}

#[test]
fn a_journal_has_what_roles_wrote_token_by_token_where_the_host_asks_for_it() {
    block_on(async {
        let run = async |record| {
            let backends = parts(stumbling());
            let journal = backends.journal.clone().expect("a journal");
            let journeyman = opened(backends, record).await;
            let report = journeyman.learn(tasks(4)).await.expect("it learns");
            (recorded(journal.as_ref(), &report.run).await, report)
        };
        let (none, unrecorded) = run(false).await;
        assert_eq!(none, []);
        let (all, report) = run(true).await;
        assert_eq!(report, unrecorded, "recording changes nothing else");
        // Two answers to the first task, two to the second, none with a secret, one to the last.
        assert_eq!(all.len(), 5);
        assert!(all.iter().all(|one| one.role == Role::Curate));
        for RoleGeneration { record, .. } in &all {
            assert!(!record.prompt_ids.is_empty());
            assert_eq!(record.ids.len(), record.logprobs.len());
            assert_eq!(record.mask, vec![true; record.ids.len()]);
        }
        assert_eq!(all[0].record.ids.len(), 1, "one word of prose");
    });
}

#[test]
fn a_replay_of_a_run_with_recorded_roles_gives_the_same_library() {
    block_on(async {
        let backends = parts(stumbling());
        let journal = backends.journal.clone().expect("a journal");
        let journeyman = opened(backends, true).await;
        let report = journeyman.learn(tasks(4)).await.expect("it learns");
        let entries = journal.read(&report.run).await.expect("entries");
        let replayed = replay(&entries, &journeyman::policy::Policies::new()).expect("a replay");
        let library = journeyman.library().await.expect("a library");
        assert!(library.entries().count() > 0);
        assert_eq!(bytes(replayed.library()), bytes(&library));
    });
}

/// A curator whose answers to every second group of two tasks can be read, and of the others neither the answers nor their repairs.
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
    let journeyman = opened(parts(alternating()), false).await;
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
        assert_eq!(all[0], [0, 1], "an answer to each task");
        let unreadable = all.iter().filter(|steps| **steps == [0, 0, 1, 1]).count();
        assert!(
            unreadable > 0,
            "what could not be read is trained on too: {all:?}"
        );
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
        assert!(bare.iter().flatten().all(|one| one.journal.is_empty()));
        let exported = rollouts::of_curator(&bare, &weights).expect("refusals");
        assert_eq!((exported.rollouts.len(), exported.refused.len()), (0, 2));
        let error = &exported.refused[0].error;
        assert!(error.to_string().contains("Rollouts::recorded"), "{error}");

        // One that failed.
        let made = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let failing = Rollouts::new(n32(3)).recorded().with_retriever(move || {
            match made.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
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
        let journeyman = opened(parts(alternating()), false).await;
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
