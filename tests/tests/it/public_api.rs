//! The public API of the SDK and of each adapter is the one that `docs/api` records, so that a change of it is seen in review.
//! `journeyman_tests::source` says in `api/mod.rs` what a line holds and what the list does not see.
//!
//! With `JOURNEYMAN_WRITE=1` the files are written anew:
//!
//!     JOURNEYMAN_WRITE=1 cargo test -p journeyman-tests --test it public_api

use std::{collections::BTreeSet, fs};

use journeyman_tests::source::{Sources, public_api, repository};

/// The folder of the files.
const FOLDER: &str = "docs/api";
/// The most lines of one file's difference that are printed.
const MOST_PRINTED: usize = 80;
/// The structs whose fields are all that they can say. Hosts write these by a literal and take them apart whole.
const WHOLE: [&str; 8] = [
    "journeyman::contract::TokenCount",
    "journeyman::contract::Total",
    "journeyman::domain::SkillRef",
    "journeyman::domain::SubgoalRef",
    "journeyman::papers::scribe::Share",
    "journeyman::stations::proof::Arm",
    "journeyman::stations::proof::Interval",
    "journeyman::stations::select::Share",
];

#[test]
fn the_public_api_is_the_recorded_one() {
    let sources = Sources::list().unwrap();
    let libraries = libraries(&sources.paths);
    assert!(libraries.len() >= 5, "only {libraries:?} were found");
    let mut faults = Vec::new();
    for (name, folder) in &libraries {
        let made = api(&sources, name, folder);
        let page = page_of(name);
        let file = repository().join(&page);
        if std::env::var_os("JOURNEYMAN_WRITE").is_some() {
            fs::create_dir_all(repository().join(FOLDER)).unwrap();
            fs::write(&file, &made).unwrap();
        }
        // A file that is missing records nothing.
        let recorded = fs::read_to_string(&file).unwrap_or_default();
        if recorded != made {
            faults.push(format!("{page}\n{}", difference(&recorded, &made)));
        }
    }
    let pages: BTreeSet<String> = libraries.iter().map(|(name, _)| page_of(name)).collect();
    let recorded = sources.paths.iter();
    let recorded = recorded.filter(|path| path.starts_with(&format!("{FOLDER}/")));
    for page in recorded.filter(|path| !pages.contains(*path)) {
        faults.push(format!("{page}: no library has this API; delete it"));
    }
    assert!(
        faults.is_empty(),
        "the public API is not the recorded one (- recorded, + in the sources). If the change is meant, write the files anew: \
         JOURNEYMAN_WRITE=1 cargo test -p journeyman-tests --test it public_api\n\n{}\n",
        faults.join("\n\n")
    );
}

/// The recorded libraries: the crate's name and its folder. An adapter without a library, such as the command `journeyman`, has no
/// API in Rust, and no host calls the laboratory's.
fn libraries(paths: &[String]) -> Vec<(String, String)> {
    let folders = paths
        .iter()
        .filter_map(|path| path.strip_suffix("/src/lib.rs"));
    folders
        .filter_map(|folder| {
            let name = match folder.strip_prefix("adapters/") {
                Some(adapter) => format!("journeyman-{adapter}"),
                None if folder == "sdk" => "journeyman".to_owned(),
                None if folder == "skills" => "journeyman-skills".to_owned(),
                None => return None,
            };
            Some((name, folder.to_owned()))
        })
        .collect()
}

fn page_of(name: &str) -> String {
    format!("{FOLDER}/{name}.txt")
}

fn api(sources: &Sources, name: &str, folder: &str) -> String {
    let under = format!("{folder}/src/");
    let files = sources.rust(&under).unwrap();
    let files = files.iter().map(|(path, text)| {
        let path = path.strip_prefix(&under).unwrap();
        (path, text.as_str())
    });
    let lines = public_api(&name.replace('-', "_"), files).unwrap();
    assert!(!lines.is_empty(), "{name} has no public item");
    lines.join("\n") + "\n"
}

