//! Tests without a model: the run's file and its tasks.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use journeyman::{ErrorKind, Result, domain::Trust, recipe::Recipe, stations::select::Nothing};
use journeyman_llama_cpp::GpuLayers;
use journeyman_mcp::McpServer;
use journeyman_process::ProcessConfig;
use tempfile::TempDir;

use super::{
    form::{Form, HeldOut, RUN},
    model_form::ModelForm,
    tasks::Tasks,
};
use crate::{
    model::layers::{self, Layers},
    tests::{faults, is_published, root},
    toml_file::Source,
    world::{Protocol, WorldConfig},
};

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
    part(&Form::read(&source)?, &source)
}

/// Two arms, of which the second one in the file's order comes first by its name.
const ARMS: &str = r#"
[arms.skilled]

[arms.plain]
library = "nothing"
seed = 4
set = { "attempts.group" = 7, "select.skill_tokens" = 30 }
unset = ["select.withhold"]

[arms.plain.model]
gguf = "other.gguf"

[arms.plain.model_for.gate]
gguf = "gate.gguf"
"#;

fn process(form: &Form, source: &Source<'_>) -> Result<ProcessConfig> {
    match form.world(source, source.path.parent().unwrap())? {
        WorldConfig::Process(config) => Ok(config),
        WorldConfig::Mcp { .. } => panic!("an MCP server"),
    }
}

#[test]
fn another_model_acts_and_the_other_jobs_keep_theirs() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run.toml");
    let acted = |model: &str, jobs: &str| {
        let text = SMALL.replace("gguf = \"model.gguf\"", model) + jobs;
        fs::write(&path, text).unwrap();
        let source = Source::read(RUN, &path).unwrap();
        let mut form = Form::read(&source).unwrap();
        form.act_with(&source, "other").unwrap();
        let jobs = form.jobs(&source).unwrap().into_iter();
        let jobs: Vec<ModelForm> = jobs.map(|job| job.model.get_ref().clone()).collect();
        (form.model.get_ref().clone(), jobs)
    };
    let own = "gguf = \"model.gguf\"\nadapter = \"own.gguf\"\ntemplate = \"chatml\"\nthreads = 2";
    let (agent, jobs) = acted(own, "\n[model_for.writers]\nadapter = \"writes.gguf\"\n");
    let expect = ModelForm {
        // As seen from the current folder.
        gguf: Some(std::path::absolute("other").unwrap()),
        threads: Some(2),
        ..ModelForm::default()
    };
    assert_eq!(agent, expect);
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].gguf.as_deref(), Some(Path::new("model.gguf")));
    assert_eq!(jobs[0].adapter.as_deref(), Some("writes.gguf"));
    let (agent, jobs) = acted("server = \"http://127.0.0.1:9/v1\"\nname = \"m\"", "");
    let server = (agent.server.as_deref(), agent.name.as_deref());
    assert_eq!(server, (Some("http://127.0.0.1:9/v1"), Some("other")));
    assert!(agent.gguf.is_none() && jobs.is_empty());
}

