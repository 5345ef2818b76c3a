//! A skill writer of two lines.

use std::collections::BTreeMap;

use crate::{
    contract::{GenerateRequest, SkillWriter, WriteRequest},
    domain::{Action, Kind, Message, Prompt, Scope, SkillDraft, Speaker},
    error::{Error, ErrorKind, Result},
};

/// A [`SkillWriter`] that reads `title: description` on the first line and the body on the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptedWriter;

fn draft(title: &str, description: &str, body: &str) -> SkillDraft {
    SkillDraft {
        title: title.to_owned(),
        description: description.chars().take(1_024).collect(),
        kind: Kind::Workflow,
        scope: Scope::General,
        trigger: None,
        body: body.to_owned(),
        metadata: BTreeMap::new(),
    }
}

impl SkillWriter for ScriptedWriter {
    fn prompt(&self, request: &WriteRequest<'_>) -> GenerateRequest {
        let mut text = format!("Write a skill for: {}\n", request.task.instruction);
        if let Some((failed, reason)) = request.failed {
            text.push_str(&format!("Not like this ({reason}): {failed}\n"));
        }
        let prompt = Prompt {
            messages: vec![Message::data(Speaker::User, text)],
            open: Vec::new(),
        };
        let mut ask = GenerateRequest::greedy(prompt, 256);
        ask.sampling.seed = request.seed;
        ask
    }

    fn read(&self, _request: &WriteRequest<'_>, text: &str) -> Result<SkillDraft> {
        let refuse = |why: &str| Err(Error::new(ErrorKind::Model, "SkillWriter::read", why));
        let Some((head, body)) = text.split_once('\n') else {
            return refuse("there is no body");
        };
        let Some((title, description)) = head.split_once(": ") else {
            return refuse("the first line is not `title: description`");
        };
        if title.trim().is_empty() || description.trim().is_empty() || body.trim().is_empty() {
            return refuse("title, description or body is empty");
        }
        Ok(draft(title.trim(), description.trim(), body))
    }

    fn fallback(&self, request: &WriteRequest<'_>) -> SkillDraft {
        let steps = request.traces.first().map(|trace| &trace.trajectory.steps);
        let mut body = String::from("Do as it was done before:\n");
        for step in steps.into_iter().flatten() {
            let line = match &step.action {
                Action::Message(text) => format!("- say {text}\n"),
                Action::Call(calls) => calls
                    .iter()
                    .map(|c| format!("- call {}\n", c.tool))
                    .collect(),
                Action::EndTurn => "- end the turn\n".to_owned(),
            };
            body.push_str(&line);
        }
        let description = format!("For tasks such as: {}", request.task.instruction);
        draft("from-a-trace", &description, &body)
    }
}
