//! Scorers and language models.

use super::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum ScorerFlaw {
    DropsOne,
    Turned,
    Infinite,
    Short,
    NeverCuts,
    NeverSaysCut,
    DependsOnOthers,
    ReadsSpecials,
    SkipsEmpty,
    TakesAnyLength,
    KnowsNoAdapters,
    IsAnotherModel,
}

#[derive(Debug)]
struct FlawedScorer {
    inner: ScriptedScorer,
    flaw: ScorerFlaw,
}

#[async_trait]
impl Scorer for FlawedScorer {
    fn model(&self) -> &ModelId {
        self.inner.model()
    }

    async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
        let mut request = request.clone();
        match self.flaw {
            ScorerFlaw::TakesAnyLength => request.prompt = Prompt::default(),
            ScorerFlaw::NeverCuts => request.max_continuation_tokens = usize::MAX,
            ScorerFlaw::SkipsEmpty => request.continuations.retain(|text| !text.is_empty()),
            _ => {}
        }
        let mut scores = self.inner.score(&request).await?;
        let count = scores.len();
        for (scored, text) in scores.iter_mut().zip(&request.continuations) {
            match self.flaw {
                ScorerFlaw::Infinite => scored.logprobs.iter_mut().for_each(|l| *l = f64::NAN),
                ScorerFlaw::Short => drop(scored.logprobs.pop()),
                ScorerFlaw::NeverSaysCut => scored.truncated = false,
                ScorerFlaw::DependsOnOthers => {
                    scored
                        .logprobs
                        .iter_mut()
                        .for_each(|l| *l -= 0.01 * count as f64);
                }
                ScorerFlaw::ReadsSpecials if text.starts_with("<|") => {
                    scored.ids.truncate(1);
                    scored.logprobs.truncate(1);
                }
                _ => {}
            }
        }
        match self.flaw {
            ScorerFlaw::DropsOne => drop(scores.pop()),
            ScorerFlaw::Turned => scores.sort_by_key(|scored| scored.ids.clone()),
            _ => {}
        }
        Ok(scores)
    }

    fn weights(&self, adapter: Option<&str>) -> ModelId {
        match self.flaw {
            ScorerFlaw::KnowsNoAdapters => self.model().clone(),
            ScorerFlaw::IsAnotherModel => ModelId::new(format!("another with {adapter:?}")),
            _ => self.inner.weights(adapter),
        }
    }
}

