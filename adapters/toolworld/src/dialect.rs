//! How the bundled model is spoken to: the [`Dialect`] of the worlds' compact language.

use journeyman::contract::{Dialect, TurnMove, TurnView};
use journeyman::domain::{
    Action, Injection, Message, Observation, Prompt, Skill, Span, Speaker, Step, ToolCall,
};
use journeyman::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::environment::{undefine, wire_name};
use crate::lexicon::{ParameterKind, kind_of};
use crate::script::{Part, Script, choice};
use crate::simulate::parse;
use crate::skill_form;
use crate::tool::{DEFAULT_SLOT, Setting, Tool, ToolName};

/// Who writes what in a turn. Figures say which mode they used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// The model writes everything.
    Model,
    /// The model names its tool, and the executor appends that tool's usage line, as a harness with schemas does.
    #[default]
    Row,
    /// As `Row`, and the skill counts as used exactly when its title is the named tool.
    Host,
}

/// The most tokens of a tool's name, and of a whole line.
const NAME_TOKENS: usize = 6;
const LINE_TOKENS: usize = 48;

/// The controls that the model itself writes in a turn.
const OWN: [&str; 4] = ["<use>", "<skip>", "<call>", "<obs>"];

/// The dialect of the bundled model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprenticeDialect {
    /// Who writes what.
    pub mode: Mode,
}

impl ApprenticeDialect {
    /// The dialect in the given mode.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode }
    }

    /// The first move of an attempt: name a tool, then decide on the skill and call.
    fn open(&self, view: &TurnView<'_>) -> Result<TurnMove> {
        let tools = tools_of(view.observation)?;
        let head = head(&view.task.instruction, view.injection, &tools).plan();
        if self.mode == Mode::Model {
            return Ok(match view.replies {
                [] => generate(&head, &["<obs>", "<extract>", "<end>"], LINE_TOKENS),
                [reply, ..] => self.act(String::new(), &reply.text),
            });
        }
        let Some(named) = view.replies.first() else {
            return Ok(generate(
                &head,
                &["<use>", "<skip>", "<call>", "<obs>", "<end>"],
                NAME_TOKENS,
            ));
        };
        // A name that no visible tool has stands as the model wrote it, and the environment will refuse the call.
        let name = ToolName::parse(&named.text);
        let row = name
            .as_ref()
            .and_then(|name| tools.iter().find(|tool| tool.name == *name));
        let row = row.map_or_else(|| named.text.trim().to_owned(), Tool::usage);
        let mut script = head.text(&row, false);
        let mut begun = format!(" {row}");
        if self.mode == Mode::Host {
            let titled =
                |text: &str| text.trim().split(':').next().and_then(ToolName::parse) == name;
            let decision = choice(
                view.injection
                    .skills
                    .iter()
                    .any(|skill| titled(&skill.text)),
            );
            script = script.control(decision, false);
            begun.push_str(decision);
        }
        Ok(match view.replies.get(1) {
            None => generate(&script, &["<obs>", "<extract>", "<end>"], LINE_TOKENS),
            Some(reply) => self.act(begun, &reply.text),
        })
    }

    /// A later move: another call.
    fn go_on(&self, view: &TurnView<'_>) -> Result<TurnMove> {
        let tools = tools_of(view.observation)?;
        let script = transcript(
            head(&view.task.instruction, view.injection, &tools).plan(),
            view.steps,
        );
        Ok(match view.replies.first() {
            None => generate(
                &script.control("<call>", false),
                &["<call>", "<obs>", "<extract>", "<end>"],
                LINE_TOKENS,
            ),
            Some(reply) => {
                let uses = view
                    .steps
                    .iter()
                    .any(|step| step.transcript.contains("<use>"));
                let said = format!("<call>{}", reply.text);
                read_call(&reply.text, format!("{said}<obs>"), uses)
            }
        })
    }

    fn act(&self, begun: String, written: &str) -> TurnMove {
        let said = format!("{begun}{written}<obs>");
        let uses = said.contains("<use>");
        match said.split_once("<call>") {
            Some((_, line)) => {
                let line = line.trim_end_matches("<obs>").to_owned();
                read_call(&line, said, uses)
            }
            None => TurnMove::Unreadable {
                reason: "the model wrote no call".to_owned(),
                transcript: said,
            },
        }
    }
}

