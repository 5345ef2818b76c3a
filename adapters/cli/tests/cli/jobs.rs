//! Adapters, and a model for each job, with the bundled model.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};

use crate::{
    gguf::Lora,
    model_server::ModelServer,
    running::{ABOUT_THEM, fewer, services, tasks, world},
    support::{Place, Ran, ran},
};

const MODEL: &str = "../../tests/lab/apprentice/apprentice.gguf";

/// An adapter of the bundled model's queries, in a file of this name.
pub(crate) fn adapter(place: &Place, name: &str, width: usize) -> String {
    let lora = Lora {
        architecture: "qwen3",
        layers: 6,
        width,
        ..Lora::default()
    };
    let file = place.path(name);
    fs::write(&file, lora.bytes()).unwrap();
    file.display().to_string()
}

fn model(command: &str, arguments: &[&str]) -> Ran {
    let mut all = Command::new(env!("CARGO_BIN_EXE_journeyman"));
    all.current_dir(env!("CARGO_MANIFEST_DIR"));
    all.args(["model", command, MODEL, "--json"]);
    ran(&all.args(arguments).output().unwrap())
}

#[test]
fn an_adapter_writes_and_scores_in_either_process() {
    let place = Place::empty();
    let own = adapter(&place, "own.gguf", 128);
    for (command, given) in [
        (
            "score",
            ["--prompt", "find the lamp", "--candidate", "lamp"],
        ),
        (
            "generate",
            ["--prompt", "find the lamp", "--max-tokens", "8"],
        ),
    ] {
        let ask = |more: &[&str]| {
            let answer = model(command, &[&given[..], more].concat()).done();
            answer.json()
        };
        let (plain, with) = (ask(&[]), ask(&["--adapter", &own]));
        assert_eq!(ask(&[]), plain);
        let logprobs = |of: &Value| match command {
            "score" => of["candidates"][0]["logprobs"].clone(),
            _ => of["logprobs"].clone(),
        };
        assert_ne!(logprobs(&with), logprobs(&plain));
        assert_eq!(ask(&["--adapter", &own, "--isolated"]), with);
        let id = plain["model"].as_str().unwrap();
        assert!(!id.contains('+') && plain.get("adapter").is_none());
        match command {
            // A threshold that is fitted to these scores is fitted to the adapter, by its content.
            "score" => {
                let of_adapter = with["model"].as_str().unwrap();
                assert!(of_adapter.starts_with(&format!("{id}+own@")), "{with}");
            }
            _ => assert_eq!(
                (with["model"].as_str(), with["adapter"].as_str()),
                (Some(id), Some("own"))
            ),
        }
    }
}

#[test]
fn an_adapter_that_does_not_fit_is_refused() {
    let place = Place::empty();
    let wide = adapter(&place, "wide.gguf", 64);
    let ask = |file: &str| {
        let mut all = Command::new(env!("CARGO_BIN_EXE_journeyman"));
        all.current_dir(env!("CARGO_MANIFEST_DIR"));
        all.args(["model", "generate", MODEL]);
        all.args(["--prompt", "x", "--adapter", file]);
        ran(&all.output().unwrap())
    };
    let shape = ask(&wide).failed(1, "its tensors do not fit this model's");
    assert!(shape.err.contains("wide.gguf"), "{}", shape.err);
    ask("no/such.gguf").failed(3, "no/such.gguf");
    ask(MODEL).failed(1, "not an adapter");
}

/// What a run did and said, with these lines behind `[model]`. It repeats to the byte.
fn with(lines: &str) -> (Ran, Place) {
    let place = Place::empty();
    services(&place, |text| {
        text.replace("\n[world]", &format!("exact = true\n{lines}\n\n[world]"))
    });
    fewer(&place, 2);
    adapter(&place, "own.gguf", 128);
    // Another model: the last weight is another one.
    let mut bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(MODEL)).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&0.5_f32.to_le_bytes());
    fs::write(place.path("other.gguf"), bytes).unwrap();
    let file = place.path("run.toml").display().to_string();
    (place.json(&["run", &file, "--seed", "3"]), place)
}

