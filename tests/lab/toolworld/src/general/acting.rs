//! Documents of attempts: the whole conversation as a host's model reads and writes it.

use journeyman::agent::ChatFormat;
use journeyman::contract::{PromptFormat, TurnMove, TurnView};
use journeyman::domain::{Message, Observation, Prompt, Source, Speaker, ToolDefinition};

use super::attempt::Attempt;
use super::broken;
use super::chatml;
use super::document::Document;
use super::manner::Manner;
use super::opaque;
use super::tools::definitions;
use crate::environment::SOURCE;
use crate::lexicon::foreign_words;
use crate::scene::Scene;
use crate::seed::Draws;
use crate::world::{World, WorldSpec};

/// The prompt format of a model with an interface for tools.
#[must_use]
pub fn prompt_format() -> ChatFormat {
    let mut prompt_format = ChatFormat::default();
    prompt_format.native_tools = true;
    prompt_format
}

/// The prompt of a turn and the tools that are called by the model's own interface.
pub(crate) fn prompt(view: &TurnView<'_>) -> Option<(Prompt, Vec<ToolDefinition>)> {
    match prompt_format().turn(view).ok()? {
        TurnMove::Generate { prompt, tools, .. } => Some((prompt, tools)),
        _ => None,
    }
}

/// An attempt as one document with all its turns: each stands there as later prompts show it, which is as it was written.
pub(crate) fn document(attempt: &Attempt, draws: &mut Draws) -> Option<Document> {
    let tools = definitions(&attempt.world, &attempt.manner);
    let last = attempt.steps.last()?;
    let seen = Observation::new(last.result.text.clone(), last.result.source.clone());
    let seen = seen.with_tools(tools);
    let mut view = TurnView::new(&attempt.task, &attempt.injection, &seen);
    view.steps = &attempt.steps;
    let (mut prompt, mut tools) = prompt(&view)?;
    broken::prompt(&mut prompt, &mut tools, draws);
    let compact = draws.chance(0.1);
    Some(chatml::conversation(
        &prompt,
        &tools,
        &attempt.learned,
        compact,
    ))
}

/// The kinds of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No skill in the prompt: find out the contract from refusals that name it.
    Alone,
    /// The right skill: follow it.
    Right,
    /// One or two skills about other tools: act as without a skill.
    Irrelevant,
    /// The right skill and one about another tool.
    Both,
    /// A stale skill, whose contract has changed since: follow it, then do what the refusal says.
    Stale,
    /// No skill, and refusals that do not name what is missing.
    Opaque,
}

/// Draws an attempt of a kind; `None` where the draws gave none.
pub(crate) fn attempt(kind: Kind, spec: &WorldSpec, draws: &mut Draws) -> Option<Attempt> {
    let scene = match kind {
        Kind::Alone => Scene::alone(spec, draws)?,
        Kind::Right => Scene::right(spec, draws)?,
        Kind::Irrelevant => Scene::irrelevant(spec, draws)?,
        Kind::Both => Scene::both(spec, draws)?,
        Kind::Stale => Scene::stale(spec, draws)?,
        Kind::Opaque => {
            let (scene, manner) = opaque::scene(spec, draws)?;
            return Some(Attempt::of(&scene, manner, &prompt_format(), draws));
        }
    };
    // Who follows a right skill is not refused, whatever refusals look like.
    let is_told =
        matches!(kind, Kind::Right | Kind::Both) && opaque::can_be_found_out(&scene.world);
    let manner = match is_told && draws.chance(0.2) {
        true => Manner::opaque(draws),
        false => Manner::named(draws),
    };
    Some(Attempt::of(&scene, manner, &prompt_format(), draws))
}

/// The last turn of an attempt of a kind: its prompt and tools, and the document that the training text has for it up to the
/// model's own turn. `None` where the draws gave none.
#[must_use]
pub fn turn(
    kind: Kind,
    spec: &WorldSpec,
    draws: &mut Draws,
) -> Option<(Prompt, Vec<ToolDefinition>, Document)> {
    let attempt = attempt(kind, spec, draws)?;
    let (last, before) = attempt.steps.split_last()?;
    let mut view = TurnView::new(&attempt.task, &attempt.injection, &last.observation);
    view.steps = before;
    let (prompt, tools) = prompt(&view)?;
    let mut document = chatml::conversation(&prompt, &tools, &[], false);
    document.control(chatml::OPEN, false);
    Some((prompt, tools, document))
}

/// A task that no visible tool does: the agent says so.
pub(crate) fn unfit(spec: &WorldSpec, draws: &mut Draws) -> Option<Document> {
    let mut world = World::make(spec, draws);
    if draws.chance(0.7) {
        world = world.without_target();
    } else {
        let count = draws.between(2, 7);
        world.query = foreign_words(count, draws);
    }
    let manner = Manner::named(draws);
    let attempt = Attempt::acted(
        &world,
        manner,
        (Vec::new(), None),
        None,
        (&[], &[]),
        &prompt_format(),
    );
    let tools = definitions(&world, &attempt.manner);
    let seen = Observation::new(world.query.clone(), Source::trusted(SOURCE)).with_tools(tools);
    let view = TurnView::new(&attempt.task, &attempt.injection, &seen);
    let (mut prompt, mut tools) = prompt(&view)?;
    broken::prompt(&mut prompt, &mut tools, draws);
    let said = Message::data(Speaker::Assistant, NO_TOOL);
    prompt.messages.push(said);
    Some(chatml::conversation(&prompt, &tools, &[true], false))
}

/// What the agent says where no tool does the task.
pub const NO_TOOL: &str = "No tool here does this.";
