//! Leaves chosen skills out by chance, so that what they bring can be told.

use crate::{
    domain::{
        Decision, NothingReason, Selection, SkillRef, Withheld, Withhold, retrieval::SelectPer,
    },
    id::Seed,
    policy::view::Selected,
};

impl Withhold {
    /// The selections for a task, without what chance leaves out of all its attempts. `seed` is the task's.
    pub(crate) fn applied(&self, mut selected: Selected, per: SelectPer, seed: Seed) -> Selected {
        for selection in &mut selected.selections {
            self.apply(selection, per, seed);
        }
        selected
    }

    fn apply(&self, selection: &mut Selection, per: SelectPer, seed: Seed) {
        let all = self.takes_all(seed);
        let by_skill = per == SelectPer::Query;
        let mut left_out = Vec::new();
        match &mut selection.decision {
            Decision::Inject { skills, .. } => {
                let chosen = std::mem::take(skills);
                let several = chosen.len() > 1;
                let takes = |skill: &SkillRef| by_skill && several && self.takes(skill, seed);
                let kept: Vec<SkillRef>;
                (left_out, kept) = chosen.into_iter().partition(|skill| all || takes(skill));
                match kept.is_empty() {
                    true => selection.decision = Decision::Nothing(NothingReason::Withheld),
                    false => *skills = kept,
                }
            }
            // A later turn may choose some, and goes without them too.
            Decision::Nothing(_) if per == SelectPer::Turn => {}
            Decision::Nothing(_) => return,
        }
        selection.withheld = Some(Box::new(Withheld {
            share: self.share,
            all,
            by_skill,
            skills: left_out,
        }));
    }

    /// Whether all attempts at the task with this seed, and each later turn of them, go without any skill.
    pub(crate) fn takes_all(&self, seed: Seed) -> bool {
        seed.derive("withhold all", 0).unit() < self.share
    }

    fn takes(&self, skill: &SkillRef, seed: Seed) -> bool {
        let label = format!("withhold {}", skill.id);
        seed.derive(&label, 0).unit() < self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    fn chosen(names: &[&str]) -> Selection {
        let skills = names.iter().map(|name| sample::skill(name).reference());
        Selection::unscored(Decision::Inject {
            skills: skills.collect(),
            explored: false,
        })
    }

    fn drawn(names: &[&str], share: f64, count: u64) -> Vec<Selection> {
        by(SelectPer::Query, names, share, count)
    }

    /// The selection for each of so many tasks.
    fn by(per: SelectPer, names: &[&str], share: f64, count: u64) -> Vec<Selection> {
        let seeds = (0..count).map(|number| Seed(7).derive("step", number));
        let withhold = Withhold { share };
        let drawn = seeds.map(|seed| {
            let mut selected = withhold.applied(chosen(names).into(), per, seed);
            selected.selections.remove(0)
        });
        drawn.collect()
    }

    #[test]
    fn the_share_of_tasks_goes_without() {
        let drawn = drawn(&["one"], 0.2, 5_000);
        let without = drawn.iter().filter(|one| one.skills().is_empty());
        let share = without.count() as f64 / 5_000.0;
        assert!((share - 0.2).abs() < 0.02, "{share}");
        for selection in &drawn {
            let withheld = selection.withheld.as_ref().expect("it was drawn");
            let missing = Decision::Nothing(NothingReason::Withheld);
            assert_eq!(withheld.all, selection.decision == missing);
            assert_eq!(withheld.skills.len() + selection.skills().len(), 1);
        }
    }

    #[test]
    fn each_of_two_skills_is_left_out_by_itself_where_not_both_are() {
        let drawn = drawn(&["one", "two"], 0.3, 5_000);
        let draws = drawn.iter().filter_map(|one| one.withheld.as_deref());
        let some: Vec<&Withheld> = draws.filter(|one| !one.all).collect();
        let share = |name: &str| {
            let has = |one: &&&Withheld| one.skills.iter().any(|skill| skill.id.as_str() == name);
            some.iter().filter(has).count() as f64 / some.len() as f64
        };
        assert!((some.len() as f64 / 5_000.0 - 0.7).abs() < 0.02);
        assert!((share("one") - 0.3).abs() < 0.03, "{}", share("one"));
        assert!((share("two") - 0.3).abs() < 0.03, "{}", share("two"));
        // One draw says nothing about the other.
        let both = some.iter().filter(|one| one.skills.len() == 2);
        let both = both.count() as f64 / some.len() as f64;
        assert!((both - 0.09).abs() < 0.02, "{both}");
    }

    #[test]
    fn the_same_seed_draws_the_same_and_no_skill_is_no_draw() {
        assert_eq!(
            drawn(&["one", "two"], 0.5, 50),
            drawn(&["one", "two"], 0.5, 50)
        );
        let nothing = Selection::nothing(NothingReason::NoCandidates);
        let withhold = Withhold { share: 0.5 };
        let applied = |per| {
            withhold
                .applied(nothing.clone().into(), per, Seed(1))
                .selections
        };
        assert_eq!(applied(SelectPer::Query), std::slice::from_ref(&nothing));
        // Later turns may choose one, and are drawn over with the task.
        assert!(applied(SelectPer::Turn)[0].withheld.is_some());
    }

    #[test]
    fn a_recipe_that_selects_at_each_turn_leaves_out_all_or_none() {
        let drawn = by(SelectPer::Turn, &["one", "two"], 0.5, 200);
        let draws = drawn.iter().filter_map(|one| one.withheld.as_deref());
        let draws: Vec<&Withheld> = draws.collect();
        assert_eq!(draws.len(), 200);
        for draw in draws {
            assert!(!draw.by_skill && draw.skills.len() == if draw.all { 2 } else { 0 });
        }
    }
}
