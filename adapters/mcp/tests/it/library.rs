//! A library, served to MCP clients.

use std::{
    io::{Read, Write},
    net::TcpStream,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Seed,
    agent::MemoryStore,
    async_trait,
    contract::{Components, SkillFiles, SkillStore, Snapshot},
    domain::{Commit, Committed, FilePath, FileRef, Revision, Skill, State},
    library::format::SkillMd,
    recipe::{self, Recipe},
    run::{Journeyman, Options},
    stations::select::First,
    testing::sample,
};
use journeyman_mcp::{
    HttpEndpoint, LibraryServer, McpConfig, McpServer, library::HttpOptions, list_tools,
};
use rmcp::{
    RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, GetSkillRequestParams, ReadResourceRequestParams, ResourceContents,
        SkillResource, SkillResources,
    },
    service::RunningService,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn with_file(name: &str, path: &str, bytes: &[u8]) -> Skill {
    let mut skill = sample::skill(name);
    let path = FilePath::new(path).unwrap();
    skill.files.insert(path, FileRef::of(bytes).unwrap());
    skill
}

async fn session(skills: Vec<Skill>) -> Arc<Journeyman> {
    over(Arc::new(MemoryStore::default()), skills).await
}

/// A session over a store, which has the skills' files.
async fn over(store: Arc<dyn SkillStore>, skills: Vec<Skill>) -> Arc<Journeyman> {
    let options = Options::new("desk", Seed(7));
    let components = Components::own_loop().with_store(store);
    let journeyman = Journeyman::open(components, recipe(), options)
        .await
        .unwrap();
    journeyman.add(skills, "shipped").await.unwrap();
    Arc::new(journeyman)
}

/// A recipe that gives the best skills without a scorer.
fn recipe() -> Recipe {
    let mut recipe = recipe::standard();
    recipe.select.selector = First.into();
    recipe
}

type Client = RunningService<RoleClient, ()>;

