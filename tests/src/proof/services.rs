//! What the rows on real inference share: skills for services, a judge of tasks that are done at once, sessions and evaluations.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
};

use async_trait::async_trait;
use journeyman::{
    Result, Seed, SkillId,
    agent::{EnvironmentJudge, MemoryStore},
    contract::{Components, Judge, JudgeRequest},
    domain::{Origin, Skill, SkillDraft, State, Task, Verdict},
    recipe::{self, Recipe},
    run::{
        Journeyman,
        report::{RunReport, TaskReport},
    },
    stations::{
        propose::WriteWhen,
        select::{Nothing, Top},
    },
};
use journeyman_toolworld::{
    general::{recipe::Recipe as Contract, skills},
    stream::Member,
};
use quickstart::Parts;

use crate::figures::attempted;

/// As the quickstart has it.
pub(super) const STEPS: usize = 8;

/// Done without one refused or needless call.
#[derive(Debug)]
struct AtOnce;

#[async_trait]
impl Judge for AtOnce {
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict> {
        let verdict = EnvironmentJudge.judge(request).await?;
        let at_once = verdict.parts().get("first_attempt") == Some(&1.0);
        Ok(match verdict.success() {
            None => verdict,
            Some(done) => Verdict::binary(done && at_once),
        })
    }
}

/// The id of a service's skill.
pub(super) fn id(service: usize) -> SkillId {
    SkillId::new(format!("skill-{service:02}"))
}

/// The skill of a draft, as a person would add it.
pub(super) fn admitted(draft: &SkillDraft, id: SkillId) -> Result<Skill> {
    crate::skills::admitted(draft, id, Origin::Human)
}

/// A skill that is wrong about its own service: its call, with the calls before it and the values of another service.
pub(super) fn wrong(member: &Member, other: &Member) -> SkillDraft {
    let tool = member.service.tool.name.clone();
    skills::draft(&Contract {
        tool,
        ..Contract::of(&other.service, &other.given)
    })
}

/// Takes the search's first skill at each task; attempts each task once and writes nothing.
pub(super) fn taking_the_best() -> Recipe {
    let mut recipe = recipe::standard();
    recipe.select.selector = Top::new(NonZeroUsize::MIN).into();
    recipe.attempts.group = NonZeroU32::MIN;
    recipe.write.when = WriteWhen::Never;
    // Where proof releases, nothing may begin as active.
    recipe.admit.initial_state = State::Trial;
    recipe
}

/// The parts over a store, with the judge of tasks that are done at once.
pub(super) fn components(parts: &Parts, store: Arc<MemoryStore>) -> Result<Components> {
    let mut components = parts.components(store, None)?;
    components.judge = Some(Arc::new(AtOnce));
    Ok(components)
}

/// A session on a store.
async fn session(
    parts: &Parts,
    store: Arc<MemoryStore>,
    recipe: Recipe,
    (name, seed): (&str, Seed),
) -> Result<Journeyman> {
    let components = components(parts, store)?;
    Journeyman::open(components, recipe, parts.options(name, seed)).await
}

/// A session on a new library of these skills.
pub(super) async fn opened(
    parts: &Parts,
    recipe: Recipe,
    seed: Seed,
    skills: Vec<Skill>,
) -> Result<Journeyman> {
    let store = Arc::new(MemoryStore::new());
    let session = session(parts, store, recipe, ("proof", seed)).await?;
    if !skills.is_empty() {
        session.add(skills, "the figures").await?;
    }
    Ok(session)
}

/// Whether a task was done at once; `None` without a verdict.
pub(super) fn done(task: &TaskReport) -> Option<bool> {
    task.attempts.first()?.success
}

/// 1 for each task that is done at once with the search's first of these skills, else 0.
pub(super) async fn evaluated(
    parts: &Parts,
    seed: Seed,
    skills: Vec<Skill>,
    tasks: &[Task],
) -> Result<Vec<f64>> {
    let mut recipe = taking_the_best();
    if skills.is_empty() {
        recipe.select.selector = Nothing.into();
    }
    let session = opened(parts, recipe, seed, skills).await?;
    outcomes(&session.evaluate(tasks.to_vec()).await?)
}

/// 1 for each task of a report that was done at once, else 0.
///
/// # Errors
/// Where a task was not attempted.
pub(super) fn outcomes(report: &RunReport) -> Result<Vec<f64>> {
    let outcome = |task| f64::from(u8::from(done(task) == Some(true)));
    Ok(attempted(report)?.tasks.iter().map(outcome).collect())
}
