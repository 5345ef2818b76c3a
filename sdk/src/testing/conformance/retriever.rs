//! The conformance suite of [`Retriever`].

use std::{collections::BTreeMap, sync::Arc};

use super::report::{Report, Tried, require, require_error};
use crate::{
    contract::Retriever,
    domain::{
        Candidate, IndexUpdate, Kind, Origin, Provenance, Query, Scope, Skill, SkillName, State,
        Taint,
    },
    error::{ErrorKind, Result},
    id::{CommitKey, Revision, SkillId, Version},
};

type Index = Arc<dyn Retriever>;

/// Checks a retriever; every call of `fresh` has to return an empty one.
pub async fn check(fresh: impl AsyncFn() -> Result<Index>) -> Report {
    let mut report = Report::new("Retriever");
    report.case("refresh", refresh(&fresh).await);
    report.case("watermark", watermark(&fresh).await);
    report.case("idempotent", idempotent(&fresh).await);
    report.case("gap", gap(&fresh).await);
    report.case("anew", anew(&fresh).await);
    report.case("past", past(&fresh).await);
    report.case("limit", limit(&fresh).await);
    report.case("among", among(&fresh).await);
    report.case("ties", ties(&fresh).await);
    report.case("any text", any_text(&fresh).await);
    report
}

/// A skill with one distinctive word each in its name, description, trigger and body.
fn skill(id: &str, words: [&str; 4]) -> Skill {
    let [name, description, trigger, body] = words;
    Skill {
        id: SkillId::new(id),
        version: Version(1),
        name: SkillName::slug(name).unwrap_or_default(),
        original_name: None,
        description: format!("It tells how to {description} things."),
        kind: Kind::Workflow,
        scope: Scope::General,
        state: State::Active,
        trigger: Some(format!("when somebody asks to {trigger}")),
        body: format!("First {body}, and then go on."),
        allowed_tools: Vec::new(),
        license: None,
        compatibility: None,
        metadata: BTreeMap::new(),
        files: BTreeMap::new(),
        parents: Vec::new(),
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        taint: Taint::Clean,
    }
}

fn update(since: u64, revision: u64, changed: Vec<Skill>) -> IndexUpdate {
    IndexUpdate {
        library: Some(CommitKey::new("first")),
        since: Revision(since),
        revision: Revision(revision),
        keys: BTreeMap::new(),
        changed,
        gone: Vec::new(),
    }
}

fn vault() -> Skill {
    skill("s-vault", ["vaulting", "unlock", "fetch-gold", "unsealing"])
}

fn coffee() -> Skill {
    skill("s-coffee", ["coffee", "brew", "wake-up", "grinding"])
}

fn query(text: &str) -> Query {
    Query {
        text: text.to_owned(),
        limit: 10,
        among: None,
    }
}

fn ids(found: &[Candidate]) -> Vec<&str> {
    found
        .iter()
        .map(|candidate| candidate.skill.id.as_str())
        .collect()
}

async fn stocked(fresh: &impl AsyncFn() -> Result<Index>) -> Tried<Index> {
    let index = fresh().await?;
    index
        .refresh(&update(0, 2, vec![coffee(), vault()]))
        .await?;
    Ok(index)
}

async fn stands_at(index: &Index, revision: u64, after: &str) -> Tried {
    let watermark = index.watermark().await?;
    require(watermark == Revision(revision), || {
        format!("{after}: expected the watermark {revision}, found {watermark}")
    })
}

async fn refresh(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = stocked(fresh).await?;
    for word in ["vaulting", "unlock", "gold", "unsealing"] {
        let found = index.search(&query(word)).await?;
        require(ids(&found) == ["s-vault"], || {
            format!(
                "expected [\"s-vault\"] for {word:?}, a word of that skill only, found {:?}",
                ids(&found)
            )
        })?;
    }
    let mut revised = skill("s-vault", ["vaulting", "unlock", "fetch-gold", "drilling"]);
    revised.version = Version(2);
    index.refresh(&update(2, 3, vec![revised])).await?;
    let found = index.search(&query("drilling")).await?;
    let newest = (found.iter().map(|c| (c.skill.id.as_str(), c.skill.version))).collect::<Vec<_>>();
    require(newest == [("s-vault", Version(2))], || {
        format!("expected s-vault in version 2 for a word of its new version, found {newest:?}")
    })?;
    let found = index.search(&query("unsealing")).await?;
    require(found.is_empty(), || {
        format!("expected no candidates for a word of a replaced version, found {found:?}")
    })?;
    let found = index.search(&query("unlock")).await?;
    require(
        found.len() == 1 && found[0].skill.version == Version(2),
        || format!("expected only version 2 for a word of both versions, found {found:?}"),
    )?;
    let mut gone = update(3, 4, Vec::new());
    gone.gone = vec![SkillId::new("s-vault"), SkillId::new("s-unknown")];
    index.refresh(&gone).await?;
    for (word, due) in [("unlock", &[][..]), ("brew", &["s-coffee"])] {
        let found = index.search(&query(word)).await?;
        require(ids(&found) == due, || {
            format!(
                "expected {due:?} for {word:?} after s-vault was removed, found {:?}",
                ids(&found)
            )
        })?;
    }
    Ok(())
}

