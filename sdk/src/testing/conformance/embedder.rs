//! The conformance suite of [`Embedder`].

use super::report::{Report, Tried, require};
use crate::{contract::Embedder, error::Result};

const TEXTS: [&str; 5] = [
    "open the vault",
    "brew a coffee",
    "",
    "\u{65e5}\u{672c}\u{8a9e}",
    "open the vault",
];

/// Checks an embedder.
pub async fn check(embedder: &dyn Embedder) -> Report {
    let mut report = Report::new("Embedder");
    report.case("one each", one_each(embedder).await);
    report.case("unit", unit(embedder).await);
    report.case("repeats", repeats(embedder).await);
    report
}

async fn vectors(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
    let embeddings = embedder.embed(texts).await?;
    Ok(embeddings.into_iter().map(Vec::from).collect())
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y).powi(2))
        .sum::<f32>()
        .sqrt()
}

async fn one_each(embedder: &dyn Embedder) -> Tried {
    let dimensions = embedder.space().dimensions;
    for count in 0..=TEXTS.len() {
        let given = vectors(embedder, &TEXTS[..count]).await?;
        require(given.len() == count, || {
            format!(
                "expected {count} embeddings for {count} texts, found {}",
                given.len()
            )
        })?;
        let sized = given.iter().all(|vector| vector.len() == dimensions);
        require(sized, || {
            let found: Vec<usize> = given.iter().map(Vec::len).collect();
            format!(
                "expected embeddings of {dimensions} dimensions, as in `space`, found {found:?}"
            )
        })?;
    }
    let forward = vectors(embedder, &TEXTS[..2]).await?;
    let backward = vectors(embedder, &[TEXTS[1], TEXTS[0]]).await?;
    let turned = (forward.iter().zip(backward.iter().rev())).all(|(a, b)| distance(a, b) <= 1e-3);
    require(turned, || {
        "expected the embeddings of reversed texts in reversed order, found other embeddings"
            .to_owned()
    })
}

async fn unit(embedder: &dyn Embedder) -> Tried {
    for (text, vector) in TEXTS.iter().zip(vectors(embedder, &TEXTS).await?) {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        let sound = vector.iter().all(|x| x.is_finite()) && (length - 1.0).abs() <= 1e-3;
        require(sound, || {
            format!(
                "expected an embedding of {text:?} with finite components and length 1, found length {length}"
            )
        })?;
    }
    Ok(())
}

async fn repeats(embedder: &dyn Embedder) -> Tried {
    let first = vectors(embedder, &TEXTS).await?;
    let second = vectors(embedder, &TEXTS).await?;
    require(first == second, || {
        "expected equal embeddings for the same texts in two calls, found different ones".to_owned()
    })?;
    let within = first.first() == first.last();
    require(within, || {
        "expected equal embeddings for the same text within one call, found different ones"
            .to_owned()
    })
}