#[test]
fn an_mcp_server_is_a_program_or_a_url() {
    let checked = |text: &str| {
        read(text, |form, source| {
            let folder = source.path.parent().unwrap().to_owned();
            match form.world(source, &folder)? {
                WorldConfig::Mcp { config, approved } => {
                    Ok((config, approved.strip_prefix(folder).unwrap().to_owned()))
                }
                WorldConfig::Process(_) => panic!("a process"),
            }
        })
    };
    let program = "program = \"python3\"";
    let child = format!("protocol = \"mcp\"\n{program}\nrequest_seconds = 3");
    let (config, approved) = checked(&SMALL.replace(program, &child)).unwrap();
    assert!(matches!(config.server, McpServer::Process(_)) && !config.deterministic);
    assert_eq!(config.request_limit.as_secs(), 3);
    assert_eq!(approved.to_str(), Some("approved-tools.json"));
    let url = "protocol = \"mcp\"\nurl = \"http://127.0.0.1:9/mcp\"";
    let more = format!("{url}\napproved = \"read.json\"\ndeterministic = true");
    let (config, approved) = checked(&SMALL.replace(program, &more)).unwrap();
    assert!(matches!(config.server, McpServer::Http(_)) && config.deterministic);
    assert_eq!(approved.to_str(), Some("read.json"));
    for (text, variable) in [
        (format!("{url}\n{program}"), None),
        ("protocol = \"mcp\"".to_owned(), None),
        ("protocol = \"process\"".to_owned(), None),
        (format!("{program}\napproved = \"read.json\""), None),
        (
            format!("{url}\ntoken_variable = \"JOURNEYMAN_NO_SUCH\""),
            Some("JOURNEYMAN_NO_SUCH"),
        ),
    ] {
        let error = checked(&SMALL.replace(program, &text)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert_eq!(error.fact("line"), Some("9"), "{text}");
        assert_eq!(error.fact("variable"), variable, "{text}");
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let checked = |form: &Form, source: &Source<'_>| {
        assert_eq!(form.name(source)?, "shop");
        assert_eq!(
            form.recipe(source, Path::new("."))?,
            journeyman::recipe::standard()
        );
        let world = process(form, source)?;
        assert_eq!(world.program.to_str(), Some("python3"));
        assert_eq!(world.folder.as_deref(), source.path.parent());
        assert_eq!(world.trust, Trust::Untrusted);
        assert!(world.environment.is_empty() && world.arguments.is_empty());
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
        let recipe = form.recipe(source, Path::new("."))?;
        assert_eq!(recipe.attempts.group.get(), 7);
        assert_ne!(recipe.select.selector, Nothing.into());
        assert!(matches!(form.held_out.get_ref(), HeldOut::File(_)));
        let folder = source.path.parent().unwrap();
        let world = process(form, source)?;
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
fn the_keys_of_an_arm_stand_in_the_place_of_the_files_own() {
    let own = "held_out = 2\nseed = 3\nunset = [\"select.skill_tokens\"]\n\
               set = { \"attempts.group\" = 3, \"attempts.warm_up\" = 5, \
               \"select.skill_tokens\" = 90, \"select.withhold\" = { share = 0.5 } }";
    let jobs = "[model_for.writers]\ngguf = \"writes.gguf\"\n[world]";
    let text = SMALL.replace("held_out = 2", own).replace("[world]", jobs) + ARMS;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run.toml");
    fs::write(&path, text).unwrap();
    let source = Source::read(RUN, &path).unwrap();
    let read = || Form::read(&source).unwrap();
    assert!(read().has_arms());
    let arms = read().two_arms(&source).unwrap();
    assert_eq!(arms, ["skilled", "plain"]);
    let of_arm = |arm: &str| {
        let form = read().of_arm(&source, arm).unwrap();
        let recipe = form.recipe(&source, folder.path()).unwrap();
        let group = recipe.attempts.group.get();
        assert_eq!(form.name(&source).unwrap(), "shop");
        assert_eq!(recipe.attempts.warm_up, 5, "what the arm does not name");
        assert!(!form.has_arms());
        let tokens = recipe.select.skill_tokens.map(|tokens| tokens.get());
        let share = recipe.select.withhold.map(|withhold| withhold.share);
        let jobs = form.jobs(&source).unwrap().into_iter();
        let jobs: Vec<String> = jobs.map(|job| job.name).collect();
        let gguf = form.model.get_ref().gguf.clone();
        let file = (form.library, form.seed, gguf, jobs.join(" "));
        (file, (group, tokens, share))
    };
    let path = |name: &str| Some(PathBuf::from(name));
    let (file, recipe) = of_arm("plain");
    let jobs = "writers gate".to_owned();
    assert_eq!(file, (path("nothing"), Some(4), path("other.gguf"), jobs));
    assert_eq!(recipe, (7, Some(30), None));
    let (file, recipe) = of_arm("skilled");
    let jobs = "writers".to_owned();
    assert_eq!(file, (None, Some(3), path("model.gguf"), jobs));
    assert_eq!(recipe, (3, None, Some(0.5)));
    assert!(read().of_arm(&source, "other").is_err());
}

#[test]
fn what_an_arm_sets_holds_against_a_longer_and_a_shorter_path_of_the_file() {
    let check = |own: &str, arm: &str, holds: fn(&Recipe) -> bool| {
        let text = SMALL.replace("held_out = 2", &format!("held_out = 2\n{own}"));
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("run.toml");
        fs::write(&path, format!("{text}\n[arms.other]\n{arm}\n")).unwrap();
        let source = Source::read(RUN, &path).unwrap();
        let form = Form::read(&source).unwrap().of_arm(&source, "other");
        let recipe = form.unwrap().recipe(&source, folder.path()).unwrap();
        assert!(holds(&recipe), "{own} and then {arm}");
    };
    check(
        "set = { \"maintenance.budget.attempts\" = 3 }",
        "set = { \"maintenance.budget\" = { attempts = 50 } }",
        |recipe| recipe.maintenance.budget.attempts == Some(50),
    );
    check(
        "set = { \"select.selector\" = { name = \"top\" }, \"select.selector.options.limit\" = 3 }",
        "set = { \"select.selector\" = { name = \"random\" } }",
        |recipe| recipe.select.selector.name == "random",
    );
    check(
        "set = { \"select.withhold\" = { share = 0.5 } }\nunset = [\"select.withhold\"]",
        "set = { \"select.withhold.share\" = 0.25 }",
        |recipe| {
            let withhold = recipe.select.withhold;
            withhold.is_some_and(|withhold| withhold.share == 0.25)
        },
    );
}

#[test]
fn two_arms_are_compared_and_another_number_is_refused_with_what_to_do() {
    let arms = |names: &[&str]| {
        let tables = names.iter().map(|name| format!("\n[arms.{name}]\n"));
        let text = SMALL.to_owned() + &tables.collect::<String>();
        read(&text, |form, source| form.two_arms(source))
    };
    assert_eq!(arms(&["b", "a"]).unwrap(), ["b", "a"]);
    for (names, says, hint) in [
        (&[][..], "the file has 0", "write two tables `[arms.NAME]`"),
        (
            &["a"][..],
            "the file has 1",
            "another file behind `--compare`",
        ),
        (
            &["a", "b", "c"][..],
            "the file has 3",
            "leave two in the file",
        ),
    ] {
        let error = arms(names).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains(says), "{error}");
        assert!(error.hint_text().unwrap().contains(hint), "{error}");
    }
    let error = arms(&["a", "\"-b\""]).unwrap_err();
    assert_eq!(error.fact("line"), Some("14"), "{error}");
    assert!(error.message().contains("not a name for an arm"), "{error}");
}

#[test]
fn each_refusal_names_its_line() {
    let whole = |form: &Form, source: &Source<'_>| {
        form.name(source)?;
        form.recipe(source, Path::new("."))?;
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
        (
            "program = \"python3\"",
            "program = \"python3\"\n[arms.a]\nname = \"b\"",
            "12",
        ),
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
    let options = "maintenance.programs.micro.program.options.bundels";
    let wrong = format!("held_out = 2\nrecipe = \"hisme\"\nset.{options} = 1");
    let error = read(&SMALL.replace("held_out = 2", &wrong), whole).unwrap_err();
    let said = "unknown field `bundels`, expected one of `bundles`";
    assert!(error.message().contains(said), "{error}");
    assert_eq!(error.fact("policy"), Some("micro"));
}

fn tasks(text: &str, held_out: &HeldOut) -> Result<Tasks> {
    tasks_for(text, held_out, true)
}

fn tasks_for(text: &str, held_out: &HeldOut, learns: bool) -> Result<Tasks> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("tasks.jsonl"), text).unwrap();
    fs::write(
        folder.path().join("other.jsonl"),
        "{\"id\": \"z\", \"instruction\": \"Do z.\"}\n",
    )
    .unwrap();
    Tasks::read(
        folder.path(),
        "tasks.jsonl".as_ref(),
        held_out,
        Protocol::Process,
        learns,
    )
}