impl Dialect for ApprenticeDialect {
    fn turn(&self, view: &TurnView<'_>) -> Result<TurnMove> {
        if view.steps.is_empty() {
            self.open(view)
        } else {
            self.go_on(view)
        }
    }

    fn skill_text(&self, skill: &Skill) -> String {
        format!(" {}", skill_form::of_skill(skill))
    }

    fn score_prompt(&self, query: &str) -> Prompt {
        prompt(&Script::task(query).control("<skill>", false))
    }
}

/// The task, the skills and the tools.
pub(crate) fn head(query: &str, injection: &Injection, tools: &[Tool]) -> Script {
    let mut script = Script::task(query);
    for skill in &injection.skills {
        script = script.skill(skill.text.trim(), false);
    }
    script.tools(tools)
}

/// The tools of an observation.
pub(crate) fn tools_of(observation: &Observation) -> Result<Vec<Tool>> {
    let read = |definition| {
        undefine(definition).ok_or_else(|| {
            Error::invalid("Dialect::turn", "a tool's name is not of the form verb_noun")
                .with("tool", &definition.name)
                .hint("the bundled model speaks toolworld's language alone; use another model for other tools")
        })
    };
    observation.tools.iter().map(read).collect()
}

/// Adds what was said and answered in earlier steps.
pub(crate) fn transcript(mut script: Script, steps: &[Step]) -> Script {
    for step in steps {
        for part in controls_apart(&step.transcript) {
            script = match part {
                Part::Control(control) => script.control(control, false),
                Part::Text(text) => script.text(text.trim(), false),
            };
        }
        script = script.reply(&step.result.text);
    }
    script
}

/// The model's own words with the controls that it may write told apart from text.
fn controls_apart(said: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = said;
    while !rest.is_empty() {
        let next = OWN
            .iter()
            .filter_map(|control| Some((rest.find(control)?, *control)))
            .min();
        let (text, after) = match next {
            Some((at, control)) => {
                let (text, tail) = rest.split_at(at);
                (text, Some((control, &tail[control.len()..])))
            }
            None => (rest, None),
        };
        if !text.trim().is_empty() {
            parts.push(Part::Text(text.to_owned()));
        }
        let Some((control, tail)) = after else { break };
        parts.push(Part::Control(control));
        rest = tail;
    }
    parts
}

/// A script as a prompt: controls as the author's markers, all else as data.
pub(crate) fn prompt(script: &Script) -> Prompt {
    let span = |(part, _): &(Part, bool)| match part {
        Part::Control(control) => Span::Control((*control).to_owned()),
        Part::Text(text) => Span::Data(text.clone()),
    };
    let content = script.parts().iter().map(span).collect();
    Prompt {
        messages: vec![Message {
            speaker: Speaker::User,
            content,
        }],
        open: Vec::new(),
    }
}

fn generate(script: &Script, stop: &[&str], max_tokens: usize) -> TurnMove {
    TurnMove::Generate {
        prompt: prompt(script),
        stop: stop.iter().map(|text| (*text).to_owned()).collect(),
        max_tokens,
    }
}

fn read_call(line: &str, transcript: String, uses_skills: bool) -> TurnMove {
    match parse(line) {
        Ok((name, settings)) if !OWN.iter().any(|control| line.contains(control)) => {
            let set = settings
                .into_iter()
                .filter(|setting| setting.value != DEFAULT_SLOT);
            let argument = |setting: Setting| {
                let value = value_of(&setting.parameter, &setting.value);
                (setting.parameter, value)
            };
            let arguments: Map<String, Value> = set.map(argument).collect();
            let call = ToolCall {
                tool: wire_name(&name),
                arguments,
            };
            TurnMove::Act {
                action: Action::Call(vec![call]),
                transcript,
                uses_skills,
            }
        }
        _ => TurnMove::Unreadable {
            reason: format!(
                "the call {:?} is not a verb, a noun and pairs of parameter and value",
                line.trim()
            ),
            transcript,
        },
    }
}

fn value_of(parameter: &str, value: &str) -> Value {
    match (kind_of(parameter), value.parse::<u64>()) {
        (ParameterKind::Number, Ok(number)) => Value::from(number),
        _ => Value::from(value),
    }
}
