//! Maintenance of the library between tasks (HiSME algorithms 1, 3, 4, 5; SkillRL algorithm 1; ARISE D.3).
//!
//! The recipe's programs, ours and the host's, run in their order. The changes of one are one commit; the next starts from the
//! library after it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    task::Poll,
};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        Cause, Commit, Committed, FileRef, LibraryChange, MaintenanceBudget, Skill, SkillName,
        SkillRef, State,
    },
    error::{Error, Result},
    id::{CommitKey, SkillId},
    library::{Applied, SkillLibrary, format::SkillMd},
    policy::{
        Answer, Ask, MaintenanceProgram, Questions, View, fits,
        program::{Program, QuestionPath, Running},
    },
    run::{
        machine::{
            effect::{Effect, EffectId, Of, RunContext, Station, effect},
            task_machine::settled,
        },
        report::{EventKind, MaintenanceUsage, RoleTally},
    },
    stations::{admit::admission, recipe::ScheduledProgram},
};

fn usage_of(answer: &Answer) -> MaintenanceUsage {
    let mut usage = MaintenanceUsage::default();
    match answer {
        Answer::Played(_) => usage.roles = answer.usage().total(),
        Answer::Tried(_) => {
            usage.cases = answer.usage().total();
            usage.attempts = 1;
        }
        _ => {}
    }
    usage
}

/// The state of the current program: it runs, or its commit is pending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Asking(Program<Questions, Result<Vec<LibraryChange>>>),
    Keeping {
        changes: Vec<LibraryChange>,
        /// The number of the next program's first question.
        next: u32,
    },
}

/// The maintenance after one batch of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Maintaining {
    /// The index of the last task before it.
    step: u64,
    /// The unfinished programs, the current one first, each with its place in the recipe's list.
    due: Vec<(u32, ScheduledProgram)>,
    /// What was left of the round's budget when the current program began.
    left: MaintenanceBudget,
    /// The cost of the current program so far.
    spent: MaintenanceUsage,
    stage: Stage,
}

impl Maintaining {
    /// Starts maintenance after task `step`, and runs its programs as far as possible without answers.
    pub(crate) fn new(
        context: &RunContext<'_>,
        step: u64,
        due: Vec<(u32, ScheduledProgram)>,
        events: &mut Vec<EventKind>,
    ) -> Self {
        let mut machine = Self {
            step,
            due,
            left: context.recipe.maintenance.budget,
            spent: MaintenanceUsage::default(),
            stage: Stage::Asking(Program::new(0)),
        };
        machine.go_on(context, events);
        machine
    }

    /// The index of the last task before it.
    pub(crate) fn step(&self) -> u64 {
        self.step
    }

    /// Whether all programs are finished.
    pub(crate) fn is_done(&self) -> bool {
        self.due.is_empty()
    }

    /// The open effects whose ids are `wanted`.
    pub(crate) fn effects(
        &self,
        context: &RunContext<'_>,
        wanted: &dyn Fn(&EffectId) -> bool,
    ) -> Vec<(EffectId, Effect)> {
        let Some((number, _)) = self.due.first() else {
            return Vec::new();
        };
        match &self.stage {
            Stage::Keeping { changes, .. } => {
                let id = self.id(Station::Keep, QuestionPath::at(*number));
                let effect = wanted(&id).then(|| self.commit(context, *number, changes));
                effect.map(|effect| (id, effect)).into_iter().collect()
            }
            Stage::Asking(program) => program.questions(
                |ask| start(ask, context, *number, (self.step, self.left)),
                |place, question| {
                    let id = self.id(Station::Maintain, place.clone());
                    let effect = wanted(&id)
                        .then(|| effect(context, self.step, Of::Maintenance, place, question));
                    effect.map(|effect| (id, effect))
                },
            ),
        }
    }

    /// The digest of the open question of an effect.
    pub(crate) fn question(&self, id: &EffectId) -> Option<String> {
        match &self.stage {
            Stage::Asking(program) if id.step == self.step => program.digest(&id.place),
            _ => None,
        }
    }

