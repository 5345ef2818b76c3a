//! Clusters and their centers.

use crate::contract::{Embedding, dot};

/// A cluster: indices of its members, those nearest to the center first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    pub(super) members: Vec<usize>,
    pub(super) dense: bool,
}

/// The same direction with length 1.
pub(super) fn unit(mut components: Vec<f32>) -> Vec<f32> {
    let length = dot(&components, &components).sqrt();
    if length > 0.0 {
        components.iter_mut().for_each(|x| *x /= length);
    }
    components
}

/// The sum of embeddings, which has the direction of their mean.
pub(super) fn center<'a>(embeddings: impl Iterator<Item = &'a Embedding>) -> Vec<f32> {
    let mut center: Vec<f32> = Vec::new();
    for embedding in embeddings {
        let components = embedding.components();
        center.resize(components.len().max(center.len()), 0.0);
        for (sum, x) in center.iter_mut().zip(components) {
            *sum += x;
        }
    }
    center
}
