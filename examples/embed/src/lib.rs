//! The shortest hosts. `src/bin/first.rs`, which the README prints, has three calls in a loop of its own, and fetches its model.
//! `src/bin/shortest.rs` has 25 lines, on `journeyman-local`. `src/bin/hand_over.rs` hands its tasks over and
//! `src/bin/own_loop.rs` keeps its own agent loop; each is one file of under 60 lines. None of these three needs another file than a GGUF
//! file as its model. `src/bin/scripted.rs` runs all three without one, on the scripted model of `examples/host`. `python/parcels.py` is an environment in Python. The guides in `docs` print
//! these files; the tests compare them, and run them.

/// The program of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The tutorial of a loop of the host's own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorial/own-loop.md")]
struct OwnLoop;

/// The tutorial of tasks that are handed over.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorial/hand-over-tasks.md")]
struct HandOverTasks;

/// The tutorial of skills that a product ships.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorial/ship-skills.md")]
struct ShipSkills;

/// The guide to environments.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/environments.md")]
struct Environments;

/// The page on worlds that cannot be reset.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/worlds-that-cannot-be-reset.md")]
struct WorldsThatCannotBeReset;

/// The guide to whether a skill helps.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/measure-skills.md")]
struct MeasureSkills;

/// The guide to a bound on harm.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/bound-harm.md")]
struct BoundHarm;

/// The guide to undoing runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/undo.md")]
struct Undo;

/// The page on trust.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/explanation/trust.md")]
struct Trust;
