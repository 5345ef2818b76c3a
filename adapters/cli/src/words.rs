//! The SDK's names in the words of the command: a person with a run's file has keys, and no Rust.

/// What the SDK and the adapters say, and what it is here. Longer texts come first, since others are parts of them.
const WORDS: [(&str, &str); 61] = [
    ("(`ChatFormat::max_tokens`)", "(`answer_tokens` in [model])"),
    (
        "set `Components::scorer` and `Components::prompt_format`, or choose the selector `top`, which needs no scores",
        "let a GGUF score (`gguf` in [model_for.gate]), or choose without scores: set = { \"select.selector\" = { name = \"top\", options = { limit = 1 } } }",
    ),
    (
        "set `Components::scorer` and `Components::prompt_format`, or choose a selector without scores",
        "let a GGUF score (`gguf` in [model_for.gate]), or choose without scores: set = { \"select.selector\" = { name = \"top\", options = { limit = 1 } } }",
    ),
    (
        "set `Components::scorer` and `Components::prompt_format`",
        "let a GGUF score: `gguf` in [model_for.gate]",
    ),
    (
        "the host gave no scorer or no prompt format",
        "no model scores: a server that gives no log-probabilities cannot",
    ),
    ("set Config::context", "set `context` in [model]"),
    (
        "give an address such as http://127.0.0.1:8000/v1, and the key in Config::key",
        "give an address such as http://127.0.0.1:8000/v1, and the variable with the key in `key_variable` of [model]",
    ),
    (
        "check Config::key: the server does not accept it for this model",
        "check the variable that `key_variable` in [model] names: the server does not accept its key for this model",
    ),
    (
        "name one of the server's models in Config::model",
        "name one of the server's models: `name` in [model]",
    ),
    (
        "send fewer requests at once (Config::concurrency), or try again later",
        "try again later, or give the server less to do at once",
    ),
    (
        "set Config::continues where it does, or use Route::Completions",
        "take a GGUF, or a server that continues a message, such as vLLM or llama-server",
    ),
    (
        "raise deadlines.first_byte, or give the server less to do at once",
        "give the server less to do at once, or a smaller model",
    ),
    (
        "raise deadlines.idle, or look at the server's log",
        "look at the server's log",
    ),
    (
        "raise the request's time_limit and deadlines.total, or ask for fewer tokens",
        "set a smaller `answer_tokens` in [model], or take a faster model",
    ),
    (
        "set `AttemptPolicy::warm_up` of the recipe to 0 to inject from the first task on",
        "set = { \"attempts.warm_up\" = 0 } gives skills from the first task on",
    ),
    (
        "raise `TierPolicy::cache` or `TierPolicy::reservoir` in `Recipe::tiers`",
        "raise `tiers.cache` or `tiers.reservoir` by `set`",
    ),
    (
        "set `SelectPolicy::rank` to `None`",
        "unset = [\"select.rank\"]",
    ),
    (
        "choose another rule in `WritePolicy::when` of the recipe",
        "choose another rule: `write.when` by `set`",
    ),
    (
        "the recipe says `WriteWhen::Never`",
        "the recipe's `write.when` is `never`",
    ),
    (
        "declare `EnvironmentCapabilities::resettable` (`resettable = True` in Python)",
        "set `resettable = True` in the world's program (for an MCP server: `resettable` in [world])",
    ),
    (
        "give the session an agent, a judge, and an environment whose capabilities say `resettable`; a host's own loop learns it from the ledger (`SelectPolicy::withhold`, `Journeyman::lift`)",
        "set `resettable = True` in the world's program if each task can begin anew there (for an MCP server: `resettable` in [world]); else `select.withhold` by `set` lets chance leave skills out in learning, and `journeyman library lift` says what they bring",
    ),
    (
        "give the session an agent, a judge, and an environment whose capabilities say `resettable`; a host that attempts tasks by itself hands its outcomes to `GateCalibration::by_outcomes`",
        "set `resettable = True` in the world's program if each task can begin anew there (for an MCP server: `resettable` in [world]); else `journeyman model calibrate` fits the threshold without attempts",
    ),
    (
        "declare it in `Environment::capabilities` if it is",
        "declare it in the world's program if it is",
    ),
    (
        "declare it in `Environment::capabilities`",
        "declare it in the world's program",
    ),
    (
        "release a skill with `Journeyman::set_state`, and mark the sources that you trust as `Trust::Trusted`",
        "release a skill with `journeyman skill release NAME --reason TEXT`, and set `trusted = true` in [world] if what it says is yours",
    ),
    (
        "compare them with this model by `Journeyman::certify` in a session that may write",
        "`journeyman library certify FILE` compares them with this model",
    ),
    (
        "take it out of use (`Journeyman::set_state`), or have a new version written",
        "take it out of use (`journeyman skill quarantine NAME`), or have a new version written",
    ),
    (
        "record that (`StepResult::refused` in your own loop, `Transition::refused` in an environment)",
        "let it say so: `is_error=True` in its program, an error as the result of an MCP server's tool",
    ),
    (
        "say what your world refuses (`StepResult::refused`), let the judge give lower scores, or raise the bound (`WritePolicy::when` of the recipe)",
        "let the world say what it refuses (`is_error=True` in its program), let the judge give lower scores, or raise the bound: `write.when` by `set`",
    ),
    (
        "remove the cause, or fit once with `journeyman model calibrate` and give the result to `Recipe::calibrate` (`calibration` in a run's file)",
        "remove the cause, or fit it once with `journeyman model calibrate`, and name the file in `calibration` of [model]",
    ),
    (
        "then let `CreditPolicy::used_when` count attempts of which that is not known",
        "then let `credit.used_when` (by `set`) count attempts of which that is not known",
    ),
    (
        "set `Components::embedder`; without it, the other terms of the ranking decide",
        "the command has no embedder: the other terms of the ranking decide",
    ),
    (
        "set `Components::embedder`; without it, subgoals that are worded otherwise count as different",
        "the command has no embedder: subgoals that are worded otherwise count as different",
    ),
    (
        "set `Components::embedder`",
        "the command has no embedder: choose a recipe that needs none",
    ),
    (
        "set `Components::tokenizer`, or remove the limit from the recipe",
        "remove the limit: unset = [\"select.skill_tokens\"]",
    ),
    (
        "set `Components::model` and `Components::roles`, such as `GeneralRoles::shipped()`",
        "name a model in [model] or [model_for.writers]",
    ),
    (
        "set `Components::model` for the roles that have no model of their own",
        "name a model in [model] or [model_for.writers]",
    ),
    (
        "set `Components::model` and `Components::roles`, which play `segment` and `score`",
        "name a model in [model] or [model_for.segment] and [model_for.score]",
    ),
    ("try again, or raise `DiskOptions::patience`", "try again"),
    (
        "fit it for this model with `journeyman model calibrate`, or choose one by hand and leave `GatePolicy::fitted_for` empty",
        "fit it for this model with `journeyman model calibrate`, and name the file in `calibration` of [model]",
    ),
    (
        "fit it with `journeyman model calibrate` and give it to `Recipe::calibrate` (`calibration` in a run's file), or set `GatePolicy::fitted_for` where you know that it fits",
        "fit it with `journeyman model calibrate`, and name the file in `calibration` of [model]",
    ),
    ("`Limits::fit` of the recipe allows", "`limits.fit` allows"),
    (
        "give the fit more time (`recipe.limits.fit`), fit once with `journeyman model calibrate` and give the result to `Recipe::calibrate` (`calibration` in a run's file), or set a threshold by hand: `GatePolicy::absolute`, with `most_wrong` as `None`",
        "fit it once with `journeyman model calibrate`, and name the file in `calibration` of [model]",
    ),
    (
        "give the session the search that it was calibrated with (`Components::retriever`), or calibrate with `--score`",
        "make the calibration anew with `--score`, or leave out `calibration` of [model]",
    ),
    (
        "check that base_url leads to an OpenAI-compatible server (it usually ends in /v1)",
        "check that `server` in [model] leads to an OpenAI-compatible server (it usually ends in /v1)",
    ),
    (
        "start the server, and check base_url and the proxy",
        "start the server, and check `server` in [model]",
    ),
    (
        "check base_url (it usually ends in /v1) and the model's name",
        "check `server` (it usually ends in /v1) and `name` in [model]",
    ),
    (
        "correct the cause of the first error; the run's events have the other errors",
        "correct the cause of the first error; `--trace FILE` keeps the others",
    ),
    (
        "leave out the calibration, or choose the selector `gate` (`GatePolicy`)",
        "leave out `calibration`, or choose the selector `gate`",
    ),
    (
        "choose the selector `gate` (`GatePolicy`)",
        "choose the selector `gate`",
    ),
    (
        "give the index a writable folder, or keep it in memory with Bm25Retriever::new",
        "make the library's folder writable",
    ),
    (
        "continue it with `Journeyman::resume`; `Journeyman::unfinished_runs` lists all such runs",
        "run the same file again: it attempts all of its tasks, and keeps what was learned",
    ),
    (
        "register it in `Options::policies`; those of a paper are there with its feature of `journeyman`, or with `papers`",
        "name one of those that are registered",
    ),
    (
        "fit it again, with a bound in its ranges (`GateCalibration::by_outcomes`)",
        "make it again with `journeyman library calibrate`",
    ),
    ("; so does `Committed::cause`", ""),
    (
        "set `Components::clock`, such as `SystemClock`",
        "the command always has a clock",
    ),
    (
        "check its driver with `devices()`, load its backend with `load_backends` where backends are plugins",
        "check its driver with `journeyman model devices`, name the folder of its backend with `backends` where backends are plugins",
    ),
    (
        "set gpu_layers to GpuLayers::None or Fit",
        "set gpu_layers to `none` or `fit`",
    ),
    ("or to GpuLayers::Fit", "or to `fit`"),
    (
        "call load_backends with the folder of llama.cpp's libggml-*.so first, or name the folder in LlamaConfig::backends",
        "name the folder of llama.cpp's libggml-*.so: `--backends`, or `backends` in a file",
    ),
    (
        "`Journeyman::library` lists the skills with their ids",
        "`journeyman skill list` shows the skills",
    ),
];

/// A message or hint of the SDK in the command's words.
pub(crate) fn of_the_command(text: &str) -> String {
    let mut said = text.to_owned();
    for (theirs, ours) in WORDS {
        said = said.replace(theirs, ours);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_what_a_person_has() {
        let hint = of_the_command("set Config::context");
        assert_eq!(hint, "set `context` in [model]");
        for (_, ours) in WORDS {
            assert!(!ours.contains("::"), "{ours}");
        }
        // A longer text is not spoiled by a part of it.
        for (number, (theirs, ours)) in WORDS.iter().enumerate() {
            assert_eq!(of_the_command(theirs), *ours);
            let later = WORDS.iter().skip(number + 1);
            assert!(
                !{ later }.any(|(later, _)| later.contains(theirs)),
                "{theirs}"
            );
        }
    }
}
