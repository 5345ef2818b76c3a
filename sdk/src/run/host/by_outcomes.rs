//! A gate's threshold by what tasks come to with and without the candidate that the gate decides about.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    gate_in_force::{GateInForce, ThresholdBy},
    journeyman::Journeyman,
};
use crate::{
    domain::{
        BundleCase, CaseKind, FoundWeight, MaintenanceBudget, Mode, ScoreKind, Scored, Skill,
        Trace, TurnQuery, Usage,
    },
    error::{Error, Result},
    id::{ModelId, Seed, TaskId},
    library::SkillLibrary,
    policy::{
        Ask, Case, PlayedCase, ResolvedPolicies, SelectProgram, View,
        program::{QuestionPath, Running},
    },
    run::machine::effect::{Of, RunContext, effect},
    stations::{
        maintain::{
            cases::whole_attempt,
            outcomes::{NO_VERDICT, is_temporary},
            within_budget::play_all,
        },
        recipe::Recipe,
        select::{
            ByOutcomes, GateCalibration, HarmBound, OutcomeScores, Selected, ThresholdFor,
            candidates::select,
        },
    },
};

const OPERATION: &str = "Journeyman::calibrate_by_outcomes";

/// Of so many drawn tasks one may be left out.
const LEFT_OUT: usize = 10;

/// Tasks that are attempted before it is asked whether too many fail.
const AT_ONCE: usize = 32;

/// What [`Journeyman::calibrate_by_outcomes`] fitted, and on how many tasks.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeCalibration {
    /// The threshold, or how many tasks are missing.
    pub fit: ByOutcomes,
    /// The bound that it is fitted for.
    pub bound: HarmBound,
    /// Number of tasks that count. Where nothing was attempted, since there are too few: of those that could be drawn.
    pub tasks: u64,
    /// Number of those at which no candidate was found, so that none is ever injected.
    pub without: u64,
    /// Number of drawn tasks that were left out: a score or the attempt without a skill failed for the moment, both attempts could not be
    /// made, or another model acted.
    pub left_out: u64,
    /// Number of drawn tasks that were left out since the judge gave no verdict on the attempt without a skill: it does not know the task.
    #[serde(default)]
    pub unjudged: u64,
    /// Number of drawn tasks that were left out since their candidate was made with them: it, an earlier version or a skill that it was made
    /// from was written from the task, is tested by it, or was compared at it.
    #[serde(default)]
    pub own: u64,
    /// The model that acted, with its adapter; `None` where the agent does not say.
    pub model: Option<ModelId>,
    /// Tokens of the attempts.
    pub usage: Usage,
}

impl OutcomeCalibration {
    fn count(&mut self, tried: &Tried) {
        self.tasks = (tried.scores.len() + tried.unattempted + tried.without) as u64;
        self.without = tried.without as u64;
        self.left_out = tried.failed.len() as u64;
        self.unjudged = tried.unjudged as u64;
        self.own = tried.own as u64;
    }
}

impl fmt::Display for OutcomeCalibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = self.tasks;
        match &self.fit {
            ByOutcomes::NotYet { .. } => match self.bound.least_tasks() {
                least if tasks < least => {
                    write!(f, "not yet fitted: {tasks} tasks, at least {least} needed")?;
                }
                _ => write!(
                    f,
                    "not yet fitted: no task with a candidate has a verdict, and {tasks} have no candidate"
                )?,
            },
            ByOutcomes::Fitted(fitted) => {
                let (threshold, score) = (fitted.threshold, fitted.fitted_for.score.name());
                write!(
                    f,
                    "{score} above {threshold:.2} nats, fitted on {tasks} tasks"
                )?;
                if self.without > 0 {
                    write!(f, ", {} without a candidate", self.without)?;
                }
                if let Some(outcomes) = &fitted.outcomes {
                    write!(f, ": {outcomes}")?;
                }
            }
        }
        if self.left_out > 0 {
            write!(f, "; left out, since they failed: {}", self.left_out)?;
        }
        match self.unjudged {
            0 => {}
            1 => f.write_str("; 1 task left out: the judge gave no verdict")?,
            count => write!(f, "; {count} tasks left out: the judge gave no verdict")?,
        }
        match self.own {
            0 => Ok(()),
            count => write!(
                f,
                "; left out, since their candidates were made with them: {count}"
            ),
        }
    }
}

