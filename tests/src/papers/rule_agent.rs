//! An agent without a model: it follows a skill about its task's tool by rule, and corrects what a refusal names.

use journeyman::{
    Result, async_trait,
    contract::{Attempt, Episode, Executor},
    domain::{Action, EndReason, InjectedSkill, SkillUse, Step, StepResult, Trajectory},
};
use journeyman_toolworld::{
    environment::Setup,
    general::skills,
    policy::Policy,
    simulate::{Outcome, Reply, Simulation, parse},
    tool::{DEFAULT_SLOT, Setting, SkillText, wire_name},
    world::World,
};
use serde_json::Value;

/// Reads a task's world for the tool that the task is about and for what a refusal means, where a model reads texts. It knows no
/// contract before it is refused.
#[derive(Clone, Copy, Debug)]
pub struct RuleAgent;

#[async_trait]
impl Executor for RuleAgent {
    async fn execute(&self, attempt: Attempt<'_>, episode: &mut dyn Episode) -> Result<Trajectory> {
        let world = Setup::of(attempt.task)?.world;
        let mut trajectory = attempt.trajectory();
        let skills = attempt.injection.skills.iter();
        let mut skills = skills.filter_map(|skill| Some((skill, about(&world, skill)?)));
        let (followed, policy) = match skills.next() {
            Some((injected, text)) => (Some(injected), Policy::follower(&world, &text)),
            None => (None, Policy::novice(&world)),
        };
        for exposure in &mut trajectory.exposures {
            exposure.used = match followed.is_some_and(|one| one.skill == exposure.skill) {
                true => SkillUse::Followed,
                false => SkillUse::NotFollowed,
            };
        }
        let Some(mut policy) = policy else {
            trajectory.end = EndReason::GaveUp;
            return Ok(trajectory);
        };
        // Refuses as the world does; what results give is read from the world's own answers.
        let mut shadow = Simulation::start(world, attempt.seed.0);
        let mut prefix = attempt.prefix.iter().cloned();
        loop {
            let line = policy.next_call();
            let action = prefix.next().unwrap_or_else(|| call(&line));
            let seen = episode.observation().clone();
            let transition = match episode.step(&action).await {
                Ok(transition) => transition,
                Err(error) => {
                    trajectory.end = EndReason::Failed(error);
                    return Ok(trajectory);
                }
            };
            let now = &transition.observation;
            let refused = shadow.call(&line).outcome;
            policy.hear(&heard(&now.text, transition.is_error, refused));
            let result = StepResult::from(&transition);
            trajectory.push(Step::new(action, result).seeing(seen));
            if transition.outcome.is_some() {
                (trajectory.outcome, trajectory.end) = (transition.outcome, EndReason::Finished);
                return Ok(trajectory);
            }
        }
    }
}

/// The steps of a skill, if it is about the tool of the world's task.
fn about(world: &World, injected: &InjectedSkill) -> Option<SkillText> {
    let shown: Value = serde_json::from_str(&injected.text).ok()?;
    let text = skills::read(shown["instructions"].as_str()?)?.step_list();
    (text.title == world.goal.target).then_some(text)
}

/// What an answer says: a value behind its name, where it gives one; a refusal as the shadow understands it.
fn heard(text: &str, is_error: bool, shadow: Outcome) -> Reply {
    let outcome = match (is_error, shadow) {
        (false, Outcome::Accepted(Some(setting))) => {
            let words = text.split(|letter: char| !letter.is_alphanumeric());
            // One style says "The ticket is 42."
            let words = words.filter(|word| !word.is_empty() && *word != "is");
            let mut from_name = words.skip_while(|word| *word != setting.parameter);
            let value = from_name.nth(1).map(str::to_owned);
            Outcome::Accepted(value.map(|value| Setting { value, ..setting }))
        }
        (false, _) => Outcome::Accepted(None),
        (true, shadow) => shadow,
    };
    Reply {
        text: text.to_owned(),
        outcome,
    }
}

/// A command line as a call.
fn call(line: &str) -> Action {
    let Ok((name, settings)) = parse(line) else {
        return Action::EndTurn;
    };
    let settings = settings.into_iter();
    let given = settings.filter(|setting| setting.value != DEFAULT_SLOT);
    let arguments: Value = given
        .map(|setting| (setting.parameter, Value::from(setting.value)))
        .collect();
    Action::call(wire_name(&name), arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_heard_in_every_style_of_results() {
        let value = |value: &str| Setting {
            parameter: "ticket".to_owned(),
            value: value.to_owned(),
        };
        // The shadow's own value is another one.
        let shadow = || Outcome::Accepted(Some(value("7")));
        for text in [
            "ok ticket 42",
            "The ticket is 42.",
            r#"{"status": "ok", "ticket": 42}"#,
            r#"{"result":{"ticket":42}}"#,
        ] {
            let heard = heard(text, false, shadow()).outcome;
            assert_eq!(heard, Outcome::Accepted(Some(value("42"))), "{text}");
        }
        assert_eq!(heard("refused", true, Outcome::Done).outcome, Outcome::Done);
    }
}
