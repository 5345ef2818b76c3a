use super::{
    baselines::{top, unscored},
    candidates::first,
    gate::draw,
    *,
};
use crate::{
    contract::{FitTotals, SkillScores, TokenScores, Total},
    domain::{
        Candidate, Decision, FoundWeight, Mode, NothingReason, ScoreKind, Selection, SkillRef,
    },
    error::ErrorKind,
    id::{Seed, Version},
    policy::{Policy, PolicyOptions},
    stations::retrieve::RankWeights,
};

fn reference(id: &str) -> SkillRef {
    SkillRef {
        id: id.into(),
        version: Version(1),
    }
}

fn references(ids: &str) -> Vec<SkillRef> {
    ids.split_whitespace().map(reference).collect()
}

/// Candidates of 10 tokens whose PMI is the given value.
fn with_pmi(values: &[(&str, f64)]) -> Vec<SkillScores> {
    values
        .iter()
        .map(|(id, pmi)| SkillScores {
            skill: reference(id),
            conditional: Some(Total {
                sum: pmi - 40.0,
                tokens: 10,
            }),
            unconditional: Some(Total {
                sum: -40.0,
                tokens: 10,
            }),
            fit: None,
        })
        .collect()
}

fn policy() -> GatePolicy {
    GatePolicy {
        epsilon: 0.0,
        ..GatePolicy::default()
    }
}

fn inject(id: &str, explored: bool) -> Decision {
    Decision::Inject {
        skills: vec![reference(id)],
        explored,
    }
}

fn check(policy: &GatePolicy, candidates: &[(&str, f64)], expect: &Decision) {
    let selection = decide(policy, &with_pmi(candidates), &[], Seed(1), Mode::Evaluate).unwrap();
    assert_eq!(selection.decision, *expect, "{candidates:?}");
}

#[test]
fn scores() {
    let scores = TokenScores {
        ids: vec![1, 2, 3, 4],
        logprobs: vec![-1.0, -2.0, -3.0, -2.0],
        truncated: false,
    };
    let mut skill = SkillScores {
        skill: reference("a"),
        conditional: Some(Total::from(&scores)),
        unconditional: None,
        fit: None,
    };
    assert_eq!(skill.value(ScoreKind::Sum), Some(-8.0));
    assert_eq!(skill.value(ScoreKind::Mean), Some(-2.0));
    assert_eq!(skill.value(ScoreKind::Pmi), None);
    skill.unconditional = Some(Total {
        sum: -20.0,
        tokens: 4,
    });
    assert_eq!(skill.value(ScoreKind::Pmi), Some(12.0));
    let nothing = Total {
        sum: 0.0,
        tokens: 0,
    };
    skill.conditional = Some(nothing);
    for kind in [ScoreKind::Sum, ScoreKind::Mean, ScoreKind::Pmi] {
        assert_eq!(skill.value(kind), None);
    }
    assert_eq!(skill.value(ScoreKind::Fits), None);
    let one = |sum| Total { sum, tokens: 1 };
    let answered = |fits, does_not| Some(FitTotals { fits, does_not });
    skill.conditional = None;
    skill.fit = answered(one(-0.5), one(-2.0));
    assert_eq!(skill.value(ScoreKind::Fits), Some(1.5));
    skill.fit = answered(one(-0.5), nothing);
    assert_eq!(skill.value(ScoreKind::Fits), None);
    skill.fit = answered(nothing, one(-0.5));
    assert_eq!(skill.value(ScoreKind::Fits), None);
}

#[test]
fn the_absolute_test_lets_nothing_win_ties() {
    let below = |best| {
        Decision::Nothing(NothingReason::BelowAbsolute {
            best,
            threshold: 5.0,
        })
    };
    check(&policy(), &[("a", 5.5), ("b", 1.0)], &inject("a", false));
    check(&policy(), &[("a", 5.0)], &below(5.0));
    check(&policy(), &[("a", -3.0), ("b", 4.0)], &below(4.0));
    check(
        &policy(),
        &[],
        &Decision::Nothing(NothingReason::NoCandidates),
    );
}