async fn watermark(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = fresh().await?;
    stands_at(&index, 0, "in an empty index").await?;
    let index = stocked(fresh).await?;
    stands_at(&index, 2, "after an update to revision 2").await?;
    // Commits that change no skill move the watermark too.
    index.refresh(&update(2, 7, Vec::new())).await?;
    stands_at(&index, 7, "after an update that changes no skill").await
}

async fn gap(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = stocked(fresh).await?;
    let late = update(
        3,
        4,
        vec![skill("s-late", ["late", "late", "late", "late"])],
    );
    let tried = index.refresh(&late).await;
    require_error(
        tried,
        &[ErrorKind::Invalid],
        "an update since revision 3 of an index at revision 2",
    )?;
    stands_at(&index, 2, "after a refused update").await?;
    let found = index.search(&query("late")).await?;
    require(found.is_empty(), || {
        format!("expected no skill of a refused update, found {found:?}")
    })
}

async fn anew(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = stocked(fresh).await?;
    let found = async |index: &Index| -> Tried<Vec<String>> {
        let found = index.search(&query("unlock brew")).await?;
        Ok(ids(&found).into_iter().map(str::to_owned).collect())
    };
    let mut other = update(2, 3, Vec::new());
    other.library = Some(CommitKey::new("another"));
    other.gone = vec![SkillId::new("s-vault")];
    let tried = index.refresh(&other).await;
    require_error(tried, &[ErrorKind::Invalid], "an update of another library")?;
    stands_at(&index, 2, "after a refused update of another library").await?;
    let after = found(&index).await?;
    require(after.len() == 2, || {
        format!("expected both skills after a refused update of another library, found {after:?}")
    })?;
    // First a library of fewer commits, then more commits of the same library.
    for (revision, skills) in [(1, vec![coffee()]), (5, vec![vault()])] {
        let mut all = update(0, revision, skills);
        all.library.clone_from(&other.library);
        index.refresh(&all).await?;
        stands_at(&index, revision, "after an update since revision 0").await?;
        let due: Vec<String> = all.changed.iter().map(|s| s.id.to_string()).collect();
        let after = found(&index).await?;
        require(after == due, || {
            format!(
                "expected only the skills {due:?} after an update since revision 0, found {after:?}"
            )
        })?;
    }
    Ok(())
}

/// Checks the rule for a library that was restored to revision 1 and then got other commits.
async fn past(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let keyed = |since: u64, revision: u64, past: &str, changed: Vec<Skill>| {
        let mut update = update(since, revision, changed);
        let key =
            |at: u64| CommitKey::new(format!("{}-{at}", if at == 1 { "first" } else { past }));
        update.keys = (1..=revision).map(|at| (Revision(at), key(at))).collect();
        update
    };
    // The index is filled in one update or in two; then the restored library is before, at, or after the index's revision.
    for (at_once, revision) in [
        (true, 2),
        (false, 2),
        (true, 3),
        (false, 3),
        (true, 4),
        (false, 4),
    ] {
        let index = fresh().await?;
        if at_once {
            let both = keyed(0, 3, "first", vec![coffee(), vault()]);
            index.refresh(&both).await?;
        } else {
            index.refresh(&keyed(0, 2, "first", vec![coffee()])).await?;
            index.refresh(&keyed(2, 3, "first", vec![vault()])).await?;
        }
        let since = revision.min(3) - 1;
        let other = keyed(since, revision, "second", Vec::new());
        let tried = index.refresh(&other).await;
        require_error(
            tried,
            &[ErrorKind::Invalid],
            "an update with other commit keys for the index's revisions",
        )?;
        stands_at(&index, 3, "after a refused update with other commit keys").await?;
        let whole = keyed(0, revision, "second", vec![coffee()]);
        index.refresh(&whole).await?;
        stands_at(&index, revision, "after an update since 0 with other keys").await?;
        let found = index.search(&query("unlock")).await?;
        require(found.is_empty(), || {
            format!("expected no skill of the replaced commits, found {found:?}")
        })?;
    }
    Ok(())
}

