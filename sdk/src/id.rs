//! Newtype ids, seeds and times.

use std::fmt;

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps a text.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<&$name> for $name {
            fn from(id: &$name) -> Self {
                id.clone()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    )*};
}

text_id! {
    /// A skill's identity, kept through renames and versions.
    ///
    /// ```
    /// use journeyman::SkillId;
    ///
    /// let id = SkillId::new("close-ticket");
    /// assert_eq!(id, SkillId::from("close-ticket"));
    /// assert_eq!(id.to_string(), "close-ticket");
    /// ```
    SkillId;
    /// A task's identity, unique within what a host hands over.
    TaskId;
    /// A learning or evaluation run.
    ///
    /// ```
    /// use journeyman::RunId;
    ///
    /// let run = RunId::new("desk/learn-3");
    /// assert!(run.is_of("desk"));
    /// assert_eq!(run.kind(), Some("learn"));
    /// ```
    RunId;
    /// One attempt at one task within a run.
    AttemptId;
    /// A commit's identity: a store commits a key once.
    CommitKey;
    /// A model's name with the identity of its build, such as `apprentice@5f2c…`.
    ModelId;
    /// A skill prototype's identity (SCRIBE).
    PrototypeId;
    /// A host's group of similar tasks.
    Category;
    /// A node of the overlap graph: a turn of an attempt, or a skill.
    SegmentId;
}

impl RunId {
    /// Whether it is a run of a session ([`Options::session`](crate::run::Options::session)).
    pub fn is_of(&self, session: &str) -> bool {
        let rest = self.0.strip_prefix(session);
        let rest = rest.and_then(|rest| rest.strip_prefix('/'));
        // Behind another session's name, of which this one is the beginning, stands no kind of run.
        let first = rest.and_then(|rest| rest.split('/').next());
        first.is_some_and(|first| Self::new(first).kind().is_some())
    }

    /// What made the run: `learn`, `begin` and the like for a run of a session, where hosts `add` skills, set a `state`, set
    /// `rules` and `retire` runs too; `None` for another id.
    pub fn kind(&self) -> Option<&str> {
        let last = self.0.rsplit('/').next()?;
        let (kind, number) = last.rsplit_once('-')?;
        number.parse::<u64>().is_ok().then_some(kind)
    }

    /// Whether a host decided what it did, and nothing was learned.
    pub(crate) fn is_by_host(&self) -> bool {
        matches!(self.kind(), Some("add" | "state" | "rules" | "retire"))
    }
}

impl AttemptId {
    /// The id of an attempt: the index of its task in the run's stream and its index in the group, both from 0.
    pub(crate) fn of(run: &RunId, step: u64, rollout: u32) -> Self {
        Self(format!("{run}/{step}/{rollout}"))
    }
}

macro_rules! number_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// The number after this one.
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<u64> for $name {
            fn from(number: u64) -> Self {
                Self(number)
            }
        }
    )*};
}

number_id! {
    /// A skill's version, from 1.
    ///
    /// ```
    /// use journeyman::Version;
    ///
    /// assert_eq!(Version(1).next(), Version(2));
    /// ```
    Version;
    /// A library's revision: the number of commits made so far.
    Revision;
    /// A moment in milliseconds since the Unix epoch, by the host's clock.
    Timestamp;
}

/// The seed of a random choice: every random choice is a function of a seed.
///
/// ```
/// use journeyman::Seed;
///
/// // The same seed draws the same number on every machine.
/// assert_eq!(Seed(7).unit(), Seed(7).unit());
/// assert!(Seed(7).index(3).is_some_and(|place| place < 3));
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// A seed for a named part of the work and a number within it, independent of its siblings
    /// (SHA-256 of seed, label and index).
    ///
    /// ```
    /// use journeyman::Seed;
    /// assert_eq!(Seed(7).derive("attempt", 3), Seed(7).derive("attempt", 3));
    /// assert_ne!(Seed(7).derive("attempt", 3), Seed(7).derive("attempt", 4));
    /// ```
    #[must_use]
    pub fn derive(self, label: &str, index: u64) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0.to_le_bytes());
        hash.update((label.len() as u64).to_le_bytes());
        hash.update(label.as_bytes());
        hash.update(index.to_le_bytes());
        let digest = hash.finalize();
        let mut bytes = [0_u8; 8];
        bytes.copy_from_slice(&digest[..8]);
        Self(u64::from_le_bytes(bytes))
    }

    /// A generator that gives the same numbers on every machine.
    pub fn rng(self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.0)
    }

    /// One number drawn uniformly from [0, 1): the first of this seed's generator.
    pub fn unit(self) -> f64 {
        use rand_chacha::rand_core::Rng;
        // 53 bits fill the mantissa.
        (self.rng().next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One index drawn uniformly from `0..len`; `None` when `len` is 0.
    pub fn index(self, len: usize) -> Option<usize> {
        (len > 0).then(|| ((self.unit() * len as f64) as usize).min(len - 1))
    }
}

impl From<u64> for Seed {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The SHA-256 of a text or of bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    use fmt::Write;
    Sha256::digest(bytes)
        .iter()
        .fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}