    /// Applies an answer, and returns the tokens that were used for it and how a role's call went.
    ///
    /// # Errors
    /// `Invalid` for an answer without an open question.
    pub(crate) fn answer(
        &mut self,
        context: &RunContext<'_>,
        id: &EffectId,
        answer: Answer,
        events: &mut Vec<EventKind>,
    ) -> Result<(MaintenanceUsage, RoleTally)> {
        let nothing = <(MaintenanceUsage, RoleTally)>::default();
        let Some((number, _)) = self.due.first() else {
            return Ok(nothing);
        };
        let (number, step, left) = (*number, self.step, self.left);
        let refused = || {
            Error::invalid("RunMachine::answer", "no open question has this id").with("effect", id)
        };
        // A repeated answer is ignored, also one for a finished program.
        let program = match &mut self.stage {
            _ if id.step < step => return Ok(nothing),
            Stage::Keeping { next, .. } if id.place.number() < *next => return Ok(nothing),
            Stage::Keeping { .. } => return Err(refused()),
            Stage::Asking(program) => program,
        };
        if program.is_past(&id.place) {
            return Ok(nothing);
        }
        let (usage, counts) = (usage_of(&answer), answer.role_counts());
        let asked = program.questions(
            |ask| start(ask, context, number, (step, left)),
            |place, question| {
                (*place == id.place).then(|| (fits(question, &answer), question.role()))
            },
        );
        let (fits, role) = asked.first().copied().unwrap_or_default();
        if !fits || !program.answer(&id.place, answer) {
            return Err(refused());
        }
        self.spent.add(usage);
        self.go_on(context, events);
        let mut roles = RoleTally::default();
        if let (Some(role), Some(counts)) = (role, counts) {
            roles.count(role, counts);
        }
        Ok((usage, roles))
    }

    /// Whether the current program waits for this commit.
    pub(crate) fn awaits_commit(&self, id: &EffectId) -> bool {
        let current = self.due.first();
        matches!(self.stage, Stage::Keeping { .. })
            && id.step == self.step
            && current.is_some_and(|(number, _)| id.place == QuestionPath::at(*number))
    }

    /// Continues after the commit of the current program, which is already applied to the run's library. `own` is its effect.
    pub(crate) fn committed(
        &mut self,
        context: &RunContext<'_>,
        own: &Applied,
        events: &mut Vec<EventKind>,
    ) {
        let Stage::Keeping { changes, next } = &mut self.stage else {
            return;
        };
        let (changes, next) = (std::mem::take(changes), *next);
        let entered = admitted(&changes);
        events.extend(settled(context, &changes, own, entered));
        let program = self.due.first().map(|(_, one)| one.program.name.as_str());
        let program = program.unwrap_or_default();
        events.extend(own.passed_over.iter().filter_map(|passed| {
            let change = changes.get(passed.change)?;
            // A skill that another writer was first with is told already.
            let is_told = !admitted(std::slice::from_ref(change)).is_empty();
            (!is_told && !is_record(change)).then(|| EventKind::Refused {
                reason: format!(
                    "change {} of the maintenance program {program} has no effect: {}",
                    passed.change, passed.reason
                ),
            })
        }));
        self.next(next);
        self.go_on(context, events);
    }

    /// Leaves alone the skills about which the host or a person has decided since the program did, and commits the rest. The run's library
    /// has their commits now.
    pub(crate) fn overtaken(
        &mut self,
        context: &RunContext<'_>,
        committed: &[Committed],
        events: &mut Vec<EventKind>,
    ) {
        let Stage::Keeping { changes, next } = &mut self.stage else {
            return;
        };
        let next = *next;
        remove_decided_by_host(context, committed, changes, events);
        if changes.is_empty() {
            self.next(next);
            self.go_on(context, events);
        }
    }

    fn id(&self, station: Station, place: QuestionPath) -> EffectId {
        EffectId {
            step: self.step,
            station,
            place,
        }
    }