#[test]
fn scorers() {
    let fixture = conformance::scorer::ScorerFixture::new(
        Prompt::new(vec![Message::data(Speaker::User, "open the vault")]),
        vec!["first unseal it".to_owned(), "brew a coffee".to_owned()],
    )
    .with_special("<| im_end |>")
    .with_context(4_096)
    .with_time_limit(Duration::from_secs(10));
    let cases: [(ScorerFlaw, &[&str]); 12] = [
        (
            ScorerFlaw::DropsOne,
            &["one each", "shared prefix", "data", "empty"],
        ),
        (ScorerFlaw::Turned, &["one each"]),
        (ScorerFlaw::Infinite, &["finite", "shared prefix"]),
        (ScorerFlaw::Short, &["finite"]),
        (ScorerFlaw::NeverCuts, &["cut"]),
        (ScorerFlaw::NeverSaysCut, &["cut"]),
        (ScorerFlaw::DependsOnOthers, &["shared prefix"]),
        (ScorerFlaw::ReadsSpecials, &["data"]),
        (ScorerFlaw::SkipsEmpty, &["empty"]),
        (ScorerFlaw::TakesAnyLength, &["too long"]),
        (ScorerFlaw::KnowsNoAdapters, &["weights"]),
        (ScorerFlaw::IsAnotherModel, &["weights"]),
    ];
    for (flaw, expected) in cases {
        let inner = ScriptedScorer::table([("unseal", -0.5), ("brew", -3.0)]);
        let scorer = FlawedScorer { inner, flaw };
        let report = block_on(conformance::scorer::check(&scorer, &fixture));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ModelFlaw {
    Wavers,
    IgnoresTheLimit,
    IgnoresStops,
    ShortRecords,
    NeverTimesOut,
    TakesAnyLength,
    IgnoresExtras,
    IgnoresTools,
    IgnoresTheChoice,
    CallsByNoSchema,
    Miscounts,
}

#[derive(Debug)]
struct FlawedModel {
    inner: ScriptedModel,
    flaw: ModelFlaw,
}

#[async_trait]
impl LanguageModel for FlawedModel {
    fn capabilities(&self) -> &ModelCapabilities {
        self.inner.capabilities()
    }

    async fn generate(&self, request: &GenerateRequest) -> Result<Generation> {
        let mut request = request.clone();
        match self.flaw {
            ModelFlaw::IgnoresTheLimit => request.max_tokens = 100,
            ModelFlaw::IgnoresStops => request.stop.clear(),
            ModelFlaw::IgnoresExtras => {
                (request.adapter, request.json_schema) = (None, None);
                request.tools.clear();
            }
            ModelFlaw::IgnoresTools => {
                request.tools.clear();
                request.tool_choice = ToolChoice::Auto;
            }
            ModelFlaw::IgnoresTheChoice => request.tool_choice = ToolChoice::Auto,
            ModelFlaw::TakesAnyLength if request.prompt.text().len() > 1_000 => {
                request.prompt = Prompt::default();
            }
            ModelFlaw::NeverTimesOut if request.time_limit < Duration::from_secs(1) => {
                return futures::future::pending().await;
            }
            _ => {}
        }
        let mut answer = self.inner.generate(&request).await?;
        match self.flaw {
            ModelFlaw::Wavers => answer.text.push_str(&self.inner.calls().to_string()),
            ModelFlaw::ShortRecords => drop(answer.logprobs.pop()),
            ModelFlaw::CallsByNoSchema => {
                for made in &mut answer.calls {
                    made.call.arguments.insert("more".to_owned(), 1.into());
                }
            }
            _ => {}
        }
        Ok(answer)
    }

    async fn count_prompt(&self, request: &GenerateRequest) -> Result<TokenCount> {
        let mut count = self.inner.count_prompt(request).await?;
        count.tokens += usize::from(self.flaw == ModelFlaw::Miscounts);
        Ok(count)
    }
}

#[test]
fn language_models() {
    let prompt = Prompt::new(vec![Message::data(Speaker::User, "say something")]);
    let mut slow = GenerateRequest::greedy(prompt.clone(), 16);
    slow.time_limit = Duration::from_millis(20);
    let fixture = conformance::language_model::LanguageModelFixture::new(prompt)
        .with_max_tokens(16)
        .with_time_limit(Duration::from_secs(10))
        .with_slow(slow)
        .with_clock(Arc::new(journeyman::agent::SystemClock::new()));
    let cases: [(ModelFlaw, &[&str]); 8] = [
        (ModelFlaw::Wavers, &["repeats", "stop", "cancel"]),
        (ModelFlaw::IgnoresTheLimit, &["limit"]),
        (ModelFlaw::IgnoresStops, &["stop"]),
        (ModelFlaw::ShortRecords, &["records"]),
        (ModelFlaw::NeverTimesOut, &["deadline"]),
        (ModelFlaw::TakesAnyLength, &["too long"]),
        (ModelFlaw::IgnoresExtras, &["unsupported", "tools"]),
        (ModelFlaw::Miscounts, &["count"]),
    ];
    for (flaw, expected) in cases {
        let inner = ScriptedModel::by(move |request, _| {
            let late = request.time_limit < Duration::from_secs(1);
            match late {
                true => Play::Fail(Error::new(
                    ErrorKind::Timeout,
                    "LanguageModel::generate",
                    "late",
                )),
                false => Play::Give("these are the words that it writes".to_owned()),
            }
        });
        let model = FlawedModel { inner, flaw };
        let report = block_on(conformance::language_model::check(&model, &fixture));
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}

#[test]
fn language_models_that_call_tools() {
    let fixture =
        conformance::language_model::LanguageModelFixture::new(Prompt::new(vec![Message::data(
            Speaker::User,
            "say something",
        )]))
        .with_max_tokens(16)
        .with_time_limit(Duration::from_secs(10));
    let cases: [(Option<ModelFlaw>, &[&str]); 4] = [
        (None, &[]),
        (Some(ModelFlaw::IgnoresTools), &["tools"]),
        (Some(ModelFlaw::IgnoresTheChoice), &["tools"]),
        (Some(ModelFlaw::CallsByNoSchema), &["tools"]),
    ];
    for (flaw, expected) in cases {
        let inner = ScriptedModel::by(|request, _| {
            let calls = !request.tools.is_empty() && request.tool_choice != ToolChoice::None;
            Play::Give(match calls {
                true => r#"[{"tool": "look", "arguments": {"place": "mast"}}]"#.to_owned(),
                false => "these are the words that it writes".to_owned(),
            })
        });
        let model = inner.with_tools();
        let report = match flaw {
            None => block_on(conformance::language_model::check(&model, &fixture)),
            Some(flaw) => {
                let model = FlawedModel { inner: model, flaw };
                block_on(conformance::language_model::check(&model, &fixture))
            }
        };
        assert_eq!(failed(&report), expected, "{flaw:?}\n{report}");
    }
}
