//! Each command line of the pages is run here, or stands in a table with the reason why it is not.
//!
//! A page's lines are run one after another in one folder that holds what the pages assume. Lines that are not run are parsed by the
//! command, if they are its own, and have to name files and packages that are there.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use futures::executor::block_on;
use journeyman::{
    RunId,
    contract::{SkillFiles, SkillStore},
    domain::{FilePath, Timestamp},
    testing::sample,
};
use journeyman_disk::{DiskOptions, DiskStore};
use serde_json::json;

use crate::{
    jobs::adapter,
    output_page::{desk, words},
    page_lines::{Checkout, Kind, Line},
    running::mcp,
    support::{Place, Ran, add, ran, sound},
};

/// A line that is run.
struct Call {
    line: &'static str,
    /// Words of the line, and what stands for them here.
    with: &'static [(&'static str, &'static str)],
    /// Further arguments.
    more: &'static str,
}

const fn call(line: &'static str) -> Call {
    Call {
        line,
        with: &[],
        more: "",
    }
}

const fn with(line: &'static str, with: &'static [(&'static str, &'static str)]) -> Call {
    Call { with, ..call(line) }
}

const fn more(line: &'static str, more: &'static str) -> Call {
    Call { more, ..call(line) }
}

/// The model of the public names and placeholders of the pages.
const MODEL: &str = "model.gguf";

/// The file of a run whose model scores texts.
const LOCAL: &str = "local.toml";

/// A page that leaves `--library` out has its reader stand in the library's folder.
const IN_LIBRARY: &str = "--library library";

/// The lines that are run.
static RUN: &[Call] = &[
    call("journeyman --library library library check"),
    call("journeyman --library library skill evals verify-first --run run.toml"),
    call(
        "journeyman --library library skill export refund-first --format skill-folder --evals --output written",
    ),
    call("journeyman --library library skill import skills --create"),
    call("journeyman --library library skill list --state active"),
    call("journeyman --library library skill retire --session till --since 2026-11-27T08:00:00Z"),
    call("journeyman --library shop library check"),
    call("journeyman --library shop library repair"),
    call("journeyman --library shop skill export brew --format skill-folder --output skills"),
    with(
        "journeyman --library shop skill import ~/downloads/brew --source \"a friend\"",
        &[("~/downloads/brew", "downloads/brew")],
    ),
    call("journeyman --library shop skill list --state quarantined"),
    call("journeyman --library shop skill release brew --reason \"read it, tried it\""),
    with(
        "journeyman experiment FILE --approve-tools",
        &[("FILE", "mcp-experiment.toml")],
    ),
    with(
        "journeyman library calibrate FILE --outcomes N",
        &[("FILE", LOCAL), ("N", "200")],
    ),
    with(
        "journeyman library calibrate run.toml --outcomes 200 --most-harmed 0.05 --error 0.1 --out calibration.json",
        &[("run.toml", LOCAL)],
    ),
    with(
        "journeyman library calibrate run.toml --outcomes 200 --out calibration.json",
        &[("run.toml", LOCAL)],
    ),
    with("journeyman library certify FILE", &[("FILE", "run.toml")]),
    with(
        "journeyman library certify run.toml --model other.gguf",
        &[("run.toml", LOCAL)],
    ),
    Call {
        with: &[("FILE", "copy.journeyman")],
        ..more("journeyman library copy --archive FILE", IN_LIBRARY)
    },
    more("journeyman library lift", IN_LIBRARY),
    Call {
        with: &[("smollm2", MODEL)],
        ..more(
            "journeyman model bench smollm2",
            "--repeats 1 --prompt-tokens 32 --tokens 4 --streams 2 --candidates 2 --candidate-tokens 4",
        )
    },
    with(
        "journeyman model calibrate MODEL --library DIR --out FILE",
        &[
            ("MODEL", MODEL),
            ("DIR", "library"),
            ("FILE", "calibration.json"),
        ],
    ),
    call("journeyman model calibrate model.gguf --library library --out calibration.json"),
    call(
        "journeyman model calibrate model.gguf --library library --tasks labeled.jsonl --out calibration.json",
    ),
    call("journeyman model devices"),
    call("journeyman model fetch"),
    call("journeyman model generate model.gguf --adapter adapter.gguf --prompt TEXT"),
    with(
        "journeyman model generate smollm2 --prompt \"What is a skill?\"",
        &[("smollm2", MODEL)],
    ),
    call("journeyman model info model.gguf"),
    with(
        "journeyman run A --compare B",
        &[("A", "plain.toml"), ("B", "skilled.toml")],
    ),
    with("journeyman run FILE", &[("FILE", "run.toml")]),
    with(
        "journeyman run FILE --approve-tools",
        &[("FILE", "mcp.toml")],
    ),
    call("journeyman run plain.toml --compare skilled.toml"),
    with(
        "journeyman run run.toml --compare",
        &[("run.toml", "arms.toml")],
    ),
    with(
        "journeyman skill evals NAME --run FILE",
        &[("NAME", "verify-first"), ("FILE", "run.toml")],
    ),
    call("journeyman skill evals verify-first --run run.toml"),
    more("journeyman skill list --state quarantined", IN_LIBRARY),
    Call {
        with: &[("NAME", "grind")],
        ..more("journeyman skill release NAME --reason TEXT", IN_LIBRARY)
    },
    more(
        "journeyman skill search \"refund the order of a customer\" --json",
        IN_LIBRARY,
    ),
    call("journeyman skill validate skills"),
    call("journeyman skill validate written"),
    with(
        "journeyman skill why \"Book a meeting for Monday\" smollm2 --library library",
        &[("smollm2", MODEL)],
    ),
    Call {
        with: &[("MODEL", MODEL)],
        ..more("journeyman skill why TASK MODEL", IN_LIBRARY)
    },
];

