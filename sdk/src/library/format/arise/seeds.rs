//! The seed skills of a library.

use super::{AriseDocument, DEFAULT_CHECK, document::Fields};

/// The five skills that a library starts with (ARISE Table 5). Names, types and insights are the paper's. The methods are
/// ours, since the paper does not print them. Each document has at most 220 characters, the limit of the paper's text.
pub fn seed_skills() -> Vec<AriseDocument> {
    SEEDS
        .iter()
        .map(|(name, problem_type, insight, method)| AriseDocument {
            fields: Fields {
                skill_name: (*name).to_owned(),
                problem_type: (*problem_type).to_owned(),
                key_insight: (*insight).to_owned(),
                method: method.iter().map(|step| (*step).to_owned()).collect(),
                check: DEFAULT_CHECK.to_owned(),
            },
        })
        .collect()
}

type Seed = (&'static str, &'static str, &'static str, [&'static str; 2]);

const SEEDS: [Seed; 5] = [
    (
        "equation_setup",
        "algebra",
        "Translate word-problem quantities into variables and equations before solving",
        [
            "Name each unknown",
            "Write one equation a relation, then solve",
        ],
    ),
    (
        "modular_arithmetic_check",
        "number_theory",
        "Reduce expressions modulo small primes to constrain or verify integer solutions",
        [
            "Pick a small modulus",
            "Rule out residues that cannot occur",
        ],
    ),
    (
        "case_enumeration",
        "general",
        "Systematically split into exhaustive cases and verify each independently",
        [
            "List cases that leave nothing out",
            "Settle each case, then combine",
        ],
    ),
    (
        "symmetry_exploitation",
        "general",
        "Identify and leverage algebraic or geometric symmetry to simplify the problem",
        [
            "Find what may be swapped or mirrored",
            "Solve one representative",
        ],
    ),
    (
        "extremal_principle",
        "general",
        "Consider boundary or extremal configurations to establish bounds or find optima",
        [
            "Take the largest or smallest case",
            "Show that no other does better",
        ],
    ),
];
