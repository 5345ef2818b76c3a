//! The bundled model's prompt format and output parser: the [`Dialect`] of the worlds' compact language.

use journeyman::contract::{Dialect, ScoringPair, TurnMove, TurnView};
use journeyman::domain::{Action, Injection, Observation, Prompt, Skill, SkillUse, Step, ToolCall};
use journeyman::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::environment::{command, undefine};
use crate::lexicon::{ParameterKind, kind_of};
use crate::script::{Part, ROW_END, Script, choice, uses};
use crate::simulate::parse;
use crate::skill_form;
use crate::tool::{DEFAULT_SLOT, Setting, Tool, ToolName, wire_name};

/// Which parts of a turn the model writes and which the host. Reported figures name the mode that they used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// The model writes everything.
    Model,
    /// The model names a tool, and the executor appends that tool's usage line, as a harness with schemas does.
    #[default]
    Row,
    /// As `Row`; in addition the host decides that a skill is used exactly when its title is the named tool.
    Host,
}

/// The control tokens that a model needs for acting and for the SDK's roles ([`crate::writer::ApprenticeRoles`]).
pub const TOKENS: [&str; 22] = [
    "<s>",
    "<task>",
    "<skill>",
    "<skill2>",
    "<tools>",
    "<plan>",
    "<use>",
    "<use2>",
    "<none>",
    "<call>",
    "<obs>",
    "<note>",
    "<extract>",
    "<lesson>",
    "<compare>",
    "<repair>",
    "<credit>",
    "<segment>",
    "<score>",
    "<rule>",
    "<curate>",
    "<tag>",
];

/// Maximum tokens of a tool's name, and of a whole line.
const NAME_TOKENS: usize = 6;
const LINE_TOKENS: usize = 48;

/// The control tokens that the model itself writes in a turn.
const OWN: [&str; 6] = ["<use>", "<use2>", "<skip>", "<none>", "<call>", "<obs>"];

/// The reason of a turn without a tool; recorded with the attempt.
const NO_TOOL: &str = "the model sees no tool that does this task";

/// The dialect of the bundled model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprenticeDialect {
    /// Which parts of a turn the model writes.
    pub mode: Mode,
}

impl ApprenticeDialect {
    /// The dialect in the given mode.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode }
    }

    /// The first move of an attempt: name a tool, then decide on the skill, then call. Replayed calls stand after the
    /// decision and before the model's own call.
    fn open(&self, view: &TurnView<'_>) -> Result<TurnMove> {
        let tools = tools_of(view.observation)?;
        let head = head(&view.task.instruction, view.injection, &tools).plan();
        let mut stop = vec!["<obs>", "<extract>", "<end>"];
        if !view.steps.is_empty() {
            stop.push("<call>");
        }
        let (begun, script, replies) = match self.mode {
            Mode::Model => (String::new(), head.clone(), view.replies),
            Mode::Row | Mode::Host => {
                let Some((named, replies)) = view.replies.split_first() else {
                    return Ok(generate(
                        &head,
                        &[
                            ROW_END, "<use>", "<use2>", "<skip>", "<none>", "<call>", "<obs>",
                            "<end>",
                        ],
                        NAME_TOKENS,
                    ));
                };
                if named.text.trim().is_empty() {
                    return Ok(TurnMove::Unreadable {
                        reason: format!("{NO_TOOL}, or names none"),
                        transcript: String::new(),
                    });
                }
                let (begun, script) = self.named(view, &tools, head.clone(), &named.text);
                (begun, script, replies)
            }
        };
        let skills = view.injection.skills.len();
        Ok(match replies {
            [] => generate(&script, &stop, LINE_TOKENS),
            [reply, ..] if view.steps.is_empty() => act(begun, &reply.text, skills),
            [opening, replies @ ..] => {
                let opening = format!("{begun}{}", opening.text);
                match replies {
                    _ if opening.contains("<none>") => act(opening, "", skills),
                    [] => generate(
                        &replayed(said(head, &opening), view.steps).control("<call>", false),
                        &["<call>", "<obs>", "<extract>", "<end>"],
                        LINE_TOKENS,
                    ),
                    [call, ..] => act(opening, &format!("<call>{}", call.text), skills),
                }
            }
        })
    }

    /// The text after `<plan>` once a tool is named: its usage line and, in mode `Host`, the decision on the skill.
    fn named(
        &self,
        view: &TurnView<'_>,
        tools: &[Tool],
        head: Script,
        named: &str,
    ) -> (String, Script) {
        // A name that no visible tool has is kept as written; the environment will refuse the call.
        let name = ToolName::parse(named);
        let row = name
            .as_ref()
            .and_then(|name| tools.iter().find(|tool| tool.name == *name));
        let row = row.map_or_else(|| named.trim().to_owned(), Tool::usage);
        let mut script = head.row(&row, false);
        let mut begun = format!(" {row}{ROW_END}");
        if self.mode == Mode::Host {
            let titled =
                |text: &str| text.trim().split(':').next().and_then(ToolName::parse) == name;
            let mut skills = view.injection.skills.iter().take(2);
            let decision = choice(skills.position(|skill| titled(&skill.text)));
            script = script.control(decision, false);
            begun.push_str(decision);
        }
        (begun, script)
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
                let said = format!("<call>{}", reply.text);
                // The skill that the model follows was stated at the first move, about the skills of that prompt.
                read_call(&reply.text, format!("{said}<obs>"), Vec::new())
            }
        })
    }
}

