//! The entries that a run writes to its journal, and the replay of a run from these entries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    contract::JournalEntry,
    domain::{Trace, Trajectory, Verdict},
    error::{Error, ErrorKind, Result},
    id::RunId,
    policy::{Answer, Policies, program::QuestionPath},
    run::{
        machine::{
            effect::{EffectId, Station, TurnAsk},
            run_machine::RunMachine,
        },
        report::{Event, Finding},
    },
};

/// One entry of a run's journal. A replay uses all kinds except `Happened`, which is for people.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// Externally tagged: with an internal tag serde buffers the value and reads numeric map keys back as strings.
#[serde(rename_all = "snake_case")]
pub enum RunEntry {
    /// The start of the run.
    Started {
        /// The machine before its first answer.
        machine: Box<RunMachine>,
        /// Whether the host makes the attempts itself.
        by_host: bool,
        /// What the host's parts and the recipe disable in the run, with the reasons, such as a missing embedder; for people.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<Finding>,
    },
    /// An answer. Entries have the order in which the answers were applied.
    Answered {
        /// The effect that was answered.
        id: EffectId,
        /// SHA-256 of the question's [`Dialogue::identity`](crate::policy::program::Dialogue::identity), in hexadecimal digits; none for a commit. A replay compares it with the digest of
        /// the question that the policy asks now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
        /// The answer.
        answer: Box<Answer>,
    },
    /// An attempt asked for the skills of a later turn.
    TurnAsked {
        /// The turn.
        ask: Box<TurnAsk>,
    },
    /// An event of the run.
    Happened {
        /// The event.
        event: Box<Event>,
    },
}

impl RunEntry {
    /// Converts to a journal's entry.
    ///
    /// # Errors
    /// `Internal` where a value cannot be written as JSON.
    pub fn to_entry(&self, run: &RunId, sequence: u64) -> Result<JournalEntry> {
        let event = serde_json::to_value(self).map_err(|error| {
            Error::internal(
                "RunEntry::to_entry",
                "an entry could not be written as JSON",
            )
            .source_from(error)
        })?;
        Ok(JournalEntry {
            schema: JournalEntry::SCHEMA,
            run: run.clone(),
            sequence,
            event,
        })
    }

    /// Converts from a journal's entry.
    ///
    /// # Errors
    /// `Unsupported` for another schema version; `Corrupt` for JSON that is not an entry of a run.
    pub fn from_entry(entry: &JournalEntry) -> Result<Self> {
        if entry.schema != JournalEntry::SCHEMA {
            return Err(Error::unsupported(
                "RunEntry::from_entry",
                format!("schema {} is not the one this version reads", entry.schema),
            )
            .with("sequence", entry.sequence)
            .hint(RunMachine::OF_ANOTHER_VERSION));
        }
        // With another version of the machine, the answers at the same places may belong to other questions.
        let machine = entry.event.pointer("/started/machine/schema");
        if let Some(schema) = machine.and_then(serde_json::Value::as_u64) {
            RunMachine::check_schema("RunEntry::from_entry", schema)?;
        }
        serde_json::from_value(entry.event.clone()).map_err(|error| {
            Error::corrupt("RunEntry::from_entry", "the entry is not an entry of a run")
                .with("run", &entry.run)
                .with("sequence", entry.sequence)
                .source_from(error)
        })
    }
}

fn not_begun(operation: &'static str) -> Error {
    Error::not_found(operation, "the journal has no entry of the run's start")
        .hint("pass all entries of one run, beginning with its first")
}

fn question_changed(id: &EffectId, sequence: u64) -> Error {
    Error::new(
        ErrorKind::Invalid,
        "run::replay",
        "a policy asks something else than it did when the journal was written",
    )
    .with("effect", id)
    .with("sequence", sequence)
    .hint(
        "a policy may depend only on its view, its options and its answers: finish the run with the policy that began it, \
         or begin the run anew; if the journal has its own redactor, use the one of `Options::redactor`",
    )
}

