//! Reviews of skills' texts by the role `review`, on their own and as a term of a curator's reward (SkillOS, row K4).

use journeyman::{
    Result,
    agent::role::GeneralRoles,
    contract::{GenerateRequest, Retriever, RoleAnswer, RoleRequest, RoleTask, Roles},
    domain::Role,
    papers::skillos::{
        CompositeTerms, CompositeWeights, GroupRollout, ReviewReport, Rollouts, repository_tokens,
    },
    run::report::FindingKind,
    testing::WordTokenizer,
};
use serde_json::{Value, json};

use super::*;

const SECRET: &str = "ghp_a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8abcd";

fn call(tool: &str, arguments: Value) -> String {
    json!({"tool": tool, "arguments": arguments}).to_string()
}

fn insert(name: &str) -> String {
    let arguments = json!({"name": name, "description": "How to say it.", "body": "Say it."});
    call("insert_skill", arguments)
}

/// After three tasks `greet` stands in its second version and `part` in its first; `sing` was deleted, and one of six calls was
/// of no tool of the curator's.
fn curator(prompt: &str) -> String {
    let calls = match prompt {
        text if text.contains("task: say one") => vec![insert("greet")],
        text if text.contains("task: say two") => {
            let update = json!({"skill": "greet", "body": "Say it first."});
            vec![call("update_skill", update), insert("part")]
        }
        _ => {
            let delete = json!({"skill": "sing", "reason": "It is noise."});
            let rename = json!({"skill": "part", "to": "leave"});
            vec![
                insert("sing"),
                call("delete_skill", delete),
                call("rename_skill", rename),
            ]
        }
    };
    calls.join("\n")
}

/// An agent that says what its task asks for, and a model that plays the curator and the judge.
fn parts(
    curator: fn(&str) -> String,
    judge: impl Fn(&str) -> String + Send + Sync + 'static,
) -> Components {
    let mut components = components();
    components.scorer = None;
    components.executor = Some(Arc::new(ScriptedExecutor::acting(|attempt, steps| {
        let due = attempt.task.payload.get(steps.len());
        let due = due.and_then(|word| word.as_str());
        Play::Give(due.map(|word| Action::Message(word.to_owned())))
    })));
    components.model = Some(Arc::new(ScriptedModel::by(move |request, _| {
        let prompt = request.prompt.text();
        Play::Give(match prompt.starts_with("role: review") {
            true => judge(&prompt),
            false => curator(&prompt),
        })
    })));
    let roles = ScriptedRoles::only([Role::Curate, Role::Review]);
    components.roles = Some(Arc::new(roles));
    components
}

async fn opened(components: Components) -> Journeyman {
    let opened =
        Journeyman::open(components, recipe::skillos(), Options::new("test", Seed(7))).await;
    opened.expect("it opens")
}

fn plan() -> Rollouts {
    Rollouts::new(n32(1)).with_retriever(|| Ok(Arc::new(ScriptedRetriever::new()) as _))
}

async fn rolled(components: Components, plan: &Rollouts) -> GroupRollout {
    let journeyman = opened(components).await;
    let rolled = journeyman.roll_out(tasks(3), plan).await;
    let mut rolled = rolled.expect("it rolls out");
    rolled.remove(0).expect("a rollout")
}

fn names(rollout: &GroupRollout) -> Vec<String> {
    let entries = rollout.fork.library().entries();
    let offered = entries.filter(|entry| entry.skill.state.is_offered());
    let mut names: Vec<String> = offered.map(|entry| entry.skill.name.to_string()).collect();
    names.sort();
    names
}

fn has_finding(rollout: &GroupRollout) -> bool {
    let mut findings = rollout.report.findings.iter();
    findings.any(|one| one.kind == FindingKind::NotReviewed)
}

