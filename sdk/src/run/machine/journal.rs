//! What a run writes into its journal, and how it is replayed from there.

use serde::{Deserialize, Serialize};

use super::{
    need::{NeedId, TurnAsk},
    run_machine::RunMachine,
};
use crate::{
    contract::JournalEntry,
    error::{Error, ErrorKind, Result},
    id::RunId,
    policy::{Answer, Policies},
    report::Event,
};

/// One entry of a run's journal. A replay needs all kinds but the last, which is for people.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// Tagged from outside: an inner tag makes serde buffer the value, and then number keys come back as texts.
#[serde(rename_all = "snake_case")]
pub enum RunEntry {
    /// The run as it began.
    Started {
        /// The machine before its first answer.
        machine: Box<RunMachine>,
        /// Whether the host makes the attempts itself.
        by_host: bool,
    },
    /// An answer, in the order in which it came.
    Answered {
        /// The need that it answers.
        id: NeedId,
        /// SHA-256 of the question as JSON, in hexadecimal digits; none for a commit. A policy that asks something else at
        /// this place when the run is replayed is found out by it.
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
    /// Something that followed.
    Happened {
        /// What.
        event: Box<Event>,
    },
}

impl RunEntry {
    /// The entry in its journal's form.
    ///
    /// # Errors
    /// `Internal` when a value cannot be written as JSON.
    pub fn to_entry(&self, run: &RunId, sequence: u64) -> Result<JournalEntry> {
        let event = serde_json::to_value(self).map_err(|error| {
            Error::new(
                ErrorKind::Internal,
                "RunEntry::to_entry",
                "an event could not be written",
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

    /// The entry out of its journal's form.
    ///
    /// # Errors
    /// `Unsupported` for another schema version; `Corrupt` for what is no event of a run.
    pub fn from_entry(entry: &JournalEntry) -> Result<Self> {
        if entry.schema != JournalEntry::SCHEMA {
            return Err(Error::unsupported(
                "RunEntry::from_entry",
                format!("schema {} is not the one this version reads", entry.schema),
            )
            .with("sequence", entry.sequence));
        }
        // Another version asks otherwise: its answers would fit other questions.
        let machine = entry.event.pointer("/started/machine/schema");
        if let Some(schema) = machine.and_then(serde_json::Value::as_u64) {
            RunMachine::check_schema("RunEntry::from_entry", schema)?;
        }
        serde_json::from_value(entry.event.clone()).map_err(|error| {
            Error::new(
                ErrorKind::Corrupt,
                "RunEntry::from_entry",
                "the entry is no event of a run",
            )
            .with("run", &entry.run)
            .with("sequence", entry.sequence)
            .source_from(error)
        })
    }
}

fn asked_otherwise(id: &NeedId, sequence: u64) -> Error {
    Error::new(
        ErrorKind::Invalid,
        "run::replay",
        "a policy asks something else than it did when the journal was written",
    )
    .with("need", id)
    .with("sequence", sequence)
    .hint(
        "a policy may depend on its view, its parameters and its answers alone: finish the run with the policy that began it, \
         or begin it anew; where the journal has a redactor of its own, give it the one of `Options::redactor`",
    )
}

/// Replays a run from its journal: the machine as it stood after the last answer. The same journal gives the same
/// library, byte for byte (J10), and an unfinished run can be gone on with.
///
/// # Errors
/// `NotFound` for a journal without a beginning; `Unsupported` for a run of another version, which may have asked
/// otherwise; `NotFound` where its recipe names a policy that is not among these; `Invalid` where a policy asks something else
/// than it did; `Corrupt` for a journal whose answers do not fit.
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
                started.recipe.resolve(policies)?;
                started.policies = policies.clone();
                // Its policies run, so that the digests of their first questions are known.
                started.wake();
                machine = Some(started);
            }
            (RunEntry::Started { .. }, Some(_)) => {
                return Err(
                    Error::new(ErrorKind::Corrupt, "run::replay", "the run begins twice")
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
                    return Err(asked_otherwise(&id, entry.sequence));
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
            "the journal holds no beginning of a run",
        )
        .hint("pass the entries of one run, from its first on")
    })
}
