//! The world of experiments of before, whose files named no tasks: the services of toolworld, which the command has no more. Their
//! finished cells are reported; none is run.

use journeyman::Result;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{
    counts::{Counts, count},
    form::OfWorld,
};
use crate::toml_file::{Source, Table};

/// The [world] of such a file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormerForm {
    stream: Option<Spanned<usize>>,
    held_out: Option<Spanned<usize>>,
    checkpoints: Option<Spanned<usize>>,
    steps: Option<Spanned<usize>>,
    #[serde(default)]
    universe: Table,
}

/// What the keys of its cells have. The order of all fields is part of each key.
#[derive(Debug, Serialize)]
pub(super) struct FormerWorld {
    steps: usize,
    universe: Universe,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
struct Universe {
    hidden: usize,
    plain: usize,
    passing: Option<Passing>,
    world: Services,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Passing {
    share: f64,
    kind: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
struct Services {
    split: String,
    fewest_tools: usize,
    most_tools: usize,
    invented_nouns: f64,
    hidden: f64,
    given: [u32; 5],
    foreign_words: f64,
    wording: String,
}

impl Default for Universe {
    fn default() -> Self {
        Self {
            hidden: 16,
            plain: 8,
            passing: None,
            world: Services::default(),
        }
    }
}

impl Default for Services {
    fn default() -> Self {
        Self {
            split: "held_out".to_owned(),
            fewest_tools: 3,
            most_tools: 5,
            invented_nouns: 0.05,
            hidden: 0.8,
            given: [25, 50, 25, 0, 0],
            foreign_words: 0.0,
            wording: "needs".to_owned(),
        }
    }
}

impl FormerWorld {
    /// The most steps of an attempt, where the file said nothing.
    const STEPS: usize = 8;

    /// The world of a file, which may have left out `[world]`, and how many tasks a cell has.
    ///
    /// # Errors
    /// `Invalid` with the line of a value that is refused.
    pub(super) fn read(source: &Source<'_>, has_world: bool) -> Result<(Self, Counts)> {
        let form = match has_world {
            true => source.form::<OfWorld<FormerForm>>()?.world,
            false => FormerForm::default(),
        };
        let counts = Counts::read(source, &form.stream, &form.held_out, &form.checkpoints)?;
        let mut universe = Universe::default();
        for change in source.changes(&form.universe, &[])? {
            universe = change.make(&universe).map_err(|refusal| {
                let field = format!("universe.{}", change.path);
                source.unmade(change.span.clone(), &field, refusal)
            })?;
        }
        let steps = count(source, &form.steps, Self::STEPS, 1_000)?;
        Ok((Self { steps, universe }, counts))
    }

    /// The world in words, for the report.
    pub(super) fn description(&self) -> String {
        format!(
            "toolworld with {} hidden contracts and {} plain tools, at most {} steps an attempt",
            self.universe.hidden, self.universe.plain, self.steps
        )
    }
}