/// Replays a run from its journal. Returns the machine as it was after the last answer; an unfinished run can be continued.
/// The same journal gives the same library, byte for byte (J10).
///
/// # Errors
/// - `NotFound` for a journal without the run's start, and for a recipe that names a policy that is not in `policies`.
/// - `Unsupported` for a run of another schema version.
/// - `Invalid` where a policy asks a different question than when the journal was written.
/// - `Corrupt` for answers that the machine refuses.
pub fn replay(entries: &[JournalEntry], policies: &Policies) -> Result<RunMachine> {
    let mut machine: Option<RunMachine> = None;
    for entry in entries {
        match (RunEntry::from_entry(entry)?, &mut machine) {
            (
                RunEntry::Started {
                    machine: started, ..
                },
                None,
            ) => {
                let mut started = *started;
                started.resolve(policies)?;
                // Starts the policies, so that the digests of their first questions are known.
                started.wake();
                machine = Some(started);
            }
            (RunEntry::Started { .. }, Some(_)) => {
                return Err(
                    Error::corrupt("run::replay", "the journal starts the run twice")
                        .with("sequence", entry.sequence),
                );
            }
            (
                RunEntry::Answered {
                    id,
                    question,
                    answer,
                },
                Some(machine),
            ) => {
                if question.is_some() && machine.question(&id) != question {
                    return Err(question_changed(&id, entry.sequence));
                }
                machine.answer(id, *answer)?;
            }
            (RunEntry::TurnAsked { ask }, Some(machine)) => machine.ask_turn(*ask),
            (RunEntry::Answered { .. } | RunEntry::TurnAsked { .. }, None) => break,
            (RunEntry::Happened { .. }, _) => {}
        }
    }
    machine.ok_or_else(|| not_begun("run::replay"))
}

/// The attempts of a learning or evaluating run with their verdicts, out of the entries of its journal, in the order of tasks:
/// material for a bank (`Journeyman::distil_bank`, feature `skillrl`) and for demonstrations
/// (`demonstrations` of the crate `journeyman-interchange`). Attempts that could not be made, or that a part's
/// fault ended, are left out; the verdict is `None` where there is none. As in the library, token records are left out.
///
/// # Errors
/// `NotFound` for entries without the run's start; `Unsupported` and `Corrupt` as [`RunEntry::from_entry`].
///
/// ```
/// use std::sync::Arc;
///
/// use journeyman::{
///     Seed,
///     agent::{EnvironmentJudge, MemoryJournal},
///     contract::{Components, Journal},
///     domain::Action,
///     recipe,
///     run::{Journeyman, Options, recorded_attempts},
///     testing::{Play, ScriptedEnvironment, ScriptedExecutor, sample},
/// };
///
/// # futures::executor::block_on(async {
/// let agent = ScriptedExecutor::acting(|_, _| Play::Give(Some(Action::Message("good".to_owned()))));
/// let world = ScriptedEnvironment::words();
/// let journal = Arc::new(MemoryJournal::new());
/// let components = Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge))
///     .with_journal(journal.clone());
/// let journeyman = Journeyman::open(components, recipe::standard(), Options::new("desk", Seed(7))).await?;
/// let report = journeyman.evaluate(vec![sample::task("greet", &["good"])]).await?;
///
/// let attempts = recorded_attempts(&journal.read(&report.run).await?)?;
/// assert_eq!(attempts.len(), 1);
/// assert!(attempts[0].is_success());
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
pub fn recorded_attempts(entries: &[JournalEntry]) -> Result<Vec<Trace>> {
    let mut machine = None;
    let mut made: BTreeMap<(u64, Vec<u32>), Box<Trajectory>> = BTreeMap::new();
    let mut judged: BTreeMap<(u64, Vec<u32>), Verdict> = BTreeMap::new();
    for entry in entries {
        match RunEntry::from_entry(entry)? {
            RunEntry::Started { machine: one, .. } => machine = Some(one),
            RunEntry::Answered { id, answer, .. } => match *answer {
                Answer::Attempted(Ok(trajectory)) if id.station == Station::Attempt => {
                    made.insert(rollout(&id), trajectory);
                }
                Answer::Judged(Ok(verdict)) => drop(judged.insert(rollout(&id), verdict)),
                _ => {}
            },
            _ => {}
        }
    }
    let Some(machine) = machine else {
        return Err(not_begun("run::recorded_attempts"));
    };
    let context = machine.context();
    let sound = made
        .into_iter()
        .filter(|(_, trajectory)| trajectory.is_evidence());
    let traces = sound.filter_map(|(rollout, trajectory)| {
        let (step, _) = rollout;
        let task = machine.tasks.get(usize::try_from(step).ok()?)?;
        let trace = Trace {
            task: task.clone(),
            trajectory: *trajectory,
            verdict: judged.remove(&rollout),
            world_seed: context.step_seed(step).derive("world", 0),
        };
        Some(trace.lean())
    });
    Ok(traces.collect())
}

/// The step and the scope of a rollout: an attempt and its verdict are asked for side by side in one scope.
fn rollout(EffectId { step, place, .. }: &EffectId) -> (u64, Vec<u32>) {
    let path = QuestionPath::path(place);
    let scope = path.split_last().map_or(&[][..], |(_, scope)| scope);
    (*step, scope.to_vec())
}
