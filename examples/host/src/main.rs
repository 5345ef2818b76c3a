//! Both ways in, on a library on disk, and a restart: `cargo run -p host [FOLDER]`.
#![allow(clippy::print_stdout, reason = "it shows what happens")]

use std::{path::PathBuf, sync::Arc};

use host::{desk::Desk, hand_over, judge::Supervisor, model::Scripted, own_loop, tasks::task};
use journeyman::{Seed, prelude::*};

#[tokio::main]
async fn main() -> Result<()> {
    let folder = std::env::args()
        .nth(1)
        .map_or_else(fresh_folder, PathBuf::from);
    println!(
        "== Hand over the tasks (library in {})",
        folder.join("shop").display()
    );
    let model = Arc::new(Scripted::default());
    let (tasks, held_out) = ((0..12).map(task).collect(), (100..120).map(task).collect());
    let (world, judge, library) = (Arc::new(Desk), Arc::new(Supervisor), folder.join("shop"));
    let (before, after) =
        hand_over::learn_and_compare(model, world, judge, &library, tasks, held_out).await?;
    println!("before: {before}after: {after}");

    println!(
        "== Keep your own loop (library in {})",
        folder.join("own").display()
    );
    for start in ["first start", "after a restart"] {
        let options = Options::new("own-loop", Seed(7));
        let journeyman = own_loop::open(&folder.join("own"), recipe::standard(), options).await?;
        let skills = journeyman.library().await?.entries().count();
        let (mut clean, mut skilled) = (0, 0);
        for n in 0..20 {
            let mut task = task(n);
            task.id = format!("{start}-{n}").into();
            let (done, with_skill) =
                own_loop::one_task(&journeyman, &Scripted::default(), task).await?;
            clean += u32::from(done);
            skilled += u32::from(with_skill);
        }
        println!(
            "{start}: began with {skills} skills; of 20 tasks {clean} done at once, {skilled} with a skill"
        );
    }
    Ok(())
}

/// A folder of its own for each run without an argument.
fn fresh_folder() -> PathBuf {
    std::env::temp_dir().join(format!("journeyman-host-{}", std::process::id()))
}