#[test]
fn the_reward_has_all_four_terms_where_the_role_judges() {
    block_on(async {
        let judge = |prompt: &str| match prompt.contains("skill: greet") {
            true => "3 it is exact".to_owned(),
            false => "1 it is a copy".to_owned(),
        };
        let mut components = parts(curator, judge);
        components.tokenizer = Some(Arc::new(WordTokenizer));
        let one = rolled(components.clone(), &plan().reviewed()).await;
        assert_eq!(names(&one), ["greet", "part"]);
        let review = one.review.as_ref().expect("it was reviewed");
        assert_eq!(review.unreviewed, []);
        assert!(review.usage.total() > 0);
        let mut judged: Vec<(u64, f64, &str)> = review
            .reviewed
            .iter()
            .map(|one| (one.skill.version.0, one.quality, one.reason.as_str()))
            .collect();
        judged.sort_by_key(|(version, ..)| *version);
        // The last version of each, and nothing of what was deleted.
        let expect = [(1, 1.0 / 3.0, "it is a copy"), (2, 1.0, "it is exact")];
        assert_eq!(judged, expect);

        let tasks = one.report.tasks.iter();
        let curations = tasks.filter_map(|task| task.curation.as_ref());
        let prompts: u64 = curations.map(|curation| curation.context_tokens).sum();
        let repository = repository_tokens(one.fork.library(), &WordTokenizer).expect("counted");
        let compression = 1.0 - repository as f64 / prompts as f64;
        let quality = one.terms.quality.expect("it was judged");
        assert!((quality - 2.0 / 3.0).abs() < 1e-12);
        let expect = CompositeTerms::default()
            .with_success(1.0)
            .with_validity(5.0 / 6.0)
            .with_quality(quality)
            .with_compression(compression);
        assert_eq!(one.terms, expect);
        let reward = one.reward.expect("later tasks were judged");
        let expect = 1.0 + 5.0 / 6.0 + 0.1 * (2.0 / 3.0) + 0.05 * compression;
        assert!((reward - expect).abs() < 1e-12, "{reward}");
        assert!(!has_finding(&one));

        // The review changes nothing else, and without it the term is absent.
        let bare = rolled(components, &plan()).await;
        assert_eq!((bare.review, bare.terms.quality), (None, None));
        assert_eq!(bytes(bare.fork.library()), bytes(one.fork.library()));
        assert_eq!(bare.report, one.report);
        let without = bare.reward.expect("later tasks were judged");
        assert!((reward - without - 0.1 * (2.0 / 3.0)).abs() < 1e-12);
    });
}

#[test]
fn a_judge_that_cannot_be_read_leaves_the_term_out_and_is_told() {
    block_on(async {
        for said in ["7 excellent", "", "An excellent skill."] {
            let components = parts(curator, move |_| said.to_owned());
            let one = rolled(components.clone(), &plan().reviewed()).await;
            let review = one.review.as_ref().expect("it was reviewed");
            assert_eq!((review.reviewed.len(), review.unreviewed.len()), (0, 2));
            for unreviewed in &review.unreviewed {
                assert_eq!(unreviewed.error.kind(), ErrorKind::Model, "{said}");
            }
            assert!(review.usage.total() > 0, "failed calls cost too");
            assert_eq!(one.terms.quality, None);
            let bare = rolled(components, &plan()).await;
            assert_eq!((one.terms, one.reward), (bare.terms, bare.reward));
            assert_eq!(bytes(one.fork.library()), bytes(bare.fork.library()));
            let mut findings = one.report.findings.iter();
            let found = findings.find(|one| one.kind == FindingKind::NotReviewed);
            let found = found.expect("it is told");
            let expect = "none of the 2 skills that its curator wrote could be judged: ";
            assert!(found.reason.starts_with(expect), "{found}");
            assert!(!has_finding(&bare));
        }
    });
}

#[test]
fn the_term_is_the_mean_of_those_that_were_judged() {
    block_on(async {
        let judge = |prompt: &str| match prompt.contains("skill: greet") {
            true => "2 a vague condition".to_owned(),
            false => "7 excellent".to_owned(),
        };
        let one = rolled(parts(curator, judge), &plan().reviewed()).await;
        let review = one.review.as_ref().expect("it was reviewed");
        assert_eq!((review.reviewed.len(), review.unreviewed.len()), (1, 1));
        assert_eq!(one.terms.quality, Some(2.0 / 3.0));
        assert!(!has_finding(&one));
    });
}

#[test]
fn a_curator_that_changes_nothing_leaves_nothing_to_judge() {
    block_on(async {
        let judge = |prompt: &str| panic!("asked: {prompt}");
        let components = parts(|_| "none".to_owned(), judge);
        let journeyman = opened(components).await;
        // A skill that the curator did not write is not its to answer for.
        let known = vec![sample::skill("known")];
        journeyman.add(known, "a start").await.expect("added");
        let rolled = journeyman.roll_out(tasks(3), &plan().reviewed()).await;
        let one = rolled.expect("it rolls out").remove(0).expect("a rollout");
        assert_eq!(one.review, Some(ReviewReport::default()));
        assert_eq!(one.terms.quality, None);
        assert!(!has_finding(&one));
        // Success 1 and validity 1, since there was no call.
        assert_eq!(one.reward, Some(2.0));
    });
}

#[test]
fn a_host_may_set_the_quality_itself() {
    block_on(async {
        let one = rolled(parts(curator, |_| "0 empty".to_owned()), &plan().reviewed()).await;
        assert_eq!(one.terms.quality, Some(0.0));
        let own = one.terms.with_quality(0.5);
        let reward = CompositeWeights::default().reward(&own).expect("in range");
        let more = reward.expect("as before") - one.reward.expect("judged");
        assert!((more - 0.05).abs() < 1e-12);
    });
}

