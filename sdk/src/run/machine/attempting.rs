//! The policy of one task: select skills, make attempts, judge them, and ask roles about them.

use futures::future::join;
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
        Ask, ChosenSkill, Context, CreditRule, GroupAttempt, JudgedAttempt, Played,
        ResolvedPolicies, RewardRule, RoleReply, Rollout, SkillCredit, View, WriteGroup,
        WriteProgram, Written, checks, selected::Selected, unreadable,
    },
    propose::{asking, writing},
    recipe::Recipe,
    report::{AttemptReport, EventKind, TaskReport},
    reward::UsedWhen,
    select::selecting::select,
};

/// An attempt, with its verdict if it could be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TriedAttempt {
    made: Result<Box<Trajectory>>,
    verdict: Option<Result<Verdict>>,
    /// The reward, if it has a verdict.
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
    pub(crate) selected: Selected,
    tried: Vec<TriedAttempt>,
    /// The indices of the attempts from which roles write skills. Stored, because the decision depends on the library, which
    /// changes later.
    pub(crate) sources: Vec<usize>,
    /// The answers of the roles that were asked about the attempts.
    #[serde(rename = "said")]
    pub(crate) replies: Vec<RoleReply>,
    /// The credits of the group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) credits: Vec<SkillCredit>,
    /// The embeddings by which the drafts are compared with the library. They are asked for and used in one step.
    #[serde(skip)]
    pub(crate) meanings: Meanings,
}

/// The policy of one task: selects skills, makes attempts with them and has these judged; then roles judge the effect of each
/// skill and write new skills from the best attempts.
pub(crate) async fn one_task(
    mut ask: Ask,
    view: View,
    (recipe, policies): (Recipe, ResolvedPolicies),
    task: Task,
) -> Result<Outcome> {
    let context = view.context();
    let mut outcome = Outcome::default();

    // The environment is not reset yet, so the tools are not known.
    let query = TurnQuery {
        text: task.instruction.clone(),
        tools: Vec::new(),
        category: task.category.clone(),
    };
    let seed = context.step_seed(view.step());
    outcome.selected = select(&mut ask, &view, policies.selector.as_ref(), &query).await;
    let events = outcome.selected.events(context.library);
    events.into_iter().for_each(|event| ask.tell(event));

    let task = &task;
    outcome.tried = attempts(&mut ask, &context, task, &outcome.selected).await;
    if let Some(policy) = &recipe.assess {
        outcome
            .assess(&mut ask, &context, policy, (view.step(), task))
            .await;
    }
    let skill_use = recipe.reward.skill_use;
    outcome.reward(&context, (skill_use, policies.reward.as_ref()), view.step())?;
    let rollouts = outcome.rollouts(&context, view.step());
    tell_attempts(&mut ask, &rollouts);
    if !outcome.teaches(&context) {
        return Ok(outcome);
    }
    let credits = credits((&recipe.credit, policies.credit.as_ref()), &rollouts)?;

    let writer = policies.writer.as_ref();
    let sources = writing::sources(&context, (&recipe.write, writer), task, &rollouts);
    let sources = sources.unwrap_or_else(|undue| {
        ask.tell(undue.event());
        Vec::new()
    });
    let judging = asking::asks(&recipe.credit, (seed, task), &rollouts);
    let shown = sources.iter().filter_map(|place| rollouts.get(*place));
    let shown = shown.filter_map(|one| {
        let trace = asking::trace(seed, task, one)?;
        Some((trace, one.report.clone()))
    });
    let (shown, reports): (Vec<Trace>, Vec<AttemptReport>) = shown.unzip();
    let group = WriteGroup::new(&shown, &reports, &outcome.selected.candidates);
    let (mut replies, written) = ask_about(&mut ask, (&view, writer), judging, &group).await;
    let drafts = written.and_then(|written| {
        checks::one_curation(&written)?;
        let (of_roles, drafts) = written.into_parts();
        let of_roles = of_roles.into_iter();
        replies.extend(of_roles.filter(|one| asking::is_writer(one.task.role())));
        Ok(drafts)
    });
    let unread = unreadable(&replies).into_iter();
    unread.for_each(|event| ask.tell(event));
    replies.extend(drafted(&shown, drafts));
    outcome.sources = sources;
    outcome.credits = credits;
    outcome.replies = replies;
    Ok(outcome)
}

