//! The library's data besides skills: attempts for roles that work on several, notes, marks, and roles' rules.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{AttemptNote, HandledMark, Role, RoleRule, Trace},
    id::RunId,
};

/// Number of the latest notes that are kept.
const MOST_NOTES: usize = 256;

/// Number of the latest marks of maintenance steps that are kept.
const MOST_HANDLED: usize = 4_096;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    #[serde(with = "shared")]
    trace: Arc<Trace>,
    run: Option<RunId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Learnt {
    rules: Vec<RoleRule>,
    run: Option<RunId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Handled {
    fingerprint: HandledMark,
    run: Option<RunId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Noted {
    note: AttemptNote,
    run: Option<RunId>,
}

/// The library's data besides skills.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Memory {
    traces: Vec<Kept>,
    handled: Vec<Handled>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Noted>,
    /// Every set of rules that each role had; the last is in force.
    rules: BTreeMap<Role, Vec<Learnt>>,
}

impl Memory {
    pub(super) fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.traces.iter().map(|kept| &*kept.trace)
    }

    pub(super) fn notes(&self) -> impl DoubleEndedIterator<Item = &AttemptNote> {
        self.notes.iter().map(|noted| &noted.note)
    }

    /// Adds a note, unless its attempt has one, and keeps the latest.
    pub(super) fn note(&mut self, note: &AttemptNote, run: Option<&RunId>) -> bool {
        let new = !self.notes().any(|known| known.attempt == note.attempt);
        if new {
            self.notes.push(Noted {
                note: note.clone(),
                run: run.cloned(),
            });
        }
        let over = self.notes.len().saturating_sub(MOST_NOTES);
        self.notes.drain(..over);
        new
    }

    pub(super) fn rules(&self, role: Role) -> &[RoleRule] {
        let learnt = self.rules.get(&role).and_then(|learnt| learnt.last());
        learnt.map_or(&[], |learnt| &learnt.rules)
    }

    pub(super) fn all_handled(&self) -> impl Iterator<Item = &HandledMark> {
        self.handled.iter().map(|one| &one.fingerprint)
    }

    /// Adds an attempt, unless it is there already, and keeps the latest `most`.
    pub(super) fn observe(&mut self, trace: &Trace, run: Option<&RunId>, most: usize) -> bool {
        let attempt = &trace.trajectory.attempt;
        let new = !self
            .traces()
            .any(|kept| kept.trajectory.attempt == *attempt);
        if new {
            self.traces.push(Kept {
                trace: Arc::new(trace.clone()),
                run: run.cloned(),
            });
        }
        let over = self.traces.len().saturating_sub(most);
        self.traces.drain(..over);
        new
    }

    pub(super) fn handled(&mut self, mark: &HandledMark, run: Option<&RunId>) -> bool {
        let new = !self.all_handled().any(|known| known == mark);
        if new {
            self.handled.push(Handled {
                fingerprint: mark.clone(),
                run: run.cloned(),
            });
        }
        let over = self.handled.len().saturating_sub(MOST_HANDLED);
        self.handled.drain(..over);
        new
    }

    pub(super) fn set_rules(&mut self, role: Role, rules: &[RoleRule], run: Option<&RunId>) {
        self.rules.entry(role).or_default().push(Learnt {
            rules: rules.to_vec(),
            run: run.cloned(),
        });
    }

    /// Takes back everything that a run added: a role has the rules of before.
    pub(super) fn take_back(&mut self, run: &RunId) {
        let other = |made: &Option<RunId>| made.as_ref() != Some(run);
        self.traces.retain(|kept| other(&kept.run));
        self.handled.retain(|one| other(&one.run));
        self.notes.retain(|noted| other(&noted.run));
        for learnt in self.rules.values_mut() {
            learnt.retain(|learnt| other(&learnt.run));
        }
        self.rules.retain(|_, learnt| !learnt.is_empty());
    }
}

/// A shared value in JSON as the value itself.
pub(super) mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::library) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(value, serializer)
    }

    pub(in crate::library) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}
