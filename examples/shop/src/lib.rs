//! The helpdesk of a shop: customers write in plain English, and the desk has house rules that no message states. [`desk`] is
//! the world; the agent and the writer of skills are [`scripted`]; [`figures`] sets what is learned beside a person's skills.

pub mod desk;
pub mod figures;
pub mod scripted;

use std::sync::Arc;

use desk::Desk;
use journeyman::{contract::Scorer, prelude::*};
use journeyman_tantivy::Bm25Retriever;
use scripted::{agent, next_call, writer};

/// The shop's parts, with a model that scores skills. The library is in memory, unless a store is added.
pub fn parts(scorer: Arc<dyn Scorer>) -> Result<Backends> {
    let (agent, desk) = (Arc::new(agent()), Arc::new(Desk::default()));
    Ok(Backends::new(agent, desk, Arc::new(EnvironmentJudge))
        .with_scorer(scorer)
        .with_dialect(Arc::new(ChatDialect::default()))
        .with_model(Arc::new(writer()))
        .with_roles(Arc::new(GeneralRoles::shipped()?))
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?)))
}

/// One request in the host's own loop.
pub async fn serve(session: &Journeyman, task: Task, seed: Seed) -> Result<()> {
    let mut desk = Desk::default().reset(&task, seed).await?;
    let mut attempt = session.begin(task).await?; // retrieval and the gate have run
    let (mut steps, mut outcome) = (Vec::new(), None);
    while outcome.is_none()
        && let Some(call) = next_call(attempt.task(), attempt.injection(), &steps, seed)
    {
        let transition = desk.step(&call).await?;
        let step = Step::new(call, StepResult::from(&transition));
        steps.push(step.clone());
        attempt.record(step);
        outcome = transition.outcome;
    }
    attempt
        .finish(outcome.unwrap_or(Outcome::failure()))
        .await?;
    Ok(())
}
