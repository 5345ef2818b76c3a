//! The helpdesk of a shop: customers write in plain English, and the desk has house rules that no message states. [`desk`] is
//! the world; the agent and the writer of skills are [`scripted`]. A person's skills are in the folder `skills`.

pub mod desk;
pub mod scripted;

use std::sync::Arc;

use desk::Desk;
use journeyman::testing::{Play, ScriptedExecutor};
use journeyman::{contract::Scorer, prelude::*, recipe::Recipe, stations::select::GatePolicy};
use journeyman_tantivy::Bm25Retriever;
use scripted::{next_call, writer};

/// The shop's parts, with a model that scores skills. The library is in memory, unless a store is added.
pub fn parts(scorer: Arc<dyn Scorer>) -> Result<Components> {
    let agent = ScriptedExecutor::acting(|one, steps| {
        Play::Give(next_call(one.task, one.injection, steps, one.seed))
    });
    let (agent, desk) = (Arc::new(agent), Arc::new(Desk::default()));
    Ok(Components::new(agent, desk, Arc::new(EnvironmentJudge))
        .with_scorer(scorer)
        .with_prompt_format(Arc::new(ChatFormat::default()))
        .with_model(Arc::new(writer()))
        .with_roles(Arc::new(GeneralRoles::shipped()?))
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?)))
}

/// The standard recipe with a gate of so many nats.
pub fn gate(nats: f64) -> Recipe {
    let mut recipe = recipe::standard();
    let mut gate = GatePolicy::default();
    gate.absolute = Some(nats);
    recipe.select.selector = gate.into();
    recipe
}

/// One request in the host's own loop.
pub async fn serve(session: &Journeyman, task: Task, seed: Seed) -> Result<()> {
    let mut desk = Desk::default().reset(&task, seed).await?;
    let mut attempt = session.begin(task.clone()).await?; // retrieval and the gate have run
    let (mut steps, mut end) = (Vec::new(), None);
    while let (None, Some(call)) = (&end, next_call(&task, attempt.injection(), &steps, seed)) {
        let transition = desk.step(&call).await?;
        steps.push(Step::new(call, StepResult::from(&transition)));
        attempt.record(steps[steps.len() - 1].clone());
        end = transition.outcome;
    }
    attempt.finish(end.unwrap_or(Outcome::failure())).await?;
    Ok(())
}

/// How requests went: the shares that were done without a refused call, of all, of those with a house rule and of those without;
/// the requests at which a skill led to a refused call; the decisions that were not made.
#[derive(Debug)]
pub struct Figures(pub [f64; 3], pub usize, pub usize);

/// Attempts each request once.
pub async fn measure(session: &Journeyman, tasks: &[Task]) -> Result<Figures> {
    let report = session.evaluate(tasks.to_vec()).await?;
    let (mut done, mut all, mut wrong) = ([0.0; 3], [0.0; 3], 0);
    for (task, attempt) in report.tasks.iter().zip(report.attempts()) {
        let at_once = attempt.score == 1.0;
        for group in [0, 1 + usize::from(task.tags.is_empty())] {
            done[group] += f64::from(at_once);
            all[group] += 1.0;
        }
        wrong += usize::from(!at_once && !attempt.injected.is_empty());
    }
    let shares = [0, 1, 2].map(|group| done[group] / all[group]);
    Ok(Figures(shares, wrong, report.undecided().count()))
}
