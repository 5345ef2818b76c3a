//! Roles' prompts: as many rows as fit, a repair too, and a refusal with both lengths where nothing fits.

use std::sync::{Arc, atomic::Ordering};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    Result, Seed,
    agent::role::{GeneralRoles, RoleOptions},
    contract::{Components, Experience, LanguageModel, RoleTask},
    domain::Role,
    policy::{Answer, FailedCall, Played},
    recipe,
    run::{Effect, Performer},
    testing::sample,
};
use serde_json::json;

use crate::model::FourBytes;

fn evolving() -> RoleTask {
    let row = |number: usize| {
        let mut skill = sample::skill(&format!("skill-{number}"));
        skill.body = format!("Body {number}. {}", "Say more. ".repeat(200));
        Experience::new(skill, "active").edited(|it| it.helpful = 1)
    };
    RoleTask::Evolve {
        role: Role::Extract,
        rules: Vec::new(),
        rows: (0..24).map(row).collect(),
    }
}

/// Plays a role with the shipped prompts.
fn play(
    model: &Arc<FourBytes>,
    options: RoleOptions,
    task: RoleTask,
) -> Result<Played, Box<FailedCall>> {
    let roles = GeneralRoles::shipped().unwrap().with_options(options);
    let model: Arc<dyn LanguageModel> = model.clone();
    let components = Components::own_loop()
        .with_model(model)
        .with_roles(Arc::new(roles));
    let performer = Performer::new(Arc::new(components), recipe::standard().limits);
    let effect = Effect::Role {
        ask: Box::new(task),
        seed: Seed(1),
    };
    match block_on(performer.perform(effect)).unwrap() {
        Answer::Played(Ok(played)) => Ok(played.unwrap()),
        Answer::Played(Err(failed)) => Err(Box::new(failed)),
        other => panic!("{other:?}"),
    }
}

const RULES: &str = r#"{"analysis": "a", "summary": "s", "rules": ["Name the tool."]}"#;

#[test]
fn a_role_with_24_rows_fits_a_context_of_2048() {
    let model = Arc::new(FourBytes::new(2_048, |_| RULES.to_owned()));
    let played = play(&model, RoleOptions::default(), evolving()).unwrap();
    let shortened = played.shortened.unwrap();
    assert!(
        shortened.whole > 5_000 && shortened.sent <= 1_536,
        "{shortened:?}"
    );
    assert!(!shortened.estimated);
    assert!(
        shortened
            .left_out
            .contains(" of 24 rows; what is beyond 200 characters"),
        "{shortened:?}"
    );
    let sent = model.answered();
    assert_eq!(
        (sent.len(), FourBytes::tokens(&sent[0]) as u64),
        (1, shortened.sent)
    );
    assert!(
        shortened.sent > 1_200,
        "as much is shown as fits: {}",
        shortened.sent
    );
    // In a context that is long enough all of it is shown.
    let model = Arc::new(FourBytes::new(32_768, |_| RULES.to_owned()));
    assert_eq!(
        play(&model, RoleOptions::default(), evolving())
            .unwrap()
            .shortened,
        None
    );
}

#[test]
fn a_role_whose_rows_have_more_tokens_than_its_fixed_text_shows_as_many_as_fit() {
    let mut model = FourBytes::new(4_096, |_| RULES.to_owned());
    model.dear = 20;
    let model = Arc::new(model);
    let played = play(&model, RoleOptions::default(), evolving()).unwrap();
    let shortened = played.shortened.unwrap();
    assert!(shortened.whole > 40_000, "{shortened:?}");
    // An average over the whole prompt would show far less.
    assert!(
        shortened.sent > 2_400 && shortened.sent <= 3_072,
        "{shortened:?}"
    );
}

#[test]
fn a_repair_fits_too() {
    let bad = "no JSON at all ".repeat(200);
    let model = Arc::new(FourBytes::new(2_048, move |call| match call {
        0 => bad.clone(),
        _ => RULES.to_owned(),
    }));
    let played = play(&model, RoleOptions::default(), evolving()).unwrap();
    assert_eq!((played.unreadable.len(), played.fallback), (1, false));
    assert!(
        model
            .answered()
            .iter()
            .all(|ask| FourBytes::tokens(ask) <= 1_536)
    );
}

#[test]
fn a_role_whose_least_prompt_is_too_long_is_refused_with_both_lengths() {
    let model = Arc::new(FourBytes::new(512, |_| RULES.to_owned()));
    let failed = play(&model, RoleOptions::default(), evolving()).unwrap_err();
    let fact = |key| {
        failed
            .error
            .fact(key)
            .and_then(|fact| fact.parse::<usize>().ok())
    };
    assert!(fact("prompt_tokens") > Some(384) && fact("context") == Some(512));
    assert_eq!(failed.error.fact("role"), Some("evolve"));
    assert!(failed.unreadable.is_empty() && model.answered().is_empty());
}

#[test]
fn a_bad_estimate_of_a_roles_prompt_is_corrected() {
    for context in [2_048, 3_072, 4_096] {
        let mut model = FourBytes::new(context, |_| RULES.to_owned());
        model.guesses = true;
        let model = Arc::new(model);
        let played = play(&model, RoleOptions::default(), evolving()).unwrap();
        assert!(played.shortened.is_some());
        let tokens = FourBytes::tokens(&model.answered()[0]);
        let room = context - context / 4;
        assert!(tokens <= room, "{tokens} of {room}");
        // The model's own count is worth one refusal, and no search for the last token.
        assert_eq!(model.refused.load(Ordering::Relaxed), 1, "{context}");
    }
}

#[test]
fn a_model_is_constrained_where_it_can_be_and_writes_freely_elsewhere() {
    let check = |can: bool, options: RoleOptions, expect: bool| {
        let mut model = FourBytes::new(32_768, |_| RULES.to_owned());
        model.capabilities.json_schema = can;
        let model = Arc::new(model);
        play(&model, options, evolving()).unwrap();
        assert_eq!(model.answered()[0].json_schema.is_some(), expect);
    };
    let free = || {
        let mut options = RoleOptions::default();
        options.constrain = false;
        options
    };
    check(true, RoleOptions::default(), true);
    check(false, RoleOptions::default(), false);
    check(true, free(), false);
}

#[test]
fn notes_and_unreadable_answers_come_with_the_answer() {
    let long = json!({
        "analysis": "a",
        "summary": "s",
        "confidence": 1,
        "rules": ["Name the tool. ".repeat(40)],
    });
    let model = Arc::new(FourBytes::new(32_768, move |_| long.to_string()));
    let played = play(&model, RoleOptions::default(), evolving()).unwrap();
    assert_eq!(
        played.notes,
        [
            "fields that the role does not ask for, passed over: 1",
            "rules is shortened from 599 to 299 characters"
        ]
    );
    let model = Arc::new(FourBytes::new(32_768, |call| format!("prose {call}")));
    let failed = play(&model, RoleOptions::default(), evolving()).unwrap_err();
    let texts: Vec<&str> = failed
        .unreadable
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(texts, ["prose 0", "prose 1"]);
}
