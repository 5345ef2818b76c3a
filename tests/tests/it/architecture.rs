//! The direction of dependencies: between crates by `cargo metadata`, between modules by reading their sources.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use journeyman_tests::source::{
    Imports, Sources, blank_tests, mask, names, paths_behind, repository,
};
use serde_json::Value;

/// What may stand at the top, beside dot-files.
const TOP: [&str; 11] = [
    "Cargo.toml",
    "Cargo.lock",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "README.md",
    "sdk",
    "adapters",
    "examples",
    "docs",
    "skills",
    "tests",
];

/// The adapters that people use directly, and that may therefore see the other adapters.
const FRONT_ENDS: [&str; 3] = ["journeyman-cli", "journeyman-local", "journeyman-studio"];
/// The examples that may see another, and which: the shortest hosts run on its scripted model, and what is traced is its
/// work.
const EXAMPLES_OF_AN_EXAMPLE: [(&str, &str); 2] = [("embed", "host"), ("telemetry", "host")];

/// The folder of the laboratory: worlds, trainers, model shapes. Its crates are for tests and figures.
const LABORATORY: &str = "tests/lab/";
/// What else may see the laboratory, and which of its crates.
const SEES_THE_LABORATORY: [(&str, &str); 1] = [
    // The world that the bundled model acts in.
    ("quickstart", "journeyman-toolworld"),
];

/// Adapters that stand on another one: the first sees the second.
const STANDS_ON: [(&str, &str); 1] = [
    // A child process is started, and bound to its owner, in one way.
    ("journeyman-mcp", "journeyman-process"),
];

/// All that the SDK may depend on directly: no C or C++, no network, no runtime.
const SDK_DEPENDENCIES: [&str; 19] = [
    "async-trait",
    "deunicode",
    "unicode-normalization",
    "futures",
    "futures-timer",
    "granit-parser",
    "hdbscan",
    "jsonschema",
    "rand_chacha",
    "regex",
    "rpds",
    "schemars",
    "serde",
    "serde-saphyr",
    "serde_json",
    "sha2",
    "smartcore",
    "similar",
    "tracing",
];
/// What the SDK must not pull in by way of others. `*-sys` is refused too.
const SDK_WITHOUT: [&str; 12] = [
    "bindgen",
    "cc",
    "cmake",
    "pkg-config",
    "hyper",
    "mio",
    "openssl",
    "reqwest",
    "rustls",
    "socket2",
    "tokio",
    "async-std",
];

/// The stations that a task passes, in order: each may see those before it.
const STATIONS: [&str; 9] = [
    "stations/retrieve",
    "stations/inject",
    "stations/select",
    "stations/reward",
    "stations/credit",
    "stations/propose",
    "stations/admit",
    "stations/maintain",
    "stations/proof",
];

/// The rooms of the papers: none sees another one.
const ROOMS: [&str; 5] = [
    "papers/arise",
    "papers/scribe",
    "papers/hisme",
    "papers/skillos",
    "papers/skillrl",
];

