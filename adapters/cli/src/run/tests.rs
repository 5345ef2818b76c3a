//! Tests without a model: the run's file and its tasks.
#![allow(clippy::unwrap_used)]

use std::fs;

use journeyman::{ErrorKind, Result, domain::Trust, select::Selector};
use tempfile::TempDir;

use super::{
    form::{DialectForm, Form, HeldOut, RUN},
    tasks::Tasks,
};
use crate::toml_file::Source;

const SMALL: &str = r#"
name = "shop"
tasks = "tasks.jsonl"
held_out = 2

[model]
gguf = "model.gguf"

[world]
program = "python3"
"#;

/// A form's part, of a file of this text.
fn read<T>(text: &str, part: impl FnOnce(&Form, &Source<'_>) -> Result<T>) -> Result<T> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run.toml");
    fs::write(&path, text).unwrap();
    let source = Source::read(RUN, &path)?;
    part(&source.form()?, &source)
}

#[test]
fn what_is_left_out_has_its_default() {
    let checked = |form: &Form, source: &Source<'_>| {
        assert_eq!(form.name(source)?, "shop");
        assert_eq!(form.recipe(source)?, journeyman::recipe::standard());
        let world = form.world(source, source.path.parent().unwrap())?;
        assert_eq!(world.program.to_str(), Some("python3"));
        assert_eq!(world.folder.as_deref(), source.path.parent());
        assert_eq!(world.trust, Trust::Untrusted);
        assert!(world.environment.is_empty() && world.arguments.is_empty());
        assert_eq!(form.model.get_ref().dialect, DialectForm::Chat);
        assert!(matches!(form.held_out.get_ref(), HeldOut::Last(2)));
        Ok(())
    };
    read(SMALL, checked).unwrap();
}

#[test]
fn recipe_and_world_are_set_by_the_file() {
    let text = SMALL
        .replace(
            "held_out = 2",
            "held_out = \"other.jsonl\"\nrecipe = \"arise\"\nset = { \"attempts.group\" = 7 }",
        )
        .replace(
            "program = \"python3\"",
            "program = \"bin/world\"\ntrusted = true\npass = [\"PATH\"]\nenvironment = { A = \"b\" }\nrequest_seconds = 3",
        );
    let checked = |form: &Form, source: &Source<'_>| {
        let recipe = form.recipe(source)?;
        assert_eq!(recipe.attempts.group.get(), 7);
        assert_ne!(recipe.select.selector, Selector::Nothing);
        assert!(matches!(form.held_out.get_ref(), HeldOut::File(_)));
        let folder = source.path.parent().unwrap();
        let world = form.world(source, folder)?;
        assert_eq!(world.program, folder.join("bin/world"));
        assert_eq!(world.trust, Trust::Trusted);
        assert_eq!(world.request_limit.as_secs(), 3);
        let names: Vec<_> = world
            .environment
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["A", "PATH"]);
        Ok(())
    };
    read(&text, checked).unwrap();
}

#[test]
fn each_refusal_names_its_line() {
    let whole = |form: &Form, source: &Source<'_>| {
        form.name(source)?;
        form.recipe(source)?;
        form.world(source, source.path.parent().unwrap()).map(drop)
    };
    for (from, to, line) in [
        ("name = \"shop\"", "name = \"My shop\"", "2"),
        ("held_out = 2", "held_out = 2\nrecipe = \"none\"", "5"),
        (
            "held_out = 2",
            "held_out = 2\nset = { \"attempts.grup\" = 7 }",
            "5",
        ),
        (
            "held_out = 2",
            "held_out = 2\nunset = [\"attempts.grup\"]",
            "5",
        ),
        ("gguf =", "ggfu =", "7"),
        ("held_out = 2", "held_out = 2.5", "4"),
    ] {
        let error = read(&SMALL.replace(from, to), whole).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{to}");
        assert_eq!(error.fact("line"), Some(line), "{to}: {error}");
        assert!(error.hint_text().is_some(), "{to}");
    }
    let absent = SMALL.replace(
        "\"python3\"",
        "\"python3\"\npass = [\"JOURNEYMAN_NO_SUCH\"]",
    );
    let error = read(&absent, whole).unwrap_err();
    assert_eq!(error.fact("variable"), Some("JOURNEYMAN_NO_SUCH"));
}

fn tasks(text: &str, held_out: &HeldOut) -> Result<Tasks> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("tasks.jsonl"), text).unwrap();
    fs::write(
        folder.path().join("other.jsonl"),
        "{\"id\": \"z\", \"instruction\": \"Do z.\"}\n",
    )
    .unwrap();
    Tasks::read(folder.path(), "tasks.jsonl".as_ref(), held_out)
}

#[test]
fn the_last_tasks_or_another_file_are_held_out() {
    let three = "{\"id\": \"a\", \"instruction\": \"Do a.\", \"category\": \"x\", \"payload\": [1]}\n\n\
         {\"id\": \"b\", \"instruction\": \"Do b.\", \"tags\": [\"t\"]}\n{\"id\": \"c\", \"instruction\": \"Do c.\"}";
    let ids = |tasks: &[journeyman::domain::Task]| -> Vec<String> {
        tasks.iter().map(|task| task.id.to_string()).collect()
    };
    let last = tasks(three, &HeldOut::Last(1)).unwrap();
    assert_eq!(
        (ids(&last.stream), ids(&last.held_out)),
        (vec!["a".into(), "b".into()], vec!["c".into()])
    );
    assert_eq!(last.stream[0].payload, serde_json::json!([1]));
    assert_eq!(last.stream[1].tags, ["t"]);
    let other = tasks(three, &HeldOut::File("other.jsonl".into())).unwrap();
    assert_eq!(
        (other.stream.len(), ids(&other.held_out)),
        (3, vec!["z".to_owned()])
    );
    for count in [0, 3, 9] {
        assert_eq!(
            tasks(three, &HeldOut::Last(count)).unwrap_err().kind(),
            ErrorKind::Invalid
        );
    }
    let absent = tasks(three, &HeldOut::File("absent.jsonl".into())).unwrap_err();
    assert_eq!(absent.kind(), ErrorKind::NotFound);
}

#[test]
fn a_line_that_is_no_task_is_refused_with_its_number_and_without_its_content() {
    let first = "{\"id\": \"a\", \"instruction\": \"Do a.\"}\n";
    for line in [
        "not JSON, hunter2",
        "{\"id\": \"b\"}",
        "{\"id\": \"b\", \"instruction\": \"Do.\", \"hunter2\": 1}",
        "{\"id\": \"\", \"instruction\": \"hunter2\"}",
        "{\"id\": \"a\", \"instruction\": \"hunter2\"}",
    ] {
        let error = tasks(&format!("{first}{line}\n"), &HeldOut::Last(1)).unwrap_err();
        assert_eq!(error.fact("line"), Some("2"), "{line}");
        assert!(!format!("{error:?} {error}").contains("hunter2"), "{error}");
    }
}
