//! Clusters of subgoals: dense ones by HDBSCAN, and what it leaves as noise by k-means (SCRIBE 3.1).

use hdbscan::{Hdbscan, HdbscanHyperParams};
use smartcore::{
    cluster::kmeans::{KMeans, KMeansParameters},
    linalg::basic::matrix::DenseMatrix,
};

use crate::{
    contract::{Embedding, dot},
    error::{Error, Result},
    id::Seed,
    papers::scribe::{
        ClusterPolicy,
        center::{Cluster, center, unit},
    },
};

/// Greatest number of rounds of k-means.
const ROUNDS: usize = 100;

/// Clusters embeddings; those of one space. Each index is in exactly one cluster. The same input and seed give the same
/// clusters.
///
/// # Errors
/// `Internal` where a clustering algorithm fails, which it does not for embeddings of one length.
pub(super) fn clusters(
    embeddings: &[Embedding],
    policy: &ClusterPolicy,
    seed: Seed,
) -> Result<Vec<Cluster>> {
    let labels = near(embeddings, dense(embeddings, policy)?, policy.near);
    let most = labels.iter().copied().max().unwrap_or(-1);
    let of = |label: i32| -> Vec<usize> {
        let all = (0..).zip(&labels);
        all.filter(|(_, own)| **own == label)
            .map(|(place, _)| place)
            .collect()
    };
    let mut clusters: Vec<(Vec<usize>, bool)> = (0..=most).map(|label| (of(label), true)).collect();
    let noise = of(-1);
    let of_noise = of_noise(embeddings, &noise, policy, seed)?;
    clusters.extend(of_noise.into_iter().map(|members| (members, false)));
    let clusters = clusters
        .into_iter()
        .filter(|(members, _)| !members.is_empty());
    Ok(clusters
        .map(|(members, dense)| Cluster {
            members: nearest_first(embeddings, members),
            dense,
        })
        .collect())
}

/// HDBSCAN's labels; -1 for noise. Equal texts have equal embeddings, whose density is without bound: the
/// copies of an embedding are therefore moved apart, the farthest by 0.001.
fn dense(embeddings: &[Embedding], policy: &ClusterPolicy) -> Result<Vec<i32>> {
    if embeddings.len() < policy.least.get().max(2) {
        return Ok(vec![-1; embeddings.len()]);
    }
    let points: Vec<Vec<f32>> = spread(embeddings);
    let parameters = HdbscanHyperParams::builder()
        .min_cluster_size(policy.least.get())
        .min_samples(policy.neighbours.get().min(embeddings.len() - 1).max(1))
        .build();
    Hdbscan::new(&points, parameters)
        .cluster()
        .map_err(|error| failed("Hdbscan::cluster", &error.to_string()))
}

/// The labels, with noise for those that are not near the center of their cluster.
fn near(embeddings: &[Embedding], mut labels: Vec<i32>, least: f64) -> Vec<i32> {
    let most = labels.iter().copied().max().unwrap_or(-1);
    for label in 0..=most {
        let all = embeddings.iter().zip(&labels);
        let own = all.filter(|(_, own)| **own == label);
        let center = unit(center(own.map(|(embedding, _)| embedding)));
        for (embedding, own) in embeddings.iter().zip(&mut labels) {
            if *own == label && f64::from(dot(embedding.components(), &center)) < least {
                *own = -1;
            }
        }
    }
    labels
}

/// The components, with one more by which equal embeddings differ a little.
fn spread(embeddings: &[Embedding]) -> Vec<Vec<f32>> {
    const APART: f32 = 1e-3;
    let mut seen: std::collections::BTreeMap<Vec<u32>, u32> = std::collections::BTreeMap::new();
    let point = |embedding: &Embedding| {
        let components = embedding.components();
        let bits = components.iter().map(|x| x.to_bits()).collect();
        let copies = seen.entry(bits).or_default();
        *copies += 1;
        let mut point = components.to_vec();
        point.push(APART * *copies as f32 / embeddings.len() as f32);
        point
    };
    embeddings.iter().map(point).collect()
}

