//! The split of worlds, by a stable hash of verb and noun. The split of tasks is in [`crate::stream`].

/// The side of the split of worlds that a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Pairs that the bundled model's training text may use.
    Training,
    /// Pairs that never occur as a tool in training text; the quickstart and the evaluation use only these.
    HeldOut,
}

impl Split {
    /// The side of a pair: one pair in five is held out (FNV-1a, the same on every machine and build).
    #[must_use]
    pub fn of(verb: &str, noun: &str) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in verb.bytes().chain([b' ']).chain(noun.bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash ^= hash >> 29;
        if hash.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32 < (1_u64 << 32) / 5 {
            Self::HeldOut
        } else {
            Self::Training
        }
    }
}