impl Journeyman {
    /// Draws tasks from the library's kept attempts, attempts each with the best candidate and without any skill, and fits the gate's
    /// threshold so that at most the share of tasks that `bound` names gets a skill and goes worse for it
    /// ([`GateCalibration::by_outcomes`]).
    ///
    /// At most `tasks` different ones are drawn, by the session's seed alone: whatever the kept attempt came to, and whatever skill it had.
    /// For each the skills are selected anew as an evaluation with the calibration does, with today's library. The candidate that the gate
    /// decides about is tried, whatever its score is; a task without one counts as not harmed. A task is left out where its candidate was
    /// made with it ([`OutcomeCalibration::own`]): such a candidate does better there than at a new task, and a new task would find it.
    ///
    /// Both attempts have temperature 0 and the seeds of the world and of the agent in common. One alone that cannot be made counts as not
    /// done. With the skill so does one that fails for the moment, and one without a verdict, since the skill may be why, as where it makes an
    /// attempt take too long. A task is left out where both fail, where the attempt without the skill fails for the moment, and where
    /// another model acted.
    ///
    /// A task is also left out where the judge gives no verdict on the attempt without the skill: it does not know the task
    /// ([`OutcomeCalibration::unjudged`]). Where too few others are left for any threshold, or it gives none at the first 32 tasks, no more
    /// are attempted, and nothing is fitted yet. Nor is it where tasks without a candidate are enough and no other has a verdict: one more
    /// such task is what is missing.
    ///
    /// Nothing is committed, and no pair of [`certify`](Self::certify) counts or is made. Where there are too few tasks for any threshold,
    /// nothing is attempted. The calibration is for [`Recipe::calibrate`](crate::recipe::Recipe::calibrate).
    ///
    /// ```
    /// use journeyman::{
    ///     Seed,
    ///     agent::{EnvironmentJudge, MemoryStore},
    ///     contract::Components,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     stations::select::{ByOutcomes, HarmBound},
    ///     testing::{Play, ScriptedEnvironment, ScriptedExecutor, ScriptedFormat, ScriptedScorer},
    /// };
    /// use std::sync::Arc;
    ///
    /// # futures::executor::block_on(async {
    /// let mut components = Components::new(
    ///     Arc::new(ScriptedExecutor::acting(|_, _| Play::Give(None))),
    ///     Arc::new(ScriptedEnvironment::words()),
    ///     Arc::new(EnvironmentJudge),
    /// );
    /// components.store = Some(Arc::new(MemoryStore::new()));
    /// components.scorer = Some(Arc::new(ScriptedScorer::that(Play::Give(-0.5))));
    /// components.prompt_format = Some(Arc::new(ScriptedFormat));
    /// let options = Options::new("desk", Seed(7));
    /// let journeyman = Journeyman::open(components, recipe::standard(), options).await?;
    /// let calibration = journeyman.calibrate_by_outcomes(HarmBound::default(), 200).await?;
    /// // The library keeps no attempt yet.
    /// assert_eq!(calibration.fit, ByOutcomes::NotYet { more: 45 });
    /// assert_eq!(calibration.to_string(), "not yet fitted: 0 tasks, at least 45 needed");
    /// # Ok::<_, journeyman::Error>(())
    /// # })?;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # What the bound holds for
    /// Beside what [`GateCalibration::by_outcomes`] says: for tasks that come as those did whose attempts the library keeps, with today's
    /// library. A library keeps the attempts at its latest tasks ([`TierPolicy::traces`](crate::domain::TierPolicy)). Of tasks that are
    /// left out it says nothing: not of those like the tasks that a skill was made with, where mostly that skill is found. With the
    /// skill, a task is attempted with that skill alone.
    ///
    /// # Errors
    /// `Invalid` for a bound out of its ranges, and where no drawn task has a candidate; `Unsupported` without a scorer or a prompt format,
    /// for a selector without a gate that decides about one candidate, and where attempts cannot be repeated: without an agent, a judge, or
    /// a world that can be set up again; `Unavailable` where more than a tenth of the drawn tasks fail, before any attempt where that
    /// is so in scoring, else once so many have failed, and temporary only where all failed for the moment; those of [`gate`](Self::gate);
    /// the store's error.
    pub async fn calibrate_by_outcomes(
        &self,
        bound: HarmBound,
        tasks: u64,
    ) -> Result<OutcomeCalibration> {
        bound.validate()?;
        let session = &self.session;
        let parts = &session.components;
        let (Some(scorer), Some(prompt_format)) =
            (parts.scorer.as_ref(), parts.prompt_format.as_deref())
        else {
            return Err(unscored());
        };
        if !self.decides_about_one() {
            return Err(without_a_gate());
        }
        if !session.performer.replays() {
            return Err(not_again());
        }
        let model = session.performer.acting_model();
        let library = self.library().await?;
        let most = usize::try_from(tasks).unwrap_or(usize::MAX);
        let cases = drawn(&library, session.options.seed, most);
        let (count, least) = (cases.len() as u64, bound.least_tasks());
        let mut calibration = OutcomeCalibration {
            fit: ByOutcomes::NotYet {
                more: least.saturating_sub(count),
            },
            bound,
            tasks: count,
            without: 0,
            left_out: 0,
            unjudged: 0,
            own: 0,
            model,
            usage: Usage::default(),
        };
        if count < least {
            return Ok(calibration);
        }
        let scale = self.scale().await?;
        let acts = calibration.model.as_ref();
        let (tried, usage) = self.tried((library, cases), (scale, least), acts).await?;
        let (scores, without, seed) = (&tried.scores, tried.without, session.options.seed);
        calibration.usage = usage;
        calibration.count(&tried);
        if calibration.tasks < least || tried.lacks_verdicts(0, least) {
            let more = least.saturating_sub(calibration.tasks).max(1);
            calibration.fit = ByOutcomes::NotYet { more };
            return Ok(calibration);
        }
        let of = (&scorer.weights(None), scale.score, prompt_format);
        calibration.fit = GateCalibration::by_outcomes_with(scores, without, of, bound, seed)?;
        if let ByOutcomes::Fitted(fitted) = &mut calibration.fit {
            fitted.found = scale.found;
        }
        Ok(calibration)
    }

