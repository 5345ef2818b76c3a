//! The program that compares a task's drafts with the library by meaning, when it is the task's turn to change it.

use super::attempting::Outcome;
use crate::{
    admit::{
        AdmitPolicy, Duplicates, curated,
        identity::{Compared, Meanings},
    },
    error::Result,
    policy::{Ask, RoleReply, View},
    propose::asking,
};

/// Asks for the embeddings that decide whether the library has a task's drafts already. Few tasks ask: those with a draft that
/// names the same things as a known skill in other words.
pub(super) async fn compare(
    mut ask: Ask,
    view: View,
    policy: AdmitPolicy,
    mut outcome: Outcome,
) -> Result<Outcome> {
    if policy.duplicates != Duplicates::Add {
        let drafts: Vec<Compared> = drafts(&outcome.replies).collect();
        let known = view.library().entries().map(|entry| &entry.skill);
        let texts = policy.identity.unclear(known, &drafts);
        outcome.meanings = Meanings::of(&mut ask, texts).await;
    }
    Ok(outcome)
}

/// The texts for the library that roles wrote.
fn drafts(replies: &[RoleReply]) -> impl Iterator<Item = Compared> {
    let inserted = asking::curation(replies).into_iter();
    let written = Compared::of_replies(asking::drafts(replies));
    written.chain(inserted.flat_map(curated::compared))
}
