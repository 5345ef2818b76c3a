//! The words of the worlds. The bundled model's training text is made of them, so a change here requires retraining it.

use crate::seed::Draws;

/// The verbs of tools.
pub const VERBS: &[&str] = &[
    "unseal", "rotate", "polish", "charge", "drain", "mount", "paint", "weigh", "scan", "tune",
    "freeze", "thaw", "label", "stack", "fold", "rinse", "grind", "press", "lift", "lower", "test",
    "align", "heat", "cool", "sort", "wrap", "bind", "cut", "fill", "empty", "lock", "release",
    "send", "fetch", "print", "copy", "erase", "record", "trace", "count", "measure", "clean",
    "repair", "inspect", "launch", "dock", "tow", "feed", "harvest", "plant", "water", "prune",
    "bake", "brew", "chill", "mix", "pour", "strain", "archive", "publish", "approve", "reserve",
    "cancel", "renew",
];

/// The nouns of tools, and of the objects in the places that tasks mention.
pub const NOUNS: &[&str] = &[
    "coffee", "bell", "oar", "mast", "lamp", "drum", "wheel", "anchor", "barrel", "basket",
    "beacon", "bench", "blanket", "boiler", "bottle", "bridge", "brush", "bucket", "button",
    "cabin", "cable", "camera", "candle", "canoe", "carpet", "cart", "castle", "chain", "chair",
    "clock", "cloth", "coil", "comb", "compass", "copper", "cradle", "crane", "crate", "crown",
    "curtain", "desk", "dome", "door", "dough", "engine", "fan", "feather", "fence", "ferry",
    "filter", "flag", "flask", "flute", "fork", "fountain", "frame", "fridge", "furnace", "garden",
    "gate", "gear", "glass", "glove", "grain", "guitar", "hammer", "handle", "harbor", "harp",
    "hatch", "helmet", "hinge", "honey", "hook", "horn", "hose", "ink", "iron", "jacket", "jar",
    "kettle", "keyboard", "kiln", "kite", "knob", "ladder", "lantern", "lens", "lever", "linen",
    "loom", "magnet", "map", "marble", "mask", "meter", "mill", "mirror", "motor", "needle", "net",
    "nozzle", "oven", "paddle", "panel", "paper", "pedal", "pencil", "piano", "pillow", "pipe",
    "piston", "plate", "plow", "pump", "quilt", "radio", "raft", "rail", "ribbon", "rope",
    "rudder", "saddle", "sail", "scale", "screen", "seed", "sensor", "shelf", "shield", "shovel",
    "silo", "siren", "sled", "socket", "spade", "spring", "stamp", "statue", "stove", "string",
    "sugar", "switch", "table", "tank", "tent", "thread", "tile", "timber", "torch", "tower",
    "tractor", "tray", "trumpet", "tunnel", "turbine", "valve", "vase", "violin", "wagon",
    "wallet", "whistle", "window", "wool",
];

/// Parameters that take a number from 1 to 99.
pub const NUMBER_PARAMETERS: &[&str] = &[
    "power", "speed", "depth", "angle", "width", "level", "limit", "batch", "phase", "rank",
    "code", "ticket", "dose", "delay",
];

/// Parameters that take one of [`VALUES`].
pub const WORD_PARAMETERS: &[&str] = &[
    "tone", "mode", "color", "grade", "style", "zone", "key", "pitch", "shape", "badge",
];

/// The values of word parameters.
pub const VALUES: &[&str] = &[
    "off", "on", "soft", "loud", "warm", "cold", "red", "blue", "green", "amber", "silver",
    "violet", "north", "south", "east", "west", "slow", "fast", "thin", "thick", "flat", "round",
    "sharp", "dull", "early", "late", "upper", "inner", "outer", "plain", "double", "single",
    "ruby", "jade", "pearl", "coral", "ivory", "onyx", "topaz", "opal",
];