    fn decides_about_one(&self) -> bool {
        let gate = self.session.policies.selector.gate();
        gate.is_some_and(|gate| gate.own_candidates.is_none())
    }

    /// What the gate in force compares with its threshold.
    async fn scale(&self) -> Result<Scale> {
        match self.gate().await? {
            Some(GateInForce {
                by: ThresholdBy::OtherModel(error),
                ..
            }) => Err(error),
            Some(GateInForce { score, found, .. }) => Ok(Scale { score, found }),
            None => Err(without_a_gate()),
        }
    }

    /// The recipe with the gate that a calibration makes of it, whatever its threshold: such a gate decides about all candidates. Without one a
    /// model that was trained to score decides about skills of its kind alone, and others would be injected that were never tried.
    fn as_calibrated(&self, scale: Scale) -> Result<(Recipe, ResolvedPolicies)> {
        let session = &self.session;
        let mut recipe = session.recipe.clone();
        if let (Some(mut gate), Some(scorer)) = (recipe.gate(), &session.components.scorer) {
            gate.score = scale.score;
            gate.found = scale.found;
            gate.fitted_for = Some(ThresholdFor {
                score: scale.score,
                model: scorer.weights(None),
                prompt_format: None,
            });
            recipe.set_gate(gate)?;
        }
        let policies = recipe.resolve(&session.options.policies)?;
        Ok((recipe, policies))
    }

    /// Selects for tasks, and attempts them.
    async fn tried(
        &self,
        (library, cases): (SkillLibrary, Vec<BundleCase>),
        (scale, least): (Scale, u64),
        model: Option<&ModelId>,
    ) -> Result<(Tried, Usage)> {
        let session = &self.session;
        session.performer.refresh_index().await;
        let library = match session.policies.standing.by_proof() {
            true => library.with_versions_in_use(model),
            false => library,
        };
        let (recipe, policies) = self.as_calibrated(scale)?;
        let policies = &policies;
        let run = session.next_run("calibrate");
        let run_context = RunContext::new(
            (&run, session.options.seed.derive("calibrate", 0)),
            (Mode::Evaluate, true, model),
            &recipe,
            &library,
            policies,
        );
        let start = |mut ask: Ask| -> Running<Result<Tried>> {
            let view = run_context.view(0);
            let selector = Arc::clone(&policies.selector);
            let cases = cases.clone();
            Box::pin(async move {
                let of = (&view, selector.as_ref());
                let count = cases.len();
                let (due, mut tried) = selected(&mut ask, of, scale, cases).await;
                tried.refuse_failures(count)?;
                if ((due.len() + tried.without) as u64) < least {
                    tried.unattempted = due.len();
                    return Ok(tried);
                }
                let of = (due.as_slice(), count, least);
                attempted(&mut ask, view.model(), of, &mut tried).await?;
                Ok(tried)
            })
        };
        let effect = |place: &QuestionPath, question| {
            Ok(effect(&run_context, 0, Of::Maintenance, place, &question))
        };
        let ended = self.to_the_end(start, effect).await?;
        Ok((ended.value?, ended.usage))
    }
}

/// What a gate compares with its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    score: ScoreKind,
    /// What the score of a search counts.
    found: Option<FoundWeight>,
}

