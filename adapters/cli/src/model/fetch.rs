//! `model fetch`: public models by name.

use journeyman::{Error, Result};
use journeyman_llama_cpp::PublicModel;
use serde_json::json;

use crate::{
    output::{Answer, table},
    progress::Progress,
};

pub(super) fn fetch(names: &[String]) -> Result<Answer> {
    if names.is_empty() {
        return Ok(list());
    }
    // All names are checked before the first download.
    let models: Vec<&PublicModel> = names
        .iter()
        .map(|name| known(name))
        .collect::<Result<_>>()?;
    let progress = Progress::of("fetching");
    let mut fetched = Vec::new();
    for model in models {
        let path = model.fetch(&mut |line| progress.note(line))?;
        fetched.push((model.name, path));
    }
    let rows: Vec<Vec<String>> = fetched
        .iter()
        .map(|(name, path)| vec![(*name).to_owned(), path.display().to_string()])
        .collect();
    Ok(Answer {
        json: json!({ "fetched": fetched.iter().map(|(name, path)| json!({ "name": name, "path": path })).collect::<Vec<_>>() }),
        text: table(&[], &rows),
        ..Answer::default()
    })
}

fn known(name: &str) -> Result<&'static PublicModel> {
    PublicModel::named(name).ok_or_else(|| {
        let names: Vec<&str> = PublicModel::all().iter().map(|model| model.name).collect();
        Error::invalid("model fetch", format!("no public model is known as {name}"))
            .hint(format!("name one of these: {}", names.join(", ")))
    })
}

fn list() -> Answer {
    let models = PublicModel::all();
    let rows: Vec<Vec<String>> = models
        .iter()
        .map(|model| {
            let place = model.cached().map(|path| path.display().to_string());
            vec![
                model.name.to_owned(),
                format!("{} MB", model.download / 1_000_000),
                model.license.to_owned(),
                place.unwrap_or_else(|| "not fetched".to_owned()),
                model.title.to_owned(),
            ]
        })
        .collect();
    let models: Vec<_> = models
        .iter()
        .map(|model| {
            json!({
                "name": model.name,
                "title": model.title,
                "license": model.license,
                "download_bytes": model.download,
                "path": model.cached(),
            })
        })
        .collect();
    Answer {
        json: json!({ "models": models }),
        text: table(&["NAME", "DOWNLOAD", "LICENSE", "PLACE", "WHAT"], &rows),
        ..Answer::default()
    }
}