    fn commit(&self, context: &RunContext<'_>, number: u32, changes: &[LibraryChange]) -> Effect {
        let mut changes = changes.to_vec();
        if !only_measures(&changes) {
            changes.push(LibraryChange::Maintain);
        }
        Effect::Commit(Commit {
            base: context.library.revision(),
            key: CommitKey::new(format!("{}/{}/m{number}", context.run, self.step)),
            cause: Cause {
                run: Some(context.run.clone()),
                task: None,
                reason: reason(context, number),
                at: None,
            },
            changes,
        })
    }

    /// Runs the programs as far as possible without further answers.
    pub(crate) fn go_on(&mut self, context: &RunContext<'_>, events: &mut Vec<EventKind>) {
        while let (Some((number, scheduled)), Stage::Asking(program)) =
            (self.due.first(), &mut self.stage)
        {
            let of = (self.step, self.left);
            let polled = program.poll(|ask| start(ask, context, *number, of));
            events.extend(program.take_events());
            let Poll::Ready(decided) = polled else {
                return;
            };
            let next = program.next_number();
            let decided = decided.map(|decided| {
                decided.map(|mut changes| {
                    let rules = &context.policies.admission;
                    admission::remove_refused(rules, context.library, &mut changes, events);
                    changes
                })
            });
            match decided {
                // Without changes there is nothing to commit.
                Ok(Ok(changes)) if changes.is_empty() => self.next(next),
                Ok(Ok(changes)) => self.stage = Stage::Keeping { changes, next },
                Ok(Err(error)) | Err(error) => {
                    let (part, reason) = (scheduled.program.name.clone(), error.to_string());
                    events.push(EventKind::MaintenanceFailed { part, reason });
                    self.next(next);
                }
            }
        }
    }

    /// Begins the next program. Its questions continue the numbers of the step, so that every place is used once.
    fn next(&mut self, number: u32) {
        self.due.remove(0);
        let spent = std::mem::take(&mut self.spent);
        self.left.pay(spent.roles, 0);
        self.left.pay(spent.cases, spent.attempts);
        self.stage = Stage::Asking(Program::new(number));
    }
}

// Starts the maintenance programs that a recipe schedules, and checks the changes that they make.

/// Checks that a maintenance program may make a change, and that a store accepts it. `records`: the program says that it records
/// what it found out.
///
/// # Errors
/// `Invalid`, with the violated rule.
pub(crate) fn permitted(
    change: &LibraryChange,
    records: bool,
    library: &SkillLibrary,
) -> Result<()> {
    change.validate()?;
    let refused = |message: &str| Err(Error::invalid("MaintenanceProgram::maintain", message));
    let allowed = matches!(
        change,
        LibraryChange::Add(_)
            | LibraryChange::Revise(_)
            | LibraryChange::Merge { .. }
            | LibraryChange::RollBack { .. }
            | LibraryChange::Restore { .. }
            | LibraryChange::SetState { .. }
            | LibraryChange::Release { .. }
            | LibraryChange::PatchBundle { .. }
            | LibraryChange::SetRules { .. }
    );
    let recorded = is_record(change);
    if recorded && !records {
        return refused(
            "a maintenance program records results of tests and comparisons, gains, prototypes and what is dealt with only where \
             `MaintenanceProgram::records` says so",
        );
    }
    if !allowed && !recorded {
        return refused(
            "a maintenance program may add, revise, merge, restore, roll back and release skills, set their states, extend \
             their bundles, set rules of roles, and record what it found out; it may not record evidence or erase anything",
        );
    }
    let Some(skill) = change.skill() else {
        return Ok(());
    };
    // A skill that cannot be written as SKILL.md could not be written to a folder or an export either.
    SkillMd::from(skill).write()?;
    let known = |file: &FileRef| {
        let mut entries = library.entries();
        entries.any(|entry| {
            entry
                .skill
                .files
                .values()
                .any(|one| one.sha256 == file.sha256)
        })
    };
    match skill.files.values().all(known) {
        true => Ok(()),
        false => refused("the skill names a file that no skill of the library has"),
    }
}

/// Whether a change records what a program found out, and decides nothing.
pub(super) fn is_record(change: &LibraryChange) -> bool {
    matches!(
        change,
        LibraryChange::Test { .. }
            | LibraryChange::Compare { .. }
            | LibraryChange::Prove { .. }
            | LibraryChange::Gain { .. }
            | LibraryChange::Handled { .. }
            | LibraryChange::SetPrototypes(_)
            | LibraryChange::SetAnchors(_)
            | LibraryChange::CheckAnchors(_)
    )
}

