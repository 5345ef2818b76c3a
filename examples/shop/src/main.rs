//! Learned skills beside a person's: `cargo run -p shop -- [--seed N] [--model smollm2|FILE]`. The model scores skills.
#![allow(clippy::print_stdout, reason = "it shows what happens")]

use std::{env, path::Path, sync::Arc};

use journeyman::{agent::MemoryStore, contract::Scorer, prelude::*, stations::select::First};
use journeyman_disk::read_skills;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, find_model};
use shop::{Figures, desk::tasks};

#[tokio::main]
async fn main() -> Result<()> {
    let option = |name| env::args().skip_while(|one| one != name).nth(1);
    let number = option("--seed").and_then(|number| number.parse().ok());
    let seed = Seed(number.unwrap_or(1));
    let (scorer, nats): (Arc<dyn Scorer>, _) = match option("--model") {
        None => (Arc::new(shop::scripted::scorer()), 5.0),
        Some(name) => {
            let file = find_model(name.as_ref(), Path::new(""), &mut |line| println!("{line}"))?;
            (LlamaCpp::load(LlamaConfig::new(file))?, 14.0) // see examples/threshold.rs
        }
    };
    let parts = shop::parts(scorer)?;
    let open = |recipe| Journeyman::open(parts.clone(), recipe, Options::new("shop", seed));
    let none = open(shop::gate(nats)).await?;
    let handed_over = open(shop::gate(nats)).await?;
    handed_over.learn(tasks(seed, 36, false)).await?;
    let own_loop = open(shop::gate(nats)).await?;
    for (number, task) in (0..).zip(tasks(seed, 36, false)) {
        shop::serve(&own_loop, task, seed.derive("serve", number)).await?;
    }
    let mut plain_search = recipe::standard();
    plain_search.select.selector = First.into();
    let person = open(plain_search).await?;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/skills");
    let skills = read_skills(folder, &MemoryStore::new()).await?;
    person.add(skills, "by a person").await?;
    let (held_out, sessions) = (tasks(seed, 72, true), [none, person, handed_over, own_loop]);
    let names = ["none", "a person's", "handed over", "own loop"];
    println!("skills        done at once  with a rule  without  wrong skill  undecided");
    for (name, session) in names.iter().zip(sessions) {
        let Figures(done, wrong, undecided) = shop::measure(&session, &held_out).await?;
        let [all, rule, none] = done.map(|share| 100.0 * share);
        println!("{name:12} {all:12.0}% {rule:11.0}% {none:7.0}% {wrong:12} {undecided:10}");
    }
    Ok(())
}
