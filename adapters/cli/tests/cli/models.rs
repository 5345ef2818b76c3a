//! Commands about models, with the bundled model.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use journeyman::{stations::select::GateCalibration, testing::sample};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::support::{Place, Ran, fields, ran};

fn command(arguments: &[&str]) -> Command {
    let model = "../../tests/lab/apprentice/apprentice.gguf";
    let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("model")
        .args(arguments.iter().map(|&text| match text {
            "MODEL" => model,
            other => other,
        }));
    command
}

fn run(arguments: &[&str]) -> Ran {
    ran(&command(arguments).output().unwrap())
}

fn json(arguments: &[&str]) -> Value {
    run(&[arguments, &["--json"]].concat()).done().json()
}

fn numbers(value: &Value) -> Vec<f64> {
    let numbers = value.as_array().unwrap().iter();
    numbers.map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn the_cpu_is_a_device() {
    let devices = json(&["devices"]);
    let first = &devices["devices"][0];
    let names = [
        "backend",
        "description",
        "kind",
        "memory_free",
        "memory_total",
        "name",
    ];
    assert_eq!(fields(first), names);
    let said = run(&["devices"]).done().out;
    assert!(
        said.starts_with("NAME") && said.contains(" processor "),
        "{said}"
    );
}

#[test]
fn public_models_are_listed_and_an_unknown_one_is_refused_before_anything_is_fetched() {
    let listed = json(&["fetch"]);
    let names: Vec<&str> = listed["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["smollm2", "gemma3", "minilm"]);
    assert!(run(&["fetch"]).done().out.contains("Apache-2.0"));
    run(&["fetch", "smollm2", "gpt9"]).failed(1, "no public model is known as gpt9");
}

#[test]
fn a_file_is_described() {
    let info = json(&["info", "MODEL"]);
    assert_eq!(info["architecture"], "qwen3");
    assert_eq!(info["quantisation"], "F16");
    assert_eq!(info["chat_template"], true);
    assert_eq!(info["refused"], Value::Null);
    let digits = info["sha256"].as_str().unwrap();
    let model = info["model"].as_str().unwrap();
    assert_eq!(model, format!("apprentice@{}", &digits[..12]));
    let said = run(&["info", "MODEL"]).done().out;
    assert!(
        said.contains(digits) && said.contains("F16 99.9%, F32 0.1%"),
        "{said}"
    );
    let written = json(&["generate", "MODEL", "--prompt", "x", "--max-tokens", "1"]);
    assert_eq!(written["model"], info["model"]);
}

#[test]
fn files_that_are_no_models() {
    let folder = tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let model =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lab/apprentice/apprentice.gguf");
    let model = fs::read(model).unwrap();
    let text = file("text.gguf", b"<html>404</html>");
    let cut = file("cut.gguf", &model[..5000]);
    for (path, code, said) in [
        ("no/such.gguf", 3, "there is no such file"),
        (text.as_str(), 1, "does not begin with `GGUF`"),
        (cut.as_str(), 4, "the header"),
    ] {
        run(&["info", path]).failed(code, said);
        for how in [&[][..], &["--isolated"]] {
            let arguments = [&["generate", path, "--prompt", "x"], how].concat();
            run(&arguments).failed(code, said);
        }
    }
    // The header is whole, the weights are not.
    let short = file("short.gguf", &model[..model.len() - 4]);
    run(&["info", &short]).done();
    run(&["generate", &short, "--prompt", "x"]).failed(4, "llama.cpp refuses the file");
}

#[test]
fn texts_are_scored_and_the_likeliest_is_first() {
    let texts = [
        "--candidate",
        "unseal bell",
        "--candidate",
        "row",
        "--candidate",
        "row boat",
    ];
    let ask = |more: &[&str]| {
        let given = ["score", "MODEL", "--prompt", "row the boat"];
        json(&[&given, &texts[..], more].concat())
    };
    let by_sum = ask(&[]);
    let all = by_sum["candidates"].as_array().unwrap();
    assert_eq!(all.len(), 3);
    for one in all {
        let logprobs = numbers(&one["logprobs"]);
        let sum = one["sum"].as_f64().unwrap();
        assert!((sum - logprobs.iter().sum::<f64>()).abs() < 1e-9);
        assert_eq!(one["tokens"], logprobs.len());
        assert!((one["mean"].as_f64().unwrap() * logprobs.len() as f64 - sum).abs() < 1e-9);
        assert_eq!(
            (&one["cut"], &one["pmi"]),
            (&Value::Bool(false), &Value::Null)
        );
    }
    let sorted = |of: &Value, key: &str| {
        let keys = of["candidates"].as_array().unwrap().iter();
        let keys: Vec<f64> = keys.map(|one| one[key].as_f64().unwrap()).collect();
        keys.is_sorted_by(|a, b| a >= b)
    };
    assert!(sorted(&by_sum, "sum"), "{by_sum}");
    let by_pmi = ask(&["--pmi"]);
    assert!(sorted(&by_pmi, "pmi"), "{by_pmi}");
    // Behind an empty prompt the prompt makes nothing likelier. Some processors add in another order in another batch.
    let nothing = json(&[
        "score",
        "MODEL",
        "--prompt",
        "",
        "--candidate",
        "row",
        "--pmi",
    ]);
    let pmi = nothing["candidates"][0]["pmi"].as_f64().unwrap();
    assert!(pmi.abs() < 1e-3, "{pmi}");
    let cut = ask(&["--max-tokens", "2"]);
    let cut = cut["candidates"].as_array().unwrap();
    assert!(cut.iter().all(|one| one["tokens"].as_u64().unwrap() <= 2));
    assert!(cut.iter().any(|one| one["cut"] == true));
    assert_eq!(ask(&["--isolated"]), by_sum);
}

#[test]
fn what_is_scored_is_printed_without_control_characters() {
    let text = "\u{1b}[31mred\u{202e}";
    let said = run(&[
        "score",
        "MODEL",
        "--prompt",
        "x",
        "--candidate",
        text,
        "--pmi",
    ])
    .done();
    assert!(said.out.starts_with("PMI"), "{}", said.out);
    let row = said.out.lines().nth(1).unwrap();
    assert!(row.ends_with("  red"), "{:?}", said.out);
    assert!(!said.out.contains(['\u{1b}', '\u{202e}']), "{:?}", said.out);
}

#[test]
fn a_prompt_comes_from_a_file_or_standard_input_too() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("prompt.txt");
    fs::write(&file, "find the coffee").unwrap();
    let arguments = ["generate", "MODEL", "--max-tokens", "8"];
    let given = json(&[&arguments[..], &["--prompt", "find the coffee"]].concat());
    let read = json(&[&arguments[..], &["-f", file.to_str().unwrap()]].concat());
    assert_eq!(read, given);
    let mut piped = command(&[&arguments[..], &["-f", "-", "--json"]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = piped.stdin.take().unwrap();
    input.write_all(b"find the coffee").unwrap();
    drop(input);
    assert_eq!(ran(&piped.wait_with_output().unwrap()).json(), given);
    fs::write(&file, b"\xff").unwrap();
    let from = |path: &str| run(&["generate", "MODEL", "-f", path]);
    from(file.to_str().unwrap()).failed(1, "the prompt is not UTF-8");
    from("no/such.txt").failed(3, "the prompt cannot be read");
    from("src").failed(1, "the prompt cannot be read");
}

#[test]
fn a_text_is_shown_as_it_is_in_the_document() {
    let drawn = [
        "--max-tokens",
        "12",
        "--temperature",
        "1.5",
        "--top-p",
        "0.9",
        "--seed",
    ];
    let given = ["generate", "MODEL", "--prompt", "find the coffee"];
    let ask = |more: &[&'static str]| [&given[..], &drawn, more].concat();
    let got = json(&ask(&["3"]));
    assert_eq!(got["finish"], "length");
    assert_eq!(numbers(&got["ids"]).len(), 12);
    assert_eq!(numbers(&got["logprobs"]).len(), 12);
    assert_eq!(
        numbers(&got["prompt_ids"]).len() as u64,
        got["prompt_tokens"].as_u64().unwrap()
    );
    let text = got["text"].as_str().unwrap();
    let shown = run(&ask(&["3"])).done();
    assert_eq!(shown.out, format!("{text}\n"));
    assert!(shown.err.contains("12 tokens after"), "{}", shown.err);
    assert_eq!(json(&ask(&["3", "--isolated"])), got);
    assert_ne!(json(&ask(&["4"]))["ids"], got["ids"]);
    let stop = &text[4..6];
    let stopped = json(&[&ask(&["3"])[..], &["--stop", stop]].concat());
    assert_eq!(stopped["finish"], "stop");
    assert_eq!(stopped["text"].as_str(), text.split(stop).next());
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let mut child = command(&[
        "generate",
        "MODEL",
        "--prompt",
        "find",
        "--max-tokens",
        "200",
    ])
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("error"));
}

#[test]
fn what_cannot_be_asked() {
    let usage = run(&["generate", "MODEL"]);
    assert_eq!(usage.code, 2, "{}", usage.err);
    let usage = run(&["generate", "MODEL", "--prompt", "x", "-f", "y"]);
    assert_eq!(usage.code, 2, "{}", usage.err);
    let empty = [
        "score",
        "MODEL",
        "--prompt",
        "x",
        "--candidate",
        "row",
        "--candidate",
        "",
    ];
    run(&empty).failed(1, "candidate 2 has no tokens");
    let long = "row ".repeat(4000);
    let long = ["generate", "MODEL", "--prompt", long.as_str()];
    run(&long).failed(1, "and the context 4096");
    let template = [
        "generate",
        "MODEL",
        "--prompt",
        "x",
        "--template",
        "none such",
    ];
    let refused = run(&template);
    assert_eq!(refused.code, 1, "{}", refused.err);
    let document = run(&[&empty[..], &["--json"]].concat());
    assert_eq!(document.code, 1);
    assert_eq!(document.json()["error"]["kind"], "Invalid");
}

#[test]
fn speed_is_measured_and_said_for_what_it_is() {
    let small = [
        "--prompt-tokens",
        "16",
        "--tokens",
        "4",
        "--streams",
        "2",
        "--repeats",
        "2",
    ];
    let more = ["--candidates", "2", "--candidate-tokens", "4"];
    let arguments = [&["bench", "MODEL"], &small[..], &more].concat();
    let got = json(&arguments);
    let figures = got["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 6);
    for figure in figures {
        assert_eq!(numbers(&figure["values"]).len(), 2, "{figure}");
        assert!(figure["median"].as_f64().unwrap() > 0.0, "{figure}");
    }
    assert_eq!(
        fields(&got["machine"]),
        ["arch", "cores", "os", "processor"]
    );
    assert_eq!(got["settings"]["seed"], 1);
    // Those in use, though none were asked for.
    assert!(got["settings"]["threads"].as_u64() > Some(0), "{got}");
    let said = run(&[&arguments[..], &["--isolated"]].concat()).done().out;
    assert!(said.contains("that other programs share"), "{said}");
    assert!(!said.contains("null"), "{said}");
}

#[test]
fn a_threshold_is_fitted_to_a_model() {
    let place = Place::with_library();
    let labeled = |count: usize, skill: &dyn Fn(usize) -> &'static str| {
        let lines: Vec<String> = (0..count)
            .map(|n| {
                let instruction = format!("{} the beans of box {n}", skill(n));
                json!({"id": format!("t{n}"), "instruction": instruction, "skill": skill(n)})
                    .to_string()
            })
            .collect();
        let file = place.path("labeled.jsonl");
        fs::write(&file, lines.join("\n")).unwrap();
        file.display().to_string()
    };
    let root = place.root().display().to_string();
    let out = place.path("calibration.json").display().to_string();
    let calibrate = |tasks: &str, more: &[&str]| {
        let given = ["calibrate", "MODEL", "--library", &root, "--tasks", tasks];
        run(&[&given, more].concat())
    };
    let tasks = labeled(12, &|n| ["brew", "grind"][n % 2]);
    let fitted = calibrate(&tasks, &["--json", "--out", &out]);
    let fitted = fitted.done().json();
    let calibration = &fitted["calibration"];
    for half in ["fitted", "held_out"] {
        for share in ["right_injected", "wrong_injected"] {
            let share = &calibration[half][share];
            assert_eq!(share["of"], 6);
            assert!(share["low"].as_f64() <= share["high"].as_f64(), "{share}");
        }
    }
    let kept = GateCalibration::from_json(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(calibration["threshold"].as_f64(), Some(kept.threshold));
    assert!(kept.fitted_for.model.as_str().starts_with("apprentice@"));
    let said = calibrate(&tasks, &[]).done().out;
    assert!(
        said.contains("held out") && said.contains("Not written"),
        "{said}"
    );
    // The model is asked whether the skill fits.
    calibrate(&tasks, &["--score", "fits"]).done();
    let few = labeled(5, &|_| "brew");
    calibrate(&few, &[]).failed(1, "8 tasks with a right skill are needed");
    let unknown = labeled(8, &|_| "sing");
    calibrate(&unknown, &[]).failed(3, "no such skill");
    // Without labels every skill counts as a wrong one.
    let lines: Vec<String> = (0..9)
        .map(|n| {
            json!({"id": format!("t{n}"), "instruction": format!("Sort box {n}.")}).to_string()
        })
        .collect();
    let unlabeled = place.path("unlabeled.jsonl").display().to_string();
    fs::write(&unlabeled, lines.join("\n")).unwrap();
    let fitted = calibrate(&unlabeled, &["--json"]).done().json();
    assert_eq!(fitted["labels"], false);
    let calibration = &fitted["calibration"];
    assert_eq!(calibration["held_out"]["wrong_injected"]["of"], 9);
    assert_eq!(calibration["held_out"]["right_injected"]["of"], 0);
    let said = calibrate(&unlabeled, &[]).done().out;
    for part in [
        "each by the others",
        "not known",
        "No task names a right skill",
    ] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    let mixed = format!(
        "{}\n{}",
        lines[0],
        json!({"id": "u", "instruction": "Brew.", "skill": "brew"})
    );
    fs::write(&unlabeled, mixed).unwrap();
    calibrate(&unlabeled, &[]).failed(1, "some lines have `skill`, and some have not");
    // The library keeps no attempts: tasks are taken that come with the command.
    let nothing = ["calibrate", "MODEL", "--library", root.as_str(), "--json"];
    let fitted = run(&nothing).done().json();
    assert_eq!(fitted["tasks"], 24);
    // The bundled model was trained on other skills, so that a session fits it as any other model.
    assert_eq!(fitted["calibration"]["fitted_for"]["score"], "card_pmi");
}

const BUNDLED: &str = "../../tests/lab/apprentice/apprentice.gguf";

/// `skill why` with the bundled model.
fn why(task: &str, root: &str, more: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["skill", "why", task, BUNDLED, "--library", root])
        .args(more);
    ran(&command.output().unwrap())
}

#[test]
fn a_model_that_was_trained_on_skills_like_the_librarys_keeps_the_recipes_threshold() {
    let skill = |name: &str, does: &str| {
        let body = format!(
            "## Method\n\n1. Call rinse_turbine\n2. Call {name} with pitch from the task, power 85, style from the task\n\n## Check\n\n{does}"
        );
        sample::skill(name)
            .with_description(format!("{name} needs rinse_turbine first, power 85"))
            .with_body(body)
    };
    let place = Place::with_skills(vec![
        skill("fold_curtain", "The curtain took the fold call"),
        skill("lower_tile", "The tile took the lower call"),
    ]);
    let root = place.root().display().to_string();
    let task = "before lunch fold the curtain near the quilt at pitch double and style silver";
    let got = why(task, &root, &["--json"]).done().json();
    assert_eq!(
        fields(&got),
        [
            "decision",
            "gate",
            "held_out",
            "outcomes",
            "retrieved",
            "scores",
            "selection",
            "task",
            "threshold"
        ]
    );
    let gate = got["gate"].as_str().unwrap();
    assert!(gate.starts_with("pmi above 5.00 nats"), "{gate}");
    assert_eq!(got["threshold"], Value::Null);
    let scored = got["selection"]["candidates"].as_array().unwrap();
    assert_eq!(scored.len(), got["retrieved"].as_array().unwrap().len());
    assert!(!scored.is_empty());
    let said = why(task, &root, &[]).done().out;
    for part in [
        "SKILL",
        "PMI",
        "gate: pmi",
        "threshold: 5.00 nats, as the recipe says",
        "zero: 0 nats",
        "decision: inject fold_curtain",
    ] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    let calibrate = ["calibrate", BUNDLED, "--library", &root];
    run(&calibrate).failed(1, "was trained for the recipe's threshold");
    let lines = (0..16).map(|n| {
        let name = ["fold_curtain", "lower_tile"][n % 2];
        let instruction = format!("{name} at pitch {n} and style silver");
        json!({"id": format!("t{n}"), "instruction": instruction, "skill": name}).to_string()
    });
    let tasks = place.path("labeled.jsonl").display().to_string();
    fs::write(&tasks, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let fitted = run(&[&calibrate[..], &["--json", "--tasks", &tasks]].concat());
    let fitted = fitted.done().json();
    assert_eq!(fitted["calibration"]["fitted_for"]["score"], "pmi");
}

#[test]
fn why_a_skill_is_chosen_is_said_and_nothing_is_changed() {
    let place = Place::with_library();
    let root = place.root().display().to_string();
    let with = |more: &[&str]| why("Brew a pot of coffee.", &root, more);
    let before = run_in_library(&root, &["library", "stats"]);
    // Its skills are none that the bundled model was trained on.
    let got = with(&["--json"]).done().json();
    let gate = got["gate"].as_str().unwrap();
    assert!(
        gate.starts_with("card_pmi of the skill that the search finds first"),
        "{gate}"
    );
    assert!(gate.contains("24 tasks"), "{gate}");
    assert_eq!(got["threshold"], got["selection"]["fitted"]);
    assert_eq!(got["threshold"]["tasks"], 24);
    let said = with(&[]).done().out;
    for part in [gate, "SEARCH", "threshold: ", "by 24 tasks"] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    assert_eq!(run_in_library(&root, &["library", "stats"]), before);
    let scores = &got["scores"][0];
    assert_eq!(got["scores"].as_array().unwrap().len(), 1);
    let number = |part: &str| scores[part].as_f64().unwrap();
    assert!((number("model") + number("search") - number("value")).abs() < 1e-9);

    // What the session found, kept for others, decides the same. Tasks of the user's own are decided as the session's.
    let out = place.path("calibration.json").display().to_string();
    let calibrate = |more: &[&str]| {
        let given = ["calibrate", BUNDLED, "--library", &root, "--json"];
        run(&[&given, more].concat()).done().json()
    };
    let kept = calibrate(&["--most-wrong", "0.02", "--out", &out]);
    assert_eq!(kept["tasks"], 24);
    assert_eq!(kept["calibration"]["found"], got["threshold"]["found"]);
    assert_eq!(
        kept["calibration"]["threshold"],
        got["threshold"]["threshold"]
    );
    let calibrated = with(&["--json", "--calibration", &out]).done().json();
    let gate = calibrated["gate"].as_str().unwrap();
    assert!(gate.contains("calibrated for it"), "{gate}");
    assert_eq!(calibrated["held_out"]["wrong_injected"]["of"], 24);
    assert!(got["held_out"].is_null(), "{got}");
    for same in ["candidates", "decision"] {
        assert_eq!(calibrated["selection"][same], got["selection"][same]);
    }
    assert_eq!(calibrated["scores"], got["scores"]);
    let lines: Vec<String> = (0..16)
        .map(|n| {
            let skill = ["brew", "grind"][n % 2];
            let instruction = format!("{skill} the beans of box {n}");
            json!({"id": format!("t{n}"), "instruction": instruction, "skill": skill}).to_string()
        })
        .collect();
    let tasks = place.path("labeled.jsonl").display().to_string();
    fs::write(&tasks, lines.join("\n")).unwrap();
    let fitted = calibrate(&["--tasks", &tasks]);
    assert_eq!(fitted["labels"], true);
    assert_eq!(fitted["calibration"]["fitted_for"]["score"], "card_pmi");
    assert_eq!(fitted["calibration"]["found"], got["threshold"]["found"]);
    assert_eq!(run_in_library(&root, &["library", "stats"]), before);
}

fn run_in_library(root: &str, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
    command.args(arguments).args(["--library", root, "--json"]);
    ran(&command.output().unwrap()).done().json()["revision"].clone()
}