/// A task with the candidate that the gate decides about.
struct Due {
    case: BundleCase,
    skill: Skill,
    score: f64,
}

/// What the drawn tasks came to.
#[derive(Default)]
struct Tried {
    scores: Vec<OutcomeScores>,
    /// Number of tasks at which no candidate was found.
    without: usize,
    /// Number of tasks that are left out since the judge gave no verdict without a skill.
    unjudged: usize,
    /// Number of tasks that are left out since their candidates were made with them.
    own: usize,
    /// Number of tasks with a candidate where they are too few to be attempted.
    unattempted: usize,
    /// Why each other task is left out.
    failed: Vec<Failed>,
}

impl Tried {
    /// # Errors
    /// `Unavailable` where too many of these tasks are left out.
    fn refuse_failures(&self, drawn: usize) -> Result<()> {
        let failed = self.failed.len();
        let Some(first) = self.failed.first().filter(|_| failed * LEFT_OUT > drawn) else {
            return Ok(());
        };
        let message = format!(
            "{failed} of {drawn} drawn tasks failed, more than a tenth: {}",
            first.why
        );
        let error = Error::unavailable(OPERATION, message);
        let passes = self.failed.iter().all(|one| one.by != FailedBy::Attempt);
        Err(match passes {
            true => error
                .temporary()
                .hint("remove the cause of the first failure, and call it again"),
            false => error.hint(
                "remove the cause of the first failure; where the world does not know these tasks, give the session the world of the runs that \
                 kept them, or have it do tasks that its own knows",
            ),
        })
    }

    /// Whether there is no threshold for want of verdicts, even if each of the tasks that are `open` gets one: the judge gave none at any
    /// task so far, or too few tasks are left.
    fn lacks_verdicts(&self, open: usize, least: u64) -> bool {
        let most = (self.scores.len() + self.without + open) as u64;
        self.unjudged > 0 && (self.scores.is_empty() || most < least)
    }
}

/// Different tasks of kept attempts, each as its first one was made, in an order that the seed and their ids give.
fn drawn(library: &SkillLibrary, seed: Seed, most: usize) -> Vec<BundleCase> {
    let mut first: BTreeMap<&TaskId, &Trace> = BTreeMap::new();
    for trace in library.traces() {
        first.entry(&trace.task.id).or_insert(trace);
    }
    let seed = seed.derive("drawn tasks", 0);
    let places = first.into_iter();
    let places = places.map(|(task, trace)| (seed.derive(task.as_str(), 0).0, trace));
    let mut placed: Vec<(u64, &Trace)> = places.collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.truncate(most);
    let cases = placed.into_iter();
    let cases = cases.map(|(_, trace)| whole_attempt(library, trace, CaseKind::Integration));
    cases.collect()
}

/// The tasks with the candidates that the gate decides about.
async fn selected(
    ask: &mut Ask,
    (view, selector): (&View, &dyn SelectProgram),
    scale: Scale,
    cases: Vec<BundleCase>,
) -> (Vec<Due>, Tried) {
    let (mut due, mut tried) = (Vec::new(), Tried::default());
    for case in cases {
        let task = &case.task;
        let query = TurnQuery {
            text: task.instruction.clone(),
            tools: Vec::new(),
            category: task.category.clone(),
        };
        let selected = select(ask, view, selector, &query).await;
        match decided(&selected, scale) {
            Err(why) => tried.failed.push(Failed {
                why,
                by: FailedBy::Moment,
            }),
            Ok(None) => tried.without += 1,
            // Without this candidate the task would have another one, or none: a new task like it finds this one.
            Ok(Some(best)) if view.library().is_made_with(&best.skill.id, &task.id) => {
                tried.own += 1;
            }
            Ok(Some(best)) => match view.library().get(&best.skill.id) {
                None => tried.failed.push(Failed {
                    why: "the candidate is not in the library".to_owned(),
                    by: FailedBy::Moment,
                }),
                Some(entry) => due.push(Due {
                    skill: entry.skill.clone(),
                    score: best.value,
                    case,
                }),
            },
        }
    }
    (due, tried)
}

/// The candidate that the gate decides about; `None` where there is none.
///
/// # Errors
/// Why that is not known.
fn decided(selected: &Selected, scale: Scale) -> std::result::Result<Option<&Scored>, String> {
    let Some(selection) = selected.selection(0) else {
        return Err("nothing was decided".to_owned());
    };
    if let Some(fault) = selection.fault() {
        return Err(fault.to_string());
    }
    let Some(best) = selection.best() else {
        return Ok(None);
    };
    let fitted = selection.fitted.as_ref();
    let found = fitted.map_or(scale.found, |fitted| fitted.found);
    match selection.score == Some(scale.score) && found == scale.found {
        true => Ok(Some(best)),
        false => Err("the session fitted its threshold anew meanwhile".to_owned()),
    }
}

