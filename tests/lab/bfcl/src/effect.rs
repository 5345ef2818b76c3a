//! Damage that has an effect.

use journeyman::{Result, contract::Environment};

use crate::{
    damage::{Damage, damaged},
    replay::replay,
    task::BfclTask,
};

/// How the official checker judged damaged tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Tasks in which this damage has an effect somewhere.
    pub tasks: usize,
    /// Those of them that the checker judged invalid.
    pub invalid: usize,
}

/// Damages each task at the first place where that has an effect: another state, or a missing output. The world must show
/// its state.
///
/// # Errors
/// As [`replay`].
pub async fn with_effect(
    world: &dyn Environment,
    tasks: &[BfclTask],
    damage: Damage,
) -> Result<Found> {
    let mut found = Found {
        tasks: 0,
        invalid: 0,
    };
    for BfclTask { task, turns } in tasks {
        let due = replay(world, task, turns).await?;
        for changed in damaged(turns, damage) {
            let played = replay(world, task, &changed).await?;
            if due.differs(&played) {
                found.tasks += 1;
                found.invalid += usize::from(!played.outcome.success);
                break;
            }
        }
    }
    Ok(found)
}
