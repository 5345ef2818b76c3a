//! A skill's evals as tasks of a run's world, and what judges the attempts at them.

use std::{collections::BTreeMap, sync::OnceLock};

use async_trait::async_trait;
use journeyman::{
    Error, Result, TaskId,
    agent::role::ModelJudge,
    contract::{Judge, JudgeRequest},
    domain::{FilePath, Task, Verdict},
};
use journeyman_interchange::evals::{SkillEval, SkillEvals};
use journeyman_mcp::{ExpectationJudge, Expected};
use serde_json::{Map, Value, json};

use crate::world::Protocol;

/// The operation that errors name.
pub(super) const EVALS: &str = "skill evals";

/// The texts of the files that evals name, by the paths that they name them by.
pub(super) type Files = BTreeMap<FilePath, String>;

/// The evals as tasks.
#[derive(Debug)]
pub(super) struct EvalTasks {
    pub(super) tasks: Vec<Task>,
    pub(super) judge: EvalJudge,
}

impl EvalTasks {
    /// The tasks for a world that speaks this. `has_judge` says whether the run's file names a model that judges.
    ///
    /// # Errors
    /// `Invalid` for an `expect` that a run's tasks could not have; `Unsupported` for an eval that nothing can judge in this world, or
    /// whose files it cannot be given.
    pub(super) fn of(
        evals: &SkillEvals,
        files: &Files,
        protocol: Protocol,
        has_judge: bool,
    ) -> Result<Self> {
        let mut tasks = Vec::new();
        let (mut expected, mut in_words) = (BTreeMap::new(), BTreeMap::new());
        for eval in &evals.evals {
            let mut task = Task::new(eval.id.as_str(), eval.prompt.as_str());
            if protocol == Protocol::Process {
                task.payload = payload(eval, files);
            } else if !eval.files.is_empty() {
                return Err(no_files(eval));
            } else if let Some(expect) = expect(eval)? {
                expected.insert(task.id.clone(), expect);
            } else if has_judge {
                in_words.insert(task.id.clone(), shown(eval));
            } else {
                return Err(no_judge(eval));
            }
            tasks.push(task);
        }
        let judge = EvalJudge {
            expected: ExpectationJudge::new(expected),
            in_words,
            model: OnceLock::new(),
        };
        Ok(Self { tasks, judge })
    }
}

/// Judges attempts at evals in a world that has no outcome: by what an eval expects in the form of a run's task, or else by a model,
/// which is shown what it expects in words.
#[derive(Debug)]
pub(super) struct EvalJudge {
    pub(super) expected: ExpectationJudge,
    /// The evals that expect something in words, as the model is shown them.
    in_words: BTreeMap<TaskId, Task>,
    /// The world is opened before a model is loaded.
    model: OnceLock<ModelJudge>,
}

impl EvalJudge {
    /// Number of evals that it asks a model about.
    pub(super) fn asked_of_a_model(&self) -> usize {
        self.in_words.len()
    }

    /// The model that it asks from now on.
    pub(super) fn set_model(&self, model: ModelJudge) {
        // Set once, before the first attempt.
        let _ = self.model.set(model);
    }
}

#[async_trait]
impl Judge for EvalJudge {
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict> {
        let Some(task) = self.in_words.get(&request.task.id) else {
            return self.expected.judge(request).await;
        };
        let Some(model) = self.model.get() else {
            return Ok(Verdict::undecided());
        };
        let trajectory = request.trajectory;
        model.judge(&JudgeRequest::new(task, trajectory)).await
    }
}

/// What the eval expects in the form of a run's task, where it says it so.
fn expect(eval: &SkillEval) -> Result<Option<Expected>> {
    let Some(expect) = eval.other.get("expect") else {
        return Ok(None);
    };
    let expect = serde_json::from_value::<Expected>(expect.clone()).ok();
    match expect.filter(|expect| !expect.is_empty()) {
        Some(expect) => Ok(Some(expect)),
        None => Err(
            Error::invalid(EVALS, "the eval's `expect` is not that of a run's task")
                .with("eval", &eval.id)
                .hint("write an object with `message`, a list of texts, or `calls`, each with `tool` and if wanted `arguments`"),
        ),
    }
}

/// The world's data for the task: the eval's own, or else what a world needs that sets the eval up and judges it by itself.
fn payload(eval: &SkillEval, files: &Files) -> Value {
    if !eval.payload.is_null() {
        return eval.payload.clone();
    }
    let texts = eval.files.iter().filter_map(|path| {
        let text = files.get(path)?;
        Some((path.as_str().to_owned(), Value::from(text.as_str())))
    });
    json!({
        "eval": {
            "id": eval.id,
            "expected_output": eval.expected_output,
            "assertions": eval.assertions,
            "files": texts.collect::<Map<String, Value>>(),
        }
    })
}

/// The task as the model that judges is shown it. What is expected comes first, since the end of a long task is cut off.
fn shown(eval: &SkillEval) -> Task {
    let expected = eval.expected_output.iter().chain(&eval.assertions);
    let expected: String = expected.map(|text| format!("- {text}\n")).collect();
    let text = match expected.is_empty() {
        true => eval.prompt.clone(),
        false => format!(
            "The task counts as done only where all of this holds:\n{expected}\nThe task: {}",
            eval.prompt
        ),
    };
    Task::new(eval.id.as_str(), text)
}

fn no_files(eval: &SkillEval) -> Error {
    let message = "the eval has files, and an MCP server cannot be given any";
    Error::unsupported(EVALS, message)
        .with("eval", &eval.id)
        .hint("take the eval out, or a world that speaks the process protocol: it finds the files' texts in the task's payload")
}

