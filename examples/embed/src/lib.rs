//! The shortest hosts. `src/bin/shortest.rs` has 25 lines, on `journeyman-local`. `src/bin/hand_over.rs` hands its tasks over and
//! `src/bin/own_loop.rs` keeps its own agent loop; each is one file of under 60 lines. No program needs another file than a GGUF
//! file as its model. `src/bin/scripted.rs` runs all three without one, on the scripted model of `examples/host`. `python/parcels.py` is an environment in Python. The guides in `docs` print
//! these files; the tests compare them, and run them.

/// The guide to both ways in.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embed.md")]
struct Embed;

/// The guide to environments.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/environments.md")]
struct Environments;

/// The guide to shipping skills.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/shipping.md")]
struct Shipping;
