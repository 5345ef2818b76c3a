//! `journeyman run` with the bundled model in the Python world of `examples/services`.

use std::{fs, path::Path, process::Command};

use serde_json::json;

use crate::support::{Place, documented};

/// The tasks of `examples/services` that are learned from, by their lines: about services whose demands the bundled model finds out.
pub(crate) const LEARNED: [usize; 3] = [8, 11, 3];
/// Those that are held out, about the same services.
pub(crate) const HELD_OUT: [usize; 3] = [36, 44, 45];

/// All tasks about these services.
pub(crate) const ABOUT_THEM: [usize; 15] =
    [3, 8, 11, 14, 16, 23, 25, 30, 35, 36, 44, 45, 51, 52, 55];

/// The path of a file below `examples`.
pub(crate) fn example(path: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let examples = examples.canonicalize().unwrap();
    examples.join(path).display().to_string()
}

/// These tasks of `examples/services`, as a file of them.
pub(crate) fn tasks(lines: &[usize]) -> String {
    let all = fs::read_to_string(example("services/tasks.jsonl")).unwrap();
    let all: Vec<&str> = all.lines().collect();
    let chosen: Vec<&str> = lines.iter().map(|line| all[*line]).collect();
    chosen.join("\n")
}

/// The world of `examples/services`, in a file of any folder.
pub(crate) fn world() -> String {
    format!(
        "[world]\nprogram = \"python3\"\narguments = [{:?}]\nenvironment = {{ PYTHONPATH = {:?} }}\ntrusted = true\n",
        example("services/services.py"),
        example("../adapters/process/python")
    )
}

/// A run's file in the place: `examples/services` with these few tasks.
pub(crate) fn services(place: &Place, change: impl Fn(String) -> String) {
    let text = fs::read_to_string(example("services/run.toml")).unwrap();
    let text = text
        .replace("../../out/services", "learned")
        .replace("held_out = 24", "held_out = \"held-out.jsonl\"")
        .replace(
            "../../tests/lab/apprentice/apprentice.gguf",
            &example("../tests/lab/apprentice/apprentice.gguf"),
        )
        .replace("services.py", &example("services/services.py"))
        .replace(
            "../../adapters/process/python",
            &example("../adapters/process/python"),
        );
    fs::write(place.path("run.toml"), change(text)).unwrap();
    for (name, chosen) in [("tasks.jsonl", LEARNED), ("held-out.jsonl", HELD_OUT)] {
        fs::write(place.path(name), tasks(&chosen)).unwrap();
    }
}

/// So many tasks to learn from and one that is held out, in the place of three each. The bundled model does a task in some of its
/// attempts, after refusals, so that a skill is written. Which attempts these are may differ between processors: a test that needs a
/// skill learns from two tasks.
pub(crate) fn fewer(place: &Place, learned: usize) {
    for (name, lines) in [
        ("tasks.jsonl", &LEARNED[..learned]),
        ("held-out.jsonl", &HELD_OUT[..1]),
    ] {
        fs::write(place.path(name), tasks(lines)).unwrap();
    }
}