/// Pages of one kind lie in one folder. Each has a test of its own, so that they run side by side; one more has all other pages.
const FOLDERS: [&str; 4] = [
    "docs/explanation/",
    "docs/how-to/",
    "docs/reference/",
    "docs/tutorial/",
];

/// A page whose blocks another test runs, and compares with what they print.
const COMPARED: &str = "docs/reference/output.md";

const WITH_ALL_TESTS: &str = "CI runs these tests with all others";
const FETCHES: &str = "it fetches from the network, from which tests fetch one public model alone";
const NEEDS_FETCHED: &str = "it needs what the line before it fetches";
const NEEDS_VENDOR: &str = "it compiles llama.cpp for a GPU, with the vendor's tools";
const NEEDS_SERVER: &str = "it starts a model server that is not installed here; tests/adapters/run.sh sets two up for ignored tests";
const TRAINS: &str = "it trains or measures a model of the laboratory, which no test makes anew";
const MEASURES: &str = "it measures, which takes many minutes";

/// The lines that are not run, by how they begin, behind the reason why they are not.
const NAMED: &[(&str, &[&str])] = &[
    (
        NEEDS_FETCHED,
        &[
            "\"$JOURNEYMAN_COLLECTOR\" start",
            "$JOURNEYMAN_MCP_PYTHON tests/adapters/mcp_client.py",
            "cargo nextest run --workspace --lib -E 'package(journeyman-llama-cpp)' --run-ignored all",
            "cargo nextest run -p journeyman-mcp --run-ignored only",
            "cargo test -p journeyman-fastembed -- --include-ignored",
            "cargo test -p journeyman-openai --test it -- --ignored servers::",
            "python llama.cpp/convert_lora_to_gguf.py",
        ],
    ),
    (
        "tests/run.sh, which CI calls, begins with it",
        &[". tests/setup.sh"],
    ),
    (
        "it writes anew what a test compares, and a test leaves the checkout as it is",
        &["JOURNEYMAN_WRITE=1"],
    ),
    (
        TRAINS,
        &[
            "OMP_NUM_THREADS=1 out/encoder/venv/bin/python tests/lab/encoder/train.py",
            "bash tests/lab/apprentice/train.sh",
            "cargo run -p apprentice",
            "cargo run -p encoder --bin pairs",
        ],
    ),
    (
        "examples/telemetry/tests/sent.rs runs the program with a collector of its own",
        &["OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 cargo run -p telemetry"],
    ),
    ("it changes the machine", &["apt-get install"]),
    (
        "CI's stage `quickstart` runs it, at a small size",
        &["bash examples/quickstart.sh"],
    ),
    (
        FETCHES,
        &[
            "bash tests/adapters/run.sh",
            "bash tests/lab/bfcl/run.sh",
            "bash tests/models.sh NAME",
            "cargo install cargo-deny",
            "export $(bash tests/adapters/collector.sh)",
            "export JOURNEYMAN_MCP_PYTHON=$(bash tests/adapters/mcp.sh)",
            "export JOURNEYMAN_TEMPLATES=$(bash adapters/llama-cpp/tests/templates/record.sh)",
            "export ORT_DYLIB_PATH=$(bash tests/adapters/fastembed.sh)",
            "git clone",
            "journeyman model fetch NAME",
            "out/encoder/venv/bin/pip install",
            "pip",
            "record.sh FOLDER",
        ],
    ),
    (
        "tests/faults/tests/short.rs runs the program, with the short pass of each scenario",
        &["bash tests/faults/run.sh"],
    ),
    (MEASURES, &["bash tests/figures.sh"]),
    ("it needs a machine with a GPU", &["bash tests/gpu.sh"]),
    ("CI's stage `packages` runs it", &["bash tests/package.sh"]),
    (
        "it is what CI calls, and runs this test",
        &["bash tests/run.sh"],
    ),
    (
        NEEDS_VENDOR,
        &[
            "cargo build --release -p journeyman-cli --features",
            "cmake",
            "touch llama.cpp/ggml/ggml.pc.in",
        ],
    ),
    (
        "CI has built the command, with which this test runs the others",
        &["cargo build -p journeyman-cli"],
    ),
    (
        "it needs cargo-deny, which compiles for minutes; the test `licenses` holds the same lists",
        &["cargo deny"],
    ),
    (
        "it is run in a checkout of the first edition",
        &["cargo run -- FOLDER"],
    ),
    (
        "examples/embed/tests/it/programs.rs runs the program, with the model that it fetches",
        &["cargo run -p embed --bin first"],
    ),
    (
        "examples/embed/tests/it/own_policies.rs runs the program",
        &["cargo run -p embed --bin own_policies"],
    ),
    (
        "examples/embed/tests/it/programs.rs runs the program with these arguments",
        &["cargo run -p embed --bin scripted"],
    ),
    (
        "examples/host/tests/it/both_ways.rs runs the program",
        &["cargo run -p host"],
    ),
    (
        "examples/shop/tests/learned.rs runs the program",
        &["cargo run -p shop"],
    ),
    (
        WITH_ALL_TESTS,
        &[
            "cargo test --doc -p journeyman-tests",
            "cargo test -p CRATE --test it -- MODULE::",
            "cargo test -p journeyman",
            "cargo test -p journeyman-tests --test it -- architecture:: links:: tidy::",
        ],
    ),
    (
        "it compiles llama.cpp once more, for about ten minutes",
        &["export $(bash tests/adapters/servers.sh)"],
    ),
    (
        "it sets a variable for the servers of the page",
        &["export KEY=some-long-key"],
    ),
    (
        "serving.rs runs it with a client on standard streams, and starts and ends it over HTTP",
        &["journeyman --library LIBRARY serve mcp"],
    ),
    (
        "experiments.rs runs small ones, and reports one of a former version with these options",
        &["journeyman experiment FILE"],
    ),
    (
        "experiments.rs runs the file with fewer tasks",
        &["journeyman experiment examples/experiments/services.toml"],
    ),
    (
        "only the command of an earlier commit can run it, as the page says",
        &["journeyman experiment tests/fixtures/toolworld-experiment/tiny.toml --out FOLDER"],
    ),
    (
        "tests/tests/it/real_model.rs fetches the model as the command does",
        &["journeyman model fetch smollm2"],
    ),
    (
        "running.rs runs the file with fewer tasks",
        &["journeyman run examples/services/run.toml"],
    ),
    (
        "serving.rs runs it with a client",
        &["journeyman serve mcp"],
    ),
    (
        "it names a signal; experiments.rs ends an experiment by it",
        &["kill -9"],
    ),
    (NEEDS_SERVER, &["llama-server", "python -m", "vllm serve"]),
    (
        "it prepares what the lines behind it train with",
        &["python3 -m venv out/encoder/venv"],
    ),
];

