//! The house is tidy: small files and functions, speaking names, no loose ends.

use journeyman_tests::source::{Sources, blank_tests, functions, mask, names};

/// The most lines of a production file, tests apart.
const MOST_LINES: usize = 800;
/// The most lines of a function.
const MOST_FUNCTION_LINES: usize = 70;
/// The most bytes of any file.
const MOST_BYTES: usize = 16_000_000;
/// The folder of the laboratory, whose crates are kept as those of users are.
const LABORATORY: &str = "tests/lab/";
/// Names that say nothing.
const EMPTY_NAMES: [&str; 9] = [
    "util", "utils", "common", "helper", "helpers", "misc", "manager", "managers", "stuff",
];
/// Loose ends, outside tests.
const LOOSE_ENDS: [&str; 4] = ["todo!", "unimplemented!", ".unwrap()", ".expect("];
/// Programs and parts whose texts people read: they show words, not the names of Rust's types.
const SPEAKING: [&str; 8] = [
    "adapters/cli/src/",
    "adapters/llama-cpp/src/",
    "adapters/mcp/src/",
    "adapters/openai/src/",
    "adapters/process/src/",
    "examples/quickstart/src/",
    "sdk/src/agent/",
    "sdk/src/stations/retrieve/",
];
/// Paths of one machine. In pieces, so that this file holds none.
const MACHINE_PATHS: [&str; 4] = [
    concat!("/wor", "k/"),
    concat!("/far", "m/"),
    concat!("/hom", "e/"),
    concat!("/roo", "t/"),
];

/// The fault of a text with the debug form of a value.
const DEBUG_FORM: &str = "a text for people has a debug form";

/// What may break a rule: (path, a part of the fault's text, why).
const EXCEPTIONS: [(&str, &str, &str); 3] = [
    (
        "adapters/llama-cpp/src/catalog/fetch.rs",
        DEBUG_FORM,
        "a thread's id has no other form, and it is part of the name of a folder that goes again",
    ),
    (
        "adapters/llama-cpp/src/console.rs",
        DEBUG_FORM,
        "tracing gives an event's texts by their debug form alone, and they are format arguments",
    ),
    (
        "adapters/llama-cpp/src/context.rs",
        DEBUG_FORM,
        "a name in files of saved prefixes, which nobody reads",
    ),
];

/// Whether a page describes the tree as it is: results name the files of their time, the change log those of each version.
fn describes_the_tree(path: &str) -> bool {
    let dated = ["docs/results/", "docs/api/", "docs/CHANGELOG"];
    path.ends_with(".md") && !dated.iter().any(|folder| path.starts_with(folder))
}

/// The Rust files that a page names, whole or by the end of their path, and that are not there.
fn missing_files<'a>(page: &'a str, paths: &[String]) -> Vec<&'a str> {
    let is_in_path = |c: char| c.is_alphanumeric() || "_-/.".contains(c);
    let named = page
        .split(|c: char| !is_in_path(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.ends_with(".rs") && *word != ".rs");
    named
        .filter(|word| {
            let end = format!("/{}", word.trim_start_matches(['.', '/']));
            !paths.iter().any(|path| format!("/{path}").ends_with(&end))
        })
        .collect()
}

#[test]
fn the_files_that_pages_name_are_there() {
    let sources = Sources::list().unwrap();
    let pages = sources.paths.iter().filter(|path| describes_the_tree(path));
    let mut faults = Vec::new();
    for path in pages {
        let page = String::from_utf8(sources.read(path).unwrap()).unwrap();
        let missing = missing_files(&page, &sources.paths);
        faults.extend(missing.iter().map(|file| format!("{path}: {file}")));
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));

    let paths = ["sdk/src/lib.rs".to_owned()];
    let page = "`lib.rs`, sdk/src/lib.rs. (`../sdk/src/lib.rs`) b.rs; `xlib.rs`, `*.rs`";
    assert_eq!(missing_files(page, &paths), ["b.rs", "xlib.rs"]);
}

