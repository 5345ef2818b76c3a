//! A prompt format of plain lines, for tests.

use crate::{
    contract::{FitQuestion, PromptFormat, TurnMove, TurnView},
    domain::{Action, Message, Prompt, Skill, SkillUse, Span, Speaker},
    error::Result,
};

/// The mark of an answer that follows the injected skills.
const USING: &str = "[skill] ";
/// The mark of an answer that follows none of them.
const NOT_USING: &str = "[no skill] ";

/// A [`PromptFormat`] of plain lines: an answer is a message, `done` ends the turn, and an empty or blank answer is unreadable.
/// `[skill] ` at the beginning of an answer says that it follows the injected skills, `[no skill] ` that it follows none; without
/// either mark their use is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptedFormat;

impl PromptFormat for ScriptedFormat {
    fn turn(&self, view: &TurnView<'_>) -> Result<TurnMove> {
        let Some(reply) = view.replies.first() else {
            let mut messages: Vec<Message> = (view.injection.skills.iter())
                .map(|skill| Message::data(Speaker::System, skill.text.clone()))
                .collect();
            for step in view.steps {
                messages.push(Message::data(Speaker::User, &step.observation.text));
                messages.push(Message::data(Speaker::Assistant, &step.transcript));
            }
            messages.push(Message::data(Speaker::User, &view.observation.text));
            return Ok(TurnMove::Generate {
                prompt: Prompt {
                    messages,
                    open: vec![Span::Control("agent: ".to_owned())],
                },
                tools: Vec::new(),
                stop: vec!["\n".to_owned()],
                max_tokens: 32,
                json_schema: None,
            });
        };
        let transcript = reply.text.clone();
        let marks = [
            (USING, SkillUse::Followed),
            (NOT_USING, SkillUse::NotFollowed),
            ("", SkillUse::Unknown),
        ];
        let marked = marks.into_iter().find_map(|(mark, used)| {
            let words = transcript.strip_prefix(mark)?;
            Some((words.trim(), used))
        });
        let (words, used) = marked.unwrap_or((transcript.trim(), SkillUse::Unknown));
        let used = vec![used; view.injection.skills.len()];
        let action = match words {
            "" => {
                return Ok(TurnMove::Unreadable {
                    reason: "the model wrote nothing".to_owned(),
                    transcript,
                });
            }
            "done" => Action::EndTurn,
            words => Action::Message(words.to_owned()),
        };
        Ok(TurnMove::Act {
            action,
            transcript,
            used,
            notes: Vec::new(),
        })
    }

    fn skill_text(&self, skill: &Skill) -> String {
        format!("{}: {}\n{}\n", skill.name, skill.description, skill.body)
    }

    fn score_prompt(&self, query: &str) -> Prompt {
        Prompt {
            messages: vec![Message::data(Speaker::User, query)],
            open: vec![Span::Control("skill: ".to_owned())],
        }
    }

    fn fit_question(&self, query: &str, skill_text: &str) -> Result<FitQuestion> {
        Ok(FitQuestion {
            prompt: Prompt {
                messages: vec![
                    Message::data(Speaker::User, query),
                    Message::data(Speaker::System, skill_text),
                ],
                open: vec![Span::Control("fits: ".to_owned())],
            },
            fits: "yes".to_owned(),
            does_not: "no".to_owned(),
        })
    }
}
