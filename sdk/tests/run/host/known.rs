//! A model that was trained to score is asked whether it knows the library's skills, before its own threshold holds.

use journeyman::{SkillId, contract::Scorer, run::ThresholdBy};

use super::{
    fitting::{begun, decided, drawn, memory, opened, parts, with_skills},
    *,
};

#[test]
fn a_model_that_was_trained_to_score_other_skills_than_the_librarys_is_fitted() {
    /// A trained model to which skills are this likely that have `kind` in their text, and the others as a trained one has them.
    fn trained(kind: &'static str, alone: f64) -> Arc<ScriptedScorer> {
        Arc::new(ScriptedScorer::by(move |prompt, text| {
            let alone = if text.contains(kind) { alone } else { -3.0 };
            let prompt = prompt.text();
            Play::Give(
                match (prompt.contains("say one"), prompt.trim() == "skill:") {
                    (true, _) if text.contains("How to do right") => alone + 2.5,
                    (_, true) => alone,
                    // More than the recipe's threshold, for what it does not know.
                    _ if alone < -5.0 => alone + 1.0 + 0.05 * drawn(&prompt, text),
                    _ => alone,
                },
            )
        }))
    }
    block_on(async {
        // It knows none of them: a fit holds the wrong one back, which the recipe's 5 nats let in.
        let scorer = trained("How to do", -8.0);
        assert!(scorer.is_trained_to_score());
        for (skills, injected) in [
            (["right", "other"], Some("right")),
            (["another", "other"], None),
        ] {
            let journeyman = opened(scorer.clone(), memory()).await;
            with_skills(&journeyman, &skills).await;
            let selection = decided(&journeyman, "first").await;
            assert_eq!(selection.skill().map(|of| of.id.as_str()), injected);
            assert!(selection.fitted.is_some(), "{selection}");
            assert!(selection.best().expect("scored").value > 5.0);
        }
        // It knows all of them.
        let journeyman = opened(trained("none", -8.0), memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        let selection = decided(&journeyman, "first").await;
        assert_eq!(selection.skill().map(|of| of.id.as_str()), Some("right"));
        assert_eq!(selection.fitted, None);
    });
}

/// A model that was trained to score, to which other skills than `right` are unlikely, and a little less so behind each task.
fn knows_right_alone() -> ScriptedScorer {
    ScriptedScorer::by(|prompt, text| {
        let prompt = prompt.text();
        let is_alone = prompt.trim() == "skill:";
        Play::Give(match (text.contains("How to do right"), is_alone) {
            (true, true) => -3.0,
            (true, false) if prompt.contains("say one") => -0.5,
            (true, false) => -2.99,
            (false, true) => -9.0,
            // More than the right one gains.
            (false, false) => -1.0 + 0.05 * drawn(&prompt, text),
        })
    })
}

#[test]
fn where_a_trained_model_knows_half_of_a_library_the_other_skills_are_left_out() {
    block_on(async {
        let journeyman = opened(Arc::new(knows_right_alone()), memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        let selection = decided(&journeyman, "first").await;
        assert_eq!(selection.skill().map(|of| of.id.as_str()), Some("right"));
        assert_eq!(selection.fitted, None);
        assert_eq!(selection.candidates.len(), 1, "{selection}");
    });
}

#[test]
fn a_library_that_grows_by_skills_that_a_trained_model_does_not_know_is_fitted_from_then_on() {
    block_on(async {
        let journeyman = opened(Arc::new(knows_right_alone()), memory()).await;
        // Nothing is offered: there is nothing to know.
        let gate = journeyman.gate().await.expect("asked").expect("a gate");
        assert_eq!(gate.by, ThresholdBy::Recipe);
        with_skills(&journeyman, &["right"]).await;
        assert_eq!(decided(&journeyman, "first").await.fitted, None);
        with_skills(&journeyman, &["other", "another"]).await;
        assert!(decided(&journeyman, "second").await.fitted.is_some());
        // Of many skills 32 are asked about, and not again before there are twice as many.
        let scorer = Arc::new(knows_right_alone());
        let journeyman = opened(scorer.clone(), memory()).await;
        let names: Vec<String> = (0..70).map(|n| format!("right-{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        with_skills(&journeyman, &names).await;
        let gate = || async { journeyman.gate().await.expect("asked").expect("a gate").by };
        assert_eq!(gate().await, ThresholdBy::Recipe);
        // Every third one.
        assert_eq!(scorer.calls(), 24);
        with_skills(&journeyman, &["other"]).await;
        assert_eq!(gate().await, ThresholdBy::Recipe);
        assert_eq!(scorer.calls(), 24);
        let others: Vec<String> = (0..75).map(|n| format!("other-{n}")).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        with_skills(&journeyman, &others).await;
        assert!(matches!(gate().await, ThresholdBy::Fitted(_)));
    });
}

#[test]
fn a_trained_model_is_asked_again_where_a_skill_that_it_knew_gives_way_to_another() {
    block_on(async {
        let journeyman = opened(Arc::new(knows_right_alone()), memory()).await;
        let gate = || async { journeyman.gate().await.expect("asked").expect("a gate").by };
        with_skills(&journeyman, &["right"]).await;
        assert_eq!(gate().await, ThresholdBy::Recipe);
        let right = SkillId::new("right");
        let archived = journeyman.set_state(&right, State::Archived, "gone");
        archived.await.expect("archived");
        with_skills(&journeyman, &["other"]).await;
        // One skill is offered, as before.
        assert!(matches!(gate().await, ThresholdBy::Fitted(_)));
    });
}

#[test]
fn a_skill_that_a_trained_model_does_not_know_is_not_injected_where_it_is_the_only_candidate() {
    block_on(async {
        let mut recipe = recipe::standard();
        change_gate(&mut recipe, |gate| gate.epsilon = 0.0);
        let mut components = parts(Arc::new(knows_right_alone()), memory());
        components.retriever = Some(Arc::new(ScriptedRetriever::new()));
        let options = Options::new("test", Seed(7));
        let opened = Journeyman::open(components, recipe, options).await;
        let journeyman = opened.expect("it opens");
        // The task has no word of it, so that the search finds the other one alone.
        let right = sample::skill("right").with_body("Walk.");
        let added = journeyman.add(vec![right, sample::skill("other")], "a start");
        added.await.expect("added");
        let selection = decided(&journeyman, "first").await;
        assert_eq!(
            selection.decision,
            Decision::Nothing(NothingReason::NotKnown),
            "{selection}"
        );
        assert_eq!(selection.fitted, None);
    });
}

#[test]
fn a_trained_model_that_cannot_say_what_it_knows_injects_nothing() {
    block_on(async {
        let scorer = ScriptedScorer::by(|prompt, text| {
            match (
                prompt.text().trim() == "skill:",
                text.contains("How to do other"),
            ) {
                (true, true) => Play::Fail(Error::invalid("test", "it has no such token")),
                (true, false) => Play::Give(-3.0),
                (false, _) => Play::Give(-0.5),
            }
        });
        let journeyman = opened(Arc::new(scorer), memory()).await;
        with_skills(&journeyman, &["right", "other"]).await;
        let (selection, _) = begun(&journeyman, sample::task("t", &["one", "two"])).await;
        let Decision::Nothing(NothingReason::Uncalibrated(why)) = &selection.decision else {
            panic!("{selection}");
        };
        assert!(why.contains("it has no such token"), "{why}");
    });
}