#[test]
fn a_run_decides_by_the_gates_adapter_and_names_the_writers_model() {
    let (plain, _place) = with("");
    let plain = plain.done();
    let (again, _place) = with("");
    let strip = |ran: &Ran| {
        let mut told = ran.json();
        told["library"] = Value::Null;
        told
    };
    assert_eq!(strip(&again.done()), strip(&plain));
    let line = |ran: &Ran, job: &str| {
        let mut lines = ran.err.lines();
        let line = lines.find_map(|line| line.strip_prefix(&format!("{job}: ")));
        line.map(str::to_owned)
    };
    assert_eq!(line(&plain, "writers"), None);

    let both =
        "[model_for.gate]\nadapter = \"own.gguf\"\n[model_for.writers]\ngguf = \"other.gguf\"";
    let (ran, _place) = with(both);
    let ran = ran.done();
    let gate = line(&ran, "gate").unwrap();
    assert!(
        gate.starts_with("apprentice@") && gate.ends_with("+own"),
        "{gate}"
    );
    let writers = line(&ran, "writers").unwrap();
    let base = gate.trim_end_matches("+own");
    assert!(writers.starts_with("apprentice@") && !writers.starts_with(base));
    // The bundled model decides by the recipe's threshold, and a gate that nobody trained by one that is fitted to it.
    assert!(!plain.err.contains("fitted to it by"), "{}", plain.err);
    let fitted = format!("with {gate}@");
    assert!(ran.err.contains(&fitted), "{fitted}: {}", ran.err);
}

/// What the writers' model knows, and no other one.
const INSIGHT: &str = "The second model has read the attempts, and nobody else";

#[test]
fn a_run_asks_the_writers_model_for_skills_and_no_other_one() {
    let place = Place::empty();
    let asked = Arc::new(AtomicU64::new(0));
    let counted = asked.clone();
    let server = ModelServer::start(move |messages| {
        if !messages.to_string().contains("You distil reusable skills") {
            // The questions of the connection.
            return Some("yes".to_owned());
        }
        counted.fetch_add(1, Ordering::SeqCst);
        let document = json!({
            "skill_name": "second_model", "problem_type": "general", "key_insight": INSIGHT,
            "method": ["Read what was refused", "Do what the refusal asks for"], "check": null,
            "confidence": 0.9,
        });
        Some(document.to_string())
    });
    services(&place, |text| {
        let second = format!(
            "server = \"{}\"\nname = \"played\"\ncontext = 8192",
            server.url
        );
        let second = format!("exact = true\n\n[model_for.writers]\n{second}\n\n[world]");
        text.replace("\n[world]", &second)
    });
    fewer(&place, 2);
    let file = place.path("run.toml").display().to_string();
    let told = place.json(&["run", &file, "--seed", "3"]).done().json();
    let roles = told["learning"]["roles"].as_array().unwrap();
    let summaries = roles.iter().find(|role| role["role"] == "summarize");
    let summaries = summaries.unwrap()["asked"].as_u64().unwrap();
    assert!(summaries > 0, "{told}");
    // A summary that is asked for twice counts once.
    assert!(asked.load(Ordering::SeqCst) >= summaries, "{told}");
    // All skills are what this model wrote.
    let library = place.library();
    let insights = library.entries().map(|one| one.skill.description.as_str());
    let insights: BTreeSet<&str> = insights.collect();
    assert_eq!(insights, BTreeSet::from([INSIGHT]));
}

