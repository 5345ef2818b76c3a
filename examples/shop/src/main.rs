//! Learned skills beside a person's: `cargo run -p shop -- [--seed N] [--model smollm2|FILE]`. The model scores skills.
#![allow(clippy::print_stdout, reason = "it shows what happens")]

use std::{env, path::Path, sync::Arc};

use journeyman::{contract::Scorer, prelude::*};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, find_model};

#[tokio::main]
async fn main() -> Result<()> {
    let option = |name| env::args().skip_while(|one| one != name).nth(1);
    let seed = option("--seed").and_then(|seed| seed.parse().ok());
    let scorer: Arc<dyn Scorer> = match option("--model") {
        None => Arc::new(shop::scripted::scorer()),
        Some(name) => {
            let say = &mut |line: &str| println!("{line}");
            let file = find_model(name.as_ref(), Path::new(""), say)?;
            LlamaCpp::load(LlamaConfig::new(file))?
        }
    };
    println!("skills        done at once  with a rule  without  wrong skill  undecided");
    let seed = Seed(seed.unwrap_or(1));
    let figures = shop::figures::compare(scorer, recipe::standard(), seed).await?;
    for (skills, one) in ["none", "a person's", "handed over", "own loop"]
        .iter()
        .zip(figures)
    {
        let [all, rule, none] = one.done.map(|share| 100.0 * share);
        let (wrong, undecided) = (one.wrong, one.undecided);
        println!("{skills:12} {all:12.0}% {rule:11.0}% {none:7.0}% {wrong:12} {undecided:10}");
    }
    Ok(())
}
