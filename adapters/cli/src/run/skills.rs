//! The skills of a run's library, in words.

use std::path::Path;

use journeyman::{domain::State, library::SkillLibrary};

use crate::library::count;

/// The skills of the library by state, and what becomes of those that wait.
pub(super) fn in_library(skills: &SkillLibrary, library: &Path) -> String {
    const SHOWN: [State; 6] = [
        State::Active,
        State::Trial,
        State::Quarantined,
        State::Draft,
        State::Disabled,
        State::Archived,
    ];
    let states: Vec<String> = SHOWN
        .into_iter()
        .map(|state| (count(skills, state), state))
        .filter(|(count, _)| *count > 0)
        .map(|(count, state)| format!("{count} {state}"))
        .collect();
    let all = match (skills.entries().count(), states.join(", ")) {
        (0, _) => "no skill".to_owned(),
        (1, states) => format!("1 skill ({states})"),
        (all, states) => format!("{all} skills ({states})"),
    };
    let folder = library.display();
    let release = format!("`journeyman skill release NAME --reason TEXT --library \"{folder}\"`");
    let mut text = format!("The library has {all}: {folder}\n");
    if count(skills, State::Trial) > 0 {
        text.push_str(&format!(
            "Skills on trial are given to the agent while it learns. Measurements leave them out until enough attempts with them \
             went well, or {release} releases one.\n",
        ));
    }
    if count(skills, State::Quarantined) > 0 {
        text.push_str(&format!(
            "Skills in quarantine are given to nobody, unless the recipe's `maintenance.quarantine` tries them: they were learned in \
             a world that is not trusted, imported, or put there by hand. Read each with `skill show`, then {release}; \
             `trusted = true` is for a world of your own.\n",
        ));
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use journeyman::{
        domain::{Cause, CommitKey, Committed, LibraryChange},
        testing::sample,
    };

    use super::*;

    fn of(states: &[State]) -> String {
        let mut library = SkillLibrary::new();
        let skill = |(number, state): (usize, &State)| {
            sample::skill(&format!("skill-{number}")).with_state(*state)
        };
        let skills = states.iter().enumerate().map(skill);
        let committed = Committed::new(
            library.revision().next(),
            CommitKey::new("made"),
            Cause::new("a test"),
            skills
                .map(|one| LibraryChange::Add(Box::new(one)))
                .collect(),
        );
        library.apply(&committed).unwrap();
        in_library(&library, Path::new("my shop"))
    }

    #[test]
    fn skills_are_counted_by_state_and_those_that_wait_are_explained() {
        assert_eq!(
            of(&[State::Active]),
            "The library has 1 skill (1 active): my shop\n"
        );
        let text = of(&[
            State::Trial,
            State::Active,
            State::Quarantined,
            State::Trial,
        ]);
        let mut lines = text.lines();
        assert_eq!(
            lines.next().unwrap(),
            "The library has 4 skills (1 active, 2 on trial, 1 quarantined): my shop"
        );
        let command = "`journeyman skill release NAME --reason TEXT --library \"my shop\"`";
        for begin in ["Skills on trial ", "Skills in quarantine "] {
            let line = lines.next().unwrap();
            assert!(line.starts_with(begin) && line.contains(command), "{line}");
        }
        assert_eq!(lines.next(), None);
    }
}
