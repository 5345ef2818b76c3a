//! Hostile frontmatter: forged keys, huge or nested values, invalid YAML.

use crate::{
    id::Seed,
    testing::ordinary::{Parts, pick},
};

pub(super) fn no_front(parts: &mut Parts, seed: Seed) {
    let (open, close) = match seed.index(6) {
        Some(0) => ("", ""),
        Some(1) => ("---\n", ""),
        Some(2) => ("+++\n", "+++\n"),
        Some(3) => ("text first\n---\n", "---\n"),
        Some(4) => ("--- # yaml\n", "---\n"),
        _ => {
            parts.front = b"- name\n- description\n".to_vec();
            ("---\n", "---\n")
        }
    };
    // No later rule in the body may close it.
    if close.is_empty() {
        parts.body = parts
            .body
            .split(|b| *b == b'\n')
            .filter(|l| *l != b"---")
            .collect::<Vec<_>>()
            .join(&b'\n');
    }
    parts.marks = [open.into(), close.into()];
}

pub(super) fn aliases(parts: &mut Parts, seed: Seed) {
    let mut text = String::from("metadata:\n  a: &a [lol, lol]\n");
    for (before, name) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        text.push_str(&format!(
            "  {name}: &{name} [*{before}, *{before}, *{before}]\n"
        ));
    }
    let merge = "x: &x {k: v}\ny: {<<: *x}".to_owned();
    drop_metadata(parts);
    let forms = [text, merge, "loop: &l [*l]".to_owned()];
    let form: &String = pick(&forms, seed);
    parts.field(form);
}

pub(super) fn tags(parts: &mut Parts, seed: Seed) {
    let line = *pick(
        &[
            "x: !!python/object/apply:os.system [id]",
            "x: !ruby/object:Gem::Installer {i: x}",
            "x: !!binary c2VjcmV0",
            "x: !<tag:yaml.org,2002:js/function> 'function () {}'",
        ],
        seed,
    );
    parts.field(line);
}

pub(super) fn deep(parts: &mut Parts, seed: Seed) {
    let depth = 9 + seed.index(3000).unwrap_or(0);
    let (open, close) = *pick(&[("[", "]"), ("{a: ", "}")], seed.derive("form", 0));
    parts.field(&format!(
        "x: {}1{}",
        open.repeat(depth),
        close.repeat(depth)
    ));
}

pub(super) fn twice(parts: &mut Parts, seed: Seed) {
    let line = *pick(
        &[
            "name: other",
            "\"name\": other",
            "description: other\nname : b",
        ],
        seed,
    );
    parts.field(line);
}

pub(super) fn documents(parts: &mut Parts, seed: Seed) {
    let line = *pick(
        &[
            "...\n%YAML 1.2\n--- {name: b}",
            "--- second\n",
            "%TAG ! tag:x,2000:\n--- x",
        ],
        seed,
    );
    parts.field(line);
}

pub(super) fn huge_front(parts: &mut Parts, seed: Seed) {
    let lines = 1700 + seed.index(20_000).unwrap_or(0);
    parts.field(&"# filler\n".repeat(lines + 200));
}

pub(super) fn long_field(parts: &mut Parts, seed: Seed) {
    let unit = pick(&["x", "é", "語", "👍"], seed.derive("unit", 0));
    let field = *pick(&["description", "compatibility"], seed);
    let most = if field == "description" { 1024 } else { 500 };
    drop_field(parts, field);
    parts.field(&format!(
        "{field}: {}",
        unit.repeat(most + 1 + seed.index(900).unwrap_or(0))
    ));
}

pub(super) fn shapes(parts: &mut Parts, seed: Seed) {
    let (field, line) = *pick(
        &[
            ("description", "description: [a, b]"),
            ("license", "license: {a: b}"),
            ("metadata", "metadata: text"),
            ("allowed-tools", "allowed-tools: [[Read]]"),
            ("allowed-tools", "allowed-tools: [{Read: all}]"),
            ("", "? [a, b]\n: c"),
            ("", "\"\": empty"),
        ],
        seed,
    );
    drop_field(parts, field);
    parts.field(line);
}

pub(super) fn name_path(parts: &mut Parts, seed: Seed) {
    let name = *pick(
        &[
            "../../etc/passwd",
            "..\\\\evil",
            "/etc/cron.d/x",
            "a/b",
            "C:\\\\x",
            "skills/../../x",
        ],
        seed,
    );
    drop_field(parts, "name");
    parts.field(&format!("name: \"{name}\""));
}

pub(super) fn look_alike(parts: &mut Parts, seed: Seed) {
    let name = *pick(
        &[
            "p\u{430}ypal-login",
            "g\u{43E}\u{43E}gle-drive",
            "\u{FF47}it-helper",
            "\u{1D42C}kill-store",
            "micr\u{3BF}soft",
        ],
        seed,
    );
    drop_field(parts, "name");
    parts.field(&format!("name: {name}"));
}

pub(super) fn forged(parts: &mut Parts, seed: Seed) {
    let key = *pick(
        &[
            "journeyman-state",
            "journeyman-taint",
            "journeyman-origin",
            "Journeyman_State",
            "journeyman-trust",
            "journeyman-evidence",
        ],
        seed,
    );
    let value = *pick(
        &["active", "clean", "human", "trusted", "999"],
        seed.derive("value", 0),
    );
    drop_metadata(parts);
    match seed.derive("top", 0).index(2) {
        Some(0) => parts.field(&format!("{key}: {value}")),
        _ => parts.field(&format!(
            "metadata:\n  {key}: {value}\n  state: active\n  taint: clean"
        )),
    }
}

pub(super) fn object_keys(parts: &mut Parts, seed: Seed) {
    let key = *pick(&["__proto__", "constructor", "prototype"], seed);
    drop_metadata(parts);
    match seed.derive("top", 0).index(2) {
        Some(0) => parts.field(&format!("{key}: {{polluted: yes}}")),
        _ => parts.field(&format!("metadata:\n  {key}: polluted")),
    }
}

pub(super) fn escapes(parts: &mut Parts, seed: Seed) {
    let escape = *pick(
        &[
            "\\u202E",
            "\\u200B",
            "\\U000E0041",
            "\\x1B[31m",
            "\\0",
            "\\e]0;x",
            "\\u2066",
        ],
        seed,
    );
    drop_metadata(parts);
    parts.field(&format!("metadata:\n  note: \"a{escape}b\""));
}

/// Removes a field that a family then adds.
fn drop_field(parts: &mut Parts, field: &str) {
    if field == "metadata" {
        return drop_metadata(parts);
    }
    let begins = format!("{field}:");
    let lines = parts.front.split_inclusive(|b| *b == b'\n');
    parts.front = lines
        .filter(|line| field.is_empty() || !line.starts_with(begins.as_bytes()))
        .collect::<Vec<_>>()
        .concat();
}

fn drop_metadata(parts: &mut Parts) {
    let lines = parts.front.split_inclusive(|b| *b == b'\n');
    parts.front = lines
        .filter(|line| !line.starts_with(b"metadata:") && !line.starts_with(b"  "))
        .collect::<Vec<_>>()
        .concat();
}
