//! Selection by Eq. 4, with an embedder, with a retriever, and with neither.

use journeyman::{
    async_trait,
    contract::{Embedder, Embedding, EmbeddingSpace},
    domain::Selection,
    papers::skillrl::{BankGate, WithoutCategory},
    policy::PolicyOptions,
    stations::select::{Candidates, ThresholdFor},
    testing::WordTokenizer,
};

use super::*;

/// Embeds a text by the number behind `near `, its cosine with a text without one.
#[derive(Debug)]
struct Near {
    space: EmbeddingSpace,
    fails: bool,
}

impl Near {
    fn embedder(fails: bool) -> Arc<dyn Embedder> {
        let space = EmbeddingSpace::new("near", 2);
        Arc::new(Self { space, fails })
    }
}

#[async_trait]
impl Embedder for Near {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str]) -> journeyman::Result<Vec<Embedding>> {
        if self.fails {
            return Err(Error::new(ErrorKind::Unavailable, "Near::embed", "down"));
        }
        let of = |text: &&str| {
            let number = text
                .split("near ")
                .nth(1)
                .and_then(|rest| rest.split(' ').next());
            let near: f32 = number.and_then(|number| number.parse().ok()).unwrap_or(1.0);
            Embedding::new(vec![near, (1.0 - near * near).sqrt()])
        };
        texts.iter().map(of).collect()
    }
}

/// A skill of a scope, with its cosine; `""` is the general scope.
fn skill(name: &str, category: &str, near: f32) -> Skill {
    let mut skill = sample::skill(name);
    skill.description = format!("near {near} for {name}");
    if !category.is_empty() {
        skill.scope = Scope::Category(category.into());
    }
    skill
}

fn a_bank() -> Vec<Skill> {
    vec![
        skill("g1", "", 0.1),
        skill("g2", "", 0.9),
        skill("t1", "tea", 0.2),
        skill("t2", "tea", 0.8),
        skill("t3", "tea", -0.5),
        skill("t4", "tea", 0.5),
        skill("c1", "cake", 0.7),
    ]
}

/// The selection for a task of a category.
fn selected(
    selector: BankSelector,
    category: Option<&str>,
    change: impl Fn(&mut Components, &mut Recipe),
) -> Selection {
    selected_and_told(selector, category, change).0
}

/// The selection, and the reason of the event that general skills stand alone, if there was one.
fn selected_and_told(
    selector: BankSelector,
    category: Option<&str>,
    change: impl Fn(&mut Components, &mut Recipe),
) -> (Selection, Option<String>) {
    let (mut components, _) = parts(says, &ALL);
    let mut recipe = skillrl(2);
    recipe.select.selector = selector.into();
    change(&mut components, &mut recipe);
    let journal = components.journal.clone().expect("a journal");
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        journeyman.add(a_bank(), "a start").await.expect("added");
        let mut task = sample::task("one", &["one"]);
        task.instruction = "say one for t4".to_owned();
        task.category = category.map(Into::into);
        let report = journeyman.evaluate(vec![task]).await.expect("it evaluates");
        drop(journeyman);
        let told = events.filter_map(async |event| match event.kind {
            EventKind::GeneralAlone { reason } => Some(reason),
            _ => None,
        });
        let told = Box::pin(told).next().await;
        let (_, happened) = journaled(journal.as_ref(), &report.run).await;
        let kept = happened.into_iter().find_map(|event| match event {
            EventKind::GeneralAlone { reason } => Some(reason),
            _ => None,
        });
        assert_eq!(kept, told, "the journal has it too");
        (report.tasks[0].selections[0].clone(), told)
    })
}

fn ids(selection: &Selection) -> String {
    let ids = selection.skills().iter().map(|skill| skill.id.as_str());
    ids.collect::<Vec<_>>().join(" ")
}

fn with_embedder(components: &mut Components, _: &mut Recipe) {
    components.embedder = Some(Near::embedder(false));
}

fn check(selector: BankSelector, category: Option<&str>, expect: &str) {
    let selection = selected(selector.clone(), category, with_embedder);
    assert_eq!(ids(&selection), expect, "{selector:?} {category:?}");
}

fn limited(limit: usize, threshold: f64) -> BankSelector {
    let mut selector = BankSelector::default();
    selector.limit = NonZeroUsize::new(limit).unwrap();
    selector.threshold = threshold;
    selector
}

/// A gate that does not explore, as one behind a bank has to be.
fn greedy() -> GatePolicy {
    let mut gate = GatePolicy::default();
    gate.epsilon = 0.0;
    gate
}

#[test]
fn general_skills_always_and_the_categorys_by_similarity() {
    check(BankSelector::default(), Some("tea"), "g1 g2 t2 t4 t1");
    check(limited(6, -1.0), Some("tea"), "g1 g2 t2 t4 t1 t3");
    check(limited(2, 0.0), Some("tea"), "g1 g2 t2 t4");
    check(limited(6, 0.5), Some("tea"), "g1 g2 t2");
    check(limited(6, 0.9), Some("tea"), "g1 g2");
    check(limited(1, 0.0), Some("cake"), "g1 g2 c1");
}

