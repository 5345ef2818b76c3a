//! Rules for those roles that write skills: what tells good skills from bad ones, learnt from how earlier ones fared.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::NOTHING;
use crate::script::Script;
use crate::seed::Draws;
use crate::tool::{DEFAULT_SLOT, Demand, RESULT_SLOT, Service, SkillText, TASK_SLOT};

/// What a rule can be about.
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

    /// Those that a skill has.
    #[must_use]
    pub fn of(skill: &SkillText) -> Vec<Self> {
        let all = Self::ALL.into_iter();
        all.filter(|feature| feature.is_in(skill)).collect()
    }

    /// Whether a skill has it.
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
    /// What it is about.
    pub feature: Feature,
    /// Whether good skills have it; else they do not.
    pub prefer: bool,
}

impl Rule {
    /// Reads a rule; none where it is not one of these.
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

    /// The two about a feature.
    #[must_use]
    pub fn about(feature: Feature) -> [Self; 2] {
        [true, false].map(|prefer| Self { feature, prefer })
    }

    /// Whether a skill keeps to it.
    #[must_use]
    pub fn allows(self, skill: &SkillText) -> bool {
        self.feature.is_in(skill) == self.prefer
    }

    /// Whether a skill with these features keeps to it.
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

/// Rules as a role is shown them.
pub(crate) fn noted(script: Script, rules: &[Rule]) -> Script {
    let note = |script: Script, rule: &Rule| script.note(&rule.to_string());
    rules.iter().fold(script, note)
}

/// How earlier skills with these features fared, as the role that finds rules is shown it.
pub(crate) fn fared(rows: &[(Vec<Feature>, bool)]) -> Script {
    let note = |script: Script, (features, good): &(Vec<Feature>, bool)| {
        let mut words: Vec<&str> = features.iter().map(|feature| feature.word()).collect();
        words.push(stand(*good));
        script.note(&words.join(" "))
    };
    rows.iter()
        .fold(Script::default().control("<s>", false), note)
}

/// How many rules stand in a prompt at most.
pub(crate) const MOST_RULES: usize = 3;

/// Draws rules, no two about the same.
pub(super) fn draw(draws: &mut Draws) -> Vec<Rule> {
    let mut features = Feature::ALL;
    draws.shuffle(&mut features);
    let count = draws.between(1, MOST_RULES);
    let rule = |feature| Rule {
        feature,
        prefer: draws.chance(0.3),
    };
    features.into_iter().take(count).map(rule).collect()
}

/// What ends a line of an answer under rules.
const LINE: &str = "\n ";

/// What is said of a rule that a skill keeps to or that it breaks, and of a skill that fared well or badly.
const KEPT: &str = "good";
const BROKEN: &str = "bad";

/// The answer of a role that writes a skill under rules, in three lines: of what kind each demand of the service is and which
/// values the task gives (`#` where there are none of both); the skill without what the rules avoid; how each rule stands for
/// that skill. Written out, each of them follows from the line before it, which a small model does not see ahead.
pub(super) fn reasoned(rules: &[Rule], service: &Service, given: &[String]) -> String {
    let kind = |demand: &Demand| match demand {
        Demand::Before(call) => format!("{call} {}", Feature::First.word()),
        Demand::Exact(setting) => format!("{} {}", setting.parameter, Feature::Fixed.word()),
        Demand::Carried { parameter, source } => {
            format!("{source} {} {parameter}", Feature::Carried.word())
        }
    };
    let told = |name: &String| format!("{name} {}", Feature::Given.word());
    let kinds = service.contract.iter().map(kind);
    let mut kinds: Vec<String> = kinds.chain(given.iter().map(told)).collect();
    if kinds.is_empty() {
        kinds.push(DEFAULT_SLOT.to_owned());
    }
    let skill = without_what_they_avoid(rules, service, given);
    let stands = rules.iter().map(|rule| stand(rule.allows(&skill)));
    let stands: Vec<&str> = stands.collect();
    let (kinds, stands) = (kinds.join("; "), stands.join(" "));
    format!("{kinds}{LINE}{skill}{LINE}{stands}")
}

fn stand(kept: bool) -> &'static str {
    if kept { KEPT } else { BROKEN }
}

/// What an answer under rules comes to: of three lines the skill, or `none` where it breaks a rule; else the answer itself.
pub(crate) fn concluded(answer: &str) -> &str {
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

fn without_what_they_avoid(rules: &[Rule], service: &Service, given: &[String]) -> SkillText {
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