/// How the lines of the table begin.
fn named() -> impl Iterator<Item = &'static str> {
    NAMED.iter().flat_map(|(_, begins)| begins.iter().copied())
}

/// What stands for a placeholder where a form is parsed; 1 for any other.
const VALUES: [(&str, &str); 5] = [
    ("FORMAT", "archive"),
    ("KIND", "pmi"),
    ("SHELL", "bash"),
    ("STATE", "active"),
    ("TIME", "8h"),
];

/// A folder with all that the pages name: libraries, models, the files of runs, skills of a product and of somebody else.
fn as_the_pages_have_it() -> Place {
    let place = Place::with_library();
    more_skills(&place);
    let description = "Refunds only what was paid. Use when a customer wants money back.";
    for (name, about) in [
        (
            "verify-first",
            "Close a ticket only after its customer was verified. Use for tickets.",
        ),
        ("refund-policy", description),
    ] {
        let text = format!(
            "---\nname: {name}\ndescription: {about}\n---\n\nCall verify_customer first.\n"
        );
        place.skill_folder(&format!("skills/{name}"), &text);
    }
    place.skill_folder("downloads/brew", &sound("brew"));
    let shop = ["--library", "shop", "library", "create"];
    ran(&command(&place, &shop).output().unwrap()).done();
    let bundled =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lab/apprentice/apprentice.gguf");
    for name in [MODEL, "other.gguf"] {
        fs::copy(&bundled, place.path(name)).unwrap();
    }
    adapter(&place, "adapter.gguf", 128);
    let labeled = (0..12).map(|n| {
        let skill = ["brew", "grind"][n % 2];
        let instruction = format!("{skill} the beans of box {n}");
        json!({"id": format!("t{n}"), "instruction": instruction, "skill": skill}).to_string()
    });
    let labeled: Vec<String> = labeled.collect();
    fs::write(place.path("labeled.jsonl"), labeled.join("\n")).unwrap();
    files_with_tools(&place);
    files_of_runs(&place);
    place
}

