//! The command lines of the pages: those of blocks, and spans of code that are one.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders that builds and runs leave behind.
const LEFT_BEHIND: [&str; 4] = ["node_modules", "out", "target", "venv"];

/// Pages that say what was, and not what to type.
const DATED: [&str; 4] = [
    "docs/CHANGELOG",
    "docs/api/",
    "docs/decisions/",
    "docs/results/",
];

/// Languages of blocks that hold no command line.
const WITHOUT_COMMANDS: [&str; 6] = ["json", "markdown", "python", "rust", "text", "toml"];

/// A span of code that begins with one of these is a command line.
const PROGRAMS: [&str; 24] = [
    "apt-get",
    "bash",
    "cargo",
    "cmake",
    "curl",
    "docker",
    "export",
    "git",
    "journeyman",
    "kill",
    "llama-server",
    "make",
    "node",
    "npm",
    "npx",
    "pip",
    "python",
    "python3",
    "rustup",
    "sh",
    "source",
    "touch",
    "uvx",
    "vllm",
];

/// A span of code that begins with one of these is a command line without `journeyman`.
const COMMANDS: [&str; 7] = [
    "completions",
    "experiment",
    "library",
    "model",
    "run",
    "serve",
    "skill",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A line of a block.
    Block,
    /// A span of code within a text.
    Span,
    /// A span of code that is a command of `journeyman`, or the form of one, without the word `journeyman`.
    Form,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) page: String,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// The checkout's files, in the folders of its crates and pages.
pub(crate) struct Checkout {
    pub(crate) root: PathBuf,
    /// Relative to the root, sorted.
    pub(crate) files: Vec<String>,
}

impl Checkout {
    pub(crate) fn here() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root.canonicalize().unwrap();
        let mut files = vec!["README.md".to_owned()];
        for folder in ["adapters", "docs", "examples", "sdk", "skills", "tests"] {
            walk(&root, folder, &mut files);
        }
        files.sort();
        Self { root, files }
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// The command lines of all pages, page by page in their order.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let pages = self.files.iter().filter(|path| is_page(path));
        let lines = pages.flat_map(|page| {
            let found = lines_of(page, &self.read(page));
            found.into_iter().map(|(kind, text)| Line {
                page: page.clone(),
                kind,
                text,
            })
        });
        lines.collect()
    }

    /// The files, and the names of packages, their parts and groups of figures, that a line has and that are not there.
    pub(crate) fn missing(&self, line: &str) -> Vec<String> {
        let folders = ["adapters/", "docs/", "examples/", "sdk/", "tests/"];
        let is_in_path = |c: char| c.is_alphanumeric() || "_-/.".contains(c);
        let paths = line.split(|c| !is_in_path(c));
        let paths = paths.filter(|path| folders.iter().any(|folder| path.starts_with(folder)));
        let lost = paths.filter(|path| !self.root.join(path).exists());
        let is_there = |before: &str, name: &str| match before {
            "-p" => self.is_package(name),
            "--bin" => self.is_target("bin", name),
            "--test" => self.is_target("tests", name),
            "--features" => self.is_feature(name),
            "tests/figures.sh" => self.is_group(name),
            _ => true,
        };
        let words: Vec<&str> = line.split(' ').collect();
        // A placeholder may be any of them, and an option is none.
        let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase());
        let unknown = words
            .windows(2)
            .filter(|pair| is_name(pair[1]) && !is_there(pair[0], pair[1]));
        let unknown = unknown.map(|pair| pair[1]);
        lost.chain(unknown).map(str::to_owned).collect()
    }

    fn is_package(&self, name: &str) -> bool {
        let head = format!("[package]\nname = \"{name}\"\n");
        self.manifests().any(|text| text.contains(&head))
    }

    /// Whether there is a program, or an executable of tests, of this name in a file or a folder of its own.
    fn is_target(&self, folder: &str, name: &str) -> bool {
        let ends = ["", "/main"].map(|end| format!("/{folder}/{name}{end}.rs"));
        let mut files = self.files.iter();
        files.any(|file| ends.iter().any(|end| file.ends_with(end)))
    }

    fn is_feature(&self, name: &str) -> bool {
        let begin = format!("\n{name} = [");
        self.manifests().any(|text| text.contains(&begin))
    }

    /// Whether there is a group of figures of this name.
    fn is_group(&self, name: &str) -> bool {
        let groups = self.read("tests/src/figures/groups.rs");
        groups.contains(&format!("name: \"{name}\","))
    }

    fn manifests(&self) -> impl Iterator<Item = String> {
        let files = self.files.iter();
        let files = files.filter(|file| file.ends_with("/Cargo.toml"));
        files.map(|file| self.read(file))
    }
}

fn walk(root: &Path, under: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(under)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{under}/{name}");
        if !entry.file_type().unwrap().is_dir() {
            files.push(path);
        } else if !name.starts_with('.') && !LEFT_BEHIND.contains(&name.as_str()) {
            walk(root, &path, files);
        }
    }
}

/// Each page of `docs`, and each README.md.
fn is_page(path: &str) -> bool {
    let is_of_docs = path.starts_with("docs/") && path.ends_with(".md");
    let is_dated = DATED.iter().any(|begin| path.starts_with(begin));
    let is_readme = path == "README.md" || path.ends_with("/README.md");
    (is_of_docs || is_readme) && !is_dated
}

/// The command lines of a page: those of blocks first.
fn lines_of(page: &str, text: &str) -> Vec<(Kind, String)> {
    let (raw, prose) = parts(page, text);
    let lines = joined(&raw);
    let mut found: Vec<_> = lines.into_iter().map(|line| (Kind::Block, line)).collect();
    for paragraph in prose.split("\n\n") {
        let spans = spans(paragraph).into_iter();
        found.extend(spans.filter_map(|span| Some((kind_of(&span)?, span))));
    }
    found
}

