//! The families of hostile packages; each changes an ordinary package in one way.

use RefusedBy::{Lint, Quarantine};

use super::{front, package::RefusedBy, paths, texts};
use crate::{id::Seed, testing::ordinary::Parts};

pub(super) type Family = (&'static str, RefusedBy, fn(&mut Parts, Seed));

/// The name of each family, who refuses it, and its change of a package. The first [`FRONT`] change the frontmatter.
pub(super) const FAMILIES: [Family; 39] = [
    (
        "frontmatter that is not there, not closed or no mapping",
        Lint,
        front::no_front,
    ),
    ("aliases that grow", Lint, front::aliases),
    ("tags that make objects", Lint, front::tags),
    ("deep nesting", Lint, front::deep),
    ("duplicate keys", Lint, front::twice),
    ("several documents or directives", Lint, front::documents),
    ("huge frontmatter", Lint, front::huge_front),
    ("a field over its limit", Lint, front::long_field),
    ("no text where text belongs", Lint, front::shapes),
    ("a name that is a path", Lint, front::name_path),
    ("a name of look-alike letters", Lint, front::look_alike),
    ("forged state, taint and origin", Lint, front::forged),
    ("keys of objects", Lint, front::object_keys),
    ("hidden characters spelled by escapes", Lint, front::escapes),
    ("a path that leads out", Lint, paths::climbing),
    ("an absolute path", Lint, paths::absolute),
    ("a path with backslashes", Lint, paths::backslash),
    ("a device's name", Lint, paths::device),
    (
        "a path with hidden or control characters",
        Lint,
        paths::odd_path,
    ),
    ("a path too deep or too long", Lint, paths::long_path),
    ("paths that differ in case", Lint, paths::case),
    ("a file that is a folder", Lint, paths::both),
    ("too many files", Lint, paths::many),
    ("a file too large", Lint, paths::large),
    ("a package too large", Lint, paths::heavy),
    ("a body too large", Lint, texts::large_body),
    ("bidirectional controls", Lint, texts::bidi),
    ("tag characters", Lint, texts::tag_characters),
    ("zero-width characters", Lint, texts::zero_width),
    ("bytes in variation selectors", Lint, texts::selectors),
    ("broken UTF-8", Lint, texts::broken),
    ("control characters", Lint, texts::controls),
    ("escape sequences for terminals", Lint, texts::ansi),
    ("a planted secret", Lint, texts::secret),
    (
        "a hidden character in another file",
        Lint,
        texts::hidden_file,
    ),
    ("the end of its block", Quarantine, texts::closing),
    ("a model's own marks", Quarantine, texts::marks),
    ("persuasion", Quarantine, texts::persuasion),
    (
        "commands that fetch, decode or send",
        Quarantine,
        texts::commands,
    ),
];

/// The number of families that change the frontmatter; a package has at most one of them.
pub(super) const FRONT: usize = 14;
