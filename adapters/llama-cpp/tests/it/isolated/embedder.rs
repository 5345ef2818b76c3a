//! An embedding model in a process of its own.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{ErrorKind, Retry, contract::Embedder};
use journeyman_llama_cpp::{EmbedderConfig, IsolatedEmbedder, LlamaEmbedder};
use rustix::process::Signal;

use super::{send, wait_until};
use crate::support::{TestFile, Tiny, isolated};

const TEXTS: [&str; 3] = ["open the vault", "a lamp", ""];

fn tiny(pooling: Option<u32>) -> TestFile {
    Tiny {
        pooling,
        ..Tiny::default()
    }
    .file()
}

fn load(file: &TestFile) -> Arc<IsolatedEmbedder> {
    IsolatedEmbedder::load(isolated(EmbedderConfig::new(&file.0))).unwrap()
}

#[test]
fn its_vectors_equal_those_in_process_to_the_bit() {
    let file = tiny(Some(1));
    let here = LlamaEmbedder::load(EmbedderConfig::new(&file.0)).unwrap();
    let there = load(&file);
    assert_eq!(there.space(), here.space());
    let bits = |model: &dyn Embedder| {
        let embeddings = block_on(model.embed(&TEXTS)).unwrap();
        let numbers = embeddings.into_iter().flat_map(Vec::from);
        numbers.map(f32::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(bits(&*there), bits(&*here));
    assert_eq!(block_on(there.embed(&[])).unwrap(), []);
}

#[test]
fn refusals_come_across_whole() {
    for file in [tiny(None), TestFile::new("text.gguf", b"<html>404</html>")] {
        let config = EmbedderConfig::new(&file.0);
        let expect = LlamaEmbedder::load(config.clone()).unwrap_err();
        let error = IsolatedEmbedder::load(isolated(config)).unwrap_err();
        assert_eq!(error, expect);
    }
    let mut config = isolated(EmbedderConfig::new("/no/such/model.gguf"));
    config.worker = Some("/no/such/worker".into());
    let error = IsolatedEmbedder::load(config).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.operation(), "IsolatedEmbedder::load");
}

#[test]
fn a_death_costs_what_was_asked_and_nothing_else() {
    let file = tiny(Some(3));
    let model = load(&file);
    let expect = block_on(model.embed(&TEXTS)).unwrap();
    let worker = model.process_id().unwrap();
    // It cannot answer before it dies.
    send(worker, Signal::STOP);
    let mut asked = Box::pin(model.embed(&TEXTS));
    block_on(async {
        let _ = futures::poll!(&mut asked);
    });
    send(worker, Signal::ABORT);
    send(worker, Signal::CONT);
    let error = block_on(asked).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(error.retry(), Retry::Temporary);
    wait_until(|| model.process_id().is_some_and(|process| process != worker));
    assert_eq!(block_on(model.embed(&TEXTS)).unwrap(), expect);
}
