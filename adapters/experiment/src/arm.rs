//! An arm of an experiment, and sweeps of one recipe field over several arms.

use std::collections::BTreeMap;

use journeyman::{
    domain::Skill,
    recipe::{self, Recipe},
    stations::{propose::WriteWhen, select::Nothing},
};
use serde_json::Value;

/// One way to learn: a recipe, and the library that it starts from.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Arm {
    /// Names the arm in reports and its cells' files. Two names of a plan differ in more than case and punctuation.
    pub name: String,
    /// The recipe in words, for the report.
    pub description: String,
    /// The recipe of both the stream and the held-out tasks.
    pub recipe: Recipe,
    /// Whether the library may hold skills. An arm without skills shows what skills cost in tokens.
    pub has_skills: bool,
    /// Whether the arm learns from the stream. An arm that does not attempts only the held-out tasks.
    pub learns: bool,
    /// The skills in the library before the first task.
    pub start: Vec<Skill>,
    /// What identifies the models of single jobs that are not the plan's, by the job's name: part of each cell's key. The host gives the
    /// models themselves ([`Host::components`](crate::Host::components)).
    pub models: BTreeMap<String, String>,
}

impl Arm {
    /// An arm that learns from the stream with this recipe, from an empty library. Its description is the recipe's name.
    #[must_use]
    pub fn new(name: impl Into<String>, recipe: Recipe) -> Self {
        Self {
            name: name.into(),
            description: recipe.name.clone(),
            recipe,
            has_skills: true,
            learns: true,
            start: Vec::new(),
            models: BTreeMap::new(),
        }
    }

    /// An arm that has no skills: none is written, and none is selected. Its description is `none`.
    #[must_use]
    pub fn without_skills(name: impl Into<String>) -> Self {
        let mut recipe = recipe::standard();
        recipe.select.selector = Nothing.into();
        recipe.write.when = WriteWhen::Never;
        Self {
            description: "none".to_owned(),
            has_skills: false,
            learns: false,
            ..Self::new(name, recipe)
        }
    }
}

/// Arms that differ in one field of the recipe; the report has a table for each sweep.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The name of the arm that the others were made from.
    pub arm: String,
    /// The field's path in the recipe's JSON form.
    pub path: String,
    /// Each value with its arm, an index into [`Plan::arms`](crate::Plan::arms).
    pub values: Vec<(Value, usize)>,
}

impl Sweep {
    /// A sweep of an arm over the values of an option.
    pub fn new(
        arm: impl Into<String>,
        path: impl Into<String>,
        values: Vec<(Value, usize)>,
    ) -> Self {
        Self {
            arm: arm.into(),
            path: path.into(),
            values,
        }
    }
}

/// A value in names and tables: text without quotation marks, anything else as JSON.
#[must_use]
pub fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
