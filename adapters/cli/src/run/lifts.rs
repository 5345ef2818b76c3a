//! What the ledger of lifts says after a run whose recipe withholds skills by chance.

use journeyman::{
    ModelId,
    library::SkillLibrary,
    stations::proof::{Lift, LiftOf, LiftVerdict, Lifts},
};
use serde_json::{Value, json};

use crate::lift::{points, range, verdict};

/// The ledger's lines of one model, in short.
#[derive(Debug)]
pub(super) struct Known<'a> {
    /// How often the range of the difference may leave out the true one.
    error: f64,
    /// Of the library as a whole; `None` where nothing was given or withheld yet.
    library: Option<&'a Lift>,
    /// Numbers of the skills in use and on trial, by their verdicts.
    helps: usize,
    harms: usize,
    /// All others.
    not_yet: usize,
}

impl<'a> Known<'a> {
    /// What is known with this model of the library and of its skills in their present versions.
    pub(super) fn of(lifts: &'a Lifts, skills: &SkillLibrary, model: Option<&ModelId>) -> Self {
        let mut known = Self {
            error: lifts.policy.error,
            library: None,
            helps: 0,
            harms: 0,
            not_yet: 0,
        };
        let offered = || {
            let skills = skills.entries().map(|entry| &entry.skill);
            skills.filter(|skill| skill.state.is_offered())
        };
        let lifts = lifts.lifts.iter();
        for lift in lifts.filter(|lift| lift.category.is_none() && lift.model.as_ref() == model) {
            let LiftOf::Skill(skill) = &lift.of else {
                known.library = Some(lift);
                continue;
            };
            let mut offered = offered();
            if !offered.any(|one| one.reference() == *skill) {
                continue;
            }
            match lift.verdict {
                Some(LiftVerdict::Helps) => known.helps += 1,
                Some(LiftVerdict::Harms) => known.harms += 1,
                _ => {}
            }
        }
        known.not_yet = offered().count().saturating_sub(known.helps + known.harms);
        known
    }

    pub(super) fn text(&self) -> String {
        let Some(library) = self.library else {
            return "Nothing was withheld at random yet, so that nobody can tell what the skills bring.\n".to_owned();
        };
        let (given, withheld) = library.tasks();
        let difference = match points(&library.success, self.error) {
            Some(points) => format!("{points} points of tasks done"),
            None => "the difference is not known".to_owned(),
        };
        format!(
            "What the library brings, by {given} tasks with skills and {withheld} from which they were withheld at random: {difference}; {}.\n\
             Skills that help: {}, that harm: {}, not known yet: {}. `journeyman library lift` shows each.\n",
            verdict(library.verdict),
            self.helps,
            self.harms,
            self.not_yet
        )
    }

    pub(super) fn json(&self) -> Value {
        let (given, withheld) = self.library.map_or((0, 0), Lift::tasks);
        let success = self.library.map(|library| &library.success);
        let interval = success.map(|success| range(success.interval(self.error)));
        json!({
            "given": given,
            "withheld": withheld,
            "difference": success.and_then(|success| success.estimate()),
            "interval": interval,
            "verdict": self.library.and_then(|library| library.verdict),
            "skills": {"helps": self.helps, "harms": self.harms, "not_yet": self.not_yet},
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use journeyman::testing::Edited as _;
    use journeyman::{
        Category, TaskId,
        domain::{AssignedSkill, Assignment, AttemptId, LibraryChange, SkillRef},
        stations::proof::LiftPolicy,
        testing::sample,
    };

    use super::*;

    /// A library with a skill that was withheld by chance, and one that never was; one has gone. With the first and with the last nine of
    /// ten tasks are done, without them three.
    fn library(tasks: usize) -> SkillLibrary {
        let here = sample::skill("brew");
        let gone = sample::skill("gone").reference();
        let assigned = |number: usize, skill: &SkillRef| {
            let given = number.is_multiple_of(2);
            let done = f64::from(u8::from(number / 2 % 10 < if given { 9 } else { 3 }));
            LibraryChange::Assign(Box::new(
                Assignment::new(
                    AttemptId::new(format!("{}/{number}/0", skill.id)),
                    TaskId::new(format!("{}-{number}", skill.id)),
                    0.5,
                )
                .edited(|it| {
                    it.category = Some(Category::new("kitchen"));
                    it.model = Some(ModelId::new("m"));
                    it.without = !given;
                    it.by_skill = true;
                    it.skills = vec![AssignedSkill::new(skill.clone(), given)];
                    it.success = done;
                    it.score = done;
                    it.steps = 4.0;
                    it.tokens = 500.0;
                }),
            ))
        };
        let reference = here.reference();
        let never = sample::skill("stir");
        let mut changes: Vec<LibraryChange> = [here, never]
            .map(|skill| LibraryChange::Add(Box::new(skill)))
            .into();
        for skill in [&reference, &gone] {
            changes.extend((0..tasks).map(|number| assigned(number, skill)));
        }
        SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap()
    }

    #[test]
    fn the_library_and_the_skills_in_it_are_counted_for_the_model_that_acts() {
        let library = library(120);
        let lifts = Lifts::of(&library, LiftPolicy::default()).unwrap();
        let model = ModelId::new("m");
        let known = Known::of(&lifts, &library, Some(&model));
        let text = known.text();
        assert!(
            text.contains("120 tasks with skills and 120 from which"),
            "{text}"
        );
        assert!(
            text.contains(": +60 (") && text.contains("; helps.\n"),
            "{text}"
        );
        let skills = "Skills that help: 1, that harm: 0, not known yet: 1.";
        assert!(text.contains(skills), "{text}");
        let told = known.json();
        assert_eq!(
            (&told["given"], &told["verdict"]),
            (&120.into(), &"helps".into())
        );
        assert_eq!(
            told["skills"],
            json!({"helps": 1, "harms": 0, "not_yet": 1})
        );
        // Nothing is known with another one.
        let other = Known::of(&lifts, &library, Some(&ModelId::new("n")));
        assert!(other.text().starts_with("Nothing was withheld"));
        assert_eq!(
            (&other.json()["given"], &other.json()["interval"]),
            (&0.into(), &Value::Null)
        );
    }
}
