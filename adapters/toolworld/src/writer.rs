//! The role that writes a skill from a successful attempt, as the bundled model knows it.

use journeyman::contract::{GenerateRequest, SkillWriter, Trace, WriteRequest};
use journeyman::domain::{Action, Injection, Sampling, SkillDraft, Step, Task, Trajectory};
use journeyman::{Error, ErrorKind, Result};
use serde_json::Value;

use crate::dialect::{head, tools_of, transcript};
use crate::roles::Role;
use crate::script::{Script, choice};
use crate::skill_form::to_draft;
use crate::tool::{DEFAULT_SLOT, RESULT_SLOT, SkillText, TASK_SLOT, Tool, ToolName};

/// The most tokens of an answer.
const ANSWER_TOKENS: usize = 96;

/// Shows the best attempt, opens the role, and reads the step list that comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprenticeWriter;

impl SkillWriter for ApprenticeWriter {
    fn prompt(&self, request: &WriteRequest<'_>) -> GenerateRequest {
        let trace = request.traces.first().map(|trace| trace.trajectory);
        let mut generate = role_request(Role::Extract, None, request.task, &Injection::NONE, trace);
        if request.failed.is_some() {
            generate.sampling = Sampling {
                temperature: 0.7,
                top_p: 0.95,
                seed: request.seed,
            };
        }
        generate
    }

    fn read(&self, request: &WriteRequest<'_>, text: &str) -> Result<SkillDraft> {
        let refuse = |message: &str| {
            Err(Error::new(ErrorKind::Model, "SkillWriter::read", message)
                .with("text", format!("{:?}", clip(text))))
        };
        let Some(skill) = SkillText::parse(text) else {
            return refuse(
                "the answer is not `verb noun: step; step` with a last step that calls that tool",
            );
        };
        let tools: Vec<Tool> = request.traces.iter().flat_map(tools).collect();
        for step in &skill.steps {
            let name = ToolName::parse(step);
            let Some(tool) = tools.iter().find(|tool| Some(&tool.name) == name.as_ref()) else {
                return refuse("a step calls a tool that the attempt did not have");
            };
            let mut parameters = step.split_whitespace().skip(2).step_by(2);
            if !parameters.all(|parameter| tool.parameters.iter().any(|known| known == parameter)) {
                return refuse("a step sets a parameter that its tool does not have");
            }
        }
        Ok(to_draft(&skill))
    }

    fn fallback(&self, request: &WriteRequest<'_>) -> SkillDraft {
        let skill = request
            .traces
            .first()
            .and_then(|trace| abstracted(&request.task.instruction, trace));
        let words =
            ToolName::parse(&request.task.instruction).unwrap_or(ToolName::new("do", "task"));
        to_draft(&skill.unwrap_or_else(|| SkillText {
            steps: vec![words.to_string()],
            title: words,
        }))
    }
}

/// What a role is asked about an attempt that was made: extract, lesson, repair, credit, segment or curate. Compare,
/// score, tag and rule are about something else, and shown it in another form ([`Role::case`]).
///
/// `asked` is the place of the skill in question, for the roles that are asked about one; `injection` is what they are
/// shown of the skills that the attempt had.
#[must_use]
pub fn role_request(
    role: Role,
    asked: Option<usize>,
    task: &Task,
    injection: &Injection,
    attempt: Option<&Trajectory>,
) -> GenerateRequest {
    let mut script = Script::task(&task.instruction);
    if let Some(trajectory) = attempt {
        script = head(&task.instruction, injection, &tools_shown(trajectory)).plan();
        script = transcript(script, &trajectory.steps);
    }
    script = script.control(role.opening(), false);
    if asked.is_some() {
        script = script.control(choice(asked), false);
    }
    let mut generate = GenerateRequest::greedy(script.prompt(), ANSWER_TOKENS);
    generate.stop = ["<end>", "<s>", "<call>", "<obs>"]
        .map(str::to_owned)
        .to_vec();
    generate
}

fn tools(trace: &Trace<'_>) -> Vec<Tool> {
    tools_shown(trace.trajectory)
}

fn tools_shown(trajectory: &Trajectory) -> Vec<Tool> {
    let first = trajectory.steps.first();
    first
        .and_then(|step| tools_of(&step.observation).ok())
        .unwrap_or_default()
}

fn clip(text: &str) -> String {
    text.chars().take(200).collect()
}

/// The accepted calls, with values of the task and of results turned into slots.
fn abstracted(instruction: &str, trace: &Trace<'_>) -> Option<SkillText> {
    let tools = tools(trace);
    let told: Vec<&str> = instruction.split_whitespace().collect();
    let accepted: Vec<&Step> = trace
        .trajectory
        .steps
        .iter()
        .filter(|step| !step.result.is_error)
        .collect();
    let mut results: Vec<&str> = Vec::new();
    let mut steps = Vec::new();
    for step in accepted {
        let Action::Call(calls) = &step.action else {
            continue;
        };
        for call in calls {
            let name = ToolName::parse(&call.tool.replacen('_', " ", 1))?;
            let tool = tools.iter().find(|tool| tool.name == name)?;
            let values: Vec<(String, String)> = call
                .arguments
                .iter()
                .map(|(parameter, value)| (parameter.clone(), slot(value, &told, &results)))
                .collect();
            steps.push(tool.call(|parameter| {
                values
                    .iter()
                    .find(|(name, _)| name == parameter)
                    .map(|(_, value)| value.as_str())
            }));
        }
        results.extend(step.result.text.split_whitespace());
    }
    let title = ToolName::parse(steps.last()?)?;
    Some(SkillText { title, steps })
}

fn slot(value: &Value, told: &[&str], results: &[&str]) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let text = text
        .split_whitespace()
        .next()
        .unwrap_or(DEFAULT_SLOT)
        .to_owned();
    match text.as_str() {
        known if told.contains(&known) => TASK_SLOT.to_owned(),
        known if results.contains(&known) => RESULT_SLOT.to_owned(),
        _ => text,
    }
}
