//! The policy of one task: select skills, make attempts, judge them, and ask roles about them.

use serde::{Deserialize, Serialize};

use super::{fold, run_context::RunContext};
use crate::{
    admit::identity::Meanings,
    assess::{AssessPolicy, Calibration, assessing::assess},
    contract::{RoleAnswer, RoleTask},
    credit::CreditPolicy,
    domain::{
        Assessment, LibraryChange, Mode, SkillDraft, Task, Trace, Trajectory, TurnQuery, Verdict,
    },
    error::Result,
    id::AttemptId,
    policy::{
        Ask, ChosenSkill, Context, Played, Policies, RoleReply, Rollout, SkillCredit, View, checks,
        unreadable,
    },
    propose::{Writer, asking, writing},
    recipe::Recipe,
    report::{AttemptReport, EventKind, TaskReport},
    reward::RewardPolicy,
    select::selecting::{Selected, select},
};

/// An attempt, with its verdict if it could be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JudgedAttempt {
    made: Result<Box<Trajectory>>,
    verdict: Option<Result<Verdict>>,
    /// The reward by the host's own rule, if the recipe names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
    /// Its subgoals with their scores, if the recipe assesses attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) assessment: Option<Box<Assessment>>,
    /// The process score of the assessment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process: Option<f64>,
}

/// The result of a task's policy, before the library is changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Whether the task began in the warm-up. Stored, because the task's own commit may end the warm-up.
    warming_up: bool,
    pub(crate) selected: Selected,
    tried: Vec<JudgedAttempt>,
    /// The indices of the attempts from which roles write skills. Stored, because the decision depends on the library, which
    /// changes later.
    pub(crate) sources: Vec<usize>,
    /// The answers of the roles that were asked about the attempts.
    #[serde(rename = "said")]
    pub(crate) replies: Vec<RoleReply>,
    /// The credits by the host's own rule, if the recipe names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credits: Option<Vec<SkillCredit>>,
    /// The embeddings by which the drafts are compared with the library. They are asked for and used in one step.
    #[serde(skip)]
    pub(crate) meanings: Meanings,
}

/// The policy of one task: selects skills, makes attempts with them and has these judged; then roles judge the effect of each
/// skill and write new skills from the best attempts.
pub(crate) async fn one_task(
    mut ask: Ask,
    view: View,
    (recipe, policies): (Recipe, Policies),
    task: Task,
) -> Result<Outcome> {
    let context = view.context();
    let mut outcome = Outcome {
        warming_up: context.warming_up,
        ..Outcome::default()
    };

    // The environment is not reset yet, so the tools are not known.
    let query = TurnQuery {
        text: task.instruction.clone(),
        tools: Vec::new(),
        category: task.category.clone(),
    };
    let seed = context.step_seed(view.step());
    outcome.selected = select(&mut ask, &view, (&recipe.select, &policies), &query).await;
    let events = outcome.selected.events(context.library);
    events.into_iter().for_each(|event| ask.tell(event));

    let task = &task;
    outcome.tried = attempts(&mut ask, &context, task, &outcome.selected).await;
    if let Some(policy) = &recipe.assess {
        outcome
            .assess(&mut ask, &context, policy, (view.step(), task))
            .await;
    }
    outcome.reward(&context, (&recipe.reward, &policies), view.step())?;
    let rollouts = outcome.rollouts(&context, &recipe.reward, view.step());
    tell_attempts(&mut ask, &rollouts);
    if !outcome.teaches(&context) {
        return Ok(outcome);
    }
    let credits = credits((&recipe.credit, &policies), &rollouts)?;

    let sources = writing::sources(&context, &recipe.write, task, &rollouts);
    let sources = sources.unwrap_or_else(|undue| {
        ask.tell(undue.event());
        Vec::new()
    });
    let asks = asking::asks(
        &context,
        (&recipe.credit, &recipe.write),
        (seed, task),
        &outcome.selected.candidates,
        &rollouts,
        &sources,
    );
    let shown = sources.iter().filter_map(|place| rollouts.get(*place));
    let shown = shown.filter_map(|one| asking::trace(seed, task, one));
    let shown: Vec<Trace> = shown.collect();
    outcome.sources = sources;
    outcome.credits = credits;
    let replies = ask.each([asks], async |mut ask, asks| ask.roles(asks).await);
    outcome.replies = replies.await.into_iter().flatten().collect();
    let unread = unreadable(&outcome.replies).into_iter();
    unread.for_each(|event| ask.tell(event));
    if let Writer::Own(own) = &recipe.write.by
        && !shown.is_empty()
    {
        let writer = policies.writer(own)?;
        let drafts = writer.write(&mut ask, &view, &shown).await;
        outcome.replies.extend(drafted(&shown, drafts));
    }
    Ok(outcome)
}

