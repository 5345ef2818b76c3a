//! A gate whose threshold was fitted for other parts than the session's injects nothing, and says for which.

use journeyman::testing::Edited as _;
use journeyman::{
    agent::{AdaptedModel, ChatFormat},
    contract::Scorer,
    domain::FittedThreshold,
    run::ThresholdBy,
    stations::select::{GateCalibration, ThresholdFor},
};

use super::{
    fitting::{begun, memory, parts, with_skills},
    *,
};

/// A model and its adapter `own`, to both of which the right skill is likelier behind the task.
fn scorer() -> ScriptedScorer {
    fn script(prompt: &Prompt, text: &str) -> Play<f64> {
        let is_right = prompt.text().contains("say one") && text.contains("How to do right");
        Play::Give(if is_right { -0.5 } else { -3.0 })
    }
    ScriptedScorer::by(script).with_adapter("own", script)
}

/// What a calibration with this model and prompt format is for.
fn fitted_for(model: &str, prompt_format: &dyn PromptFormat) -> ThresholdFor {
    let fitted = FittedThreshold::new(ScoreKind::Pmi, 5.0, model).edited(|it| {
        it.most_wrong = 0.02;
        it.tasks = 24;
    });
    GateCalibration::of_session(&fitted, prompt_format).fitted_for
}

async fn calibrated(scorer: Arc<dyn Scorer>, fitted_for: ThresholdFor) -> Journeyman {
    let mut recipe = recipe::standard();
    change_gate(&mut recipe, |gate| {
        gate.epsilon = 0.0;
        gate.fitted_for = Some(fitted_for);
    });
    let options = Options::new("test", Seed(7));
    let opened = Journeyman::open(parts(scorer, memory()), recipe, options).await;
    let journeyman = opened.expect("it opens");
    with_skills(&journeyman, &["right", "other"]).await;
    journeyman
}

fn other_model(journeyman: &Journeyman) -> Option<Finding> {
    let findings = journeyman.findings();
    let is_of_it = |one: &Finding| one.kind == FindingKind::OtherModel;
    findings.into_iter().find(is_of_it)
}

/// A session with this scorer injects nothing, and names all of these texts.
async fn check_refused(scorer: Arc<dyn Scorer>, fitted_for: ThresholdFor, names: &[&str]) {
    let journeyman = calibrated(scorer, fitted_for).await;
    let finding = other_model(&journeyman).expect("a finding");
    assert!(finding.consequence.contains("injects nothing"), "{finding}");
    let gate = journeyman.gate().await.expect("known").expect("a gate");
    assert!(matches!(gate.by, ThresholdBy::OtherModel(_)), "{gate}");

    let (selection, prompt) = begun(&journeyman, sample::task("t", &["one", "two"])).await;
    assert!(!prompt.contains("How to do"), "{prompt}");
    assert!(selection.fault().is_some(), "{selection}");
    let Decision::Nothing(NothingReason::Uncalibrated(why)) = &selection.decision else {
        panic!("{selection}");
    };
    assert!(why.contains("journeyman model calibrate"), "{why}");
    for name in names {
        for said in [why, &finding.reason, &gate.to_string()] {
            assert!(said.contains(name), "{name}: {said}");
        }
    }
}

#[test]
fn a_gate_that_was_calibrated_for_another_model_injects_nothing() {
    block_on(async {
        let other = fitted_for("another", &ScriptedFormat);
        let scorer = Arc::new(scorer());
        check_refused(scorer.clone(), other, &["another", "scripted"]).await;
        // Nothing is asked of a model whose answer could not be compared.
        assert_eq!(scorer.calls(), 0);
    });
}

#[test]
fn a_gate_that_was_calibrated_for_another_adapter_or_for_none_injects_nothing() {
    block_on(async {
        let adapted = || Arc::new(AdaptedModel::new(Arc::new(scorer()), "own"));
        let alone = fitted_for("scripted", &ScriptedFormat);
        check_refused(adapted(), alone, &["model scripted,", "scripted+own"]).await;
        let own = fitted_for("scripted+own", &ScriptedFormat);
        check_refused(
            Arc::new(scorer()),
            own.clone(),
            &["scripted+own", "scripted scores"],
        )
        .await;
        let other = fitted_for("scripted+other", &ScriptedFormat);
        check_refused(adapted(), other, &["scripted+other", "scripted+own"]).await;

        let journeyman = calibrated(adapted(), own).await;
        let (_, prompt) = begun(&journeyman, sample::task("t", &["one", "two"])).await;
        assert!(prompt.contains("How to do right"), "{prompt}");
    });
}

#[test]
fn a_gate_that_was_calibrated_in_another_prompt_format_injects_nothing() {
    block_on(async {
        let in_chat = fitted_for("scripted", &ChatFormat::default());
        let digest = |of: &ThresholdFor| of.prompt_format.clone().expect("a digest");
        let theirs = digest(&in_chat);
        let own = digest(&fitted_for("scripted", &ScriptedFormat));
        let names = ["model scripted", theirs.as_str(), own.as_str()];
        check_refused(Arc::new(scorer()), in_chat, &names).await;
    });
}

#[test]
fn a_gate_that_was_calibrated_for_its_model_injects_by_it() {
    block_on(async {
        let with_digest = fitted_for("scripted", &ScriptedFormat);
        let mut without = with_digest.clone();
        without.prompt_format = None;
        for fitted_for in [with_digest, without] {
            let journeyman = calibrated(Arc::new(scorer()), fitted_for).await;
            assert_eq!(other_model(&journeyman), None);
            let gate = journeyman.gate().await.expect("known").expect("a gate");
            assert_eq!(gate.by, ThresholdBy::Calibration);
            let (selection, prompt) = begun(&journeyman, sample::task("t", &["one", "two"])).await;
            assert_eq!(selection.skill().expect("injected").id.as_str(), "right");
            assert!(prompt.contains("How to do right"), "{prompt}");
        }
    });
}
