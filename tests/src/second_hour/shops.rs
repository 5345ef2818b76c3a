//! The shop: what is learned beside a person's skills and a plain search, with the scripted scorer and with SmolLM2's scores.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Seed,
    agent::MemoryStore,
    contract::Scorer,
    recipe,
    run::{Journeyman, Options},
    stations::select::First,
};
use journeyman_disk::read_skills;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp, PublicModel};
use serde::{Deserialize, Serialize};
use shop::desk::tasks;

use super::{Failure, by_a_person, open_with};
use crate::figures::{Bound, Figures, Outcome};

/// Shares of held-out requests that were done without a refused call.
#[derive(Serialize, Deserialize)]
struct Done {
    none: f64,
    person: f64,
    handed_over: f64,
    own_loop: f64,
    /// Requests at which a learned skill led to a refused call, in both ways in.
    wrong: usize,
}

pub(super) fn record(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let scripted = Arc::new(shop::scripted::scorer());
    let done = block_on(compared(scripted, 5.0, seed))?;
    told(figures, "a scripted scorer", &done);
    let done: Done = figures.once("the shop with SmolLM2's scores", || {
        let path = PublicModel::named("smollm2")
            .ok_or("smollm2 is not known")?
            .fetch(&mut |_| {})?;
        // Fitted on other seeds: `examples/shop/examples/threshold.rs`.
        block_on(compared(
            LlamaCpp::load(LlamaConfig::new(path))?,
            14.0,
            seed,
        ))
    })?;
    told(figures, "SmolLM2", &done);
    Ok(())
}

fn told(figures: &mut Figures<'_>, scorer: &str, done: &Done) {
    let mut say = |what: &str, value: f64, bound: Bound| {
        figures.record(&format!("the shop, {scorer}: {what}"), value, bound);
    };
    say(
        "done at once without skills, %",
        100.0 * done.none,
        Bound::None,
    );
    say(
        "done at once with a person's skills and a plain search, %",
        100.0 * done.person,
        Bound::None,
    );
    for (way, share) in [
        ("handed over", done.handed_over),
        ("own loop", done.own_loop),
    ] {
        say(
            &format!("done at once with learned skills, {way}, %"),
            100.0 * share,
            Bound::None,
        );
        say(
            &format!("the same less a person's skills with a plain search, points, {way}"),
            100.0 * (share - done.person),
            Bound::AtLeast(0.0),
        );
    }
    say(
        "requests at which a learned skill was wrong",
        done.wrong as f64,
        Bound::None,
    );
}

async fn compared(scorer: Arc<dyn Scorer>, nats: f64, seed: Seed) -> Result<Done, Failure> {
    let parts = shop::parts(scorer)?;
    let open = |recipe| open_with(&parts, recipe, Options::new("shop", seed));
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
    let skills = read_skills(by_a_person(), &MemoryStore::new()).await?;
    person.add(skills, "by a person").await?;
    let held_out = tasks(seed, 72, true);
    let measured = async |session: &Journeyman| shop::measure(session, &held_out).await;
    let (handed_over, own_loop) = (measured(&handed_over).await?, measured(&own_loop).await?);
    Ok(Done {
        none: measured(&none).await?.0[0],
        person: measured(&person).await?.0[0],
        handed_over: handed_over.0[0],
        own_loop: own_loop.0[0],
        wrong: handed_over.1 + own_loop.1,
    })
}
