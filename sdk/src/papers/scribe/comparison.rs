//! Comparison of assessments: a router against annotations (SCRIBE, appendix B; row C3), and prompt variants against each other
//! (appendix A.1; row C5).

use serde::{Deserialize, Serialize};

use crate::{
    domain::{AssessedSubgoal, Assessment, Subgoal, SubgoalScore},
    error::{Error, Result},
};

/// Number of raw scores: 0 to 3.
const SCORES: usize = SubgoalScore::MAX as usize + 1;

/// Two assessments of one attempt.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct AssessedPair<'a> {
    /// The router's, or that of one prompt variant.
    pub predicted: &'a Assessment,
    /// The judge's annotations, or the assessment of another variant.
    pub annotated: &'a Assessment,
}

impl<'a> AssessedPair<'a> {
    /// Two assessments of one attempt: first the one that is measured, then the one that it is measured by.
    pub fn new(predicted: &'a Assessment, annotated: &'a Assessment) -> Self {
        Self {
            predicted,
            annotated,
        }
    }

    /// The same with another annotation.
    #[must_use]
    pub fn with_annotated(mut self, annotated: &'a Assessment) -> Self {
        self.annotated = annotated;
        self
    }
}

impl AssessedPair<'_> {
    /// # Errors
    /// `Invalid` for assessments of two attempts, and for spans that end at different steps.
    fn check(&self, operation: &'static str) -> Result<()> {
        let (one, other) = (self.predicted, self.annotated);
        let steps = |of: &Assessment| of.subgoals.last().map(|last| last.subgoal.last);
        let rule = if one.attempt != other.attempt {
            "the assessments are of two attempts"
        } else if steps(one) != steps(other) {
            "the assessments do not end at the same step"
        } else {
            return Ok(());
        };
        Err(Error::invalid(operation, rule)
            .with("predicted", &one.attempt)
            .with("annotated", &other.attempt)
            .hint("compare assessments of one attempt, with all of its steps"))
    }
}

/// How many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// How many.
    pub hits: usize,
    /// Of so many.
    pub of: usize,
}

impl Share {
    /// The share, in [0, 1]; `None` of none.
    pub fn rate(self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    fn count(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.of += 1;
    }
}

/// How well a router agrees with annotations (SCRIBE, appendix B).
///
/// The paper does not say which annotated subgoal a predicted one with another span is compared with: here it is the one that
/// shares most steps with it, the first of several.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterAccuracy {
    /// Number of attempts.
    pub attempts: usize,
    /// Span exact match: of the predicted spans those whose first and last step are an annotated span's.
    pub spans: Share,
    /// Of the annotated spans those that were predicted exactly. The paper has no such number.
    pub found: Share,
    /// Skill accuracy: of the predicted subgoals those whose skill is the annotated one's, up to case and white space.
    pub skills: Share,
    /// Retrieval accuracy: of the predicted subgoals whose annotation has a prototype, those that were routed to it.
    pub prototypes: Share,
}

impl RouterAccuracy {
    /// The accuracy over pairs of predicted and annotated assessments.
    ///
    /// ```
    /// use journeyman::{
    ///     TaskId,
    ///     domain::{AssessedSubgoal, Assessment, AttemptId, Subgoal},
    ///     papers::scribe::{AssessedPair, RouterAccuracy},
    /// };
    ///
    /// let subgoal = |&(first, last): &(usize, usize)| AssessedSubgoal::new(Subgoal::new("heat", "brewing", first, last));
    /// let assessment = |spans: &[(usize, usize)]| {
    ///     let of = Assessment::new(AttemptId::new("a-1"), TaskId::new("t-1"));
    ///     of.with_subgoals(spans.iter().map(subgoal).collect())
    /// };
    /// let (predicted, annotated) = (assessment(&[(0, 0), (1, 3)]), assessment(&[(0, 0), (1, 2), (3, 3)]));
    /// let pair = AssessedPair::new(&predicted, &annotated);
    /// let accuracy = RouterAccuracy::of(&[pair])?;
    /// assert_eq!((accuracy.spans.rate(), accuracy.skills.rate()), (Some(0.5), Some(1.0)));
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a pair of two attempts, or of different numbers of steps.
    pub fn of(pairs: &[AssessedPair<'_>]) -> Result<Self> {
        let mut accuracy = Self {
            attempts: pairs.len(),
            ..Self::default()
        };
        for pair in pairs {
            pair.check("RouterAccuracy::of")?;
            let (predicted, annotated) = (&pair.predicted.subgoals, &pair.annotated.subgoals);
            for one in predicted {
                let exact = annotated.iter().any(|other| same_span(one, other));
                accuracy.spans.count(exact);
                let Some(other) = nearest(&one.subgoal, annotated) else {
                    continue;
                };
                let (skill, label) = (&one.subgoal.skill, &other.subgoal.skill);
                accuracy.skills.count(label_of(skill) == label_of(label));
                if let Some(route) = &other.route {
                    let found = one.route.as_ref().map(|route| &route.prototype);
                    accuracy.prototypes.count(found == Some(&route.prototype));
                }
            }
            for other in annotated {
                let exact = predicted.iter().any(|one| same_span(one, other));
                accuracy.found.count(exact);
            }
        }
        Ok(accuracy)
    }
}

/// How well two prompt variants agree about the same attempts (SCRIBE, appendix A.1).
///
/// ```
/// use journeyman::papers::scribe::VariantAgreement;
///
/// let agreement = VariantAgreement::of(&[])?;
/// assert_eq!((agreement.spans.rate(), agreement.rank), (None, None));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VariantAgreement {
    /// Number of attempts.
    pub attempts: usize,
    /// Of the spans of both variants those that the other one has too.
    pub spans: Share,
    /// Of the spans that both have and scored, those with the same score.
    pub scores: Share,
    /// The rank agreement of these scores: Kendall's tau-b, in [-1, 1]. `None` where one variant gave a single score.
    pub rank: Option<f64>,
}