/// k-means over what is left.
fn of_noise(
    embeddings: &[Embedding],
    noise: &[usize],
    policy: &ClusterPolicy,
    seed: Seed,
) -> Result<Vec<Vec<usize>>> {
    let count = noise.len().div_ceil(policy.noise.get());
    // The crate refuses fewer than two clusters.
    if count < 2 {
        return Ok(vec![noise.to_vec()]);
    }
    let points = noise.iter().filter_map(|place| embeddings.get(*place));
    let points: Vec<Vec<f64>> = points
        .map(|embedding| {
            let components = embedding.components().iter();
            components.map(|x| f64::from(*x)).collect()
        })
        .collect();
    let matrix = DenseMatrix::from_2d_vec(&points)
        .map_err(|error| failed("DenseMatrix::from_2d_vec", &error.to_string()))?;
    let parameters = KMeansParameters {
        k: count,
        max_iter: ROUNDS,
        seed: Some(seed.derive("k-means", 0).0),
    };
    let labels: Vec<i32> = KMeans::fit(&matrix, parameters)
        .and_then(|means: KMeans<f64, i32, _, _>| means.predict(&matrix))
        .map_err(|error| failed("KMeans::fit", &error.to_string()))?;
    let mut clusters = vec![Vec::new(); count];
    for (place, label) in noise.iter().zip(labels) {
        let cluster = usize::try_from(label)
            .ok()
            .and_then(|label| clusters.get_mut(label));
        if let Some(cluster) = cluster {
            cluster.push(*place);
        }
    }
    Ok(clusters)
}

fn failed(what: &'static str, reason: &str) -> Error {
    Error::internal(what, reason.to_owned())
}

/// Members by their similarity to the mean, greatest first, ties by index.
fn nearest_first(embeddings: &[Embedding], mut members: Vec<usize>) -> Vec<usize> {
    let center = center(members.iter().filter_map(|place| embeddings.get(*place)));
    let near = |place: &usize| {
        let own = embeddings.get(*place).map(Embedding::components);
        own.map_or(f32::MIN, |own| dot(own, &center))
    };
    members.sort_by(|a, b| near(b).total_cmp(&near(a)).then(a.cmp(b)));
    members
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::text::hashed_ngrams;

    fn embeddings(texts: &[&str]) -> Vec<Embedding> {
        let embed = |text: &&str| Embedding::new(hashed_ngrams(text)).unwrap();
        texts.iter().map(embed).collect()
    }

    /// The clusters as sorted indices, with whether each is dense.
    fn found(texts: &[&str], least: usize) -> Vec<(Vec<usize>, bool)> {
        let policy = ClusterPolicy {
            least: NonZeroUsize::new(least).unwrap(),
            ..ClusterPolicy::default()
        };
        let embeddings = embeddings(texts);
        let first = clusters(&embeddings, &policy, Seed(7)).unwrap();
        assert_eq!(first, clusters(&embeddings, &policy, Seed(7)).unwrap());
        let sorted = first.into_iter().map(|cluster| {
            let mut members = cluster.members;
            members.sort_unstable();
            (members, cluster.dense)
        });
        let mut sorted: Vec<_> = sorted.collect();
        sorted.sort();
        sorted
    }

    #[test]
    fn equal_and_like_subgoals_are_dense() {
        let texts = [
            "open the valve",
            "send a letter",
            "open the valve",
            "send a letter",
            "open the valve",
            "send a letter",
            "open a valve",
            "send the letter",
        ];
        let expect = vec![(vec![0, 2, 4, 6], true), (vec![1, 3, 5, 7], true)];
        assert_eq!(found(&texts, 3), expect);
    }

    #[test]
    fn what_is_sparse_goes_to_k_means() {
        let texts = [
            "open the valve",
            "open the valve",
            "open the valve",
            "open the valve",
            "send a letter",
            "send a letter",
            "send a letter",
            "send a letter",
            "paint walls",
        ];
        let found = found(&texts, 4);
        let dense: Vec<_> = found.iter().filter(|(_, dense)| *dense).collect();
        assert_eq!(dense.len(), 2, "{found:?}");
        assert!(found.contains(&(vec![8], false)), "{found:?}");
    }

    #[test]
    fn every_subgoal_is_in_one_cluster() {
        let words = [
            "open", "close", "send", "paint", "brew", "lift", "tow", "seal",
        ];
        for count in [0, 1, 2, 3, 40] {
            let texts: Vec<String> = (0..count)
                .map(|n: usize| format!("{} {}", words[n % 8], words[(n / 3) % 8]))
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut all: Vec<usize> = found(&texts, 4)
                .into_iter()
                .flat_map(|(members, _)| members)
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn members_near_the_center_come_first() {
        let texts = ["open valve", "open valve now", "open valve", "open valve"];
        let policy = ClusterPolicy {
            least: NonZeroUsize::new(9).unwrap(),
            ..ClusterPolicy::default()
        };
        let found = clusters(&embeddings(&texts), &policy, Seed(1)).unwrap();
        assert_eq!(found[0].members, [0, 2, 3, 1]);
    }
}
