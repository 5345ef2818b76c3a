//! Rules for the roles that write skills: features that good skills have or lack.

use std::fmt;

use crate::general::recipe::{Origin, Recipe};
use crate::seed::Draws;

/// The features that rules are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    pub fn of(skill: &Recipe) -> Vec<Self> {
        let all = Self::ALL.into_iter();
        all.filter(|feature| feature.is_in(skill)).collect()
    }

    /// Whether a skill has the feature.
    #[must_use]
    pub fn is_in(self, skill: &Recipe) -> bool {
        let count = |is_it: fn(&Origin) -> bool| {
            let origins = skill.arguments.iter().map(|(_, origin)| origin);
            origins.filter(|origin| is_it(origin)).count()
        };
        let carried = || count(|origin| matches!(origin, Origin::Result(_)));
        match self {
            Self::First => skill.before.len() > carried(),
            Self::Fixed => count(|origin| matches!(origin, Origin::Fixed(_))) > 0,
            Self::Carried => carried() > 0,
            Self::Given => count(|origin| matches!(origin, Origin::Task)) > 0,
            Self::Long => skill.before.len() >= 2,
        }
    }
}

/// A rule, in text one sentence such as `Leave out values that the task gives.`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The feature.
    pub feature: Feature,
    /// Whether good skills have the feature; otherwise they lack it.
    pub prefer: bool,
}

impl Rule {
    /// Greatest number of rules in a prompt.
    const MOST: usize = 3;

    /// The two rules about a feature: prefer and avoid.
    #[must_use]
    pub fn about(feature: Feature) -> [Self; 2] {
        [true, false].map(|prefer| Self { feature, prefer })
    }

    /// Reads a rule; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = Feature::ALL.into_iter().flat_map(Self::about);
        all.find(|rule| rule.sentence() == text.trim())
    }

    /// The rule as a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match (self.feature, self.prefer) {
            (Feature::First, false) => "Leave out a call whose result is not used.",
            (Feature::First, true) => "Have a call first whose result is not used.",
            (Feature::Fixed, false) => "Leave out values that are always the same.",
            (Feature::Fixed, true) => "Have a value that is always the same.",
            (Feature::Carried, false) => "Leave out values that come from a result.",
            (Feature::Carried, true) => "Have a value that comes from a result.",
            (Feature::Given, false) => "Leave out values that the task gives.",
            (Feature::Given, true) => "Have a value that the task gives.",
            (Feature::Long, false) => "Have fewer than three calls.",
            (Feature::Long, true) => "Have three calls or more.",
        }
    }

    /// Whether a skill obeys the rule.
    #[must_use]
    pub fn allows(self, skill: &Recipe) -> bool {
        self.feature.is_in(skill) == self.prefer
    }

    /// Draws rules, no two about the same.
    pub(super) fn draw(draws: &mut Draws) -> Vec<Self> {
        let mut features = Feature::ALL;
        draws.shuffle(&mut features);
        let count = draws.between(1, Self::MOST);
        let rule = |feature| Self {
            feature,
            prefer: draws.chance(0.3),
        };
        features.into_iter().take(count).map(rule).collect()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.sentence())
    }
}
