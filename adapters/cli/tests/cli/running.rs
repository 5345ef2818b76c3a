//! `journeyman run` with the bundled model in the Python world of `examples/services`.

use std::{fs, path::Path};

use crate::support::Place;

/// A run's file in the place: the first tasks of `examples/services`, six of them held out.
fn services(place: &Place, change: impl Fn(String) -> String) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .canonicalize()
        .unwrap();
    let at = |path: &str| examples.join(path).display().to_string();
    let text = fs::read_to_string(examples.join("services/run.toml")).unwrap();
    let text = text
        .replace("../../out/services", "learned")
        .replace("held_out = 24", "held_out = \"held-out.jsonl\"")
        .replace(
            "../apprentice/apprentice.gguf",
            &at("apprentice/apprentice.gguf"),
        )
        .replace("services.py", &at("services/services.py"))
        .replace(
            "../../adapters/process/python",
            &at("../adapters/process/python"),
        );
    fs::write(place.path("run.toml"), change(text)).unwrap();
    let tasks = fs::read_to_string(examples.join("services/tasks.jsonl")).unwrap();
    let lines: Vec<&str> = tasks.lines().collect();
    fs::write(place.path("tasks.jsonl"), lines[..12].join("\n")).unwrap();
    fs::write(place.path("held-out.jsonl"), lines[36..42].join("\n")).unwrap();
}

#[test]
fn a_run_learns_in_a_world_in_python_and_measures_before_and_after() {
    let place = Place::empty();
    services(&place, |text| text);
    let file = place.path("run.toml").display().to_string();
    let ran = place.json(&["run", &file, "--seed", "3"]).done();
    assert!(ran.err.contains("[12/12]"), "{}", ran.err);
    assert!(ran.err.contains("    learned "), "{}", ran.err);
    let told = ran.json();
    let difference = &told["after_less_before"]["score"];
    assert_eq!(
        (&told["seed"], &difference["pairs"]),
        (&3.into(), &6.into())
    );
    assert!(difference["mean"].as_f64().unwrap() > 0.0, "{told}");
    for when in ["before", "after"] {
        assert_eq!(told[when]["judged"], 6, "{told}");
        assert_eq!(told[when]["faults"], 0, "{told}");
    }
    assert_eq!(told["before"]["with_skill"], 0);
    assert!(told["after"]["with_skill"].as_u64().unwrap() > 0, "{told}");
    // What was learned is in the library for the next run, which measures alone.
    let again = place.run(&["run", &file, "--only-measure"]).done();
    assert!(again.out.contains("NOW"), "{}", again.out);
    assert!(!again.err.contains("learning"), "{}", again.err);
}

#[test]
fn a_run_that_cannot_begin_says_why_and_leaves_no_library_of_learned_skills() {
    let place = Place::empty();
    let file = place.path("run.toml").display().to_string();
    let cases: [(&str, &str, i32, &str); 4] = [
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
            "dialect = \"apprentice\"",
            "name = \"m\"\nserver = \"http://127.0.0.1:9/v1\"",
            1,
            "the model is named twice or not at all",
        ),
    ];
    for (from, to, code, said) in cases {
        services(&place, |text| text.replace(from, to));
        place.run(&["run", &file]).failed(code, said);
    }
    services(&place, |text| {
        let model = text.find("gguf").unwrap()..text.find("# Only").unwrap();
        let mut text = text;
        text.replace_range(model, "server = \"http://127.0.0.1:9/v1\"\nname = \"m\"\n");
        text.replace("dialect = \"apprentice\"", "")
    });
    place.run(&["run", &file]).failed(5, "127.0.0.1:9");
}