/// `verify-first` with evals, and `refund-first`, which a run of the session `till` wrote on 28 November 2026.
fn more_skills(place: &Place) {
    let store = DiskStore::open(place.root(), &DiskOptions::default()).unwrap();
    let eval = |n: u32| json!({"id": n, "prompt": format!("Close ticket T-{} for Ada.", 20 + n)});
    let evals: Vec<_> = (1..=2).map(eval).collect();
    let evals = json!({"skill_name": "verify-first", "evals": evals}).to_string();
    let evals = block_on(store.put(evals.as_bytes())).unwrap();
    let mut verify = sample::skill("verify-first")
        .with_description("Closes a ticket. Use for tickets of the desk.")
        .with_body("Call verify_customer first. Then call close_ticket.");
    let path = FilePath::new("evals/evals.json").unwrap();
    verify.files.insert(path, evals);
    let refund = sample::skill("refund-first")
        .with_description("Refunds an order. Use when a customer wants money back.");
    let mut commit = sample::commit(3, "till", vec![add(verify), add(refund)]);
    commit.cause.run = Some(RunId::new("till/learn-1"));
    commit.cause.at = Some(Timestamp(1_795_852_800_000));
    block_on(store.commit(&commit)).unwrap();
}

/// A run and an experiment with the tools of an MCP server, whose tasks say what they expect.
fn files_with_tools(place: &Place) {
    mcp(place, "");
    let tasks = "mcp-tasks.jsonl";
    fs::rename(place.path("tasks.jsonl"), place.path(tasks)).unwrap();
    let run = fs::read_to_string(place.path("run.toml")).unwrap();
    let run = run.replace("tasks.jsonl", tasks);
    fs::write(place.path("mcp.toml"), &run).unwrap();
    let (_, world) = run.split_once("[world]\n").unwrap();
    let experiment = format!(
        "name = \"tools\"\nmodel = \"{MODEL}\"\nseeds = 1\ntasks = \"{tasks}\"\nstream = 2\nheld_out = 2\ncheckpoints = 1\n\n\
         [world]\n{world}\n[[arm]]\nname = \"plain\"\nrecipe = \"standard\"\n"
    );
    fs::write(place.path("mcp-experiment.toml"), experiment).unwrap();
}

