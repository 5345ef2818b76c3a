//! Retrieval: an index of the library's skills.

use std::fmt;

use async_trait::async_trait;

use crate::{
    domain::{Candidate, IndexUpdate, Query},
    error::Result,
    id::Revision,
};

/// An index over the library's skills. It is derived state: it can be made anew from the library at any time;
/// [`SkillLibrary::refresh`](crate::library::SkillLibrary::refresh) does so where it has to.
///
/// ```
/// use std::{collections::BTreeMap, sync::{Arc, Mutex}};
/// use journeyman::{Result, domain::Revision, SkillId, async_trait, contract::Retriever};
/// use journeyman::domain::{Candidate, IndexMark, IndexUpdate, Query, Skill};
///
/// /// The score is the number of a query's words that a skill's text contains.
/// #[derive(Debug, Default)]
/// struct Words(Mutex<(IndexMark, BTreeMap<SkillId, Skill>)>);
///
/// #[async_trait]
/// impl Retriever for Words {
///     async fn watermark(&self) -> Result<Revision> {
///         Ok(self.0.lock().unwrap().0.watermark())
///     }
///
///     async fn refresh(&self, update: &IndexUpdate) -> Result<()> {
///         let (mark, skills) = &mut *self.0.lock().unwrap();
///         if mark.takes(update)? {
///             if update.since == Revision(0) {
///                 skills.clear();
///             }
///             update.gone.iter().for_each(|id| drop(skills.remove(id)));
///             skills.extend(update.changed.iter().map(|skill| (skill.id.clone(), skill.clone())));
///             *mark = mark.after(update);
///         }
///         Ok(())
///     }
///
///     async fn search(&self, query: &Query) -> Result<Vec<Candidate>> {
///         let kept = self.0.lock().unwrap();
///         let among = |id: &SkillId| query.among.as_ref().is_none_or(|among| among.contains(id));
///         let score = |skill: &Skill| {
///             let trigger = skill.trigger.as_deref().unwrap_or_default();
///             let text = format!("{} {} {trigger} {}", skill.name, skill.description, skill.body);
///             let words = query.text.split(|c: char| !c.is_alphanumeric());
///             words.filter(|word| !word.is_empty() && text.contains(word)).count()
///         };
///         let found = kept.1.values().filter(|skill| among(&skill.id));
///         let found = found.map(|skill| Candidate::new(skill.reference(), score(skill) as f64));
///         let mut found: Vec<Candidate> = found.filter(|candidate| candidate.score > 0.0).collect();
///         // A stable sort: candidates of equal score keep the order of their ids.
///         found.sort_by(|a, b| b.score.total_cmp(&a.score));
///         found.truncate(query.limit);
///         Ok(found)
///     }
/// }
///
/// # futures::executor::block_on(async {
/// // The suite of the contract has a case for each rule.
/// let fresh = async || Ok(Arc::new(Words::default()) as Arc<dyn Retriever>);
/// journeyman::testing::conformance::retriever::check(fresh).await.into_result()?;
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *refresh*: after `refresh`, a skill that came is found by words of its name, description, trigger and body, one
///   that changed by its new words, in its new version only, and one that went is not found.
/// - *watermark*: the revision of the last update taken in; 0 for an empty index.
/// - *idempotent*: an update to the watermark or to an earlier revision is passed over and changes nothing.
/// - *gap*: an update that begins after the watermark is `Invalid` and changes nothing.
/// - *anew*: an update since revision 0 to a revision after the watermark, or of another library, takes the place of
///   everything; a later update of another library is `Invalid` and changes nothing.
/// - *past*: the same holds for an update of this library with other commits than those that the index took in, as after
///   a backup was put back: [`IndexMark`](crate::domain::IndexMark) tells.
/// - *limit*: at most `limit` candidates come back, the best first; `limit` 0 gives none.
/// - *among*: with `among`, no other skill comes back, and the limit counts only those.
/// - *ties*: candidates of equal score are in the order of their skill ids.
/// - *any text*: no query text is an error: query operators, control characters and emptiness included.
#[async_trait]
pub trait Retriever: fmt::Debug + Send + Sync {
    /// The last revision taken in; of an index that other processes refresh too, by whichever.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn watermark(&self) -> Result<Revision>;

    /// Takes in what changed since the watermark.
    ///
    /// # Errors
    /// `Invalid` for an update that leaves a gap or is of another library; `Unavailable` or `Corrupt`.
    async fn refresh(&self, update: &IndexUpdate) -> Result<()>;

    /// The candidates for a query.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn search(&self, query: &Query) -> Result<Vec<Candidate>>;

    /// Whether a score can be compared with scores of other queries in the same library: a greater one means a better match. Default: no.
    ///
    /// It is true of BM25, though its scores grow with the length of a query, of cosines, and of sums with one of these. It is false of
    /// ranks, and of scores that are divided by the best one. Comparable scores are finite, and positive where something is found.
    ///
    /// With them a gate whose model was not trained to score decides about the first candidate alone, and adds what the search's score
    /// counts to the model's ([`FoundWeight`](crate::domain::FoundWeight)).
    fn has_comparable_scores(&self) -> bool {
        false
    }
}