async fn idempotent(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = stocked(fresh).await?;
    let text = query("unlock the vaulting or brew coffee");
    let before = index.search(&text).await?;
    let mut other = vault();
    other.body = "Never heard of.".to_owned();
    for (since, revision) in [(0, 2), (0, 1), (1, 2)] {
        let again = update(since, revision, vec![coffee(), other.clone()]);
        index.refresh(&again).await?;
        stands_at(&index, 2, "after an update that was already applied").await?;
        let after = index.search(&text).await?;
        require(before == after, || {
            format!("expected {before:?} after an update that was already applied, found {after:?}")
        })?;
    }
    Ok(())
}

/// An index of six skills that contain one word of the query; the first three contain its other word too.
async fn ranked(fresh: &impl AsyncFn() -> Result<Index>) -> Tried<Index> {
    let index = fresh().await?;
    let mut skills = Vec::new();
    for n in 1..=6_u64 {
        let body = if n <= 3 {
            "polish the lantern"
        } else {
            "sweep"
        };
        let name = format!("skill-{n}");
        let words = [name.as_str(), "lantern", "tidy", body];
        skills.push(skill(&format!("s-{n}"), words));
    }
    index.refresh(&update(0, 6, skills)).await?;
    Ok(index)
}

async fn limit(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = ranked(fresh).await?;
    let all = index.search(&query("polish lantern")).await?;
    require(all.len() == 6, || {
        format!("expected all 6 matching skills, found {}", all.len())
    })?;
    let falling = all.windows(2).all(|pair| pair[0].score >= pair[1].score);
    require(falling, || {
        format!("expected the candidates by falling score, found {all:?}")
    })?;
    for limit in [0, 1, 4, 100] {
        let mut asked = query("polish lantern");
        asked.limit = limit;
        let found = index.search(&asked).await?;
        require(ids(&found) == ids(&all[..limit.min(6)]), || {
            format!(
                "expected the best {:?} with a limit of {limit}, found {:?}",
                ids(&all[..limit.min(6)]),
                ids(&found)
            )
        })?;
    }
    Ok(())
}

async fn among(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = ranked(fresh).await?;
    let mut asked = query("polish lantern");
    for allowed in [vec![], vec!["s-6"], vec!["s-5", "s-4"], vec!["s-none"]] {
        asked.among = Some(allowed.iter().map(|id| SkillId::new(*id)).collect());
        asked.limit = 2;
        let found = index.search(&asked).await?;
        let mut found = ids(&found);
        found.sort_unstable();
        let mut due: Vec<&str> = allowed.into_iter().filter(|id| *id != "s-none").collect();
        due.sort_unstable();
        require(found == due, || {
            format!("expected {due:?}, the skills in `among`, found {found:?}")
        })?;
    }
    Ok(())
}

async fn ties(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = fresh().await?;
    for (revision, id) in (1_u64..).zip(["s-c", "s-a", "s-d", "s-b"]) {
        let same = skill(id, ["mending", "mend", "repair", "sewing"]);
        index
            .refresh(&update(revision - 1, revision, vec![same]))
            .await?;
    }
    for limit in [2, 4] {
        let mut asked = query("mend");
        asked.limit = limit;
        let found = index.search(&asked).await?;
        let due = &["s-a", "s-b", "s-c", "s-d"][..limit];
        require(ids(&found) == due, || {
            format!(
                "expected {due:?}, equal scores by id, with a limit of {limit}, found {:?}",
                ids(&found)
            )
        })?;
    }
    Ok(())
}

async fn any_text(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = stocked(fresh).await?;
    let long = "vaulting ".repeat(5_000);
    let texts = [
        "",
        " \n\t ",
        "\0\u{1}\u{7f}\u{202e}",
        "AND OR NOT",
        "+vaulting -\"unclosed",
        "name:vaulting^2 AND (",
        "[a TO b] {* TO *} /re(gex/",
        "\\ ~ * ? : ! && ||",
        "\u{1f469}\u{200d}\u{1f680}",
        long.as_str(),
    ];
    for text in texts {
        let shown: String = text.chars().take(20).collect();
        if let Err(error) = index.search(&query(text)).await {
            require(false, || {
                format!(
                    "expected candidates or none for the query {shown:?}, found the error: {error}"
                )
            })?;
        }
    }
    let found = index.search(&query("vaulting: (\"")).await?;
    require(ids(&found).first() == Some(&"s-vault"), || {
        format!(
            "expected s-vault first for a query of its word with query operators, found {:?}",
            ids(&found)
        )
    })
}
