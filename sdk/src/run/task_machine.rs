//! One task's way through the stations. Pure: it is told everything and decides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Answer, AttemptNeed, Event, Need, NeedId, Station, TaskReport,
    admission::{self, Admission},
    fold::{self, Rollout},
};
use crate::{
    domain::{Candidate, Query, SkillRef, Taint, Task, Trajectory, Trust, Verdict},
    error::{Error, ErrorKind, Result},
    id::{AttemptId, RunId, Seed},
    library::{SkillLibrary, Tier},
    recipe::{Candidates, Recipe, SelectPer},
    select::{Mode, NothingReason, ScoreKind, Selection, Selector, SkillScores},
};

/// What a task shares with its run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) run: &'a RunId,
    pub(super) seed: Seed,
    pub(super) recipe: &'a Recipe,
    pub(super) mode: Mode,
    pub(super) library: &'a SkillLibrary,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Retrieve,
    Score,
    Attempt,
    Write,
    Commit,
    Done,
}

/// One task's way through the stations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskMachine {
    step: u64,
    task: Task,
    stage: Stage,
    candidates: Vec<Candidate>,
    /// One a query, or one a rollout.
    selections: Vec<Selection>,
    attempts: BTreeMap<u32, Result<Box<Trajectory>>>,
    verdicts: BTreeMap<u32, Result<Verdict>>,
    admission: Option<Admission>,
    report: Option<Box<TaskReport>>,
}

impl TaskMachine {
    pub(super) fn new(step: u64, task: Task, context: &Context<'_>) -> Self {
        let mut machine = Self {
            step,
            task,
            stage: Stage::Retrieve,
            candidates: Vec::new(),
            selections: Vec::new(),
            attempts: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            admission: None,
            report: None,
        };
        machine.begin(context);
        machine
    }

    pub(super) fn report(&self) -> Option<&TaskReport> {
        match self.stage {
            Stage::Done => self.report.as_deref(),
            _ => None,
        }
    }

    pub(super) fn into_report(self) -> Option<TaskReport> {
        match self.stage {
            Stage::Done => self.report.map(|report| *report),
            _ => None,
        }
    }

    /// Everything that can run now.
    pub(super) fn needs(&self, context: &Context<'_>) -> Vec<(NeedId, Need)> {
        match self.stage {
            Stage::Retrieve => vec![(self.id(Station::Retrieve, 0), self.retrieve(context))],
            Stage::Score => vec![(self.id(Station::Score, 0), self.score(context))],
            Stage::Attempt => self.attempts_and_verdicts(context),
            Stage::Write => vec![(self.id(Station::Write, 0), self.write(context))],
            Stage::Commit => vec![(self.id(Station::Commit, 0), self.commit(context))],
            Stage::Done => Vec::new(),
        }
    }

    /// Folds an answer in.
    pub(super) fn answer(
        &mut self,
        context: &Context<'_>,
        id: NeedId,
        answer: Answer,
        events: &mut Vec<Event>,
    ) -> Result<()> {
        match (answer, &self.stage) {
            (Answer::Retrieved(found), Stage::Retrieve) => self.retrieved(context, found, events),
            (Answer::Scored(scores), Stage::Score) => self.scored(context, scores, events),
            (Answer::Attempted(attempt), Stage::Attempt) => {
                self.attempts.entry(id.index).or_insert(attempt);
                self.finish_group(context, events)?;
            }
            (Answer::Judged(verdict), Stage::Attempt) => {
                self.verdicts
                    .entry(id.index)
                    .or_insert(verdict.and_then(check_verdict));
                self.finish_group(context, events)?;
            }
            (Answer::Written(written), Stage::Write) => {
                let taint = self.taint(context);
                self.admission = Some(admission::decide(
                    context, self.step, &self.task, taint, &written,
                ));
                self.stage = Stage::Commit;
            }
            (Answer::Committed(_), Stage::Commit) => {
                return Err(Error::new(
                    ErrorKind::Internal,
                    "TaskMachine::answer",
                    "a commit is folded by the run",
                ));
            }
            (answer, _) => {
                return Err(Error::invalid(
                    "TaskMachine::answer",
                    format!("nothing waits for an answer at {:?}", answer.station()),
                )
                .with("need", id));
            }
        }
        Ok(())
    }

    /// The commit that this task waits for was made, and the run's library has it.
    pub(super) fn committed(&mut self, context: &Context<'_>, events: &mut Vec<Event>) {
        let mut report = self.take_report(context);
        if let Some(admission) = &self.admission {
            events.push(admission.event(self.step));
            report.written = Some(admission.report.clone());
        }
        report.revision = context.library.revision();
        self.finish(report);
    }

    fn begin(&mut self, context: &Context<'_>) {
        let recipe = context.recipe;
        let reason = if context.mode == Mode::Train && self.step < recipe.warm_up {
            Some(NothingReason::WarmUp)
        } else if recipe.selector == Selector::Nothing {
            Some(NothingReason::Disabled)
        } else if context.library.cache().next().is_none() {
            Some(NothingReason::NoCandidates)
        } else {
            None
        };
        match (reason, recipe.candidates) {
            (Some(reason), _) => self.select_nothing(reason),
            (None, Candidates::Search { .. }) => {}
            (None, Candidates::Cache) => {
                self.candidates = context
                    .library
                    .cache()
                    .map(|entry| Candidate {
                        skill: entry.skill.reference(),
                        score: 0.0,
                    })
                    .collect();
                self.candidates_known(context);
            }
        }
    }

