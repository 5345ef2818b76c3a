//! Names that read like other names: letters of several scripts with the same shapes.

/// The scripts that share shapes of letters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Cherokee,
}

/// The script of a letter that looks like one of another script, by Unicode's blocks.
fn script(c: char) -> Option<Script> {
    match u32::from(c) {
        0x41..=0x5A | 0x61..=0x7A | 0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0x24F | 0x1E00..=0x1EFF => {
            Some(Script::Latin)
        }
        0x370..=0x3FF | 0x1F00..=0x1FFF => Some(Script::Greek),
        0x400..=0x52F | 0x1C80..=0x1C8F | 0x2DE0..=0x2DFF | 0xA640..=0xA69F => {
            Some(Script::Cyrillic)
        }
        0x530..=0x58F => Some(Script::Armenian),
        0x13A0..=0x13FF | 0xAB70..=0xABBF => Some(Script::Cherokee),
        _ => None,
    }
}

/// Whether a name mixes letters of two scripts that share shapes, or has full-width or mathematical letters.
pub(super) fn looks_alike(name: &str) -> bool {
    let drawn = |c: char| matches!(u32::from(c), 0xFF21..=0xFF5A | 0x1D400..=0x1D7FF);
    let mut scripts = name.chars().filter_map(script);
    let first = scripts.next();
    scripts.any(|other| Some(other) != first) || name.chars().any(drawn)
}
