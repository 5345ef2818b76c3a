//! A bank of memories, made without a model: what is alike is grouped.

use std::{cmp::Reverse, collections::BTreeSet, num::NonZeroUsize};

use journeyman::{Category, Error, Result, domain::SkillName, stations::admit::Wording};
use serde_json::{Map, Value, json};

use super::memory::Memory;

const BANK: &str = "memories::bank";

/// How memories become a bank.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BankOptions {
    /// The similarity of wording ([`Wording`]), in (0, 1], from which two patterns, or two mistakes, of a category are one.
    pub near: f64,
    /// Number of categories in which a pattern or a mistake has to occur to be a general one.
    pub general: NonZeroUsize,
    /// Greatest number of patterns of each category, and of mistakes, the best supported first; `None` keeps all.
    pub most: Option<NonZeroUsize>,
}

impl BankOptions {
    /// The same with another nearness.
    #[must_use]
    pub fn with_near(mut self, near: f64) -> Self {
        self.near = near;
        self
    }

    /// The same with another number of categories.
    #[must_use]
    pub fn with_general(mut self, general: NonZeroUsize) -> Self {
        self.general = general;
        self
    }

    /// The same with a greatest number of groups.
    #[must_use]
    pub fn with_most(mut self, most: impl Into<Option<NonZeroUsize>>) -> Self {
        self.most = most.into();
        self
    }
}

impl Default for BankOptions {
    /// From 0.5 on alike, general in three categories; at most six patterns and six mistakes of a category, as many as a prompt
    /// takes of its skills.
    fn default() -> Self {
        Self {
            near: 0.5,
            general: const { NonZeroUsize::new(3).expect("not 0") },
            most: NonZeroUsize::new(6),
        }
    }
}

/// Patterns, or mistakes, that are one skill of a bank.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The category; `None` for a general one.
    pub category: Option<Category>,
    /// The member that stands for the group: the one most similar to the others, of equal ones the first.
    pub text: String,
    /// When it applies.
    pub when: String,
    /// The ids of its memories, in their order.
    pub memories: Vec<String>,
    /// Number of texts that it stands for.
    pub members: usize,
}

/// A bank, as JSON and as the groups that it was made of.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBank {
    /// The bank's JSON, for [`skillrl::read`](crate::skillrl::read).
    pub json: String,
    /// The groups that are in it, in its order.
    pub groups: Vec<Group>,
    /// Number of patterns and mistakes that the groups leave out by [`BankOptions::most`].
    pub left_out: usize,
}

/// A pattern or a mistake of a memory.
#[derive(Clone, Debug)]
struct Text<'a> {
    memory: &'a Memory,
    text: String,
    when: String,
    wording: Wording,
    /// Whether it is a pattern of planning; else a mistake.
    is_pattern: bool,
}

/// Makes a bank: patterns are skills, and so are mistakes, as what to avoid and when. Within a category, texts that are alike
/// are one skill. Groups that are alike in at least [`BankOptions::general`] categories are one general skill; a memory without a
/// category gives general skills. Deterministic: memories are taken in order.
///
/// # Errors
/// `Invalid` for a similarity out of its range, and for memories without any pattern or mistake.
pub fn bank(memories: &[Memory], options: &BankOptions) -> Result<MemoryBank> {
    if !(options.near > 0.0 && options.near <= 1.0) {
        return Err(
            Error::invalid(BANK, "the similarity must be in (0, 1]").with("near", options.near)
        );
    }
    let (patterns, mistakes): (Vec<Text<'_>>, Vec<Text<'_>>) = (
        memories.iter().filter_map(pattern).collect(),
        memories.iter().flat_map(mistakes_of).collect(),
    );
    let all = patterns.len() + mistakes.len();
    if all == 0 {
        return Err(Error::invalid(BANK, "no memory has a pattern or a mistake")
            .hint("read memories of attempts that a teacher has commented on"));
    }
    let mut groups = Vec::new();
    for texts in [patterns, mistakes] {
        groups.extend(chosen(
            generalized(grouped(texts, options.near), options),
            options,
        ));
    }
    // The sort is stable: patterns before mistakes, the best supported first.
    groups.sort_by(|a, b| a.category.cmp(&b.category));
    let kept: usize = groups.iter().map(|group| group.members).sum();
    Ok(MemoryBank {
        json: format!("{:#}", written(&groups)),
        left_out: all - kept,
        groups,
    })
}

fn pattern(memory: &Memory) -> Option<Text<'_>> {
    let text = memory.planning_pattern.clone()?;
    let when = match &memory.category {
        Some(category) => format!("When planning a task of the kind {category}."),
        None => "When planning a task.".to_owned(),
    };
    Some(Text {
        memory,
        wording: Wording::of(&text),
        text,
        when,
        is_pattern: true,
    })
}

fn mistakes_of(memory: &Memory) -> impl Iterator<Item = Text<'_>> {
    memory.mistakes_to_avoid.iter().map(move |mistake| {
        let (when, bad) = (&mistake.trigger_condition, &mistake.bad_action);
        Text {
            memory,
            wording: Wording::of(&format!("{when} {bad}")),
            text: format!("Avoid this: {bad}"),
            when: when.clone(),
            is_pattern: false,
        }
    })
}