/// The files of test executables that no `mod` takes in, so that their tests would not run. An executable is a folder of `tests`
/// with a `main.rs`.
fn left_out<'a>(files: &[(&'a str, String)]) -> Vec<&'a str> {
    let folders = files
        .iter()
        .filter_map(|(path, _)| path.strip_suffix("/main.rs"));
    let executables: Vec<String> = folders
        .filter(|folder| folder.rsplit('/').nth(1) == Some("tests"))
        .map(|folder| format!("{folder}/"))
        .collect();
    let declares = |parent: &str, module: &str| {
        let file = files.iter().find(|(path, _)| *path == parent);
        let text = file.map(|(_, text)| mask(text)).unwrap_or_default();
        names(&text, &["mod"])
            .iter()
            .any(|(_, name)| name == module)
    };
    let is_left_out = |path: &str| {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let Some((above, name)) = module.rsplit_once('/') else {
            return false;
        };
        let parents = ["/main.rs", "/mod.rs", ".rs"].map(|end| format!("{above}{end}"));
        !parents.iter().any(|parent| declares(parent, name))
    };
    let paths = files.iter().map(|(path, _)| *path);
    paths
        .filter(|path| executables.iter().any(|folder| path.starts_with(folder)))
        .filter(|path| !path.ends_with("/main.rs") && is_left_out(path))
        .collect()
}

#[test]
fn every_file_of_a_test_executable_is_compiled() {
    let sources = Sources::list().unwrap();
    let left_out = left_out(&sources.rust("").unwrap()).join("\n");
    assert!(left_out.is_empty(), "no `mod` takes in:\n{left_out}");
}

#[test]
fn a_test_file_without_a_mod_is_found() {
    let files = [
        ("a/tests/it/main.rs", "mod b;\n// mod c;\nmod e;\n"),
        ("a/tests/it/b.rs", "mod d;"),
        ("a/tests/it/b/d.rs", ""),
        ("a/tests/it/c.rs", ""),
        ("a/tests/it/e/mod.rs", ""),
        ("a/tests/it/e/f.rs", ""),
        ("a/tests/alone.rs", ""),
        ("a/src/main.rs", ""),
        ("a/src/g.rs", ""),
    ];
    let files = files.map(|(path, text)| (path, text.to_owned()));
    assert_eq!(left_out(&files), ["a/tests/it/c.rs", "a/tests/it/e/f.rs"]);
}

#[test]
fn the_house_is_tidy() {
    let sources = Sources::list().unwrap();
    let mut faults = Vec::new();
    for path in &sources.paths {
        let bytes = sources.read(path).unwrap();
        faults.extend(faults_of(path, &bytes));
    }
    let excepted = |path: &str, fault: &str| {
        EXCEPTIONS
            .iter()
            .any(|(at, part, _)| *at == path && fault.contains(part))
    };
    for (path, part, _) in EXCEPTIONS {
        assert!(
            faults
                .iter()
                .any(|(at, fault)| at == path && fault.contains(part)),
            "the exception for {path} ({part}) is not needed any more"
        );
    }
    faults.retain(|(path, fault)| !excepted(path, fault));
    let lines: Vec<_> = faults
        .iter()
        .map(|(path, fault)| format!("{path}{fault}"))
        .collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
    assert!(
        sources.paths.len() > 50,
        "only {} files were found",
        sources.paths.len()
    );
}

/// The faults of a file: its path, and what follows it in the message.
fn faults_of(path: &str, bytes: &[u8]) -> Vec<(String, String)> {
    let mut faults = Vec::new();
    if bytes.len() > MOST_BYTES {
        faults.push(format!(": {} bytes, at most {MOST_BYTES}", bytes.len()));
    }
    faults.extend(empty_names_in_path(path));
    if let Ok(text) = std::str::from_utf8(bytes) {
        faults.extend(machine_paths(text));
        if path.ends_with(".rs") {
            faults.extend(faults_of_rust(path, text));
        }
    }
    faults
        .into_iter()
        .map(|fault| (path.to_owned(), fault))
        .collect()
}

