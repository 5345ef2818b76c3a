//! The SDK's values as values of the protocol, and back.

use journeyman::{
    Error, ErrorKind, SkillId, Version,
    domain::{
        self, Injection, SkillRef, SkillUse, Source, Step as TakenStep, ToolCall, ToolDefinition,
        Trust, Usage,
    },
    text::Redactor,
};

use crate::protocol::{
    Action, Call, ChildMessage, Failure, FailureKind, Observation, ObservationKind, Outcome, Skill,
    Step, Task, Tool, Transition, Usage as WireUsage,
};

/// Characters of a child's text in an error.
const QUOTED: usize = 2_000;

/// What a `used` says of which skill; `None` for another message.
pub(crate) fn to_use(message: ChildMessage) -> Option<(SkillRef, SkillUse)> {
    let ChildMessage::Used {
        execution: _,
        skill,
        version,
        followed,
    } = message
    else {
        return None;
    };
    let skill = SkillRef {
        id: SkillId::new(skill),
        version: Version(version),
    };
    let used = match followed {
        true => SkillUse::Followed,
        false => SkillUse::NotFollowed,
    };
    Some((skill, used))
}

pub(crate) fn task(task: &domain::Task) -> Task {
    Task {
        id: task.id.as_str().to_owned(),
        instruction: task.instruction.clone(),
        category: task
            .category
            .as_ref()
            .map(|category| category.as_str().to_owned()),
        tags: task.tags.clone(),
        payload: task.payload.clone(),
    }
}

/// # Errors
/// `Unsupported` for an action that this version of the protocol does not have.
pub(crate) fn action(action: &domain::Action) -> Result<Action, Error> {
    Ok(match action {
        domain::Action::Call(calls) => Action::Call(
            calls
                .iter()
                .map(|call| Call {
                    tool: call.tool.clone(),
                    arguments: call.arguments.clone(),
                })
                .collect(),
        ),
        domain::Action::Message(text) => Action::Message(text.clone()),
        domain::Action::EndTurn => Action::EndTurn,
        _ => {
            return Err(Error::unsupported(
                "Episode::step",
                "the protocol has no message for this action",
            )
            .hint("call tools, send a message or end the turn"));
        }
    })
}

pub(crate) fn to_action(action: Action) -> domain::Action {
    match action {
        Action::Call(calls) => domain::Action::Call(
            calls
                .into_iter()
                .map(|call| ToolCall::new(call.tool, call.arguments.into()))
                .collect(),
        ),
        Action::Message(text) => domain::Action::Message(text),
        Action::EndTurn => domain::Action::EndTurn,
    }
}

pub(crate) fn observation(observation: &domain::Observation) -> Observation {
    let tools = observation.tools.iter().map(|tool| Tool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
    });
    Observation {
        text: observation.text.clone(),
        tools: Some(tools.collect()),
        untrusted: observation.source.trust != Trust::Trusted,
        kind: kind(observation.kind),
    }
}

fn kind(kind: domain::ObservationKind) -> ObservationKind {
    match kind {
        domain::ObservationKind::User => ObservationKind::User,
        domain::ObservationKind::Event => ObservationKind::Event,
        _ => ObservationKind::Result,
    }
}

/// An observation of the child, which names no tools where they stay those of `before`.
pub(crate) fn to_observation(
    observation: Observation,
    source: &Source,
    before: &[ToolDefinition],
) -> domain::Observation {
    let tools = match observation.tools {
        None => before.to_vec(),
        Some(tools) => tools
            .into_iter()
            .map(|tool| ToolDefinition::new(tool.name, tool.description, tool.input_schema))
            .collect(),
    };
    let source = match observation.untrusted {
        true => Source::untrusted(source.name.clone()),
        false => source.clone(),
    };
    let seen = domain::Observation::new(observation.text, source).with_tools(tools);
    match observation.kind {
        ObservationKind::Result => seen,
        ObservationKind::User => seen.by_user(),
        ObservationKind::Event => seen.of_event(),
    }
}

pub(crate) fn transition(transition: &domain::Transition) -> Transition {
    Transition {
        observation: observation(&transition.observation),
        is_error: transition.is_error,
        outcome: transition.outcome.as_ref().map(|outcome| Outcome {
            success: outcome.success,
            score: Some(outcome.score),
            parts: outcome.parts.clone(),
        }),
    }
}

/// # Errors
/// The rule that the numbers break.
pub(crate) fn to_outcome(outcome: Outcome) -> Result<domain::Outcome, String> {
    let score = outcome
        .score
        .unwrap_or(if outcome.success { 1.0 } else { 0.0 });
    if !(0.0..=1.0).contains(&score) {
        return Err(format!("the outcome's score {score} is outside [0, 1]"));
    }
    if let Some((name, _)) = outcome.parts.iter().find(|(_, part)| !part.is_finite()) {
        return Err(format!("the outcome's part `{name}` is no finite number"));
    }
    let mut made = domain::Outcome::scored(outcome.success, score);
    made.parts = outcome.parts;
    Ok(made)
}

pub(crate) fn skills(injection: &Injection) -> Vec<Skill> {
    let skills = injection.skills.iter().map(|injected| Skill {
        id: injected.skill.id.as_str().to_owned(),
        version: injected.skill.version.0,
        text: injected.text.clone(),
    });
    skills.collect()
}

