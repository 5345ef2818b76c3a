//! The configuration of the retriever.

use journeyman::{Error, Result};

/// The weight of a match in each field, at least 0. A field of weight 0 is not searched.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boosts {
    /// The skill's name. Default: 2.
    pub name: f64,
    /// Its description. Default: 1.5.
    pub description: f64,
    /// Its trigger, where it has one. Default: 2.
    pub trigger: f64,
    /// Its body. Default: 1.
    pub body: f64,
}

impl Default for Boosts {
    fn default() -> Self {
        Self {
            name: 2.0,
            description: 1.5,
            trigger: 2.0,
            body: 1.0,
        }
    }
}

impl Boosts {
    /// The weights in the order of the index's fields.
    pub(crate) fn in_order(&self) -> [f64; 4] {
        [self.name, self.description, self.trigger, self.body]
    }
}

/// A language whose inflected words are also found by their stems, after Snowball (M. F. Porter, 2001).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stemmer {
    /// `meetings` and `meeting` both count as `meet`, too.
    English,
}

/// The options of a [`Bm25Retriever`](crate::Bm25Retriever).
///
/// ```
/// let mut config = journeyman_tantivy::Config::default();
/// config.boosts.name = 3.0;
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The weight of a match in each field.
    pub boosts: Boosts,
    /// BM25's `k1`, at least 0: how slowly repetitions of a word saturate. Default: 1.2.
    pub k1: f64,
    /// BM25's `b`, in [0, 1]: how strongly long texts are penalized. Default: 0.75.
    pub b: f64,
    /// Maximum number of different query words that are used, the first ones; it bounds the time of a query of any
    /// size. Parts of names and of texts without spaces count as words. Default: 1,024.
    pub max_query_words: usize,
    /// The stemmer of skills and queries, if any. An index on disk with another one is built anew. Default: none.
    ///
    /// ```
    /// use journeyman_tantivy::{Bm25Retriever, Config, Stemmer};
    ///
    /// let mut config = Config::default();
    /// config.stemmer = Some(Stemmer::English);
    /// let retriever = Bm25Retriever::new(config)?;
    /// # Ok::<_, journeyman::Error>(())
    /// ```
    pub stemmer: Option<Stemmer>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            boosts: Boosts::default(),
            k1: 1.2,
            b: 0.75,
            max_query_words: 1024,
            stemmer: None,
        }
    }
}

impl Config {
    /// # Errors
    /// `Invalid`, naming the option that is out of range.
    pub(crate) fn check(&self) -> Result<()> {
        let Boosts {
            name,
            description,
            trigger,
            body,
        } = self.boosts;
        let least_zero = |value: f64| value.is_finite() && value >= 0.0;
        let options = [
            ("boosts.name", name, least_zero(name)),
            ("boosts.description", description, least_zero(description)),
            ("boosts.trigger", trigger, least_zero(trigger)),
            ("boosts.body", body, least_zero(body)),
            ("k1", self.k1, least_zero(self.k1)),
            ("b", self.b, (0.0..=1.0).contains(&self.b)),
        ];
        match options.iter().find(|(_, _, valid)| !valid) {
            None => Ok(()),
            Some((option, value, _)) => Err(Error::invalid(
                "Bm25Retriever::new",
                "an option is out of range",
            )
            .with("option", option)
            .with("value", value)
            .hint(
                "give finite boosts and k1 of at least 0, and b in [0, 1]; Config::default() has the usual values",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl Fn(&mut Config), expect: Option<&str>) {
        let mut config = Config::default();
        change(&mut config);
        let found = config.check().err().map(|error| error.to_string());
        match (found, expect) {
            (None, None) => {}
            (Some(found), Some(expect)) => assert!(found.contains(expect), "{found}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn options_out_of_range_are_named() {
        check(|_| {}, None);
        check(|config| config.boosts.trigger = 0.0, None);
        check(
            |config| config.boosts.body = -1.0,
            Some("option: boosts.body, value: -1"),
        );
        check(|config| config.b = 1.5, Some("option: b"));
        check(|config| config.k1 = f64::NAN, Some("option: k1"));
    }
}