#[test]
fn an_unknown_category_and_none_get_the_general_skills_alone() {
    let unknown = Some("never seen");
    let (selection, told) = selected_and_told(BankSelector::default(), unknown, with_embedder);
    assert_eq!(ids(&selection), "g1 g2");
    assert_eq!(
        told.as_deref(),
        Some("no skill of the category never seen is offered")
    );
    check(BankSelector::default(), None, "g1 g2");
    let mut all = limited(2, 0.0);
    all.without_category = WithoutCategory::AllCategories;
    check(all.clone(), None, "g1 g2 t2 c1");
    check(all, Some("never seen"), "g1 g2");
}

#[test]
fn without_an_embedder_the_retriever_compares() {
    let by_words = |category, selector| ids(&selected(selector, Some(category), |_, _| {}));
    // Only the last word of the query is a skill's own.
    let first = by_words("tea", limited(1, 0.0));
    assert_eq!(first, "g1 g2 t4");
    // The best has the similarity 1, so a threshold of 1 leaves none, and one just below it the best alone.
    assert_eq!(by_words("tea", limited(6, 0.99)), "g1 g2 t4");
    assert_eq!(by_words("tea", limited(6, 1.0)), "g1 g2");
    assert_eq!(by_words("never seen", limited(6, 0.0)), "g1 g2");
    // An embedder that fails is none.
    let failing = |components: &mut Components, _: &mut Recipe| {
        components.embedder = Some(Near::embedder(true));
    };
    assert_eq!(
        ids(&selected(limited(1, 0.0), Some("tea"), failing)),
        "g1 g2 t4"
    );
    // With neither, nothing is compared: the first by id.
    let bare = |components: &mut Components, _: &mut Recipe| components.retriever = None;
    assert_eq!(
        ids(&selected(limited(2, 0.0), Some("tea"), bare)),
        "g1 g2 t1 t2"
    );
}

/// A retriever whose search fails.
#[derive(Debug)]
struct Down(ScriptedRetriever);

#[async_trait]
impl journeyman::contract::Retriever for Down {
    async fn watermark(&self) -> journeyman::Result<Revision> {
        self.0.watermark().await
    }

    async fn refresh(&self, update: &journeyman::domain::IndexUpdate) -> journeyman::Result<()> {
        self.0.refresh(update).await
    }

    async fn search(
        &self,
        _: &journeyman::domain::Query,
    ) -> journeyman::Result<Vec<journeyman::domain::Candidate>> {
        Err(Error::new(ErrorKind::Unavailable, "Down::search", "down"))
    }
}

#[test]
fn a_retriever_that_fails_costs_the_categorys_skills_alone() {
    let down = |components: &mut Components, _: &mut Recipe| {
        components.retriever = Some(Arc::new(Down(ScriptedRetriever::new())));
    };
    let (selection, told) = selected_and_told(limited(6, 0.0), Some("tea"), down);
    assert_eq!(ids(&selection), "g1 g2");
    let told = told.expect("it is told");
    assert!(told.contains("could not be compared"), "{told}");
}

#[test]
fn a_search_narrows_what_is_compared() {
    let narrow = |components: &mut Components, recipe: &mut Recipe| {
        components.embedder = Some(Near::embedder(false));
        let limit = NonZeroUsize::new(1).unwrap();
        recipe.select.candidates = Candidates::Search { limit };
    };
    let selection = selected(limited(6, 0.0), Some("tea"), narrow);
    assert_eq!(
        ids(&selection),
        "g1 g2 t4",
        "the retriever's best, and not the embedder's"
    );
}

/// A gate behind the bank whose scorer finds `g2` and `t2` likelier behind the query than behind none. It was trained to score, or not.
fn gated(exempt_general: bool, scorer: Option<bool>) -> Selection {
    let mut gate = BankGate::new(greedy());
    gate.exempt_general = exempt_general;
    let mut selector = BankSelector::default();
    selector.gate = Some(gate);
    selected(selector, Some("tea"), |components, recipe| {
        with_embedder(components, recipe);
        let scored = ScriptedScorer::by(|prompt, continuation| {
            let fits = continuation.contains("g2") || continuation.contains("t2");
            Play::Give(match (prompt.text().contains("say one"), fits) {
                (true, true) => -0.5,
                // It knows such skills.
                _ => -4.5,
            })
        });
        components.scorer = scorer.map(|trained| match trained {
            true => Arc::new(scored) as _,
            false => Arc::new(scored.untrained()) as _,
        });
    })
}

#[test]
fn a_gate_tests_each_skill_by_itself() {
    let selection = gated(false, Some(true));
    assert_eq!(ids(&selection), "g2 t2");
    assert_eq!(selection.candidates.len(), 5, "all were scored");
    let exempt = gated(true, Some(true));
    assert_eq!(ids(&exempt), "g1 g2 t2");
    assert_eq!(exempt.candidates.len(), 3, "the category's alone");
}

