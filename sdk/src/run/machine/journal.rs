//! The entries that a run writes to its journal, and the replay of a run from these entries.

use serde::{Deserialize, Serialize};

use super::{
    effect::{EffectId, TurnAsk},
    run_machine::RunMachine,
};
use crate::{
    contract::JournalEntry,
    error::{Error, ErrorKind, Result},
    id::RunId,
    policy::{Answer, Policies},
    report::{Event, Finding},
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
        /// SHA-256 of the question's [`Dialogue::identity`](crate::program::Dialogue::identity), in hexadecimal digits; none for a commit. A replay compares it with the digest of
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
            Error::new(
                ErrorKind::Internal,
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
            .with("sequence", entry.sequence));
        }
        // With another version of the machine, the answers at the same places may belong to other questions.
        let machine = entry.event.pointer("/started/machine/schema");
        if let Some(schema) = machine.and_then(serde_json::Value::as_u64) {
            RunMachine::check_schema("RunEntry::from_entry", schema)?;
        }
        serde_json::from_value(entry.event.clone()).map_err(|error| {
            Error::new(
                ErrorKind::Corrupt,
                "RunEntry::from_entry",
                "the entry is not an entry of a run",
            )
            .with("run", &entry.run)
            .with("sequence", entry.sequence)
            .source_from(error)
        })
    }
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
                return Err(Error::new(
                    ErrorKind::Corrupt,
                    "run::replay",
                    "the journal starts the run twice",
                )
                .with("sequence", entry.sequence));
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
    machine.ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            "run::replay",
            "the journal has no entry of the run's start",
        )
        .hint("pass all entries of one run, beginning with its first")
    })
}
