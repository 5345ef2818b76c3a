//! `library certify`: whether skills help with a model, by tasks that are attempted with them and without.

use std::path::Path;

use journeyman::{
    Result,
    run::{Certificate, CertifiedSkill},
    stations::proof::{ComparePolicy, Conclusion},
};
use serde_json::json;

use super::{opened::Opening, paired};
use crate::{
    arguments::Certify,
    lift::in_points,
    output::{Answer, table, word},
    progress::Progress,
};

/// `library` is the folder that the arguments name, which comes before the file's.
pub(crate) async fn certify(library: Option<&Path>, command: &Certify) -> Result<Answer> {
    let policy = paired::policy((command.error, command.margin), command.most.get());
    // Before a model is loaded.
    policy.validate()?;
    let opening = Opening {
        library,
        needs_library: true,
        model: command.model.as_deref(),
        ..Opening::of(&command.file)
    };
    let run = opening.read()?.open().await?;
    let progress = Progress::of("attempting tasks with each skill and without it");
    let certified = run.journeyman.certify(policy).await;
    drop(progress);
    run.world.close().await;
    Ok(told(&certified?, policy))
}

fn told(certificate: &Certificate, policy: ComparePolicy) -> Answer {
    Answer {
        json: json!({
            "model": certificate.model,
            "error": policy.error,
            "margin": policy.margin,
            "most": policy.most,
            "skills": certificate.skills,
            "revision": certificate.revision,
            "tokens": certificate.usage.total(),
        }),
        text: text(certificate, policy.margin),
        ..Answer::default()
    }
}

fn text(certificate: &Certificate, margin: f64) -> String {
    let skills = &certificate.skills;
    if skills.is_empty() {
        return "no skill is in use or on trial, so that there is nothing to compare\n".to_owned();
    }
    let rows: Vec<Vec<String>> = skills.iter().map(|skill| row(skill, margin)).collect();
    let titles = ["SKILL", "VERSION", "STATE", "PAIRS", "POINTS", "VERDICT"];
    let model = certificate.model.as_ref();
    let model = model.map_or("a model that the agent does not name".to_owned(), |model| {
        model.to_string()
    });
    let mut text = format!(
        "{}\nWith {model}; {} tokens. POINTS: the mean score with the skill, less the one without it (with the version that was in use before, \
         for a next one on trial), times 100.\n",
        table(&titles, &rows),
        certificate.usage.total()
    );
    for skill in skills {
        if let Some(reason) = &skill.waits {
            text.push_str(&format!("{} is held back: {reason}.\n", skill.name));
        }
    }
    if skills.iter().any(|skill| skill.pairs == 0) {
        text.push_str(
            "No pair could be made: no kept attempt had the skill (a run keeps attempts with `set = { \"tiers.traces\" = 200 }` in its \
             file), or all that had it were at tasks that it was written from, or attempts failed for the moment (call it again).\n",
        );
    }
    text
}

fn row(skill: &CertifiedSkill, margin: f64) -> Vec<String> {
    let points = skill.difference.map_or("-".to_owned(), in_points);
    vec![
        skill.name.to_string(),
        skill.skill.version.to_string(),
        word(&skill.state),
        skill.pairs.to_string(),
        points,
        verdict(skill, margin),
    ]
}

fn verdict(skill: &CertifiedSkill, margin: f64) -> String {
    match skill.conclusion {
        _ if skill.pairs == 0 => "no pair could be made".to_owned(),
        Conclusion::Better => "helps".to_owned(),
        Conclusion::Worse => "harms".to_owned(),
        Conclusion::NoDifference => {
            format!("no difference larger than {:.1} points", margin * 100.0)
        }
        Conclusion::NotYet { more: Some(more) } => format!("not yet (about {more} more)"),
        _ => "not yet".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use journeyman::{
        Version,
        domain::{Revision, SkillRef, State, Usage},
    };

    use super::*;

    fn skill(conclusion: Conclusion, pairs: u64) -> CertifiedSkill {
        let skill = SkillRef {
            id: "brew".into(),
            version: Version(2),
        };
        let said = json!({
            "skill": skill,
            "name": "brew",
            "state": State::Trial,
            "conclusion": conclusion,
            "pairs": pairs,
            "difference": (pairs > 0).then_some(0.25),
        });
        serde_json::from_value(said).unwrap()
    }

    fn of(skills: Vec<CertifiedSkill>) -> Certificate {
        let said = json!({
            "model": "m",
            "skills": skills,
            "revision": Revision(3),
            "usage": Usage::new(900, 100),
        });
        serde_json::from_value(said).unwrap()
    }

    #[test]
    fn a_verdict_is_said_in_words() {
        let said = |conclusion, pairs| verdict(&skill(conclusion, pairs), 0.05);
        assert_eq!(said(Conclusion::Better, 8), "helps");
        assert_eq!(said(Conclusion::Worse, 8), "harms");
        let same = "no difference larger than 5.0 points";
        assert_eq!(said(Conclusion::NoDifference, 90), same);
        let about = Conclusion::NotYet { more: Some(12) };
        assert_eq!(said(about, 8), "not yet (about 12 more)");
        assert_eq!(said(about, 0), "no pair could be made");
        assert_eq!(said(Conclusion::NotYet { more: None }, 8), "not yet");
    }

    #[test]
    fn what_was_not_compared_says_why_it_may_be() {
        let compared = text(&of(vec![skill(Conclusion::Better, 9)]), 0.0);
        let row = "brew   2        trial  9      +25     helps\n";
        assert!(compared.contains(row), "{compared}");
        assert!(compared.contains("With m; 1000 tokens."), "{compared}");
        assert!(!compared.contains("tiers.traces"), "{compared}");
        let missing = text(&of(vec![skill(Conclusion::NotYet { more: None }, 0)]), 0.0);
        for reason in ["tiers.traces", "written from", "failed for the moment"] {
            assert!(missing.contains(reason), "{missing}");
        }
        assert!(text(&of(Vec::new()), 0.0).contains("nothing to compare"));
    }

    #[test]
    fn a_skill_that_helps_and_is_held_back_says_why() {
        let mut held = skill(Conclusion::Better, 9);
        held.waits = Some("it would break letter-3".to_owned());
        let said = text(&of(vec![held]), 0.0);
        assert!(
            said.contains("brew is held back: it would break letter-3.\n"),
            "{said}"
        );
    }
}