fn faults_of_rust(path: &str, text: &str) -> Vec<String> {
    let masked = mask(text);
    let mut faults = empty_names_in_code(&masked);
    if is_test_file(path) {
        return faults;
    }
    let (code, test_lines) = blank_tests(&masked);
    let lines = text.lines().count().saturating_sub(test_lines);
    if lines > MOST_LINES {
        faults.push(format!(
            ": {lines} lines without tests, at most {MOST_LINES}"
        ));
    }
    for function in functions(&code) {
        if function.lines > MOST_FUNCTION_LINES {
            faults.push(format!(
                ":{}: fn {} has {} lines, at most {MOST_FUNCTION_LINES}",
                function.line, function.name, function.lines
            ));
        }
    }
    if SPEAKING.iter().any(|folder| path.starts_with(folder)) {
        faults.extend(debug_forms(text, &code));
    }
    if !path.starts_with("tests/") || path.starts_with(LABORATORY) {
        // A constant is evaluated by the compiler, so it cannot fail in a run.
        let is_constant = |text: &str| {
            text.contains("const ")
                && text.contains("NonZero")
                && text.matches(".expect(").count() == 1
        };
        for (line, text) in (1..).zip(code.lines()) {
            let excused = |end: &str| end == ".expect(" && is_constant(text);
            let ends = LOOSE_ENDS.iter().filter(|end| text.contains(**end));
            for end in ends.filter(|end| !excused(end)) {
                faults.push(format!(":{line}: {end} outside tests"));
            }
        }
    }
    faults
}

/// Texts with the debug form of a value; `code` is the text without comments, tests and the insides of literals.
fn debug_forms(text: &str, code: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (line, (text, code)) in (1..).zip(text.lines().zip(code.lines())) {
        // What cannot happen is for programmers.
        let is_text = code.contains('"') && !code.contains("unreachable!");
        if is_text && [":?}", ":#?}"].iter().any(|form| text.contains(form)) {
            faults.push(format!(":{line}: {DEBUG_FORM}"));
        }
    }
    faults
}

/// Test code: a `tests` or `benches` folder of a package, and `tests.rs` of a module.
fn is_test_file(path: &str) -> bool {
    let inner = ["tests/src/", "tests/faults/src/", LABORATORY]
        .iter()
        .find_map(|sources| path.strip_prefix(sources))
        .unwrap_or(path);
    inner
        .split('/')
        .any(|part| matches!(part, "tests" | "benches" | "tests.rs"))
}

fn is_empty_name(word: &str) -> bool {
    EMPTY_NAMES.contains(&word.to_ascii_lowercase().as_str())
}

fn empty_names_in_path(path: &str) -> Vec<String> {
    path.split('/')
        .flat_map(|part| part.split(['.', '_', '-']))
        .filter(|word| is_empty_name(word))
        .map(|word| format!(": the name `{word}` says nothing"))
        .collect()
}

fn empty_names_in_code(masked: &str) -> Vec<String> {
    names(masked, &["mod", "struct", "enum", "trait", "type"])
        .into_iter()
        .filter(|(_, name)| words_of(name).iter().any(|word| is_empty_name(word)))
        .map(|(line, name)| format!(":{line}: the name `{name}` says nothing"))
        .collect()
}

/// `RunManager` and `run_manager` are `run` and `manager`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c != '_') {
            word.push(c);
        }
    }
    words
}

/// A path that begins at a machine's root; a folder of that name within the repository is none.
fn machine_paths(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        for machine in MACHINE_PATHS {
            let found = text.match_indices(machine).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || "_.-~})*".contains(c))
            });
            if found {
                faults.push(format!(":{line}: the path {machine} is one machine's"));
            }
        }
    }
    faults
}

