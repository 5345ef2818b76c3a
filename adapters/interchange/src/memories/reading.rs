//! Reads memories from JSON.

use std::collections::BTreeSet;

use journeyman::{Category, Error, Result};
use serde_json::Value;

use super::memory::{Memory, MemoryMistake, MemoryStep};
use crate::json::{self, Entry, shape};

const READ: &str = "memories::read";
/// The words before a category in a memory's description.
const CLASSIFIED: &str = "classified as '";

/// Reads memories: a list of objects, as SkillRL publishes them.
///
/// # Errors
/// `Invalid` for a text that is no list of memories, for a memory without id, task, description or outcome, for a second memory
/// of an id, and for a text beyond the limits of [the crate](crate). The error names the place, such as `3/content`, and
/// never repeats the text. Nothing is read in part.
pub fn read(text: &str) -> Result<Vec<Memory>> {
    let mut list = json::read(READ, text)?;
    if !list.is_array() {
        return Err(Error::invalid(READ, "these are no memories")
            .hint("memories are a list of objects; a bank of skills is read by `skillrl::read`"));
    }
    let entries = json::take_entries(READ, "memories", &mut list)?;
    let mut ids = BTreeSet::new();
    let memories = entries.iter().enumerate().map(|(index, entry)| {
        let memory = memory(entry, &index.to_string())?;
        match ids.insert(memory.id.clone()) {
            true => Ok(memory),
            false => Err(Error::invalid(READ, "two memories have the same id")
                .with("place", format!("{index}/memory_id"))),
        }
    });
    memories.collect()
}

fn memory(entry: &Entry, place: &str) -> Result<Memory> {
    let description = words(entry, "contextual_description", place)?;
    let tags = object(entry, "tags", place)?;
    let outcome = words(tags, "outcome", &format!("{place}/tags"))?;
    let success = match outcome.to_lowercase().as_str() {
        "success" => true,
        "failure" => false,
        _ => {
            return Err(
                Error::invalid(READ, "the outcome is neither Success nor Failure")
                    .with("place", format!("{place}/tags/outcome")),
            );
        }
    };
    let at = format!("{place}/content");
    let content = object(entry, "content", place)?;
    let meta = object(content, "task_meta", &at)?;
    let guidelines = object(content, "strategic_guidelines", &at)?;
    let at_guidelines = format!("{at}/strategic_guidelines");
    let planning_pattern = match guidelines.get("planning_pattern") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if is_blank(text) => None,
        Some(_) => Some(words(guidelines, "planning_pattern", &at_guidelines)?),
    };
    Ok(Memory {
        id: words(entry, "memory_id", place)?,
        task: words(meta, "original_goal", &format!("{at}/task_meta"))?,
        success,
        category: category(&description),
        description,
        steps: steps(content, &at)?,
        planning_pattern,
        mistakes_to_avoid: mistakes(guidelines, &at_guidelines)?,
    })
}

/// The refined steps; none where the memory has none.
fn steps(content: &Entry, place: &str) -> Result<Vec<MemoryStep>> {
    let place = format!("{place}/refined_trajectory");
    let inner = match content.get("refined_trajectory") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(inner)) => inner,
        Some(_) => return Err(shape(READ, &place, "an object")),
    };
    let steps = entries(inner, "refined_trajectory", &place)?;
    let step = |(index, step): (usize, Entry)| {
        let place = format!("{place}/refined_trajectory/{index}");
        Ok(MemoryStep {
            action: words(&step, "action", &place)?,
            observation: words(&step, "critical_observation", &place)?,
            reasoning: words(&step, "reasoning", &place)?,
        })
    };
    steps.into_iter().enumerate().map(step).collect()
}

fn mistakes(guidelines: &Entry, place: &str) -> Result<Vec<MemoryMistake>> {
    let mistakes = entries(guidelines, "mistakes_to_avoid", place)?;
    let mistake = |(index, mistake): (usize, Entry)| {
        let place = format!("{place}/mistakes_to_avoid/{index}");
        Ok(MemoryMistake {
            trigger_condition: words(&mistake, "trigger_condition", &place)?,
            bad_action: words(&mistake, "bad_action", &place)?,
        })
    };
    mistakes.into_iter().enumerate().map(mistake).collect()
}

/// The category that a description names.
fn category(description: &str) -> Option<Category> {
    let (_, rest) = description.split_once(CLASSIFIED)?;
    let (category, _) = rest.split_once('\'')?;
    (!is_blank(category)).then(|| Category::new(category.trim()))
}

fn object<'a>(entry: &'a Entry, field: &str, place: &str) -> Result<&'a Entry> {
    match entry.get(field) {
        Some(Value::Object(object)) => Ok(object),
        _ => Err(shape(READ, &format!("{place}/{field}"), "an object")),
    }
}

/// The objects of a list; none where there is no list.
fn entries(entry: &Entry, field: &str, place: &str) -> Result<Vec<Entry>> {
    match entry.get(field) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(list) => json::take_entries(READ, &format!("{place}/{field}"), &mut list.clone()),
    }
}

/// A text that is not blank.
fn words(entry: &Entry, field: &str, place: &str) -> Result<String> {
    match entry.get(field).and_then(Value::as_str) {
        Some(text) if !is_blank(text) => Ok(text.trim().to_owned()),
        _ => Err(Error::invalid(READ, "this is missing, empty or not a text")
            .with("place", format!("{place}/{field}"))),
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
