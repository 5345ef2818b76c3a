//! What a refiner may give a skill beside its text.

use std::collections::BTreeSet;

use crate::{
    domain::{Action, Scope, Skill, Trace},
    id::Category,
};

/// The tools and categories that a refiner may give a skill: those that the skill has, and those of the attempts that the refiner
/// is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refinable<'a> {
    pub(crate) tools: BTreeSet<&'a str>,
    pub(crate) categories: BTreeSet<&'a Category>,
}

impl<'a> Refinable<'a> {
    pub(crate) fn of(skill: &'a Skill, attempts: &'a [Trace]) -> Self {
        let known = skill.allowed_tools.iter().map(String::as_str);
        let scope = match &skill.scope {
            Scope::Category(category) => Some(category),
            Scope::General => None,
        };
        let categories = attempts.iter().filter_map(|one| one.task.category.as_ref());
        Self {
            tools: known.chain(attempts.iter().flat_map(called)).collect(),
            categories: scope.into_iter().chain(categories).collect(),
        }
    }

    /// Whether the skill may have this scope.
    pub(crate) fn has_scope(&self, scope: &Scope) -> bool {
        match scope {
            Scope::General => true,
            Scope::Category(category) => self.categories.contains(category),
        }
    }
}

/// The tools that an attempt called. A call that was refused counts only where the environment offered the tool: an agent may call
/// what does not exist.
fn called(attempt: &Trace) -> BTreeSet<&str> {
    let steps = &attempt.trajectory.steps;
    let offered = steps.iter().flat_map(|step| &step.observation.tools);
    let offered: BTreeSet<&str> = offered.map(|tool| tool.name.as_str()).collect();
    let calls = steps.iter().flat_map(|step| match &step.action {
        Action::Call(calls) => calls
            .iter()
            .map(|call| (step, call.tool.as_str()))
            .collect(),
        _ => Vec::new(),
    });
    let real = calls.filter(|(step, tool)| !step.result.is_error || offered.contains(tool));
    real.map(|(_, tool)| tool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{ToolCall, ToolDefinition},
        testing::sample,
    };

    #[test]
    fn tools_are_those_of_the_skill_and_those_that_attempts_really_called() {
        let task = sample::task("t", &["a"]).with_category("kitchen");
        let mut attempt = sample::trace("t/0", &task, &["a", "b", "c", "d"], true);
        let steps = &mut attempt.trajectory.steps;
        for (step, (tool, is_refused)) in
            steps
                .iter_mut()
                .zip([("kettle", false), ("offered", true), ("invented", true)])
        {
            step.action = Action::Call(vec![ToolCall {
                tool: tool.to_owned(),
                arguments: serde_json::Map::new(),
            }]);
            step.result.is_error = is_refused;
        }
        steps[0].observation.tools = ["offered", "uncalled"]
            .map(|name| ToolDefinition {
                name: name.to_owned(),
                description: String::new(),
                input_schema: serde_json::json!({}),
            })
            .to_vec();
        let mut skill = sample::skill("saying");
        skill.allowed_tools = vec!["own".to_owned()];
        skill.scope = Scope::Category("garden".into());
        let attempts = [attempt];
        let refinable = Refinable::of(&skill, &attempts);
        let tools: Vec<&str> = refinable.tools.iter().copied().collect();
        assert_eq!(tools, ["kettle", "offered", "own"]);
        for (scope, expect) in [
            (Scope::General, true),
            (Scope::Category("garden".into()), true),
            (Scope::Category("kitchen".into()), true),
            (Scope::Category("cellar".into()), false),
        ] {
            assert_eq!(refinable.has_scope(&scope), expect, "{scope:?}");
        }
    }
}
