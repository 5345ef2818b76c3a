//! The groups of figures that there are.

use super::{Bound, Figures, Outcome, stats};
use crate::{
    adapters, engine, field, gate, general, host, house, identity, library, main_job, papers,
    proof, real_models, recipes, second_hour,
};

/// Figures that are measured together.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The name on the command line.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// Whether `--list` names it.
    pub listed: bool,
    /// Whether it runs on another model with `--model`.
    pub takes_model: bool,
    /// Measures and records.
    pub run: fn(&mut Figures<'_>) -> Outcome,
}

/// All groups. A new one is a line here and a file beside this one.
const GROUPS: [Group; 38] = [
    Group {
        name: "main-job",
        about: "an agent that learns skills on real local inference",
        listed: true,
        takes_model: true,
        run: main_job::run,
    },
    Group {
        name: "general",
        about: "the bundled model as users' models are run: acting, roles, gate, tokens, context",
        listed: true,
        takes_model: true,
        run: general::run,
    },
    Group {
        name: "general-context",
        about: "long attempts and full roles in a context of 2,048: a part of `general`",
        listed: false,
        takes_model: true,
        run: general::run_context,
    },
    Group {
        name: "quickstart-story",
        about: "the quickstart as people see it, with the services of its travel office",
        listed: true,
        takes_model: true,
        run: general::run_story,
    },
    Group {
        name: "gate",
        about: "which score chooses among skills that others wrote, and refuses where none is right; wants --data",
        listed: true,
        takes_model: true,
        run: gate::run,
    },
    Group {
        name: "retrieval",
        about: "what a search finds for the gate in libraries of 36 to 10,000 skills; wants --data",
        listed: true,
        takes_model: false,
        run: gate::run_retrieval,
    },
    Group {
        name: "field",
        about: "what models really write: the calls of each family, and damaged answers",
        listed: true,
        takes_model: false,
        run: field::run,
    },
    Group {
        name: "library",
        about: "the library on disk: losses, safety, interchange, costs",
        listed: true,
        takes_model: false,
        run: library::run,
    },
    Group {
        name: "redaction",
        about: "what is taken for a secret: the part of `library` that needs no build of the command",
        listed: false,
        takes_model: false,
        run: library::run_redaction,
    },
    Group {
        name: "engine",
        about: "the engine: many askers at once, exactness, speed beside a bare loop",
        listed: true,
        takes_model: false,
        run: engine::run,
    },
    Group {
        name: "real-models",
        about: "a public model beside llama.cpp as others ship it: speed, a busy neighbor, precision, the quickstart",
        listed: true,
        takes_model: false,
        run: real_models::run,
    },
    Group {
        name: "gpu",
        about: "a model on a GPU; run it by `bash tests/gpu.sh`, which builds the backend",
        listed: false,
        takes_model: true,
        run: real_models::run_gpu,
    },
    Group {
        name: "arise-hisme",
        about: "the recipes of the papers: HiSME with its ablations, the overlap graph",
        listed: true,
        takes_model: true,
        run: recipes::run,
    },
    Group {
        name: "hisme",
        about: "HiSME with its ablations, from a poisoned start too: the part of `arise-hisme` that is not about ARISE",
        listed: false,
        takes_model: true,
        run: recipes::run_hisme,
    },
    Group {
        name: "hisme-harm",
        about: "which skills stand in the prompts of tasks that HiSME's library harms: a part of `hisme`",
        listed: false,
        takes_model: true,
        run: recipes::run_hisme_harm,
    },
    Group {
        name: "arise-sweeps",
        about: "ARISE with other exploration, cache sizes and warm-ups, and without generation",
        listed: true,
        takes_model: true,
        run: recipes::run_sweeps,
    },
    Group {
        name: "hisme-departures",
        about: "HiSME as in the paper and ours, and what each option in which they differ brings",
        listed: true,
        takes_model: true,
        run: recipes::run_departures,
    },
    Group {
        name: "frozen-rules",
        about: "what rules that another world taught do to the skills that are written under them",
        listed: true,
        takes_model: true,
        run: recipes::run_frozen_rules,
    },
    Group {
        name: "meaning",
        about: "learning runs with a real sentence encoder and without",
        listed: true,
        takes_model: true,
        run: recipes::run_meaning,
    },
    Group {
        name: "unresettable",
        about: "HiSME and ARISE in worlds that cannot be set up again, with nothing replayed",
        listed: true,
        takes_model: true,
        run: recipes::run_unresettable,
    },
    Group {
        name: "scribe-skillos-skillrl",
        about: "SCRIBE, SkillOS and SkillRL; all recipes and three mixed ones with the same number of model tokens",
        listed: true,
        takes_model: true,
        run: papers::run,
    },
    Group {
        name: "skillos-groups",
        about: "SkillOS in groups of tasks against one task after the other, on as many tasks",
        listed: true,
        takes_model: true,
        run: papers::run_groups,
    },
    Group {
        name: "skillrl-growth",
        about: "the number of skills in SkillRL's bank while it learns",
        listed: true,
        takes_model: true,
        run: papers::run_growth,
    },
    Group {
        name: "scribe-reasons",
        about: "why SCRIBE's routes differ from the clusters that come later, and which cuts differ from the world's own",
        listed: true,
        takes_model: true,
        run: papers::run_reasons,
    },
    Group {
        name: "published-bank",
        about: "the bank of SkillRL's published memories: the part of `scribe-skillos-skillrl` that learns nothing",
        listed: false,
        takes_model: true,
        run: papers::run_published,
    },
    Group {
        name: "host",
        about: "a host's first hour: kills, the own loop, large libraries, answers, a library shipped twice",
        listed: true,
        takes_model: false,
        run: host::run,
    },
    Group {
        name: "second-hour",
        about: "a host's second hour: what was measured, undo, live use, two processes, repeated evaluations",
        listed: true,
        takes_model: false,
        run: second_hour::run,
    },
    Group {
        name: "house",
        about: "that what was rebuilt leaves the same bytes",
        listed: true,
        takes_model: false,
        run: house::run,
    },
    Group {
        name: "identity",
        about: "the same skill in ten wordings: what becomes of the library, by bytes and by meaning",
        listed: true,
        takes_model: true,
        run: identity::run,
    },
    Group {
        name: "proof",
        about: "does it help: how often what is said of a skill is wrong, and how many attempts it takes",
        listed: true,
        takes_model: true,
        run: proof::run,
    },
    Group {
        name: "proof-ledger",
        about: "the ledger, proof and credit in one world against the truth: a part of `proof`",
        listed: false,
        takes_model: true,
        run: proof::run_world,
    },
    Group {
        name: "proof-injections",
        about: "the gate fitted on outcomes, in held-out worlds: a part of `proof`",
        listed: false,
        takes_model: true,
        run: proof::run_injections,
    },
    Group {
        name: "proof-neighbours",
        about: "a new skill that would break a neighbour: a part of `proof`",
        listed: false,
        takes_model: true,
        run: proof::run_neighbours,
    },
    Group {
        name: "proof-other-model",
        about: "a proven library under another model: the part of `proof` that fetches one",
        listed: false,
        takes_model: true,
        run: proof::run_other_model,
    },
    Group {
        name: "runs",
        about: "`journeyman run` on a toy environment and on BFCL: the part of `adapters` that uses the command",
        listed: false,
        takes_model: false,
        run: adapters::runs::run,
    },
    Group {
        name: "openai",
        about: "model servers: the part of `adapters` that needs no other set-up",
        listed: false,
        takes_model: false,
        run: adapters::openai::figures,
    },
    Group {
        name: "adapters",
        about: "in its users' world: embedding models, servers, environments and tools of others",
        listed: true,
        takes_model: false,
        run: adapters::run,
    },
    Group {
        name: "self-test",
        about: "that the frame works; always ok",
        listed: false,
        takes_model: false,
        run: self_test,
    },
];

/// All groups.
pub fn groups() -> &'static [Group] {
    &GROUPS
}

fn self_test(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let coins: Vec<f64> = figures.once("coins", || {
        Ok((0..400)
            .map(|i| (seed.derive("coin", i).unit() < 0.5) as u8 as f64)
            .collect())
    })?;
    let interval = stats::t_interval(&coins);
    figures.progress(format_args!("threw {} coins", interval.n));
    figures.interval(
        "heads",
        &interval,
        Bound::AtLeast(0.35),
        Bound::AtMost(0.65),
    );
    match figures.data("coins.csv") {
        Some(_) => figures.record("real heads", 0.5, Bound::None),
        None => figures.skip("real heads", "needs --data DIR with coins.csv"),
    }
    Ok(())
}
