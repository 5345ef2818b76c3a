//! Redaction of secrets from all text that enters a run (security requirement S10).
//!
//! The boundary is the [`Performer`](crate::run::Performer). The agent, its environment and the injected prompt work with the
//! original text. The machine sees only redacted text, and so do the journal, the judge, the role prompts, drafts, commits,
//! reports and events. Ids and categories that a host gives are not redacted: one that holds a secret is refused.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    contract::RoleAnswer,
    domain::{
        Action, EndReason, Lesson, Observation, RoleRule, Rubric, Scope, Segmentation, Skill,
        SkillDraft, Source, Step, StepResult, Subgoal, Task, ToolDefinition, Trace, Trajectory,
        Trap, Verdict,
    },
    error::{Error, Result},
    id::{Category, RunId, TaskId},
    policy::{Answer, Played, Unreadable},
    run::machine::effect::AttemptEffect,
    text::Redactor,
};

/// The start of every text that replaces a secret.
const MARK: &str = "[redacted: ";

/// A redactor, with the originals of the tasks that it changed.
#[derive(Default)]
pub(crate) struct Redacting {
    pub(crate) redactor: Redactor,
    withheld: Mutex<HashMap<RunId, HashMap<TaskId, Task>>>,
}

impl Redacting {
    /// No tasks yet.
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            withheld: Mutex::default(),
        }
    }

    /// Drops the original tasks of a run.
    pub(crate) fn forget(&self, run: &RunId) {
        self.withheld().remove(run);
    }
}

impl fmt::Debug for Redacting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redacting")
            .field("redactor", &self.redactor)
            .finish_non_exhaustive()
    }
}

impl Redacting {
    /// The redacted task. If it differs from the original, the original is kept for [`real`](Self::real).
    ///
    /// # Errors
    /// `Invalid` where the run's id, the task's id or the task's category holds a secret.
    pub(crate) fn withhold(&self, run: &RunId, task: Task) -> Result<Task> {
        let category = task.category.as_ref().map_or("", |c| c.as_str());
        self.refuse("the run's id", run.as_str())?;
        self.refuse("a task's id", task.id.as_str())?;
        self.refuse("a task's category", category)?;
        let mut seen = task.clone();
        self.task(&mut seen);
        if holds_mark(&seen) {
            let mut withheld = self.withheld();
            let of_run = withheld.entry(run.clone()).or_default();
            of_run.insert(task.id.clone(), task);
        }
        Ok(seen)
    }

    /// The original task, as the host gave it.
    ///
    /// # Errors
    /// `Unsupported` where only the redacted form is known, as after a restart.
    pub(crate) fn real(&self, effect: &AttemptEffect) -> Result<Task> {
        let withheld = self.withheld();
        let of_run = withheld.get(&effect.run);
        match of_run.and_then(|tasks| tasks.get(&effect.task.id)) {
            Some(task) => Ok(task.clone()),
            None if holds_mark(&effect.task) => Err(Error::unsupported(
                "Performer::perform",
                "the task held a secret, and only its redacted form was kept",
            )
            .with("task", &effect.task.id)
            .hint("hand the task over again in a new run")),
            None => Ok(effect.task.clone()),
        }
    }

    pub(crate) fn error(&self, error: Error) -> Error {
        error.map_text(|text| self.redactor.redact_in(text))
    }

