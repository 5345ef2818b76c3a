//! Embeddings of texts by hashed n-grams, for hosts without an embedding model.

use super::words::{content_words, ngrams};

/// Number of components of [`hashed_ngrams`].
pub(crate) const HASHED_DIMENSIONS: usize = 256;

/// The weight of a character n-gram beside a word n-gram: there are several of them for each word.
const CHARACTERS: f32 = 0.6;

/// An embedding of length 1 by the hashing trick: each 1-gram and 2-gram of the content words, and each three characters within
/// a word, adds to the component that its hash names, with the sign that its hash names. All texts without a word have the same
/// embedding.
pub(crate) fn hashed_ngrams(text: &str) -> Vec<f32> {
    let mut components = vec![0.0; HASHED_DIMENSIONS];
    let words = content_words(text);
    for gram in ngrams(&words) {
        add(&mut components, &gram, 1.0);
    }
    for word in &words {
        let marked: Vec<char> = format!("<{word}>").chars().collect();
        for three in marked.windows(3) {
            add(
                &mut components,
                &three.iter().collect::<String>(),
                CHARACTERS,
            );
        }
    }
    let length = components.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        components.iter_mut().for_each(|x| *x /= length);
    } else if let Some(first) = components.first_mut() {
        *first = 1.0;
    }
    components
}

fn add(components: &mut [f32], gram: &str, weight: f32) {
    let hash = fnv(gram);
    let place = usize::try_from(hash % components.len() as u64).unwrap_or(0);
    // A bit that the place does not depend on.
    let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
    if let Some(component) = components.get_mut(place) {
        *component += sign * weight;
    }
}

/// FNV-1a with a final mix: the same on every machine.
fn fnv(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_texts_are_near_and_others_are_not() {
        let cosine = |a: &str, b: &str| -> f32 {
            let (a, b) = (hashed_ngrams(a), hashed_ngrams(b));
            a.iter().zip(&b).map(|(x, y)| x * y).sum()
        };
        let same = cosine("open the valve", "open the valve");
        assert!((same - 1.0).abs() < 1e-6);
        let inflected = cosine("open the valve", "opening valves");
        let other = cosine("open the valve", "send a letter");
        assert!(inflected > 0.3 && other < 0.2, "{inflected} {other}");
    }

    #[test]
    fn every_text_has_length_1() {
        for text in ["", "17 .. the", "open the valve", "\u{6e05}\u{6d17}"] {
            let length: f32 = hashed_ngrams(text).iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-5, "{text}: {length}");
        }
    }
}
