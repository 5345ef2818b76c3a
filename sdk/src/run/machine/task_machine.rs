//! [`TaskMachine`], the state machine of one task: its policy runs, then the task waits for its turn, then it commits.

use std::task::Poll;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{LibraryChange, Skill, State, Task},
    error::{Error, Result},
    library::{Applied, Entry, Operation, SkillLibrary},
    policy::{
        Answer, Ask, CallUsage, Questions, RoleReply, fits,
        program::{Program, QuestionPath, Running},
    },
    run::{
        machine::{
            attempts::{Outcome, compare, one_task},
            effect::{Effect, EffectId, Of, RunContext, Station, effect, station},
            fold,
        },
        report::{EventKind, RoleTally, TaskReport},
    },
    stations::{
        admit::{
            Terms,
            admission::{self, Admission},
            curated::{self, Curating},
            draft::DraftSources,
        },
        maintain::{cases, live},
        propose::write_policy,
    },
};

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    /// The task's policy runs.
    Asking(Program<Questions, Result<Outcome>>),
    /// The policy has ended; the task waits for its turn to change the library. `next` is the number of its next question.
    Ready {
        outcome: Box<Outcome>,
        next: u32,
    },
    /// It is the task's turn, and its drafts are compared with the library.
    Comparing(Box<Outcome>, Program<Questions, Result<Outcome>>),
    /// The task waits for its commit. `next` is the number of its next question, should other writers be first and its drafts
    /// be compared again.
    Commit {
        outcome: Box<Outcome>,
        admissions: Vec<Admission>,
        next: u32,
    },
    Done(Box<TaskReport>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskMachine {
    step: u64,
    task: Task,
    stage: Stage,
    /// The tokens of the roles and test cases that were asked for it.
    #[serde(default)]
    calls: CallUsage,
    /// How the calls of these roles went.
    #[serde(default)]
    roles: RoleTally,
}

impl TaskMachine {
    /// Begins a task, and runs its policy as far as possible without answers.
    pub(crate) fn new(
        step: u64,
        task: Task,
        context: &RunContext<'_>,
        events: &mut Vec<EventKind>,
    ) -> Self {
        let stage = Stage::Asking(Program::new(0));
        let mut machine = Self {
            step,
            task,
            stage,
            calls: CallUsage::default(),
            roles: RoleTally::default(),
        };
        machine.go_on(context, events);
        machine
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done(_))
    }

    /// Whether the task waits for its turn to change the library.
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Ready { .. })
    }

    pub(crate) fn awaits_commit(&self) -> bool {
        matches!(self.stage, Stage::Commit { .. })
    }

    pub(crate) fn into_report(self) -> Option<TaskReport> {
        match self.stage {
            Stage::Done(report) => Some(TaskReport {
                role_usage: self.calls.answered,
                failed_usage: self.calls.failed,
                roles: self.roles,
                ..*report
            }),
            _ => None,
        }
    }

    /// The open effects whose ids are `wanted`.
    pub(crate) fn effects(
        &self,
        context: &RunContext<'_>,
        wanted: &dyn Fn(&EffectId) -> bool,
    ) -> Vec<(EffectId, Effect)> {
        let of = Of::Task;
        match &self.stage {
            Stage::Asking(program) | Stage::Comparing(_, program) => {
                program.questions(self.start(context), |place, question| {
                    let id = self.id(station(of, question), place.clone());
                    let effect =
                        wanted(&id).then(|| effect(context, self.step, of, place, question));
                    effect.map(|effect| (id, effect))
                })
            }
            Stage::Commit {
                outcome,
                admissions,
                ..
            } => {
                let id = self.id(Station::Commit, QuestionPath::at(0));
                let effect = wanted(&id).then(|| self.commit(context, outcome, admissions));
                effect.map(|effect| (id, effect)).into_iter().collect()
            }
            Stage::Ready { .. } | Stage::Done(_) => Vec::new(),
        }
    }

    /// The digest of the open question of an effect.
    pub(crate) fn question(&self, id: &EffectId) -> Option<String> {
        match &self.stage {
            Stage::Asking(program) | Stage::Comparing(_, program) => program.digest(&id.place),
            _ => None,
        }
    }

    /// Applies an answer. A second answer to a question is ignored.
    ///
    /// # Errors
    /// `Invalid` for an answer without an open question.
    pub(crate) fn answer(
        &mut self,
        context: &RunContext<'_>,
        id: &EffectId,
        answer: Answer,
        events: &mut Vec<EventKind>,
    ) -> Result<()> {
        let start = self.start(context);
        let (Stage::Asking(program) | Stage::Comparing(_, program)) = &mut self.stage else {
            return Ok(());
        };
        if program.is_past(&id.place) {
            return Ok(());
        }
        let asked = program.questions(start, |place, question| {
            (*place == id.place).then(|| (fits(question, &answer), question.role()))
        });
        let (usage, counts) = (answer.usage(), answer.role_counts());
        let (fits, role) = asked.first().copied().unwrap_or_default();
        if !fits || !program.answer(&id.place, answer) {
            let message = format!("no open question at {:?} has this id", id.station);
            return Err(Error::invalid("TaskMachine::answer", message).with("effect", id));
        }
        self.spend(usage);
        if let (Some(role), Some(counts)) = (role, counts) {
            self.roles.count(role, counts);
        }
        self.go_on(context, events);
        Ok(())
    }

    /// Counts the tokens of a role or a test case that was asked for the task.
    pub(crate) fn spend(&mut self, usage: CallUsage) {
        self.calls.add(usage);
    }

    /// Begins to decide on the task's drafts, with the present library: when it is the task's turn to change it, and anew where other
    /// writers were first, whose commits the run's library has now.
    pub(crate) fn admit(&mut self, context: &RunContext<'_>, events: &mut Vec<EventKind>) {
        let (Stage::Ready { outcome, next } | Stage::Commit { outcome, next, .. }) =
            &mut self.stage
        else {
            return;
        };
        let (outcome, next) = (std::mem::take(outcome), *next);
        self.stage = Stage::Comparing(outcome, Program::new(next));
        self.go_on(context, events);
    }

    /// Decides on the task's drafts, which are compared with the present library.
    fn decide(&self, context: &RunContext<'_>, outcome: &Outcome) -> Vec<Admission> {
        let rollouts = outcome.rollouts(context, self.step);
        let taint = fold::taint(&outcome.sources, &rollouts);
        let rules = &context.policies.admission;
        let mut admissions = Vec::new();
        for (number, RoleReply { task, reply }) in
            write_policy::drafts(&outcome.replies).enumerate()
        {
            let key = match number {
                0 => self.step.to_string(),
                number => format!("{}.{number}", self.step),
            };
            let sources = DraftSources {
                key,
                role: task.role(),
                tasks: vec![self.task.id.clone()],
                taint,
                parents: Vec::new(),
                terms: Terms::of(task.attempts()),
                meanings: &outcome.meanings,
            };
            let mut admission = admission::decide(
                context,
                &context.recipe.admit,
                (&sources, reply),
                &admissions,
            );
            if let Some(same) = admission.same() {
                let mut attempts = task.attempts().iter();
                let change =
                    attempts.find_map(|attempt| cases::confirmed_by(context, same, attempt));
                let mut before = admissions.iter();
                let repeated = before.any(|before: &Admission| before.change == change);
                if let Some(change) = change.filter(|_| !repeated) {
                    admission.confirm(change);
                }
            }
            admission::refuse(rules, context.library, &mut admission);
            admissions.push(admission);
        }
        if let Some(curator) = write_policy::curation(&outcome.replies) {
            let curating = Curating {
                context,
                policy: &context.recipe.admit,
                tests: context.standing.cases().is_some(),
                step: self.step,
                task: &self.task.id,
                taint,
                curator,
                meanings: &outcome.meanings,
            };
            admissions.extend(curated::decide(&curating, &|library, skill| {
                admission::check(rules, library, skill)
            }));
        }
        admissions
    }

    /// Finishes the task after its commit, which is already applied to the run's library. `own` is its effect there.
    pub(crate) fn committed(
        &mut self,
        context: &RunContext<'_>,
        own: &Applied,
        changes: &[LibraryChange],
        events: &mut Vec<EventKind>,
    ) {
        let Stage::Commit {
            outcome,
            admissions,
            ..
        } = &mut self.stage
        else {
            return;
        };
        let mut report = outcome.report(context, self.step, &self.task);
        let mut decided = Vec::new();
        for admission in admissions.iter_mut() {
            admission.applied(own, changes);
            decided.extend(admission.event());
            if admission.writes() {
                report.written.push(admission.report.clone());
            }
        }
        let curator = write_policy::curation(&outcome.replies);
        report.curation = curator.map(|curator| curated::report(curator, admissions));
        events.extend(settled(context, changes, own, decided));
        self.stage = Stage::Done(Box::new(report));
    }

    /// The function that starts the program of the task's stage.
    fn start<'a>(
        &self,
        context: &RunContext<'a>,
    ) -> impl FnOnce(Ask) -> Running<Result<Outcome>> + use<'a> {
        let (context, step, task) = (*context, self.step, self.task.clone());
        let outcome = match &self.stage {
            Stage::Comparing(outcome, _) => Some(outcome.clone()),
            _ => None,
        };
        move |ask| {
            let (view, recipe) = (context.view(step), context.recipe.clone());
            match outcome {
                Some(outcome) => Box::pin(compare(ask, view, recipe.admit, *outcome)),
                None => {
                    let policies = context.policies.clone();
                    Box::pin(one_task(ask, view, (recipe, policies), task))
                }
            }
        }
    }

    fn id(&self, station: Station, place: QuestionPath) -> EffectId {
        EffectId {
            step: self.step,
            station,
            place,
        }
    }

    /// Runs the policy as far as possible without further answers.
    pub(crate) fn go_on(&mut self, context: &RunContext<'_>, events: &mut Vec<EventKind>) {
        let start = self.start(context);
        let (compared, program) = match &mut self.stage {
            Stage::Asking(program) => (false, program),
            Stage::Comparing(_, program) => (true, program),
            _ => return,
        };
        let polled = program.poll(start);
        events.extend(program.take_events());
        let next = program.next_number();
        let outcome = match polled {
            Poll::Pending => return,
            Poll::Ready(Ok(Ok(outcome))) => outcome,
            Poll::Ready(Ok(Err(error)) | Err(error)) => {
                events.push(EventKind::TaskFailed {
                    reason: error.to_string(),
                });
                let mut report = Outcome::default().report(context, self.step, &self.task);
                report.failed = Some(error);
                self.stage = Stage::Done(Box::new(report));
                return;
            }
        };
        self.stage = if compared {
            let admissions = self.decide(context, &outcome);
            Stage::Commit {
                outcome: Box::new(outcome.without_meanings()),
                admissions,
                next,
            }
        } else if outcome.teaches(context) {
            let outcome = Box::new(outcome);
            Stage::Ready { outcome, next }
        } else {
            // A task from which nothing is learned makes no commit.
            Stage::Done(Box::new(outcome.report(context, self.step, &self.task)))
        };
    }

    fn commit(
        &self,
        context: &RunContext<'_>,
        outcome: &Outcome,
        admissions: &[Admission],
    ) -> Effect {
        let rollouts = outcome.rollouts(context, self.step);
        let (recipe, credit) = (context.recipe, &context.recipe.credit);
        let candidates = &outcome.selected.candidates;
        let mut evidence = fold::exposures(context, credit, &self.task, candidates, &rollouts);
        evidence.extend(fold::attributions(&outcome.replies));
        evidence.extend(fold::not_followed(credit, &self.task, &rollouts));
        evidence.extend(outcome.assessments());
        evidence.extend(outcome.assigned(&self.task, &rollouts));
        if recipe.tiers.traces > 0 {
            let kept = fold::observations(context, self.step, &self.task, &rollouts);
            evidence.extend(kept);
        }
        evidence.extend(write_policy::notes(
            context,
            &recipe.write,
            &self.task,
            &rollouts,
        ));
        evidence.extend(live::decided(context, &evidence));
        Effect::Commit(fold::commit(
            context,
            self.step,
            &self.task,
            evidence,
            &outcome.credits,
            admissions,
        ))
    }
}

