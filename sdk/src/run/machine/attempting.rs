//! The policy of one task: select, attempt, judge, and ask roles about what came of it.

use serde::{Deserialize, Serialize};

use super::{fold, scene::Scene};
use crate::{
    domain::{Mode, Task, Trajectory, TurnQuery, Usage, Verdict},
    error::Result,
    id::AttemptId,
    policy::{Ask, ChosenSkill, Context, Policies, Rollout, Said, View},
    propose::{
        asking::{self, unreadable},
        writing,
    },
    recipe::Recipe,
    report::{EventKind, TaskReport},
    reward::RewardPolicy,
    select::selecting::{Selected, select},
};

/// An attempt, and the verdict on it where it could be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tried {
    made: Result<Box<Trajectory>>,
    verdict: Option<Result<Verdict>>,
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
}

/// One task: skills are selected for it, attempts are made with them and judged, and roles say what each skill did and write
/// new ones from the best attempts.
pub(crate) async fn one_task(
    mut ask: Ask,
    view: View,
    (recipe, policies): (Recipe, Policies),
    task: Task,
) -> Outcome {
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

    let (task, selected, library) = (&task, &outcome.selected, context.library);
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
        Tried { made, verdict }
    });
    outcome.tried = attempts.await;
    let rollouts = outcome.rollouts(&context, &recipe.reward, view.step());
    for (rollout, each) in (0..).zip(&rollouts) {
        ask.tell(EventKind::Attempted {
            rollout,
            report: Box::new(each.report.clone()),
        });
    }
    if !outcome.teaches(&context) {
        return outcome;
    }

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
    outcome.sources = sources;
    let said = ask.each([asks], async |mut ask, asks| ask.roles(asks).await);
    outcome.said = said.await.into_iter().flatten().collect();
    unreadable(&outcome.said)
        .into_iter()
        .for_each(|event| ask.tell(event));
    outcome
}

impl Outcome {
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
        let mut report = fold::task_report(context, step, task, selections, rollouts);
        report.role_usage = self.role_usage();
        report
    }

    fn role_usage(&self) -> Usage {
        let mut total = Usage::default();
        for said in &self.said {
            if let Ok(Some(played)) = &said.said {
                total.add(played.usage);
            }
        }
        total
    }
}
