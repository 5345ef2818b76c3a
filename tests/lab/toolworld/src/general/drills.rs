//! Copying: names, values and calls that the model repeats.

use journeyman::contract::{PromptFormat, TurnView};
use journeyman::domain::{Message, NativeCall, Prompt, Speaker};

use super::acting::{self, Kind, prompt_format};
use super::broken;
use super::chatml;
use super::document::Document;
use super::manner::Manner;
use super::recipe::{Recipe, arguments};
use super::skills::skill;
use super::styles::Style;
use super::thoughts::in_words;
use super::tools::definitions;
use crate::lexicon::value_for;
use crate::rivals::rivals;
use crate::seed::Draws;
use crate::tool::{Service, Setting, Tool, wire_name};
use crate::world::{World, WorldSpec};

/// A drill: calls that are said in words, or names and parameters that are recited.
pub(crate) fn drill(spec: &WorldSpec, draws: &mut Draws) -> Document {
    let world = World::make(spec, draws);
    let manner = Manner::named(draws);
    let mut tools = definitions(&world, &manner);
    let mut order: Vec<&Service> = world.services.iter().collect();
    draws.shuffle(&mut order);
    let (asked, answer) = match draws.weighted(&[40, 30, 30]) {
        0 => calls(&order, draws),
        1 => recited(&order, draws),
        _ => looked_up(&order, draws),
    };
    let mut prompt = Prompt::new(vec![Message::data(Speaker::User, asked)]);
    broken::prompt(&mut prompt, &mut tools, draws);
    prompt.messages.push(answer);
    chatml::conversation(&prompt, &tools, &[true], draws.chance(0.1))
}

/// `Call unseal_coffee with power 65, tone off.`, or the same in the words of tasks.
fn calls(order: &[&Service], draws: &mut Draws) -> (String, Message) {
    let count = draws.between(1, 3);
    let mut asked = Vec::new();
    let mut made = Vec::new();
    for (number, service) in order.iter().take(count).enumerate() {
        let settings = settings(&service.tool, draws);
        let name = &service.tool.name;
        asked.push(match draws.chance(0.5) {
            true => format!("Call {}.", in_words(name, &settings)),
            false => {
                let values = settings
                    .iter()
                    .map(|setting| format!("{} {}", setting.parameter, setting.value));
                let values: Vec<String> = values.collect();
                let with = if values.is_empty() { "" } else { " with " };
                format!(
                    "{} the {}{with}{}.",
                    name.verb,
                    name.noun,
                    values.join(" and ")
                )
            }
        });
        let call = journeyman::domain::ToolCall::new(wire_name(name), arguments(&settings).into());
        made.push(NativeCall::new(format!("call{number:05}"), call));
    }
    (asked.join(" "), Message::calling("", made))
}

fn settings(tool: &Tool, draws: &mut Draws) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for parameter in &tool.parameters {
        if draws.chance(0.8) {
            settings.push(Setting {
                parameter: parameter.clone(),
                value: value_for(parameter, draws),
            });
        }
    }
    settings.sort_by(|one, other| one.parameter.cmp(&other.parameter));
    settings
}

/// Names in an order that the user gives.
fn recited(order: &[&Service], draws: &mut Draws) -> (String, Message) {
    let names: Vec<String> = order
        .iter()
        .map(|service| wire_name(&service.tool.name))
        .collect();
    let spoken: Vec<String> = order
        .iter()
        .map(|service| format!("{} {}", service.tool.name.verb, service.tool.name.noun))
        .collect();
    let asked = match draws.chance(0.5) {
        true => format!("Repeat: {}", names.join(", ")),
        false => format!("Name the tools: {}", spoken.join(", ")),
    };
    (asked, Message::data(Speaker::Assistant, names.join(", ")))
}

