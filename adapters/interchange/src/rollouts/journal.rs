//! The rollouts of a run, from its journal.

use std::collections::BTreeMap;

use journeyman::{
    Error, ErrorKind, Result,
    contract::JournalEntry,
    domain::{Mode, Revision, Trajectory},
    papers::scribe::ProcessReward,
    policy::{Answer, program::QuestionPath},
    run::{
        RunEntry, RunMachine, Station,
        report::{AttemptReport, EventKind, TaskReport},
    },
    stations::reward::{LevelReward, RewardPolicy},
};

use super::{
    group::{
        ExportedRollouts, RefusedRollout, RolloutAttempt, RolloutGroup, StepGeneration, of_group,
    },
    rollout::{RewardPart, RolloutEnd, RolloutKind},
};

const OF: &str = "rollouts::of_journal";

/// An attempt of the journal.
#[derive(Debug)]
struct Made {
    trajectory: Result<Box<Trajectory>>,
    /// The library's revision when it was answered. A task's attempts are answered before any task of its batch commits, so
    /// that it is the revision of the selection.
    library: Revision,
}

/// What an export needs of a run.
#[derive(Debug, Default)]
struct Recorded {
    machine: Option<Box<RunMachine>>,
    /// By task and by place: the attempts of a task in the order of their numbers.
    attempts: BTreeMap<u64, BTreeMap<QuestionPath, Made>>,
    reports: BTreeMap<u64, Box<TaskReport>>,
}

impl Recorded {
    fn read(entries: &[JournalEntry]) -> Result<Self> {
        let mut recorded = Self::default();
        let mut library = Revision::default();
        for entry in entries {
            match RunEntry::from_entry(entry)? {
                RunEntry::Started { machine, .. } => {
                    library = machine.library().revision();
                    recorded.machine = Some(machine);
                }
                RunEntry::Answered { id, answer, .. } => match *answer {
                    Answer::Attempted(trajectory) if id.station == Station::Attempt => {
                        let made = Made {
                            trajectory,
                            library,
                        };
                        let attempts = recorded.attempts.entry(id.step).or_default();
                        attempts.entry(id.place).or_insert(made);
                    }
                    Answer::Committed(done) => {
                        library = done.committed.last().map_or(library, |last| last.revision);
                    }
                    _ => {}
                },
                RunEntry::Happened { event } => {
                    if let EventKind::TaskFinished { report } = event.kind {
                        recorded.reports.insert(report.step, report);
                    }
                }
                // Turns that were asked for, and what a later version records.
                _ => {}
            }
        }
        Ok(recorded)
    }
}

/// The agent's rollouts of a learning run, one group for each task, from the entries of the run's journal. Advantages are relative
/// to the exported attempts of a group. An attempt that cannot be exported is refused with its reason, and the others are kept: one
/// that could not be made or judged, that has no recorded generation, or whose task is not finished.
///
/// The agent has to record its generations ([`ModelExecutorOptions::record`](journeyman::agent::ModelExecutorOptions::record)), with
/// a model that gives them ([`ModelCapabilities::token_records`](journeyman::contract::ModelCapabilities::token_records)).
///
/// # Errors
/// `NotFound` for entries without the run's start; `Invalid` for an evaluation, whose tasks are not to be trained on;
/// `Unsupported` and `Corrupt` as [`RunEntry::from_entry`].
///
/// ```
/// use std::sync::Arc;
///
/// use journeyman::{
///     Seed,
///     agent::{EnvironmentJudge, MemoryJournal, ModelExecutor, ModelExecutorOptions},
///     contract::{Components, Journal},
///     recipe,
///     run::{Journeyman, Options},
///     testing::{Play, ScriptedFormat, ScriptedEnvironment, ScriptedModel, sample},
/// };
/// use journeyman_interchange::rollouts;
///
/// # futures::executor::block_on(async {
/// // A model that says the word at every second call.
/// let model = ScriptedModel::by(|_, call| {
///     Play::Give(if call % 2 == 0 { "good" } else { "done" }.to_owned())
/// });
/// let mut options = ModelExecutorOptions::default();
/// options.record = true;
/// let agent = ModelExecutor::new(Arc::new(model), Arc::new(ScriptedFormat), options)?;
/// let journal = Arc::new(MemoryJournal::new());
/// let world = Arc::new(ScriptedEnvironment::words());
/// let components = Components::new(Arc::new(agent), world, Arc::new(EnvironmentJudge)).with_journal(journal.clone());
/// let journeyman = Journeyman::open(components, recipe::scribe(), Options::new("desk", Seed(7))).await?;
/// let report = journeyman.learn(vec![sample::task("greet", &["good"])]).await?;
///
/// let exported = rollouts::of_journal(&journal.read(&report.run).await?)?;
/// assert_eq!((exported.rollouts.len(), exported.refused.len()), (8, 0), "a group of eight");
/// assert_eq!(exported.rollouts[0].advantage, report.tasks[0].advantages.as_ref().map(|all| all[0]));
///
/// let lines = rollouts::write(&exported.rollouts)?;
/// assert_eq!(rollouts::read(&lines)?, exported.rollouts);
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
pub fn of_journal(entries: &[JournalEntry]) -> Result<ExportedRollouts> {
    let Recorded {
        machine,
        mut attempts,
        reports,
    } = Recorded::read(entries)?;
    let machine = machine.ok_or_else(|| {
        let message = "the journal has no entry of the run's start";
        Error::new(ErrorKind::NotFound, OF, message)
            .hint("pass all entries of one run, beginning with its first")
    })?;
    if machine.mode() == Mode::Evaluate {
        return Err(Error::invalid(OF, "the run is an evaluation")
            .with("run", machine.run())
            .hint("export runs of `learn` or `begin`: who trains on held-out tasks cannot evaluate on them"));
    }
    let mut exported = ExportedRollouts::default();
    for (step, report) in reports {
        let made = attempts.remove(&step).unwrap_or_default();
        exported.extend(of_task(&machine, &report, made));
    }
    // Attempts at tasks that are not finished.
    let unfinished = attempts.into_values().flat_map(BTreeMap::into_values);
    let refused = unfinished.filter_map(|made| {
        let attempt = made.trajectory.ok()?.attempt;
        let error = Error::invalid(OF, "the attempt's task is not finished")
            .with("attempt", &attempt)
            .hint("finish the run with `Journeyman::resume`, and export it then");
        Some(RefusedRollout { attempt, error })
    });
    exported.refused.extend(refused);
    Ok(exported)
}

