//! What is found of what people write, by kind of text, against the words of the form before: runs of letters and digits in
//! lower case, and single Chinese and Japanese characters.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    time::Instant,
};

use futures::executor::block_on;
use journeyman::testing::Edited as _;
use journeyman::{
    SkillId,
    contract::Retriever,
    domain::{IndexUpdate, Query, Revision},
    library::format::SkillMd,
    testing::sample,
};
use journeyman_tantivy::{Bm25Retriever, Config, Stemmer};

/// The texts of a skill, in the order of its fields but for the name, which stands with the trigger.
#[derive(Clone)]
struct Texts {
    id: String,
    name: String,
    description: String,
    body: String,
}

/// The words of the form before, each spelled as one word that every form leaves as it is.
fn before(text: &str) -> String {
    let alone = |c: char| {
        matches!(u32::from(c), 0x3041..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF)
            && c.is_alphanumeric()
    };
    let mut words = vec![String::new()];
    for c in text.chars() {
        if alone(c) {
            words.extend([c.to_string(), String::new()]);
        } else if !c.is_alphanumeric() {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    let spelled = words.iter().filter(|word| !word.is_empty()).map(|word| {
        let mut hasher = DefaultHasher::new();
        word.hash(&mut hasher);
        let digits = format!("{:016x}", hasher.finish());
        let letter = |digit: char| char::from(b'a' + digit.to_digit(16).unwrap() as u8);
        digits.chars().map(letter).collect::<String>()
    });
    spelled.collect::<Vec<_>>().join(" ")
}

/// As [`before`], with the words as they are, for the size of an index.
fn lower(text: &str) -> String {
    text.replace(|c: char| !c.is_alphanumeric(), " ")
        .to_lowercase()
}

fn now(text: &str) -> String {
    text.to_owned()
}

/// A name, how texts are spelled, and the options of the index.
type Spelling = (&'static str, fn(&str) -> String, Config);

fn spellings() -> [Spelling; 3] {
    let mut stemmed = config();
    stemmed.stemmer = Some(Stemmer::English);
    [
        ("before", before, config()),
        ("now", now, config()),
        ("now, with stems", now, stemmed),
    ]
}

struct Form {
    spell: fn(&str) -> String,
    retriever: Bm25Retriever,
    ids: Vec<String>,
}

impl Form {
    fn new(spell: fn(&str) -> String, config: Config, all: &[Texts]) -> Self {
        let retriever = Bm25Retriever::new(config).unwrap();
        block_on(retriever.refresh(&update(spell, all))).unwrap();
        let ids = all.iter().map(|one| one.id.clone()).collect();
        Self {
            spell,
            retriever,
            ids,
        }
    }

    /// The ids that a query finds, best first, of all or of those that begin so.
    fn find(&self, text: &str, among: Option<&str>) -> Vec<String> {
        let of_kind = |kind| self.ids.iter().filter(move |id| id.starts_with(kind));
        let among = among.map(|kind| of_kind(kind).map(SkillId::new).collect::<Vec<_>>());
        let query = Query::new((self.spell)(text), 100).with_among(among);
        let found = block_on(self.retriever.search(&query)).unwrap();
        let ids = found.into_iter().map(|one| one.skill.id.to_string());
        ids.collect()
    }
}

/// Names go with the trigger, which has the same weight, since those of the form before are no valid names.
fn config() -> Config {
    let mut config = Config::default();
    config.boosts.name = 0.0;
    config
}

fn update(spell: fn(&str) -> String, all: &[Texts]) -> IndexUpdate {
    let skill = |one: &Texts| {
        sample::skill("a")
            .with_id(one.id.as_str())
            .with_version(1)
            .edited(|it| it.trigger = Some(spell(&one.name)))
            .with_description(spell(&one.description))
            .with_body(spell(&one.body))
    };
    IndexUpdate::new(Revision(0), Revision(1))
        .edited(|it| it.changed = all.iter().map(skill).collect())
}

/// Queries and what the skill says that should be the first of all that are found, by kind.
const CASES: [(&str, &[(&str, &str)]); 14] = [
    (
        "plain English",
        &[
            (
                "open the sealed jar",
                "Unseal a jar before it is opened, then open it.",
            ),
            ("brew coffee", "Grind beans and brew coffee with hot water."),
            (
                "refund an order",
                "Check the order, then refund it to the card.",
            ),
            (
                "book a flight",
                "Book a flight after the dates were confirmed.",
            ),
            (
                "reset password",
                "Reset the password by mail and ask to sign in again.",
            ),
            (
                "merge two branches",
                "Merge both branches and run all tests.",
            ),
            (
                "e-mail the customer",
                "Write an email to the customer about the delay.",
            ),
            (
                "resize pictures",
                "Resize the pictures and keep their ratio.",
            ),
            ("time zone", "Convert the time to the zone of the reader."),
        ],
    ),
    (
        "camelCase by words",
        &[
            ("refresh token", "Call refreshToken when it has expired."),
            ("invoice draft", "createInvoiceDraft comes before sending."),
            ("http response", "Use parseHTTPResponse for the reply."),
            ("user profile", "getUserProfileById needs the number."),
            ("phone", "Works with an iPhone as well."),
            ("sha 256", "Compare the sha256 of both."),
            ("xml reader", "XMLReader streams large ones."),
            ("access token", "The accessToken stands in the header."),
            ("получить", "Вызови ПолучитьДанные сначала."),
        ],
    ),
    (
        "words for camelCase",
        &[
            ("refreshToken", "Refresh the token when it has expired."),
            (
                "createInvoiceDraft",
                "create_invoice_draft comes before sending.",
            ),
            ("listOpenOrders", "list-open-orders shows what is left."),
            ("maxRetryCount", "MAX_RETRY_COUNT bounds the attempts."),
            (
                "parseHTTPResponse",
                "Parse the HTTP response before it is used.",
            ),
            ("startEngine", "First start the engine."),
            ("NodeJS", "Install node.js before the build."),
            ("deleteUserAccount", "user.account.delete cannot be undone."),
            ("sha256", "Compute the SHA-256 of the upload."),
        ],
    ),
    (
        "other styles of names",
        &[
            (
                "create_invoice_draft",
                "createInvoiceDraft comes before sending.",
            ),
            ("list-open-orders", "listOpenOrders shows what is left."),
            ("MAX_RETRY_COUNT", "maxRetryCount bounds the attempts."),
            (
                "parse_http_response",
                "Use parseHTTPResponse for the reply.",
            ),
            ("utf8", "Save texts as UTF-8 only."),
            ("nodejs", "Install node.js before the build."),
            ("get_user_profile", "getUserProfile needs the number."),
            ("start-engine", "startEngine comes first."),
        ],
    ),
    (
        "whole names",
        &[
            ("iphone", "Works with an iPhone as well."),
            ("github", "Open the issue on GitHub."),
            ("javascript", "Written in JavaScript throughout."),
            ("refreshtoken", "Call refreshToken when it has expired."),
            ("pytorch", "PyTorch trains the model."),
            ("url", "Copy the URL to the ticket."),
            ("apis", "Both APIs are rate limited."),
            ("v2", "Only v2 of the service answers."),
        ],
    ),
    (
        "full width, accents, case",
        &[
            ("API", "ＡＰＩを呼ぶ。"),
            ("データ", "ﾃﾞｰﾀを保存する。"),
            ("cafe\u{301}", "Réserve une table au café."),
            ("resume", "Send the résumé to the agency."),
            ("strasse", "Die Straße steht im Feld Adresse."),
            ("σίσυφος", "Ο ΣΊΣΥΦΟΣ ξεκινά."),
            ("istanbul", "İstanbul is a city of the list."),
            ("file 12", "Rename ﬁle １２ first."),
            ("елка", "Сначала нужна ёлка."),
        ],
    ),
    (
        "Chinese",
        &[
            ("退款", "先核对订单,再为客户退款。"),
            ("重启服务器", "更新之后需要重启服务器。"),
            ("服务", "检查服务的状态。"),
            ("数据库备份", "每天晚上做数据库备份。"),
            ("发票", "创建发票草稿并发送。"),
            ("密码", "重置密码需要验证邮箱。"),
            ("水", "先烧水再泡茶。"),
            ("机场", "从机场叫出租车。"),
        ],
    ),
    (
        "Japanese",
        &[
            ("サーバー", "サーバーを再起動してください。"),
            ("返金", "注文を確認してから返金する。"),
            ("請求書", "請求書の下書きを作成する。"),
            ("パスワード", "パスワードをリセットする手順。"),
            ("データベース", "毎晩データベースをバックアップする。"),
            ("予約", "日付を確かめて予約する。"),
            ("会議", "会議の招待を送る。"),
            ("コーヒー", "コーヒー豆を挽いて淹れる。"),
        ],
    ),
    (
        "Thai",
        &[
            ("คืนเงิน", "ตรวจสอบคำสั่งซื้อแล้วคืนเงินให้ลูกค้า"),
            ("รหัสผ่าน", "รีเซ็ตรหัสผ่านทางอีเมลก่อนเข้าสู่ระบบ"),
            ("เซิร์ฟเวอร์", "หลังอัปเดตต้องรีสตาร์ทเซิร์ฟเวอร์ทุกครั้ง"),
            ("ใบแจ้งหนี้", "สร้างร่างใบแจ้งหนี้ก่อนส่ง"),
            ("กาแฟ", "บดเมล็ดกาแฟแล้วชงด้วยน้ำร้อน"),
            ("เที่ยวบิน", "จองเที่ยวบินหลังยืนยันวันที่"),
            ("ฐานข้อมูล", "สำรองฐานข้อมูลทุกคืน"),
            ("ประชุม", "ส่งคำเชิญประชุมให้ทุกคน"),
            ("น้ำ", "ต้มน้ำให้เดือดก่อน"),
        ],
    ),
    (
        "Lao, Khmer, Myanmar",
        &[
            ("ລະຫັດຜ່ານ", "ປ່ຽນລະຫັດຜ່ານຜ່ານອີເມວ"),
            ("ກາເຟ", "ຕົ້ມກາເຟດ້ວຍນ້ຳຮ້ອນ"),
            ("ຄືນເງິນ", "ກວດສອບແລ້ວຄືນເງິນໃຫ້ລູກຄ້າ"),
            ("កាហ្វេ", "ឆុងកាហ្វេជាមួយទឹកក្តៅ"),
            ("ពាក្យសម្ងាត់", "ប្តូរពាក្យសម្ងាត់តាមអ៊ីមែល"),
            ("វិក្កយបត្រ", "បង្កើតវិក្កយបត្រមុនផ្ញើ"),
            ("စကားဝှက်", "အီးမေးလ်ဖြင့်စကားဝှက်ပြောင်းပါ"),
            ("ကော်ဖီ", "ရေနွေးဖြင့်ကော်ဖီဖျော်ပါ"),
            ("ငွေပြန်အမ်း", "စစ်ဆေးပြီးငွေပြန်အမ်းပါ"),
        ],
    ),
    (
        "Korean with particles",
        &[
            ("서버", "업데이트 후 서버를 재시작한다."),
            ("환불", "주문을 확인하고 환불해 준다."),
            ("비밀번호", "비밀번호는 메일로 재설정한다."),
            ("송장", "송장의 초안을 먼저 만든다."),
            ("데이터베이스", "데이터베이스에서 백업을 만든다."),
            ("커피", "원두를 갈아 커피를 내린다."),
            ("물", "먼저 물을 끓인다."),
            ("예약하기", "날짜를 확인한 뒤 예약한다."),
            ("회의", "회의에 초대장을 보낸다."),
        ],
    ),
    (
        "Arabic and Hebrew",
        &[
            ("ملفات", "احذف الملفات القديمة اولا"),
            ("الملف", "افتح ملف العميل"),
            ("كتاب", "اقرا كلَّ كِتَابٍ قبل النوم"),
            ("فاتورة", "ارسل الفاتوره الى العميل"),
            ("إعدادات", "غير الاعدادات ثم اعد التشغيل"),
            ("مستخدم", "احذف حساب المستخدم"),
            ("خادم", "اعد تشغيل الخــادم"),
            ("שלום", "אמור שָׁלוֹם בהתחלה"),
            ("شبکه", "افحص شبكه الاتصال غدا"),
        ],
    ),
    (
        "German compounds",
        &[
            ("Rechnung", "Zuerst die Rechnungsnummer prüfen."),
            ("Adresse", "Die Lieferadresse des Kunden ändern."),
            ("Bestellung", "Offene Bestellungsdaten abrufen."),
            ("Kundennummer", "Frag nach der Nummer des Kunden."),
            ("Termin", "Einen Arzttermin vereinbaren."),
            ("Datenbank", "Die Datenbanksicherung läuft nachts."),
            ("Versandkosten", "Die Kosten für den Versand berechnen."),
            ("Sicherung", "Die Datensicherung wiederherstellen."),
            ("Flugbuchung", "Die Buchung für den Flug bestätigen."),
        ],
    ),
    (
        "Hindi and German",
        &[
            ("हिन्दी", "उत्तर हिन्दी में लिखो"),
            ("पासवर्ड", "ईमेल से पासवर्ड बदलो"),
            ("कार्ड", "कार्ड पर पैसे लौटाओ"),
            ("ग्राहक", "पहले ग्राहक का नाम पूछो"),
            ("Rechnung", "Zuerst die Rechnung als Entwurf anlegen."),
            (
                "Bestellung prüfen",
                "Die Bestellung prüfen, dann erstatten.",
            ),
            ("Passwort", "Das Passwort per Mail zurücksetzen."),
            ("GROSSE Datei", "Eine große Datei in Teilen senden."),
        ],
    ),
];

fn all_texts() -> Vec<Texts> {
    let mut all = Vec::new();
    for (kind, cases) in CASES {
        for (at, (_, text)) in cases.iter().enumerate() {
            all.push(Texts {
                id: format!("{kind} {at}"),
                name: String::new(),
                description: String::new(),
                body: (*text).to_owned(),
            });
        }
    }
    all
}

/// Of the cases of a kind, how many find the right text and how many find it first.
fn count(form: &Form, (kind, cases): (&str, &[(&str, &str)])) -> (usize, usize, Vec<String>) {
    let (mut found, mut first, mut missed) = (0, 0, Vec::new());
    for (at, (query, _)) in cases.iter().enumerate() {
        let due = format!("{kind} {at}");
        let ids = form.find(query, Some(kind));
        found += usize::from(ids.contains(&due));
        if ids.first() == Some(&due) {
            first += 1;
        } else {
            missed.push(format!(
                "{query}: {:?}",
                ids.iter().take(3).collect::<Vec<_>>()
            ));
        }
    }
    (found, first, missed)
}

#[test]
fn what_people_write_is_found_by_kind_of_text() {
    let all = all_texts();
    let [before, now] =
        [before as fn(&str) -> String, now].map(|spell| Form::new(spell, config(), &all));
    println!("| kind | cases | found before | first before | found now | first now |");
    println!("|---|---|---|---|---|---|");
    for (kind, cases) in CASES {
        assert!(cases.len() >= 8, "{kind}");
        let (old, old_first, _) = count(&before, (kind, cases));
        let (new, new_first, missed) = count(&now, (kind, cases));
        let due = cases.len();
        println!("| {kind} | {due} | {old} | {old_first} | {new} | {new_first} |");
        assert_eq!(new, due, "{kind}: {missed:?}");
        assert!(
            new_first + 1 >= due && new_first >= old_first,
            "{kind}: {missed:?}"
        );
    }
}

/// Words and what a skill says with another form of them.
const INFLECTED: [(&str, &str); 9] = [
    ("invoices", "Send the invoice to the customer."),
    ("refunding", "Refund the order to the card."),
    ("connections", "Connect to the database first."),
    ("uploaded", "Upload the file in parts."),
    ("scheduling", "Schedule the report for Monday."),
    ("deletes", "Delete old branches after the merge."),
    ("translating", "Translate the page and keep its links."),
    ("summaries", "Write a summary of the thread."),
    ("cancelled", "Cancel the booking in time."),
];

#[test]
fn a_stemmer_finds_inflected_words() {
    let text = |(at, (_, text)): (usize, &(&str, &str))| Texts {
        id: format!("{at}"),
        name: String::new(),
        description: String::new(),
        body: (*text).to_owned(),
    };
    let all: Vec<Texts> = INFLECTED.iter().enumerate().map(text).collect();
    let found = spellings().map(|(name, spell, config)| {
        let form = Form::new(spell, config, &all);
        let is_found =
            |(at, (query, _)): &(usize, &(&str, &str))| form.find(query, None) == [at.to_string()];
        (name, INFLECTED.iter().enumerate().filter(is_found).count())
    });
    println!("of {} inflected words: {found:?}", INFLECTED.len());
    assert_eq!(found[2].1, INFLECTED.len());
}

/// A task of a folder with `tasks.jsonl` and `skills/NAME/SKILL.md`.
#[derive(serde::Deserialize)]
struct Task {
    instruction: String,
    skill: Vec<String>,
}

fn skills_of(folder: &Path) -> Vec<Texts> {
    let mut all = Vec::new();
    for entry in folder.join("skills").read_dir().unwrap() {
        let path = entry.unwrap().path();
        let id = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(path.join("SKILL.md")).unwrap();
        let (skill, _) = SkillMd::read(&text, Some(&id)).unwrap();
        all.push(Texts {
            name: id.clone(),
            id,
            description: skill.description,
            body: skill.body,
        });
    }
    all.sort_by(|one, other| one.id.cmp(&other.id));
    all
}

/// The share of tasks with a right skill among the first 1, 3 and 5, and the mean of one over its place.
fn ranks(form: &Form, tasks: &[(String, Vec<String>)]) -> [f64; 4] {
    let mut sums = [0.0; 4];
    for (query, right) in tasks {
        let ids = form.find(query, None);
        let Some(place) = ids.iter().position(|id| right.contains(id)) else {
            continue;
        };
        for (sum, most) in sums.iter_mut().zip([1, 3, 5]) {
            *sum += f64::from(u8::from(place < most));
        }
        sums[3] += 1.0 / (place + 1) as f64;
    }
    sums.map(|sum| sum / tasks.len() as f64)
}

/// Queries, each with the skills that it should find, under the name of how they are worded.
type Queries = (&'static str, Vec<(String, Vec<String>)>);

/// Whole instructions, their first sentences, and the names of right skills in words.
fn queries(tasks: &[Task]) -> [Queries; 3] {
    let of = |query: fn(&str) -> String| {
        let one = |task: &Task| (query(&task.instruction), task.skill.clone());
        tasks.iter().map(one).collect::<Vec<_>>()
    };
    // Each name that a person or one of the models gave, with all who gave it.
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in tasks.iter().flat_map(|task| &task.skill) {
        let given = name.trim_end_matches("-opus").trim_end_matches("-gemini");
        names
            .entry(given.replace('-', " "))
            .or_default()
            .push(name.clone());
    }
    [
        ("instruction", of(str::to_owned)),
        (
            "first sentence",
            of(|text| text.split(". ").next().unwrap_or(text).to_owned()),
        ),
        ("name in words", names.into_iter().collect()),
    ]
}

/// Skills that people and models wrote, where `JOURNEYMAN_SKILLS` names a folder with tasks that each name the right ones.
#[test]
fn english_ranks_no_worse() {
    let Some(folder) = std::env::var_os("JOURNEYMAN_SKILLS") else {
        println!("not measured: JOURNEYMAN_SKILLS is not set");
        return;
    };
    let folder = Path::new(&folder);
    let all = skills_of(folder);
    let tasks: Vec<Task> = std::fs::read_to_string(folder.join("tasks.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let measured = spellings().map(|(name, spell, config)| (name, Form::new(spell, config, &all)));
    println!("{} skills, {} tasks", all.len(), tasks.len());
    for (kind, queries) in queries(&tasks) {
        let mut means = Vec::new();
        for (name, form) in &measured {
            let started = Instant::now();
            let [one, three, five, mean] = ranks(form, &queries);
            let each = started.elapsed().as_secs_f64() * 1e3 / queries.len() as f64;
            println!(
                "{kind} ({}), {name}: first {one:.3}, of 3 {three:.3}, of 5 {five:.3}, mean {mean:.4}; {each:.2} ms",
                queries.len()
            );
            means.push(mean);
        }
        for (query, right) in &queries {
            let first = |form: &Form| form.find(query, None).into_iter().next();
            let firsts = measured.each_ref().map(|(_, form)| first(form));
            if firsts[1..].iter().any(|first| *first != firsts[0]) {
                let query: String = query.chars().take(60).collect();
                println!("  {query}: {firsts:?}; right {right:?}");
            }
        }
        for mean in &means[1..] {
            assert!(*mean >= means[0] - 0.01, "{kind}: {means:?}");
        }
    }
    for (name, spell, config) in spellings() {
        // The words as they are.
        let spell = if name == "before" { lower } else { spell };
        let folder = tempfile::tempdir().unwrap();
        let started = Instant::now();
        let retriever = Bm25Retriever::open(folder.path(), config).unwrap();
        block_on(retriever.refresh(&update(spell, &all))).unwrap();
        let time = started.elapsed().as_secs_f64() * 1e3;
        let bytes: u64 = (folder.path().read_dir().unwrap())
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        println!("{name}: {bytes} bytes on disk, built in {time:.0} ms");
    }
}
