//! Events.

use tracing::{Level, Span, event};

use crate::{
    domain::{Decision, NothingReason, ScoreKind, Selection, SkillRef, Verdict},
    run::report::{Event, EventKind, LiftReport},
    telemetry::number::int,
};

/// A verdict, as an event of the span of the judgement.
pub(crate) fn judged(span: &Span, verdict: &Verdict) {
    let label = match verdict.success() {
        Some(true) => "done",
        Some(false) => "not_done",
        None => "undecided",
    };
    event!(
        name: "gen_ai.evaluation.result",
        parent: span,
        Level::INFO,
        gen_ai.evaluation.name = "success",
        gen_ai.evaluation.score.value = verdict.score(),
        gen_ai.evaluation.score.label = label,
        "gen_ai.evaluation.result"
    );
}

/// What a run decided or found out: the gate's decisions and their drift, credits, proofs, and verdicts on lifts.
pub(crate) fn happened(event: &Event) {
    let attempt = event.attempt.as_ref().map(|attempt| attempt.as_str());
    match &event.kind {
        EventKind::Selected { selection, .. } => gate(attempt, selection),
        EventKind::ScoresDrifted {
            decisions,
            evidence,
        } => event!(
            name: "journeyman.drift",
            Level::WARN,
            journeyman.drift.decisions = int(*decisions),
            journeyman.drift.evidence = evidence,
            "journeyman.drift"
        ),
        EventKind::Credited { skill, reward, .. } => event!(
            name: "journeyman.credit",
            Level::INFO,
            gen_ai.conversation.id = attempt,
            journeyman.skill.id = %skill.id,
            journeyman.skill.version = int(skill.version.0),
            journeyman.credit.value = reward,
            journeyman.credit.method = "reward",
            "journeyman.credit"
        ),
        EventKind::Attributed {
            skill, judgement, ..
        } => event!(
            name: "journeyman.credit",
            Level::INFO,
            gen_ai.conversation.id = attempt,
            journeyman.skill.id = %skill.id,
            journeyman.skill.version = int(skill.version.0),
            journeyman.credit.value = %judgement,
            journeyman.credit.method = "attribution",
            "journeyman.credit"
        ),
        EventKind::Proven {
            skill,
            model,
            helps,
            ..
        } => event!(
            name: "journeyman.proof",
            Level::INFO,
            gen_ai.request.model = %model,
            journeyman.skill.id = %skill.id,
            journeyman.skill.version = int(skill.version.0),
            journeyman.proof.verdict = if *helps { "helps" } else { "harms" },
            "journeyman.proof"
        ),
        EventKind::LiftChanged { lift } => lift_changed(lift),
        _ => {}
    }
}

/// A verdict on a skill, or on the library as a whole where no skill is named.
fn lift_changed(lift: &LiftReport) {
    let (model, skill) = (lift.model.as_ref(), lift.skill.as_ref());
    let verdict = match lift.helps {
        Some(true) => "helps",
        Some(false) => "harms",
        None => "not_known",
    };
    event!(
        name: "journeyman.lift",
        Level::INFO,
        gen_ai.request.model = model.map(|model| model.as_str()),
        journeyman.skill.id = skill.map(|skill| skill.id.as_str()),
        journeyman.skill.version = skill.map(|skill| int(skill.version.0)),
        journeyman.lift.verdict = verdict,
        journeyman.lift.difference = lift.difference,
        journeyman.lift.low = lift.low,
        journeyman.lift.high = lift.high,
        journeyman.lift.given = int(lift.given),
        journeyman.lift.withheld = int(lift.withheld),
        "journeyman.lift"
    );
}

/// One event for each skill that was injected, or one for the best that was not.
fn gate(attempt: Option<&str>, selection: &Selection) {
    let (decision, threshold) = match &selection.decision {
        Decision::Inject { .. } => ("inject", None),
        Decision::Nothing(reason) => declined(reason),
    };
    let kind = selection.score.map(ScoreKind::name);
    let is_tried = |skill: &SkillRef| selection.quarantined.contains(skill);
    let tell = |skill: Option<&SkillRef>| {
        let scored = selection.candidates.iter();
        let mut scored = scored.filter(|one| skill == Some(&one.skill));
        event!(
            name: "journeyman.gate",
            Level::INFO,
            gen_ai.conversation.id = attempt,
            journeyman.skill.id = skill.map(|skill| skill.id.as_str()),
            journeyman.skill.version = skill.map(|skill| int(skill.version.0)),
            journeyman.skill.quarantined = skill.and_then(|skill| is_tried(skill).then_some(true)),
            journeyman.gate.score = scored.next().map(|one| one.value),
            journeyman.gate.score_kind = kind,
            journeyman.gate.threshold = threshold,
            journeyman.gate.decision = decision,
            "journeyman.gate"
        );
    };
    match selection.skills() {
        [] => tell(selection.best().map(|best| &best.skill)),
        skills => skills.iter().for_each(|skill| tell(Some(skill))),
    }
}

/// Why nothing was injected, as one of a few names, and the threshold that was not reached.
fn declined(reason: &NothingReason) -> (&'static str, Option<f64>) {
    match reason {
        NothingReason::NoCandidates => ("no_candidates", None),
        NothingReason::NotKnown => ("not_known", None),
        NothingReason::BelowRelative { threshold, .. } => ("below_relative", Some(*threshold)),
        NothingReason::BelowAbsolute { threshold, .. } => ("below_absolute", Some(*threshold)),
        NothingReason::Uncalibrated(_) => ("uncalibrated", None),
        NothingReason::ScorerUnavailable(_) => ("scorer_unavailable", None),
        NothingReason::RetrieverUnavailable(_) => ("retriever_unavailable", None),
        NothingReason::SelectorFailed(_) => ("selector_failed", None),
        NothingReason::Withheld => ("withheld", None),
        NothingReason::Disabled => ("disabled", None),
        NothingReason::WarmUp => ("warm_up", None),
    }
}