/// What each module of the SDK may see, those inside another one by themselves; `error` and `id`, which every module may, are left
/// out.
fn may_see() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    const VALUES: &[&str] = &["domain"];
    const CONTRACTS: &[&str] = &["domain", "contract"];
    const SHARED: &[&str] = &["library/format", "text", "agent/role", "library"];
    /// What policies see of a run, what they ask and tell.
    const POLICY: &[&str] = &["policy/program", "run/report", "policy"];
    let set = |groups: &[&[&'static str]]| groups.concat().into_iter().collect();
    let mut table = BTreeMap::from([
        ("error", set(&[])),
        ("id", set(&[])),
        ("domain", set(&[])),
        ("library/format", set(&[VALUES, &["text"]])),
        ("contract", set(&[VALUES])),
        ("policy/program", set(&[])),
        ("text", set(&[CONTRACTS])),
        ("agent/role", set(&[CONTRACTS, &["library/format", "text"]])),
        ("library", set(&[CONTRACTS, &["text"]])),
        ("run/report", set(&[VALUES, &["text", "library"]])),
        (
            "policy",
            set(&[CONTRACTS, &["library", "policy/program", "run/report"]]),
        ),
        ("stations", set(&[])),
        (
            "stations/recipe",
            set(&[CONTRACTS, SHARED, POLICY, &STATIONS]),
        ),
        ("papers", set(&[])),
        (
            "recipe",
            set(&[
                CONTRACTS,
                SHARED,
                POLICY,
                &STATIONS,
                &["stations/recipe"],
                &ROOMS,
            ]),
        ),
        (
            "run",
            set(&[
                CONTRACTS,
                SHARED,
                POLICY,
                &STATIONS,
                &["stations/recipe", "agent", "telemetry"],
            ]),
        ),
        ("telemetry", set(&[CONTRACTS, &["run/report", "text"]])),
        (
            "testing/conformance",
            set(&[
                CONTRACTS,
                POLICY,
                &[
                    "stations/admit",
                    "stations/propose",
                    "stations/select",
                    "agent",
                    "library",
                    "recipe",
                    "run",
                    "testing",
                ],
            ]),
        ),
        (
            "testing",
            set(&[CONTRACTS, &["library/format", "run/report"]]),
        ),
        (
            "agent",
            set(&[
                CONTRACTS,
                SHARED,
                &["stations/inject", "stations/retrieve", "telemetry"],
            ]),
        ),
        (
            "prelude",
            set(&[CONTRACTS, SHARED, &["agent", "recipe", "run/report", "run"]]),
        ),
    ]);
    for (place, station) in STATIONS.into_iter().enumerate() {
        let before = STATIONS.get(..place).unwrap_or_default();
        table.insert(station, set(&[CONTRACTS, SHARED, POLICY, before]));
    }
    for room in ROOMS {
        let engine: &[&str] = &["stations/recipe", "run", "agent"];
        table.insert(room, set(&[CONTRACTS, SHARED, POLICY, &STATIONS, engine]));
    }
    table
}

/// The module of the table that a path leads into: the inner one where there is one.
fn module_of(
    path: &[&str],
    table: &BTreeMap<&'static str, BTreeSet<&'static str>>,
) -> Option<&'static str> {
    let known = |name: &str| table.keys().find(|key| **key == name).copied();
    path.get(..2)
        .and_then(|two| known(&two.join("/")))
        .or_else(|| path.first().and_then(|one| known(one)))
}

/// The parts of `run`: what decides, what acts, what a host calls. Each may see those before it.
const PARTS_OF_A_RUN: [&str; 3] = ["machine", "driver", "host"];

/// What a core that decides without acting must not touch: (where, what), with the files that may.
const NO_ACTING: [&str; 6] = ["fs", "net", "env", "process", "thread", "os"];
const NO_CLOCK: [&str; 2] = ["Instant", "SystemTime"];
/// The SDK's files that act, with the reason.
const ACTING: [(&str, &str); 2] = [
    (
        "sdk/src/agent/system_clock.rs",
        "the clock that a host may choose; behind the feature `system-clock`",
    ),
    (
        "sdk/src/agent/on_thread.rs",
        "threads for a host's blocking parts, where it wraps them; behind the feature `threads`",
    ),
];

#[test]
fn crates_point_one_way() {
    let metadata = metadata();
    let mut faults = Vec::new();
    for (name, package) in &metadata {
        faults.extend(crate_faults(name, package, &metadata));
    }
    for (name, of) in SEES_THE_LABORATORY {
        let mut dependencies = metadata[name].dependencies.iter();
        let sees = dependencies.any(|(dependency, _)| dependency == of);
        assert!(sees, "{name} need not be allowed to see {of} any more");
    }
    assert!(
        metadata.len() >= 5,
        "only {} crates were found",
        metadata.len()
    );
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[derive(Clone, Debug)]
struct Package {
    /// Relative to the repository.
    folder: String,
    /// Direct dependencies of every kind, with whether they are of the dev kind.
    dependencies: Vec<(String, bool)>,
}

fn metadata() -> BTreeMap<String, Package> {
    let json: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let root = json["workspace_root"].as_str().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let packages = json["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let manifest = text(&package["manifest_path"]);
            let folder = manifest.trim_start_matches(root).trim_start_matches('/');
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let package_value = Package {
                folder: folder
                    .trim_end_matches("Cargo.toml")
                    .trim_end_matches('/')
                    .to_owned(),
                dependencies: dependencies
                    .map(|dependency| (text(&dependency["name"]), dependency["kind"] == "dev"))
                    .collect(),
            };
            (text(&package["name"]), package_value)
        })
        .collect()
}

