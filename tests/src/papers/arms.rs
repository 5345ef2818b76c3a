//! The arms: recipes at the scale of these streams, and what is no recipe (raw memory, groups of tasks).

use std::{
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::{
    Result,
    agent::{MemoryJournal, MemoryStore},
    contract::{Journal, Retriever},
    domain::{Action, Origin, Skill, State, Step, Task, Trace},
    papers::{
        hisme::MicroPolicy,
        scribe::AssessPolicy,
        skillos::{Grouping, Rollouts},
        skillrl::{BankGate, BankPolicy, BankSelector, Failure},
    },
    recipe::{self, Recipe},
    run::{Journeyman, report::TaskReport},
    stations::{propose::WriteWhen, select::GatePolicy},
};
use journeyman_tantivy::{Bm25Retriever, Config};
use journeyman_toolworld::{
    environment::command,
    simulate::parse,
    tool::{SkillText, ToolName, wire_name},
};
use quickstart::spoken;

use super::world::{Host, World};
use crate::{recipes::arise::task_by_task, skills::admitted};

/// Attempts at a task of the recipes that make several. The papers make 8; the bundled model's attempts differ little.
const GROUP: NonZeroU32 = NonZeroU32::new(2).expect("not 0");
/// The same where more was measured.
pub(super) const LARGE_GROUP: NonZeroU32 = NonZeroU32::new(4).expect("not 0");
/// Tasks between two clusterings.
const ROUND: NonZeroU64 = NonZeroU64::new(5).expect("not 0");
/// Tasks of a round of a bank: an arm has tokens for two.
const BANK_ROUND: NonZeroU64 = NonZeroU64::new(4).expect("not 0");
/// The same in HiSME's steps of five tasks.
const HISME_ROUND: NonZeroU64 = NonZeroU64::MIN;
/// Anchors for each category. The paper has 20, each judged five times, which would take all of an arm's tokens.
const ANCHORS: NonZeroUsize = NonZeroUsize::new(4).expect("not 0");
/// Skills that the bundled model tells apart in one prompt.
const SHOWN: NonZeroUsize = NonZeroUsize::new(2).expect("not 0");
/// Rollouts of a group of tasks.
const ROLLOUTS: NonZeroU32 = NonZeroU32::new(2).expect("not 0");

/// ARISE without its warm-up of 32,000 tasks.
pub(super) fn arise() -> Recipe {
    let mut recipe = task_by_task();
    recipe.attempts.group = GROUP;
    recipe.attempts.warm_up = 0;
    recipe
}

/// SCRIBE whose first clustering and refreshes come after five tasks.
pub(super) fn scribe() -> Recipe {
    let mut recipe = recipe::scribe();
    recipe.attempts.group = GROUP;
    recipe.assess = Some(assess().into());
    recipe
}

/// How [`scribe`] assesses.
pub(super) fn assess() -> AssessPolicy {
    let mut assess = AssessPolicy::default();
    assess.first = ROUND;
    assess.refresh = ROUND;
    if let Some(anchors) = &mut assess.anchors {
        anchors.each = ANCHORS;
    }
    assess
}

/// SkillRL with rounds of four tasks. The bundled model recovers from nearly all refusals, so a refusal counts as a failure.
pub(super) fn skillrl() -> Recipe {
    let mut recipe = recipe::skillrl();
    recipe.attempts.group = GROUP;
    recipe.batch = NonZeroU64::MIN;
    recipe.maintenance.edit(|bank: &mut BankPolicy| {
        bank.round = BANK_ROUND;
        bank.failure = Failure::Refusal;
    });
    recipe.select.selector = bank().into();
    recipe
}

/// The paper's choice from a bank, with fewer skills.
fn bank() -> BankSelector {
    let mut bank = BankSelector::default();
    bank.limit = SHOWN;
    bank
}

/// HiSME's library under SCRIBE's judge.
pub(super) fn hisme_under_scribe() -> Recipe {
    let scribe = scribe();
    let mut recipe = recipe::hisme();
    recipe.attempts = scribe.attempts;
    recipe.reward = scribe.reward;
    // A refresh is due after so many steps, and a step of HiSME's is a batch of five tasks.
    let mut assess = assess();
    assess.refresh = HISME_ROUND;
    recipe.assess = Some(assess.into());
    recipe
}

/// SkillRL's bank behind ARISE's gate with the absolute test.
pub(super) fn skillrl_behind_arise() -> Recipe {
    let mut recipe = skillrl();
    let mut gate = GatePolicy::default();
    gate.epsilon = 0.0;
    let mut gated = bank();
    gated.gate = Some(BankGate::new(gate));
    recipe.select.selector = gated.into();
    recipe
}

/// SkillOS's curator with HiSME's release gate.
pub(super) fn skillos_released_as_hisme() -> Recipe {
    let hisme = recipe::hisme();
    let mut recipe = recipe::skillos();
    recipe.admit.initial_state = State::Trial;
    let micro: Option<MicroPolicy> = hisme.maintenance.get();
    let bundles = micro.and_then(|micro| micro.bundles);
    recipe
        .maintenance
        .edit(|micro: &mut MicroPolicy| micro.bundles = bundles);
    recipe.tiers.traces = hisme.tiers.traces;
    recipe.batch = hisme.batch;
    recipe
}

/// How an arm learns from a stream.
#[derive(Clone, Copy)]
pub(super) enum Learning {
    /// Not at all.
    Nothing,
    /// By its recipe.
    Recipe,
    /// By its recipe in groups of tasks with similar tags, of so many tasks at a time: of two rollouts of each group, the one with
    /// the greater reward is merged.
    Grouped(usize),
    /// Each attempt becomes a skill as it is: its calls in their order, the refused ones too, with the values that they had.
    Raw,
}

/// A way to learn.
#[derive(Clone, Copy)]
pub(super) struct Arm {
    pub(super) name: &'static str,
    pub(super) recipe: fn() -> Recipe,
    pub(super) learning: Learning,
}

impl Arm {
    pub(super) const fn of(name: &'static str, recipe: fn() -> Recipe) -> Self {
        Self {
            name,
            recipe,
            learning: Learning::Recipe,
        }
    }
}

/// What an arm learned with its tokens.
pub(super) struct Learned {
    pub(super) store: Arc<MemoryStore>,
    /// The attempts, in order, where a journal was kept.
    pub(super) journal: Arc<MemoryJournal>,
    /// The tasks that were learned from by the recipe.
    pub(super) tasks: Vec<TaskReport>,
    /// Tokens that the model read and wrote for it.
    pub(super) spent: u64,
    /// Tasks that it learned from.
    pub(super) learned: usize,
}

/// Learns from a world's stream until the model has used so many tokens, or the stream is at its end. The last step may go
/// beyond them.
pub(super) fn learn(host: &Host<'_>, world: &World, arm: &Arm, budget: u64) -> Result<Learned> {
    let mut recipe = (arm.recipe)();
    if matches!(arm.learning, Learning::Raw) {
        recipe.write.when = WriteWhen::Never;
        recipe.tiers.traces = 1;
    }
    let step = match arm.learning {
        Learning::Nothing => world.stream.len(),
        Learning::Grouped(tasks) => tasks,
        Learning::Raw => 1,
        Learning::Recipe => usize::try_from(recipe.batch.get()).unwrap_or(1),
    };
    let store = Arc::new(MemoryStore::new());
    let journal = Arc::new(MemoryJournal::new());
    let kept: Arc<dyn Journal> = journal.clone();
    let session = host.open(recipe, store.clone(), Some(kept))?;
    let mut all = Learned {
        store,
        journal,
        tasks: Vec::new(),
        spent: 0,
        learned: 0,
    };
    if matches!(arm.learning, Learning::Nothing) {
        return Ok(all);
    }
    let before = host.meter.tokens();
    for part in world.stream.chunks(step) {
        all.spent = host.meter.tokens() - before;
        if all.spent >= budget {
            break;
        }
        let tasks = match arm.learning {
            Learning::Grouped(_) => block_on(by_groups(&session, part.to_vec()))?,
            _ => block_on(session.learn(part.to_vec()))?.tasks,
        };
        if matches!(arm.learning, Learning::Raw) {
            block_on(keep_raw(&session))?;
        }
        all.tasks.extend(tasks);
        all.learned += part.len();
    }
    all.spent = host.meter.tokens() - before;
    Ok(all)
}

async fn by_groups(session: &Journeyman, tasks: Vec<Task>) -> Result<Vec<TaskReport>> {
    let tagged = session.tag(tasks).await?;
    let rollouts = Rollouts::new(ROLLOUTS).with_retriever(|| {
        let index = Bm25Retriever::new(Config::default())?;
        Ok(Arc::new(index) as Arc<dyn Retriever>)
    });
    let mut reports = Vec::new();
    for group in Grouping::default().groups(tagged.tasks)? {
        let mut best = None;
        for rollout in session.roll_out(group, &rollouts).await? {
            let rollout = rollout?;
            let reward = rollout.reward.unwrap_or(0.0);
            if best.as_ref().is_none_or(|(known, _)| reward > *known) {
                best = Some((reward, rollout));
            }
        }
        if let Some((_, best)) = best {
            session.merge(&best, "the better of two rollouts").await?;
            reports.extend(best.report.tasks);
        }
    }
    Ok(reports)
}

/// Adds the latest attempt as a skill.
async fn keep_raw(session: &Journeyman) -> Result<()> {
    let library = session.library().await?;
    let latest = library.traces().last();
    if let Some(skill) = latest.and_then(raw_skill) {
        session.add(vec![skill], "an attempt as it was").await?;
    }
    Ok(())
}

/// An attempt's calls as a skill of the tool that it was about, which its last call names.
fn raw_skill(attempt: &Trace) -> Option<Skill> {
    let steps = attempt.trajectory.steps.iter();
    let steps: Vec<String> = steps.flat_map(calls).collect();
    let text = SkillText {
        title: ToolName::parse(steps.last()?)?,
        steps,
    };
    let mut draft = spoken::written(&text)?;
    draft.body = as_made(&text.steps);
    let id = format!("raw-{}", attempt.trajectory.attempt).replace('/', "-");
    let mut skill = admitted(&draft, id, Origin::Human).ok()?;
    skill.provenance.tasks.push(attempt.task.id.clone());
    Some(skill)
}

/// Calls as they were made, each with all of its values, as skills list calls.
fn as_made(calls: &[String]) -> String {
    let lines = (1..).zip(calls).filter_map(|(number, call)| {
        let (tool, settings) = parse(call).ok()?;
        let settings = settings
            .iter()
            .map(|one| format!("`{}` `{}`", one.parameter, one.value));
        let settings = settings.collect::<Vec<_>>().join(", ");
        let with = if settings.is_empty() { "" } else { " with " };
        Some(format!(
            "{number}. Call `{}`{with}{settings}.",
            wire_name(&tool)
        ))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The calls of a step as command lines.
fn calls(step: &Step) -> Vec<String> {
    match &step.action {
        Action::Call(calls) => calls.iter().map(command).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prototypes_are_refreshed_after_as_many_tasks_under_hisme_as_in_scribe() {
        for recipe in [scribe(), hisme_under_scribe()] {
            let named = recipe.assess.expect("it assesses");
            let assess: AssessPolicy = named.read().unwrap().unwrap();
            let tasks = assess.refresh.get() * recipe.batch.get();
            assert_eq!(tasks, ROUND.get(), "{}", recipe.name);
        }
    }
}