/// Further words of tasks and replies, which invented nouns keep clear of.
const FUNCTION_WORDS: &[&str] = &[
    "go", "and", "the", "by", "with", "please", "could", "you", "near", "behind", "under",
    "beside", "needs", "need", "error", "done", "ok", "from", "now", "for", "me", "we", "want",
    "to", "someone", "it", "at", "use", "of", "time", "is", "set", "first", "must", "be",
    "refused", "failed", "without", "comes", "no", "tool", "wrong", "has", "takes", "number",
    "word", "today", "again", "before", "lunch", "job", "here", "one", "last", "thing", "should",
    "this", "that", "in", "on", "a", "an", "after", "call", "bad", "other", "not", "while",
    "looking", "watching", "only", "value", "as", "its", "then", "will", "help", "crew", "asks",
    "budget", "spent", "stopped", "denied", "take",
];

/// Words of roles, which invented nouns keep clear of.
const ROLE_WORDS: &[&str] = &[
    "helpful",
    "harmful",
    "neutral",
    "uncertain",
    "insert",
    "update",
    "delete",
    "keep",
    "none",
    "any",
    "probe",
    "prepare",
    "collect",
    "stray",
    "finish",
    "avoid",
    "prefer",
    "fixed",
    "carried",
    "given",
    "long",
    "good",
    "0",
];

/// Prepositions of place.
pub const PLACES: &[&str] = &["by", "near", "behind", "under", "beside"];

/// Consonants of invented nouns.
pub const CONSONANTS: &str = "bdfghjklmnprstvz";
/// Vowels of invented nouns.
pub const VOWELS: &str = "aeiou";

/// The type of a parameter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A whole number from 1 to 99.
    Number,
    /// A word of [`VALUES`].
    Word,
}

/// The type of a parameter, by its name; unknown names count as words.
#[must_use]
pub fn kind_of(parameter: &str) -> ParameterKind {
    if NUMBER_PARAMETERS.contains(&parameter) {
        ParameterKind::Number
    } else {
        ParameterKind::Word
    }
}

/// Draws a value that fits the parameter.
#[must_use]
pub fn value_for(parameter: &str, draws: &mut Draws) -> String {
    match kind_of(parameter) {
        ParameterKind::Number => draws.between(1, 99).to_string(),
        ParameterKind::Word => draws.word(VALUES).to_owned(),
    }
}

/// Whether a written value is one that the parameter takes.
#[must_use]
pub fn takes(parameter: &str, value: &str) -> bool {
    match kind_of(parameter) {
        ParameterKind::Number => value
            .parse::<u8>()
            .is_ok_and(|number| (1..=99).contains(&number)),
        ParameterKind::Word => VALUES.contains(&value),
    }
}

/// A noun outside [`NOUNS`]: two or three syllables of a consonant and a vowel, which the vocabulary has as tokens.
#[must_use]
pub fn invented_noun(draws: &mut Draws) -> String {
    loop {
        let mut noun = String::new();
        for _ in 0..draws.between(2, 3) {
            for letters in [CONSONANTS, VOWELS] {
                let at = draws.below(letters.len());
                noun.push_str(letters.get(at..=at).unwrap_or_default());
            }
        }
        if !follows_a_word(&noun) {
            return noun;
        }
    }
}

/// Words of random characters, outside all word lists.
#[must_use]
pub fn foreign_words(count: usize, draws: &mut Draws) -> String {
    let letters = ('a'..='z').chain('A'..='Z');
    let signs: Vec<char> = letters.chain("0123456789.,!?-'/_é".chars()).collect();
    let mut word = || {
        let kinds = if draws.chance(0.7) { 26 } else { signs.len() };
        let letters = (0..draws.between(2, 8)).filter_map(|_| signs.get(draws.below(kinds)));
        letters.collect::<String>()
    };
    (0..count).map(|_| word()).collect::<Vec<_>>().join(" ")
}

/// Whether a listed word begins with the first three letters: then the noun would read as a variant of that word.
fn follows_a_word(noun: &str) -> bool {
    let head = noun.get(..3).unwrap_or(noun);
    all_words().any(|word| word.starts_with(head))
}

/// Every listed word, in a fixed order, with repetitions where a word has two uses.
pub fn all_words() -> impl Iterator<Item = &'static str> {
    [
        VERBS,
        NOUNS,
        NUMBER_PARAMETERS,
        WORD_PARAMETERS,
        VALUES,
        FUNCTION_WORDS,
        ROLE_WORDS,
    ]
    .into_iter()
    .flatten()
    .copied()
}
