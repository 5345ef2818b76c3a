//! Parses the answers of segment, distil-prototype, route and score (SCRIBE 3.1, 3.2).

use serde_json::Value;

use super::{
    object::{Object, Read, refuse},
    values::{LINE, chosen, items, line, lines, perhaps, prose, score, share, step, string},
};
use crate::{
    contract::RoleAnswer,
    domain::{Prototype, Rubric, Segmentation, Subgoal, Trace, Trap},
};

const SUBGOAL: &[&str] = &["subgoal", "skill", "first", "last"];
const TRAP: &[&str] = &["trap", "score"];
/// The greatest length of a rubric's title, in characters.
const TITLE: usize = 120;
/// The greatest length of a rubric's pattern, in characters.
const PATTERN: usize = 2_000;
/// The greatest number of objectives, of checks and of traps.
const MOST: usize = 12;

/// The subgoals; spans that overlap or leave steps out are repaired.
pub(super) fn segments(object: &mut Object, attempt: &Trace) -> Read<RoleAnswer> {
    let steps = attempt.trajectory.steps.len();
    let subgoals = items(object, ("subgoals", "a subgoal"), SUBGOAL, |item| {
        Ok(Subgoal {
            subgoal: perhaps(item, "subgoal", LINE)?,
            skill: line(item, "skill", LINE)?,
            first: step(item, "first")?,
            last: step(item, "last")?,
        })
    })?;
    let answer = |segmentation, repaired| RoleAnswer::Segments {
        segmentation,
        repaired,
    };
    if let Ok(segmentation) = Segmentation::new(subgoals.clone(), steps) {
        return Ok(answer(segmentation, false));
    }
    match Segmentation::repaired(subgoals, steps) {
        Ok(segmentation) => Ok(answer(segmentation, true)),
        Err(_) => refuse(format!(
            "no subgoal has words and begins at a step of the attempt, which has {steps}, the first with the number 0"
        )),
    }
}

pub(super) fn rubric(object: &mut Object) -> Read<RoleAnswer> {
    // A list of steps is the same as their lines.
    if let Some(Value::Array(_)) = object.get("pattern") {
        let steps = strings(object, "pattern")?.join("\n");
        object.insert("pattern".to_owned(), Value::from(steps));
    }
    let traps = items(object, ("traps", "a trap"), TRAP, |item| {
        Ok(Trap {
            trap: line(item, "trap", LINE)?,
            score: score(item)?,
        })
    })?;
    let rubric = Rubric {
        title: line(object, "title", TITLE)?,
        use_context: line(object, "use_context", 2 * LINE)?,
        objectives: lines(object, ("objectives", "an objective"), LINE)?,
        pattern: prose(object, "pattern", PATTERN)?,
        checklist: lines(object, ("checklist", "a check"), LINE)?,
        traps,
    };
    if rubric.checklist.is_empty() {
        return refuse("checklist is empty");
    }
    let counts = [
        ("objectives", rubric.objectives.len()),
        ("checklist", rubric.checklist.len()),
        ("traps", rubric.traps.len()),
    ];
    match counts.into_iter().find(|(_, count)| *count > MOST) {
        Some((key, count)) => refuse(format!("{key} has {count} entries, and {MOST} is the most")),
        None => Ok(RoleAnswer::Rubric(Box::new(rubric))),
    }
}

/// The texts of a list, as they are.
fn strings(object: &Object, key: &str) -> Read<Vec<String>> {
    let text = |item: &Value| match item {
        Value::String(text) => Ok(text.clone()),
        _ => refuse(format!("{key} has an entry that is not a string")),
    };
    super::values::array(object, key)?
        .iter()
        .map(text)
        .collect()
}

pub(super) fn routed(object: &mut Object, prototypes: &[Prototype]) -> Read<RoleAnswer> {
    let titles: Vec<&str> = prototypes
        .iter()
        .map(|prototype| prototype.rubric.title.as_str())
        .collect();
    string(object, "reason")?;
    Ok(RoleAnswer::Routed {
        prototype: chosen(object, "prototype", ("prototype", &titles))?,
        confidence: share(object, "confidence")?,
    })
}

pub(super) fn scored(object: &mut Object) -> Read<RoleAnswer> {
    Ok(RoleAnswer::Scored {
        reason: line(object, "reason", 2 * LINE)?,
        score: score(object)?,
    })
}