    /// Redacts an answer; `of_secrets` tells whether the task of the answer held a secret. Ids and numbers are kept. The
    /// result of a commit is not redacted: it comes from the store.
    pub(crate) fn answer(&self, answer: &mut Answer, of_secrets: bool) {
        match answer {
            Answer::Attempted(Ok(trajectory)) => self.trajectory(trajectory, of_secrets),
            Answer::Judged(Ok(verdict)) => self.verdict(verdict),
            Answer::Played(Ok(Some(played))) => self.played(played),
            Answer::Tried(Ok(tried)) => self.verdict(&mut tried.verdict),
            Answer::Retrieved(Err(error))
            | Answer::Scored(Err(error))
            | Answer::Fitted(Err(error))
            | Answer::Attempted(Err(error))
            | Answer::Judged(Err(error))
            | Answer::Embedded(Err(error))
            | Answer::Gained(Err(error)) => *error = self.error(error.clone()),
            Answer::Played(Err(failed)) | Answer::Tried(Err(failed)) => {
                failed.error = self.error(failed.error.clone());
                failed
                    .unreadable
                    .iter_mut()
                    .for_each(|output| self.unreadable(output));
            }
            Answer::Retrieved(Ok(_))
            | Answer::Scored(Ok(_))
            | Answer::Fitted(Ok(_))
            | Answer::Played(Ok(None))
            | Answer::Embedded(Ok(_))
            | Answer::Gained(Ok(_))
            | Answer::Committed(_) => {}
        }
    }

    /// The redacted form of a skill that the host adds.
    ///
    /// # Errors
    /// `Invalid` where the skill's id or name holds a secret.
    pub(crate) fn skill(&self, mut skill: Skill) -> Result<Skill> {
        self.refuse("a skill's id", skill.id.as_str())?;
        self.refuse("a skill's name", skill.name.as_str())?;
        self.text(&mut skill.description);
        self.text(&mut skill.body);
        let optional = [
            &mut skill.original_name,
            &mut skill.trigger,
            &mut skill.license,
            &mut skill.compatibility,
        ];
        optional.into_iter().flatten().for_each(|t| self.text(t));
        skill.allowed_tools.iter_mut().for_each(|t| self.text(t));
        self.metadata(&mut skill.metadata);
        Ok(skill)
    }

    /// The redacted form of an attempt that the host hands over.
    ///
    /// # Errors
    /// `Invalid` where the attempt's id, the task's id or the task's category holds a secret.
    pub(crate) fn trace(&self, mut trace: Trace) -> Result<Trace> {
        let category = trace.task.category.as_ref().map_or("", |c| c.as_str());
        self.refuse("an attempt's id", trace.trajectory.attempt.as_str())?;
        self.refuse("a task's id", trace.task.id.as_str())?;
        self.refuse("a task's category", category)?;
        self.task(&mut trace.task);
        self.trajectory(&mut trace.trajectory, true);
        if let Some(verdict) = &mut trace.verdict {
            self.verdict(verdict);
        }
        Ok(trace)
    }

    pub(crate) fn text(&self, text: &mut String) {
        self.redactor.redact_in(text);
    }

    pub(crate) fn refuse(&self, what: &str, name: &str) -> Result<()> {
        if self.redactor.redact(name) == name {
            return Ok(());
        }
        Err(
            Error::invalid("Redactor::redact", format!("{what} holds a secret"))
                .hint("give it another name: names are kept and shown as they are"),
        )
    }

    fn task(&self, task: &mut Task) {
        self.text(&mut task.instruction);
        task.tags.iter_mut().for_each(|tag| self.text(tag));
        self.redactor.redact_json(&mut task.payload);
    }

    /// Redacts a trajectory. Token records cannot be redacted, so they are removed if the task or any step held a secret.
    pub(crate) fn trajectory(&self, trajectory: &mut Trajectory, of_secrets: bool) {
        let mut held = of_secrets;
        for step in &mut trajectory.steps {
            held |= self.step(step);
        }
        if let EndReason::Failed(error) = &mut trajectory.end {
            *error = self.error(error.clone());
        }
        if let Some(error) = trajectory.undecided.take() {
            trajectory.undecided = Some(self.error(error));
        }
        if let Some(outcome) = &mut trajectory.outcome {
            self.keys(&mut outcome.parts);
        }
        if let Some(unread) = &mut trajectory.unread {
            held |= self.observation(&mut unread.observation);
            self.text(&mut unread.transcript);
            self.text(&mut unread.reason);
            held |= unread.transcript.contains(MARK);
        }
        if held {
            for step in &mut trajectory.steps {
                step.generations.clear();
            }
            if let Some(unread) = &mut trajectory.unread {
                unread.generations.clear();
            }
        }
    }