// The events of a decision, completed after its commit: final names and states of skills, and the conditions under which
// new skills become active.

/// Completes the events of a decision after its commit: admitted skills get their final names and states, skills that another
/// writer changed first become refusals, and events are added for waiting skills, changed states, credits, judgements and proofs.
pub(crate) fn settled(
    context: &RunContext<'_>,
    changes: &[LibraryChange],
    own: &Applied,
    kinds: Vec<EventKind>,
) -> Vec<EventKind> {
    let passed_over = &own.passed_over;
    let mut events = Vec::new();
    for kind in kinds {
        let EventKind::Admitted { skill, revised } = kind else {
            events.push(kind);
            continue;
        };
        let overtaken = passed_over.iter().any(|passed| {
            let change = changes.get(passed.change).and_then(LibraryChange::skill);
            change.is_some_and(|change| change.reference() == skill.reference())
        });
        if overtaken {
            let reason = format!("{}: another writer was first", skill.name);
            events.push(EventKind::Refused { reason });
            continue;
        }
        let entry = context.library.get(&skill.id);
        let skill = entry.map_or(skill, |entry| Box::new(entry.skill.clone()));
        let waits = waits(context, &skill);
        events.push(EventKind::Admitted { skill, revised });
        events.extend(waits);
    }
    let taken = changes.iter().enumerate();
    let taken = taken.filter(|(place, _)| !passed_over.iter().any(|one| one.change == *place));
    let others = taken.flat_map(|(_, change)| {
        let said = state_changed(context.library, change);
        let said = said.or_else(|| said_of(context.library, change));
        said.into_iter()
            .chain(gave_way(context.library, change, own))
    });
    events.extend(others);
    events
}