fn act(begun: String, written: &str, skills: usize) -> TurnMove {
    let said = format!("{begun}{written}<obs>");
    let used = uses(&said, skills);
    match said.split_once("<call>") {
        Some((_, line)) => {
            let line = line.trim_end_matches("<obs>").to_owned();
            read_call(&line, said, used)
        }
        None => TurnMove::Unreadable {
            reason: if said.contains("<none>") {
                NO_TOOL.to_owned()
            } else {
                "the model wrote no call".to_owned()
            },
            transcript: said,
        },
    }
}

impl Dialect for ApprenticeDialect {
    fn turn(&self, view: &TurnView<'_>) -> Result<TurnMove> {
        if view.steps.iter().all(is_replayed) {
            self.open(view)
        } else {
            self.go_on(view)
        }
    }

    /// Only the call: the opening follows from the injection, and control tokens cannot be plain text.
    fn scoring_pair(&self, view: &TurnView<'_>, step: &Step) -> Result<Option<ScoringPair>> {
        let Some((_, call)) = step.transcript.rsplit_once("<call>") else {
            return Ok(None);
        };
        let line = call.trim_end_matches("<obs>").to_owned();
        let tools = tools_of(view.observation)?;
        let head = head(&view.task.instruction, view.injection, &tools).plan();
        let mut steps = view.steps.to_vec();
        let mut own = steps.iter_mut().filter(|step| !is_replayed(step));
        let script = match own.next() {
            Some(first) => {
                first.transcript = reopened(&first.transcript, view.injection);
                transcript(head, &steps)
            }
            None => {
                let opening = reopened(&step.transcript, view.injection);
                let (opening, _) = opening.split_once("<call>").unwrap_or_default();
                replayed(said(head, opening), &steps)
            }
        };
        Ok(Some(ScoringPair {
            prompt: script.control("<call>", false).prompt(),
            continuation: line,
        }))
    }

    fn skill_text(&self, skill: &Skill) -> String {
        format!(" {}", skill_form::of_skill(skill))
    }

    fn score_prompt(&self, query: &str) -> Prompt {
        Script::task(query).control("<skill>", false).prompt()
    }
}

/// The start of a prompt: task, skills and tools.
pub(crate) fn head(query: &str, injection: &Injection, tools: &[Tool]) -> Script {
    let skills = injection.skills.iter();
    Script::task(query)
        .skills(skills.map(|skill| (skill.text.trim(), false)))
        .tools(tools)
}

/// The tools of an observation.
pub(crate) fn tools_of(observation: &Observation) -> Result<Vec<Tool>> {
    let read = |definition| {
        undefine(definition).ok_or_else(|| {
            Error::invalid("Dialect::turn", "a tool's name is not of the form verb_noun")
                .with("tool", &definition.name)
                .hint("the bundled model knows only toolworld's language; use another model for other tools")
        })
    };
    observation.tools.iter().map(read).collect()
}

/// Whether a step was replayed: it has no words of the model.
fn is_replayed(step: &Step) -> bool {
    step.transcript.is_empty()
}

/// Adds the words and answers of earlier steps; replayed steps stand after the model's opening.
pub(crate) fn transcript(mut script: Script, steps: &[Step]) -> Script {
    let own = steps.iter().position(|step| !is_replayed(step));
    let (before, own) = steps.split_at(own.unwrap_or(steps.len()));
    let mut opening = None;
    if let Some(first) = own.first().filter(|_| !before.is_empty()) {
        opening = first.transcript.find("<call>");
        let words = first.transcript.get(..opening.unwrap_or_default());
        script = said(script, words.unwrap_or_default());
    }
    script = replayed(script, before);
    for (number, step) in own.iter().enumerate() {
        let from = opening.filter(|_| number == 0).unwrap_or_default();
        script = said(script, step.transcript.get(from..).unwrap_or_default());
        script = script.reply(&step.result.text);
    }
    script
}

/// The words of a first turn, with the decision of an agent that follows the first skill, or has none.
fn reopened(words: &str, injection: &Injection) -> String {
    with_choice(words, (!injection.skills.is_empty()).then_some(0))
}

/// The words of a first turn, with the decision of an agent that follows this skill.
pub(crate) fn with_choice(words: &str, used: Option<usize>) -> String {
    let Some((opening, call)) = words.split_once("<call>") else {
        return words.to_owned();
    };
    let choices = ["<use>", "<use2>", "<skip>"].into_iter();
    let row = choices.fold(opening.to_owned(), |row, choice| row.replace(choice, ""));
    format!("{row}{}<call>{call}", choice(used))
}

/// Adds replayed calls and their answers.
fn replayed(script: Script, steps: &[Step]) -> Script {
    let add = |mut script: Script, step: &Step| {
        if let Action::Call(calls) = &step.action {
            let lines: Vec<String> = calls.iter().map(command).collect();
            script = script.call(&lines.join(" "), false);
        }
        script.reply(&step.result.text)
    };
    steps.iter().fold(script, add)
}

/// Adds the model's own words.
fn said(script: Script, words: &str) -> Script {
    let add = |script: Script, part| match part {
        Part::Control(control) => script.control(control, false),
        Part::Text(text) => script.text(text.trim_matches(' '), false),
    };
    controls_apart(words).into_iter().fold(script, add)
}

/// Splits the model's words into text and the control tokens that it may write.
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

fn generate(script: &Script, stop: &[&str], max_tokens: usize) -> TurnMove {
    TurnMove::Generate {
        prompt: script.prompt(),
        tools: Vec::new(),
        stop: stop.iter().map(|text| (*text).to_owned()).collect(),
        max_tokens,
        json_schema: None,
    }
}

fn read_call(line: &str, transcript: String, used: Vec<SkillUse>) -> TurnMove {
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
            let tool = wire_name(&name);
            let call = ToolCall { tool, arguments };
            TurnMove::Act {
                action: Action::Call(vec![call]),
                transcript,
                used,
                notes: Vec::new(),
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
