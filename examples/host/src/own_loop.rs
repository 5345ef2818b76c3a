//! The second way in: keep your own agent loop.

use std::{path::Path, sync::Arc};

use journeyman::{prelude::*, recipe::Recipe};
use journeyman_disk::{DiskOptions, DiskStore};
use journeyman_tantivy::Bm25Retriever;

use crate::{desk::Shift, model::Scripted, tasks::source};

/// Opens a session without an agent and a world: the host has its own.
pub async fn open(library: &Path, recipe: Recipe, options: Options) -> Result<Journeyman> {
    let model = Arc::new(Scripted::default());
    let store = Arc::new(DiskStore::open(library, &DiskOptions::default())?);
    let components = Components::own_loop()
        .with_scorer(model.clone())
        .with_prompt_format(Arc::new(ChatFormat::default()))
        .with_model(model)
        .with_roles(Arc::new(GeneralRoles::shipped()?))
        .with_retriever(Arc::new(Bm25Retriever::new(Default::default())?))
        .with_store(store.clone())
        .with_journal(store)
        .with_clock(Arc::new(SystemClock::new()));
    Journeyman::open(components, recipe, options).await
}

/// One task in the host's own loop: whether it was done without a refused call, and with a skill.
pub async fn one_task(
    journeyman: &Journeyman,
    agent: &Scripted,
    task: Task,
) -> Result<(bool, bool)> {
    let luck = Seed(11).derive(task.id.as_str(), 0).unit();
    let mut world = Shift::new(&task);
    let mut attempt = journeyman.begin(task).await?; // retrieval and the gate have run
    let prompt = attempt.prompt(); // the skill, where there is one, in front of the task
    let (mut said, mut refused) = (Vec::new(), false);
    while !world.done && said.len() < 6 {
        let Some(call) = agent.next_call(&prompt, &said, luck) else {
            break;
        };
        said.push(call.tool.clone());
        let result = match world.call(&call) {
            Ok(text) => StepResult::new(text, source()),
            Err(text) => StepResult::refused(text, source()),
        };
        refused |= result.is_error;
        attempt.record(Step::new(Action::Call(vec![call]), result));
    }
    let skill = attempt.skill().cloned();
    if let Some(skill) = skill.as_ref().filter(|_| !refused) {
        attempt.used(skill, SkillUse::Followed); // the agent says so
    }
    attempt.finish(Outcome::from(world.done)).await?; // your verdict; credit, a new skill perhaps, one commit
    Ok((world.done && !refused, skill.is_some()))
}