/// The events of the skills that a merged one replaces since this change, which is one of a commit with this effect.
fn gave_way(library: &SkillLibrary, change: &LibraryChange, own: &Applied) -> Vec<EventKind> {
    let merged = match change {
        LibraryChange::Release { skill, .. } => &skill.id,
        LibraryChange::SetState {
            skill,
            state: State::Active,
            ..
        } => skill,
        _ => return Vec::new(),
    };
    let Some(name) = library.get(merged).map(|entry| &entry.skill.name) else {
        return Vec::new();
    };
    // One that gave way before is not told again.
    let set_aside = |source: &&Entry| {
        let mut moves = own.moves.iter();
        moves.any(|one| one.operation == Operation::SetAside && one.skill.id == source.skill.id)
    };
    let archived = library.gave_way_to(merged).filter(set_aside);
    let told = archived.map(|source| EventKind::StateChanged {
        skill: source.skill.id.clone(),
        name: source.skill.name.clone(),
        state: State::Archived,
        reason: format!("it was merged into {name}, which is in use now"),
    });
    told.collect()
}

/// The event of a credit, a judgement or a proof, if the skill is in the library.
fn said_of(library: &SkillLibrary, change: &LibraryChange) -> Option<EventKind> {
    match change {
        LibraryChange::Credit {
            skill,
            attempt,
            reward,
            ..
        } => {
            let entry = library.get(&skill.id)?;
            Some(EventKind::Credited {
                skill: skill.clone(),
                name: entry.skill.name.clone(),
                attempt: attempt.clone(),
                reward: *reward,
                utility: entry.utility,
            })
        }
        LibraryChange::Attribute(said) => Some(EventKind::Attributed {
            skill: said.skill.clone(),
            name: library.get(&said.skill.id)?.skill.name.clone(),
            attempt: said.attempt.clone(),
            judgement: said.judgement,
            reason: said.reason.clone(),
        }),
        LibraryChange::Prove {
            skill,
            model,
            helps,
        } => Some(EventKind::Proven {
            skill: skill.clone(),
            name: library.get(&skill.id)?.skill.name.clone(),
            model: model.clone(),
            helps: *helps,
        }),
        _ => None,
    }
}