#[test]
fn a_run_learns_in_a_world_in_python_and_measures_before_and_after() {
    let place = Place::empty();
    services(&place, |text| text);
    let file = place.path("run.toml").display().to_string();
    let ran = place.json(&["run", &file, "--seed", "3"]).done();
    assert!(ran.err.contains("[3/3]"), "{}", ran.err);
    assert!(ran.err.contains("    learned "), "{}", ran.err);
    let told = ran.json();
    documented("`run`", &told);
    assert!(told["lift"].is_null(), "{told}");
    let difference = &told["after_less_before"]["score"];
    assert_eq!(
        (&told["seed"], &difference["pairs"]),
        (&3.into(), &3.into())
    );
    assert!(difference["mean"].as_f64().unwrap() > 0.0, "{told}");
    for when in ["before", "after"] {
        assert_eq!(told[when]["judged"], 3, "{told}");
        assert_eq!(told[when]["faults"], 0, "{told}");
    }
    assert_eq!(told["before"]["with_skill"], 0);
    assert!(told["after"]["with_skill"].as_u64().unwrap() > 0, "{told}");
    // What was learned is in the library for the next run, which measures alone.
    let trace = place.path("trace.txt").display().to_string();
    fs::write(&trace, "trace of journeyman run\nolder\n".repeat(9_999)).unwrap();
    let again = place
        .run(&["run", &file, "--only-measure", "--trace", &trace])
        .done();
    let traced = fs::read_to_string(&trace).unwrap();
    assert!(!traced.contains("older"), "{traced}");
    let with = traced.lines().filter(|line| line.starts_with("attempt "));
    assert!(
        with.clone().any(|line| line.contains(", with ")),
        "{traced}"
    );
    assert_eq!(with.count(), 3);
    assert!(again.out.contains("NOW"), "{}", again.out);
    assert!(!again.err.contains("learning"), "{}", again.err);
    // Beside the same with an empty library: three tasks are too few to tell, and that is said.
    let text = fs::read_to_string(&file).unwrap();
    let with = |name: &str, library: &Path| {
        let path = place.path(name).display().to_string();
        let library = format!("library = {:?}", library.display().to_string());
        let of_file = |line: &str| match line.starts_with("library = ") {
            true => library.clone(),
            false => line.to_owned(),
        };
        let lines: Vec<String> = text.lines().map(of_file).collect();
        fs::write(&path, lines.join("\n")).unwrap();
        path
    };
    let plain = with("plain.toml", &place.path("nothing"));
    let skilled = with("skilled.toml", &place.root());
    let compared = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
        command.current_dir(place.folder.path()).args(arguments);
        crate::support::ran(&command.output().unwrap()).done()
    };
    let told = compared(&["run", &plain, "--compare", &skilled, "--json"]).json();
    documented("`run --compare`", &told);
    assert_eq!((&told["tasks"], &told["left_out"]), (&3.into(), &0.into()));
    assert_eq!(told["first"]["with_skill"], 0, "{told}");
    assert!(told["second"]["with_skill"].as_u64().unwrap() > 0, "{told}");
    assert!(told["conclusion"]["not_yet"].is_object(), "{told}");
    assert!(told["first"]["arm"].is_null(), "{told}");
    // The same two as arms of one file.
    let nothing = place.path("nothing").display().to_string();
    let arms = format!("\n[arms.skilled]\n\n[arms.plain]\nlibrary = {nothing:?}\n");
    let armed = place.path("armed.toml").display().to_string();
    fs::write(&armed, fs::read_to_string(&skilled).unwrap() + &arms).unwrap();
    let told = compared(&["run", &armed, "--compare", "--json"]).json();
    documented("`run --compare`", &told);
    for (side, arm) in [("first", "skilled"), ("second", "plain")] {
        assert_eq!(told[side]["arm"], arm, "{told}");
        let with_skill = told[side]["with_skill"].as_u64().unwrap();
        assert_eq!(with_skill > 0, arm == "skilled", "{told}");
    }
    // One library for both.
    let same = compared(&["run", &skilled, "--compare", &skilled, "--margin", "0.5"]);
    assert!(same.out.contains("not clear yet"), "{}", same.out);
    // A mistyped library is no empty one.
    let other = Place::empty();
    services(&other, |text| text);
    other
        .run(&["run", &file, "--only-measure"])
        .failed(3, "there is no skill library here");
    assert!(!other.root().exists());
    // A second run of this name would give its runs the same ids.
    let held = fs::File::open(place.root().join(".journeyman/run-services.lock")).unwrap();
    held.lock().unwrap();
    place
        .run(&["run", &file])
        .failed(5, "another run of this name is using the library");
}