/// Emits an event for each attempt.
fn tell_attempts(ask: &mut Ask, rollouts: &[Rollout<'_>]) {
    for (rollout, each) in (0..).zip(rollouts) {
        ask.tell(EventKind::Attempted {
            rollout,
            report: Box::new(each.report.clone()),
        });
    }
}

/// Makes the attempts of the group concurrently. Each is judged as soon as it is made.
async fn attempts(
    ask: &mut Ask,
    context: &Context<'_>,
    task: &Task,
    selected: &Selected,
) -> Vec<JudgedAttempt> {
    let library = context.library;
    let attempts = ask.each(0..context.group, async |mut ask, number| {
        let skills = selected.injected(number).iter();
        let skills = skills.filter_map(|skill| library.get(&skill.id));
        let skills = skills.map(ChosenSkill::from).collect();
        let made = ask.attempt(task, number, skills).await;
        let verdict = match &made {
            Ok(trajectory) if trajectory.is_evidence() => {
                Some(ask.judge(task, trajectory.clone()).await)
            }
            _ => None,
        };
        JudgedAttempt {
            made,
            verdict,
            reward: None,
            assessment: None,
            process: None,
        }
    });
    attempts.await
}

/// Converts the drafts of a host's own writer to the form that admission expects: answers of a role that was given the
/// attempts.
fn drafted(shown: &[Trace], drafts: Result<Vec<SkillDraft>>) -> Vec<RoleReply> {
    let of_role = |reply| RoleReply {
        task: RoleTask::Summarize {
            attempts: shown.to_vec(),
            shown_chars: None,
            keeps_reasoning: false,
        },
        reply,
    };
    match drafts {
        Err(error) => vec![of_role(Err(error))],
        Ok(drafts) => drafts
            .into_iter()
            .map(|draft| of_role(Ok(Some(Played::of(RoleAnswer::Draft(Box::new(draft)))))))
            .collect(),
    }
}

/// The credits by the host's own rule, if the recipe names one.
///
/// # Errors
/// The rule's error; `Invalid` for a credit that is not finite, for a skill that the attempt was not given, and for a second
/// credit of a skill for the same attempt.
fn credits(
    (policy, policies): (&CreditPolicy, &Policies),
    rollouts: &[Rollout<'_>],
) -> Result<Option<Vec<SkillCredit>>> {
    let Some(own) = &policy.own else {
        return Ok(None);
    };
    let group: Vec<AttemptReport> = rollouts.iter().map(|one| one.report.clone()).collect();
    let credits = policies.credit(own)?.credits(&group)?;
    checks::finite_credits(&credits)?;
    checks::exposed(&credits, &group)?;
    Ok(Some(credits))
}

impl Outcome {
    /// The outcome as it is kept once its drafts are decided about.
    pub(crate) fn without_meanings(self) -> Self {
        Self {
            meanings: Meanings::default(),
            ..self
        }
    }

    /// Assesses each attempt that has a verdict, all at once, if the run learns.
    async fn assess(
        &mut self,
        ask: &mut Ask,
        context: &Context<'_>,
        policy: &AssessPolicy,
        (step, task): (u64, &Task),
    ) {
        if context.mode != Mode::Train {
            return;
        }
        let seed = context.step_seed(step);
        let judged = (0..).zip(&self.tried).filter_map(|(place, tried)| {
            let verdict = tried.verdict.as_ref()?.as_ref().ok()?;
            let trajectory = tried.made.as_ref().ok()?;
            Some((place, asking::kept(seed, task, trajectory, Some(verdict))))
        });
        let judged: Vec<(usize, Trace)> = judged.collect();
        let library = context.library;
        let assessed = ask.each(judged, async |mut ask, (place, attempt)| {
            (place, assess(&mut ask, library, policy, &attempt).await)
        });
        let assessed = assessed.await;
        let table = Calibration::of(library, policy.calibrate);
        for (place, assessment) in assessed {
            let (Some(tried), Some(assessment)) = (self.tried.get_mut(place), assessment) else {
                continue;
            };
            tried.process = table.process(&assessment.subgoals, policy.weights);
            ask.tell(EventKind::Assessed {
                rollout: u32::try_from(place).unwrap_or(u32::MAX),
                assessment: Box::new(assessment.clone()),
                process: tried.process,
            });
            tried.assessment = Some(Box::new(assessment));
        }
    }

    /// The assessments of the attempts, as changes.
    pub(crate) fn assessments(&self) -> impl Iterator<Item = LibraryChange> {
        let assessed = self
            .tried
            .iter()
            .filter_map(|tried| tried.assessment.clone());
        assessed.map(LibraryChange::Assess)
    }

    /// Rewards each attempt that has a verdict by the host's own rule, if the recipe names one.
    ///
    /// # Errors
    /// The rule's error; `Invalid` for a reward that is not finite.
    fn reward(
        &mut self,
        context: &Context<'_>,
        (policy, policies): (&RewardPolicy, &Policies),
        step: u64,
    ) -> Result<()> {
        let Some(own) = &policy.own else {
            return Ok(());
        };
        let rule = policies.reward(own)?;
        let rewards = self.rollouts(context, policy, step);
        let rewards: Vec<Option<f64>> = rewards
            .iter()
            .map(|one| match one.verdict {
                Some(verdict) => rule.reward(&one.report, verdict).map(Some),
                None => Ok(None),
            })
            .collect::<Result<_>>()?;
        for (tried, reward) in self.tried.iter_mut().zip(rewards) {
            reward.map_or(Ok(()), checks::finite_reward)?;
            tried.reward = reward;
        }
        Ok(())
    }

    /// Whether something can be learned: in training, if at least one attempt was made that is evidence.
    pub(crate) fn teaches(&self, context: &Context<'_>) -> bool {
        let is_sound = |tried: &JudgedAttempt| {
            let made = tried.made.as_ref();
            made.is_ok_and(|trajectory| trajectory.is_evidence())
        };
        context.mode == Mode::Train && self.tried.iter().any(is_sound)
    }

    /// The attempts with their reports, in order.
    pub(crate) fn rollouts(
        &self,
        context: &Context<'_>,
        reward: &RewardPolicy,
        step: u64,
    ) -> Vec<Rollout<'_>> {
        let tried = (0..).zip(&self.tried).map(|(number, tried)| {
            fold::rollout(
                reward,
                self.warming_up,
                AttemptId::of(context.run, step, number),
                self.selected.injected(number),
                &tried.made,
                tried.verdict.as_ref(),
                fold::Measured {
                    process: tried.process,
                    reward: tried.reward,
                },
            )
        });
        tried.collect()
    }

    /// The task's report.
    pub(crate) fn report(&self, context: &RunContext<'_>, step: u64, task: &Task) -> TaskReport {
        let (selections, rollouts) = (
            &self.selected.selections,
            self.rollouts(context, &context.recipe.reward, step),
        );
        fold::task_report(context, step, task, selections, rollouts)
    }
}
