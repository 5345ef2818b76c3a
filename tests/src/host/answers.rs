//! Answers as instruct models give them: what of them is read.

use std::collections::BTreeMap;

use journeyman::{
    agent::{ChatFormat, role::GeneralRoles},
    testing::{AnswerCase, AnswerTo, answers, held_back_answers, read_answers},
};

use crate::figures::{Bound, Figures, Outcome};

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let (prompt_format, roles) = (ChatFormat::default(), GeneralRoles::shipped()?);
    for (set, cases) in [
        ("answers", answers()),
        ("answers held back", held_back_answers()),
    ] {
        let bound = match set {
            "answers" => Bound::AtLeast(60.0),
            _ => Bound::None,
        };
        figures.record(&format!("{set}: number"), cases.len() as f64, bound);
        for (to, of_it) in by_reader(&cases) {
            let read = read_answers(&of_it, &prompt_format, &roles);
            let (right, wrong) = (
                read.read_rightly + read.refused_rightly,
                read.read_wrongly + read.refused_wrongly,
            );
            figures.record(&format!("{set}: {to}: right"), right as f64, Bound::None);
            figures.record(
                &format!("{set}: {to}: wrong"),
                wrong as f64,
                Bound::AtMost(0.0),
            );
        }
        let read = read_answers(&cases, &prompt_format, &roles);
        let counts = [
            ("read rightly", read.read_rightly, Bound::None),
            ("refused rightly", read.refused_rightly, Bound::None),
            ("read wrongly", read.read_wrongly, Bound::AtMost(0.0)),
            ("refused wrongly", read.refused_wrongly, Bound::AtMost(0.0)),
        ];
        for (what, count, bound) in counts {
            figures.record(&format!("{set}: {what}"), count as f64, bound);
        }
        let faults = read.faults();
        if !faults.is_empty() {
            figures.progress(format_args!("{faults}"));
        }
    }
    Ok(())
}

/// The cases by whom they are for: actions, and each role.
fn by_reader(cases: &[AnswerCase]) -> BTreeMap<String, Vec<AnswerCase>> {
    let mut by_reader = BTreeMap::<String, Vec<AnswerCase>>::new();
    for case in cases {
        let to = match &case.to {
            AnswerTo::Turn(_) => "actions".to_owned(),
            AnswerTo::Role(role) => format!("role {role}"),
        };
        by_reader.entry(to).or_default().push(case.clone());
    }
    by_reader
}
