//! `library check`: checks a library, and changes nothing.

use std::path::Path;

use journeyman::Result;
use journeyman_disk::{CheckReport, FolderFault};
use serde_json::{Value, json};

use crate::output::{Answer, Exit, cell, error_json, error_text, of_them};
use crate::progress::Progress;

pub(crate) fn check(root: &Path) -> Result<Answer> {
    let progress = Progress::of("checking the library");
    let report = journeyman_disk::check(root)?;
    drop(progress);
    let sound = report.faults.is_empty();
    let exit = match sound && report.folder_faults.is_empty() {
        true => Exit::Done,
        false if sound => Exit::Refused,
        false => Exit::Damaged,
    };
    Ok(Answer {
        json: json!({
            "sound": exit == Exit::Done,
            "revision": report.revision,
            "journal_entries": report.entries,
            "files": report.files,
            "folders": report.folders,
            "faults": report.faults.iter().map(error_json).collect::<Vec<_>>(),
            "folder_faults": faults_json(&report.folder_faults),
            "pending": report.pending,
        }),
        text: report_text(&report),
        exit,
    })
}

fn report_text(report: &CheckReport) -> String {
    let mut text = String::new();
    for fault in &report.faults {
        text.push_str(&format!("fault: {}\n", error_text(fault)));
    }
    text.push_str(&faults_text(&report.folder_faults));
    for folder in &report.pending {
        let folder = cell(folder);
        text.push_str(&format!(
            "{folder} differs from the library; the next opening reconciles them\n"
        ));
    }
    let faults = report.faults.len() + report.folder_faults.len();
    let to_do = match report.faults.is_empty() {
        // A repair would move the folder away, with whatever a person is still writing in it.
        true => "correct the folder or move it away",
        false => "`journeyman library repair` recovers what can be read",
    };
    let said = match faults {
        0 => "sound".to_owned(),
        1 => format!("1 fault; {to_do}"),
        n => format!("{n} faults; {to_do}"),
    };
    text.push_str(&format!(
        "{said}: revision {}, {}, {}, {}\n",
        report.revision,
        of_them(report.entries, "journal entry", "journal entries"),
        of_them(report.files, "file", "files"),
        of_them(report.folders, "folder", "folders")
    ));
    text
}

pub(crate) fn faults_json(faults: &[FolderFault]) -> Value {
    let faults = faults.iter();
    faults
        .map(|fault| json!({ "folder": fault.folder, "error": error_json(&fault.error) }))
        .collect()
}

pub(crate) fn faults_text(faults: &[FolderFault]) -> String {
    let line = |fault: &FolderFault| {
        let folder = cell(&fault.folder);
        format!("fault: {folder}: {}\n", error_text(&fault.error))
    };
    faults.iter().map(line).collect()
}
