//! The report of a verdict on a skill's lift.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{SkillName, SkillRef},
    id::ModelId,
};

/// What the ledger of lifts says of a skill, or of the library as a whole, with a model, over all tasks
/// ([`Lifts`](crate::stations::proof::Lifts)).
///
/// ```
/// use journeyman::run::report::LiftReport;
/// use serde_json::json;
///
/// let lift: LiftReport = serde_json::from_value(json!({
///     "skill": null, "name": null, "model": null,
///     "helps": true, "difference": 0.4, "low": 0.25, "high": 0.5, "given": 90, "withheld": 30,
/// }))?;
/// assert!(lift.to_string().starts_with("the library helps: +40.0 points of tasks done"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiftReport {
    /// The version of the skill; `None` for the library as a whole.
    pub skill: Option<SkillRef>,
    /// The skill's name; `None` for the library, and for a skill that the library no longer has.
    pub name: Option<SkillName>,
    /// The model that acted, with its adapter; `None` where the agent does not say.
    pub model: Option<ModelId>,
    /// Whether more tasks are done with it, or fewer; `None` where neither is known.
    pub helps: Option<bool>,
    /// The share of tasks that are done with it, less the share without it, from -1 to 1; `None` while one of them is not known.
    pub difference: Option<f64>,
    /// The lower end of the range of the difference. The range holds at every look with a probability of 95%; where the recipe
    /// has the program `proven`, of 1 less its [`ComparePolicy::error`](crate::stations::proof::ComparePolicy::error).
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Number of tasks that went with it.
    pub given: u64,
    /// Number of tasks that by chance went without it.
    pub withheld: u64,
}

/// One line, for people.
impl fmt::Display for LiftReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = match (&self.skill, &self.name) {
            (None, _) => "the library".to_owned(),
            (Some(_), Some(name)) => format!("skill {name}"),
            (Some(skill), None) => format!("skill {skill}"),
        };
        match self.helps {
            Some(true) => write!(f, "{subject} helps")?,
            Some(false) => write!(f, "{subject} harms")?,
            None => write!(f, "it is not known any more whether {subject} helps")?,
        }
        if let Some(model) = &self.model {
            write!(f, " with {model}")?;
        }
        f.write_str(": ")?;
        if let Some(difference) = self.difference {
            let points = |share: f64| share * 100.0;
            write!(
                f,
                "{:+.1} points of tasks done (from {:+.1} to {:+.1}), by ",
                points(difference),
                points(self.low),
                points(self.high)
            )?;
        }
        write!(
            f,
            "{} tasks with it and {} from which it was withheld at random",
            self.given, self.withheld
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn a_verdict_is_one_line_with_its_range_and_its_tasks() {
        let skill = sample::skill("brew");
        let report = LiftReport {
            skill: Some(skill.reference()),
            name: Some(skill.name),
            model: Some(ModelId::new("m")),
            helps: Some(true),
            difference: Some(0.4),
            low: 0.25,
            high: 0.5,
            given: 90,
            withheld: 30,
        };
        assert_eq!(
            report.to_string(),
            "skill brew helps with m: +40.0 points of tasks done (from +25.0 to +50.0), by 90 tasks with it and 30 from which it was withheld at random"
        );
        let gone = LiftReport {
            skill: None,
            name: None,
            model: None,
            helps: None,
            difference: None,
            given: 0,
            withheld: 0,
            ..report
        };
        assert_eq!(
            gone.to_string(),
            "it is not known any more whether the library helps: 0 tasks with it and 0 from which it was withheld at random"
        );
    }
}
