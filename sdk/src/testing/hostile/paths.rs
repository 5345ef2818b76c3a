//! Hostile files: paths, numbers and sizes that must not be unpacked.

use crate::{
    id::Seed,
    testing::ordinary::{Parts, pick},
};

fn put(parts: &mut Parts, path: String) {
    parts.files.insert(path, b"hostile\n".to_vec());
}

pub(super) fn climbing(parts: &mut Parts, seed: Seed) {
    let base = *pick(
        &[
            "..",
            "a/../..",
            "./x",
            "references/../../..",
            "a/./b",
            "x/..",
        ],
        seed,
    );
    let end = *pick(
        &["", "/etc/passwd", "/.ssh/authorized_keys", "/x/SKILL.md"],
        seed.derive("end", 0),
    );
    put(parts, format!("{base}{end}"));
}

pub(super) fn absolute(parts: &mut Parts, seed: Seed) {
    let path = *pick(
        &[
            "/etc/cron.d/x",
            "//server/share/x",
            "~/.bashrc",
            "C:/Windows/x",
            "c:x",
            "file.txt:stream",
            "/",
            "",
        ],
        seed,
    );
    put(parts, path.to_owned());
}

pub(super) fn backslash(parts: &mut Parts, seed: Seed) {
    let path = *pick(
        &[
            "..\\..\\x",
            "a\\b",
            "\\\\server\\share",
            "C:\\x",
            "references\\..\\x",
        ],
        seed,
    );
    put(parts, path.to_owned());
}

pub(super) fn device(parts: &mut Parts, seed: Seed) {
    let path = *pick(
        &[
            "CON",
            "nul.txt",
            "references/aux.md",
            "com1",
            "LPT9.log",
            "COM¹",
            "PRN .txt",
            "conin$",
            "ends.",
            "ends ",
            "a./b",
        ],
        seed,
    );
    put(parts, path.to_owned());
}

pub(super) fn odd_path(parts: &mut Parts, seed: Seed) {
    let odd = *pick(
        &[
            "\0",
            "\n",
            "\u{1B}[2J",
            "\u{202E}",
            "\u{200B}",
            "\r",
            "\t",
            "\u{E0041}",
            "\u{FEFF}",
        ],
        seed,
    );
    put(parts, format!("references/a{odd}fdp.md"));
}

pub(super) fn long_path(parts: &mut Parts, seed: Seed) {
    let path = match seed.index(3) {
        Some(0) => "d/".repeat(9) + "x",
        Some(1) => "n".repeat(256),
        _ => format!("{0}/{0}/{0}", "語".repeat(80)),
    };
    put(parts, path);
}

pub(super) fn case(parts: &mut Parts, seed: Seed) {
    let (one, two) = *pick(
        &[
            ("notes.md", "Notes.md"),
            ("straße.md", "STRASSE.md"),
            ("skill.md", "skill.md"),
            ("SKILL.MD", "x.md"),
            ("références.md", "RÉFÉRENCES.md"),
            ("kelvin.md", "\u{212A}elvin.md"),
            ("scripts/a.py", "Scripts/b.py"),
            ("\u{17F}ecret.md", "secret.md"),
        ],
        seed,
    );
    put(parts, one.to_owned());
    put(parts, two.to_owned());
}

pub(super) fn both(parts: &mut Parts, seed: Seed) {
    let name = *pick(&["bin", "Bin", "SKILL.md", "a/b"], seed);
    if name != "SKILL.md" {
        put(parts, name.to_owned());
    }
    put(
        parts,
        format!("{}/x", name.to_lowercase().replace("skill.md", "SKILL.md")),
    );
}

pub(super) fn many(parts: &mut Parts, seed: Seed) {
    for number in 0..201 + seed.index(100).unwrap_or(0) {
        put(parts, format!("assets/{number}.md"));
    }
}

pub(super) fn large(parts: &mut Parts, seed: Seed) {
    let bytes = vec![b'x'; (1 << 20) + 1 + seed.index(1000).unwrap_or(0)];
    parts.files.insert("assets/large.bin".to_owned(), bytes);
}

pub(super) fn heavy(parts: &mut Parts, _seed: Seed) {
    for number in 0..11 {
        parts
            .files
            .insert(format!("assets/{number}.bin"), vec![0; 1 << 20]);
    }
}
