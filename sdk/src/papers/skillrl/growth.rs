//! The growth of a bank by category (SkillRL 4.3, figure 3; row R7).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Committed, Scope},
    error::Result,
    id::{Category, Revision},
    library::SkillLibrary,
};

/// The number of skills of a bank at a revision: those that a run may offer, active or on trial.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BankSize {
    /// The library's revision.
    pub revision: Revision,
    /// Number of general skills.
    pub general: usize,
    /// Number of skills of each category that has any.
    pub categories: BTreeMap<Category, usize>,
}

impl BankSize {
    /// The size of a library's bank.
    pub fn of(library: &SkillLibrary) -> Self {
        let mut size = Self {
            revision: library.revision(),
            ..Self::default()
        };
        let skills = library.entries().map(|entry| &entry.skill);
        for skill in skills.filter(|skill| skill.state.is_offered()) {
            match &skill.scope {
                Scope::Category(category) => {
                    *size.categories.entry(category.clone()).or_default() += 1;
                }
                _ => size.general += 1,
            }
        }
        size
    }

    /// Number of skills of all categories, general ones apart.
    pub fn specific(&self) -> usize {
        self.categories.values().sum()
    }
}

/// The sizes of a bank over its revisions: one for each revision at which a number changed, in order. `committed` is all that the
/// store committed.
///
/// # Errors
/// As [`SkillLibrary::apply`].
///
/// ```
/// use journeyman::{domain::{LibraryChange, Scope}, papers::skillrl::bank_growth, testing::sample};
///
/// let add = |skill| LibraryChange::Add(Box::new(skill));
/// let mut of_tea = sample::skill("steep");
/// of_tea.scope = Scope::Category("tea".into());
/// let committed = [
///     sample::committed(1, vec![add(sample::skill("look"))]),
///     sample::committed(2, vec![LibraryChange::Maintain]),
///     sample::committed(3, vec![add(of_tea)]),
/// ];
/// let growth = bank_growth(&committed)?;
/// let sizes: Vec<_> = growth.iter().map(|size| (size.revision.0, size.general, size.specific())).collect();
/// assert_eq!(sizes, [(1, 1, 0), (3, 1, 1)]);
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn bank_growth(committed: &[Committed]) -> Result<Vec<BankSize>> {
    let mut library = SkillLibrary::new();
    let mut growth: Vec<BankSize> = Vec::new();
    for commit in committed {
        library.apply(commit)?;
        let size = BankSize::of(&library);
        let empty = BankSize::default();
        let before = growth.last().unwrap_or(&empty);
        if (before.general, &before.categories) != (size.general, &size.categories) {
            growth.push(size);
        }
    }
    Ok(growth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{LibraryChange, State},
        testing::sample,
    };

    #[test]
    fn what_is_taken_out_of_use_shrinks_the_bank() {
        let add = |name: &str| LibraryChange::Add(Box::new(sample::skill(name)));
        let disable = LibraryChange::SetState {
            skill: "a".into(),
            state: State::Disabled,
            reason: "wrong".to_owned(),
        };
        let committed = [
            sample::committed(1, vec![add("a"), add("b")]),
            sample::committed(2, vec![disable]),
        ];
        let growth = bank_growth(&committed).unwrap();
        let sizes: Vec<usize> = growth.iter().map(|size| size.general).collect();
        assert_eq!(sizes, [2, 1]);
        assert!(bank_growth(&[]).unwrap().is_empty());
        assert!(
            bank_growth(&committed[1..]).is_err(),
            "the first commit is missing"
        );
    }
}
