//! A group of attempts in the host's own loop, with the run's machine.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use futures::lock::Mutex as AsyncMutex;

use super::locking::lock;
use crate::{
    domain::{Outcome, Verdict},
    error::{Error, Result},
    policy::Answer,
    run::{
        driver::drive::Log,
        machine::{Effect, EffectId, RunMachine, Station},
    },
};

/// The attempts of one group, with the run's machine.
#[derive(Debug)]
pub(crate) struct Group {
    /// None after the group was completed.
    pub(crate) run: AsyncMutex<Option<(RunMachine, Log)>>,
    state: Mutex<GroupState>,
}

#[derive(Debug)]
struct GroupState {
    /// Answers of the host that are not yet applied to the machine.
    arrived: Vec<(EffectId, Answer)>,
    /// Number of attempts that are neither finished nor abandoned.
    open: usize,
    /// How the group ended; `None` before that.
    ended: Option<Result<()>>,
}

/// A group of attempts, to be asked about after its [`AttemptHandle`](crate::run::AttemptHandle)s are gone. It does not keep
/// the group open, and takes no part in its work.
///
/// ```
/// # use journeyman::{Seed, contract::Components, domain::{Outcome, Task}, recipe, run::{Journeyman, Options}};
/// use journeyman::run::GroupStatus;
///
/// # futures::executor::block_on(async {
/// # let options = Options::new("desk", Seed(7));
/// # let journeyman = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let attempt = journeyman.begin(Task::new("t-1", "close ticket 17")).await?;
/// let group = attempt.group();
/// assert!(matches!(group.status(), GroupStatus::Open));
/// attempt.finish(Outcome::success()).await?;
/// assert!(matches!(group.status(), GroupStatus::Completed));
/// # Ok::<_, journeyman::Error>(())
/// # })?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone)]
pub struct AttemptGroup(pub(crate) Arc<Group>);

/// Omits the run's machine, which holds the task.
impl fmt::Debug for AttemptGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AttemptGroup").field(&self.status()).finish()
    }
}

/// What became of a group of attempts.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum GroupStatus {
    /// Some of its attempts are neither finished nor abandoned.
    Open,
    /// All of its attempts have ended. Its outcomes are being written, or wait for the next
    /// [`settle`](crate::run::Journeyman::settle).
    Waiting,
    /// It is through: its outcomes are credited and written, and what there was to learn is learned. A read-only session,
    /// and a group whose attempts were all abandoned, write nothing.
    Completed,
    /// Nothing is learned from it: its task's policy failed with this error, or the store or the journal refused it
    /// permanently. In the second case its run stays in the journal, and [`resume`](crate::run::Journeyman::resume) may
    /// still complete it.
    Failed(Error),
}

impl AttemptGroup {
    /// What became of the group so far.
    pub fn status(&self) -> GroupStatus {
        let state = lock(&self.0.state);
        match &state.ended {
            Some(Ok(())) => GroupStatus::Completed,
            Some(Err(error)) => GroupStatus::Failed(error.clone()),
            None if state.open > 0 => GroupStatus::Open,
            None => GroupStatus::Waiting,
        }
    }
}

impl Group {
    /// A group with `attempts` open attempts.
    pub(crate) fn new(machine: RunMachine, log: Log, attempts: usize) -> Self {
        Self {
            run: AsyncMutex::new(Some((machine, log))),
            state: Mutex::new(GroupState {
                arrived: Vec::new(),
                open: attempts,
                ended: None,
            }),
        }
    }

    /// Records the result of an attempt, and its verdict if the host gave an outcome. Returns whether it was the last open
    /// attempt of the group.
    pub(crate) fn hand_in(&self, id: EffectId, answer: Answer, verdict: Option<Verdict>) -> bool {
        let mut state = lock(&self.state);
        // The task's policy asks for the verdict directly after the attempt, in the same scope.
        let of_verdict = EffectId {
            station: Station::Judge,
            place: id.place.next(),
            ..id.clone()
        };
        state.arrived.push((id, answer));
        let verdict = verdict.map(|verdict| (of_verdict, Answer::Judged(Ok(verdict))));
        state.arrived.extend(verdict);
        state.open -= 1;
        state.open == 0
    }

    pub(crate) fn end(&self, ended: Result<()>) {
        lock(&self.state).ended = Some(ended);
    }

    /// Moves the recorded results to the log.
    pub(crate) fn collect(&self, log: &mut Log) {
        let arrived = std::mem::take(&mut lock(&self.state).arrived);
        arrived
            .into_iter()
            .for_each(|(id, answer)| log.answer(id, answer));
    }
}

/// The verdict that follows from the outcome that a host reports.
pub(crate) fn verdict_of(outcome: &Outcome) -> Result<Verdict> {
    let verdict = Verdict::of(outcome).map_err(|_| {
        Error::invalid(
            "AttemptHandle::finish",
            "the outcome's score is outside [0, 1], or one of its parts is not finite",
        )
        .hint("give `Outcome::success()`, `Outcome::failure()`, or a score in [0, 1] and finite parts")
    })?;
    Ok(verdict.with_evidence("the host's outcome"))
}

/// The verdicts that a journal lacks although it has the host's outcomes, because its last write was cut off between them.
pub(crate) fn missing_verdicts(machine: &RunMachine) -> impl Iterator<Item = (EffectId, Answer)> {
    machine.effects().into_iter().filter_map(|(id, effect)| {
        let Effect::Judge { trajectory, .. } = effect else {
            return None;
        };
        let verdict = verdict_of(trajectory.outcome.as_ref()?);
        Some((id, Answer::Judged(verdict)))
    })
}