/// Attempts each task without a skill and with its candidate, until too many fail or have no verdict.
///
/// # Errors
/// `Unavailable` where too many of the `drawn` tasks are left out.
async fn attempted(
    ask: &mut Ask,
    model: Option<&ModelId>,
    (due, drawn, least): (&[Due], usize, u64),
    tried: &mut Tried,
) -> Result<()> {
    let mut open = due.len();
    for batch in due.chunks(AT_ONCE) {
        attempted_at_once(ask, model, batch, tried).await;
        tried.refuse_failures(drawn)?;
        open -= batch.len();
        if tried.lacks_verdicts(open, least) {
            break;
        }
    }
    Ok(())
}

async fn attempted_at_once(ask: &mut Ask, model: Option<&ModelId>, due: &[Due], tried: &mut Tried) {
    let cases = due.iter().flat_map(|one| {
        let skills = [None, Some(Box::new(one.skill.clone()))];
        skills.map(|skill| Case {
            skill,
            beside: Vec::new(),
            case: Box::new(one.case.clone()),
        })
    });
    let cases: Vec<Case> = cases.collect();
    let runs = play_all(ask, &mut MaintenanceBudget::default(), cases).await;
    for (one, pair) in due.iter().zip(runs.chunks_exact(2)) {
        let came_to = [&pair[0], &pair[1]].map(|played| came_to(model, played));
        let (before, with) = match came_to {
            [Ok(before), Ok(with)] => (before, with),
            // What one of the two alone could not do is a result of the skill; so is what takes too long with it, or cannot be asked of a
            // server for the length of its prompt, which fail for the moment, and what the judge cannot decide with it.
            [Ok(before), Err(failed)] if failed.by != FailedBy::OtherModel => (before, 0.0),
            // The judge does not know the task. One that it has no verdict on with the skill alone is above: the skill may be why.
            [Err(failed), _] if failed.by == FailedBy::NoVerdict => {
                tried.unjudged += 1;
                continue;
            }
            [Err(failed), Ok(with)] if failed.by == FailedBy::Attempt => (0.0, with),
            [Err(failed), _] | [_, Err(failed)] => {
                tried.failed.push(failed);
                continue;
            }
        };
        tried.scores.push(OutcomeScores {
            task: one.case.task.id.clone(),
            score: one.score,
            before,
            with,
        });
    }
}

/// A task without a candidate's score, or an attempt without a verdict.
struct Failed {
    why: String,
    by: FailedBy,
}

/// What an attempt without a score says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailedBy {
    /// It fails, and would do so another time.
    Attempt,
    /// The judge gave no verdict.
    NoVerdict,
    /// It failed for the moment.
    Moment,
    /// It was made by another model than the session's.
    OtherModel,
}

/// The score of an attempt.
///
/// # Errors
/// An attempt that failed, and one that a judge could not decide about.
fn came_to(model: Option<&ModelId>, played: &PlayedCase) -> std::result::Result<f64, Failed> {
    let failed = |why: String, by| Err(Failed { why, by });
    match &played.run {
        Ok(run) if model.is_some() && run.model.as_ref() != model => {
            let why = "another model acted than the session's".to_owned();
            failed(why, FailedBy::OtherModel)
        }
        Ok(run) if run.verdict.success().is_some() => Ok(run.verdict.score()),
        Ok(_) => failed(NO_VERDICT.to_owned(), FailedBy::NoVerdict),
        Err(error) if is_temporary(error) => failed(error.to_string(), FailedBy::Moment),
        Err(error) => failed(error.to_string(), FailedBy::Attempt),
    }
}

fn unscored() -> Error {
    let message = "the host gave no scorer or no prompt format, so that no gate decides by scores";
    Error::unsupported(OPERATION, message)
        .hint("set `Components::scorer` and `Components::prompt_format`")
}

fn without_a_gate() -> Error {
    let message = "the recipe's selector has no gate that decides about one candidate a task";
    Error::unsupported(OPERATION, message).hint("choose the selector `gate` (`GatePolicy`)")
}

fn not_again() -> Error {
    Error::unsupported(OPERATION, "tasks cannot be attempted again here").hint(
        "give the session an agent, a judge, and an environment whose capabilities say `resettable`; a host that attempts tasks by itself \
         hands its outcomes to `GateCalibration::by_outcomes`",
    )
}
