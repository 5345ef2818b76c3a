//! Learning runs whose roles write given drafts: what enters the library, what is taken for a known skill.

use std::{
    num::{NonZeroU32, NonZeroU64},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Result, Seed,
    agent::MemoryStore,
    contract::{Components, Embedder, RoleAnswer},
    domain::{SkillDraft, Task, Verdict},
    papers::hisme::{MacroPolicy, MicroPolicy},
    policy::{Answer, Played, PolicyOptions},
    recipe::{self, Recipe},
    run::{
        Effect, Performer, RunMachine, RunPlan,
        report::{RunReport, WriteReport},
    },
    stations::{admit::Identity, propose::Extract},
};

use super::procedure::Procedure;

/// A task: the procedure that its attempt follows, and the draft that a role writes from it.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    pub(super) procedure: Procedure,
    pub(super) draft: SkillDraft,
}

/// Ours for a single attempt as evidence, without maintenance: only the drafts count.
fn recipe(identity: Identity) -> Recipe {
    let mut recipe = recipe::hisme_robust();
    recipe.credit.attribute = journeyman::stations::credit::Attribute::Never;
    recipe.write.by = Extract::new(NonZeroU32::MIN).into();
    recipe.admit.identity = identity;
    recipe.maintenance.every(MicroPolicy::NAME, NonZeroU64::MAX);
    recipe.maintenance.every(MacroPolicy::NAME, NonZeroU64::MAX);
    recipe
}

/// Learns from the lessons in order. Every attempt succeeds without a skill.
pub(super) fn learn(
    lessons: &[Lesson],
    identity: Identity,
    embedder: Option<Arc<dyn Embedder>>,
    seed: Seed,
) -> Result<RunReport> {
    let tasks = (0..).zip(lessons).map(|(number, lesson): (u32, _)| {
        let title = &lesson.procedure.title;
        Task::new(format!("t-{number}"), format!("please {title}"))
    });
    let recipe = recipe(identity);
    let mut components = Components::own_loop().with_store(Arc::new(MemoryStore::new()));
    components.embedder = embedder;
    let performer = Performer::new(Arc::new(components), recipe.limits);
    let plan =
        RunPlan::new("identity", seed, recipe, tasks.collect()).edited(|it| it.replays = true);
    let mut machine = RunMachine::new(plan)?;
    while !machine.is_finished() {
        for (id, effect) in machine.effects() {
            let lesson = usize::try_from(id.step)
                .ok()
                .and_then(|step| lessons.get(step));
            let answer = match (effect, lesson) {
                (Effect::Retrieve(_), _) => Answer::Retrieved(Ok(Vec::new())),
                (Effect::Attempt(effect), Some(lesson)) => {
                    let id = effect.attempt.to_string();
                    let made = lesson.procedure.attempt(&effect.task, &id, effect.seed);
                    Answer::Attempted(Ok(Box::new(made)))
                }
                (Effect::Judge { .. }, _) => Answer::Judged(Ok(Verdict::binary(true))),
                (Effect::Role { .. }, Some(lesson)) => {
                    let draft = RoleAnswer::Draft(Box::new(lesson.draft.clone()));
                    Answer::Played(Ok(Some(Played::of(draft))))
                }
                (effect, _) => block_on(performer.perform(effect))?,
            };
            machine.answer(id, answer)?;
        }
    }
    Ok(machine.report())
}

/// How many of the lessons' drafts are taken for a skill that says something else.
pub(super) fn false_merges(lessons: &[Lesson], report: &RunReport) -> usize {
    let places = 0..lessons.len();
    places
        .filter(|place| is_false_merge(lessons, report, *place))
        .count()
}

/// Whether the draft of the lesson at a place is taken for a skill that says something else.
pub(super) fn is_false_merge(lessons: &[Lesson], report: &RunReport, place: usize) -> bool {
    let written: Vec<_> = report.written().collect();
    let (Some(one), Some(lesson)) = (written.get(place), lessons.get(place)) else {
        return false;
    };
    let Some(known) = &one.duplicate else {
        return false;
    };
    let entered = |one: &&WriteReport| one.admitted.as_ref() == Some(&known.skill);
    let entered = written.iter().position(entered);
    let says = entered.and_then(|place| lessons.get(place));
    says.map(|says| &says.procedure) != Some(&lesson.procedure)
}