    fn id(&self, station: Station, index: u32) -> NeedId {
        NeedId {
            step: self.step,
            station,
            index,
        }
    }

    fn seed(&self, context: &Context<'_>) -> Seed {
        context.seed.derive("step", self.step)
    }

    fn group(context: &Context<'_>) -> u32 {
        match context.mode {
            Mode::Train => context.recipe.group,
            Mode::Evaluate => 1,
        }
    }

    // Retrieval.

    fn retrieve(&self, context: &Context<'_>) -> Need {
        let limit = match context.recipe.candidates {
            Candidates::Search { limit } => limit,
            Candidates::Cache => usize::MAX,
        };
        Need::Retrieve(Query {
            text: self.task.instruction.clone(),
            limit,
            among: Some(
                context
                    .library
                    .cache()
                    .map(|entry| entry.skill.id.clone())
                    .collect(),
            ),
        })
    }

    fn retrieved(
        &mut self,
        context: &Context<'_>,
        found: Result<Vec<Candidate>>,
        events: &mut Vec<Event>,
    ) {
        match found {
            Ok(found) => {
                // The index may be ahead of a frozen library: the library says which version is meant.
                self.candidates = found
                    .into_iter()
                    .filter_map(|candidate| {
                        let entry = context.library.get(&candidate.skill.id)?;
                        if entry.tier != Tier::Cache {
                            return None;
                        }
                        Some(Candidate {
                            skill: entry.skill.reference(),
                            score: candidate.score,
                        })
                    })
                    .collect();
                events.push(Event::Retrieved {
                    step: self.step,
                    candidates: self.candidates.clone(),
                });
                if self.candidates.is_empty() {
                    self.select_nothing(NothingReason::NoCandidates);
                } else {
                    self.candidates_known(context);
                }
            }
            Err(error) => {
                self.select_nothing(NothingReason::RetrieverUnavailable(error.to_string()));
            }
        }
        self.selected_events(events);
    }

    // Selection.

    fn candidates_known(&mut self, context: &Context<'_>) {
        if context.recipe.selector.score().is_some() {
            self.stage = Stage::Score;
            return;
        }
        match self.choose(context, &[]) {
            Ok(selections) => self.selections = selections,
            Err(error) => {
                self.select_nothing(NothingReason::ScorerUnavailable(error.to_string()));
            }
        }
        self.stage = Stage::Attempt;
    }

    fn score(&self, context: &Context<'_>) -> Need {
        let score = context.recipe.selector.score();
        Need::Score {
            query: self.task.instruction.clone(),
            skills: self
                .candidates
                .iter()
                .filter_map(|c| context.library.get(&c.skill.id))
                .map(|entry| entry.skill.clone())
                .collect(),
            unconditional: score.is_some_and(ScoreKind::needs_unconditional),
        }
    }

    fn scored(
        &mut self,
        context: &Context<'_>,
        scores: Result<Vec<SkillScores>>,
        events: &mut Vec<Event>,
    ) {
        match scores.and_then(|scores| self.choose(context, &scores)) {
            Ok(selections) => {
                self.selections = selections;
                self.stage = Stage::Attempt;
            }
            // A scorer that fails, or gives what is no number, costs the injection and not the task (F13).
            Err(error) => {
                self.select_nothing(NothingReason::ScorerUnavailable(error.to_string()));
            }
        }
        self.selected_events(events);
    }

    fn choose(&self, context: &Context<'_>, scores: &[SkillScores]) -> Result<Vec<Selection>> {
        let cache = context.library.cache();
        let pool: Vec<SkillRef> = cache.map(|entry| entry.skill.reference()).collect();
        let selector = &context.recipe.selector;
        self.selection_seeds(context)
            .into_iter()
            .map(|seed| selector.choose(&self.candidates, scores, &pool, seed, context.mode))
            .collect()
    }

    fn selection_seeds(&self, context: &Context<'_>) -> Vec<Seed> {
        let count = match context.recipe.select_per {
            SelectPer::Query => 1,
            SelectPer::Rollout => Self::group(context),
        };
        let seed = self.seed(context);
        (0..u64::from(count))
            .map(|i| seed.derive("select", i))
            .collect()
    }

    fn select_nothing(&mut self, reason: NothingReason) {
        self.selections = vec![Selection::nothing(reason)];
        self.stage = Stage::Attempt;
    }

    fn selected_events(&self, events: &mut Vec<Event>) {
        if self.stage != Stage::Attempt {
            return;
        }
        for (rollout, selection) in (0..).zip(&self.selections) {
            events.push(Event::Selected {
                step: self.step,
                rollout,
                selection: selection.clone(),
            });
        }
    }

