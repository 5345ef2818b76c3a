//! The policy of one task: select, attempt, judge, and ask roles about what came of it.

use serde::{Deserialize, Serialize};

use super::{fold, scene::Scene};
use crate::{
    contract::{RoleAnswer, RoleTask},
    credit::CreditPolicy,
    domain::{Mode, SkillDraft, Task, Trace, Trajectory, TurnQuery, Usage, Verdict},
    error::Result,
    id::AttemptId,
    policy::{
        Ask, ChosenSkill, Context, Played, Policies, Rollout, Said, SkillCredit, View, checks,
    },
    propose::{
        Writer,
        asking::{self, unreadable},
        writing,
    },
    recipe::Recipe,
    report::{AttemptReport, EventKind, TaskReport},
    reward::RewardPolicy,
    select::selecting::{Selected, select},
};

/// An attempt, and the verdict on it where it could be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tried {
    made: Result<Box<Trajectory>>,
    verdict: Option<Result<Verdict>>,
    /// The reward by the recipe's own rule, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
}

/// What came of a task before the library is changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Whether the task was part of a warm-up when it began: its own commit moves the library's count of steps.
    warming_up: bool,
    pub(crate) selected: Selected,
    tried: Vec<Tried>,
    /// The places of the attempts that roles write skills from, decided once: the library moves on.
    pub(crate) sources: Vec<usize>,
    /// What roles said of the attempts.
    pub(crate) said: Vec<Said>,
    /// The credits by the recipe's own rule, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credits: Option<Vec<SkillCredit>>,
}

/// One task: skills are selected for it, attempts are made with them and judged, and roles say what each skill did and write
/// new ones from the best attempts.
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

    // Its world has not begun, so no tools are in force yet.
    let query = TurnQuery {
        text: task.instruction.clone(),
        tools: Vec::new(),
    };
    let seed = context.step_seed(view.step());
    outcome.selected = select(&mut ask, &view, (&recipe.select, &policies), &query).await;
    let told = outcome.selected.events(context.library);
    told.into_iter().for_each(|event| ask.tell(event));

    let task = &task;
    outcome.tried = tried(&mut ask, &context, task, &outcome.selected).await;
    outcome.reward(&context, (&recipe.reward, &policies), view.step())?;
    let rollouts = outcome.rollouts(&context, &recipe.reward, view.step());
    for (rollout, each) in (0..).zip(&rollouts) {
        ask.tell(EventKind::Attempted {
            rollout,
            report: Box::new(each.report.clone()),
        });
    }
    if !outcome.teaches(&context) {
        return Ok(outcome);
    }
    let credits = credits((&recipe.credit, &policies), &rollouts)?;

    let sources = writing::sources(&context, &recipe.write, task, &rollouts);
    let sources = sources.unwrap_or_else(|reason| {
        ask.tell(EventKind::NotDue { reason });
        Vec::new()
    });
    let asks = asking::asks(
        &context,
        (&recipe.credit, &recipe.write),
        seed,
        task,
        &rollouts,
        &sources,
    );
    let shown = sources.iter().filter_map(|place| rollouts.get(*place));
    let shown = shown.filter_map(|one| asking::trace(seed, task, one));
    let shown: Vec<Trace> = shown.collect();
    outcome.sources = sources;
    outcome.credits = credits;
    let said = ask.each([asks], async |mut ask, asks| ask.roles(asks).await);
    outcome.said = said.await.into_iter().flatten().collect();
    let unread = unreadable(&outcome.said).into_iter();
    unread.for_each(|event| ask.tell(event));
    if let Writer::Own(own) = &recipe.write.by
        && !shown.is_empty()
    {
        let writer = policies.writer(own)?;
        let drafts = writer.write(&mut ask, &view, &shown).await;
        outcome.said.extend(drafted(&shown, drafts));
    }
    Ok(outcome)
}

/// The attempts of the group, all at once, each judged when it is made.
async fn tried(
    ask: &mut Ask,
    context: &Context<'_>,
    task: &Task,
    selected: &Selected,
) -> Vec<Tried> {
    let library = context.library;
    let attempts = ask.each(0..context.group, async |mut ask, number| {
        let skills = selected.injected(number).iter();
        let skills = skills.filter_map(|skill| library.get(&skill.id));
        let skills = skills.map(ChosenSkill::from).collect();
        let made = ask.attempt(task, number, skills).await;
        let verdict = match &made {
            Ok(trajectory) if trajectory.fault().is_none() => {
                Some(ask.judge(task, trajectory.clone()).await)
            }
            _ => None,
        };
        Tried {
            made,
            verdict,
            reward: None,
        }
    });
    attempts.await
}

/// The drafts of a host's own writer, as admission takes them: the answers of a role that was shown the attempts.
fn drafted(shown: &[Trace], drafts: Result<Vec<SkillDraft>>) -> Vec<Said> {
    let said = |said| Said {
        task: RoleTask::Summarize {
            attempts: shown.to_vec(),
        },
        said,
    };
    match drafts {
        Err(error) => vec![said(Err(error))],
        Ok(drafts) => drafts
            .into_iter()
            .map(|draft| {
                said(Ok(Some(Played {
                    answer: RoleAnswer::Draft(Box::new(draft)),
                    fallback: false,
                    unreadable: Vec::new(),
                    usage: Usage::default(),
                })))
            })
            .collect(),
    }
}

/// The credits by the recipe's own rule, where it has one.
///
/// # Errors
/// The rule's; `Invalid` for a credit that is not finite, of a skill that the attempt was not given, or given twice.
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
    /// Rewards each attempt that has a verdict by the recipe's own rule, where it has one.
    ///
    /// # Errors
    /// The rule's; `Invalid` for a reward that is not finite.
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

    /// Whether there is anything to learn: an attempt that was never made, or that a part's fault ended, teaches nothing, and
    /// evaluation learns nothing.
    pub(crate) fn teaches(&self, context: &Context<'_>) -> bool {
        let is_sound = |tried: &Tried| {
            let made = tried.made.as_ref();
            made.is_ok_and(|trajectory| trajectory.fault().is_none())
        };
        context.mode == Mode::Train && self.tried.iter().any(is_sound)
    }

    /// What the attempts came to, in order.
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
                tried.reward,
            )
        });
        tried.collect()
    }

    /// The task's report.
    pub(crate) fn report(&self, context: &Scene<'_>, step: u64, task: &Task) -> TaskReport {
        let (selections, rollouts) = (
            &self.selected.selections,
            self.rollouts(context, &context.recipe.reward, step),
        );
        fold::task_report(context, step, task, selections, rollouts)
    }
}
