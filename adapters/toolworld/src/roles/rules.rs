//! Rules for the roles that write skills: features that good skills have or lack, learned from the outcomes of earlier
//! skills.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::parts::NOTHING;
use crate::script::Script;
use crate::seed::Draws;
use crate::tool::{DEFAULT_SLOT, Demand, RESULT_SLOT, Service, SkillText, TASK_SLOT};

/// The features that rules are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// A call comes first whose result is not used.
    First,
    /// A parameter has a fixed value.
    Fixed,
    /// A value comes from an earlier result.
    Carried,
    /// A value comes from the task.
    Given,
    /// Three steps or more.
    Long,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::First,
        Self::Fixed,
        Self::Carried,
        Self::Given,
        Self::Long,
    ];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Fixed => "fixed",
            Self::Carried => "carried",
            Self::Given => "given",
            Self::Long => "long",
        }
    }

    /// The features of a skill.
    #[must_use]
    pub fn of(skill: &SkillText) -> Vec<Self> {
        let all = Self::ALL.into_iter();
        all.filter(|feature| feature.is_in(skill)).collect()
    }

    /// Whether a skill has the feature.
    #[must_use]
    pub fn is_in(self, skill: &SkillText) -> bool {
        let last = skill.steps.last().map(String::as_str).unwrap_or_default();
        let values: Vec<&str> = last.split_whitespace().skip(3).step_by(2).collect();
        let carried = values.iter().filter(|value| **value == RESULT_SLOT).count();
        match self {
            Self::First => skill.steps.len() > 1 + carried,
            Self::Fixed => values
                .iter()
                .any(|value| ![DEFAULT_SLOT, TASK_SLOT, RESULT_SLOT].contains(value)),
            Self::Carried => carried > 0,
            Self::Given => values.contains(&TASK_SLOT),
            Self::Long => skill.steps.len() >= 3,
        }
    }
}

/// A rule: `avoid first`, `prefer carried`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rule {
    /// The feature.
    pub feature: Feature,
    /// Whether good skills have the feature; otherwise they lack it.
    pub prefer: bool,
}

impl Rule {
    /// Reads a rule; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (stance, word) = text.trim().split_once(' ')?;
        let prefer = match stance {
            "prefer" => true,
            "avoid" => false,
            _ => return None,
        };
        let mut all = Feature::ALL.into_iter();
        let feature = all.find(|feature| feature.word() == word)?;
        Some(Self { feature, prefer })
    }

    /// The two rules about a feature: prefer and avoid.
    #[must_use]
    pub fn about(feature: Feature) -> [Self; 2] {
        [true, false].map(|prefer| Self { feature, prefer })
    }

    /// Whether a skill obeys the rule.
    #[must_use]
    pub fn allows(self, skill: &SkillText) -> bool {
        self.feature.is_in(skill) == self.prefer
    }

    /// Whether a skill with these features obeys the rule.
    #[must_use]
    pub fn fits(self, features: &[Feature]) -> bool {
        features.contains(&self.feature) == self.prefer
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stance = if self.prefer { "prefer" } else { "avoid" };
        write!(formatter, "{stance} {}", self.feature.word())
    }
}

/// Adds rules to a role's prompt, each as a note.
pub(crate) fn with_rule_notes(script: Script, rules: &[Rule]) -> Script {
    let note = |script: Script, rule: &Rule| script.note(&rule.to_string());
    rules.iter().fold(script, note)
}

/// The prompt of the role that finds rules: features and outcomes of earlier skills.
pub(crate) fn outcomes_script(rows: &[(Vec<Feature>, bool)]) -> Script {
    let note = |script: Script, (features, good): &(Vec<Feature>, bool)| {
        let mut words: Vec<&str> = features.iter().map(|feature| feature.word()).collect();
        words.push(verdict_word(*good));
        script.note(&words.join(" "))
    };
    rows.iter()
        .fold(Script::default().control("<s>", false), note)
}

/// Maximum number of rules in a prompt.
pub(crate) const MOST_RULES: usize = 3;

/// Draws rules, no two about the same.
pub(crate) fn draw(draws: &mut Draws) -> Vec<Rule> {
    let mut features = Feature::ALL;
    draws.shuffle(&mut features);
    let count = draws.between(1, MOST_RULES);
    let rule = |feature| Rule {
        feature,
        prefer: draws.chance(0.3),
    };
    features.into_iter().take(count).map(rule).collect()
}

/// The separator of the lines of an answer under rules.
const LINE: &str = "\n ";

/// The words for a rule that a skill obeys or breaks, and for a skill with a good or bad outcome.
const KEPT: &str = "good";
const BROKEN: &str = "bad";

/// The answer of a role that writes a skill under rules, in three lines: the kind of each demand of the service and the
/// values that the task gives (`#` where there are neither); the skill without what the rules avoid; for each rule,
/// whether that skill obeys it. Each line follows from the one before: a small model cannot derive the skill in one
/// step.
pub(super) fn reasoned_answer(rules: &[Rule], service: &Service, given: &[String]) -> String {
    let kind = |demand: &Demand| match demand {
        Demand::Before(call) => format!("{call} {}", Feature::First.word()),
        Demand::Exact(setting) => format!("{} {}", setting.parameter, Feature::Fixed.word()),
        Demand::Carried { parameter, source } => {
            format!("{source} {} {parameter}", Feature::Carried.word())
        }
    };
    let given_kind = |name: &String| format!("{name} {}", Feature::Given.word());
    let kinds = service.contract.iter().map(kind);
    let mut kinds: Vec<String> = kinds.chain(given.iter().map(given_kind)).collect();
    if kinds.is_empty() {
        kinds.push(DEFAULT_SLOT.to_owned());
    }
    let skill = without_avoided(rules, service, given);
    let stands = rules.iter().map(|rule| verdict_word(rule.allows(&skill)));
    let stands: Vec<&str> = stands.collect();
    let (kinds, stands) = (kinds.join("; "), stands.join(" "));
    format!("{kinds}{LINE}{skill}{LINE}{stands}")
}

fn verdict_word(kept: bool) -> &'static str {
    if kept { KEPT } else { BROKEN }
}

/// The conclusion of an answer under rules: of three lines the skill, or `none` where it breaks a rule; otherwise the
/// answer itself.
pub(crate) fn conclusion(answer: &str) -> &str {
    let lines: Vec<&str> = answer.trim().lines().map(str::trim).collect();
    let [_, skill, stands] = lines.as_slice() else {
        return answer;
    };
    let stands: Vec<&str> = stands.split(' ').collect();
    if !stands.iter().all(|word| [KEPT, BROKEN].contains(word)) {
        return answer;
    }
    if stands.contains(&BROKEN) {
        NOTHING
    } else {
        skill
    }
}

fn without_avoided(rules: &[Rule], service: &Service, given: &[String]) -> SkillText {
    let mut service = service.clone();
    let mut given = given.to_vec();
    for rule in rules.iter().filter(|rule| !rule.prefer) {
        let gone = |demand: &Demand| match demand {
            Demand::Before(_) => rule.feature == Feature::First,
            Demand::Exact(_) => rule.feature == Feature::Fixed,
            Demand::Carried { .. } => rule.feature == Feature::Carried,
        };
        service.contract.retain(|demand| !gone(demand));
        if rule.feature == Feature::Given {
            given.clear();
        }
    }
    SkillText::of(&service, &given)
}
