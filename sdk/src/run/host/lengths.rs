//! Skills with which tasks take longer, by the tasks that they were withheld from at random.

use std::collections::BTreeMap;

use crate::{
    contract::Components,
    domain::SkillName,
    id::{ModelId, SkillId},
    library::SkillLibrary,
    run::report::{Finding, FindingKind},
    stations::proof::{Lift, LiftOf, LiftPolicy, Lifts},
};

/// The findings of the skills in use with which, as the ledger of lifts knows, tasks take longer.
pub(super) fn known(components: &Components, library: &SkillLibrary) -> Vec<Finding> {
    if library.assignments().next().is_none() {
        return Vec::new();
    }
    let Ok(lifts) = Lifts::of(library, LiftPolicy::default()) else {
        return Vec::new();
    };
    let acting = components.acting_model();
    let acts = |lift: &Lift| {
        let model = lift.model.as_ref();
        model.is_none() || acting.is_none() || model == acting
    };
    let mut longer: BTreeMap<&SkillId, (&SkillName, Vec<String>)> = BTreeMap::new();
    for lift in lifts.lifts.iter().filter(|lift| lift.longer && acts(lift)) {
        let LiftOf::Skill(skill) = &lift.of else {
            continue;
        };
        let Some(entry) = library.get(&skill.id) else {
            continue;
        };
        let now = &entry.skill;
        if now.state.is_offered() && now.version == skill.version {
            let (_, reasons) = longer.entry(&now.id).or_insert((&now.name, Vec::new()));
            reasons.push(reason(lift, acting));
        }
    }
    let findings = longer.into_iter().map(|(id, (name, reasons))| {
        let finding = Finding::new(
            FindingKind::TakesLonger,
            format!("tasks take longer with the skill {name}"),
            reasons.join("; "),
            "take it out of use (`Journeyman::set_state`), or have a new version written; a task that is done counts as done however many steps \
             it took, unless you let the length count (docs/how-to/measure-skills.md)",
        );
        finding.about(id.as_str())
    });
    findings.collect()
}

/// Why a lift is said to be longer. It tells the tasks done beside the steps, since a failure counts as longer than a success, and the
/// model where the host does not say which one acts.
fn reason(lift: &Lift, acting: Option<&ModelId>) -> String {
    let (given, withheld) = lift.tasks();
    let more = lift.steps.estimate().unwrap_or_default();
    let done = 100.0 * lift.success.estimate().unwrap_or_default();
    let category = lift.category.iter();
    let category = category.map(|category| format!(" of the category {category}"));
    let model = lift.model.iter().filter(|_| acting.is_none());
    let model = model.map(|model| format!(" with the model {model}"));
    let which: String = category.chain(model).collect();
    format!(
        "{more:+.1} steps in the mean and {done:+.1} points of tasks done, by {given} tasks{which} that had it and {withheld} from which it \
         was withheld at random"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{AssignedSkill, Assignment, LibraryChange, State},
        id::{AttemptId, Seed, TaskId},
        testing::{Edited as _, sample},
    };

    /// A library whose ledger has one skill, withheld from half of its tasks at random. All are done.
    fn library(steps: [f64; 2]) -> SkillLibrary {
        let skill = sample::skill("book");
        let assigned = |number: u32| {
            let given = Seed(5).derive("given", u64::from(number)).unit() < 0.5;
            let steps = if given { steps[0] } else { steps[1] };
            let task = TaskId::new(format!("t-{number}"));
            let attempt = AttemptId::new(format!("r/{number}/0"));
            let assignment = Assignment::new(attempt, task, 0.5).edited(|it| {
                it.category = Some("orders".into());
                it.model = Some("m".into());
                it.without = !given;
                it.by_skill = true;
                it.skills = vec![AssignedSkill::new(skill.reference(), given)];
                it.success = 1.0;
                it.score = 1.0;
                it.steps = steps + f64::from(number % 2);
            });
            LibraryChange::Assign(Box::new(assignment))
        };
        let mut changes = vec![LibraryChange::Add(Box::new(skill.clone()))];
        changes.extend((0..100).map(assigned));
        SkillLibrary::replay(&[sample::committed(1, changes)]).expect("a library")
    }

    #[test]
    fn the_ledger_knows_that_tasks_take_longer_with_a_skill_though_all_are_done() {
        let library = library([5.0, 3.0]);
        let lifts = Lifts::of(&library, LiftPolicy::default()).expect("a ledger");
        let model = ModelId::new("m");
        let lift = lifts.skill(&sample::skill("book").reference(), Some(&model));
        let lift = lift.expect("it was withheld");
        assert!(lift.longer, "{lifts}");
        assert!(
            lifts.to_string().contains("; tasks take longer with it: +"),
            "{lifts}"
        );
        // By what is done it is not known.
        assert_eq!(lift.success.estimate(), Some(0.0));
        let findings = known(&Components::own_loop(), &library);
        let [finding] = findings.as_slice() else {
            panic!("{findings:?}");
        };
        assert_eq!(
            (finding.kind, finding.about.as_deref()),
            (FindingKind::TakesLonger, Some("book"))
        );
        for part in [
            " steps in the mean and +0.0 points of tasks done, by ",
            "tasks with the model m that had it",
            "tasks of the category orders with the model m that had it",
            "withheld at random",
        ] {
            assert!(finding.reason.contains(part), "{part:?} in {finding}");
        }
    }

    #[test]
    fn the_ledger_tells_nothing_of_a_skill_that_saves_steps_or_is_out_of_use() {
        let finds = |library: &SkillLibrary| !known(&Components::own_loop(), library).is_empty();
        assert!(!finds(&library([3.0, 5.0])) && !finds(&SkillLibrary::new()));
        let mut library = library([5.0, 3.0]);
        let change = LibraryChange::SetState {
            skill: SkillId::new("book"),
            state: State::Disabled,
            reason: "it leads astray".to_owned(),
        };
        library
            .apply(&sample::committed(2, vec![change]))
            .expect("it applies");
        assert!(!finds(&library));
    }
}