#[test]
fn a_run_with_a_job_or_an_adapter_that_is_wrong_ends_before_it_learns() {
    for (lines, code, says) in [
        ("[model_for.writer]\nadapter = \"own.gguf\"", 1, "`writer`"),
        ("[model_for.judge]\nadapter = \"none.gguf\"", 3, "none.gguf"),
        ("[model_for.gate]\ngguf = \"none.gguf\"", 3, "none.gguf"),
    ] {
        let (ran, place) = with(lines);
        assert_eq!(ran.code, code, "{lines}: {}", ran.out);
        assert!(ran.out.contains(says), "{lines}: {}", ran.out);
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        assert!(
            !told["error"]["hint"]
                .as_str()
                .unwrap_or_default()
                .is_empty(),
            "{told}"
        );
        assert!(!ran.err.contains("learning"), "{}", ran.err);
        drop(place);
    }
}

#[test]
fn a_second_model_that_finds_no_memory_is_refused_and_the_library_is_as_it_was() {
    let place = Place::with_library();
    services(&place, |text| {
        let second = "[model_for.writers]\ngguf = \"wide.gguf\"\ncontext = 16777216";
        text.replace("\n[world]", &format!("\n{second}\n\n[world]"))
    });
    // More heads than any model has, so that a context takes more than any machine has.
    let mut bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(MODEL)).unwrap();
    let key = b"qwen3.attention.head_count_kv";
    let at = bytes.windows(key.len()).position(|word| word == key);
    let at = at.unwrap() + key.len() + 4;
    bytes[at..at + 4].copy_from_slice(&(1_u32 << 16).to_le_bytes());
    fs::write(place.path("wide.gguf"), bytes).unwrap();
    let told = || ["list", "log"].map(|what| place.json(&["skill", what]).done().json());
    let before = told();
    let file = place.path("run.toml").display().to_string();
    let refused = place
        .run(&["run", &file])
        .failed(5, "the system's memory is too small");
    assert!(refused.err.contains("wide.gguf"), "{}", refused.err);
    assert_eq!(told(), before);
}

#[test]
fn an_arm_of_an_experiment_gives_jobs_their_models() {
    let place = Place::empty();
    adapter(&place, "own.gguf", 128);
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(MODEL);
    let head = format!(
        "name = \"jobs\"\nmodel = {:?}\nseeds = 1\ntasks = \"tasks.jsonl\"\nstream = 1\nheld_out = 1\ncheckpoints = 1\n\n{}",
        model.display().to_string(),
        world()
    );
    fs::write(place.path("tasks.jsonl"), tasks(&ABOUT_THEM)).unwrap();
    let arm = |name: &str, lines: &str| {
        format!("\n[[arm]]\nname = \"{name}\"\nrecipe = \"standard\"\n{lines}\n")
    };
    let perform = |text: String| {
        fs::write(place.path("jobs.toml"), text).unwrap();
        let mut all = Command::new(env!("CARGO_BIN_EXE_journeyman"));
        all.current_dir(place.folder.path());
        all.args(["experiment", "jobs.toml", "--out", "out", "--json"]);
        ran(&all.output().unwrap()).done().json()
    };
    let plain = perform(head.clone() + &arm("plain", ""));
    assert_eq!(plain["cells"]["run"], 1);
    let two = "model_for.agent = { adapter = \"own.gguf\" }";
    let both = perform(head + &arm("plain", "") + &arm("noise", two));
    // The cell of the plain arm is the one of before.
    assert_eq!(
        (&both["cells"]["run"], &both["cells"]["kept"]),
        (&1.into(), &1.into())
    );
    let report = fs::read_to_string(place.path("out/report.md")).unwrap();
    let told = report
        .lines()
        .find(|line| line.contains("agent by apprentice@"));
    assert!(told.is_some_and(|line| line.contains("+own")), "{report}");
    // An agent of noise is another agent.
    let cell = |name: &str| -> Value {
        let files = place.path("out/cells").read_dir().unwrap();
        let files = files.map(|file| file.unwrap().path());
        let mut named = files.filter(|file| file.display().to_string().contains(name));
        serde_json::from_slice(&fs::read(named.next().unwrap()).unwrap()).unwrap()
    };
    assert_ne!(cell("noise")["result"], cell("plain")["result"]);
}
