//! The rules of [`Embedder`](journeyman::contract::Embedder) on a real model and a real ONNX Runtime.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use futures::executor::block_on;
use journeyman::conformance::embedder;
use journeyman_fastembed::{FastEmbedder, Pooling};

mod support;

#[test]
fn it_embeds() {
    for pooling in [Pooling::Mean, Pooling::Cls] {
        let Some(config) = support::with_runtime(pooling) else {
            return;
        };
        let model = FastEmbedder::load(config).unwrap();
        let report = block_on(embedder::check(&*model));
        println!("{report}");
        assert_eq!(report.skipped().count(), 0, "{report}");
        report.into_result().unwrap();
    }
}