fn state_changed(library: &SkillLibrary, change: &LibraryChange) -> Option<EventKind> {
    let (skill, state, reason) = match change {
        LibraryChange::SetState {
            skill,
            state,
            reason,
        } => (skill, *state, reason),
        LibraryChange::Release { skill, reason, .. } => (&skill.id, State::Active, reason),
        _ => return None,
    };
    let entry = library.get(skill)?;
    // Another writer may have set another state first.
    (entry.skill.state == state).then(|| EventKind::StateChanged {
        skill: skill.clone(),
        name: entry.skill.name.clone(),
        state,
        reason: reason.clone(),
    })
}

/// The event with the condition under which a draft, or a skill on trial or in quarantine, comes into use; none for other
/// states.
fn waits(context: &RunContext<'_>, skill: &Skill) -> Option<EventKind> {
    let evidence = || {
        let tasks = live::tasks_needed(context, skill.state);
        if context.standing.by_proof() && skill.state == State::Trial {
            return "the same tasks, attempted with and without it, prove that more is done with it".to_owned();
        }
        match context.standing.cases() {
            Some(_) => format!(
                "its test bundle passes at {tasks} tasks or, where nothing of that can be played again, live attempts \
                 at {tasks} tasks go well with it"
            ),
            None => format!("live attempts at {tasks} tasks go well with it"),
        }
    };
    let reason = match skill.state {
        State::Trial => format!("on trial until {}", evidence()),
        State::Draft => "a draft of the next version until that passes its test bundle; the version before stays in use"
            .to_owned(),
        State::Quarantined if context.standing.quarantine.is_some() => format!(
            "in quarantine, since it was written from observations of an untrusted source: it is tried in learning alone \
             until {}; the first harm ends the trial",
            evidence()
        ),
        State::Quarantined => "in quarantine, since it was written from observations of an untrusted source: no run \
                               lifts this; `Journeyman::set_state` does, and `Trust::Trusted` for sources that the \
                               host vouches for avoids it"
            .to_owned(),
        _ => return None,
    };
    Some(EventKind::Waits {
        skill: skill.reference(),
        name: skill.name.clone(),
        state: skill.state,
        reason,
    })
}
