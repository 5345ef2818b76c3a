//! Attempts of rule-based policies as a host's agent would have made them: steps with calls in JSON, and a line of words
//! before each call.

use std::collections::BTreeMap;

use journeyman::Seed;
use journeyman::contract::PromptFormat;
use journeyman::domain::{
    Action, EndReason, InjectedSkill, Injection, Observation, Outcome as WorldOutcome, Skill,
    Source, Step, StepResult, Task, Trace, Trajectory, Usage, Verdict,
};

use super::manner::Manner;
use super::recipe::{Recipe, to_call};
use super::skills::skill;
use super::styles::Style;
use super::thoughts::{Thinker, cited};
use super::tools::definitions;
use crate::environment::SOURCE;
use crate::policy::Exchange;
use crate::scene::Scene;
use crate::seed::Draws;
use crate::simulate::Outcome;
use crate::tool::{ANY_NOUN, Demand, ToolName};
use crate::world::World;

/// An attempt at a task, as it stands in prompts.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) world: World,
    pub(crate) manner: Manner,
    /// The skills in the prompt.
    pub(crate) skills: Vec<Skill>,
    pub(crate) task: Task,
    pub(crate) injection: Injection,
    pub(crate) steps: Vec<Step>,
    /// For each step whether a model learns to write it.
    pub(crate) learned: Vec<bool>,
    pub(crate) done: bool,
}

impl Attempt {
    /// A scene in a manner, its skills in these styles.
    pub(crate) fn of(
        scene: &Scene,
        manner: Manner,
        prompt_format: &dyn PromptFormat,
        draws: &mut Draws,
    ) -> Self {
        let given = scene.world.given_names();
        let mut recipes: Vec<Recipe> = Vec::new();
        let mut skills: Vec<Skill> = Vec::new();
        let mut manner = manner;
        for advice in &scene.advice {
            let demands = advice.service.contract.iter();
            manner
                .allowed
                .extend(demands.filter_map(|demand| match demand {
                    Demand::Exact(setting) => Some(setting.clone()),
                    _ => None,
                }));
            let recipe = Recipe::of_advice(advice, &given);
            let mut made = skill(&recipe, Style::draw(&recipe.tool, draws), draws);
            if advice.broad {
                broaden(&mut made, &recipe.tool);
            }
            if skills.iter().any(|known| known.name == made.name) {
                rename(&mut made, skills.len());
            }
            recipes.push(recipe);
            skills.push(made);
        }
        let plan = scene.used.and_then(|used| recipes.get(used));
        Self::acted(
            &scene.world,
            manner,
            (skills, scene.used),
            plan,
            (&scene.exchanges, &scene.learned),
            prompt_format,
        )
    }

    /// An attempt in which these exchanges were made with these skills in the prompt.
    pub(crate) fn acted(
        world: &World,
        manner: Manner,
        (skills, used): (Vec<Skill>, Option<usize>),
        plan: Option<&Recipe>,
        (exchanges, learned): (&[Exchange], &[bool]),
        prompt_format: &dyn PromptFormat,
    ) -> Self {
        let injected = skills
            .iter()
            .map(|skill| InjectedSkill::new(skill, prompt_format.skill_text(skill)));
        let injection = Injection::new(injected.collect());
        let tools = definitions(world, &manner);
        let mut seen = Observation::new(world.query.clone(), Source::trusted(SOURCE))
            .with_tools(tools.clone());
        let citation = (!skills.is_empty()).then(|| cited(used.and_then(|at| skills.get(at))));
        let mut thinker = Thinker::new(world, plan);
        let mut steps: Vec<Step> = Vec::new();
        for exchange in exchanges {
            let call = to_call(&exchange.call);
            let text = manner.answer(&call.tool, &exchange.reply.outcome);
            let thought = thinker.next(exchange, manner.is_opaque());
            let words = match &citation {
                Some(citation) => format!("{citation}\n{thought}"),
                None => thought,
            };
            let action = Action::Call(vec![call]);
            let mut result = StepResult::new(text.clone(), Source::trusted(SOURCE));
            result.is_error = matches!(exchange.reply.outcome, Outcome::Refused(_));
            let next = Observation::new(text, Source::trusted(SOURCE)).with_tools(tools.clone());
            let transcript = format!("{words}\n{}", action.to_json());
            let mut step = Step::new(action, result);
            step.index = steps.len() as u32;
            step.observation = std::mem::replace(&mut seen, next);
            step.transcript = transcript;
            steps.push(step);
        }
        let last = exchanges.last();
        Self {
            done: last.is_some_and(|exchange| exchange.reply.outcome == Outcome::Done),
            task: Task::new("task", world.query.clone()),
            world: world.clone(),
            manner,
            skills,
            injection,
            steps,
            learned: learned.to_vec(),
        }
    }

    /// The attempt as roles are shown it; its verdict is the world's.
    pub(crate) fn trace(&self) -> Trace {
        let mut trajectory = Trajectory::new("attempt".into(), self.task.id.clone(), Seed(0));
        trajectory.steps = self.steps.clone();
        trajectory.injection = self.injection.clone();
        trajectory.outcome = Some(WorldOutcome::from(self.done));
        trajectory.end = match self.done {
            true => EndReason::Finished,
            false => EndReason::StepBudget,
        };
        trajectory.usage = Usage::default();
        let verdict = Some(Verdict::binary(self.done));
        Trace::new(self.task.clone(), trajectory, verdict, Seed(0))
    }
}

/// Makes a skill claim all tools of its verb.
fn broaden(skill: &mut Skill, tool: &ToolName) {
    let (verb, noun) = (&tool.verb, &tool.noun);
    let name = format!("{verb}-{ANY_NOUN}");
    skill.name = journeyman::domain::SkillName::slug(&name).unwrap_or_default();
    skill.original_name = None;
    skill.metadata = BTreeMap::new();
    skill.description =
        format!("How to {verb} anything. Use when a task asks to {verb} something.");
    skill.trigger = Some(format!("A task asks to {verb} something."));
    skill.body = skill
        .body
        .replace(&format!("# How to {verb} the {noun}\n\n"), "");
}

/// Gives a skill another name where one of the prompt has its.
fn rename(skill: &mut Skill, number: usize) {
    let name = format!("{}-{}", skill.name, number + 1);
    skill.name = journeyman::domain::SkillName::slug(&name).unwrap_or_default();
    skill.original_name = None;
    skill.metadata = BTreeMap::new();
}
