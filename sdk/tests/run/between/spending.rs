//! Tokens of a learning run: every token that the model and the agent spend is in the report, in one place.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use journeyman::{
    Result, async_trait,
    contract::{
        Executor, GenerateRequest, Generation, Judge, JudgeRequest, LanguageModel,
        ModelCapabilities,
    },
    domain::{Usage, Verdict},
};

use super::*;

/// A model that counts the tokens of its answers.
#[derive(Debug)]
struct Counting {
    inner: Arc<dyn LanguageModel>,
    spent: Arc<Mutex<Usage>>,
}

#[async_trait]
impl LanguageModel for Counting {
    fn capabilities(&self) -> &ModelCapabilities {
        self.inner.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let generation = self.inner.generate(request).await?;
        let used = Usage::new(generation.prompt_tokens, generation.output_tokens);
        self.spent.lock().unwrap().add(used);
        Ok(generation)
    }
}

/// An agent each attempt of which takes 7 tokens and 1.
#[derive(Debug)]
struct Paid {
    inner: ScriptedExecutor,
    attempts: Arc<AtomicU64>,
}

#[async_trait]
impl Executor for Paid {
    async fn execute(
        &self,
        attempt: Attempt<'_>,
        episode: &mut dyn Episode,
    ) -> Result<journeyman::domain::Trajectory> {
        let mut trajectory = self.inner.execute(attempt, episode).await?;
        trajectory.usage = Usage::new(7, 1);
        self.attempts.fetch_add(1, Ordering::SeqCst);
        Ok(trajectory)
    }
}

/// A judge that cannot judge test cases.
#[derive(Debug)]
struct OfTasksAlone;

#[async_trait]
impl Judge for OfTasksAlone {
    async fn judge(&self, request: &JudgeRequest<'_>) -> Result<Verdict> {
        if request.trajectory.attempt.as_str().contains("/m") {
            let out = "the service is down";
            return Err(Error::new(ErrorKind::Unavailable, "Judge::judge", out));
        }
        EnvironmentJudge.judge(request).await
    }
}

/// Checks that a run's report has every token once, and gives the report.
fn check(script: Script, judge: Arc<dyn Judge>) -> RunReport {
    let (mut components, _) = parts(script);
    let spent: Arc<Mutex<Usage>> = Arc::default();
    let attempts = Arc::new(AtomicU64::new(0));
    components.model = components.model.map(|inner| {
        let spent = Arc::clone(&spent);
        Arc::new(Counting { inner, spent }) as Arc<dyn LanguageModel>
    });
    components.executor = Some(Arc::new(Paid {
        inner: follower(),
        attempts: Arc::clone(&attempts),
    }));
    components.judge = Some(judge);
    let report = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, hisme(), options).await?;
        journeyman.learn(tasks(9)).await
    });
    let report = report.expect("it learns");
    let mut of_roles = report.maintenance.roles;
    let mut of_attempts = report.maintenance.cases;
    for task in &report.tasks {
        of_roles.add(task.role_usage);
        of_roles.add(task.failed_usage);
        let attempts = task.attempts.iter();
        attempts.for_each(|attempt| of_attempts.add(attempt.usage));
    }
    assert_eq!(of_roles, *spent.lock().unwrap());
    let attempts = attempts.load(Ordering::SeqCst);
    assert_eq!(
        (of_attempts.prompt_tokens, of_attempts.output_tokens),
        (7 * attempts, attempts)
    );
    report
}

#[test]
fn every_token_is_in_the_report_once() {
    let report = check(Script::default(), Arc::new(EnvironmentJudge));
    assert!(report.maintenance.roles.total() > 0);
    assert!(report.maintenance.cases.total() > 0);
    assert!(report.tasks.iter().all(|task| task.role_usage.total() > 0));
}

#[test]
fn tokens_of_answers_that_cannot_be_read_are_counted() {
    let script = Script {
        extract: |_| "neither a draft nor a refusal".to_owned(),
        attribute: "of no kind",
        ..Script::default()
    };
    let report = check(script, Arc::new(EnvironmentJudge));
    assert!(
        report
            .tasks
            .iter()
            .all(|task| task.failed_usage.total() > 0)
    );
}

#[test]
fn tokens_of_cases_that_cannot_be_judged_are_counted() {
    let report = check(Script::default(), Arc::new(OfTasksAlone));
    assert!(report.maintenance.cases.total() > 0);
}