/// The rollouts of a finished task.
fn of_task(
    machine: &RunMachine,
    report: &TaskReport,
    made: BTreeMap<QuestionPath, Made>,
) -> ExportedRollouts {
    if let Some(error) = &report.failed {
        let attempts = made.into_values().filter_map(|made| made.trajectory.ok());
        let refused = attempts.map(|trajectory| RefusedRollout {
            attempt: trajectory.attempt,
            error: error.clone(),
        });
        return ExportedRollouts {
            rollouts: Vec::new(),
            refused: refused.collect(),
        };
    }
    let (mut attempts, mut refused) = (Vec::new(), Vec::new());
    let mut made = made.into_values();
    for report in &report.attempts {
        match (made.next(), &report.error) {
            (
                Some(Made {
                    trajectory: Ok(trajectory),
                    library,
                }),
                None,
            ) => {
                let parts = parts(&machine.recipe().reward, report);
                attempts.push(attempt(machine, report, (*trajectory, library), parts));
            }
            (made, error) => {
                let failed = made.and_then(|made| made.trajectory.err());
                let error = error.clone().or(failed).unwrap_or_else(|| {
                    Error::new(
                        ErrorKind::NotFound,
                        OF,
                        "the journal does not have the attempt",
                    )
                    .hint("pass all entries of the run")
                });
                refused.push(RefusedRollout {
                    attempt: report.attempt.clone(),
                    error,
                });
            }
        }
    }
    let mut exported = of_group(RolloutGroup {
        kind: RolloutKind::Agent,
        group: format!("{}/{}", machine.run(), report.step),
        tasks: vec![report.task.clone()],
        made: report.attempts.len(),
        attempts,
    });
    refused.append(&mut exported.refused);
    exported.refused = refused;
    exported
}

fn attempt(
    machine: &RunMachine,
    report: &AttemptReport,
    (trajectory, library): (Trajectory, Revision),
    parts: BTreeMap<String, RewardPart>,
) -> RolloutAttempt {
    let steps = u32::try_from(trajectory.steps.len()).unwrap_or(u32::MAX);
    let end = RolloutEnd::from(&trajectory.end);
    let unread = trajectory.unread.into_iter();
    let unread = unread.map(|turn| (steps, turn.generations));
    let recorded = (0..).zip(trajectory.steps.into_iter().map(|step| step.generations));
    let generations = recorded.chain(unread).flat_map(|(step, records)| {
        let records = records.into_iter();
        records.map(move |record| StepGeneration { step, record })
    });
    RolloutAttempt {
        attempt: report.attempt.clone(),
        run: machine.run().clone(),
        library,
        skills: report.injected.clone(),
        generations: generations.collect(),
        steps,
        end,
        reward: report.reward,
        parts,
    }
}

/// What an attempt's reward consists of. A process reward has weights, if they give the reward: in a warm-up they do not.
fn parts(policy: &RewardPolicy, report: &AttemptReport) -> BTreeMap<String, RewardPart> {
    let mut parts = BTreeMap::new();
    let mut part = |name: &str, value: f64| {
        let weight = None;
        parts.insert(name.to_owned(), RewardPart { value, weight });
    };
    let Some(success) = report.success else {
        return parts;
    };
    part("outcome", f64::from(u8::from(success)));
    if let Some(process) = report.process {
        part("process", process);
    }
    if let Ok(Some(levels)) = policy.by.read::<LevelReward>()
        && !levels.binary
    {
        let used = policy.skill_use.counts(report);
        part("skill", f64::from(u8::from(used)));
    }
    let Ok(Some(rule)) = policy.by.read::<ProcessReward>() else {
        return parts;
    };
    if report.reward == Some(rule.of(report.process, success)) {
        let [process, outcome] = rule.weights();
        for (name, part) in &mut parts {
            part.weight = Some(match (name.as_str(), report.process) {
                ("process", _) => process,
                (_, Some(_)) => outcome,
                // Without a process score the outcome counts for both.
                (_, None) => process + outcome,
            });
        }
    }
    parts
}