/// Each rule on a sample that breaks it.
#[test]
fn each_rule_can_fail() {
    fn check(path: &str, text: &str, expect: &[&str]) {
        let faults = faults_of(path, text.as_bytes());
        let found: Vec<_> = faults.iter().map(|(_, fault)| fault.as_str()).collect();
        assert_eq!(found, expect, "{path}");
    }
    let lines = "x\n".repeat(801);
    check(
        "sdk/src/a.rs",
        &lines,
        &[": 801 lines without tests, at most 800"],
    );
    check("sdk/src/a/tests.rs", &lines, &[]);
    check("adapters/a/tests/b.rs", &lines, &[]);
    check(
        "tests/src/b.rs",
        &lines,
        &[": 801 lines without tests, at most 800"],
    );
    check(
        "tests/faults/src/b.rs",
        &lines,
        &[": 801 lines without tests, at most 800"],
    );
    check("tests/faults/tests/b.rs", &lines, &[]);
    check(
        "tests/lab/a/src/b.rs",
        &lines,
        &[": 801 lines without tests, at most 800"],
    );
    check("tests/lab/a/tests/b.rs", &lines, &[]);
    let tested = format!("#[cfg(test)]\nmod tests {{\n{lines}}}\n");
    check("sdk/src/a.rs", &tested, &[]);

    let long = format!("fn short() {{}}\nfn long() {{\n{}}}\n", "x;\n".repeat(69));
    check(
        "sdk/src/a.rs",
        &long,
        &[":2: fn long has 71 lines, at most 70"],
    );

    check(
        "sdk/src/a.rs",
        "let a = const { NonZeroU32::new(2).expect(\"not 0\") };\n",
        &[],
    );
    check(
        "sdk/src/a.rs",
        "fn a() { b.unwrap(); c.expect(\"d\"); }\nfn e() { todo!() }\n// f.unwrap()\n",
        &[
            ":1: .unwrap() outside tests",
            ":1: .expect( outside tests",
            ":2: todo! outside tests",
        ],
    );
    check("tests/src/a.rs", "fn a() { b.unwrap(); }", &[]);
    check(
        "tests/lab/a/src/b.rs",
        "fn a() { b.unwrap(); }",
        &[":1: .unwrap() outside tests"],
    );
    check(
        "sdk/src/a.rs",
        "#[cfg(test)]\nmod tests { fn a() { b.unwrap() } }",
        &[],
    );

    check(
        "sdk/src/text_util.rs",
        "",
        &[": the name `util` says nothing"],
    );
    check(
        "sdk/src/common/mod.rs",
        "",
        &[": the name `common` says nothing"],
    );
    check(
        "sdk/src/a.rs",
        "struct RunManager;\nmod misc {}\nfn common_prefix() {}",
        &[
            ":1: the name `RunManager` says nothing",
            ":2: the name `misc` says nothing",
        ],
    );

    let debug = "/// `{a:?}`\nfn a() { say(format!(\"{a:?}\")); }\n\
                 #[cfg(test)]\nmod tests { fn b() { say(\"{b:?}\") } }\n";
    check(
        "adapters/cli/src/a.rs",
        debug,
        &[":2: a text for people has a debug form"],
    );
    check("adapters/disk/src/a.rs", debug, &[]);
    check(
        "adapters/openai/src/a.rs",
        "fn a() { unreachable!(\"{a:?}\") }\nfn b() { say(\"{:#?}\", b) }\n",
        &[":2: a text for people has a debug form"],
    );

    let machine = MACHINE_PATHS[0];
    check(
        "docs/a.md",
        &format!("see\n`{machine}main`"),
        &[&format!(":2: the path {machine} is one machine's")],
    );
    check("docs/a.md", &format!("docs{machine}a"), &[]);

    let big = vec![0xff; MOST_BYTES + 1];
    let faults = faults_of("examples/model.gguf", &big);
    assert_eq!(faults[0].1, ": 16000001 bytes, at most 16000000");
}
