//! Three calls in an agent's own loop, with a public model that pip fetches. The till refunds a ticket only after somebody looked it up.
#![allow(clippy::print_stdout, reason = "it shows what happens")]
use journeyman_local::{journeyman_llama_cpp::find_model, prelude::*};

#[tokio::main]
async fn main() -> Result<()> {
    let model = find_model("smollm2".as_ref(), "".as_ref(), &mut |_| ())?; // 93 MB, once
    let session = builder(model).library("library").open().await?;
    for n in 0..8 {
        let task = Task::new(n.to_string(), format!("Refund ticket T-{n} of customer A."));
        let mut attempt = session.begin(task).await?; // searches the library, and asks the gate
        let has_skill = attempt.prompt().contains("get_ticket");
        let calls = &["refund", "get_ticket", "refund"][usize::from(has_skill)..]; // your agent
        for &call in calls {
            let result = match call == "refund" && attempt.steps().is_empty() {
                true => StepResult::refused("get_ticket first", Source::trusted("till")),
                false => StepResult::new("done", Source::trusted("till")),
            };
            attempt.record(Step::new(Action::call(call, Default::default()), result));
        }
        println!("task {n}: {} calls", calls.len()); // 3 without a skill, 2 with one
        attempt.finish(Outcome::success()).await?; // credits the skill, and may write one
    }
    let findings = session.findings(); // what stands in the way
    findings.iter().for_each(|one| println!("note: {one}"));
    Ok(())
}
