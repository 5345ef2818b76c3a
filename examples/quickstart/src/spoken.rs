//! Tasks, skills and attempts of toolworld, as the bundled model reads and writes them.

use journeyman::{
    Result, Seed,
    domain::{Segmentation, SkillDraft, Task, Trace},
};
use journeyman_toolworld::{
    environment::Setup,
    general::{
        manner::{Manner, Refusals},
        recipe::Recipe,
        roles, skills,
    },
    seed::Draws,
    stream::{Member, StreamTask},
    tool::SkillText,
};

/// A task as the agent meets it: all worlds of a seed define their tools and word their answers in one manner, as one provider's
/// services would.
///
/// # Errors
/// `Internal` for a world that cannot be written as JSON.
pub fn task(task: Task, seed: Seed) -> Result<Task> {
    in_manner(task, manner(seed))
}

fn in_manner(mut task: Task, manner: Manner) -> Result<Task> {
    task.payload = Setup::of(&task)?.with_manner(manner).to_json()?;
    Ok(task)
}

fn manner(seed: Seed) -> Manner {
    Manner::named(&mut Draws::new("manner of the quickstart", &[seed.0]))
}

/// The tasks of a stream as the agent meets them.
///
/// # Errors
/// As [`task`].
pub fn tasks(tasks: &[StreamTask], seed: Seed) -> Result<Vec<Task>> {
    tasks.iter().map(|one| task(one.task()?, seed)).collect()
}

/// The same where the services answer in sentences.
///
/// # Errors
/// As [`task`].
pub fn tasks_in_sentences(tasks: &[StreamTask], seed: Seed) -> Result<Vec<Task>> {
    let mut manner = manner(seed);
    let mut draws = Draws::new("sentences of the quickstart", &[seed.0]);
    manner.refusals = Refusals::Named(draws.between(5, 7) as u8);
    manner.results = 1;
    let tasks = tasks.iter();
    tasks
        .map(|one| in_manner(one.task()?, manner.clone()))
        .collect()
}

/// The skill that a member's contract calls for, as the bundled model writes it.
pub fn draft(member: &Member) -> SkillDraft {
    skills::draft(&Recipe::of(&member.service, &member.given))
}

/// A step list as a skill that names the calls before the last and gives values for the last alone; `None` for one without a
/// call that can be read.
pub fn written(text: &SkillText) -> Option<SkillDraft> {
    Some(skills::draft(&Recipe::of_steps(text)?))
}

/// The cut of a recorded attempt into subgoals that its world gives.
///
/// # Errors
/// `Invalid` for an attempt that was not recorded in a world of toolworld.
pub fn true_cut(attempt: &Trace) -> Result<Segmentation> {
    roles::true_cut(attempt)
}

/// Whether a skill's body says what a member's contract calls for, in the form in which the bundled model writes; the calls before
/// the last may be in any order.
pub fn says(body: &str, member: &Member) -> bool {
    skills::read(body)
        .is_some_and(|said| said.does_the_same(&Recipe::of(&member.service, &member.given)))
}
