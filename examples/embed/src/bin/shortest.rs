//! The shortest host: the model `model.gguf` works at a desk that closes a ticket only after its customer was verified. No task says
//! so. What it learns is kept in `library`.
#![allow(clippy::print_stdout, reason = "it shows what happens")]
use journeyman_local::prelude::*;
pub(crate) async fn learn(model: impl Into<Model>) -> Result<()> {
    let tools = ["verify_customer", "close_ticket"].map(|name| tool::<()>(name, name));
    let world = FnEnvironment::new(Source::trusted("desk"), tools, |known: &mut bool, call| {
        *known |= call.tool == "verify_customer";
        match (call.tool.as_str(), *known) {
            ("close_ticket", true) => Reply::done("The ticket is closed."),
            ("close_ticket", false) => Reply::refused("Verify the customer first."),
            _ => Reply::next("The customer is verified."),
        }
    })?;
    let parts = builder(model).environment(world).library("library");
    let desk = parts.open().await?;
    let task = |n: u32| Task::new(n.to_string(), format!("Close ticket T-{n} of customer A."));
    let before = desk.evaluate((100..140).map(task).collect()).await?; // changes nothing
    desk.learn((0..24).map(task).collect()).await?; // other tasks
    let after = desk.evaluate((100..140).map(task).collect()).await?;
    println!("before: {before}after: {after}");
    Ok(())
}
#[tokio::main]
async fn main() -> Result<()> {
    learn("model.gguf").await
}