    fn injected(&self, rollout: u32) -> Option<&SkillRef> {
        let selection = self
            .selections
            .get(rollout as usize)
            .or_else(|| self.selections.first());
        selection.and_then(Selection::skill)
    }

    // Attempts and verdicts.

    fn attempts_and_verdicts(&self, context: &Context<'_>) -> Vec<(NeedId, Need)> {
        (0..Self::group(context))
            .filter_map(|index| match self.attempts.get(&index) {
                None => Some((
                    self.id(Station::Attempt, index),
                    Need::Attempt(Box::new(self.attempt(context, index))),
                )),
                Some(Ok(trajectory)) if !self.verdicts.contains_key(&index) => Some((
                    self.id(Station::Judge, index),
                    Need::Judge {
                        task: Box::new(self.task.clone()),
                        trajectory: trajectory.clone(),
                    },
                )),
                Some(_) => None,
            })
            .collect()
    }

    fn attempt(&self, context: &Context<'_>, index: u32) -> AttemptNeed {
        let seed = self.seed(context);
        let skill = self
            .injected(index)
            .and_then(|skill| context.library.get(&skill.id));
        AttemptNeed {
            attempt: AttemptId::new(format!("{}/{}/{index}", context.run, self.step)),
            task: self.task.clone(),
            seed: seed.derive("attempt", u64::from(index)),
            world_seed: seed.derive("world", 0),
            temperature: match context.mode {
                Mode::Train => context.recipe.temperature,
                Mode::Evaluate => 0.0,
            },
            skills: skill.map(|entry| entry.skill.clone()).into_iter().collect(),
            time_limit: context.recipe.limits.attempt,
        }
    }

    fn finish_group(&mut self, context: &Context<'_>, events: &mut Vec<Event>) -> Result<()> {
        let complete = (0..Self::group(context)).all(|index| match self.attempts.get(&index) {
            Some(Ok(_)) => self.verdicts.contains_key(&index),
            Some(Err(_)) => true,
            None => false,
        });
        if !complete {
            return Ok(());
        }
        let rollouts = self.rollouts(context);
        for (rollout, each) in (0..).zip(&rollouts) {
            events.push(Event::Attempted {
                step: self.step,
                rollout,
                report: Box::new(each.report.clone()),
            });
        }
        match context.mode {
            Mode::Evaluate => {
                let report =
                    fold::task_report(context, self.step, &self.task, &self.selections, rollouts);
                self.finish(report);
            }
            Mode::Train => {
                let due = !fold::traces(context, &rollouts).is_empty();
                self.stage = if due { Stage::Write } else { Stage::Commit };
            }
        }
        Ok(())
    }

    fn rollouts(&self, context: &Context<'_>) -> Vec<Rollout<'_>> {
        (0..Self::group(context))
            .filter_map(|index| {
                let attempt = self.attempts.get(&index)?;
                Some(fold::rollout(
                    context,
                    self.step,
                    self.attempt_id(context, index),
                    self.injected(index),
                    attempt,
                    self.verdicts.get(&index),
                ))
            })
            .collect()
    }

    fn attempt_id(&self, context: &Context<'_>, index: u32) -> AttemptId {
        AttemptId::new(format!("{}/{}/{index}", context.run, self.step))
    }

    // Writing and committing.

    fn write(&self, context: &Context<'_>) -> Need {
        Need::Write {
            task: Box::new(self.task.clone()),
            traces: fold::traces(context, &self.rollouts(context))
                .into_iter()
                .cloned()
                .collect(),
            seed: self.seed(context).derive("write", 0),
        }
    }

    /// A skill written from anything that an untrusted source said is tainted (J7).
    fn taint(&self, context: &Context<'_>) -> Taint {
        let rollouts = self.rollouts(context);
        let traces = fold::traces(context, &rollouts);
        let mut steps = traces.iter().flat_map(|trace| &trace.steps);
        let untrusted = steps.any(|step| {
            step.observation.source.trust != Trust::Trusted
                || step.result.source.trust != Trust::Trusted
        });
        if untrusted {
            Taint::Tainted
        } else {
            Taint::Clean
        }
    }

    fn commit(&self, context: &Context<'_>) -> Need {
        Need::Commit(fold::commit(
            context,
            self.step,
            &self.task,
            &self.rollouts(context),
            self.admission.as_ref(),
        ))
    }

    fn take_report(&self, context: &Context<'_>) -> TaskReport {
        fold::task_report(
            context,
            self.step,
            &self.task,
            &self.selections,
            self.rollouts(context),
        )
    }

    fn finish(&mut self, report: TaskReport) {
        self.report = Some(Box::new(report));
        self.stage = Stage::Done;
        // What is reported need not be kept: a run over many tasks stays small.
        self.attempts.clear();
        self.verdicts.clear();
        self.admission = None;
    }
}

fn check_verdict(verdict: Verdict) -> Result<Verdict> {
    if verdict.is_valid() {
        Ok(verdict)
    } else {
        Err(Error::new(
            ErrorKind::Invalid,
            "Judge::judge",
            "the verdict's score is not in [0, 1] or a part is not finite",
        )
        .hint("see the rules of a verdict in `Judge`"))
    }
}
