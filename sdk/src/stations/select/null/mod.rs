//! What a gate's threshold is fitted by where nobody gave tasks or labels: tasks that are none of the host's, and skills that stand in
//! for those that a small library does not have.

use std::sync::LazyLock;

use crate::domain::Skill;

/// The number of candidates that a threshold is fitted for at least, stand-ins included.
pub(crate) const CANDIDATES: usize = 10;

/// Tasks of many kinds, of 5 to 200 words.
pub fn null_tasks() -> impl ExactSizeIterator<Item = &'static str> {
    const COUNT: usize = 24;
    let tasks: Vec<&str> = include_str!("tasks.txt")
        .split("\n---\n")
        .map(str::trim)
        .collect();
    debug_assert_eq!(tasks.len(), COUNT);
    tasks.into_iter()
}

/// Skills of many kinds. A fit scores them among the candidates where a library has too few; they are never injected.
pub fn stand_ins() -> &'static [Skill] {
    static SKILLS: LazyLock<Vec<Skill>> = LazyLock::new(|| {
        let texts = include_str!("stand_ins.txt").split("=====\n");
        texts
            .filter_map(|text| Skill::from_skill_md(text).ok())
            .collect()
    });
    &SKILLS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_tasks_and_the_stand_ins_are_there_and_differ() {
        let tasks: BTreeSet<&str> = null_tasks().collect();
        assert_eq!(tasks.len(), 24);
        assert!(
            tasks
                .iter()
                .all(|task| task.split_whitespace().count() >= 5)
        );
        let names: BTreeSet<&str> = stand_ins().iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names.len(), CANDIDATES);
        // Longer than what is scored of a skill.
        assert!(stand_ins().iter().all(|one| one.body.len() > 400));
    }
}
