//! The rules of [`Retriever`].

use std::{collections::BTreeMap, sync::Arc};

use super::report::{Report, Tried, require};
use crate::{
    contract::Retriever,
    domain::{
        Candidate, Cause, Committed, Kind, LibraryChange, Origin, Provenance, Query, Scope, Skill,
        SkillName, State, Taint,
    },
    error::Result,
    id::{CommitKey, Revision, SkillId, Version},
};

type Index = Arc<dyn Retriever>;

/// Checks a retriever; `fresh` gives an empty one each time it is asked.
pub async fn check(fresh: impl AsyncFn() -> Result<Index>) -> Report {
    let mut report = Report::new("Retriever");
    report.case("refresh", refresh(&fresh).await);
    report.case("idempotent", idempotent(&fresh).await);
    report.case("limit", limit(&fresh).await);
    report.case("among", among(&fresh).await);
    report.case("ties", ties(&fresh).await);
    report.case("any text", any_text(&fresh).await);
    report
}

/// A skill whose name, description, trigger and body hold one telling word each.
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
        parents: Vec::new(),
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        taint: Taint::Clean,
        proven_on: None,
    }
}

fn committed(revision: u64, change: LibraryChange) -> Committed {
    Committed {
        revision: Revision(revision),
        key: CommitKey::new(format!("key {revision}")),
        cause: Cause {
            run: None,
            task: None,
            reason: "to be found".to_owned(),
        },
        changes: vec![change],
    }
}

fn added(revision: u64, skill: Skill) -> Committed {
    committed(revision, LibraryChange::Add(Box::new(skill)))
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
    let watermark = index
        .refresh(&[added(1, vault()), added(2, coffee())])
        .await?;
    require(watermark == Revision(2), || {
        format!("after revisions 1 and 2 the watermark is {watermark}")
    })?;
    Ok(index)
}

async fn refresh(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = stocked(fresh).await?;
    for word in ["vaulting", "unlock", "gold", "unsealing"] {
        let found = index.search(&query(word)).await?;
        require(ids(&found) == ["s-vault"], || {
            format!("{word:?} stands in one skill and found {:?}", ids(&found))
        })?;
    }
    let mut revised = skill("s-vault", ["vaulting", "unlock", "fetch-gold", "drilling"]);
    revised.version = Version(2);
    let change = LibraryChange::Revise(Box::new(revised));
    index.refresh(&[committed(3, change)]).await?;
    let found = index.search(&query("drilling")).await?;
    let newest = (found.iter().map(|c| (c.skill.id.as_str(), c.skill.version))).collect::<Vec<_>>();
    require(newest == [("s-vault", Version(2))], || {
        format!("a revised skill's new word found {newest:?}")
    })?;
    let found = index.search(&query("unsealing")).await?;
    require(found.is_empty(), || {
        format!("a revised skill's old word still found {found:?}")
    })?;
    let found = index.search(&query("unlock")).await?;
    require(
        found.len() == 1 && found[0].skill.version == Version(2),
        || format!("a word of both versions found {found:?}"),
    )
}

async fn idempotent(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = stocked(fresh).await?;
    let text = query("unlock the vaulting or brew coffee");
    let before = index.search(&text).await?;
    let again = [added(1, vault()), added(2, coffee())];
    for committed in [&again[..], &again[..1], &[]] {
        let watermark = index.refresh(committed).await?;
        require(watermark == Revision(2), || {
            format!("refreshing again moved the watermark to {watermark}")
        })?;
        let after = index.search(&text).await?;
        require(before == after, || {
            format!("refreshing again turned {before:?} into {after:?}")
        })?;
    }
    Ok(())
}

/// Skills that share a word; the first say it more often.
async fn ranked(fresh: &impl AsyncFn() -> Result<Index>) -> Tried<Index> {
    let index = fresh().await?;
    let mut commits = Vec::new();
    for n in 1..=6_u64 {
        let body = if n <= 3 {
            "polish the lantern"
        } else {
            "sweep"
        };
        let name = format!("skill-{n}");
        let words = [name.as_str(), "lantern", "tidy", body];
        commits.push(added(n, skill(&format!("s-{n}"), words)));
    }
    index.refresh(&commits).await?;
    Ok(index)
}

async fn limit(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = ranked(fresh).await?;
    let all = index.search(&query("polish lantern")).await?;
    require(all.len() == 6, || {
        format!("6 skills fit and {} came", all.len())
    })?;
    let falling = all.windows(2).all(|pair| pair[0].score >= pair[1].score);
    require(falling, || format!("the best is not first: {all:?}"))?;
    for limit in [0, 1, 4, 100] {
        let mut asked = query("polish lantern");
        asked.limit = limit;
        let found = index.search(&asked).await?;
        require(ids(&found) == ids(&all[..limit.min(6)]), || {
            format!("a limit of {limit} gave {:?}", ids(&found))
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
        require(found == due, || format!("among {due:?} came {found:?}"))?;
    }
    Ok(())
}

async fn ties(fresh: &impl AsyncFn() -> Result<Index>) -> Tried {
    let index = fresh().await?;
    for (revision, id) in (1..).zip(["s-c", "s-a", "s-d", "s-b"]) {
        let same = skill(id, ["mending", "mend", "repair", "sewing"]);
        index.refresh(&[added(revision, same)]).await?;
    }
    for limit in [2, 4] {
        let mut asked = query("mend");
        asked.limit = limit;
        let found = index.search(&asked).await?;
        let due = &["s-a", "s-b", "s-c", "s-d"][..limit];
        require(ids(&found) == due, || {
            format!(
                "skills of equal text came as {:?} with a limit of {limit}",
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
            require(false, || format!("the query {shown:?} gave {error}"))?;
        }
    }
    let found = index.search(&query("vaulting: (\"")).await?;
    require(ids(&found).first() == Some(&"s-vault"), || {
        "a word beside query operators was not found".to_owned()
    })
}
