//! The rules of [`Embedder`](journeyman::contract::Embedder) on a real model and a real ONNX Runtime.

use futures::executor::block_on;
use journeyman::testing::conformance::embedder;
use journeyman_fastembed::{FastEmbedder, Pooling};

use crate::support;

#[test]
#[ignore = "needs ORT_DYLIB_PATH: what tests/adapters/fastembed.sh prints"]
fn it_embeds() {
    for pooling in [Pooling::Mean, Pooling::Cls] {
        let model = FastEmbedder::load(support::with_runtime(pooling)).unwrap();
        let report = block_on(embedder::check(&*model));
        println!("{report}");
        assert_eq!(report.skipped().count(), 0, "{report}");
        report.into_result().unwrap();
    }
}