    /// Redacts a step; returns whether it holds redacted text.
    fn step(&self, step: &mut Step) -> bool {
        let Step {
            index: _,
            turn: _,
            actor,
            observation,
            action,
            result:
                StepResult {
                    text: said,
                    is_error: _,
                    source:
                        Source {
                            name: said_by,
                            trust: _,
                        },
                    kind: _,
                },
            transcript,
            generations: _,
            notes: _,
        } = step;
        let mut held = self.observation(observation);
        for text in [actor, said, said_by, transcript] {
            self.text(text);
            held |= text.contains(MARK);
        }
        match action {
            Action::Call(calls) => {
                for call in calls {
                    self.text(&mut call.tool);
                    self.redactor.redact_fields(&mut call.arguments);
                    held |= call.tool.contains(MARK) || marked_fields(&call.arguments);
                }
            }
            Action::Message(text) => {
                self.text(text);
                held |= text.contains(MARK);
            }
            Action::EndTurn => {}
        }
        held
    }

    /// Redacts an observation; returns whether it holds redacted text.
    fn observation(&self, observation: &mut Observation) -> bool {
        let Observation {
            text: seen,
            tools,
            source: Source { name, trust: _ },
            kind: _,
        } = observation;
        let mut held = false;
        for text in [seen, name] {
            self.text(text);
            held |= text.contains(MARK);
        }
        for tool in tools {
            let ToolDefinition {
                name,
                description,
                input_schema,
            } = tool;
            self.text(name);
            self.text(description);
            self.redactor.redact_json(input_schema);
            held |= name.contains(MARK) || description.contains(MARK) || marked(input_schema);
        }
        held
    }

    /// A rule stays within its length: a mark can be longer than the secret that it stands for.
    pub(crate) fn rule(&self, rule: &mut RoleRule) {
        let mut text = rule.as_str().to_owned();
        self.text(&mut text);
        *rule = RoleRule::cut(text);
    }

    pub(crate) fn verdict(&self, verdict: &mut Verdict) {
        let (parts, evidence) = verdict.texts_mut();
        evidence.iter_mut().for_each(|text| self.text(text));
        self.keys(parts);
    }

    pub(super) fn draft(&self, draft: &mut SkillDraft) {
        let SkillDraft {
            title,
            description,
            kind: _,
            scope,
            trigger,
            body,
            metadata,
        } = draft;
        let texts = [title, description, body].into_iter().chain(trigger);
        texts.for_each(|text| self.text(text));
        if let Scope::Category(category) = scope {
            *category = Category::new(self.redactor.redact(category.as_str()));
        }
        self.metadata(metadata);
    }

    fn metadata(&self, metadata: &mut BTreeMap<String, String>) {
        metadata.values_mut().for_each(|text| self.text(text));
        self.keys(metadata);
    }

    fn keys<T>(&self, map: &mut BTreeMap<String, T>) {
        if map
            .keys()
            .all(|key| self.redactor.redact(key) == key.as_str())
        {
            return;
        }
        for (key, value) in std::mem::take(map) {
            map.insert(self.redactor.redact(&key).into_owned(), value);
        }
    }