#[test]
fn arms_that_are_not_two_are_refused_and_a_run_without_them_says_so() {
    let place = Place::empty();
    services(&place, |text| text + "\n[arms.one]\n");
    let file = place.path("run.toml").display().to_string();
    let one = place.run(&["run", &file, "--compare"]);
    one.failed(1, "two arms are compared, and the file has 1");
    let ran = place.run(&["run", &file, "--only-measure"]);
    assert!(
        ran.err.contains("the file's arms are left out"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("there is no skill library here"),
        "{}",
        ran.err
    );
}

/// The place's run file with some texts replaced, as another file.
fn replaced(place: &Place, name: &str, texts: &[(&str, &str)]) -> String {
    let text = fs::read_to_string(place.path("run.toml")).unwrap();
    let replace = |text: String, (from, to): &(&str, &str)| {
        assert!(text.contains(from), "{from}: {text}");
        text.replace(from, to)
    };
    fs::write(place.path(name), texts.iter().fold(text, replace)).unwrap();
    place.path(name).display().to_string()
}

#[test]
fn what_a_run_learned_is_certified_for_its_model_and_for_another_one() {
    let place = Place::empty();
    services(&place, |text| {
        let recipe = "recipe = \"standard\"";
        let kept = format!("{recipe}\nset = {{ \"tiers.traces\" = 100 }}");
        text.replace(recipe, &kept)
    });
    let file = place.path("run.toml").display().to_string();
    let certify =
        |file: &str, more: &[&str]| place.json(&[&["library", "certify", file][..], more].concat());
    place
        .run(&["library", "certify", &file])
        .failed(3, "there is no skill library here");
    assert!(!place.root().exists());
    place.run(&["run", &file, "--seed", "3"]).done();
    // Attempts at other tasks than the skills were written from, which have them in their prompts and are kept.
    let other_tasks = [
        ("tasks = \"tasks.jsonl\"", "tasks = \"held-out.jsonl\""),
        (
            "held_out = \"held-out.jsonl\"",
            "held_out = \"tasks.jsonl\"",
        ),
        (
            "= 100",
            "= 100, \"write.when\" = \"never\", \"attempts.group\" = 1",
        ),
    ];
    let file = replaced(&place, "again.toml", &other_tasks);
    place.run(&["run", &file, "--seed", "4"]).done();
    // Too few for a threshold by outcomes: nothing is attempted. That is asked first, since a task at which a skill was compared is left out.
    let by_outcomes = ["library", "calibrate", &file, "--outcomes", "200"];
    let calibrated = place.json(&by_outcomes).done().json();
    documented("`library calibrate`", &calibrated);
    assert!(calibrated["calibration"].is_null(), "{calibrated}");
    assert_eq!(
        (&calibrated["needed"], &calibrated["tokens"]),
        (&45.into(), &0.into())
    );
    assert!((1..45).contains(&calibrated["tasks"].as_u64().unwrap()));
    let shown = place.run(&by_outcomes).done().out;
    assert!(shown.contains("not yet fitted: "), "{shown}");
    // For a looser bound they are enough.
    let out = place.path("calibration.json").display().to_string();
    let loose = ["--most-harmed", "0.9", "--error", "0.5", "--out", &out];
    let fitted = place
        .json(&[&by_outcomes[..], &loose].concat())
        .done()
        .json();
    documented("`library calibrate`", &fitted);
    assert!(fitted["calibration"]["outcomes"].is_object(), "{fitted}");
    assert!(fitted["tokens"].as_u64().unwrap() > 0, "{fitted}");
    place
        .run(&[&by_outcomes[..], &["--most-harmed", "0"]].concat())
        .failed(1, "most must be above 0 and below 1");
    // What is there is said before anything is attempted: of a run's file that is not there nothing is said.
    place
        .run(&[
            "library",
            "calibrate",
            "none.toml",
            "--outcomes",
            "9",
            "--out",
            &out,
        ])
        .failed(1, "something is there already");
    let pairs = |told: &serde_json::Value| -> u64 {
        let skills = told["skills"].as_array().unwrap().iter();
        skills.map(|one| one["pairs"].as_u64().unwrap()).sum()
    };
    let told = certify(&file, &[]).done().json();
    documented("`library certify`", &told);
    assert!(pairs(&told) > 0, "{told}");
    assert!(told["tokens"].as_u64().unwrap() > 0, "{told}");
    // Three tasks are too few to tell, and that is said.
    for skill in told["skills"].as_array().unwrap() {
        assert!(skill["conclusion"]["not_yet"].is_object(), "{told}");
    }
    // What was compared is not compared again.
    let again = certify(&file, &[]).done().json();
    assert_eq!(
        (pairs(&again), &again["tokens"], &again["revision"]),
        (pairs(&told), &0.into(), &told["revision"])
    );
    let shown = place.run(&["library", "certify", &file]).done().out;
    assert!(
        shown.contains("VERDICT") && shown.contains("not yet"),
        "{shown}"
    );
    // Another model, named as seen from here: the last weight is another one. Its pairs are its own.
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lab/apprentice");
    let mut bytes = fs::read(model.join("apprentice.gguf")).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&0.5_f32.to_le_bytes());
    fs::write(place.path("other.gguf"), bytes).unwrap();
    let other = certify(&file, &["--model", "other.gguf"]).done().json();
    assert_ne!(other["model"], told["model"]);
    assert!(pairs(&other) > 0 && other["tokens"] != 0, "{other}");
    // What chance says of the same: at half of the tasks what was chosen is left out.
    let withhold = "\"attempts.group\" = 1, \"select.withhold\" = { share = 0.5 }";
    let chance = [("\"attempts.group\" = 1", withhold)];
    let chance = replaced(&place, "chance.toml", &[&other_tasks[..], &chance].concat());
    let ran = place.json(&["run", &chance, "--seed", "5"]).done().json();
    documented("`run`", &ran);
    let lift = &ran["lift"];
    let count = |what: &str| lift[what].as_u64().unwrap();
    assert!(
        (1..=3).contains(&(count("given") + count("withheld"))),
        "{ran}"
    );
    assert!(lift["verdict"]["not_yet"].is_object(), "{ran}");
    let shown = place.run(&["run", &chance, "--only-measure"]).done().out;
    assert!(shown.contains("What the library brings, by "), "{shown}");
    place
        .run(&["library", "certify", &file, "--margin", "2"])
        .failed(1, "margin must be");
}