/// Asks roles about the skills of a group of attempts, and has the writer write from them, at once. The questions have one scope:
/// those about skills have its first numbers.
async fn ask_about(
    ask: &mut Ask,
    (view, writer): (&View, &dyn WriteProgram),
    judging: Vec<RoleTask>,
    group: &WriteGroup<'_>,
) -> (Vec<RoleReply>, Result<Written>) {
    let asked = ask.each([judging], async |mut ask, judging| {
        let mut first = ask.reserved(judging.len());
        let written = async {
            match group.attempts {
                [] => Ok(Written::default()),
                _ => writer.write(&mut ask, view, group).await,
            }
        };
        join(first.roles(judging), written).await
    });
    let asked = asked.await.pop();
    asked.unwrap_or_else(|| (Vec::new(), Ok(Written::default())))
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
) -> Vec<TriedAttempt> {
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
        TriedAttempt {
            made,
            verdict,
            reward: None,
            assessment: None,
            process: None,
        }
    });
    attempts.await
}

/// Converts the drafts that a writer made by itself to the form that admission expects: answers of a role that was given the
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

/// The credits of a group.
///
/// # Errors
/// The rule's error; `Invalid` for a credit that is not finite, for a skill that the attempt was not given, for a second credit of
/// a skill for the same attempt, and for another number of uses than the group has.
fn credits(
    (policy, rule): (&CreditPolicy, &dyn CreditRule),
    rollouts: &[Rollout<'_>],
) -> Result<Vec<SkillCredit>> {
    let group = rollouts.iter().map(|one| GroupAttempt {
        report: one.report.clone(),
        credited: fold::credited_skills(policy, one),
    });
    let group: Vec<GroupAttempt> = group.collect();
    let credits = rule.credits(&group)?;
    checks::finite_credits(&credits)?;
    checks::exposed(&credits, &group)?;
    checks::counted(&credits, &group)?;
    Ok(credits)
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

    /// Rewards each attempt that has a verdict.
    ///
    /// # Errors
    /// The rule's error; `Invalid` for a reward that is not finite.
    fn reward(
        &mut self,
        context: &Context<'_>,
        (skill_use, rule): (UsedWhen, &dyn RewardRule),
        step: u64,
    ) -> Result<()> {
        let rollouts = self.rollouts(context, step);
        let reward = |one: &Rollout<'_>| {
            let Some(verdict) = one.verdict else {
                return Ok(None);
            };
            let mut attempt = JudgedAttempt::new(&one.report, verdict);
            attempt.warming_up = context.warming_up;
            attempt.used = skill_use.counts(&one.report);
            rule.reward(&attempt)
        };
        let rewards: Vec<Option<f64>> = rollouts.iter().map(reward).collect::<Result<_>>()?;
        for (tried, reward) in self.tried.iter_mut().zip(rewards) {
            reward.map_or(Ok(()), checks::finite_reward)?;
            tried.reward = reward;
        }
        Ok(())
    }

    /// Whether something can be learned: in training, if at least one attempt was made that is evidence.
    pub(crate) fn teaches(&self, context: &Context<'_>) -> bool {
        let is_sound = |tried: &TriedAttempt| {
            let made = tried.made.as_ref();
            made.is_ok_and(|trajectory| trajectory.is_evidence())
        };
        context.mode == Mode::Train && self.tried.iter().any(is_sound)
    }

    /// The attempts with their reports, in order.
    pub(crate) fn rollouts(&self, context: &Context<'_>, step: u64) -> Vec<Rollout<'_>> {
        let tried = (0..).zip(&self.tried).map(|(number, tried)| {
            fold::rollout(
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
        let (selections, rollouts) = (&self.selected.selections, self.rollouts(context, step));
        fold::task_report(context, step, task, selections, rollouts)
    }
}