fn no_judge(eval: &SkillEval) -> Error {
    let message =
        "the eval says in words what it expects, and an MCP server has no outcome to go by";
    Error::unsupported(EVALS, message)
        .with("eval", &eval.id)
        .hint("name a model that judges in [model_for.judge] of the run's file, or give the eval an `expect` as a run's tasks have it")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use futures::executor::block_on;
    use journeyman::{
        ErrorKind, Seed,
        domain::{Action, EndReason, Source, Step, StepResult, Trajectory},
        testing::{
            ScriptedModel,
            conformance::{self, judge::JudgeFixture},
        },
    };
    use journeyman_interchange::evals;

    use super::*;

    fn of(file: Value, protocol: Protocol, has_judge: bool) -> Result<EvalTasks> {
        let evals = evals::read(&file.to_string()).unwrap();
        let path = FilePath::new("evals/cup.csv").unwrap();
        let files = Files::from([(path, "1,2".to_owned())]);
        EvalTasks::of(&evals, &files, protocol, has_judge)
    }

    fn one(eval: Value) -> Value {
        json!({"evals": [eval]})
    }

    #[test]
    fn a_world_that_judges_is_given_the_whole_eval_or_its_own_data() {
        let eval = json!({"id": 1, "prompt": "Pour.", "expected_output": "Full.", "assertions": ["Dry."],
            "files": ["evals/cup.csv"]});
        let made = of(one(eval.clone()), Protocol::Process, false).unwrap();
        assert_eq!(made.tasks[0].instruction, "Pour.");
        let given = &made.tasks[0].payload["eval"];
        assert_eq!(given["expected_output"], "Full.");
        assert_eq!(given["assertions"], json!(["Dry."]));
        assert_eq!(given["files"]["evals/cup.csv"], "1,2");
        let mut own = eval;
        own["payload"] = json!({"cups": 3});
        let made = of(one(own), Protocol::Process, false).unwrap();
        assert_eq!(made.tasks[0].payload, json!({"cups": 3}));
    }

    #[test]
    fn an_eval_that_nothing_can_judge_is_refused_with_what_to_do() {
        let in_words = json!({"id": 7, "prompt": "Pour.", "expected_output": "Full."});
        let refused = |eval: Value, has_judge, part: &str| {
            let error = of(one(eval), Protocol::Mcp, has_judge).unwrap_err();
            assert_eq!(error.fact("eval"), Some("7"));
            assert!(error.hint_text().unwrap().contains(part), "{error}");
            error.kind()
        };
        let kind = refused(in_words.clone(), false, "model_for.judge");
        assert_eq!(kind, ErrorKind::Unsupported);
        let mut with_files = in_words.clone();
        with_files["files"] = json!(["evals/cup.csv"]);
        let kind = refused(with_files, true, "process protocol");
        assert_eq!(kind, ErrorKind::Unsupported);
        for expect in [json!({}), json!("Full."), json!({"call": []})] {
            let mut eval = in_words.clone();
            eval["expect"] = expect;
            assert_eq!(refused(eval, true, "`calls`"), ErrorKind::Invalid);
        }
    }

    #[test]
    fn the_judge_of_evals_keeps_the_contract_of_judges() {
        let file = json!({"evals": [
            {"id": 1, "prompt": "Pour.", "expect": {"message": ["full"]}},
        ]});
        let made = of(file, Protocol::Mcp, false).unwrap();
        let task = made.tasks[0].clone();
        let attempt = |says: &str| {
            let mut attempt = Trajectory::new("a".into(), task.id.clone(), Seed(1));
            let says = Action::Message(says.to_owned());
            attempt.push(Step::new(says, StepResult::new("", Source::default())));
            attempt
        };
        let mut failed = attempt("I am about to look.");
        failed.end = EndReason::Failed(Error::invalid("test", "a part failed"));
        let fixture = JudgeFixture::new(
            task.clone(),
            vec![attempt("It is full."), attempt("It is late.")],
        )
        .with_undecidable(vec![failed]);
        let report = block_on(conformance::judge::check(&made.judge, &fixture));
        report.into_result().unwrap();
    }

    #[test]
    fn an_expectation_decides_and_words_are_the_models() {
        let file = json!({"evals": [
            {"id": 1, "prompt": "Pour.", "expect": {"message": ["full"]}},
            {"id": 2, "prompt": "Stir.", "expectations": ["It turns."]},
        ]});
        let made = of(file, Protocol::Mcp, true).unwrap();
        assert_eq!(made.judge.asked_of_a_model(), 1);
        let judged = |task: &Task| {
            let mut trajectory = Trajectory::new("a".into(), task.id.clone(), Seed(1));
            let says = Action::Message("It is full.".to_owned());
            trajectory.push(Step::new(says, StepResult::new("", Source::default())));
            trajectory.end = EndReason::Finished;
            let trajectory = &trajectory;
            let verdict = block_on(made.judge.judge(&JudgeRequest::new(task, trajectory)));
            verdict.unwrap().success()
        };
        assert_eq!(judged(&made.tasks[0]), Some(true));
        // Without a model nobody guesses.
        assert_eq!(judged(&made.tasks[1]), None);
        let says = r#"{"reason": "It stands still.", "done": "no"}"#;
        let model = ScriptedModel::answers([says]);
        made.judge.set_model(ModelJudge::new(Arc::new(model)));
        assert_eq!(judged(&made.tasks[1]), Some(false));
        let text =
            shown(&SkillEval::new("", "Stir.").with_assertions(vec!["It turns.".to_owned()]))
                .instruction;
        assert!(text.contains("- It turns.\n") && text.ends_with("The task: Stir."));
    }
}