#[test]
fn a_world_that_cannot_be_set_up_again_certifies_nothing() {
    let place = Place::with_library();
    services(&place, |text| text);
    let services =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/services/services.py");
    let once = fs::read_to_string(services).unwrap();
    let once = once.replace("deterministic = True", "deterministic = False");
    fs::write(place.path("once.py"), once).unwrap();
    let text = fs::read_to_string(place.path("run.toml")).unwrap();
    let line = text.lines().find(|line| line.starts_with("arguments = "));
    let file = replaced(
        &place,
        "once.toml",
        &[(line.unwrap(), "arguments = [\"once.py\"]")],
    );
    let refused = place.run(&["library", "certify", &file]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    // What was told of the model comes first.
    for said in [
        "error: tasks cannot be attempted again here",
        "hint: set `resettable = True` in the world's program",
        "`journeyman library lift`",
    ] {
        assert!(refused.err.contains(said), "{said}: {}", refused.err);
    }
}

#[test]
fn a_run_in_which_nothing_is_done_shows_what_the_agent_did() {
    let place = Place::empty();
    // Nothing is done in few short steps either.
    services(&place, |text| {
        for part in ["steps = 8", "[model]\n"] {
            assert!(text.contains(part), "{text}");
        }
        let text = text.replace("steps = 8", "steps = 3");
        text.replace("[model]\n", "[model]\nanswer_tokens = 64\n")
    });
    // Words that the bundled model does not know.
    for name in ["tasks.jsonl", "held-out.jsonl"] {
        let tasks = fs::read_to_string(place.path(name)).unwrap();
        let tasks = tasks.lines().map(|line| {
            let mut task: serde_json::Value = serde_json::from_str(line).unwrap();
            task["instruction"] = "Develop the Second Film.".into();
            task.to_string()
        });
        let tasks: Vec<String> = tasks.collect();
        fs::write(place.path(name), tasks.join("\n")).unwrap();
    }
    let file = place.path("run.toml").display().to_string();
    let trace = place.path("trace.txt");
    let library = place.path("elsewhere");
    let arguments = [
        "run",
        &file,
        "--trace",
        "trace.txt",
        "--library",
        "elsewhere",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_journeyman"));
    command.current_dir(place.folder.path()).args(arguments);
    let ran = crate::support::ran(&command.output().unwrap()).done();
    assert_eq!(ran.out.matches("0 of 3").count(), 4, "{}", ran.out);
    for said in [
        "No skill was written: ",
        "Of 3 held-out tasks 3 were not done.",
        "task: Develop the Second Film.",
        "  end: ",
    ] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    // Three held-out tasks twice, and three that are learned from in groups of four.
    let trace = fs::read_to_string(trace).unwrap();
    assert_eq!(
        trace.matches("task: Develop the Second Film.").count(),
        18,
        "{trace}"
    );
    assert!(trace.contains("no skill is to be written"), "{trace}");
    assert!(library.join("library.db").exists() && !place.path("learned").exists());
}

#[test]
fn a_trace_is_written_over_no_other_file_and_by_no_run_that_cannot_begin() {
    let place = Place::empty();
    services(&place, |text| text.replace("apprentice.gguf", "no.gguf"));
    let file = place.path("run.toml").display().to_string();
    let tasks = fs::read(place.path("tasks.jsonl")).unwrap();
    let refused = place.path("tasks.jsonl").display().to_string();
    place
        .run(&["run", &file, "--trace", &refused])
        .failed(1, "holds something else than a trace");
    assert_eq!(fs::read(place.path("tasks.jsonl")).unwrap(), tasks);
    // Told before the model is missed.
    let nowhere = place.path("no/trace.txt").display().to_string();
    place
        .run(&["run", &file, "--trace", &nowhere])
        .failed(5, &nowhere);
    // A run that cannot begin leaves the trace of the one before.
    let older = "trace of journeyman run\nolder\n";
    fs::write(place.path("trace.txt"), older).unwrap();
    let trace = place.path("trace.txt").display().to_string();
    place
        .run(&["run", &file, "--trace", &trace])
        .failed(3, "no.gguf");
    assert_eq!(fs::read_to_string(&trace).unwrap(), older);
}

#[test]
fn a_trace_into_a_pipe_whose_reader_goes_does_not_stop_the_run() {
    let place = Place::empty();
    services(&place, |text| text);
    fewer(&place, 1);
    let file = place.path("run.toml").display().to_string();
    let pipe = place.path("pipe");
    let pipe = pipe.to_str().unwrap();
    let made = Command::new("mkfifo").arg(pipe).status().unwrap();
    assert!(made.success());
    let mut reader = Command::new("head")
        .args(["-c", "30", pipe])
        .spawn()
        .unwrap();
    let ran = place.run(&["run", &file, "--trace", pipe]).done();
    assert!(reader.wait().unwrap().success());
    assert!(ran.err.contains("the trace ends here"), "{}", ran.err);
}

#[test]
fn a_trace_on_a_full_disk_ends_the_run_before_it_begins() {
    let place = Place::empty();
    services(&place, |text| text);
    let file = place.path("run.toml").display().to_string();
    let ran = place.run(&["run", &file, "--trace", "/dev/full"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("  path: /dev/full\n"), "{}", ran.err);
    assert!(!ran.err.contains("measuring"), "{}", ran.err);
}

#[test]
fn a_model_whose_context_is_too_short_for_every_prompt_is_refused() {
    let place = Place::empty();
    services(&place, |text| {
        text.replace("[model]\n", "[model]\ncontext = 32\n")
    });
    let file = place.path("run.toml").display().to_string();
    // What was told of the model comes first.
    let ran = place.run(&["run", &file]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let said = "error: no attempt could be judged: the prompts do not fit the model's context";
    assert!(ran.err.contains(said), "{}", ran.err);
    assert!(ran.err.contains("context: 32\n"), "{}", ran.err);
}

#[test]
fn a_run_that_cannot_begin_says_why_and_leaves_no_library_of_learned_skills() {
    let place = Place::empty();
    let file = place.path("run.toml").display().to_string();
    let cases: [(&str, &str, i32, &str); 5] = [
        (
            "program = \"python3\"",
            "program = \"no-such-program\"",
            3,
            "no-such-program",
        ),
        ("gguf = ", "gguf = \"/nowhere.gguf\" # ", 3, "/nowhere.gguf"),
        (
            "gguf = ",
            "name = \"m\" # ",
            1,
            "the model is named twice or not at all",
        ),
        (
            "[model]",
            "[model]\nname = \"m\"\nserver = \"http://127.0.0.1:9/v1\"",
            1,
            "the model is named twice or not at all",
        ),
        // A file of an earlier version.
        ("gguf = ", "dialect = \"apprentice\"\ngguf = ", 1, "is gone"),
    ];
    for (from, to, code, said) in cases {
        services(&place, |text| text.replace(from, to));
        place.run(&["run", &file]).failed(code, said);
    }
    services(&place, |text| {
        let model = text.lines().find(|line| line.starts_with("gguf = "));
        let server = "server = \"http://127.0.0.1:9/v1\"\nname = \"m\"";
        text.replace(model.unwrap(), server)
    });
    place.run(&["run", &file]).failed(5, "127.0.0.1:9");
}

/// A run's file for the MCP server of a service, and its tasks, two of them held out.
pub(crate) fn mcp(place: &Place, argument: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let child = here.join("tests/children/services_mcp.py");
    let model = here.join("../../tests/lab/apprentice/apprentice.gguf");
    let file = format!(
        "name = \"services\"\nlibrary = \"learned\"\ntasks = \"tasks.jsonl\"\nheld_out = 2\nsteps = 4\n\n\
         [model]\ngguf = {model:?}\n\n\
         [world]\nprotocol = \"mcp\"\nprogram = \"python3\"\narguments = [{child:?}{argument}]\ntrusted = true\n\
         deterministic = true\n"
    );
    fs::write(place.path("run.toml"), file).unwrap();
    let words = [
        "go and repair the needle",
        "the crew asks you to repair the needle by the loom",
        "before lunch repair the needle near the plate",
        "here is the needle beside the hinge please repair it",
        "someone should repair the needle beside the grain now",
    ];
    let tasks = words.iter().enumerate().map(|(n, words)| {
        let phase = 30 + 4 * n;
        json!({"id": format!("t{n}"), "instruction": format!("{words} with phase {phase}"),
            "expect": {"calls": [{"tool": "repair_needle", "arguments": {"phase": phase}}]}})
    });
    let tasks: Vec<String> = tasks.map(|task| task.to_string()).collect();
    fs::write(place.path("tasks.jsonl"), tasks.join("\n")).unwrap();
    place.path("run.toml").display().to_string()
}

#[test]
fn a_run_learns_from_approved_tools_of_an_mcp_server() {
    let place = Place::empty();
    let file = mcp(&place, "");
    // Nobody has approved the tools yet.
    place.run(&["run", &file]).failed(3, "approve-tools");
    let approved = place.json(&["run", &file, "--approve-tools"]).done();
    assert_eq!(approved.json()["approved"], 3);
    documented("`run --approve-tools`", &approved.json());
    assert!(
        approved.err.contains("repair needle phase #"),
        "{}",
        approved.err
    );
    let ran = place.json(&["run", &file, "--seed", "5"]).done();
    let told = ran.json();
    for when in ["before", "after"] {
        assert_eq!(
            (&told[when]["judged"], &told[when]["faults"]),
            (&2.into(), &0.into()),
            "{told}"
        );
    }
    assert!(told["after"]["with_skill"].as_u64().unwrap() > 0, "{told}");
    let difference = told["after_less_before"]["score"]["mean"].as_f64().unwrap();
    assert!(difference > 0.0, "{told}");
    // A definition that changed is named, and its tool is blocked; the rest goes on.
    mcp(&place, ", \"changed\"");
    let changed = place.run(&["run", &file, "--only-measure"]).done();
    assert!(changed.err.contains("repair_beacon"), "{}", changed.err);
    assert!(changed.err.contains("--approve-tools"), "{}", changed.err);
}