#[test]
fn a_gate_leaves_out_what_a_trained_model_does_not_know() {
    let mut selector = BankSelector::default();
    selector.gate = Some(BankGate::new(greedy()));
    let selection = selected(selector, Some("tea"), |components, recipe| {
        with_embedder(components, recipe);
        components.scorer = Some(Arc::new(ScriptedScorer::by(|prompt, continuation| {
            let is_known = !continuation.contains("t2");
            Play::Give(match (prompt.text().contains("say one"), is_known) {
                (true, _) => -0.5,
                (false, true) => -4.5,
                (false, false) => -20.0,
            })
        })));
    });
    assert_eq!(ids(&selection), "g1 g2 t4 t1");
    assert_eq!(selection.candidates.len(), 4, "{selection:?}");
}

#[test]
fn a_gate_without_scores_leaves_what_is_exempt() {
    let Decision::Nothing(NothingReason::ScorerUnavailable(_)) = gated(false, None).decision else {
        panic!("nothing can be tested");
    };
    assert_eq!(ids(&gated(true, None)), "g1 g2");
}

#[test]
fn a_gate_that_was_calibrated_for_another_model_leaves_what_is_exempt() {
    let selection = |exempt_general| {
        let mut policy = greedy();
        policy.fitted_for = Some(ThresholdFor::new(policy.score, "another"));
        let mut gate = BankGate::new(policy);
        gate.exempt_general = exempt_general;
        let mut selector = BankSelector::default();
        selector.gate = Some(gate);
        selected(selector, Some("tea"), |components, recipe| {
            with_embedder(components, recipe);
            components.scorer = Some(Arc::new(ScriptedScorer::that(Play::Give(-1.0))));
        })
    };
    let Decision::Nothing(NothingReason::Uncalibrated(why)) = selection(false).decision else {
        panic!("no threshold is valid");
    };
    assert!(why.contains("another"), "{why}");
    assert_eq!(ids(&selection(true)), "g1 g2");
}

#[test]
fn a_token_budget_leaves_out_the_least_similar() {
    let (mut components, _) = parts(says, &ALL);
    components.embedder = Some(Near::embedder(false));
    components.tokenizer = Some(Arc::new(WordTokenizer));
    let mut recipe = skillrl(2);
    let words = {
        use journeyman::contract::{PromptFormat, Tokenizer};
        let texts = a_bank().into_iter().take(4);
        let counts = texts.map(|skill| {
            WordTokenizer
                .count(&ScriptedFormat.skill_text(&skill))
                .tokens
        });
        counts.max().expect("there are some")
    };
    recipe.select.skill_tokens = NonZeroUsize::new(words * 3);
    let report = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.add(a_bank(), "a start").await.expect("added");
        let task = sample::task("one", &["one"]).with_category("tea");
        let mut handle = journeyman.begin(task).await.expect("it begins");
        let injected = handle.injection().skills.clone();
        handle.record(
            sample::trajectory("x", &sample::task("one", &["one"]), &["one"], true)
                .steps
                .remove(0),
        );
        handle
            .finish(Some(sample::outcome(true)))
            .await
            .expect("it finishes");
        injected
    });
    let ids: Vec<&str> = report.iter().map(|one| one.skill.id.as_str()).collect();
    assert_eq!(ids, ["g1", "g2", "t2"]);
}

#[test]
fn wrong_options_are_refused_with_their_field() {
    let check = |change: fn(&mut BankSelector), field: &str| {
        let mut selector = BankSelector::default();
        change(&mut selector);
        let error = selector.validate().expect_err(field).to_string();
        assert!(error.contains(field), "{error}");
    };
    check(|selector| selector.threshold = f64::NAN, "threshold");
    check(|selector| selector.threshold = 1.5, "threshold");
    let gate = |epsilon, temperature| {
        let mut gate = BankGate::new(GatePolicy::default());
        gate.policy.epsilon = epsilon;
        gate.policy.temperature = temperature;
        gate.exempt_general = true;
        gate
    };
    let mut selector = BankSelector::default();
    selector.gate = Some(gate(0.1, 1.0));
    let error = selector.validate().expect_err("it explores").to_string();
    assert!(error.contains("epsilon"), "{error}");
    selector.gate = Some(gate(0.0, 0.0));
    assert!(selector.validate().is_err());
    selector.gate = Some(gate(0.0, 1.0));
    selector.validate().expect("it is sound");

    let mut recipe = skillrl(2);
    recipe.select.rank = Some(journeyman::stations::retrieve::RankWeights::default());
    let refused = recipe.resolve(&journeyman::policy::Policies::new());
    let error = refused.expect_err("two rankings").to_string();
    assert!(error.contains("rank"), "{error}");
}

#[test]
fn a_gate_of_a_bank_has_a_threshold_that_is_fitted_to_a_model_that_was_not_trained_for_it() {
    let selection = gated(false, Some(false));
    assert_eq!(ids(&selection), "g2 t2");
    let fitted = selection.fitted.expect("fitted");
    assert_eq!(Some(fitted.score), selection.score);
    assert_eq!(fitted.tasks, 24);
}
