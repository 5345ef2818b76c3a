//! Generations of roles that a session records, and a curator's rollouts for a trainer (SkillOS, row K7).

use journeyman::{
    Result,
    contract::{Journal, Retriever},
    domain::{LibraryChange, Role, Skill},
    interchange::rollouts::{self, RolloutKind, Validator},
    policy::RoleGeneration,
    reward::CompositeWeights,
    run::{GroupRollout, Rollouts, RunEntry},
    text::Redactor,
};
use serde_json::json;

use super::*;

const SECRET: &str = "ghp_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";

/// The agent says what its task asks for.
fn parts(curator: ScriptedModel) -> Components {
    let mut components = components();
    components.scorer = None;
    components.executor = Some(Arc::new(ScriptedExecutor::acting(|attempt, steps| {
        let due = attempt.task.payload.get(steps.len());
        let due = due.and_then(|word| word.as_str());
        Play::Give(due.map(|word| Action::Message(word.to_owned())))
    })));
    components.model = Some(Arc::new(curator));
    components.roles = Some(Arc::new(ScriptedRoles::only([Role::Curate])));
    components
}

fn insert(name: &str) -> String {
    let arguments = json!({"name": name, "description": "How to say it.", "body": "Say it."});
    json!({"tool": "insert_skill", "arguments": arguments}).to_string()
}

async fn opened(components: Components, record_roles: bool) -> Journeyman {
    let mut options = Options::new("test", Seed(7));
    options.record_roles = record_roles;
    let opened = Journeyman::open(components, recipe::skillos(), options).await;
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
            let components = parts(stumbling());
            let journal = components.journal.clone().expect("a journal");
            let journeyman = opened(components, record).await;
            let report = journeyman.learn(tasks(4)).await.expect("it learns");
            let entries = journal.read(&report.run).await.expect("entries");
            let text = serde_json::to_string(&entries).expect("JSON");
            assert!(!text.contains(SECRET));
            (recorded(journal.as_ref(), &report.run).await, report)
        };
        let (none, unrecorded) = run(false).await;
        assert_eq!(none, []);
        let (all, report) = run(true).await;
        assert_eq!(report, unrecorded, "recording changes nothing else");
        // Two answers to the first task, two to the second, none with a secret, one to the last.
        assert_eq!(all.len(), 5);
        // A word of the scripted model is a token.
        let words = |text: &str| text.split_whitespace().count();
        let due = [
            "prose",
            &insert("first"),
            "prose again",
            "prose again",
            &insert("last"),
        ];
        let written: Vec<usize> = all.iter().map(|one| one.record.ids.len()).collect();
        assert_eq!(written, due.map(words));
        assert_ne!(words(&insert("last")), 1);
        assert!(all.iter().all(|one| one.role == Role::Curate));
        for RoleGeneration { record, .. } in &all {
            assert!(!record.prompt_ids.is_empty());
            assert_eq!(record.ids.len(), record.logprobs.len());
            assert_eq!(record.mask, vec![true; record.ids.len()]);
        }
    });
}

#[test]
fn a_replay_of_a_run_with_recorded_roles_gives_the_same_library() {
    block_on(async {
        let components = parts(stumbling());
        let journal = components.journal.clone().expect("a journal");
        let journeyman = opened(components, true).await;
        let report = journeyman.learn(tasks(4)).await.expect("it learns");
        let entries = journal.read(&report.run).await.expect("entries");
        assert!(!recorded(journal.as_ref(), &report.run).await.is_empty());
        let replayed = replay(&entries, &journeyman::policy::Policies::new()).expect("a replay");
        let library = journeyman.library().await.expect("a library");
        assert!(library.entries().count() > 0);
        assert_eq!(bytes(replayed.library()), bytes(&library));
    });
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
        let journeyman = opened(parts(alternating()), false).await;
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
        let journeyman = opened(parts(secret), false).await;
        let rolled = journeyman.roll_out(tasks(2), &plan(1).recorded()).await;
        let rolled = rolled.expect("it rolls out");
        assert_eq!(message(&rolled), "an answer of the curator has no record");

        // A model that gives no tokens.
        let bare = alternating().without_records();
        let journeyman = opened(parts(bare), false).await;
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

/// How many generations a run over one task records, with a redactor of the host's.
async fn recorded_with(redactor: Redactor, curator: ScriptedModel, known: &[Skill]) -> usize {
    let mut components = parts(curator);
    let journal = components.journal.clone().expect("a journal");
    if !known.is_empty() {
        // Another writer's, who did not know the secret.
        let store = Arc::new(MemoryStore::new());
        let add = known
            .iter()
            .cloned()
            .map(|skill| LibraryChange::Add(Box::new(skill)));
        let commit = sample::commit(0, "before", add.collect());
        store.commit(&commit).await.expect("it commits");
        components.store = Some(store);
    }
    let mut options = Options::new("test", Seed(7));
    options.record_roles = true;
    options.redactor = redactor;
    let opened = Journeyman::open(components, recipe::skillos(), options).await;
    let journeyman = opened.expect("it opens");
    let report = journeyman.learn(tasks(1)).await.expect("it learns");
    recorded(journal.as_ref(), &report.run).await.len()
}

#[test]
fn a_secret_of_the_prompt_or_of_the_parsed_answer_takes_the_records_with_it() {
    block_on(async {
        // The form is anchored, so that it fits the parsed text alone.
        let pin = Redactor::default()
            .with_form("pin", "^[0-9]{16}$")
            .expect("a form");
        let arguments = json!({"name": "pin", "description": "A pin.", "body": "1234567812345678"});
        let call = json!({"tool": "insert_skill", "arguments": arguments}).to_string();
        let found = recorded_with(pin.clone(), ScriptedModel::always(call), &[]).await;
        assert_eq!(found, 0, "the answer's body is a pin");
        let found = recorded_with(pin, ScriptedModel::always(insert("pin")), &[]).await;
        assert_eq!(found, 1);

        // The scripted prompt of a curator has the ids of the skills that were found.
        let door = || Redactor::new(["the-blue-door".to_owned()]).expect("long enough");
        let plain = || ScriptedModel::always(insert("new"));
        let known = [sample::skill("the-blue-door")];
        assert_eq!(recorded_with(door(), plain(), &known).await, 0);
        let known = [sample::skill("the-red-door")];
        assert_eq!(recorded_with(door(), plain(), &known).await, 1);
    });
}
