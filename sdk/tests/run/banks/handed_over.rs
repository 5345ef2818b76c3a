//! A bank that a host distils and grows from attempts of its own, without a run.

use journeyman::{
    contract::Journal,
    domain::Trace,
    papers::skillrl::{BankReport, ValidationRound},
    run::recorded_attempts,
};

use super::*;

fn attempt(id: &str, category: &str, success: bool) -> Trace {
    let words: &[&str] = if success { &["good"] } else { &["hm"] };
    sample::trace(
        &format!("mine/{id}"),
        &task(id, category, "mine"),
        words,
        success,
    )
}

fn collection() -> Vec<Trace> {
    vec![
        attempt("ta", "tea", true),
        attempt("ca", "cake", false),
        attempt("cb", "cake", false),
    ]
}

/// Opens without an agent or a world.
async fn open(says: Says, roles: &[Role], recipe: Recipe) -> (Journeyman, Prompts) {
    let (mut components, prompts) = parts(says, roles);
    components.executor = None;
    components.environment = None;
    components.judge = None;
    let opened = Journeyman::open(components, recipe, Options::new("test", Seed(7))).await;
    (opened.expect("it opens"), prompts)
}

#[test]
fn a_collection_becomes_a_bank_in_one_call_and_one_commit() {
    block_on(async {
        let (journeyman, prompts) = open(says, &ALL, skillrl(2)).await;
        let report = journeyman
            .distil_bank(collection())
            .await
            .expect("it is distilled");
        assert_eq!((report.added.len(), report.revised.len()), (3, 0));
        assert_eq!(report.revision, Revision(1));
        assert!(report.refused.is_empty(), "{report}");
        let library = journeyman.library().await.expect("a library");
        assert_eq!(
            skills(&library),
            ["/speak-up@1", "cake/cake-first@1", "tea/tea-first@1"]
        );
        assert_eq!(
            (asked(&prompts, "extract"), asked(&prompts, "lesson")),
            (1, 2)
        );
        assert_eq!(library.tasks_learned(), 0, "no attempt was made");

        // The same again adds nothing, and an undecided attempt teaches nothing.
        let report = journeyman
            .distil_bank(collection())
            .await
            .expect("it is distilled");
        assert_eq!(
            (report.added.len(), report.refused.len()),
            (0, 3),
            "{report}"
        );
        let mut undecided = attempt("ua", "tea", true);
        undecided.verdict = None;
        let report = journeyman
            .distil_bank(vec![undecided])
            .await
            .expect("nothing");
        check_nothing(&report);
    });
}

/// Asserts that a call changed nothing, refused nothing and asked no role.
fn check_nothing(report: &BankReport) {
    assert_eq!(report.revision, Revision(1));
    let skills = (report.added.len(), report.revised.len());
    assert_eq!((skills, report.refused.len()), ((0, 0), 0), "{report}");
    assert_eq!(report.usage.total(), 0);
}

#[test]
fn a_round_of_the_hosts_own_grows_the_bank() {
    block_on(async {
        let (journeyman, prompts) = open(says, &ALL, skillrl(2)).await;
        let round = ValidationRound::of_attempts(&collection(), Failure::Verdict);
        let report = journeyman.evolve_bank(&round).await.expect("it grows");
        assert_eq!(report.added.len(), 2, "general and cake: tea is not weak");
        assert_eq!(
            (asked(&prompts, "extract"), asked(&prompts, "lesson")),
            (0, 2)
        );
        let none = ValidationRound::of_attempts(&[], Failure::Verdict);
        let report = journeyman.evolve_bank(&none).await.expect("nothing");
        check_nothing(&report);
    });
}

#[test]
fn an_evaluation_is_a_round() {
    let (components, prompts) = parts(says, &ALL);
    let journal = Arc::new(MemoryJournal::new());
    let components = components.with_journal(journal.clone());
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, skillrl(2), options).await;
        let journeyman = journeyman.expect("it opens");
        let tasks = vec![
            task("ta", "tea", "done"),
            task("ca", "cake", FAILS),
            task("cb", "cake", FAILS),
        ];
        let report = journeyman
            .evaluate(tasks.clone())
            .await
            .expect("it evaluates");
        let entries = journal.read(&report.run).await.expect("it reads");
        let attempts = recorded_attempts(&entries).expect("its attempts");
        let done: Vec<bool> = attempts.iter().map(Trace::is_success).collect();
        assert_eq!(done, [true, false, false]);
        assert!(
            attempts
                .iter()
                .zip(&tasks)
                .all(|(attempt, task)| attempt.task == *task)
        );

        let round = ValidationRound::of_report(&report, &attempts);
        assert_eq!(round.success_rates()[&Some("cake".into())].value(), 0.0);
        let grown = journeyman.evolve_bank(&round).await.expect("it grows");
        assert_eq!((grown.added.len(), asked(&prompts, "lesson")), (2, 2));
        let again = journeyman.evaluate(tasks).await.expect("it evaluates");
        assert_eq!(again.success_rate(), Some(1.0), "with the new skills");
        let error = recorded_attempts(&[]).expect_err("no start");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

#[test]
fn secrets_of_a_collection_reach_no_model_and_no_library() {
    let secret = "ghp_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";
    block_on(async {
        let (journeyman, prompts) = open(says, &[Role::Lesson], skillrl(2)).await;
        let mut trace = attempt("ca", "cake", false);
        trace.task.instruction = format!("say {secret}");
        let report = journeyman
            .distil_bank(vec![trace.clone()])
            .await
            .expect("distilled");
        assert_eq!(report.added.len(), 1);
        assert!(
            prompts
                .lock()
                .unwrap()
                .iter()
                .all(|text| !text.contains(secret))
        );
        let library = journeyman.library().await.expect("a library");
        assert!(!bytes(&library).contains(secret));
        trace.task.category = Some(secret.into());
        let error = journeyman
            .distil_bank(vec![trace])
            .await
            .expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!error.to_string().contains(secret), "{error}");
    });
}

#[test]
fn a_bank_cannot_be_distilled_without_a_model_or_a_library_to_write() {
    block_on(async {
        let (mut components, _) = parts(says, &ALL);
        components.model = None;
        let options = || Options::new("test", Seed(7));
        let opened = Journeyman::open(components, skillrl(2), options()).await;
        let error = opened.expect("it opens").distil_bank(collection()).await;
        assert_eq!(error.expect_err("no model").kind(), ErrorKind::Unsupported);

        let (components, prompts) = parts(says, &ALL);
        let read_only = options().read_only();
        let opened = Journeyman::open(components, skillrl(2), read_only).await;
        let error = opened.expect("it opens").distil_bank(collection()).await;
        assert_eq!(error.expect_err("read-only").kind(), ErrorKind::Unsupported);
        assert!(prompts.lock().unwrap().is_empty());
    });
}

#[test]
fn roles_that_are_not_played_are_said() {
    block_on(async {
        let (journeyman, _) = open(says, &[Role::Lesson], skillrl(2)).await;
        let report = journeyman
            .distil_bank(collection())
            .await
            .expect("distilled");
        // The success could not be extracted from; the lessons are skills by themselves.
        assert_eq!(report.added.len(), 2);
        assert_eq!(report.refused.len(), 1, "{report}");
        assert!(report.refused[0].starts_with("extract: "), "{report}");
        assert!(
            report
                .to_string()
                .starts_with("skills added: 2, revised: 0; tokens: ")
        );
    });
}