#[test]
fn the_relative_test_passes_at_its_threshold() {
    let half = GatePolicy {
        relative: Some(0.5),
        absolute: None,
        ..policy()
    };
    check(&half, &[("a", -9.0)], &inject("a", false));
    check(&half, &[("b", 1.0), ("a", 1.0)], &inject("a", false));
    check(
        &half,
        &[("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)],
        &Decision::Nothing(NothingReason::BelowRelative {
            best: 0.25,
            threshold: 0.5,
        }),
    );
    let ungated = GatePolicy {
        relative: None,
        ..half
    };
    check(&ungated, &[("a", 1.0), ("b", 1.0)], &inject("a", false));
}

#[test]
fn the_softmax_is_stable_and_sums_to_one() {
    let check = |values: &[(&str, f64)], temperature: f64, expect: &[f64]| {
        let policy = GatePolicy {
            temperature,
            ..policy()
        };
        let selection = decide(&policy, &with_pmi(values), &[], Seed(1), Mode::Train).unwrap();
        let sum: f64 = selection.candidates.iter().map(|c| c.probability).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        for (found, expect) in selection.candidates.iter().zip(expect) {
            assert!((found.probability - expect).abs() < 1e-9, "{found:?}");
        }
    };
    let share = 1.0_f64.exp() / (1.0_f64.exp() + 1.0);
    check(&[("a", 0.0), ("b", 1.0)], 1.0, &[share, 1.0 - share]);
    check(&[("a", 0.0), ("b", 2.0)], 2.0, &[share, 1.0 - share]);
    check(&[("a", -1e6), ("b", -2e6)], 1.0, &[1.0, 0.0]);
    check(&[("a", 1e300), ("b", -1e300)], 1e-300, &[1.0, 0.0]);
}

#[test]
fn the_answer_says_what_was_scored_best_first() {
    let selection = decide(
        &policy(),
        &with_pmi(&[("c", 1.0), ("b", 7.0), ("a", 1.0)]),
        &[],
        Seed(1),
        Mode::Train,
    )
    .unwrap();
    let ids: Vec<_> = selection
        .candidates
        .iter()
        .map(|c| c.skill.id.as_str())
        .collect();
    assert_eq!(ids, ["b", "a", "c"]);
    assert_eq!(selection.best().unwrap().value, 7.0);
    assert_eq!(selection.score, Some(ScoreKind::Pmi));
    assert_eq!(selection.skill(), Some(&reference("b")));
    let json = serde_json::to_string(&selection).unwrap();
    assert_eq!(serde_json::from_str::<Selection>(&json).unwrap(), selection);
}

#[test]
fn bad_scores_are_refused() {
    let refused = |kind, scores: &[SkillScores], message: &str| {
        let policy = GatePolicy {
            score: kind,
            ..policy()
        };
        let error = decide(&policy, scores, &[], Seed(1), Mode::Train).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains(message), "{error}");
    };
    let mut scores = with_pmi(&[("a", 1.0), ("b", 2.0)]);
    for bad in [f64::NAN, f64::NEG_INFINITY] {
        scores[1].conditional = Some(Total {
            sum: bad,
            tokens: 10,
        });
        for kind in [ScoreKind::Sum, ScoreKind::Mean, ScoreKind::Pmi] {
            refused(kind, &scores, "not a finite number");
        }
    }
    scores[1].conditional = Some(Total {
        sum: 0.0,
        tokens: 0,
    });
    for kind in [ScoreKind::Sum, ScoreKind::Mean, ScoreKind::Pmi] {
        refused(kind, &scores, "no token");
    }
    scores[1] = scores[0].clone();
    refused(ScoreKind::Sum, &scores, "twice");
    scores[0].unconditional = None;
    refused(ScoreKind::Pmi, &scores, "without the query");
    refused(
        ScoreKind::Fits,
        &scores,
        "an answer to whether the skill fits",
    );
}

#[test]
fn a_gate_that_asks_injects_what_the_model_holds_to_fit() {
    let answered = |id: &str, fits: f64, does_not: f64| SkillScores {
        skill: reference(id),
        conditional: None,
        unconditional: None,
        fit: Some(FitTotals {
            fits: Total {
                sum: fits,
                tokens: 1,
            },
            does_not: Total {
                sum: does_not,
                tokens: 1,
            },
        }),
    };
    let gate = GatePolicy {
        epsilon: 0.0,
        ..GatePolicy::fits()
    };
    let decide = |scores: &[SkillScores]| {
        let selection = decide(&gate, scores, &[], Seed(1), Mode::Evaluate).unwrap();
        assert_eq!(selection.score, Some(ScoreKind::Fits));
        selection.decision
    };
    let (no, yes) = (answered("a", -2.0, -0.5), answered("b", -0.5, -2.0));
    assert_eq!(decide(&[no.clone(), yes]), inject("b", false));
    let nothing = Decision::Nothing(NothingReason::BelowAbsolute {
        best: -1.5,
        threshold: 0.0,
    });
    assert_eq!(decide(&[no]), nothing);
}

#[test]
fn policies_are_checked() {
    let refused = |policy: GatePolicy, message: &str| {
        let error = policy.validate().unwrap_err();
        assert_eq!(error.message(), message);
        assert!(decide(&policy, &[], &[], Seed(1), Mode::Train).is_err());
    };
    for valid in [GatePolicy::default(), GatePolicy::paper()] {
        valid.validate().unwrap();
    }
    refused(
        GatePolicy {
            temperature: 0.0,
            ..policy()
        },
        "temperature must be finite and positive, and is 0",
    );
    refused(
        GatePolicy {
            relative: Some(1.5),
            ..policy()
        },
        "relative must be in [0, 1], and is 1.5",
    );
    refused(
        GatePolicy {
            absolute: Some(f64::NAN),
            ..policy()
        },
        "absolute must be finite, and is NaN",
    );
    refused(
        GatePolicy {
            epsilon: -0.1,
            ..policy()
        },
        "epsilon must be in [0, 1], and is -0.1",
    );
    let found = Some(FoundWeight {
        nats: 1.0,
        words_power: 0.5,
        most: 9.0,
    });
    let counted = |score| GatePolicy {
        found,
        score,
        ..policy()
    };
    counted(ScoreKind::CardPmi).validate().unwrap();
    refused(
        counted(ScoreKind::Mean),
        "found counts beside PMI alone, and the score is mean",
    );
    let fitted = ThresholdFor {
        score: ScoreKind::Mean,
        model: "m".into(),
        prompt_format: None,
    };
    refused(
        GatePolicy {
            fitted_for: Some(fitted.clone()),
            ..policy()
        },
        "the threshold was fitted for mean, and the score is pmi",
    );
    let fitted = GatePolicy {
        score: ScoreKind::Mean,
        fitted_for: Some(fitted),
        ..policy()
    };
    fitted.validate_for(&"m".into()).unwrap();
    fitted.validate_for(&"other".into()).unwrap_err();
}

#[test]
fn exploration_follows_eq_7() {
    let policy = GatePolicy {
        epsilon: 0.3,
        ..policy()
    };
    let pool = references("d c b a");
    let scores = with_pmi(&[("a", 9.0), ("b", 1.0)]);
    let mut counts = std::collections::BTreeMap::new();
    let mut explored = 0;
    let runs = 20_000;
    for seed in 0..runs {
        let seed = Seed(seed);
        let selection = decide(&policy, &scores, &pool, seed, Mode::Train).unwrap();
        let Decision::Inject {
            skills,
            explored: e,
        } = &selection.decision
        else {
            panic!("the gate passes");
        };
        let skill = &skills[0];
        explored += u32::from(*e);
        *counts.entry(skill.id.to_string()).or_insert(0) += 1;
        // The order of the pool and of the candidates plays no part.
        let mut scores = scores.clone();
        scores.reverse();
        let again = decide(
            &policy,
            &scores,
            &references("a b c d d"),
            seed,
            Mode::Train,
        );
        assert_eq!(again.unwrap(), selection);
        let evaluated = decide(&policy, &scores, &pool, seed, Mode::Evaluate).unwrap();
        assert_eq!(evaluated.decision, inject("a", false));
    }
    let near = |found: u32, share: f64| {
        // Five standard deviations.
        let spread = 5.0 * (runs as f64 * share * (1.0 - share)).sqrt();
        assert!(
            (f64::from(found) - runs as f64 * share).abs() < spread,
            "{found}"
        );
    };
    near(explored, 0.3);
    near(counts["a"], 0.7 + 0.3 / 4.0);
    for id in ["b", "c", "d"] {
        near(counts[id], 0.3 / 4.0);
    }
}

#[test]
fn nothing_is_explored_where_the_gate_refuses_or_the_pool_is_empty() {
    let always = GatePolicy {
        epsilon: 1.0,
        ..policy()
    };
    for seed in (0..100).map(Seed) {
        let decide = |pmi, pool: &str| {
            let scores = with_pmi(&[("a", pmi)]);
            decide(&always, &scores, &references(pool), seed, Mode::Train)
                .unwrap()
                .decision
        };
        assert!(matches!(decide(1.0, "a b"), Decision::Nothing(_)));
        assert_eq!(decide(9.0, ""), inject("a", false));
        assert_eq!(decide(9.0, "b"), inject("b", true));
    }
}

#[test]
fn baselines() {
    let retrieved: Vec<_> = [("c", 1.0), ("b", 2.0), ("a", 2.0)]
        .into_iter()
        .map(|(id, score)| Candidate {
            skill: reference(id),
            score,
        })
        .collect();
    let best = first(&retrieved).expect("there are some");
    assert_eq!(best.skill, reference("a"));
    assert!(first(&[]).is_none());
    assert_eq!(top(&retrieved, 2), references("a b"));
    assert_eq!(top(&retrieved, 9), references("a b c"));
    let pool = references("x y");
    let random = draw(&pool, Seed(3)).expect("the pool is not empty");
    assert!(pool.contains(&random));
    assert_eq!(draw(&[], Seed(3)), None);
    let none = Selection::nothing(NothingReason::NoCandidates);
    assert_eq!(unscored(Vec::new()), none);
    assert_eq!(unscored(references("a")).decision, inject("a", false));
}

/// A policy of selection with this selector.
fn selecting(selector: impl Into<Policy>) -> SelectPolicy {
    SelectPolicy {
        candidates: Candidates::Cache,
        rank: None,
        selector: selector.into(),
        per: SelectPer::Query,
        skill_tokens: None,
        withhold: None,
    }
}

#[test]
fn our_selectors_have_names_and_read_their_own_options_alone() {
    use serde_json::json;

    let top = Top {
        limit: std::num::NonZeroUsize::MIN,
    };
    for (selector, json) in [
        (Policy::from(First), json!({ "name": "first" })),
        (Random.into(), json!({ "name": "random" })),
        (Nothing.into(), json!({ "name": "nothing" })),
        (
            top.into(),
            json!({ "name": "top", "options": { "limit": 1 } }),
        ),
    ] {
        selecting(selector.clone()).validate().unwrap();
        assert_eq!(serde_json::to_value(&selector).unwrap(), json);
    }
    for own in [
        Policy::from(GatePolicy::default()),
        Policy::new("a-host-s-own").with_options(7),
    ] {
        selecting(own).validate().unwrap();
    }
    let gate = Policy::from(GatePolicy::default()).options;
    for name in ["first", "top", "random", "nothing"] {
        let other = Policy::new(name).with_options(gate.clone());
        let error = selecting(other).validate().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let text = error.to_string();
        assert!(
            text.contains("not the options") && text.contains(name),
            "{text}"
        );
    }
    let other = selecting(Policy::new("gate").with_options(json!({ "limit": 1 })));
    assert!(other.validate().is_err());
    // Ranges are checked, too.
    let cold = GatePolicy {
        temperature: 0.0,
        ..policy()
    };
    assert!(selecting(cold).validate().is_err());
}

#[test]
fn a_selector_goes_with_the_way_in_which_candidates_are_found() {
    let found = Some(FoundWeight {
        nats: 1.0,
        words_power: 0.5,
        most: 9.0,
    });
    let counts = GatePolicy { found, ..policy() };
    let mut select = selecting(counts);
    assert!(select.validate().is_err());
    select.candidates = Candidates::Search {
        limit: std::num::NonZeroUsize::MIN,
    };
    select.validate().unwrap();
    select.rank = Some(RankWeights::default());
    assert!(select.validate().is_err());
    select.selector = First.into();
    select.validate().unwrap();
}

#[test]
fn a_calibration_that_says_dialect_is_read() {
    let json = r#"{"score":"pmi","model":"m","dialect":"a digest"}"#;
    let fitted: ThresholdFor = serde_json::from_str(json).unwrap();
    assert_eq!(fitted.prompt_format.as_deref(), Some("a digest"));
    let written = serde_json::to_value(&fitted).unwrap();
    assert_eq!(written["prompt_format"], "a digest");
}
