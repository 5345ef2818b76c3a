//! The recipes by name.

use std::ops::Range;

use journeyman::{
    Result,
    policy::Policies,
    recipe::{self, Recipe},
};

use crate::toml_file::Source;

type MakeRecipe = fn() -> Recipe;

/// The recipes by name.
const RECIPES: [(&str, MakeRecipe); 7] = [
    ("arise", recipe::arise),
    ("hisme", recipe::hisme),
    ("hisme-robust", recipe::hisme_robust),
    ("scribe", recipe::scribe),
    ("skillos", recipe::skillos),
    ("skillrl", recipe::skillrl),
    ("standard", recipe::standard),
];

/// The recipe of this name.
pub(crate) fn recipe_of(source: &Source<'_>, name: &str, span: Range<usize>) -> Result<Recipe> {
    let found = RECIPES.iter().find(|(known, _)| *known == name);
    let (_, recipe) = found.ok_or_else(|| {
        let names = RECIPES.map(|(name, _)| format!("`{name}`")).join(", ");
        let hint =
            format!("take {names}; an arm of an experiment may take `none`, for no skills at all");
        source.refused(span, "there is no such recipe", hint)
    })?;
    Ok(recipe())
}

/// Checks a recipe, and the policies that it names with their options. The command has no policies but ours.
///
/// # Errors
/// Those of [`Recipe::validate`] and [`Recipe::resolve`].
pub(crate) fn check(recipe: &Recipe) -> Result<()> {
    recipe.validate()?;
    recipe.resolve(&Policies::new()).map(drop)
}