/// The parameters of tools, as their definitions have them.
fn looked_up(order: &[&Service], draws: &mut Draws) -> (String, Message) {
    let count = draws.between(1, 3);
    let mut asked = Vec::new();
    let mut told = Vec::new();
    for service in order.iter().take(count) {
        let Tool { name, parameters } = &service.tool;
        asked.push(format!("{} the {}", name.verb, name.noun));
        let mut parameters = parameters.clone();
        parameters.sort();
        let list = match parameters.is_empty() {
            true => "nothing".to_owned(),
            false => parameters.join(", "),
        };
        told.push(format!("{} takes {list}.", wire_name(name)));
    }
    (
        format!("What do these take: {}?", asked.join(", ")),
        Message::data(Speaker::Assistant, told.join(" ")),
    )
}

/// The first words of an attempt alone: which skill it follows, and the plan. Without definitions of tools and later turns such a
/// document has a third of an attempt's tokens (medians 109 and 307). A model that was trained without them planned a wrong call
/// in 9 of 19 attempts that failed with the right skill.
pub(crate) fn planned(spec: &WorldSpec, draws: &mut Draws) -> Option<Document> {
    const KINDS: [Kind; 3] = [Kind::Right, Kind::Both, Kind::Irrelevant];
    let kind = KINDS.get(draws.weighted(&[35, 35, 30])).copied()?;
    let attempt = acting::attempt(kind, spec, draws)?;
    let is_learned = attempt.learned.first() == Some(&true);
    let is_easy = kind != Kind::Irrelevant && !attempt.world.is_hidden();
    if !is_learned || (is_easy && draws.chance(0.7)) {
        return None;
    }
    let first = attempt.steps.first()?;
    let (words, _) = first.transcript.rsplit_once('\n')?;
    let seen = first.observation.clone().with_tools(Vec::new());
    let view = TurnView::new(&attempt.task, &attempt.injection, &seen);
    let (mut prompt, mut tools) = acting::prompt(&view)?;
    broken::prompt(&mut prompt, &mut tools, draws);
    prompt
        .messages
        .push(Message::data(Speaker::Assistant, words));
    Some(chatml::conversation(&prompt, &tools, &[true], false))
}

/// A task and the skill that fits it, or a skill alone: the basis of the gate's log-probabilities.
pub(crate) fn gate(spec: &WorldSpec, draws: &mut Draws) -> Option<Document> {
    let world = World::make(spec, draws);
    let recipe = Recipe::of(world.target()?, &world.given_names());
    let skill = skill(&recipe, Style::draw(&recipe.tool, draws), draws);
    let query = match draws.chance(0.5) {
        true => "",
        false => world.query.as_str(),
    };
    let prompt_format = prompt_format();
    let prompt = prompt_format.score_prompt(query);
    let mut document = chatml::conversation(&prompt, &[], &[], false);
    document.control(chatml::OPEN, false);
    for span in &prompt.open {
        document.data(span.text(), false);
    }
    document.data(prompt_format.skill_text(&skill), true);
    document.control(chatml::END, false);
    Some(document)
}

/// Whether a skill fits a task, as the gate asks a model.
pub(crate) fn fits(spec: &WorldSpec, draws: &mut Draws) -> Option<Document> {
    let world = World::make(spec, draws);
    let fits = draws.chance(0.5);
    let recipe = match fits {
        true => Recipe::of(world.target()?, &world.given_names()),
        false => {
            let number = draws.below(4);
            let text = rivals(spec, &world, number + 1, draws).pop()?;
            Recipe::of_steps(&text)?
        }
    };
    let prompt_format = prompt_format();
    let skill = prompt_format.skill_text(&skill(&recipe, Style::draw(&recipe.tool, draws), draws));
    let question = prompt_format.fit_question(&world.query, &skill).ok()?;
    let mut prompt = question.prompt;
    broken::role(&mut prompt, draws);
    let answer = if fits {
        question.fits
    } else {
        question.does_not
    };
    prompt
        .messages
        .push(Message::data(Speaker::Assistant, answer));
    Some(chatml::conversation(&prompt, &[], &[true], false))
}