/// A client of a library, in this process.
async fn client(server: LibraryServer) -> Client {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(server.serve_on(input, output));
    ().serve(ours).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Result<Value, String> {
    let arguments = arguments.as_object().unwrap().clone();
    let params = CallToolRequestParams::new(tool).with_arguments(arguments);
    let result = client
        .call_tool(params)
        .await
        .map_err(|error| error.to_string())?;
    match result.is_error {
        Some(true) => Err(result.content[0].as_text().unwrap().text.clone()),
        _ => Ok(result.structured_content.unwrap()),
    }
}

async fn bytes(client: &Client, uri: &str) -> Result<Vec<u8>, String> {
    let read = client
        .read_resource(ReadResourceRequestParams::new(uri))
        .await;
    match &read.map_err(|error| error.to_string())?.contents[0] {
        ResourceContents::TextResourceContents { text, .. } => Ok(text.clone().into_bytes()),
        ResourceContents::BlobResourceContents { blob, .. } => {
            Ok(base64::Engine::decode(&base64::prelude::BASE64_STANDARD, blob).unwrap())
        }
        other => panic!("{other:?}"),
    }
}

fn files(resources: &SkillResources) -> &[SkillResource] {
    match resources {
        SkillResources::Files(files) => files,
        other => panic!("{other:?}"),
    }
}

#[test]
fn skills_are_listed_and_read_with_their_hashes() {
    Runtime::new().unwrap().block_on(async {
        const FILE: &[u8] = b"\xff\x00 no text";
        let mut held = sample::skill("held-back");
        held.state = State::Quarantined;
        let mut trial = sample::skill("on-trial");
        trial.state = State::Trial;
        let plain = sample::skill("open-jars");
        let skills = vec![
            plain.clone(),
            with_file("warm-jars", "notes/jar 1.bin", FILE),
            held,
            trial,
        ];
        let store = Arc::new(MemoryStore::default());
        store.put(FILE).await.unwrap();
        let journeyman = over(store.clone(), skills).await;
        let server = LibraryServer::new(journeyman.clone()).with_files(store);
        let client = client(server.clone()).await;

        let listed = client.list_all_skills().await.unwrap();
        let uris: Vec<_> = listed.iter().map(|skill| skill.uri.as_str()).collect();
        assert_eq!(
            uris,
            ["skill://open-jars/SKILL.md", "skill://warm-jars/SKILL.md"]
        );
        let mut read = Vec::new();
        for skill in &listed {
            skill.validate().unwrap();
            let got = client
                .get_skill(GetSkillRequestParams::new(&skill.uri))
                .await
                .unwrap();
            assert_eq!(&got.skill, skill);
            for file in files(&skill.resources) {
                let bytes = bytes(&client, &file.uri).await.unwrap();
                file.verify(&bytes).unwrap();
                read.push((file.uri.clone(), bytes));
            }
        }
        let uris: Vec<_> = read.iter().map(|(uri, _)| uri.as_str()).collect();
        let file = "skill://warm-jars/notes/jar%201.bin";
        assert_eq!(
            uris,
            [
                "skill://open-jars/SKILL.md",
                "skill://warm-jars/SKILL.md",
                file
            ]
        );
        let library = journeyman.library().await.unwrap();
        let kept = &library.by_name(&plain.name).unwrap().skill;
        assert_eq!(read[0].1, SkillMd::from(kept).write().unwrap().into_bytes());
        assert_eq!(read[2].1, FILE);

        let resources = client.list_all_resources().await.unwrap();
        assert_eq!(resources.len(), 2);
        assert!(bytes(&client, "skill://on-trial/SKILL.md").await.is_ok());
        let absent = [
            "skill://held-back/SKILL.md",
            "skill://open-jars/notes",
            "skill://open-jars/../warm-jars/SKILL.md",
            "skill://open-jars",
            "file:///etc/passwd",
            "skill://%FF/SKILL.md",
            "",
        ];
        for uri in absent {
            assert!(bytes(&client, uri).await.is_err(), "{uri}");
            let got = client.get_skill(GetSkillRequestParams::new(uri)).await;
            assert!(got.is_err(), "{uri}");
        }
        // Without their store, skills with files are not served in part.
        let without = self::client(LibraryServer::new(journeyman)).await;
        assert_eq!(without.list_all_skills().await.unwrap().len(), 1);
        assert!(bytes(&without, "skill://warm-jars/SKILL.md").await.is_err());
    });
}

#[test]
fn a_long_list_comes_in_pages() {
    Runtime::new().unwrap().block_on(async {
        let mut options = Options::new("desk", Seed(7));
        options.read_only = false;
        let mut recipe = recipe();
        recipe.tiers.reservoir = 1000;
        let components = Components::own_loop();
        let journeyman = Journeyman::open(components, recipe, options).await.unwrap();
        let skills = (0..250)
            .map(|n| sample::skill(&format!("jar-{n}")))
            .collect();
        journeyman.add(skills, "shipped").await.unwrap();
        let client = client(LibraryServer::new(Arc::new(journeyman))).await;
        let first = client.list_skills(None).await.unwrap();
        assert_eq!(
            (first.skills.len(), first.next_cursor.is_some()),
            (200, true)
        );
        let mut names: Vec<_> = client.list_all_skills().await.unwrap();
        names.dedup_by(|a, b| a.uri == b.uri);
        assert_eq!(names.len(), 250);
    });
}

#[test]
fn an_outcome_is_credited_once_to_the_skills_that_were_given() {
    Runtime::new().unwrap().block_on(async {
        let journeyman = session(vec![sample::skill("open-jars")]).await;
        let most = NonZeroU32::new(2).unwrap();
        let server = LibraryServer::new(journeyman.clone()).with_reports_per_skill(most);
        let client = client(server).await;
        let uses = async || {
            let library = journeyman.library().await.unwrap();
            let entry = library.entries().next().unwrap();
            (entry.uses, entry.utility)
        };
        let begin = async || {
            let found = call(&client, "search_skills", json!({"task": "open a jar"}))
                .await
                .unwrap();
            assert_eq!(found["skills"][0]["uri"], "skill://open-jars/SKILL.md");
            assert!(
                found["skills"][0]["text"]
                    .as_str()
                    .unwrap()
                    .contains("say open-jars")
            );
            found["attempt"].as_str().unwrap().to_owned()
        };
        let report = async |attempt: &str, rest: Value| {
            let mut arguments = json!({"attempt": attempt});
            let rest = rest.as_object().unwrap().clone();
            arguments.as_object_mut().unwrap().extend(rest);
            call(&client, "report_outcome", arguments).await
        };
        let (before, _) = uses().await;
        let attempt = begin().await;
        let wrong = report(&attempt, json!({"success": true, "score": 1.5})).await;
        assert!(wrong.unwrap_err().contains("still open"));
        // A tool's error, which a model can mend, and no error of the protocol.
        for success in [json!("maybe"), json!(2), json!(null), json!([true])] {
            let wrong = report(&attempt, json!({"success": success})).await;
            assert!(wrong.unwrap_err().contains("success"), "{success}");
        }
        // A skill that was not given: the one that was meant would count as not followed.
        let other = json!({"success": true, "followed": ["skill://open-jar/SKILL.md"]});
        let wrong = report(&attempt, other).await.unwrap_err();
        for part in ["still open", "skill://open-jars/SKILL.md"] {
            assert!(wrong.contains(part), "{wrong}");
        }
        let followed = json!({"success": "true", "score": "0.5", "followed": ["open-jars"]});
        let counted = report(&attempt, followed).await;
        let counted = counted.unwrap();
        assert_eq!(counted["counted"], true);
        assert_eq!(counted["skills"][0], "skill://open-jars/SKILL.md");
        let (after, helped) = uses().await;
        assert_eq!(after, before + 1);

        let again = report(&attempt, json!({"success": false})).await.unwrap();
        assert_eq!(
            (&again["counted"], uses().await),
            (&json!(false), (after, helped))
        );

        let attempt = begin().await;
        report(&attempt, json!({"success": false, "score": 0.0}))
            .await
            .unwrap();
        let (second, harmed) = uses().await;
        assert!(
            second == after + 1 && harmed < helped,
            "{harmed} after {helped}"
        );

        // The third outcome of two that count.
        let attempt = begin().await;
        let capped = report(&attempt, json!({"success": true})).await.unwrap();
        assert_eq!(
            (&capped["counted"], uses().await),
            (&json!(false), (second, harmed))
        );

        let unknown = report("no-such-attempt", json!({"success": true})).await;
        assert!(unknown.unwrap_err().contains("no open attempt"));
        let refused = [
            ("search_skills", json!({"task": " "})),
            ("search_skills", json!({"task": "x".repeat(20_000)})),
            ("search_skills", json!({"query": "jars"})),
            ("report_outcome", json!({"attempt": "x"})),
            ("delete_skills", json!({})),
        ];
        for (tool, arguments) in refused {
            assert!(
                call(&client, tool, arguments.clone()).await.is_err(),
                "{tool} {arguments}"
            );
        }
    });
}

/// A store whose next read or next commit fails, or that refuses the next commit for good.
#[derive(Debug, Default)]
struct Failing {
    store: MemoryStore,
    read: AtomicBool,
    commit: AtomicBool,
    refuses: AtomicBool,
}

impl Failing {
    fn check(fails: &AtomicBool) -> journeyman::Result<()> {
        match fails.swap(false, Ordering::SeqCst) {
            true => Err(
                Error::new(ErrorKind::Unavailable, "SkillStore", "the disk is busy").temporary(),
            ),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl SkillStore for Failing {
    async fn load(&self) -> journeyman::Result<Snapshot> {
        self.store.load().await
    }

    async fn since(&self, revision: Revision) -> journeyman::Result<Vec<Committed>> {
        Self::check(&self.read)?;
        self.store.since(revision).await
    }

    async fn commit(&self, commit: &Commit) -> journeyman::Result<Committed> {
        Self::check(&self.commit)?;
        if self.refuses.swap(false, Ordering::SeqCst) {
            let message = "this commit is refused";
            return Err(Error::invalid("SkillStore::commit", message));
        }
        self.store.commit(commit).await
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

#[test]
fn an_outcome_outlives_a_store_that_fails_once() {
    Runtime::new().unwrap().block_on(async {
        let store = Arc::new(Failing::default());
        let journeyman = over(store.clone(), vec![sample::skill("open-jars")]).await;
        let client = client(LibraryServer::new(journeyman.clone())).await;
        let uses = async || {
            let library = journeyman.library().await.unwrap();
            library.entries().next().unwrap().uses
        };
        let search = async || {
            let found = call(&client, "search_skills", json!({"task": "open a jar"}));
            found.await.unwrap()["attempt"].clone()
        };
        let before = uses().await;
        for (count, (fails, searches)) in (1..).zip([
            (&store.read, false),
            (&store.commit, false),
            // The next search writes the outcome that waits.
            (&store.commit, true),
        ]) {
            let attempt = search().await;
            let report = async || {
                let arguments = json!({"attempt": attempt, "success": true});
                call(&client, "report_outcome", arguments).await
            };
            fails.store(true, Ordering::SeqCst);
            let failed = report().await.unwrap_err();
            assert!(failed.contains("the disk is busy"), "{failed}");
            assert!(failed.contains("report this attempt again"), "{failed}");
            assert!(!fails.load(Ordering::SeqCst));
            if searches {
                search().await;
            }
            let counted = report().await.unwrap();
            assert_eq!(counted["counted"], true, "{counted}");
            assert_eq!(counted["skills"][0], "skill://open-jars/SKILL.md");
            let again = report().await.unwrap();
            assert_eq!(again["counted"], false, "{again}");
            assert_eq!(uses().await, before + count);
        }
    });
}

#[test]
fn an_outcome_that_is_refused_for_good_is_never_called_counted() {
    Runtime::new().unwrap().block_on(async {
        let store = Arc::new(Failing::default());
        let journeyman = over(store.clone(), vec![sample::skill("open-jars")]).await;
        let client = client(LibraryServer::new(journeyman.clone())).await;
        let search = async || {
            let found = call(&client, "search_skills", json!({"task": "open a jar"}));
            found.await.unwrap()["attempt"].clone()
        };
        let report = async |attempt: &Value| {
            let arguments = json!({"attempt": attempt, "success": true});
            call(&client, "report_outcome", arguments).await
        };
        // Two outcomes wait. Then the store is well, but the first is refused for good when a search settles it.
        let (first, second) = (search().await, search().await);
        for attempt in [&first, &second] {
            store.commit.store(true, Ordering::SeqCst);
            let failed = report(attempt).await.unwrap_err();
            assert!(failed.contains("report this attempt again"), "{failed}");
        }
        store.refuses.store(true, Ordering::SeqCst);
        search().await;
        assert!(!store.refuses.load(Ordering::SeqCst));
        let counted = report(&second).await.unwrap();
        assert_eq!(counted["counted"], true, "{counted}");
        let refused = report(&first).await.unwrap_err();
        assert!(refused.contains("this commit is refused"), "{refused}");
        assert!(!refused.contains("again"), "{refused}");
        let again = report(&first).await.unwrap();
        assert_eq!(again["counted"], false, "{again}");
        let library = journeyman.library().await.unwrap();
        assert_eq!(library.entries().next().unwrap().uses, 1);

        // Another's outcome that waits does not keep this one from being counted.
        let (first, second) = (search().await, search().await);
        store.commit.store(true, Ordering::SeqCst);
        report(&first).await.unwrap_err();
        store.commit.store(true, Ordering::SeqCst);
        report(&second).await.unwrap_err();
        store.commit.store(true, Ordering::SeqCst);
        // The first waits on, the second is written.
        let counted = report(&second).await.unwrap();
        assert_eq!(counted["counted"], true, "{counted}");
        assert_eq!(report(&first).await.unwrap()["counted"], true);
    });
}

/// The status of a request, with these headers besides those that are needed.
fn status(address: std::net::SocketAddr, headers: &str) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\n{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    String::from_utf8(start.to_vec()).unwrap()
}

#[test]
fn http_is_for_loopback_and_for_who_has_the_token() {
    block_on(async {
        let server = LibraryServer::new(session(vec![sample::skill("open-jars")]).await);
        for (options, why) in [
            (
                HttpOptions::new(TOKEN).at(([0, 0, 0, 0], 0).into()),
                "loopback",
            ),
            (HttpOptions::new("short"), "16 bytes"),
        ] {
            let error = server.clone().serve_http(options).await.unwrap_err();
            assert!(
                error.kind() == ErrorKind::Invalid && error.to_string().contains(why),
                "{error}"
            );
        }
        let served = server.serve_http(HttpOptions::new(TOKEN)).await.unwrap();
        assert!(!format!("{:?}", HttpOptions::new(TOKEN)).contains(TOKEN));
        let address = served.address();
        let host = format!("Host: {address}\r\n");
        let right = format!("Authorization: Bearer {TOKEN}\r\n");
        let check = |headers: &[&str], expect: &str| {
            assert_eq!(
                status(address, &headers.concat()),
                format!("HTTP/1.1 {expect}"),
                "{headers:?}"
            );
        };
        check(&[&host, &right], "200");
        check(&[&host], "401");
        check(
            &[
                &host,
                "Authorization: Bearer 0123456789abcdef0123456789abcdeg\r\n",
            ],
            "401",
        );
        check(
            &[&host, &format!("Authorization: Basic {TOKEN}\r\n")],
            "401",
        );
        check(&["Host: evil.example\r\n", &right], "403");
        check(&[&host, &right, "Origin: https://evil.example\r\n"], "403");
        check(
            &[&host, &right, &format!("Origin: http://{address}\r\n")],
            "403",
        );

        let config = |token: &str| {
            let endpoint = HttpEndpoint::new(served.url()).with_token(token);
            McpConfig::new("library", McpServer::Http(endpoint))
        };
        let tools = list_tools(&config(TOKEN)).await.unwrap().tools;
        let names: Vec<_> = tools
            .iter()
            .map(|tool| tool.definition.name.as_str())
            .collect();
        assert_eq!(names, ["search_skills", "report_outcome"]);
        let error = list_tools(&config("a-wrong-token-of-some-length"))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(!error.to_string().contains("a-wrong-token"), "{error}");

        served.close().await;
        assert!(TcpStream::connect(address).is_err());
    });
}