#[test]
fn tasks_say_what_they_expect_exactly_for_mcp_servers() {
    let folder = TempDir::new().unwrap();
    let line = |id: &str, expect: &str| {
        format!("{{\"id\": \"{id}\", \"instruction\": \"Do it.\"{expect}}}\n")
    };
    let due = ", \"expect\": {\"calls\": [{\"tool\": \"close\"}]}";
    let read = |expect: &str, protocol| {
        let text = line("a", due) + &line("b", expect);
        let text = match protocol {
            Protocol::Mcp => text,
            Protocol::Process => text.replace(due, ""),
        };
        fs::write(folder.path().join("tasks.jsonl"), text).unwrap();
        Tasks::read(
            folder.path(),
            "tasks.jsonl".as_ref(),
            &HeldOut::Last(1),
            protocol,
            true,
        )
    };
    let told = ", \"expect\": {\"message\": [\"done\"]}";
    assert_eq!(read(told, Protocol::Mcp).unwrap().expected.len(), 2);
    assert!(read("", Protocol::Process).unwrap().expected.is_empty());
    for (expect, protocol) in [
        ("", Protocol::Mcp),
        (", \"expect\": {}", Protocol::Mcp),
        (", \"expect\": {\"message\": [\"\"]}", Protocol::Mcp),
        (
            ", \"expect\": {\"calls\": [{\"name\": \"x\"}]}",
            Protocol::Mcp,
        ),
        (", \"expect\": {\"message\": [\"done\"]}", Protocol::Process),
    ] {
        let error = read(expect, protocol).unwrap_err();
        assert_eq!(error.fact("line"), Some("2"), "{expect}: {error}");
    }
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
    // A measurement alone needs no task to learn from.
    let measured = |count| tasks_for(three, &HeldOut::Last(count), false);
    assert_eq!(measured(3).unwrap().held_out.len(), 3);
    assert_eq!(measured(4).unwrap_err().kind(), ErrorKind::Invalid);
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

#[test]
fn the_published_schema_is_that_of_the_files_form() {
    let schema = schemars::schema_for!(Form);
    is_published(&schema, "run.schema.json");
    let shipped = fs::read_to_string(root().join("examples/services/run.toml")).unwrap();
    let with_arms = SMALL.to_owned() + ARMS;
    for text in [SMALL, &shipped, &with_arms] {
        assert_eq!(faults(&schema, text), Vec::<String>::new(), "{text}");
        assert!(read(text, |_, _| Ok(())).is_ok());
    }
    for (from, to) in [
        ("held_out = 2", "held_out = true"),
        ("held_out = 2", "held_out = 2\nheldout = 3"),
        ("[world]", "[world]\nprotocol = \"http\""),
        ("program =", "programs ="),
        ("gguf = \"model.gguf\"", "context = \"long\""),
        ("name = \"shop\"", ""),
        ("[world]", "[arms.a]\nname = \"b\"\n[world]"),
    ] {
        let text = SMALL.replace(from, to);
        let is_refused = read(&text, |form, source| {
            form.world(source, std::path::Path::new(".")).map(drop)
        });
        assert!(is_refused.is_err(), "{text}");
        assert!(!faults(&schema, &text).is_empty(), "{text}");
    }
}

#[test]
fn the_values_of_variables_that_say_so_are_secrets() {
    let text = SMALL.replace(
        "program = \"python3\"",
        "program = \"python3\"\nenvironment = { SHOP_TOKEN = \"the-blue-door\", api_key = \"no\", MAX_TOKENS = \"a-thousand\", SHOP = \"the-red-door\" }",
    );
    let (redactor, process) = read(&text, |form, source| {
        Ok((form.redactor(), process(form, source)))
    })
    .unwrap();
    // What the process says before it dies is hidden too.
    for redactor in [redactor, process.unwrap().redactor] {
        let said = redactor.redact("no, the-blue-door of a-thousand is not the-red-door");
        assert_eq!(
            said,
            "no, [redacted: named secret] of a-thousand is not the-red-door"
        );
    }
}

#[test]
fn layers_on_gpus_are_named_as_on_the_command_line() {
    let of_file = |named: &str| {
        let lines = format!("gpu_layers = {named}\nbackends = \"ggml\"");
        let text = SMALL.replace("\n[world]", &format!("{lines}\n\n[world]"));
        read(&text, |form, _| {
            let model = form.model.get_ref();
            assert_eq!(model.backends.as_deref(), Some(Path::new("ggml")));
            Ok(model.gpu_layers)
        })
    };
    for (named, expect) in [
        ("\"none\"", GpuLayers::None),
        ("\"all\"", GpuLayers::All),
        ("\"fit\"", GpuLayers::Fit),
        ("0", GpuLayers::None),
        ("20", GpuLayers::Count(20)),
    ] {
        assert_eq!(of_file(named).unwrap(), Some(Layers(expect)), "{named}");
        let option = layers::named(named.trim_matches('"'));
        assert_eq!(option, Ok(expect), "{named}");
    }
    for wrong in ["\"some\"", "\"20\"", "-1", "4294967296", "1.5", "true"] {
        let error = of_file(wrong).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{wrong}");
        assert_eq!(error.fact("line"), Some("8"), "{wrong}: {error}");
        assert_eq!(error.fact("key"), Some("gpu_layers"), "{wrong}: {error}");
        let said = "expected `none`, `all`, `fit` or a number";
        assert!(error.message().contains(said), "{wrong}: {error}");
    }
    assert!(layers::named("some").is_err());
}

/// The jobs of a file with these lines behind `[model]`, each with its model's file, server and adapter.
fn jobs(lines: &str) -> Result<Vec<(String, [Option<String>; 3])>> {
    let text = SMALL.replace("\n[world]", &format!("{lines}\n\n[world]"));
    read(&text, |form, source| {
        let jobs = form.jobs(source)?.into_iter().map(|job| {
            let model = job.model.into_inner();
            let file = model.gguf.map(|file| file.display().to_string());
            (job.name, [file, model.server, model.adapter])
        });
        Ok(jobs.collect())
    })
}

#[test]
fn each_job_may_have_a_model_of_its_own() {
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(jobs("").unwrap(), []);
    let named = jobs(
        "adapter = \"agent.gguf\"\n[model_for.extract]\nserver = \"http://x/v1\"\nname = \"y\"\n\
         [model_for.gate]\nadapter = \"gate.gguf\"\n[model_for.writers]\ngguf = \"large.gguf\"\n[model_for.judge]",
    );
    let expected = [
        ("writers", [text("large.gguf"), None, None]),
        // The model of [model], without its adapter.
        ("judge", [text("model.gguf"), None, None]),
        // A role comes behind its group, whose model it has not.
        ("extract", [None, text("http://x/v1"), None]),
        ("gate", [text("model.gguf"), None, text("gate.gguf")]),
    ];
    let expected = expected.map(|(name, model)| (name.to_owned(), model));
    assert_eq!(named.unwrap(), expected);
}

#[test]
fn a_job_that_nobody_knows_is_refused_with_its_line_and_the_known_ones() {
    for (lines, says, hint) in [
        (
            "[model_for.writer]\ngguf = \"x\"",
            "`writer`",
            "writers, judge, curator, router",
        ),
        ("[model_for.agent]\ngguf = \"x\"", "the agent's", "[model]"),
        ("[model_for.gate]\ncontext = 7", "not named", "`gguf`"),
    ] {
        let error = jobs(lines).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{lines}");
        assert_eq!(error.fact("line"), Some("8"), "{lines}: {error}");
        assert!(error.message().contains(says), "{error}");
        assert!(error.hint_text().unwrap().contains(hint), "{error}");
    }
}

#[test]
fn the_dialect_of_earlier_files_is_refused_with_its_line_and_what_to_do() {
    let deleted = "delete this line";
    let bundled = "tests/lab/apprentice/apprentice.gguf";
    for (lines, line, says, hint) in [
        ("dialect = \"chat\"", "8", "used by chat", deleted),
        ("dialect = 7", "8", "used by chat", deleted),
        ("dialect = \"apprentice\"", "8", "is gone", bundled),
        (
            "[model_for.gate]\ngguf = \"x\"\ndialect = \"apprentice\"",
            "10",
            "is gone",
            deleted,
        ),
        (
            "[model_for.writers]\ndialect = \"chat\"\ngguf = \"x\"",
            "9",
            "used by chat",
            deleted,
        ),
    ] {
        let error = jobs(lines).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{lines}");
        assert_eq!(error.fact("line"), Some(line), "{lines}: {error}");
        assert_eq!(error.fact("key"), Some("dialect"), "{lines}: {error}");
        assert!(error.message().contains(says), "{error}");
        assert!(error.hint_text().unwrap().contains(hint), "{error}");
    }
    // Nothing that was learned is lost with it.
    let gone = jobs("dialect = \"apprentice\"").unwrap_err();
    let hint = gone.hint_text().unwrap();
    assert!(
        hint.contains(deleted) && hint.contains("the library stays usable"),
        "{hint}"
    );
    // Another fault of the file is told as ever, and does not offer the key.
    let error = jobs("dialekt = \"chat\"").unwrap_err();
    assert!(
        error.message().contains("unknown field `dialekt`"),
        "{error}"
    );
    assert!(!error.message().contains("`dialect`"), "{error}");
}