/// The lines of a page that are typed, and its text without blocks. What is indented by four or more behind an empty line is a block.
fn parts<'a>(page: &str, text: &'a str) -> (Vec<&'a str>, String) {
    let (mut raw, mut prose) = (Vec::new(), String::new());
    let mut fence: Option<(usize, &str)> = None;
    // Whether an indented line is a block.
    let mut begins = true;
    for line in text.lines() {
        let trimmed = line.trim();
        let marks = trimmed.len() - trimmed.trim_start_matches('`').len();
        let is_indented = begins && line.starts_with("    ") && !trimmed.is_empty();
        match fence {
            None if marks >= 3 => {
                let language = trimmed[marks..].split([',', ' ']).next().unwrap();
                let is_known = ["console", "sh"].contains(&language);
                assert!(
                    is_known || WITHOUT_COMMANDS.contains(&language),
                    "{page}: name a block of commands `sh`, or `console` with its output, and another one `text`: {line}"
                );
                fence = Some((marks, language));
                prose.push_str("\n\n");
            }
            Some((open, _)) if trimmed.len() == marks && marks >= open => fence = None,
            Some((_, "sh")) => raw.push(trimmed),
            Some((_, "console")) => raw.extend(trimmed.strip_prefix("$ ")),
            Some(_) => {}
            None if is_indented => raw.push(trimmed),
            None => {
                prose.push_str(trimmed);
                prose.push('\n');
            }
        }
        begins = trimmed.is_empty() || is_indented;
    }
    (raw, prose)
}

/// Commands without comments; lines that end with `\` are one with the next, and `&&` ends a command.
fn joined(raw: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut text = String::new();
    for line in raw {
        let line = without_comment(line);
        let (part, goes_on) = match line.strip_suffix('\\') {
            Some(begin) => (begin, true),
            None => (line, false),
        };
        text.push_str(part);
        text.push(' ');
        if !goes_on {
            let commands = text.split(" && ").map(plain);
            lines.extend(commands.filter(|line| !line.is_empty()));
            text.clear();
        }
    }
    lines
}

/// A text with single spaces.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        quoted ^= c == '"';
        if c == '#' && before.is_whitespace() && !quoted {
            return line[..at].trim_end();
        }
        before = c;
    }
    line.trim_end()
}

/// What stands in a paragraph between two equally long runs of backticks.
fn spans(paragraph: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = paragraph;
    while let Some((_, at, marks)) = runs(rest).next() {
        rest = &rest[at..];
        let end = runs(rest).find(|(_, _, closing)| *closing == marks);
        if let Some((end, behind, _)) = end {
            found.push(plain(&rest[..end]));
            rest = &rest[behind..];
        }
    }
    found
}

/// The runs of backticks of a text: where each begins and ends, and its length.
fn runs(text: &str) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at + text[at..].find('`')?;
        let marks = text[begin..].len() - text[begin..].trim_start_matches('`').len();
        at = begin + marks;
        Some((begin, at, marks))
    })
}

/// Whether a span of code is a command line.
fn kind_of(span: &str) -> Option<Kind> {
    let mut words = span.split(' ').skip_while(|word| is_setting(word));
    let (first, second) = (words.next()?, words.next()?);
    let is_variable = first.trim_start_matches('"').starts_with('$');
    if second == "=" {
        None
    } else if PROGRAMS.contains(&first) || first.ends_with(".sh") || is_variable {
        Some(Kind::Span)
    } else if COMMANDS.contains(&first)
        && second.starts_with(|c: char| c.is_alphabetic() || c == '-')
    {
        Some(Kind::Form)
    } else {
        None
    }
}

/// Whether a word sets a variable for the command behind it.
fn is_setting(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

#[test]
fn command_lines_are_found_in_blocks_and_texts() {
    let page = "\
Text with `journeyman skill list` and `skill show
NAME`, `model = \"a\"`, `journeyman = { }`, `` `bash a.sh` ``, `tests/a.sh`, `tests/a.sh --full` and `A=1 cargo test`.
    No block.

```sh
journeyman a \"b # c\" \\
    --d   # a comment
# Another comment.
cargo build && tests/a.sh
```

```console
$ journeyman run a.toml
journeyman prints this
```

```text
bash b.sh
```

    bash c.sh        # typed
    bash d.sh
";
    let found = lines_of("page", page);
    let of = |kind: Kind| -> Vec<&str> {
        let found = found.iter().filter(|(one, _)| *one == kind);
        found.map(|(_, text)| text.as_str()).collect()
    };
    let blocks = [
        "journeyman a \"b # c\" --d",
        "cargo build",
        "tests/a.sh",
        "journeyman run a.toml",
        "bash c.sh",
        "bash d.sh",
    ];
    assert_eq!(of(Kind::Block), blocks);
    let spans = [
        "journeyman skill list",
        "tests/a.sh --full",
        "A=1 cargo test",
    ];
    assert_eq!(of(Kind::Span), spans);
    assert_eq!(of(Kind::Form), ["skill show NAME"]);
}

#[test]
fn pages_of_results_hold_no_command_lines_to_run() {
    assert!(is_page("README.md") && is_page("docs/how-to/undo.md"));
    assert!(is_page("tests/lab/encoder/README.md"));
    assert!(!is_page("docs/results/README.md") && !is_page("docs/CHANGELOG.md"));
    assert!(!is_page("skills/role-tag/SKILL.md"));
}
