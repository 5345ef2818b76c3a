//! What of an answer's texts may become a part of a skill: no thoughts, and nothing that a person cannot see.

use std::num::NonZeroUsize;

use serde_json::{Map, Value};

use crate::{
    agent::role::template::Template,
    contract::RoleTask,
    domain::find_hidden,
    library::format::{SchemaRefusal, SchemaStage},
    text::{marks_thinking, without_closed_thinking},
};

/// A field's value whose texts have no thoughts, and no zero-width spaces, word joiners and byte order marks, where these are
/// hidden characters. A thought that does not begin and end within its text is refused: what is left of it would become a part
/// of a skill.
pub(super) fn visible(field: &str, value: Value) -> Result<Value, SchemaRefusal> {
    let refuse = |reason: String| Err(SchemaRefusal::new(SchemaStage::Parse, reason));
    Ok(match value {
        Value::String(text) => {
            let text = match find_hidden(&text) {
                None => text,
                Some(_) => text.replace(['\u{200B}', '\u{2060}', '\u{FEFF}'], ""),
            };
            let said = without_closed_thinking(&text);
            if marks_thinking(&said) {
                return refuse(format!(
                    "{field} holds a mark of thinking; write what was concluded, without the thoughts"
                ));
            }
            Value::String(said.into_owned())
        }
        Value::Array(items) => {
            let items = items.into_iter().map(|item| visible(field, item));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(object) => {
            let mut clean = Map::new();
            for (key, value) in object {
                if marks_thinking(&key) {
                    return refuse(format!("a name within {field} holds a mark of thinking"));
                }
                clean.insert(key, visible(field, value)?);
            }
            Value::Object(clean)
        }
        value => value,
    })
}

// How much of its material a role's prompt shows, and how a prompt that is too long for the model's context is narrowed.

/// The greatest length of a task in a prompt, in characters.
const TASK_CHARS: usize = 4_000;
/// The least length that a text is narrowed to, in characters.
const LEAST_CHARS: usize = 100;
/// The least length that a task is narrowed to, in characters.
const LEAST_TASK: usize = 300;

/// How much of its material a prompt shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The greatest number of attempts, rows, subgoals or findings.
    pub(super) count: usize,
    /// The greatest length of each, and of each skill beside, in characters.
    pub(super) chars: usize,
    /// The greatest number of skills that are shown whole or beside.
    pub(super) skills: usize,
    /// The greatest length of a task, in characters.
    pub(super) task: usize,
}

impl Extent {
    /// As much as the role's template says, and not more of an attempt than the task says.
    pub(super) fn of(template: &Template, task: &RoleTask) -> Self {
        let asked = match task {
            RoleTask::Summarize { shown_chars, .. } => shown_chars.map(NonZeroUsize::get),
            _ => None,
        };
        Self {
            count: template.shown,
            chars: asked.map_or(template.shown_chars, |asked| {
                asked.min(template.shown_chars)
            }),
            skills: usize::MAX,
            task: TASK_CHARS,
        }
    }

    /// Narrower and narrower extents for a task. First every text is shortened to a quarter: in an attempt the oldest results
    /// go first. Then the items that are of least use are left out one by one, and the skills beside them. Then the texts are
    /// shortened further.
    pub(super) fn narrower(self, task: &RoleTask) -> Vec<Self> {
        let mut all = Vec::new();
        let mut last = self;
        let quarter = self.chars / 4;
        while last.chars > quarter.max(LEAST_CHARS) {
            last = last.shorter(self, quarter);
            all.push(last);
        }
        let (count, skills) = items(task);
        let least = least(task);
        (last.count, last.skills) = (last.count.min(count), last.skills.min(skills));
        while last.count > least || last.skills > 0 {
            match last.skills > 0 && last.skills >= last.count {
                true => last.skills -= 1,
                false if last.count > least => last.count -= 1,
                false => last.skills -= 1,
            }
            all.push(last);
        }
        while last.chars > LEAST_CHARS || last.task > LEAST_TASK {
            last = last.shorter(self, 0);
            all.push(last);
        }
        all
    }

    /// With texts of three quarters of the length, not below `least`.
    fn shorter(self, whole: Self, least: usize) -> Self {
        let floor = LEAST_CHARS.min(whole.chars);
        let chars = (self.chars * 3 / 4).max(least).max(floor);
        let task = match chars == self.chars {
            true => self.task * 3 / 4,
            false => TASK_CHARS * chars / whole.chars.max(1),
        };
        Self {
            chars,
            task: task.clamp(LEAST_TASK, self.task),
            ..self
        }
    }

