//! The place of `cluster` in a build without the feature `clustering`.

use crate::{
    contract::Embedding,
    error::{Error, Result},
    id::Seed,
    papers::scribe::{ClusterPolicy, center::Cluster},
};

/// # Errors
/// `Unsupported`. No run comes this far: [`Recipe::resolve`](crate::recipe::Recipe::resolve) refuses its recipe.
pub(super) fn clusters(_: &[Embedding], _: &ClusterPolicy, _: Seed) -> Result<Vec<Cluster>> {
    let message = "this build cannot cluster subgoals";
    Err(Error::unsupported("assess::clusters", message)
        .hint("switch on the feature `clustering` of `journeyman`"))
}