/// Runs at the desk of the outputs' page, with its played model, and one with the bundled model.
fn files_of_runs(place: &Place) {
    desk(place);
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let write = |name: &str, text: &str| fs::write(place.path(name), text).unwrap();
    let own = "library = \"desk\"";
    let (file, arms) = (read("desk.toml"), read("arms.toml"));
    assert!(file.contains(own) && arms.contains(own), "{file}{arms}");
    let run = file.replace(own, "library = \"library\"");
    write("run.toml", &run);
    write("skilled.toml", &run);
    write("plain.toml", &file.replace(own, "library = \"nothing\""));
    write("arms.toml", &arms.replace(own, "library = \"library\""));
    // A threshold is fitted to a gate, which this selector is not.
    let top = "\"select.selector\" = { name = \"top\", options = { limit = 1 } }, ";
    assert!(run.contains(top), "{run}");
    let gated = run.replace(top, "");
    let (head, rest) = gated.split_once("[model]\n").unwrap();
    let (_, world) = rest.split_once("[world]\n").unwrap();
    let local = format!("{head}[model]\ngguf = \"{MODEL}\"\n\n[world]\n{world}");
    write(LOCAL, &local);
}

fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
    command
        .current_dir(place.folder.path())
        // No model of this machine's user is found.
        .env("XDG_CACHE_HOME", place.path("cache"))
        .stdin(Stdio::null())
        .args(arguments);
    command
}

fn called(line: &str) -> Option<&'static Call> {
    RUN.iter().find(|call| call.line == line)
}