/// The documentation of one crate would take the place of the other's.
#[test]
fn no_two_documented_crates_share_a_name() {
    let json: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let mut folders = BTreeMap::<String, Vec<String>>::new();
    for package in json["packages"].as_array().unwrap() {
        for target in package["targets"].as_array().unwrap() {
            let kinds = target["kind"].as_array().unwrap();
            let is_crate = kinds.iter().any(|kind| kind == "lib" || kind == "bin");
            let name = target["name"].as_str().unwrap().replace('-', "_");
            // Cargo itself leaves out a program of its own package's name.
            let of_package = folders.entry(name).or_default();
            let package = package["name"].to_string();
            if is_crate && target["doc"] == true && !of_package.contains(&package) {
                of_package.push(package);
            }
        }
    }
    folders.retain(|_, packages| packages.len() > 1);
    assert!(
        folders.is_empty(),
        "set `doc = false` on a program: {folders:?}"
    );
}

/// A unit test in a target that is marked `test = false` would not run.
#[test]
fn no_test_stands_in_a_target_without_tests() {
    let sources = Sources::list().unwrap();
    let files: BTreeMap<&str, String> = sources.rust("").unwrap().into_iter().collect();
    let json: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let root = json["workspace_root"].as_str().unwrap();
    let (mut targets, mut found) = (0, Vec::new());
    for package in json["packages"].as_array().unwrap() {
        for target in package["targets"].as_array().unwrap() {
            let kinds = target["kind"].as_array().unwrap();
            let is_crate = kinds.iter().any(|kind| kind == "lib" || kind == "bin");
            if is_crate && target["test"] == false {
                let file = target["src_path"].as_str().unwrap();
                let file = file.trim_start_matches(root).trim_start_matches('/');
                found.extend(with_tests(file, &files));
                targets += 1;
            }
        }
    }
    assert!(targets >= 5, "only {targets} targets were found");
    assert!(found.is_empty(), "remove `test = false`: {found:?}");
}

