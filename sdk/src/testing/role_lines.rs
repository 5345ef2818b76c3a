//! The answers of [`ScriptedRoles`](super::ScriptedRoles) in the roles of SCRIBE, SkillOS and SkillRL, as plain lines.

use std::collections::BTreeMap;

use crate::{
    contract::{BankDraft, RoleAnswer},
    domain::{
        Kind, Lesson, Rubric, Scope, Segmentation, SkillDraft, Subgoal, SubgoalScore, ToolCall,
        Trap,
    },
    error::{Error, ErrorKind, Result},
    id::Category,
};

fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Model, "Roles::read", why.into()))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// `SUBGOAL | SKILL | FIRST LAST` on each line.
pub(super) fn segments(text: &str, steps: usize) -> Result<RoleAnswer> {
    let subgoal = |line: &str| {
        let mut parts = line.split(" | ");
        let (subgoal, skill, span) = (parts.next()?, parts.next()?, parts.next()?);
        let (first, last) = span.split_once(' ')?;
        Some(Subgoal {
            subgoal: subgoal.to_owned(),
            skill: skill.to_owned(),
            first: first.parse().ok()?,
            last: last.parse().ok()?,
        })
    };
    let Some(subgoals) = lines(text).map(subgoal).collect::<Option<Vec<Subgoal>>>() else {
        return refuse("a line is not `SUBGOAL | SKILL | FIRST LAST`");
    };
    let (segmentation, repaired) = match Segmentation::new(subgoals.clone(), steps) {
        Ok(segmentation) => (segmentation, false),
        Err(_) => match Segmentation::repaired(subgoals, steps) {
            Ok(segmentation) => (segmentation, true),
            Err(error) => return refuse(error.message()),
        },
    };
    Ok(RoleAnswer::Segments {
        segmentation,
        repaired,
    })
}

/// `title: WORDS`, `use: WORDS`, `pattern: WORDS`, and any number of `objective: WORDS`, `check: WORDS` and `trap N: WORDS`.
pub(super) fn rubric(text: &str) -> Result<RoleAnswer> {
    let mut rubric = Rubric::default();
    for line in lines(text) {
        let Some((key, words)) = line.split_once(": ") else {
            return refuse("a line is not `KEY: WORDS`");
        };
        let words = words.to_owned();
        match (key, key.strip_prefix("trap ").map(str::parse)) {
            ("title", _) => rubric.title = words,
            ("use", _) => rubric.use_context = words,
            ("pattern", _) => rubric.pattern = words,
            ("objective", _) => rubric.objectives.push(words),
            ("check", _) => rubric.checklist.push(words),
            (_, Some(Ok(score))) => match SubgoalScore::new(score) {
                Ok(score) => rubric.traps.push(Trap { trap: words, score }),
                Err(error) => return refuse(error.message()),
            },
            _ => return refuse("a line has another key"),
        }
    }
    match rubric.title.is_empty() || rubric.checklist.is_empty() {
        true => refuse("there is no title or no check"),
        false => Ok(RoleAnswer::Rubric(Box::new(rubric))),
    }
}

/// `INDEX CONFIDENCE`, or `none`.
pub(super) fn route(text: &str, prototypes: usize) -> Result<RoleAnswer> {
    if text.trim() == "none" {
        return Ok(RoleAnswer::Routed {
            prototype: None,
            confidence: 1.0,
        });
    }
    let parsed = text.trim().split_once(' ').and_then(|(index, confidence)| {
        let index: usize = index.parse().ok().filter(|index| *index < prototypes)?;
        let confidence: f64 = confidence.parse().ok()?;
        (0.0..=1.0)
            .contains(&confidence)
            .then_some((index, confidence))
    });
    match parsed {
        Some((index, confidence)) => Ok(RoleAnswer::Routed {
            prototype: Some(index),
            confidence,
        }),
        None => refuse("the answer is neither `none` nor `INDEX CONFIDENCE`"),
    }
}

/// `SCORE REASON`.
pub(super) fn score(text: &str) -> Result<RoleAnswer> {
    let (score, reason) = scored(text)?;
    Ok(RoleAnswer::Scored { score, reason })
}

/// `SCORE REASON`.
pub(super) fn review(text: &str) -> Result<RoleAnswer> {
    let (score, reason) = scored(text)?;
    let quality = score.share();
    Ok(RoleAnswer::Reviewed { quality, reason })
}

fn scored(text: &str) -> Result<(SubgoalScore, String)> {
    let (score, reason) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    match score.parse().map(SubgoalScore::new) {
        Ok(Ok(score)) => Ok((score, reason.to_owned())),
        _ => refuse("the answer does not begin with a score from 0 to 3"),
    }
}

/// A JSON object with `tool` and `arguments` on each line, or `none`.
pub(super) fn calls(text: &str) -> Result<RoleAnswer> {
    let lines = lines(text).filter(|line| *line != "none");
    let calls: std::result::Result<Vec<ToolCall>, _> = lines.map(serde_json::from_str).collect();
    match calls {
        Ok(calls) if !text.trim().is_empty() => Ok(RoleAnswer::Calls(calls)),
        _ => refuse("a line is no call"),
    }
}

/// A tag on each line.
pub(super) fn tags(text: &str) -> Result<RoleAnswer> {
    let tags: Vec<String> = lines(text).map(str::to_owned).collect();
    match tags.is_empty() {
        true => refuse("there is no tag"),
        false => Ok(RoleAnswer::Tags(tags)),
    }
}

/// `STEP | FLAWED | SHOULD | PRINCIPLE`.
pub(super) fn lesson(text: &str, steps: usize) -> Result<RoleAnswer> {
    let parts: Vec<&str> = text.trim().split(" | ").collect();
    let [step, flawed, should, principle] = parts.as_slice() else {
        return refuse("the answer is not `STEP | FLAWED | SHOULD | PRINCIPLE`");
    };
    match step.parse().ok().filter(|step| *step < steps) {
        Some(step) => Ok(RoleAnswer::Lesson(Lesson {
            step,
            flawed: (*flawed).to_owned(),
            should: (*should).to_owned(),
            principle: (*principle).to_owned(),
        })),
        None => refuse("the step is none of the attempt"),
    }
}

/// `TITLE | DESCRIPTION | BODY` on each line; with `INDEX>` before it the skill with this index is refined.
pub(super) fn bank(text: &str, category: Option<&Category>, skills: usize) -> Result<RoleAnswer> {
    let draft = |line: &str| {
        let (refines, line) = match line.split_once("> ") {
            Some((index, line)) => {
                let index: usize = index.parse().ok().filter(|index| *index < skills)?;
                (Some(index), line)
            }
            None => (None, line),
        };
        let mut parts = line.split(" | ");
        let (title, description, body) = (parts.next()?, parts.next()?, parts.next()?);
        Some(BankDraft {
            refines,
            draft: SkillDraft {
                title: title.to_owned(),
                description: description.to_owned(),
                kind: Kind::Knowledge,
                scope: category
                    .map_or(Scope::General, |category| Scope::Category(category.clone())),
                trigger: None,
                body: body.to_owned(),
                metadata: BTreeMap::new(),
            },
        })
    };
    let lines = lines(text).filter(|line| *line != "none");
    match lines.map(draft).collect::<Option<Vec<BankDraft>>>() {
        Some(drafts) if !text.trim().is_empty() => Ok(RoleAnswer::Bank(drafts)),
        _ => refuse("a line is not `TITLE | DESCRIPTION | BODY`"),
    }
}
