//! An engine that finds no memory for its context goes on once there is some. Alone in its process, whose memory it
//! limits.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::fs;

use futures::executor::block_on;
use journeyman::{
    ErrorKind, Retry,
    contract::{GenerateRequest, LanguageModel},
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{Lora, TestFile, Tiny, prompt};

/// Bytes of address space that this process has taken.
fn taken() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let size = lines.find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let kibibytes: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
    kibibytes << 10
}

#[test]
fn a_context_that_finds_no_memory_is_tried_again_with_every_request() {
    // Some 130 MiB of keys and values, and as much to compute in.
    let model = Tiny {
        context: 1 << 18,
        ..Tiny::default()
    };
    let before = taken();
    let model = model.load_with(|config| {
        config.n_ctx = Some(1 << 18);
        config.n_batch = 16;
        config.n_seq_max = 16;
    });
    let size = taken() - before;
    let request = GenerateRequest::greedy(prompt("turn on the lamp"), 8);
    let expect = block_on(model.generate(&request)).unwrap();
    let lora = TestFile::new("lora.gguf", &Lora::default().bytes());

    // Under the limit nothing can be had of the system; what is given back then is what this thread itself goes on with.
    let spare: Vec<Vec<u8>> = (0..8192)
        .map(|at| Vec::with_capacity(24 + at % 1024))
        .collect();
    let whole = getrlimit(Resource::As);
    let short = Rlimit {
        // Room for all but a new context.
        current: Some(taken() - size / 4),
        maximum: whole.maximum,
    };
    setrlimit(Resource::As, short).unwrap();
    drop(spare);
    let changed = block_on(model.load_adapter("one", &lora.0));
    let refused = [(); 2].map(|()| block_on(model.generate(&request)));
    let forgotten = block_on(model.forget_prefixes());
    setrlimit(Resource::As, whole).unwrap();

    changed.unwrap();
    for error in refused.map(Result::unwrap_err) {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert_eq!(error.retry(), Retry::Temporary, "{error}");
        assert!(error.message().contains("context"), "{error}");
    }
    assert_eq!(
        forgotten.unwrap_err().kind(),
        ErrorKind::Unavailable,
        "prefixes"
    );
    assert_eq!(block_on(model.generate(&request)).unwrap(), expect);
    let stats = model.stats();
    assert_eq!((stats.answered, stats.failed), (2, 2));
    let mut tuned = request.clone();
    tuned.adapter = Some("one".to_owned());
    assert_ne!(block_on(model.generate(&tuned)).unwrap().ids, expect.ids);
}