/// Those that have tests of a target's file and the files of its modules.
fn with_tests(target: &str, files: &BTreeMap<&str, String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![target.to_owned()];
    while let Some(path) = open.pop() {
        let Some(text) = files.get(path.as_str()) else {
            continue;
        };
        let folder = match path == target {
            true => path.rsplit_once('/').map_or("", |(folder, _)| folder),
            false => path.trim_end_matches(".rs").trim_end_matches("/mod"),
        };
        let code = mask(text);
        for (_, module) in names(&code, &["mod"]) {
            open.push(format!("{folder}/{module}.rs"));
            open.push(format!("{folder}/{module}/mod.rs"));
        }
        if ["#[test]", "::test]"]
            .iter()
            .any(|test| code.contains(test))
        {
            found.push(path);
        }
    }
    found
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--offline")
        .current_dir(repository())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn crate_faults(name: &str, package: &Package, all: &BTreeMap<String, Package>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut kind = package.folder.split('/');
    let (top, folder) = (
        kind.next().unwrap_or_default(),
        kind.next().unwrap_or_default(),
    );
    let in_laboratory = |package: &Package| package.folder.starts_with(LABORATORY);
    let expected = match top {
        "sdk" => "journeyman".to_owned(),
        "skills" => "journeyman-skills".to_owned(),
        "adapters" => format!("journeyman-{folder}"),
        "tests" if folder.is_empty() => "journeyman-tests".to_owned(),
        "tests" if !in_laboratory(package) => format!("journeyman-{folder}"),
        _ => name.to_owned(),
    };
    if name != expected {
        faults.push(format!(
            "{}: is called {name}, should be {expected}",
            package.folder
        ));
    }
    for (dependency, dev) in &package.dependencies {
        if let Some(of) = all.get(dependency) {
            let adapter = of.folder.starts_with("adapters/");
            let pair = (name, dependency.as_str());
            let allowed = match top {
                // The texts of the roles, and the features for its own tests (`testing`, `conformance`).
                "sdk" => dependency == "journeyman-skills" || (dependency == name && *dev),
                "adapters" => {
                    dependency == "journeyman"
                        || (adapter && FRONT_ENDS.contains(&name))
                        || STANDS_ON.contains(&pair)
                        || SEES_THE_LABORATORY.contains(&pair)
                }
                "examples" => {
                    dependency == "journeyman"
                        || adapter
                        || EXAMPLES_OF_AN_EXAMPLE.contains(&pair)
                        || SEES_THE_LABORATORY.contains(&pair)
                }
                "tests" if in_laboratory(package) => {
                    dependency == "journeyman" || adapter || in_laboratory(of)
                }
                "tests" => true,
                _ => false,
            };
            if !allowed {
                faults.push(format!("{name} must not see {dependency}"));
            }
        } else if top == "sdk" && !dev && !SDK_DEPENDENCIES.contains(&dependency.as_str()) {
            faults.push(format!("{name} must not depend on {dependency}"));
        } else if top == "skills" {
            faults.push(format!(
                "{name} holds texts and must not depend on {dependency}"
            ));
        }
    }
    faults
}

#[test]
fn the_sdk_pulls_in_no_c_no_network_and_no_runtime() {
    let tree = cargo(&[
        "tree",
        "--package",
        "journeyman",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    let faults = foreign(&tree);
    assert!(tree.starts_with("journeyman "), "{tree}");
    assert!(faults.is_empty(), "the SDK pulls in {faults:?}");
}

/// The features of `journeyman` that are for tests alone.
const FOR_TESTS: [&str; 2] = ["testing", "conformance"];

#[test]
fn programs_carry_no_doubles_and_no_suites() {
    let mut programs = 0;
    for (name, package) in metadata() {
        // The agent and the writer of the shop are doubles, so that its figures can be repeated.
        let is_scripted = package.folder == "examples/shop";
        // The SDK, and what it is made of.
        let is_sdk = ["sdk", "skills"].contains(&package.folder.as_str());
        let is_test =
            package.folder.starts_with("tests") && !package.folder.starts_with(LABORATORY);
        if is_test || is_sdk || is_scripted {
            continue;
        }
        let mut arguments = vec![
            "tree",
            "--package",
            &name,
            "--edges",
            "normal,build,features",
        ];
        arguments.extend(["--prefix", "none"]);
        let tree = cargo(&arguments);
        assert!(tree.contains("journeyman feature \"default\""), "{tree}");
        let found = for_tests(&tree);
        assert!(found.is_empty(), "{name} is built with {found:?}");
        programs += 1;
    }
    assert!(programs >= 5, "only {programs} packages were found");
}

fn for_tests(tree: &str) -> BTreeSet<&str> {
    let features = tree
        .lines()
        .filter_map(|line| line.strip_prefix("journeyman feature "));
    let named = features.filter_map(|feature| feature.split('"').nth(1));
    named
        .filter(|feature| FOR_TESTS.contains(feature))
        .collect()
}

fn foreign(tree: &str) -> BTreeSet<&str> {
    tree.lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| name.ends_with("-sys") || SDK_WITHOUT.contains(name))
        .collect()
}

#[test]
fn modules_point_one_way() {
    let sources = Sources::list().unwrap();
    let table = may_see();
    let mut faults = Vec::new();
    let files = sources.rust("sdk/src/").unwrap();
    for (path, text) in &files {
        faults.extend(module_faults(path, text, &table));
    }
    assert!(files.len() > 20, "only {} files were found", files.len());
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// What decides, what acts and what a host calls stand apart.
#[test]
fn the_parts_of_a_run_point_one_way() {
    let sources = Sources::list().unwrap();
    let files = sources.rust("sdk/src/run/").unwrap();
    let mut faults = Vec::new();
    for (path, text) in &files {
        faults.extend(part_faults(path, text));
    }
    assert!(files.len() > 20, "only {} files were found", files.len());
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// The parts of a run that a file names and must not see.
fn part_faults(path: &str, text: &str) -> Vec<String> {
    let inner = path.trim_start_matches("sdk/src/run/");
    let Some(place) = PARTS_OF_A_RUN
        .iter()
        .position(|part| inner.starts_with(&format!("{part}/")))
    else {
        return Vec::new();
    };
    let (code, _) = blank_tests(&mask(text));
    let mut faults = Vec::new();
    for part in PARTS_OF_A_RUN.iter().skip(place + 1) {
        // Imports stand in braces too: the part's name before a path separator is enough.
        let named = code
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
            .any(|word| word.split("::").any(|name| name == *part) && word.contains("::"));
        let whole = grouped(&code, "run::{").any(|name| name == *part);
        if named || whole {
            faults.push(format!("{path}: must not see run::{part}"));
        }
    }
    faults
}

/// The names that stand by themselves in the braces behind `path`, such as `driver` in `run::{driver, machine::need}`.
fn grouped<'a>(code: &'a str, path: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(path).flat_map(move |(at, _)| {
        let mut depth = 0;
        let inner = code[at + path.len()..].split_inclusive(['{', '}', ',']);
        inner
            .scan((), move |(), piece| {
                let stands = depth == 0 && !piece.ends_with('{');
                depth += i32::from(piece.ends_with('{')) - i32::from(piece.ends_with('}'));
                (depth >= 0 || stands).then_some((stands, piece))
            })
            .filter(|(stands, _)| *stands)
            .map(|(_, piece)| piece.trim_end_matches([',', '}']).trim())
    })
}

fn module_faults(
    path: &str,
    text: &str,
    table: &BTreeMap<&'static str, BTreeSet<&'static str>>,
) -> Vec<String> {
    let inner = path.trim_start_matches("sdk/src/").trim_end_matches(".rs");
    if inner == "lib" || inner.ends_with("/tests") || inner.contains("/tests/") {
        return Vec::new();
    }
    let own: Vec<&str> = inner.trim_end_matches("/mod").split('/').collect();
    let Some(module) = module_of(&own, table) else {
        return vec![format!(
            "{path}: the module {} has no place in the order; give it one in may_see()",
            own[0]
        )];
    };
    let (code, _) = blank_tests(&mask(text));
    let mut seen: Vec<(usize, Option<&str>)> = Vec::new();
    for (line, path) in paths_behind(&code, "crate") {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        seen.push((line, module_of(&path, table)));
    }
    for up in 1..=own.len() {
        let base = &own[..own.len() - up];
        for (line, path) in paths_behind(&code, &vec!["super"; up].join("::")) {
            // One more `super` is looked at in the next turn.
            if path[0] != "super" {
                let path = path.iter().map(String::as_str);
                let path: Vec<&str> = base.iter().copied().chain(path).collect();
                seen.push((line, module_of(&path, table)));
            }
        }
    }
    // An inner module by a name that is in scope: `library::format` behind `use crate::library`, and `format` in the outer one's file.
    for key in table.keys() {
        let Some((outer, inner)) = key.split_once('/') else {
            continue;
        };
        let named = |root: &str, first: &str| {
            let paths = paths_behind(&code, root).into_iter();
            let named = paths.filter(|(_, path)| path[0] == first);
            named
                .map(|(line, _)| (line, Some(*key)))
                .collect::<Vec<_>>()
        };
        seen.extend(named(outer, inner));
        if own == [outer] {
            seen.extend(named("self", inner));
            let behind = paths_behind(&code, inner).into_iter();
            seen.extend(behind.map(|(line, _)| (line, Some(*key))));
        }
    }
    seen.retain(|(_, name)| {
        name.is_some_and(|name| {
            name != module && !["error", "id"].contains(&name) && !table[module].contains(name)
        })
    });
    seen.sort_unstable();
    seen.dedup();
    let faults = seen.iter().filter_map(|(line, name)| {
        name.map(|name| format!("{path}:{line}: {module} must not see {name}"))
    });
    faults.collect()
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let sources = Sources::list().unwrap();
    let mut crates = BTreeMap::from([("sdk", "sdk/src/".to_owned())]);
    let packages = metadata();
    let folders = packages.values().map(|package| package.folder.as_str());
    let folders =
        folders.filter(|folder| folder.starts_with("adapters/") || folder.starts_with(LABORATORY));
    crates.extend(folders.map(|folder| (folder, format!("{folder}/src/"))));
    for (name, folder) in &crates {
        let files = sources.rust(folder).unwrap();
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (path.trim_start_matches(folder.as_str()), text.as_str()))
            .collect();
        assert!(!files.is_empty(), "{name}");
        let imports = Imports::of(files);
        let circles = imports.circles();
        assert!(circles.is_empty(), "{name}: {circles:#?}");
    }
}

#[test]
fn the_sdk_does_not_act() {
    let sources = Sources::list().unwrap();
    let mut faults = Vec::new();
    for (path, text) in sources.rust("sdk/src/").unwrap() {
        if !ACTING.iter().any(|(file, _)| *file == path) {
            faults.extend(acting_faults(path, &text));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

fn acting_faults(path: &str, text: &str) -> Vec<String> {
    let (code, _) = blank_tests(&mask(text));
    let mut faults: Vec<_> = paths_behind(&code, "std")
        .into_iter()
        .filter(|(_, path)| NO_ACTING.contains(&path[0].as_str()))
        .map(|(line, of)| format!("{path}:{line}: std::{}; hosts act, the SDK decides", of[0]))
        .collect();
    for (line, text) in (1..).zip(code.lines()) {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(word) = words.find(|word| NO_CLOCK.contains(word)) {
            faults.push(format!("{path}:{line}: {word}; time arrives with answers"));
        }
    }
    faults
}

#[test]
fn nothing_else_stands_at_the_top() {
    let sources = Sources::list().unwrap();
    let top: BTreeSet<_> = sources
        .paths
        .iter()
        .filter_map(|path| path.split('/').next())
        .filter(|name| !name.starts_with('.') && !TOP.contains(name))
        .collect();
    assert!(top.is_empty(), "{top:?} should stand below one of {TOP:?}");
}

/// Each rule on a sample that breaks it.
#[test]
fn each_rule_can_fail() {
    let package = |folder: &str, dependencies: &[&str]| Package {
        folder: folder.into(),
        dependencies: dependencies
            .iter()
            .map(|name| ((*name).to_owned(), false))
            .collect(),
    };
    let all = BTreeMap::from([
        ("journeyman".to_owned(), package("sdk", &["tokio", "serde"])),
        (
            "journeyman-a".to_owned(),
            package("adapters/a", &["journeyman", "journeyman-b", "world"]),
        ),
        ("journeyman-b".to_owned(), package("adapters/c", &[])),
        ("journeyman-faults".to_owned(), package("tests/faults", &[])),
        (
            "show".to_owned(),
            package("examples/show", &["journeyman", "journeyman-a"]),
        ),
        ("other".to_owned(), package("examples/other", &["show"])),
        (
            "world".to_owned(),
            package("tests/lab/world", &["journeyman", "journeyman-a", "show"]),
        ),
        (
            "journeyman-skills".to_owned(),
            package("skills", &["journeyman", "serde"]),
        ),
    ]);
    let faults: Vec<_> = all
        .iter()
        .flat_map(|(name, package)| crate_faults(name, package, &all))
        .collect();
    assert_eq!(
        faults,
        [
            "journeyman must not depend on tokio",
            "journeyman-a must not see journeyman-b",
            "journeyman-a must not see world",
            "adapters/c: is called journeyman-b, should be journeyman-c",
            "journeyman-skills must not see journeyman",
            "journeyman-skills holds texts and must not depend on serde",
            "other must not see show",
            "world must not see show",
        ]
    );
    assert_eq!(
        foreign("journeyman v0\nring v1\nzstd-sys v2 (*)\n"),
        ["zstd-sys"].into()
    );

    assert_eq!(
        for_tests(
            "journeyman feature \"default\"\njourneyman feature \"testing\" (*)\nx feature \"testing\""
        ),
        ["testing"].into()
    );

    let files = BTreeMap::from([
        ("a/src/main.rs", "mod b;\nmod c;\nfn d() {}".to_owned()),
        ("a/src/b.rs", "mod e;".to_owned()),
        ("a/src/b/e.rs", "#[test]\nfn f() {}".to_owned()),
        ("a/src/c/mod.rs", "// #[test]".to_owned()),
        ("a/src/g.rs", "#[tokio::test]\nasync fn h() {}".to_owned()),
    ]);
    assert_eq!(with_tests("a/src/main.rs", &files), ["a/src/b/e.rs"]);
    assert_eq!(with_tests("a/src/g.rs", &files), ["a/src/g.rs"]);

    let check = |path: &str, text: &str, expect: &[&str]| {
        assert_eq!(module_faults(path, text, &may_see()), expect);
    };
    check(
        "sdk/src/stations/select/gate.rs",
        "use crate::{\n    Error,\n    stations::{retrieve::y, credit::x},\n    library,\n};\nuse super::score;\nuse super::super::super::run::y;",
        &[
            "sdk/src/stations/select/gate.rs:3: stations/select must not see stations/credit",
            "sdk/src/stations/select/gate.rs:7: stations/select must not see run",
        ],
    );
    check(
        "sdk/src/stations/select/mod.rs",
        "use super::credit;",
        &["sdk/src/stations/select/mod.rs:1: stations/select must not see stations/credit"],
    );
    check(
        "sdk/src/papers/scribe/recipe.rs",
        "use crate::{papers::{arise::x, scribe::y}, stations::recipe::Recipe, run::Journeyman};\nuse crate::recipe::standard;",
        &[
            "sdk/src/papers/scribe/recipe.rs:1: papers/scribe must not see papers/arise",
            "sdk/src/papers/scribe/recipe.rs:2: papers/scribe must not see recipe",
        ],
    );
    check(
        "sdk/src/run/machine/effect.rs",
        "use crate::papers::hisme::MicroPolicy;",
        &["sdk/src/run/machine/effect.rs:1: run must not see papers/hisme"],
    );
    check(
        "sdk/src/library/entry.rs",
        "use super::format::x;\nuse crate::text::y;",
        &["sdk/src/library/entry.rs:1: library must not see library/format"],
    );
    check(
        "sdk/src/library/mod.rs",
        "pub mod format;\npub use format::X;",
        &["sdk/src/library/mod.rs:2: library must not see library/format"],
    );
    check(
        "sdk/src/policy/view.rs",
        "use crate::{library, run::{report::E, machine::M}};\nfn f() { library::format::g() }",
        &[
            "sdk/src/policy/view.rs:1: policy must not see run",
            "sdk/src/policy/view.rs:2: policy must not see library/format",
        ],
    );
    check(
        "sdk/src/domain/task.rs",
        "#[cfg(test)]\nmod tests { use crate::run::x; }\n// crate::run",
        &[],
    );
    check(
        "sdk/src/error.rs",
        "use super::domain::Task;",
        &["sdk/src/error.rs:1: error must not see domain"],
    );
    check(
        "sdk/src/new/mod.rs",
        "",
        &["sdk/src/new/mod.rs: the module new has no place in the order; give it one in may_see()"],
    );
    assert_eq!(
        part_faults(
            "sdk/src/run/machine/need.rs",
            "use crate::{\n    policy::Answer,\n    run::{driver::Performer, host::Options},\n};"
        ),
        [
            "sdk/src/run/machine/need.rs: must not see run::driver",
            "sdk/src/run/machine/need.rs: must not see run::host",
        ]
    );
    assert_eq!(
        part_faults(
            "sdk/src/run/machine/need.rs",
            "use crate::run::{host, machine::{work, need}, driver};"
        ),
        [
            "sdk/src/run/machine/need.rs: must not see run::driver",
            "sdk/src/run/machine/need.rs: must not see run::host",
        ]
    );
    assert_eq!(
        part_faults("sdk/src/run/host/handle.rs", "use crate::run::driver::x;"),
        Vec::<String>::new()
    );
    assert_eq!(
        acting_faults("a.rs", "use std::{fmt, fs};\nlet now = Instant::now();"),
        [
            "a.rs:1: std::fs; hosts act, the SDK decides",
            "a.rs:2: Instant; time arrives with answers",
        ]
    );
}
