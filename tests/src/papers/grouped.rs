//! SkillOS: tasks in groups against one task after the other, on as many tasks. In `scribe-skillos-skillrl` both have as many
//! tokens, and the groups therefore fewer tasks.

use journeyman::recipe;

use super::{
    STEPS,
    arms::{self, Arm, Learning},
    difference, key,
    skillos::NONE,
    spread,
    world::{Held, Host, MANY_HIDDEN, World},
};
use crate::figures::{Bound, Figures, Outcome, recalling};

/// Tasks that are learned from: whole parts of the arm in groups.
const TASKS: usize = 64;
/// Tasks that are put into groups together.
const PART: usize = 16;
/// Worlds of a seed.
const WORLDS: u64 = 2;

const GROUPED: Arm = Arm {
    name: "grouped",
    recipe: recipe::skillos,
    learning: Learning::Grouped(PART),
};
const ONE_BY_ONE: Arm = Arm::of("one by one", recipe::skillos);

/// Measures and records.
pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = recalling(&figures.parts(STEPS)?)?;
    let mut firsts = Vec::new();
    for arm in [NONE, ONE_BY_ONE, GROUPED] {
        let mut held: Vec<(Held, u64)> = Vec::new();
        for number in 0..WORLDS {
            let seed = figures.options().seed;
            let key = key(&parts, &format!("{} on {TASKS}, world {number}", arm.name));
            held.push(figures.once(&key, || {
                let mut world = World::of(MANY_HIDDEN, seed, number)?;
                world.stream.truncate(TASKS);
                let host = Host::new(&parts, world.seed);
                let learned = arms::learn(&host, &world, &arm, u64::MAX)?;
                let held = host.evaluate((arm.recipe)(), &learned.store, &world.held_out)?;
                Ok((held, learned.spent))
            })?);
        }
        let of =
            |value: &dyn Fn(&(Held, u64)) -> f64| -> Vec<f64> { held.iter().map(value).collect() };
        let first = of(&|(held, _)| held.first);
        spread(
            figures,
            &format!("skillos-groups.{}.first attempt", arm.name),
            &first,
        );
        let name = format!("skillos-groups.{}.tokens to learn", arm.name);
        spread(figures, &name, &of(&|(_, spent)| *spent as f64));
        firsts.push(first);
    }
    if let [_, one_by_one, grouped] = firsts.as_slice() {
        let name = "skillos-groups.grouped over one by one, as many tasks, first attempt";
        difference(
            figures,
            name,
            (grouped, one_by_one),
            (Bound::None, Bound::None),
        );
    }
    Ok(())
}