    /// What this extent leaves out of a task that `whole` shows, in words.
    pub(super) fn left_out(self, whole: Self, task: &RoleTask) -> String {
        let (count, skills) = items(task);
        let (shown, kept) = (whole.count.min(count), whole.skills.min(skills));
        let mut parts = Vec::new();
        if self.count < shown {
            parts.push(format!("{} of {shown} {}", shown - self.count, noun(task)));
        }
        if self.skills < kept {
            parts.push(format!("{} of {kept} skills", kept - self.skills));
        }
        if self.chars < whole.chars {
            let (chars, before) = (self.chars, whole.chars);
            parts.push(format!(
                "what is beyond {chars} characters of a text, where {before} is usual"
            ));
        }
        parts.join("; ")
    }
}

/// The number of items that the role works on, and of the skills that are shown beside them.
fn items(task: &RoleTask) -> (usize, usize) {
    let given = |place: usize| {
        let attempt = task.attempts().get(place);
        attempt.map_or(0, |attempt| attempt.trajectory.injection.skills.len())
    };
    match task {
        RoleTask::Evolve { rows, .. } => (rows.len(), 0),
        RoleTask::DistilPrototype { members } => (members.len(), 0),
        RoleTask::DistilBank {
            findings, skills, ..
        } => (findings.len(), skills.len()),
        RoleTask::Curate { skills, .. } => (1, skills.len()),
        RoleTask::Refactor {
            attempts, skills, ..
        } => (attempts.len(), skills.len()),
        RoleTask::Extract { .. } | RoleTask::Attribute { .. } | RoleTask::Lesson { .. } => {
            (1, given(0))
        }
        task => (task.attempts().len().max(1), 0),
    }
}

/// The least number of items.
fn least(task: &RoleTask) -> usize {
    match task {
        RoleTask::Refactor { attempts, .. } => attempts.len().min(2),
        _ => 1,
    }
}

fn noun(task: &RoleTask) -> &'static str {
    match task {
        RoleTask::Evolve { .. } => "rows",
        RoleTask::DistilPrototype { .. } => "subgoals",
        RoleTask::DistilBank { .. } => "findings",
        _ => "attempts",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        agent::role::read_arise,
        library::format::{AriseSchema, ProblemTypes},
    };

    fn check(value: Value, expect: Result<Value, &str>) {
        let read = visible("method", value).map_err(|refusal| refusal.to_string());
        match (read, expect) {
            (Ok(read), Ok(expect)) => assert_eq!(read, expect),
            (Err(said), Err(part)) => assert!(said.contains(part), "{said}"),
            (read, _) => panic!("{read:?}"),
        }
    }

    #[test]
    fn thoughts_are_taken_out_of_values_at_any_depth() {
        check(
            json!([{"rule": "<think>hm</think>Call unlock"}, "[THINK]a[/THINK]Call it"]),
            Ok(json!([{"rule": "Call unlock"}, "Call it"])),
        );
        check(
            json!("<|channel>thought\nhm<channel|>Call unlock"),
            Ok(json!("Call unlock")),
        );
        check(json!("<th\u{200B}ink>hm</think>Call"), Ok(json!("Call")));
        check(
            json!(["a", "so it is.</thinking>Call"]),
            Err("method holds a mark of thinking"),
        );
        check(
            json!("Call <Reasoning> hm"),
            Err("method holds a mark of thinking"),
        );
        check(
            json!("Call < seed:think > hm"),
            Err("method holds a mark of thinking"),
        );
        check(json!({"<think>": 1}), Err("a name within method"));
        check(
            json!({"a": [1, null, "1 < 2"]}),
            Ok(json!({"a": [1, null, "1 < 2"]})),
        );
    }

    /// A summary's document whose first step is this.
    fn summary(step: &str) -> String {
        json!({
            "skill_name": "unlock_first",
            "key_insight": "A dial is locked at first",
            "method": [step, "Call set_level"],
            "check": "The level is named",
        })
        .to_string()
    }

    #[test]
    fn no_thought_becomes_a_step_of_a_skill() {
        let schema = AriseSchema::new(ProblemTypes::general());
        for step in [
            "<think>First I wonder what to do</think>Call unlock",
            "<|START_THINKING|>I wonder<|END_THINKING|> Call unlock",
            "Call <seed:think>I wonder</seed:think>unlock",
            "<REASONING>\nI wonder\n</reasoning>\n\nCall unlock",
        ] {
            let document = read_arise(&summary(step), &schema).unwrap();
            assert_eq!(document.method()[0], "Call unlock", "{step}");
        }
        for step in [
            "<think>I wonder what to do",
            "I wonder</think>Call unlock",
            "[THINK]I wonder</think>Call unlock",
            "< think >I wonder</ think >Call unlock",
        ] {
            let refusal = read_arise(&summary(step), &schema).unwrap_err();
            assert!(refusal.to_string().contains("a mark of thinking"), "{step}");
        }
        assert!(read_arise(&summary("<think>I wonder</think>"), &schema).is_err());
    }
}
