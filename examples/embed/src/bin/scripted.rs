//! The programs beside this one on the scripted model of `examples/host`, so that they run without a GGUF file:
//! `cargo run -p embed --bin scripted [shortest | hand_over | own_loop]`.
use std::sync::Arc;

use host::model::Scripted;
use journeyman::Result;
use journeyman_local::Model;

#[path = "hand_over.rs"]
#[allow(dead_code, reason = "its main loads a GGUF file")]
mod hand_over;
#[path = "own_loop.rs"]
#[allow(dead_code, reason = "its main loads a GGUF file")]
mod own_loop;
#[path = "shortest.rs"]
#[allow(dead_code, reason = "its main loads a GGUF file")]
mod shortest;

#[tokio::main]
async fn main() -> Result<()> {
    let model = Arc::new(Scripted::default());
    match std::env::args().nth(1).as_deref() {
        Some("own_loop") => own_loop::learn(model).await,
        Some("shortest") => shortest::learn(Model::new(model)).await,
        _ => hand_over::learn(model).await,
    }
}
