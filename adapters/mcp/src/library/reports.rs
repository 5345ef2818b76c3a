//! The attempts that clients began and have not reported yet.

use std::{
    collections::{HashMap, VecDeque},
    num::NonZeroU32,
    sync::{Mutex, MutexGuard, PoisonError},
};

use journeyman::{
    domain::SkillRef,
    run::{AttemptGroup, AttemptHandle},
};

/// Maximum number of open attempts; the oldest is abandoned for another one.
const OPEN: usize = 1024;
/// Number of reported attempts that are remembered, so that a second report is told from an unknown one.
const REPORTED: usize = 16 * 1024;

/// Open and reported attempts, and how many outcomes were credited to each skill.
#[derive(Debug)]
pub(crate) struct Reports {
    most: NonZeroU32,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<String, AttemptHandle>,
    began: VecDeque<String>,
    /// Reported attempts, by id. `Some` until it is known that the outcome is written or refused.
    reported: HashMap<String, Option<Kept>>,
    order: VecDeque<String>,
    counts: HashMap<SkillRef, u32>,
}

/// What a report is about.
#[derive(Debug)]
pub(crate) enum Report {
    /// To be finished with its outcome.
    Counts(Box<AttemptHandle>, Kept),
    /// It was reported before, and its outcome may not be written yet.
    Waits(Kept),
    /// One of its skills has had all the outcomes that count.
    Capped,
    /// It was reported before.
    Again,
    Unknown,
}

/// A reported attempt whose outcome the session keeps until the store takes it, or refuses it for good.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// Says when the outcome is written.
    pub(crate) group: AttemptGroup,
    /// The skills that the attempt was given.
    pub(crate) skills: Vec<SkillRef>,
}

impl Reports {
    pub(crate) fn new(most: NonZeroU32) -> Self {
        Self {
            most,
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an attempt under an id that nobody can guess.
    pub(crate) fn open(&self, handle: AttemptHandle) -> String {
        let id = uuid::Uuid::new_v4().simple().to_string();
        let mut state = self.lock();
        state.began.push_back(id.clone());
        state.open.insert(id.clone(), handle);
        let mut abandoned = Vec::new();
        while state.began.len() > OPEN {
            let oldest = state.began.pop_front();
            abandoned.extend(oldest.and_then(|oldest| state.open.remove(&oldest)));
        }
        drop(state);
        // Dropped without the lock: the session is told.
        drop(abandoned);
        id
    }

    /// The skills that an open attempt was given; `None` where no such attempt is open.
    pub(crate) fn given(&self, id: &str) -> Option<Vec<SkillRef>> {
        self.lock().open.get(id).map(skills)
    }

    /// Takes an attempt for its report. From here on it is reported: the caller finishes it, and calls
    /// [`close`](Self::close) when its outcome is written or refused for good.
    pub(crate) fn take(&self, id: &str) -> Report {
        let mut state = self.lock();
        let Some(handle) = state.open.remove(id) else {
            return match state.reported.get(id) {
                Some(Some(kept)) => Report::Waits(kept.clone()),
                Some(None) => Report::Again,
                None => Report::Unknown,
            };
        };
        state.began.retain(|one| one != id);
        let kept = Kept {
            group: handle.group(),
            skills: skills(&handle),
        };
        state.reported.insert(id.to_owned(), Some(kept.clone()));
        state.order.push_back(id.to_owned());
        if state.order.len() > REPORTED
            && let Some(oldest) = state.order.pop_front()
        {
            state.reported.remove(&oldest);
        }
        let count = |skill: &SkillRef| state.counts.get(skill).copied().unwrap_or(0);
        if kept
            .skills
            .iter()
            .any(|skill| count(skill) >= self.most.get())
        {
            state.reported.insert(id.to_owned(), None);
            return Report::Capped;
        }
        for skill in &kept.skills {
            *state.counts.entry(skill.clone()).or_default() += 1;
        }
        Report::Counts(Box::new(handle), kept)
    }

    /// Remembers that nothing is left to do for a reported attempt.
    pub(crate) fn close(&self, id: &str) {
        if let Some(known) = self.lock().reported.get_mut(id) {
            *known = None;
        }
    }
}

/// The skills that an attempt was given.
fn skills(handle: &AttemptHandle) -> Vec<SkillRef> {
    let given = handle.injection().skills.iter();
    given.map(|one| one.skill.clone()).collect()
}