    fn withheld(&self) -> MutexGuard<'_, HashMap<RunId, HashMap<TaskId, Task>>> {
        // A task is inserted as a whole, so a poisoned lock can be used.
        self.withheld.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a redacted task holds the replacement of a secret.
pub(crate) fn holds_mark(task: &Task) -> bool {
    let texts = task.tags.iter().chain([&task.instruction]);
    texts.into_iter().any(|text| text.contains(MARK)) || marked(&task.payload)
}

/// Whether a redacted action holds the replacement of a secret.
pub(crate) fn action_holds_mark(action: &Action) -> bool {
    serde_json::to_value(action).is_ok_and(|action| marked(&action))
}

fn marked(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::String(text) => text.contains(MARK),
        Value::Array(values) => values.iter().any(marked),
        Value::Object(fields) => marked_fields(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn marked_fields(fields: &serde_json::Map<String, serde_json::Value>) -> bool {
    fields
        .iter()
        .any(|(name, value)| name.contains(MARK) || marked(value))
}

// Takes secrets out of the answers of roles.

impl Redacting {
    /// A secret that shows only in the parsed answer, as an escape of JSON spelled it, takes the records with it.
    pub(super) fn played(&self, played: &mut Played) {
        let before = (!played.generations.is_empty()).then(|| played.answer.clone());
        self.played_texts(played);
        if before.is_some_and(|before| before != played.answer) {
            played.generations.clear();
        }
    }

    pub(super) fn unreadable(&self, output: &mut Unreadable) {
        self.text(&mut output.text);
        self.text(&mut output.reason);
    }

    fn played_texts(&self, played: &mut Played) {
        played
            .unreadable
            .iter_mut()
            .for_each(|output| self.unreadable(output));
        match &mut played.answer {
            RoleAnswer::Draft(draft) => self.draft(draft),
            RoleAnswer::Revision { draft, tools } => {
                self.draft(draft);
                tools.iter_mut().for_each(|tool| self.text(tool));
            }
            RoleAnswer::Nothing(reason)
            | RoleAnswer::Archive(reason)
            | RoleAnswer::Scored { reason, .. }
            | RoleAnswer::Reviewed { reason, .. } => self.text(reason),
            RoleAnswer::Credit { scope, reason, .. } => {
                self.text(scope);
                self.text(reason);
            }
            RoleAnswer::Cases(cases) => {
                cases.iter_mut().for_each(|case| self.text(&mut case.about))
            }
            RoleAnswer::Rules(rules) => rules.iter_mut().for_each(|rule| self.rule(rule)),
            RoleAnswer::Segments { segmentation, .. } => self.segmentation(segmentation),
            RoleAnswer::Rubric(rubric) => self.rubric(rubric),
            RoleAnswer::Routed { .. } => {}
            RoleAnswer::Calls(calls) => {
                for call in calls {
                    self.text(&mut call.tool);
                    self.redactor.redact_fields(&mut call.arguments);
                }
            }
            RoleAnswer::Tags(tags) => tags.iter_mut().for_each(|tag| self.text(tag)),
            RoleAnswer::Lesson(lesson) => {
                let Lesson {
                    step: _,
                    flawed,
                    should,
                    principle,
                } = lesson;
                [flawed, should, principle]
                    .into_iter()
                    .for_each(|text| self.text(text));
            }
            RoleAnswer::Bank(drafts) => {
                drafts.iter_mut().for_each(|one| self.draft(&mut one.draft))
            }
        }
    }

    /// Spans stay as they are; a mark is never without words, so the segmentation stays valid.
    fn segmentation(&self, segmentation: &mut Segmentation) {
        let mut subgoals = segmentation.subgoals().to_vec();
        for Subgoal {
            subgoal,
            skill,
            first: _,
            last: _,
        } in &mut subgoals
        {
            self.text(subgoal);
            self.text(skill);
        }
        if let Ok(redacted) = Segmentation::try_from(subgoals) {
            *segmentation = redacted;
        }
    }

    fn rubric(&self, rubric: &mut Rubric) {
        let Rubric {
            title,
            use_context,
            objectives,
            pattern,
            checklist,
            traps,
        } = rubric;
        [title, use_context, pattern]
            .into_iter()
            .for_each(|text| self.text(text));
        objectives
            .iter_mut()
            .chain(checklist)
            .for_each(|line| self.text(line));
        for Trap { trap, score: _ } in traps {
            self.text(trap);
        }
    }
}
