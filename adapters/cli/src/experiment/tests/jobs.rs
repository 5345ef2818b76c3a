use std::{fs, path::PathBuf};

use journeyman::ErrorKind;
use tempfile::tempdir;

use super::planned;
use crate::{experiment::models::used, jobs::Job};

/// A plan with an arm of these lines.
fn plan(arm: &str) -> String {
    format!(
        "name = \"jobs\"\nmodel = \"model.gguf\"\nseeds = 1\ntasks = \"tasks.jsonl\"\n[[arm]]\nname = \"one\"\n{arm}\n\n[world]\nprogram = \"python3\"\n"
    )
}

#[test]
fn an_arm_has_models_for_its_jobs_and_so_have_its_copies() {
    let text = plan(
        "recipe = \"standard\"\nmodel_for.summarize = { gguf = \"other.gguf\" }\nmodel_for.writers = { adapter = \"own.gguf\" }\n\
         model_for.agent = { gguf = \"other.gguf\", adapter = \"own.gguf\" }\n\n\
         [[sweep]]\narm = \"one\"\npath = \"attempts.group\"\nvalues = [2]",
    );
    let file = planned(&text).unwrap();
    assert_eq!(file.models.len(), 2);
    assert_eq!(file.models[0], file.models[1]);
    let named: Vec<&str> = file.models[0].iter().map(|one| one.name.as_str()).collect();
    // A role comes behind its group, whose model it has not.
    assert_eq!(named, ["writers", "summarize", "agent"]);
    assert_eq!(file.models[0][2].job, Job::Agent);
    let used = used(file.models.iter().flatten()).unwrap();
    let of = |name: Option<&str>| {
        let mut found = used
            .iter()
            .filter(|(file, _)| file.as_ref().and_then(|file| file.file_name()?.to_str()) == name);
        let (_, adapters) = found.next().unwrap();
        adapters.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(used.len(), 2);
    assert_eq!(
        (of(None), of(Some("other.gguf"))),
        (vec!["own".to_owned()], vec!["own".to_owned()])
    );
}

#[test]
fn a_job_that_is_wrong_is_refused_with_its_line() {
    for (lines, line, says) in [
        (
            "recipe = \"standard\"\nmodel_for.writer = { gguf = \"x\" }",
            "8",
            "`writer`",
        ),
        (
            "recipe = \"standard\"\nmodel_for.gate = {}",
            "8",
            "no model of its own",
        ),
        (
            "recipe = \"none\"\nmodel_for.gate = { gguf = \"x\" }",
            "8",
            "no skills",
        ),
    ] {
        let error = planned(&plan(lines)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{lines}");
        assert_eq!(error.fact("line"), Some(line), "{lines}: {error}");
        assert!(error.message().contains(says), "{lines}: {error}");
        assert!(error.hint_text().is_some(), "{lines}");
    }
    let agent = "recipe = \"none\"\nmodel_for.agent = { gguf = \"x\" }";
    assert!(planned(&plan(agent)).is_ok());
}

#[test]
fn two_adapters_of_one_name_are_refused() {
    let text = plan(
        "recipe = \"standard\"\nmodel_for.gate = { adapter = \"a/own.gguf\" }\nmodel_for.writers = { adapter = \"b/own.gguf\" }",
    );
    let file = planned(&text).unwrap();
    let error = used(file.models.iter().flatten()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.hint_text().unwrap().contains("rename"));
}

#[test]
fn the_cells_key_follows_from_the_content_of_a_jobs_adapter() {
    let folder = tempdir().unwrap();
    let own: PathBuf = folder.path().join("own.gguf");
    let text = plan(&format!(
        "recipe = \"standard\"\nmodel_for.gate = {{ adapter = {:?} }}",
        own.display().to_string()
    ));
    let file = planned(&text).unwrap();
    let tell = || {
        let mut arm = file.plan.arms[0].clone();
        let told = file.models[0][0].tell("a-model@1", &mut arm);
        told.map(|()| (arm.models["gate"].clone(), arm.description))
    };
    assert_eq!(tell().unwrap_err().kind(), ErrorKind::NotFound);
    let mut keys = Vec::new();
    for content in ["one", "two"] {
        fs::write(&own, content).unwrap();
        let (key, description) = tell().unwrap();
        assert!(
            description.ends_with(", gate by a-model@1+own"),
            "{description}"
        );
        keys.push(key);
    }
    assert_ne!(keys[0], keys[1]);
}