/// Starts the program at a place in the recipe's list on the present library, and checks its changes. `left`: what is left of the
/// round's budget.
pub(super) fn start(
    ask: Ask,
    run_context: &RunContext<'_>,
    place: u32,
    (step, left): (u64, MaintenanceBudget),
) -> Running<Result<Vec<LibraryChange>>> {
    let view = run_context.within(left).view(step);
    let program = program(run_context, place).cloned();
    let mut ask = ask;
    Box::pin(async move {
        let program = program.ok_or_else(|| {
            let message = "the recipe has no such maintenance program";
            Error::internal("RunMachine", message).with("place", place)
        })?;
        let mut changes = program.maintain(&mut ask, &view).await?;
        for change in &changes {
            permitted(change, program.records(), view.library())?;
        }
        let proves = program.release().is_some_and(|release| release.proof);
        if view.context().standing.by_proof() && !proves {
            refuse_merged_twice(&mut ask, view.library(), &mut changes);
            changes = held_back(&mut ask, &view, changes);
        }
        Ok(changes)
    })
}

/// Removes from the changes of maintenance what they decide about skills about which the host, or a person, has decided in these
/// commits, with the tests that belong to it.
fn remove_decided_by_host(
    run_context: &RunContext<'_>,
    committed: &[Committed],
    changes: &mut Vec<LibraryChange>,
    events: &mut Vec<EventKind>,
) {
    let by_host: BTreeSet<&SkillId> = committed
        .iter()
        .flat_map(Committed::decided_by_host)
        .collect();
    let mut removed: BTreeSet<SkillId> = BTreeSet::new();
    changes.retain(|change| {
        let skill = match change {
            LibraryChange::Merge { sources, .. } => {
                sources.iter().find(|source| by_host.contains(source))
            }
            change => change
                .decides_about()
                .filter(|skill| by_host.contains(skill)),
        };
        if let Some(skill) = skill {
            let name = run_context
                .library
                .get(skill)
                .map(|entry| entry.skill.name.to_string());
            let name = name.unwrap_or_else(|| skill.to_string());
            let reason = format!("{name}: the host, or a person, has decided about it meanwhile");
            events.push(EventKind::Refused { reason });
            removed.insert(skill.clone());
            removed.extend(change.skill().map(|made| made.id.clone()));
        }
        skill.is_none()
    });
    changes.retain(|change| match change {
        LibraryChange::PatchBundle { skill, .. } => !removed.contains(skill),
        LibraryChange::Test { skill, .. } => !removed.contains(&skill.id),
        _ => true,
    });
}

/// Leaves out a merge of a skill that was merged before and is still compared with what it was merged into, or gave way to it: of a source the
/// library keeps one merge. A second one would end the first comparison, or what comes back where the first merge is taken back, and with a
/// model that it is not proven on. What depends on the merge is left out with it.
fn refuse_merged_twice(ask: &mut Ask, library: &SkillLibrary, changes: &mut Vec<LibraryChange>) {
    let merged = library.entries().filter_map(|entry| {
        let merged = entry.merged.as_ref()?;
        let into = &library.get(&merged.into)?.skill;
        let is_source = entry.skill.state.is_offered() && merged.version == entry.skill.version;
        let waits = matches!(into.state, State::Trial | State::Quarantined);
        let why = match entry.gave_way() {
            true => gave_way(&into.name),
            false if is_source && waits => not_proven(&into.name),
            false => return None,
        };
        Some((entry.skill.id.clone(), why))
    });
    let mut merged: BTreeMap<SkillId, String> = merged.collect();
    let mut refused: Vec<SkillRef> = Vec::new();
    changes.retain(|change| {
        let LibraryChange::Merge { skill, sources, .. } = change else {
            let mut refused = refused.iter();
            return !refused.any(|one| admission::depends_on(change, one));
        };
        let known = sources.iter().find_map(|one| merged.get_key_value(one));
        if let Some((source, why)) = known {
            let reason = format!("{}: {source} {why}", skill.name);
            ask.tell(EventKind::Refused { reason });
            refused.push(skill.reference());
            return false;
        }
        let why = not_proven(&skill.name);
        merged.extend(sources.iter().map(|one| (one.clone(), why.clone())));
        true
    });
}

