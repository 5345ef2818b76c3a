//! The numbers of the overlap graph (Eq. 21) and of its groups (algorithm 3), with their ranges.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The greatest number of neighbours that a segment keeps to form groups with.
pub(super) const MOST_NEIGHBOURS: usize = 16;

/// The operations that errors name.
const GRAPH: &str = "OverlapOptions::validate";
const GROUPS: &str = "CliqueOptions::validate";

/// The weights of an edge and the least weight of one (HiSME appendix C).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverlapOptions {
    /// Weight of the n-grams' overlap (alpha), in [0, 1]. The paper: 0.45.
    pub ngram: f64,
    /// Weight of the embeddings' cosine (beta), in [0, 1]. The paper: 0.35.
    pub embedding: f64,
    /// Weight of the error texts' overlap (gamma), in [0, 1]. The paper: 0.20.
    pub error: f64,
    /// Factor of the error texts' Jaccard index, whose product is capped at 1; in [0, 100]. The paper: 1.7.
    pub error_factor: f64,
    /// The least weight of an edge (eta), above 0 and at most 1. The paper: 0.18.
    pub threshold: f64,
    /// The least cosine that the pass over embeddings finds, in [0, 1], with `embedding * neighbour` below `threshold`. The
    /// value changes the cost and no edge: a greater one gives fewer candidates by embedding, and more n-grams must be
    /// indexed. Ours: 0.1.
    pub neighbour: f64,
    /// The greatest number of segments of traces, at least 1; the oldest is removed first. Ours: 2,000, some hundreds of
    /// tasks.
    pub traces: usize,
}

impl Default for OverlapOptions {
    /// The paper's numbers.
    fn default() -> Self {
        Self {
            ngram: 0.45,
            embedding: 0.35,
            error: 0.20,
            error_factor: 1.7,
            threshold: 0.18,
            neighbour: 0.1,
            traces: 2_000,
        }
    }
}

impl OverlapOptions {
    /// Checks the ranges that the fields document.
    ///
    /// # Errors
    /// `Invalid`, naming the field, its value and its range.
    pub fn validate(&self) -> Result<()> {
        let shares = [
            ("ngram", self.ngram),
            ("embedding", self.embedding),
            ("error", self.error),
            ("neighbour", self.neighbour),
        ];
        for (field, value) in shares {
            check(
                GRAPH,
                (0.0..=1.0).contains(&value),
                field,
                value,
                "in [0, 1]",
            )?;
        }
        let (factor, least) = (self.error_factor, self.threshold);
        let sound = (0.0..=100.0).contains(&factor);
        check(GRAPH, sound, "error_factor", factor, "in [0, 100]")?;
        let sound = least > 0.0 && least <= 1.0;
        check(GRAPH, sound, "threshold", least, "above 0 and at most 1")?;
        check(
            GRAPH,
            self.embedding * self.neighbour < least,
            "neighbour",
            self.neighbour,
            "so small that `embedding * neighbour` is below `threshold`",
        )?;
        check(GRAPH, self.traces >= 1, "traces", self.traces, "at least 1")
    }

    /// Eq. 21, of the Jaccard index of the n-grams, the cosine, and the Jaccard index of the errors' n-grams.
    pub(super) fn weigh(&self, ngram: f64, cosine: f64, error: f64) -> Overlap {
        let embedding = cosine.clamp(0.0, 1.0);
        let error = (self.error_factor * error).min(1.0);
        Overlap {
            weight: self.ngram * ngram + self.embedding * embedding + self.error * error,
            ngram,
            embedding,
            error,
        }
    }
}

/// The overlap of two segments, in total and by part.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// The edge's weight, in [0, 1] with the paper's numbers.
    pub weight: f64,
    /// The Jaccard index of the n-grams, in [0, 1].
    pub ngram: f64,
    /// The cosine of the embeddings, negative values as 0, in [0, 1].
    pub embedding: f64,
    /// The errors' Jaccard index times `error_factor`, capped at 1, in [0, 1].
    pub error: f64,
}

/// The limits of the search for groups (HiSME algorithm 3).
///
/// ```
/// use journeyman::papers::hisme::CliqueOptions;
///
/// let mut options = CliqueOptions::default();
/// options.largest = 7;
/// let error = options.validate().unwrap_err();
/// assert_eq!(error.message(), "largest must be from `smallest` to 6, and is 7");
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CliqueOptions {
    /// The least number of segments of a group (C_min), at least 2. Ours: 2, since two tasks are evidence enough for the paper.
    pub smallest: usize,
    /// The greatest number of segments of a group (C_max), at most 6. Ours: 4, so that all of them fit into the prompt of a
    /// small model.
    pub largest: usize,
    /// The greatest number of groups that are returned. Ours: 3.
    pub groups: usize,
    /// The number of heaviest neighbours that a segment forms groups with, from 1 to 16. Ours: 12.
    pub neighbours: usize,
    /// The least share of the tools of the turn with the most tools that all segments must call, in [0, 1]. Ours: 0.5.
    pub shared_tools: f64,
    /// The least overlap of errors (the `e` of the weight) of any two turns, in [0, 1]. Ours: 0.6.
    pub shared_errors: f64,
    /// The least overlap of any two segments by embedding or n-grams, whichever is greater, in [0, 1]. Ours: 0.6.
    pub aligned: f64,
    /// The least share of a group that was not handed out before, in [0, 1]. Ours: 0.5.
    pub fresh: f64,
    /// Whether a group is left out if one of its skills was distilled from all of its tasks, since that skill is what its tasks
    /// share. The paper: no. Ours: yes.
    pub skip_covered: bool,
    /// Whether a skill-revision group needs no second task (appendix C). Such a group is one skill in one version, and turns of
    /// failed attempts that had this version in the prompt and did not pass it over. It is never left out as covered. The paper: yes. Ours: no.
    #[serde(default)]
    pub revisions: bool,
}

impl Default for CliqueOptions {
    fn default() -> Self {
        Self {
            smallest: 2,
            largest: 4,
            groups: 3,
            neighbours: 12,
            shared_tools: 0.5,
            shared_errors: 0.6,
            aligned: 0.6,
            fresh: 0.5,
            skip_covered: true,
            revisions: false,
        }
    }
}

impl CliqueOptions {
    /// Checks the ranges that the fields document.
    ///
    /// # Errors
    /// `Invalid`, naming the field, its value and its range.
    pub fn validate(&self) -> Result<()> {
        let (smallest, largest) = (self.smallest, self.largest);
        check(GROUPS, smallest >= 2, "smallest", smallest, "at least 2")?;
        let sound = (smallest..=6).contains(&largest);
        check(GROUPS, sound, "largest", largest, "from `smallest` to 6")?;
        let sound = (1..=MOST_NEIGHBOURS).contains(&self.neighbours);
        check(GROUPS, sound, "neighbours", self.neighbours, "from 1 to 16")?;
        let shares = [
            ("shared_tools", self.shared_tools),
            ("shared_errors", self.shared_errors),
            ("aligned", self.aligned),
            ("fresh", self.fresh),
        ];
        for (field, value) in shares {
            check(
                GROUPS,
                (0.0..=1.0).contains(&value),
                field,
                value,
                "in [0, 1]",
            )?;
        }
        Ok(())
    }
}

fn check(
    operation: &'static str,
    holds: bool,
    field: &str,
    value: impl fmt::Display,
    range: &str,
) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::invalid(
        operation,
        format!("{field} must be {range}, and is {value}"),
    ))
}