/// The lines that are only in one of two files, in the order of the lines.
fn difference(recorded: &str, made: &str) -> String {
    let recorded: BTreeSet<&str> = recorded.lines().collect();
    let made: BTreeSet<&str> = made.lines().collect();
    let gone = recorded.difference(&made).map(|line| (*line, '-'));
    let new = made.difference(&recorded).map(|line| (*line, '+'));
    let mut lines: Vec<(&str, char)> = gone.chain(new).collect();
    lines.sort_unstable();
    if lines.is_empty() {
        return "the same lines in another order, or with other line ends".to_owned();
    }
    let more = lines.len().saturating_sub(MOST_PRINTED);
    let shown = lines.iter().take(MOST_PRINTED);
    let mut shown: Vec<String> = shown.map(|(line, sign)| format!("{sign} {line}")).collect();
    if more > 0 {
        shown.push(format!("and {more} more lines"));
    }
    shown.join("\n")
}

#[test]
fn a_difference_names_the_lines_of_both_sides() {
    assert_eq!(
        difference("a fn a()\nb mod\n", "a fn a(u8)\nb mod\nc mod\n"),
        "- a fn a()\n+ a fn a(u8)\n+ c mod"
    );
    let many: Vec<String> = (0..90).map(|number| format!("{number:02} mod")).collect();
    assert!(difference("", &many.join("\n")).ends_with("\n+ 79 mod\nand 10 more lines"));
    assert_eq!(
        difference("a\nb\n", "b\na\n"),
        "the same lines in another order, or with other line ends"
    );
}

#[test]
fn a_struct_can_gain_fields_unless_its_fields_are_all_that_it_can_say() {
    let sources = Sources::list().unwrap();
    let libraries = libraries(&sources.paths);
    let apis = libraries
        .iter()
        .map(|(name, folder)| api(&sources, name, folder));
    let apis: String = apis.collect();
    let (whole, open): (Vec<&str>, Vec<&str>) =
        written_whole(&apis).partition(|path| WHOLE.contains(path));
    assert!(
        open.is_empty(),
        "a host can write these by a literal, which a new field breaks; mark them #[non_exhaustive] and give them a default or a \
         constructor: {open:?}"
    );
    assert_eq!(BTreeSet::from_iter(whole), BTreeSet::from(WHOLE));
}

/// The structs that a host can write by a literal.
fn written_whole(api: &str) -> impl Iterator<Item = &str> {
    let lines = api.lines().filter_map(|line| line.split_once(' '));
    // A mark such as `#[non_exhaustive]` comes before the kind.
    let open = lines
        .filter(|(_, what)| what.starts_with("struct") && !what.contains(" with private fields"));
    open.map(|(path, _)| path)
}

#[test]
fn a_struct_that_a_host_can_write_whole_is_found() {
    let api = "a::BoilPolicy #[non_exhaustive] struct\na::BoilPolicy::degrees field u8\na::Brew struct\n\
               a::Brew::cups field u8\na::Cup tuple struct\na::PourOptions struct<'a> with private fields\n\
               a::Seed unit struct\na::Warm struct #[cfg(feature = \"warm\")]\n";
    let found: Vec<&str> = written_whole(api).collect();
    assert_eq!(found, ["a::Brew", "a::Warm"]);
}

#[test]
fn the_sdk_and_the_adapters_with_a_library_are_recorded() {
    let paths = [
        "adapters/cli/src/main.rs",
        "adapters/disk/src/lib.rs",
        "adapters/disk/src/archive/mod.rs",
        "examples/shop/src/lib.rs",
        "sdk/src/lib.rs",
        "skills/src/lib.rs",
        "tests/lab/toolworld/src/lib.rs",
    ]
    .map(str::to_owned);
    let expect = [
        ("journeyman-disk", "adapters/disk"),
        ("journeyman", "sdk"),
        ("journeyman-skills", "skills"),
    ];
    let expect = expect.map(|(name, folder)| (name.to_owned(), folder.to_owned()));
    assert_eq!(libraries(&paths), expect);
}
