//! Answers as instruct models give them: what of them is read.

use journeyman::{
    builtin::ChatDialect,
    role::GeneralRoles,
    testing::{answers, held_back_answers, read_answers},
};

use crate::figures::{Bound, Figures, Outcome};

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let (dialect, roles) = (ChatDialect::default(), GeneralRoles::shipped()?);
    for (set, cases) in [
        ("answers", answers()),
        ("answers held back", held_back_answers()),
    ] {
        let bound = match set {
            "answers" => Bound::AtLeast(60.0),
            _ => Bound::None,
        };
        figures.record(&format!("{set}: number"), cases.len() as f64, bound);
        let read = read_answers(&cases, &dialect, &roles);
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