/// The texts of each category, in groups: a text joins the group whose first text is the most similar one, if that is near.
fn grouped(texts: Vec<Text<'_>>, near: f64) -> Vec<Vec<Text<'_>>> {
    let mut groups: Vec<Vec<Text<'_>>> = Vec::new();
    for text in texts {
        let mut best: Option<(f64, usize)> = None;
        for (place, group) in groups.iter().enumerate() {
            let Some(first) = group.first() else { continue };
            let similarity = first.wording.similarity(&text.wording);
            let same = first.memory.category == text.memory.category && similarity >= near;
            if same && best.is_none_or(|(known, _)| similarity > known) {
                best = Some((similarity, place));
            }
        }
        match best.and_then(|(_, place)| groups.get_mut(place)) {
            Some(group) => group.push(text),
            None => groups.push(vec![text]),
        }
    }
    groups
}

/// The groups as skills: those that are alike in enough categories are one general skill.
fn generalized(groups: Vec<Vec<Text<'_>>>, options: &BankOptions) -> Vec<Group> {
    let mut left: Vec<Option<Vec<Text<'_>>>> = groups.into_iter().map(Some).collect();
    let mut all = Vec::new();
    for place in 0..left.len() {
        let Some(group) = left.get_mut(place).and_then(Option::take) else {
            continue;
        };
        let alike = |other: &Vec<Text<'_>>| match (group.first(), other.first()) {
            (Some(one), Some(other)) => one.wording.similarity(&other.wording) >= options.near,
            _ => false,
        };
        let others: Vec<usize> = (place + 1..left.len())
            .filter(|at| {
                left.get(*at)
                    .is_some_and(|one| one.as_ref().is_some_and(alike))
            })
            .collect();
        let of_others = others.iter().filter_map(|at| left.get(*at)?.as_ref());
        let categories = of_others.chain([&group]).filter_map(|texts| texts.first());
        let categories: BTreeSet<_> = categories.map(|text| &text.memory.category).collect();
        if categories.len() < options.general.get() {
            all.push(skill(
                &group,
                group.first().and_then(|text| text.memory.category.clone()),
            ));
            continue;
        }
        let mut joined = group;
        for at in others {
            joined.extend(left.get_mut(at).and_then(Option::take).unwrap_or_default());
        }
        all.push(skill(&joined, None));
    }
    all
}

fn skill(texts: &[Text<'_>], category: Option<Category>) -> Group {
    let likeness = |text: &Text<'_>| {
        let others = texts
            .iter()
            .map(|other| text.wording.similarity(&other.wording));
        others.sum::<f64>()
    };
    let mut best = texts.first();
    for text in texts {
        if best.is_some_and(|best| likeness(text) > likeness(best)) {
            best = Some(text);
        }
    }
    let mut memories: Vec<String> = texts.iter().map(|text| text.memory.id.clone()).collect();
    memories.dedup();
    let when = match &category {
        None if texts.iter().any(|text| text.is_pattern) => "When planning a task.".to_owned(),
        _ => best.map_or_else(String::new, |text| text.when.clone()),
    };
    Group {
        category,
        text: best.map_or_else(String::new, |text| text.text.clone()),
        when,
        memories,
        members: texts.len(),
    }
}

/// The best supported groups of each category; of equal support the first.
fn chosen(mut groups: Vec<Group>, options: &BankOptions) -> Vec<Group> {
    groups.sort_by_key(|group| Reverse(group.members));
    let Some(most) = options.most else {
        return groups;
    };
    let mut taken: Vec<(Option<Category>, usize)> = Vec::new();
    groups.retain(|group| {
        let place = taken
            .iter()
            .position(|(category, _)| *category == group.category);
        let place = place.unwrap_or_else(|| {
            taken.push((group.category.clone(), 0));
            taken.len() - 1
        });
        let count = taken.get_mut(place).map_or(0, |(_, count)| {
            *count += 1;
            *count
        });
        count <= most.get()
    });
    groups
}

/// The bank's JSON (SkillRL 3.2).
fn written(groups: &[Group]) -> Value {
    let mut general = Vec::new();
    let mut specific: Map<String, Value> = Map::new();
    for (number, group) in groups.iter().enumerate() {
        let title = SkillName::of_first_words(&title(&group.text))
            .map_or_else(|| "skill".to_owned(), |name| name.as_str().to_owned());
        let skill = json!({
            "skill_id": format!("mem_{:03}", number + 1),
            "title": title,
            "principle": group.text,
            "when_to_apply": group.when,
        });
        match &group.category {
            None => general.push(skill),
            Some(category) => {
                let list = specific
                    .entry(category.as_str())
                    .or_insert_with(|| json!([]));
                if let Some(list) = list.as_array_mut() {
                    list.push(skill);
                }
            }
        }
    }
    json!({
        "general_skills": general,
        "task_specific_skills": specific,
        "common_mistakes": [],
    })
}

/// The words that a text is called by: of a plan, the first word of each step, since all plans begin alike.
fn title(text: &str) -> String {
    let steps: Vec<&str> = text.split("->").collect();
    match steps.as_slice() {
        [_] => text.trim_start_matches("Avoid this: ").to_owned(),
        steps => {
            let words = steps
                .iter()
                .filter_map(|step| step.split_whitespace().next());
            words.collect::<Vec<_>>().join(" ")
        }
    }
}
