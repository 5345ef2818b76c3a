//! How held-out requests go, with whose skills.

use std::sync::Arc;

use journeyman::{builtin::MemoryStore, contract::Scorer, prelude::*, recipe::Recipe, select};
use journeyman_disk::read_skills;

use crate::{desk::tasks, parts, serve};

/// A folder with a person's skill for each house rule.
pub const BY_A_PERSON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/skills");

/// How requests went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Shares that were done without a refused call: of all, of those with a house rule, and of those without.
    pub done: [f64; 3],
    /// Requests at which an injected skill led to a refused call.
    pub wrong: usize,
    /// Decisions that were not made, for a fault.
    pub undecided: usize,
}

/// Attempts each request once.
pub async fn measure(session: &Journeyman, tasks: &[Task]) -> Result<Figures> {
    let report = session.evaluate(tasks.to_vec()).await?;
    let (mut done, mut all, mut wrong) = ([0.0; 3], [0.0; 3], 0);
    for (task, attempt) in report.tasks.iter().zip(report.attempts()) {
        let at_once = attempt.score == 1.0;
        for group in [0, 1 + usize::from(task.tags.is_empty())] {
            done[group] += f64::from(at_once);
            all[group] += 1.0;
        }
        wrong += usize::from(!at_once && !attempt.injected.is_empty());
    }
    let done = [0, 1, 2].map(|group| done[group] / all[group]);
    let undecided = report.undecided().count();
    Ok(Figures {
        done,
        wrong,
        undecided,
    })
}

/// Held-out requests: without skills; with a person's and a plain search; with what is learned from tasks that are handed over,
/// and in the host's own loop, and the recipe's gate.
pub async fn compare(scorer: Arc<dyn Scorer>, gate: Recipe, seed: Seed) -> Result<[Figures; 4]> {
    let (parts, options) = (parts(scorer)?, Options::new("shop", seed));
    let [training, held_out] = [false, true].map(|held_out| tasks(seed, 90, held_out));
    let open = |recipe| Journeyman::open(parts.clone(), recipe, options.clone());
    let mut search = gate.clone();
    search.select.selector = select::Selector::First;
    let person = open(search).await?;
    let without = measure(&person, &held_out).await?;
    let skills = read_skills(BY_A_PERSON, &MemoryStore::new()).await?;
    person.add(skills, "by a person").await?;
    let handed_over = open(gate.clone()).await?;
    handed_over.learn(training.clone()).await?;
    let own_loop = open(gate).await?;
    for (number, task) in (0..).zip(training) {
        serve(&own_loop, task, seed.derive("serve", number)).await?;
    }
    let person = measure(&person, &held_out).await?;
    let handed_over = measure(&handed_over, &held_out).await?;
    Ok([
        without,
        person,
        handed_over,
        measure(&own_loop, &held_out).await?,
    ])
}
