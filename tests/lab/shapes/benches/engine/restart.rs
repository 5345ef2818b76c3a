//! How long a host is without its model when the worker process dies.

use std::{process::Command, time::Instant};

use futures::executor::block_on;
use journeyman::contract::{GenerateRequest, LanguageModel};
use journeyman_llama_cpp::{IsolatedConfig, IsolatedLlama};

use crate::{Bench, prompt, text};

/// This executable's first argument where it is to be the worker.
pub(crate) const WORKER: &str = "--worker";
const DEATHS: usize = 3;

pub(crate) fn run(bench: &mut Bench) {
    let mut config = IsolatedConfig::new(bench.config(&bench.model));
    config.worker = Some(std::env::current_exe().unwrap());
    config.worker_arguments = vec![WORKER.to_owned()];
    let model = IsolatedLlama::load(config).unwrap();
    let request = GenerateRequest::greedy(prompt(text(bench.seed, 0, 32)), 1);
    let expect = block_on(model.generate(&request)).unwrap();
    let mut longest = 0.0_f64;
    for _ in 0..DEATHS {
        let worker = model.process_id().unwrap().to_string();
        let killed = Command::new("kill").args(["-KILL", &worker]).status();
        assert!(killed.unwrap().success());
        let start = Instant::now();
        let again = loop {
            match block_on(model.generate(&request)) {
                Ok(again) => break again,
                Err(error) => assert_eq!(error.retry(), journeyman::Retry::Temporary, "{error}"),
            }
        };
        longest = longest.max(start.elapsed().as_secs_f64());
        assert_eq!(again.ids, expect.ids);
    }
    bench.record(
        "a worker process that was killed: seconds until the next answer, longest of three",
        longest,
        "<= 10",
    );
}
