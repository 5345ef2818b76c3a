//! Keep your own loop: `cargo run -p embed --bin own_loop` makes the folder `library` where it is started.
#![allow(clippy::print_stdout, reason = "it shows what happens")]
use std::path::Path;

use host::{model::Scripted, own_loop, tasks::task};
use journeyman::prelude::*;

/// The host's own world: a till that refunds a ticket only after it was looked up. No task says so.
#[derive(Default)]
struct Till {
    looked_up: bool,
    refunded: bool,
}

impl Till {
    /// The answer to a call; `Err` where the till refuses.
    fn call(&mut self, tool: &str) -> std::result::Result<&'static str, &'static str> {
        match tool {
            "refund" if !self.looked_up => return Err("call get_ticket first"),
            "refund" => self.refunded = true,
            _ => self.looked_up = true,
        }
        Ok("done")
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let model = Scripted::default();
    let options = Options::new("till", Seed(7));
    let session = own_loop::open(Path::new("library"), recipe::standard(), options).await?;
    for n in 0..20 {
        let (mut till, mut said, mut refused) = (Till::default(), Vec::new(), 0);
        let mut attempt = session.begin(task(2 * n + 1)).await?;
        let prompt = attempt.prompt(); // the task, behind a skill where one was chosen
        while !till.refunded {
            let Some(call) = model.next_call(&prompt, &said, 0.5) else {
                break;
            };
            said.push(call.tool.clone());
            let source = Source::trusted("till");
            let result = match till.call(&call.tool) {
                Ok(text) => StepResult::new(text, source),
                Err(text) => StepResult::refused(text, source),
            };
            refused += usize::from(result.is_error);
            attempt.record(Step::new(Action::Call(vec![call]), result));
        }
        let skilled = attempt.skill().is_some();
        println!("task {n}: {refused} calls refused, with a skill: {skilled}");
        attempt.finish(Outcome::from(till.refunded)).await?;
    }
    Ok(())
}