fn not_proven(into: &SkillName) -> String {
    format!("was merged into {into}, which is not proven against it yet")
}

fn gave_way(into: &SkillName) -> String {
    format!("was merged into {into}, and gave way to it")
}

/// The changes of a program where another one releases skills by proof: nothing that is on trial becomes active by them, and what they add,
/// revise, merge or release from quarantine begins on trial.
fn held_back(ask: &mut Ask, view: &View, changes: Vec<LibraryChange>) -> Vec<LibraryChange> {
    let library = view.library();
    let on_trial = |id: &SkillId| {
        let entry = library.get(id)?;
        (entry.skill.state == State::Trial).then_some(entry)
    };
    let held = changes
        .into_iter()
        .filter_map(|mut change| match &mut change {
            LibraryChange::Release {
                skill,
                reason,
                from_quarantine: true,
            } => Some(LibraryChange::SetState {
                skill: skill.id.clone(),
                state: State::Trial,
                reason: reason.clone(),
            }),
            LibraryChange::Release {
                skill: SkillRef { id, .. },
                ..
            }
            | LibraryChange::SetState {
                skill: id,
                state: State::Active,
                ..
            } if on_trial(id).is_some() => {
                let entry = on_trial(id)?;
                ask.tell(EventKind::Waits {
                    skill: entry.skill.reference(),
                    name: entry.skill.name.clone(),
                    state: State::Trial,
                    reason:
                        "it passed its test, and is not proven to do better than what was before"
                            .to_owned(),
                });
                None
            }
            LibraryChange::Merge { skill, beside, .. } => {
                begin_on_trial(skill);
                // Also beside one in quarantine: what was merged is in use until it is.
                *beside = true;
                Some(change)
            }
            LibraryChange::Add(skill) | LibraryChange::Revise(skill) => {
                begin_on_trial(skill);
                Some(change)
            }
            _ => Some(change),
        });
    held.collect()
}

fn begin_on_trial(skill: &mut Skill) {
    if skill.state == State::Active {
        skill.state = State::Trial;
    }
}

/// The program at a place in the recipe's list.
fn program<'a>(
    run_context: &RunContext<'a>,
    place: u32,
) -> Option<&'a Arc<dyn MaintenanceProgram>> {
    let place = usize::try_from(place).ok()?;
    let scheduled = run_context.policies.programs.get(place);
    scheduled.map(|(_, program)| program)
}

/// Why a program's changes are committed, for the library's history.
pub(super) fn reason(run_context: &RunContext<'_>, place: u32) -> String {
    let reason = program(run_context, place).map(|program| program.reason());
    reason.unwrap_or_default().to_owned()
}

/// The events of the skills that changes bring. A version that was refused and is kept as a draft is none.
pub(super) fn admitted(changes: &[LibraryChange]) -> Vec<EventKind> {
    let is_refused = |skill: &Skill| skill.metadata.contains_key(SkillMd::REFUSED);
    let admitted = changes.iter().filter_map(|change| match change {
        LibraryChange::Add(skill) | LibraryChange::Merge { skill, .. } if !is_refused(skill) => {
            Some((skill, false))
        }
        LibraryChange::Revise(skill) if !is_refused(skill) => Some((skill, true)),
        _ => None,
    });
    let admitted = admitted.map(|(skill, revised)| EventKind::Admitted {
        skill: skill.clone(),
        revised,
    });
    admitted.collect()
}

/// Whether changes are measurements alone: these move no skill between tiers.
pub(super) fn only_measures(changes: &[LibraryChange]) -> bool {
    changes.iter().all(|change| {
        matches!(
            change,
            LibraryChange::Gain { .. }
                | LibraryChange::SetPrototypes(_)
                | LibraryChange::SetAnchors(_)
                | LibraryChange::CheckAnchors(_)
        )
    })
}