impl VariantAgreement {
    /// The agreement over pairs of assessments. It does not depend on which variant is called predicted.
    ///
    /// # Errors
    /// `Invalid` for a pair of two attempts, or of different numbers of steps.
    pub fn of(pairs: &[AssessedPair<'_>]) -> Result<Self> {
        let mut agreement = Self {
            attempts: pairs.len(),
            ..Self::default()
        };
        let mut table = [[0; SCORES]; SCORES];
        for pair in pairs {
            pair.check("VariantAgreement::of")?;
            let (one, other) = (&pair.predicted.subgoals, &pair.annotated.subgoals);
            agreement.spans.of += one.len() + other.len();
            let both = one.iter().filter_map(|one| {
                let same = other.iter().find(|other| same_span(one, other));
                Some((one, same?))
            });
            for (one, other) in both {
                agreement.spans.hits += 2;
                let (Some(score), Some(other)) = (one.score, other.score) else {
                    continue;
                };
                agreement.scores.count(score == other);
                let (row, column) = (usize::from(score.get()), usize::from(other.get()));
                if let Some(cell) = table.get_mut(row).and_then(|row| row.get_mut(column)) {
                    *cell += 1;
                }
            }
        }
        agreement.rank = tau_b(&table);
        Ok(agreement)
    }
}

fn same_span(one: &AssessedSubgoal, other: &AssessedSubgoal) -> bool {
    (one.subgoal.first, one.subgoal.last) == (other.subgoal.first, other.subgoal.last)
}

/// The subgoal that shares most steps with a span, the first of several.
fn nearest<'a>(span: &Subgoal, among: &'a [AssessedSubgoal]) -> Option<&'a AssessedSubgoal> {
    let shared = |other: &AssessedSubgoal| {
        let last = span.last.min(other.subgoal.last) + 1;
        last.saturating_sub(span.first.max(other.subgoal.first))
    };
    among
        .iter()
        .reduce(|best, next| match shared(next) > shared(best) {
            true => next,
            false => best,
        })
}

/// A skill's words without case and superfluous white space.
fn label_of(skill: &str) -> String {
    let words: Vec<&str> = skill.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// Kendall's tau-b of two scores, from how often each pair of scores occurs.
fn tau_b(table: &[[u64; SCORES]; SCORES]) -> Option<f64> {
    let pairs = |count: u64| (count * count.saturating_sub(1)) as f64 / 2.0;
    let all: u64 = table.iter().flatten().sum();
    let rows = table.iter().map(|row| pairs(row.iter().sum()));
    let columns = (0..SCORES).map(|column| pairs(table.iter().map(|row| row[column]).sum()));
    let untied = (pairs(all) - rows.sum::<f64>()) * (pairs(all) - columns.sum::<f64>());
    let mut balance = 0.0;
    for (row, cells) in table.iter().enumerate() {
        for (column, count) in cells.iter().enumerate() {
            let later = table.iter().skip(row + 1);
            for (other, more) in later.flat_map(|cells| cells.iter().enumerate()) {
                let product = (count * more) as f64;
                balance += match other.cmp(&column) {
                    std::cmp::Ordering::Greater => product,
                    std::cmp::Ordering::Less => -product,
                    std::cmp::Ordering::Equal => 0.0,
                };
            }
        }
    }
    (untied > 0.0).then(|| balance / untied.sqrt())
}

#[cfg(test)]
mod tests;
