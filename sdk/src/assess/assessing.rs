//! The assessment of an attempt: cut, route, score (SCRIBE 3.2).

use super::{AssessBy, AssessPolicy, asking::roles, routing::routes};
use crate::{
    contract::{RoleAnswer, RoleTask, SegmentPrompt, SubgoalInAttempt},
    domain::{AssessedSubgoal, Assessment, Prototype, Route, Rubric, Subgoal, SubgoalScore, Trace},
    library::SkillLibrary,
    policy::Ask,
};

/// Assesses an attempt: a role cuts it into subgoals, each is routed to a prototype, and a role scores it against the
/// prototype's rubric. `None` where the attempt has no step, or could not be cut.
pub(crate) async fn assess(
    ask: &mut Ask,
    library: &SkillLibrary,
    policy: &AssessPolicy,
    attempt: &Trace,
) -> Option<Assessment> {
    let prototypes = library.prototypes();
    let (subgoals, repaired) = match policy.by {
        AssessBy::Subgoals(prompt) => cut(ask, attempt, prompt).await?,
        AssessBy::Steps => (steps(attempt)?, false),
    };
    let routes = match policy.by {
        AssessBy::Subgoals(_) => {
            let by = (policy.route, policy.least_confidence);
            routes(ask, by, prototypes, attempt, &subgoals).await
        }
        AssessBy::Steps => vec![None; subgoals.len()],
    };
    let scores = scores(ask, policy, prototypes, attempt, &subgoals, &routes).await;
    let subgoals = subgoals.into_iter().zip(routes).zip(scores);
    let verdict = attempt.verdict.as_ref();
    Some(Assessment {
        attempt: attempt.trajectory.attempt.clone(),
        task: attempt.task.id.clone(),
        category: attempt.task.category.clone(),
        success: verdict.and_then(|verdict| verdict.success()),
        repaired,
        subgoals: subgoals
            .map(|((subgoal, route), score)| AssessedSubgoal {
                subgoal,
                route,
                score,
            })
            .collect(),
    })
}

/// The subgoals of an attempt by a role, and whether their spans had to be repaired.
async fn cut(
    ask: &mut Ask,
    attempt: &Trace,
    prompt: SegmentPrompt,
) -> Option<(Vec<Subgoal>, bool)> {
    if attempt.trajectory.steps.is_empty() {
        return None;
    }
    let task = RoleTask::Segment {
        attempt: Box::new(attempt.clone()),
        prompt,
    };
    match roles(ask, vec![task]).await.pop()? {
        Some(RoleAnswer::Segments {
            segmentation,
            repaired,
        }) => Some((segmentation.into(), repaired)),
        _ => None,
    }
}

/// Each step as a subgoal of its own.
fn steps(attempt: &Trace) -> Option<Vec<Subgoal>> {
    let count = attempt.trajectory.steps.len();
    let step = |place: usize| Subgoal {
        subgoal: format!("step {place}"),
        skill: String::new(),
        first: place,
        last: place,
    };
    (count > 0).then(|| (0..count).map(step).collect())
}

/// The score of each subgoal, in order. A subgoal without a rubric is scored where the policy has open judgements.
async fn scores(
    ask: &mut Ask,
    policy: &AssessPolicy,
    prototypes: &[Prototype],
    attempt: &Trace,
    subgoals: &[Subgoal],
    routes: &[Option<Route>],
) -> Vec<Option<SubgoalScore>> {
    let open = policy.open || policy.by == AssessBy::Steps;
    let rubric = |route: &Option<Route>| {
        let route = route.as_ref()?;
        let mut routed = prototypes.iter().filter(|one| one.id == route.prototype);
        routed.next().map(|one| &one.rubric)
    };
    let asked: Vec<(usize, Option<&Rubric>)> = (0..)
        .zip(routes.iter().map(rubric))
        .filter(|(_, rubric)| open || rubric.is_some())
        .collect();
    let tasks = asked.iter().filter_map(|(place, rubric)| {
        let subgoal = subgoals.get(*place)?;
        Some(score_task(attempt, subgoal, *rubric, 0))
    });
    let answers = roles(ask, tasks.collect()).await;
    let mut scores = vec![None; subgoals.len()];
    for ((place, _), answer) in asked.iter().zip(answers) {
        if let (Some(score), Some(RoleAnswer::Scored { score: given, .. })) =
            (scores.get_mut(*place), answer)
        {
            *score = Some(given);
        }
    }
    scores
}

/// The request to score a subgoal.
pub(super) fn score_task(
    attempt: &Trace,
    subgoal: &Subgoal,
    rubric: Option<&Rubric>,
    repeat: u32,
) -> RoleTask {
    RoleTask::Score {
        subgoal: Box::new(SubgoalInAttempt {
            attempt: attempt.clone(),
            subgoal: subgoal.clone(),
        }),
        rubric: rubric.cloned().map(Box::new),
        repeat,
    }
}
