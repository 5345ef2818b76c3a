//! A seeded generator of ordinary skill packages, which a linter must accept.

use std::collections::BTreeMap;

use super::voices::{VOICES, Voice};
use crate::id::Seed;

/// A skill's package, as the input of a linter.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordinary {
    /// SKILL.md.
    pub text: Vec<u8>,
    /// The other files, by their paths within the folder.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The folder's name.
    pub folder_name: String,
}

/// The first bytes of a picture, for a file that is not text.
const PICTURE: [u8; 16] = *b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// An ordinary skill: in one of sixteen ways of writing (Latin with and without accents, Greek, Cyrillic, Arabic,
/// Persian, Hebrew, Devanagari, Thai, Chinese, Japanese, Hangul, the scripts of southern India, emoji), with files,
/// code, tables and links. Different seeds give different skills.
///
/// ```
/// use journeyman::{Seed, library::format::SkillMd, testing::ordinary};
///
/// let skill = ordinary(Seed(7));
/// let text = String::from_utf8(skill.text)?;
/// assert!(SkillMd::read(&text, Some(&skill.folder_name)).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ordinary(seed: Seed) -> Ordinary {
    let parts = Parts::new(seed);
    Ordinary {
        text: parts.text(),
        files: parts.files,
        folder_name: parts.folder_name,
    }
}

/// A package in parts, which the hostile generator changes.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// The lines between the two `---`, each with its line feed.
    pub(super) front: Vec<u8>,
    /// The marks before and after the frontmatter.
    pub(super) marks: [Vec<u8>; 2],
    pub(super) body: Vec<u8>,
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) folder_name: String,
}

impl Parts {
    pub(super) fn new(seed: Seed) -> Self {
        let voice = pick(&VOICES, seed.derive("voice", 0));
        let folder_name = format!(
            "{}-{:06x}",
            voice.name,
            seed.derive("name", 0).0 & 0xFF_FFFF
        );
        Self {
            front: front(voice, &folder_name, seed),
            marks: [b"---\n".to_vec(), b"---\n".to_vec()],
            body: body(voice, seed),
            files: files(voice, seed),
            folder_name,
        }
    }

    pub(super) fn text(&self) -> Vec<u8> {
        let [open, close] = &self.marks;
        [
            open.as_slice(),
            self.front.as_slice(),
            close.as_slice(),
            self.body.as_slice(),
        ]
        .concat()
    }

    /// Adds a line at the end of the frontmatter.
    pub(super) fn field(&mut self, line: &str) {
        self.front.extend(line.as_bytes());
        self.front.push(b'\n');
    }

    /// Inserts a text into the body at a place that follows from the seed.
    pub(super) fn say(&mut self, text: &[u8], seed: Seed) {
        let ends: Vec<usize> = (1..)
            .zip(&self.body)
            .filter_map(|(at, byte)| (*byte == b'\n').then_some(at))
            .collect();
        let at = seed.index(ends.len()).map_or(0, |which| ends[which]);
        let line = [text, b"\n".as_slice()].concat();
        self.body.splice(at..at, line);
    }
}

/// One of the items, which must not be empty.
pub(super) fn pick<T>(of: &[T], seed: Seed) -> &T {
    &of[seed.index(of.len()).unwrap_or(0)]
}

fn front(voice: &Voice, name: &str, seed: Seed) -> Vec<u8> {
    let description = pick(&voice.descriptions, seed.derive("description", 0));
    let mut front = format!("name: {name}\ndescription: \"{description}\"\n");
    for (index, line) in [
        "license: Apache-2.0",
        "compatibility: Needs git and network access",
        "metadata:\n  author: example\n  version: \"1.0\"\n  journeyman-kind: knowledge",
        "allowed-tools: Read Bash(git add:*)",
    ]
    .iter()
    .enumerate()
    {
        if seed.derive("field", index as u64).unit() < 0.4 {
            front.push_str(line);
            front.push('\n');
        }
    }
    front.into_bytes()
}

fn body(voice: &Voice, seed: Seed) -> Vec<u8> {
    let sentence = |label: &str, i| pick(&voice.sentences, seed.derive(label, i));
    let mut body = String::new();
    for (part, heading) in (0_u64..).zip(voice.headings) {
        body.push_str(&format!("\n## {heading}\n\n"));
        let count = 1 + seed.derive("count", part).index(5).unwrap_or(0) as u64;
        for line in 0..count {
            let text = sentence("sentence", part * 10 + line);
            match seed.derive("form", part).index(4) {
                Some(0) => body.push_str(&format!("{}. {text}\n", line + 1)),
                Some(1) => body.push_str(&format!("- **{text}**\n")),
                Some(2) => body.push_str(&format!("> {text}\n")),
                _ => body.push_str(&format!("{text}\n\n")),
            }
        }
    }
    let extras = [
        "\n```sh\ngit log --oneline | head -n 20\ncurl -fsS https://example.com/data.json -o data.json\n```\n",
        "\n```python\nimport os\nkey = os.environ[\"SERVICE_TOKEN\"]  # the host sets it\n```\n",
        "\n| column | unit |\n| --- | --- |\n| length | mm |\n\n---\n",
        "\nSee [the notes](references/notes.md), <https://example.com/a?b=c&d=e#f> and `password: <yours>`.\n",
        "\n```html\n<system-map><skill-list/></system-map>\n```\n",
        "\nThe commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b and the id 3f2504e0-4f89-11d3-9a0c-0305e82c3301.\n",
        "\n```json\n{\"__type\": \"point\", \"password\": \"string\", \"x\": [1, 2.5e3]}\n```\n",
    ];
    for (index, extra) in (0_u64..).zip(extras) {
        if seed.derive("extra", index).unit() < 0.3 {
            body.push_str(extra);
        }
    }
    body.into_bytes()
}

fn files(voice: &Voice, seed: Seed) -> BTreeMap<String, Vec<u8>> {
    let text = voice.sentences.join("\n");
    let all = [
        (voice.file, text.clone().into_bytes()),
        (
            "references/windows.txt",
            text.replace('\n', "\r\n").into_bytes(),
        ),
        (
            "scripts/main.py",
            b"#!/usr/bin/env python3\n\"\"\"Prints.\"\"\"\n\x0Cprint(\"\\033[1mbold\\033[0m\")\n"
                .to_vec(),
        ),
        ("assets/picture.png", PICTURE.to_vec()),
        ("assets/.gitkeep", Vec::new()),
        ("LICENSE", b"Apache License\n".to_vec()),
        (
            "references/api v2 (draft).md",
            b"\xEF\xBB\xBF# API\n".to_vec(),
        ),
    ];
    (0_u64..)
        .zip(all)
        .filter(|(index, _)| seed.derive("file", *index).unit() < 0.35)
        .map(|(_, (path, bytes))| (path.to_owned(), bytes))
        .collect()
}
