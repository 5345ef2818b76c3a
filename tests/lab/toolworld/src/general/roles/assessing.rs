//! Cases of the roles that cut attempts into subgoals and judge those: segment, distil-prototype, route, score.

use journeyman::contract::{RoleTask, SegmentPrompt, SubgoalInAttempt};
use journeyman::domain::{Prototype, Rubric, Segmentation, Subgoal, SubgoalScore, Trace, Trap};
use journeyman::{Result, domain::PrototypeId};

use super::answer::Answer;
use super::stage::{Drawn, Stage};
use crate::cut::{self, kind_of_step};
use crate::policy::Exchange;
use crate::scene::Scene;
use crate::seed::Draws;
use crate::tool::{ToolName, wire_name};

/// A kind of subgoal: its name in [`kind_of_step`], the skill that it takes, and the rubric that judges it.
struct Kind {
    name: &'static str,
    skill: &'static str,
    context: &'static str,
    objective: &'static str,
    pattern: &'static str,
    check: &'static str,
    trap: (&'static str, u8),
}

/// The skill of a subgoal whose calls do not help: whatever they are, it reaches nothing.
pub const NOT_HELPING: &str = "making calls that do not help";

const KINDS: [Kind; 5] = [
    Kind {
        name: "probe",
        skill: "finding out what a tool needs",
        context: "A tool is called and nobody knows what it needs.",
        objective: "A refusal names what the tool needs.",
        pattern: "Call the tool with what the task gives and read the refusal.",
        check: "The tool of the task was called.",
        trap: ("A call is made of a tool that is not needed.", 2),
    },
    Kind {
        name: "prepare",
        skill: "making a call that must come first",
        context: "A tool needs another call first.",
        objective: "The call that must come first is made.",
        pattern: "Make the call that the refusal or the skill names.",
        check: "The call that must come first was made and went through.",
        trap: ("A call is made of a tool that is not needed.", 2),
    },
    Kind {
        name: "collect",
        skill: "getting a value from a result",
        context: "A tool needs a value that another one returns.",
        objective: "The value is there.",
        pattern: "Call the tool that returns the value and read its result.",
        check: "A result gave the value.",
        trap: ("A call is made of a tool that is not needed.", 2),
    },
    Kind {
        name: "stray",
        skill: NOT_HELPING,
        context: "The agent does not know how to go on.",
        objective: "Nothing is reached.",
        pattern: "Calls are made that the task does not need.",
        check: "The calls bring the task on.",
        trap: ("A call is made of a tool that is not needed.", 2),
    },
    Kind {
        name: "finish",
        skill: "calling the tool of the task",
        context: "All that the tool of the task needs is there.",
        objective: "The task is done.",
        pattern: "Call the tool with the values of the task and all that it needs.",
        check: "The call of the tool went through.",
        trap: ("A call is made of a tool that is not needed.", 2),
    },
];

fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// A run of steps of one kind, its first and last step from 0.
struct Span {
    kind: &'static Kind,
    first: usize,
    last: usize,
}

fn spans(scene: &Scene) -> Option<Vec<Span>> {
    let contract = &scene.world.target()?.contract;
    let mut spans: Vec<Span> = Vec::new();
    for (number, exchange) in scene.exchanges.iter().enumerate() {
        let kind = kind(kind_of_step(contract, exchange))?;
        match spans.last_mut() {
            Some(span) if span.kind.name == kind.name => span.last = number,
            _ => spans.push(Span {
                kind,
                first: number,
                last: number,
            }),
        }
    }
    Some(spans)
}

/// What a span accomplishes: `making a call that must come first: unseal_bell`.
fn words(scene: &Scene, span: &Span) -> String {
    let call = scene
        .exchanges
        .get(span.last)
        .and_then(|exchange| ToolName::parse(&exchange.call));
    in_words(span.kind, call.as_ref())
}

fn in_words(kind: &Kind, tool: Option<&ToolName>) -> String {
    let tool = tool.map(wire_name).unwrap_or_default();
    format!("{}: {tool}", kind.skill)
}

/// The cut of a recorded attempt that its world gives, in the words that the role segment is trained to write. What was recorded is
/// replayed in the world, so the agent's words have no part in it.
///
/// # Errors
/// `Invalid` for an attempt without steps, one whose task is no task of toolworld, and one that its world answers otherwise than
/// was recorded.
pub fn true_cut(attempt: &Trace) -> Result<Segmentation> {
    let subgoals = cut::parts(attempt)?.into_iter().filter_map(|part| {
        let kind = kind(part.kind)?;
        Some(Subgoal::new(
            in_words(kind, part.tool.as_ref()),
            kind.skill.to_owned(),
            part.first,
            part.last,
        ))
    });
    Segmentation::new(subgoals.collect(), attempt.trajectory.steps.len())
}

fn as_subgoal(scene: &Scene, span: &Span) -> Subgoal {
    Subgoal::new(
        words(scene, span),
        span.kind.skill.to_owned(),
        span.first,
        span.last,
    )
}

fn a_scene(stage: Stage<'_>, draws: &mut Draws) -> Option<Scene> {
    match draws.weighted(&[45, 20, 20, 15]) {
        0 => Scene::alone(stage.spec, draws),
        1 => Scene::right(stage.spec, draws),
        2 => Scene::irrelevant(stage.spec, draws),
        _ => Scene::failed(stage.spec, draws),
    }
}

pub(super) fn segment(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let scene = a_scene(stage, draws)?;
    if scene.exchanges.len() == 1 && draws.chance(0.8) {
        return None;
    }
    let subgoals: Vec<Answer> = spans(&scene)?
        .iter()
        .map(|span| {
            Answer::object([
                ("subgoal", words(&scene, span).into()),
                ("skill", span.kind.skill.into()),
                ("first", span.first.into()),
                ("last", span.last.into()),
            ])
        })
        .collect();
    let prompts = [
        SegmentPrompt::Main,
        SegmentPrompt::Intent,
        SegmentPrompt::FailureAware,
        SegmentPrompt::Coverage,
        SegmentPrompt::Narrative,
        SegmentPrompt::Reasoning,
    ];
    let task = RoleTask::Segment {
        attempt: Box::new(stage.attempt(&scene, draws).trace()),
        prompt: prompts
            .get(draws.weighted(&[60, 10, 10, 10, 5, 5]))
            .copied()?,
    };
    Some((task, Answer::object([("subgoals", subgoals.into())])))
}

fn rubric(kind: &Kind) -> Rubric {
    let traps = SubgoalScore::new(kind.trap.1)
        .ok()
        .map(|score| Trap::new(kind.trap.0.to_owned(), score));
    let mut rubric = Rubric::new(kind.skill);
    rubric.use_context = kind.context.to_owned();
    rubric.objectives = vec![kind.objective.to_owned()];
    rubric.pattern = kind.pattern.to_owned();
    rubric.checklist = vec![kind.check.to_owned()];
    rubric.traps = traps.into_iter().collect();
    rubric
}

/// The rubric that the role score is trained with for subgoals of this skill; `None` where it is trained with none.
pub fn taught_rubric(skill: &str) -> Option<Rubric> {
    let kind = KINDS.iter().find(|kind| kind.skill == skill);
    kind.map(rubric)
}

pub(super) fn distil_prototype(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let wanted = draws.pick(&KINDS)?;
    let mut members = Vec::new();
    for _ in 0..draws.between(1, 3) {
        let scene = a_scene(stage, draws)?;
        let spans = spans(&scene)?;
        let span = spans.iter().find(|span| span.kind.name == wanted.name)?;
        members.push(SubgoalInAttempt::new(
            stage.attempt(&scene, draws).trace(),
            as_subgoal(&scene, span),
        ));
    }
    let trap = Answer::object([
        ("trap", wanted.trap.0.into()),
        ("score", usize::from(wanted.trap.1).into()),
    ]);
    let answer = Answer::object([
        ("title", wanted.skill.into()),
        ("use_context", wanted.context.into()),
        ("objectives", vec![wanted.objective].into()),
        ("pattern", wanted.pattern.into()),
        ("checklist", vec![wanted.check].into()),
        ("traps", vec![trap].into()),
    ]);
    Some((RoleTask::DistilPrototype { members }, answer))
}

fn prototype(kind: &Kind) -> Prototype {
    let mut prototype = Prototype::new(PrototypeId::new(kind.name), rubric(kind));
    prototype.dense = true;
    prototype
}

/// A span of a scene as a subgoal; sometimes without words, as a step that is judged alone has none.
fn a_subgoal(stage: Stage<'_>, draws: &mut Draws) -> Option<(Scene, Span, Box<SubgoalInAttempt>)> {
    let scene = a_scene(stage, draws)?;
    let mut spans = spans(&scene)?;
    let span = spans.swap_remove(draws.below(spans.len()));
    let subgoal = SubgoalInAttempt::new(
        stage.attempt(&scene, draws).trace(),
        as_subgoal(&scene, &span),
    );
    Some((scene, span, Box::new(subgoal)))
}

pub(super) fn route(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let (_, span, subgoal) = a_subgoal(stage, draws)?;
    let mut shown: Vec<&Kind> = KINDS.iter().collect();
    draws.shuffle(&mut shown);
    shown.truncate(draws.between(2, 4));
    let at = shown.iter().position(|kind| kind.name == span.kind.name);
    let reason = match at {
        Some(_) => format!("This is {}.", span.kind.skill),
        None => format!("This is {}, which is not among them.", span.kind.skill),
    };
    let number = match at {
        Some(at) => (at + 1).into(),
        None => Answer::Value(serde_json::Value::Null),
    };
    let answer = Answer::object([
        ("reason", reason.into()),
        ("prototype", number),
        ("confidence", Answer::Value(0.9.into())),
    ]);
    let task = RoleTask::Route {
        subgoal,
        prototypes: shown.into_iter().map(prototype).collect(),
    };
    Some((task, answer))
}

pub(super) fn score(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let scene = a_scene(stage, draws)?;
    let (claimed, first, last) = match draws.chance(0.5) {
        true => {
            let last = draws.below(scene.exchanges.len());
            (kind("finish")?, last.saturating_sub(draws.below(3)), last)
        }
        // A part of the world's cut, mostly as what it is.
        false => {
            let spans = spans(&scene)?;
            let span = draws.pick(&spans)?;
            let claimed = match draws.chance(0.7) {
                true => span.kind,
                false => draws.pick(&KINDS)?,
            };
            (claimed, span.first, span.last)
        }
    };
    let target = &scene.world.goal.target;
    let tool = match claimed.name {
        "finish" => target.clone(),
        _ => ToolName::parse(&scene.exchanges.get(last)?.call)?,
    };
    let steps = scene.exchanges.get(first..=last)?;
    let contract = &scene.world.target()?.contract;
    let calls = |step: &&Exchange| ToolName::parse(&step.call).as_ref() == Some(&tool);
    let strays = steps
        .iter()
        .any(|step| kind_of_step(contract, step) == "stray" && !calls(&step));
    let reached = claimed.skill != NOT_HELPING
        && (steps.iter().filter(calls)).any(|step| kind_of_step(contract, step) == claimed.name);
    let is_called = steps.iter().any(|step| calls(&step));
    let bound = draws.chance(0.6);
    let name = wire_name(&tool);
    let (reason, score) = match (is_called, reached, strays && bound) {
        (false, ..) => (format!("{name} was not called."), 0),
        (true, false, _) => (format!("{name} was called, and did not do it."), 1),
        (true, true, true) => (
            format!("{name} did it, after a call that was not needed."),
            2,
        ),
        (true, true, false) => (format!("{name} did it."), 3),
    };
    let task = RoleTask::Score {
        subgoal: Box::new(SubgoalInAttempt::new(
            stage.attempt(&scene, draws).trace(),
            Subgoal::new(
                in_words(claimed, Some(&tool)),
                claimed.skill.to_owned(),
                first,
                last,
            ),
        )),
        rubric: bound.then(|| Box::new(rubric(claimed))),
        repeat: 0,
    };
    let answer = Answer::object([("reason", reason.into()), ("score", Answer::from(score))]);
    Some((task, answer))
}