#[test]
fn without_a_model_that_reviews_nothing_runs() {
    let check = |change: fn(&mut Components)| {
        let mut components = parts(curator, |_| "3 exact".to_owned());
        let agent = |_: &Attempt<'_>, _: &[Step]| panic!("the agent was asked");
        components.executor = Some(Arc::new(ScriptedExecutor::acting(agent)));
        change(&mut components);
        block_on(async {
            let journeyman = opened(components).await;
            let rolled = journeyman.roll_out(tasks(3), &plan().reviewed()).await;
            let refused = rolled.expect_err("refused");
            assert_eq!(refused.kind(), ErrorKind::Unsupported);
            let reviewed = journeyman.review(&[sample::skill("one")]).await;
            let refused = reviewed.expect_err("refused");
            assert_eq!(refused.kind(), ErrorKind::Unsupported);
            assert!(refused.to_string().contains("role review"), "{refused}");
        });
    };
    check(|components| components.model = None);
    check(|components| components.roles = None);
    check(|components| components.roles = Some(Arc::new(ScriptedRoles::only([Role::Curate]))));
}

/// The shipped prompt shows a skill's whole text, so that a secret in any part of it would reach the model.
#[test]
fn a_reviewed_skill_keeps_its_secrets() {
    let mut components = parts(curator, |_| String::new());
    components.roles = Some(Arc::new(GeneralRoles::shipped().expect("they are shipped")));
    components.model = Some(Arc::new(ScriptedModel::by(|request, _| {
        let text = request.prompt.text();
        assert!(!text.contains(SECRET), "{text}");
        assert!(text.contains("[redacted: "), "{text}");
        // A model may repeat what it knows from elsewhere.
        Play::Give(json!({"reason": format!("It has {SECRET}."), "score": 1}).to_string())
    })));
    block_on(async {
        let journeyman = opened(components).await;
        let mut in_text = sample::skill("in-text");
        in_text.description = format!("Uses {SECRET}.");
        in_text.trigger = Some(format!("The key is {SECRET}"));
        in_text.body = format!("Send {SECRET}.");
        in_text.original_name = Some(format!("in {SECRET}"));
        let in_id = sample::skill("in-id").with_id(SECRET);
        let skills = [in_text, in_id];
        let report = journeyman.review(&skills).await.expect("a report");
        let [reviewed] = report.reviewed.as_slice() else {
            panic!("{report:?}");
        };
        assert_eq!(reviewed.skill, skills[0].reference());
        assert_eq!(reviewed.quality, 1.0 / 3.0);
        assert!(!reviewed.reason.contains(SECRET), "{}", reviewed.reason);
        let [unreviewed] = report.unreviewed.as_slice() else {
            panic!("{report:?}");
        };
        assert_eq!(unreviewed.skill, skills[1].reference());
        assert_eq!(unreviewed.error.kind(), ErrorKind::Invalid);
        assert_eq!(report.quality(), Some(1.0 / 3.0));
        // Nothing was stored.
        let library = journeyman.library().await.expect("a library");
        assert_eq!(library.entries().count(), 0);
    });
}

/// Roles of a host that break their contract.
#[derive(Debug)]
struct Generous(f64);

impl Roles for Generous {
    fn prompt(&self, request: &RoleRequest<'_>) -> Result<GenerateRequest> {
        ScriptedRoles::default().prompt(request)
    }

    fn read(&self, _: &RoleRequest<'_>, _: &str) -> Result<RoleAnswer> {
        Ok(RoleAnswer::Reviewed {
            quality: self.0,
            reason: "generous".to_owned(),
        })
    }

    fn fallback(&self, _: &RoleTask) -> Option<RoleAnswer> {
        None
    }
}

#[test]
fn a_quality_out_of_range_is_none() {
    for quality in [3.0, -0.1, f64::NAN, f64::INFINITY] {
        let mut components = parts(curator, |_| "3 exact".to_owned());
        components.roles = Some(Arc::new(Generous(quality)));
        block_on(async {
            let journeyman = opened(components).await;
            let skills = [sample::skill("one")];
            let report = journeyman.review(&skills).await.expect("a report");
            assert_eq!((report.reviewed.len(), report.quality()), (0, None));
            assert_eq!(report.unreviewed[0].error.kind(), ErrorKind::Model);
        });
    }
}

#[test]
fn a_host_may_send_reviews_to_another_thread() {
    fn sent<T: Send>(one: T) -> T {
        one
    }
    let components = parts(curator, |_| "3 exact".to_owned());
    let journeyman = block_on(opened(components));
    let none = block_on(sent(journeyman.review(&[]))).expect("a report");
    assert_eq!((none.quality(), none), (None, ReviewReport::default()));
    let retriever = || Ok(Arc::new(ScriptedRetriever::new()) as Arc<dyn Retriever>);
    let plan = Rollouts::new(n32(2)).with_retriever(retriever).reviewed();
    let rolled = block_on(sent(journeyman.roll_out(tasks(2), &plan)));
    assert!(rolled.expect("it rolls out").iter().all(Result::is_ok));
}