/// # Errors
/// As [`action`].
pub(crate) fn step(step: &TakenStep) -> Result<Step, Error> {
    Ok(Step {
        action: action(&step.action)?,
        text: step.result.text.clone(),
        is_error: step.result.is_error,
        kind: kind(step.result.kind),
    })
}

pub(crate) fn to_usage(usage: WireUsage) -> Usage {
    Usage::new(usage.prompt_tokens, usage.output_tokens)
}

pub(crate) fn failure(error: &Error) -> Failure {
    let kind = match error.kind() {
        ErrorKind::Invalid => FailureKind::Invalid,
        ErrorKind::NotFound => FailureKind::NotFound,
        ErrorKind::Unsupported => FailureKind::Unsupported,
        ErrorKind::RateLimited => FailureKind::RateLimited,
        ErrorKind::Timeout => FailureKind::Timeout,
        ErrorKind::Model => FailureKind::Model,
        ErrorKind::Cancelled => FailureKind::Cancelled,
        _ => FailureKind::Unavailable,
    };
    Failure {
        kind,
        message: error.message().to_owned(),
        hint: error.hint_text().map(str::to_owned),
        temporary: error.retry() == journeyman::Retry::Temporary,
    }
}

/// A text of the child's own for an error. It is redacted before it is cut: a part of a secret has no known form.
pub(crate) fn quoted(text: &str, redactor: &Redactor) -> String {
    redactor.redact(text).chars().take(QUOTED).collect()
}

/// A failure that the child reports.
pub(crate) fn to_error(
    failure: Failure,
    operation: &'static str,
    name: &str,
    redactor: &Redactor,
) -> Error {
    let kind = match failure.kind {
        FailureKind::Invalid => ErrorKind::Invalid,
        FailureKind::NotFound => ErrorKind::NotFound,
        FailureKind::Unsupported => ErrorKind::Unsupported,
        FailureKind::RateLimited => ErrorKind::RateLimited,
        FailureKind::Timeout => ErrorKind::Timeout,
        FailureKind::Model => ErrorKind::Model,
        FailureKind::Cancelled => ErrorKind::Cancelled,
        FailureKind::Unavailable => ErrorKind::Unavailable,
    };
    let error =
        Error::new(kind, operation, quoted(&failure.message, redactor)).with("process", name);
    let error = match failure.hint {
        Some(hint) => error.hint(quoted(&hint, redactor)),
        None => error.hint("the process itself reports this; its standard error may have more"),
    };
    match failure.temporary {
        true => error.temporary(),
        false => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_was_followed_unless_the_process_says_otherwise() {
        let read = |rest: &str| {
            let line =
                format!(r#"{{"type":"used","execution":2,"skill":"brew","version":3{rest}}}"#);
            let message: ChildMessage = serde_json::from_str(&line).unwrap();
            let (skill, used) = to_use(message).unwrap();
            assert_eq!((skill.id.as_str(), skill.version), ("brew", Version(3)));
            used
        };
        assert_eq!(read(""), SkillUse::Followed);
        assert_eq!(read(r#","followed":true"#), SkillUse::Followed);
        assert_eq!(read(r#","followed":false"#), SkillUse::NotFollowed);
        assert_eq!(to_use(ChildMessage::Closed { id: 1 }), None);
    }

    #[test]
    fn outcomes_in_range_are_taken_and_others_refused() {
        let outcome = |success, score, part: f64| Outcome {
            success,
            score,
            parts: [("p".to_owned(), part)].into(),
        };
        let score = |outcome| to_outcome(outcome).map(|outcome| outcome.score);
        assert_eq!(score(outcome(true, None, 2.0)), Ok(1.0));
        assert_eq!(score(outcome(false, None, 0.0)), Ok(0.0));
        assert_eq!(score(outcome(false, Some(0.5), 0.0)), Ok(0.5));
        assert!(score(outcome(true, Some(1.5), 0.0)).is_err());
        assert!(score(outcome(true, Some(f64::NAN), 0.0)).is_err());
        assert!(score(outcome(true, None, f64::INFINITY)).is_err());
    }

    #[test]
    fn a_childs_failure_is_redacted_and_then_cut() {
        let secret = "ghp_".to_owned() + &"Zk3uQ9xW".repeat(5);
        let long = |start: usize| Failure {
            kind: FailureKind::NotFound,
            message: "m".repeat(start) + " " + &secret + " " + &"n".repeat(5_000),
            hint: Some("h".repeat(start) + " " + &secret + " " + &"i".repeat(5_000)),
            temporary: true,
        };
        // The second one has its secret across the cut.
        for start in [10, QUOTED - 20] {
            let error = to_error(long(start), "Episode::step", "desk", &Redactor::default());
            for text in [error.message(), error.hint_text().unwrap_or_default()] {
                assert!(
                    text.contains(" [redacted: acc") && !text.contains("ghp_"),
                    "{text}"
                );
                assert_eq!(text.chars().count(), QUOTED);
            }
            assert_eq!(error.kind(), ErrorKind::NotFound);
        }
        let plain = Failure {
            message: "no drawer".to_owned(),
            hint: None,
            ..long(1)
        };
        let error = to_error(plain, "Episode::step", "desk", &Redactor::default());
        assert_eq!(error.message(), "no drawer");
    }
}