/// Runs a line in the place.
fn performed(place: &Place, call: &Call) -> Ran {
    // Each page has it written to a file that is not there yet.
    let _ = fs::remove_file(place.path("calibration.json"));
    let stands_for = |word: &str| {
        let found = call.with.iter().find(|(from, _)| *from == word);
        found.map_or(word.to_owned(), |(_, to)| (*to).to_owned())
    };
    let line = words(call.line).into_iter().skip(1);
    let line = line.map(|word| stands_for(&word));
    let arguments: Vec<String> = line.chain(words(call.more)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    ran(&command(place, &arguments).output().unwrap())
}

/// Runs the lines of the pages of a folder, or of those in none of the folders, each page in a place of its own.
#[track_caller]
fn lines_are_run(folder: Option<&str>) {
    let lines = Checkout::here().lines();
    let lines = lines.iter().filter(|line| folder_of(&line.page) == folder);
    let lines: Vec<&Line> = lines.filter(|line| is_run(line)).collect();
    let mut faults = Vec::new();
    for page in lines.chunk_by(|one, other| one.page == other.page) {
        let place = as_the_pages_have_it();
        for line in page {
            let ran = performed(&place, called(&line.text).unwrap());
            if ran.code != 0 {
                faults.push(format!(
                    "{}: `{}` ends with {}\n{}{}",
                    line.page, line.text, ran.code, ran.out, ran.err
                ));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn folder_of(page: &str) -> Option<&'static str> {
    let mut folders = FOLDERS.into_iter();
    folders.find(|folder| page.starts_with(folder))
}

fn is_compared(line: &Line) -> bool {
    line.page == COMPARED && line.kind == Kind::Block
}

fn is_run(line: &Line) -> bool {
    !is_compared(line) && called(&line.text).is_some()
}

#[test]
fn the_lines_of_explanations_are_run() {
    lines_are_run(Some("docs/explanation/"));
}

#[test]
fn the_lines_of_guides_are_run() {
    lines_are_run(Some("docs/how-to/"));
}

#[test]
fn the_lines_of_references_are_run() {
    lines_are_run(Some("docs/reference/"));
}

#[test]
fn the_lines_of_tutorials_are_run() {
    lines_are_run(Some("docs/tutorial/"));
}

#[test]
fn the_lines_of_other_pages_are_run() {
    lines_are_run(None);
}

/// The arguments of a line or a form, with all that is optional, and a value for each placeholder.
fn arguments_of(line: &str) -> Vec<String> {
    let line = line.strip_prefix("journeyman ").unwrap_or(line);
    let line = line.replace("...", "").replace("\\|", " ");
    let is_mark = |c: char| "[]()".contains(c);
    let is_placeholder = |word: &str| word.chars().all(|c| c.is_ascii_uppercase());
    let value = |word: &str| {
        let found = VALUES.iter().find(|(name, _)| *name == word);
        found.map_or("1", |(_, value)| *value).to_owned()
    };
    let words = words(&line).into_iter();
    let words = words.map(|word| word.trim_matches(is_mark).to_owned());
    let words = words.map(|word| match is_placeholder(&word) {
        true => value(&word),
        false => word,
    });
    words.collect()
}

/// The help that the command prints behind a line's arguments, if it understands them so far. It runs nothing.
fn help_behind(place: &Place, line: &str) -> Result<String, String> {
    let arguments = arguments_of(line);
    let arguments = arguments.iter().map(String::as_str);
    let arguments: Vec<&str> = arguments.chain(["--help"]).collect();
    let ran = ran(&command(place, &arguments).output().unwrap());
    // A text may name an option without its value.
    let names_option = ran.err.contains("a value is required for");
    match ran.code == 0 || names_option {
        true => Ok(ran.out),
        false => Err(ran.err),
    }
}

/// Whether a text only names a command, and leaves out what the command cannot do without.
fn is_mention(line: &str, help: &str) -> bool {
    let usage = help.lines().find_map(|line| line.strip_prefix("Usage: "));
    let Some((name, _)) = usage.and_then(|usage| usage.split_once(" [")) else {
        // The help of an option without its value is not printed.
        return help.is_empty();
    };
    let needs_more = usage.is_some_and(|usage| usage.contains('<'));
    let words = line.split(' ').filter(|word| !word.starts_with("--"));
    needs_more && words.eq(name.split(' '))
}

/// Whether an entry of the table names a line: its words are the first ones of the line.
fn names(begin: &str, line: &str) -> bool {
    let rest = line.strip_prefix(begin);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A script that is called by its path alone has to be executable.
fn is_callable(checkout: &Checkout, line: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let script = line.split(' ').next().unwrap_or_default();
    let path = checkout.root.join(script);
    let is_script = script.starts_with("tests/") || script.starts_with("examples/");
    !is_script || fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

/// How many lines are run here, run and compared elsewhere, parsed, and neither.
#[derive(Debug, Default)]
struct Counts {
    run: usize,
    compared: usize,
    parsed: usize,
    named: usize,
}

/// Counts a line, or says what is wrong with it.
fn count(
    line: &Line,
    checkout: &Checkout,
    place: &Place,
    counts: &mut Counts,
) -> Result<(), String> {
    let text = line.text.as_str();
    if is_compared(line) {
        counts.compared += 1;
        return Ok(());
    }
    if is_run(line) {
        counts.run += 1;
        return Ok(());
    }
    let missing = checkout.missing(text);
    if !missing.is_empty() {
        return Err(format!("not there: {}", missing.join(", ")));
    }
    if !is_callable(checkout, text) {
        return Err("the script is not executable: call it by `bash`".to_owned());
    }
    let is_named = named().any(|begin| names(begin, text));
    if line.kind != Kind::Form && !text.starts_with("journeyman ") {
        counts.named += 1;
        return match is_named {
            true => Ok(()),
            false => Err("say in NAMED why no test runs it".to_owned()),
        };
    }
    let help = help_behind(place, text)?;
    counts.parsed += 1;
    let is_mention = line.kind == Kind::Span && is_mention(text, &help);
    match is_named || line.kind == Kind::Form || is_mention {
        true => Ok(()),
        false => Err("run it: an entry of RUN; or say in NAMED why no test does".to_owned()),
    }
}

#[test]
fn each_line_of_the_pages_is_run_or_named() {
    let (checkout, place) = (Checkout::here(), Place::empty());
    let lines = checkout.lines();
    let mut counts = Counts::default();
    let mut faults = Vec::new();
    for line in &lines {
        if let Err(fault) = count(line, &checkout, &place, &mut counts) {
            faults.push(format!("{}: `{}`: {fault}", line.page, line.text));
        }
    }
    let texts: BTreeSet<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let run = RUN.iter().map(|call| call.line);
    let stale = run.filter(|line| !texts.contains(line));
    faults.extend(stale.map(|line| format!("RUN: no page has `{line}`")));
    let stale = named().filter(|begin| !texts.iter().any(|text| names(begin, text)));
    faults.extend(stale.map(|begin| format!("NAMED: no page has `{begin}`")));
    let Counts {
        run,
        compared,
        parsed,
        named,
    } = counts;
    println!(
        "{} command lines of pages: {run} run, {compared} run and compared by output_page.rs, {parsed} parsed, {named} named",
        lines.len()
    );
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    assert_eq!(run + compared + parsed + named, lines.len());
    assert!(
        run >= 40 && compared >= 30,
        "{run} run, {compared} compared"
    );
}

#[test]
fn what_a_page_gets_wrong_is_found() {
    let (checkout, place) = (Checkout::here(), Place::empty());
    let fault = |kind: Kind, text: &str| {
        let (page, text) = ("docs/how-to/undo.md".to_owned(), text.to_owned());
        let line = Line { page, kind, text };
        let told = count(&line, &checkout, &place, &mut Counts::default());
        told.err().unwrap_or_default()
    };
    for (kind, text, says) in [
        (Kind::Block, "journeyman skill list --bogus", "--bogus"),
        (Kind::Block, "journeyman library stats", "RUN"),
        (Kind::Block, "journeyman model fetch gemma3", "RUN"),
        (Kind::Block, "journeyman skill show", "RUN"),
        (Kind::Span, "journeyman skill lst", "lst"),
        (Kind::Form, "skill show NAME [--versoin N]", "--versoin"),
        (Kind::Form, "skill list [--state STATE] MORE", "1"),
        (Kind::Block, "make all", "NAMED"),
        (
            Kind::Block,
            "bash tests/figures.sh --data tests/none",
            "tests/none",
        ),
        (Kind::Block, "tests/faults/run.sh --full", "executable"),
        (Kind::Block, "cargo run -p none", "none"),
        (Kind::Span, "cargo run -p embed --bin none", "none"),
        (Kind::Block, "cargo test -p embed --test none", "none"),
        (
            Kind::Span,
            "cargo build -p journeyman-cli --features none",
            "none",
        ),
        (Kind::Block, "bash tests/figures.sh none --seed 1", "none"),
    ] {
        let fault = fault(kind, text);
        assert!(fault.contains(says) && !fault.is_empty(), "{text}: {fault}");
    }
    for mentioned in [
        "journeyman model",
        "journeyman run --only-measure",
        "journeyman skill show",
        "journeyman skill why --calibration",
    ] {
        assert_eq!(fault(Kind::Span, mentioned), "");
    }
}
