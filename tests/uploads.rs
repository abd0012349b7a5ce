//! `POST /uploads`, `POST /uploads/{id}/complete` and `GET /ipfs/{cid}`

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use shared::{
    model::{Action, Cid, Dag, LEAF, Reason, Subject},
    store::artist::{ArtistTable, Decision, Moderation},
};
use tests::{Answer, DAY, DatabaseProxy, PNG, Sandbox, SignedIn, Stack, eventually, picture, within_one_window};
use tokio::sync::Notify;
use uuid::Uuid;

/// Most memory of a function, in bytes.
const MOST_MEMORY: u64 = 64 << 20;

async fn begin(stack: &Stack, artist: &SignedIn, body: &Value) -> Answer {
    Answer::of(stack.post("/uploads").bearer_auth(&artist.token).json(body)).await
}

async fn complete(stack: &Stack, artist: &SignedIn, upload: &Value) -> Answer {
    stack.complete_upload(artist, upload["uploadId"].as_str().expect("an id")).await
}

/// A request to complete an upload, for a process of the test's own.
fn completion(sandbox: &Sandbox, artist: &SignedIn, id: &str) -> Value {
    let mut event = sandbox.event();
    event["headers"]["authorization"] = json!(format!("Bearer {}", artist.token));
    event["pathParameters"]["id"] = json!(id);
    event
}

/// Tells when a request first looks whether content is there, which it has hashed: from then on calls wait.
fn hold_once_hashed(proxy: &DatabaseProxy, cid: Cid) -> Arc<Notify> {
    let (is_hashed, waits) = (Arc::new(Notify::new()), Arc::clone(&proxy.waits));
    let (told, was_read) = (Arc::clone(&is_hashed), AtomicBool::new(false));
    proxy.observe(move |target, request, _| {
        let is_of_content = String::from_utf8_lossy(request).contains(&format!("CONTENT#{cid}"));
        if target.ends_with("GetItem") && is_of_content && !was_read.swap(true, Ordering::Relaxed) {
            waits.send_modify(|waits| *waits = true);
            told.notify_one();
        }
    });
    is_hashed
}

/// Goes on as long as the answer is that the file is hashed in part.
async fn complete_whole(stack: &Stack, artist: &SignedIn, upload: &Value) -> Answer {
    let mut last = 0;
    loop {
        let answer = complete(stack, artist, upload).await;
        if answer.status != 202 {
            return answer;
        }
        let hashed = answer.body["hashed"].as_u64().expect("a number");
        println!("202 after {hashed} bytes");
        assert!(hashed > last, "it doesn't go on: {answer:?}");
        last = hashed;
    }
}

/// Most memory that a process of the function ever had, in bytes, without the pages of its program: in development these
/// are a library of all third-party crates.
fn peak_memory(function: &str) -> u64 {
    let processes = &Stack::connect().map.processes[function];
    let peaks = processes.iter().filter_map(|process| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let kilobytes = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name))?;
            value.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        };
        Some(kilobytes("VmHWM:")?.saturating_sub(kilobytes("RssFile:")?))
    });
    peaks.max().expect("a process of the function") << 10
}

/// Sends the parts that cover the content.
async fn put(stack: &Stack, upload: &Value, content: &[u8]) {
    for part in upload["parts"].as_array().expect("parts") {
        let number = |name: &str| part[name].as_u64().and_then(|number| usize::try_from(number).ok()).expect(name);
        let (from, to) = (number("offset"), number("offset") + number("size"));
        let url = part["url"].as_str().expect("a URL");
        let answer = stack.http.put(url).body(content[from..to].to_vec()).send().await.expect("an answer");
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap_or_default());
    }
}

async fn upload(stack: &Stack, artist: &SignedIn, kind: &str, content: &[u8]) -> Answer {
    let begun = begin(stack, artist, &json!({"contentType": kind, "size": content.len()})).await.expect_success();
    put(stack, &begun.body, content).await;
    complete(stack, artist, &begun.body).await
}

async fn read(stack: &Stack, url: &str, range: Option<&str>) -> reqwest::Response {
    let request = range.iter().fold(stack.http.get(url), |request, range| request.header("range", *range));
    request.send().await.expect("an answer")
}

fn header<'a>(answer: &'a reqwest::Response, name: &str) -> &'a str {
    answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[tokio::test]
async fn an_uploaded_picture_is_served_under_its_cid() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let content = picture(700_000);
    let sha256: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
    let announced = json!({"contentType": "image/jpeg", "size": content.len(), "sha256": sha256});
    let begun = begin(&stack, &artist, &announced).await.expect_success().body;
    assert_eq!(begun["parts"].as_array().map(Vec::len), Some(1));
    assert_eq!(complete(&stack, &artist, &begun).await.status, 409, "nothing has arrived");
    put(&stack, &begun, &content).await;
    let stored = complete(&stack, &artist, &begun).await.expect_success().body;
    let cid = Dag::cid_of(&content).to_string();
    assert_eq!(stored["uri"], format!("ipfs://{cid}"));
    assert_eq!(stored["url"], format!("{}/ipfs/{cid}", stack.map.files));
    assert_eq!((&stored["contentType"], &stored["size"]), (&json!("image/png"), &json!(content.len())));
    assert_eq!(complete(&stack, &artist, &begun).await.expect_success().body, stored, "it answers the same again");
    let late = stack.http.put(begun["parts"][0]["url"].as_str().expect("a URL")).body(picture(700_000));
    assert!(!late.send().await.expect("an answer").status().is_success(), "nobody changes it afterwards");

    let url = stored["url"].as_str().expect("a URL");
    // By the files' host and by the API with the same words.
    for url in [url, &format!("{}/ipfs/{cid}", stack.map.api)] {
        let whole = read(&stack, url, None).await;
        assert_eq!(whole.status(), 200);
        assert_eq!(header(&whole, "content-type"), "image/png");
        assert_eq!(header(&whole, "content-disposition"), format!("inline; filename=\"{cid}.png\""));
        assert_eq!(header(&whole, "x-content-type-options"), "nosniff");
        assert_eq!(header(&whole, "cache-control"), shared::model::IMMUTABLE);
        assert_eq!(header(&whole, "content-security-policy"), shared::model::FILES_POLICY);
        assert_eq!(header(&whole, "cross-origin-resource-policy"), "cross-origin");
        assert_eq!(whole.bytes().await.expect("bytes"), content);
        let part = read(&stack, url, Some("bytes=100-199")).await;
        assert_eq!((part.status().as_u16(), header(&part, "content-range")), (206, "bytes 100-199/700000"));
        assert_eq!(part.bytes().await.expect("bytes"), &content[100..200]);
        assert_eq!(read(&stack, url, Some("bytes=700000-")).await.status(), 416);
    }

    // The same content of another artist is the same file.
    let other = upload(&stack, &stack.new_artist().await, "image/png", &content).await.expect_success();
    assert_eq!(other.body["uri"], stored["uri"]);
    assert_eq!(read(&stack, url, Some("bytes=0-0")).await.status(), 206);
}

#[tokio::test]
async fn a_drawing_is_served_with_its_charset() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let drawing = format!("<svg xmlns='http://www.w3.org/2000/svg'><g id='x{}'/></svg>", Uuid::new_v4().simple());
    let stored = upload(&stack, &artist, "image/svg+xml", drawing.as_bytes()).await.expect_success().body;
    assert_eq!(stored["contentType"], "image/svg+xml");
    for host in [&stack.map.files, &stack.map.api] {
        let served = read(&stack, &format!("{host}/ipfs/{}", Dag::cid_of(drawing.as_bytes())), None).await;
        assert_eq!(header(&served, "content-type"), "image/svg+xml; charset=utf-8", "{host}");
    }
}

#[tokio::test]
async fn the_files_host_has_nothing_but_files() {
    let stack = Stack::connect();
    let unknown = Dag::cid_of(Uuid::new_v4().as_bytes());
    let missing = Answer::of(stack.http.get(format!("{}/ipfs/{unknown}", stack.map.files))).await;
    assert!(missing.expect_error(404).body["message"].to_string().contains(&unknown.to_string()), "the API says why");
    let preview = format!("/previews/{}/320", "0".repeat(64));
    assert_eq!(read(&stack, &format!("{}{preview}", stack.map.files), None).await.status(), 404);
    for path in
        ["/", "/manage", "/api/manage", "/moment", "/uploads/x", "/cards/x", "/removed/ipfs/x", "/ipfs/../manage"]
    {
        let answer = read(&stack, &format!("{}{path}", stack.map.files), None).await;
        assert_eq!(answer.status(), 403, "{path}");
    }
    let posted = stack.http.post(format!("{}/ipfs/{unknown}", stack.map.files)).send().await.expect("an answer");
    assert_eq!(posted.status(), 403);
}

#[tokio::test]
async fn files_fit_into_a_day_a_total_and_what_a_pool_may_store() {
    let stack = Stack::connect();
    let table = stack.map.names["ArtistTable"].clone();
    let announced = json!({"contentType": "image/png", "size": 1000});
    let limited = async |limits: &[(&str, &str)]| Sandbox::with_variables(&stack, "create-upload", limits).await;
    let announce = async |sandbox: &Sandbox, artist: &SignedIn| {
        let bearer = format!("Bearer {}", artist.token);
        sandbox.post_with("192.0.2.5", &announced, &[("authorization", &bearer)]).await
    };
    let says = |(status, body): &(u16, Value), words: &str| {
        assert_eq!(*status, 429, "{body}");
        assert!(body["message"].as_str().is_some_and(|message| message.contains(words)), "{body}");
    };
    // A newcomer has a tenth of others' day, and a file counts as a MiB.
    let daily = limited(&[("UPLOAD_BYTES_DAILY", "20971520")]).await;
    let (artist, first, second, third) = within_one_window(DAY, async || {
        let artist = stack.new_artist().await;
        let (first, second) = (announce(&daily, &artist).await, announce(&daily, &artist).await);
        let third = announce(&daily, &artist).await;
        (artist, first, second, third)
    })
    .await;
    assert_eq!((first.0, second.0), (200, 200));
    says(&third, "0 of 2097152 bytes are left");
    // What newcomers stored is nobody else's limit, and what didn't fit isn't counted.
    let pools = limited(&[("UPLOAD_BYTES_NEWCOMERS_DAILY", "1"), ("UPLOAD_BYTES_DAILY", "209715200")]).await;
    for _ in 0..30 {
        says(&announce(&pools, &artist).await, "All new artists together");
    }
    let partition = format!("UPLOADED#{}", stack.artist_id(&artist));
    let week_ago = (std::time::UNIX_EPOCH.elapsed().expect("a time").as_secs() - 7 * 24 * 60 * 60).to_string();
    stack.set(&table, &partition, "TOTAL", "since", AttributeValue::N(week_ago)).await;
    assert_eq!(announce(&pools, &artist).await.0, 200);

    // What is stored counts in all, once.
    let content = picture(70_000);
    upload(&stack, &artist, "image/png", &content).await.expect_success();
    upload(&stack, &artist, "image/png", &content).await.expect_success();
    let row = stack.row(&table, &partition, "TOTAL").await.expect("a row");
    assert_eq!(row["stored_bytes"], AttributeValue::N("70000".to_owned()));
    let total = limited(&[("UPLOAD_BYTES_TOTAL", "1100000")]).await;
    says(&announce(&total, &artist).await, "1030000 are left");
}

#[tokio::test]
async fn only_one_request_at_a_time_hashes_an_upload() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let content = picture(100_000);
    let announced = json!({"contentType": "image/png", "size": content.len()});
    let begun = begin(&stack, &artist, &announced).await.expect_success().body;
    put(&stack, &begun, &content).await;
    let (partition, id) = (format!("UPLOADS#{}", stack.artist_id(&artist)), begun["uploadId"].as_str().expect("an id"));
    let lease = async |until: u64| {
        let until = AttributeValue::N(until.to_string());
        stack.set(&stack.map.names["ArtistTable"], &partition, id, "hashing_until", until).await;
    };
    // Another request hashes it; then its process ended.
    lease(u64::from(u32::MAX)).await;
    let refused = complete(&stack, &artist, &begun).await.expect_error(409);
    assert_eq!(refused.header("retry-after"), "2");
    lease(1).await;
    let stored = complete(&stack, &artist, &begun).await.expect_success().body;
    assert_eq!(complete(&stack, &artist, &begun).await.expect_success().body, stored);
}

#[tokio::test]
async fn completions_during_another_are_told_to_wait_and_then_what_it_was_told() {
    let stack = Stack::connect();
    let (artist, content) = (stack.new_artist().await, picture(100_000));
    let (proxy, cid) = (DatabaseProxy::start().await.expect("a proxy"), Dag::cid_of(&content));
    proxy.lead_to(&stack.map.dynamodb);
    let sandbox = Sandbox::with_database(&stack, "complete-upload", &proxy.url).await;
    // Processes that run already: a call waits for nine seconds at most, and on a slow machine four take long to start.
    let others = Sandbox::crowd(&stack, "complete-upload", &[], &stack.map.dynamodb, 4).await;
    let ask = async |event: &Value| join_all((0..4).map(|_| others.invoke(event))).await;
    ask(&completion(&others, &artist, &Uuid::new_v4().to_string())).await;
    let id = stack.finished_upload(&artist, content).await;
    let (is_hashed, event) = (hold_once_hashed(&proxy, cid), completion(&sandbox, &artist, &id));
    let again = completion(&others, &artist, &id);
    let asking = async {
        is_hashed.notified().await;
        let answers = ask(&again).await;
        proxy.waits.send_modify(|waits| *waits = false);
        answers
    };
    let (first, during) = tokio::join!(sandbox.invoke(&event), asking);
    for answer in during {
        assert_eq!((&answer["statusCode"], &answer["headers"]["retry-after"]), (&json!(409), &json!("2")), "{answer}");
    }
    assert_eq!(first["statusCode"], 200, "{first}");
    for answer in ask(&again).await {
        assert!(answer["statusCode"] == 200 && answer["body"].to_string().contains(&cid.to_string()), "{answer}");
    }
}

#[tokio::test]
async fn raced_completions_of_the_same_bytes_hash_each_upload_once_and_count_them_once() {
    let stack = Stack::connect();
    let (artist, content) = (stack.new_artist().await, picture(90_000));
    let uri = format!("ipfs://{}", Dag::cid_of(&content));
    let mut uploads =
        [stack.finished_upload(&artist, content.clone()).await, stack.finished_upload(&artist, content).await];
    let proxy = DatabaseProxy::start().await.expect("a proxy");
    proxy.lead_to(&stack.map.dynamodb);
    // Who hashes an upload stores how it ended.
    let ended = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&ended);
    proxy.observe(move |target, request, _| {
        let row = serde_json::from_slice::<Value>(request).unwrap_or_default()["Item"].take();
        if target.ends_with("PutItem") && row["outcome"]["M"].is_object() {
            noted.lock().expect("nobody panicked").push(row["sk"]["S"].as_str().expect("an id").to_owned());
        }
    });
    let crowd = &Sandbox::crowd(&stack, "complete-upload", &[], &proxy.url, 4).await;
    let asked = (0..8).map(|number| completion(crowd, &artist, &uploads[number % 2]));
    let answers = join_all(asked.map(|event| async move {
        eventually("nobody else is completing it", async || {
            let answer = crowd.invoke(&event).await;
            if answer["statusCode"] == 409 {
                assert_eq!(answer["headers"]["retry-after"], "2", "{answer}");
                return None;
            }
            assert_eq!(answer["statusCode"], 200, "{answer}");
            serde_json::from_str::<Value>(answer["body"].as_str()?).ok()
        })
        .await
    }))
    .await;
    assert!(answers.iter().all(|answer| answer["uri"] == uri), "{answers:?}");
    let mut ended = ended.lock().expect("nobody panicked").clone();
    ended.sort();
    uploads.sort();
    assert_eq!(ended, uploads, "an upload was hashed more than once");
    let partition = format!("UPLOADED#{}", stack.artist_id(&artist));
    let total = stack.row(&stack.map.names["ArtistTable"], &partition, "TOTAL").await.expect("a row");
    assert_eq!(total["stored_bytes"], AttributeValue::N("90000".to_owned()));
    let listed = Answer::of(stack.get("/uploads").bearer_auth(&artist.token)).await.expect_success().body;
    assert_eq!(listed["uploads"].as_array().map(Vec::len), Some(1), "{listed}");
}

#[tokio::test]
async fn a_file_that_one_request_can_t_hash_is_completed_by_several() {
    let stack = Stack::connect();
    // Its time is up as soon as it begins, so each call hashes one leaf.
    let (artist, hurried) = (stack.new_artist().await, Sandbox::hurried(&stack, "complete-upload", 9, 1).await);
    let content = picture(3 * LEAF + 1);
    let sha256: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
    let announced = json!({"contentType": "image/png", "size": content.len(), "sha256": sha256});
    let begun = begin(&stack, &artist, &announced).await.expect_success().body;
    put(&stack, &begun, &content).await;
    let event_of = |begun: &Value| completion(&hurried, &artist, begun["uploadId"].as_str().expect("an id"));
    let event = event_of(&begun);
    let mut hashed = Vec::new();
    let stored = loop {
        let answer = hurried.invoke(&event).await;
        let body: Value = serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON");
        if answer["statusCode"] != 202 {
            assert_eq!(answer["statusCode"], 200, "{answer}");
            break body;
        }
        assert_eq!(answer["headers"]["retry-after"], "1");
        assert_eq!((&body["uploadId"], &body["size"]), (&begun["uploadId"], &json!(content.len())));
        hashed.push(body["hashed"].as_u64().expect("a number"));
        assert!(hashed.len() <= 3, "it doesn't go on: {hashed:?}");
    };
    assert!(!hashed.is_empty() && hashed.is_sorted_by(|one, next| one < next), "{hashed:?}");
    assert_eq!(stored["uri"], format!("ipfs://{}", Dag::cid_of(&content)));
    // Another function ends what it began.
    let begun = begin(&stack, &artist, &announced).await.expect_success().body;
    put(&stack, &begun, &content).await;
    assert_eq!(hurried.invoke(&event_of(&begun)).await["statusCode"], 202);
    assert_eq!(complete(&stack, &artist, &begun).await.expect_success().body["uri"], stored["uri"]);
}

#[tokio::test]
async fn file_that_the_operator_removes_while_it_is_filed_is_served_to_nobody() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let (proxy, content) = (DatabaseProxy::start().await.expect("a proxy"), picture(3_000));
    let cid = Dag::cid_of(&content);
    proxy.lead_to(&stack.map.dynamodb);
    let sandbox = Sandbox::with_database(&stack, "complete-upload", &proxy.url).await;
    let id = stack.finished_upload(&artist, content).await;
    // Once it is known that nothing is decided about the content, its row waits until something is.
    let (is_read, event) = (hold_once_hashed(&proxy, cid), completion(&sandbox, &artist, &id));
    let deciding = async {
        is_read.notified().await;
        let rows =
            ArtistTable::new(&stack.endpoints().sdk_config(&stack.map.dynamodb).await, &stack.map.names["ArtistTable"]);
        let decision = Decision {
            subject: Subject::File(cid),
            action: Action::Remove,
            reason: Reason::Spam,
            note: "while it is filed".to_owned(),
            by: "the night shift".to_owned(),
            at: shared::clock::now().expect("a clock").as_secs(),
            until: None,
            with: None,
        };
        assert!(Moderation::new(rows).decide(decision, None, "2026-11").await.expect("a decision"));
        proxy.waits.send_modify(|waits| *waits = false);
    };
    let (answer, ()) = tokio::join!(sandbox.invoke(&event), deciding);
    assert_eq!(answer["statusCode"], 451, "{answer}");
    for host in [&stack.map.files, &stack.map.api] {
        assert_eq!(read(&stack, &format!("{host}/ipfs/{cid}"), None).await.status(), 451, "{host}");
    }
}

#[tokio::test]
async fn a_large_video_has_several_parts_and_is_read_in_ranges() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut content = picture(100_000_001);
    content[..24].copy_from_slice(b"\0\0\0\x18ftypisom\0\0\0\0isomiso2");
    let begun = begin(&stack, &artist, &json!({"contentType": "video/mp4", "size": content.len()})).await;
    let begun = begun.expect_success().body;
    assert_eq!(begun["parts"].as_array().map(Vec::len), Some(2));
    put(&stack, &begun, &content).await;
    let stored = complete_whole(&stack, &artist, &begun).await.expect_success().body;
    assert!(peak_memory("complete-upload") <= MOST_MEMORY);
    assert_eq!(stored["uri"], format!("ipfs://{}", Dag::cid_of(&content)));
    let file = stored["url"].as_str().expect("a URL");
    let url = &format!("{}/ipfs/{}", stack.map.api, Dag::cid_of(&content));
    let part = read(&stack, url, Some("bytes=50000000-")).await;
    assert_eq!((part.status().as_u16(), header(&part, "content-type")), (206, "video/mp4"));
    assert_eq!(header(&part, "content-range"), "bytes 50000000-54194303/100000001");
    assert_eq!(part.bytes().await.expect("bytes"), &content[50_000_000..54_194_304]);
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
    let whole = client.get(url).send().await.expect("an answer");
    assert_eq!((whole.status().as_u16(), header(&whole, "location")), (307, file), "a whole large file is elsewhere");
    let whole = read(&stack, url, None).await;
    assert_eq!((whole.status().as_u16(), header(&whole, "content-type")), (200, "video/mp4"));
    assert!(whole.bytes().await.expect("bytes") == content, "the redirection leads to the file");
    let rest = read(&stack, file, Some("bytes=50000000-")).await;
    assert_eq!(header(&rest, "content-range"), "bytes 50000000-100000000/100000001", "no function cuts it");
}

/// `target/debug/local test cargo test --workspace --test end_to_end -- --ignored --nocapture gigabyte`
#[tokio::test]
#[ignore = "takes minutes"]
async fn a_gigabyte_costs_the_functions_little_memory() {
    // Before any connection, which would be idle for too long.
    let mut content = picture(1 << 30);
    content[..24].copy_from_slice(b"\0\0\0\x18ftypisom\0\0\0\0isomiso2");
    let cid = Dag::cid_of(&content);
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let begun = begin(&stack, &artist, &json!({"contentType": "video/mp4", "size": content.len()})).await;
    let begun = begun.expect_success().body;
    put(&stack, &begun, &content).await;
    let stored = complete_whole(&stack, &artist, &begun).await.expect_success().body;
    assert_eq!(stored["uri"], format!("ipfs://{cid}"));
    let part = read(&stack, &format!("{}/ipfs/{cid}", stack.map.api), Some("bytes=900000000-")).await;
    assert_eq!(part.bytes().await.expect("bytes"), &content[900_000_000..904_194_304]);
    for function in ["create-upload", "complete-upload", "read-content"] {
        let peak = peak_memory(function);
        println!("{function}: {} MiB", peak >> 20);
        assert!(peak <= MOST_MEMORY, "{function}");
    }
}

#[tokio::test]
async fn hostile_files_are_refused() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    for (kind, content) in [
        ("image/svg+xml", &b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"[..]),
        ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
        ("image/png", b"<!DOCTYPE html><script>alert(1)</script>"),
        ("image/png", b"PK\x03\x04\x14\0\0\0\x08\0 a zip bomb"),
        ("image/svg+xml", b"\x1f\x8b\x08\0\0\0\0\0 a compressed one"),
        ("video/mp4", PNG),
    ] {
        let begun = begin(&stack, &artist, &json!({"contentType": kind, "size": content.len()})).await;
        let begun = begun.expect_success().body;
        put(&stack, &begun, content).await;
        for _ in 0..2 {
            let refused = complete(&stack, &artist, &begun).await;
            assert_eq!(refused.status, 422, "{kind}: {refused:?}");
        }
    }
    // A picture and a script at once stays a picture.
    let unique = uuid::Uuid::new_v4();
    let both = [b"GIF89a/*".as_slice(), unique.as_bytes(), b"*/=1;alert(1)//<script>alert(1)</script>"].concat();
    let stored = upload(&stack, &artist, "image/gif", &both).await.expect_success().body;
    let served = read(&stack, stored["url"].as_str().expect("a URL"), None).await;
    assert_eq!((header(&served, "content-type"), header(&served, "x-content-type-options")), ("image/gif", "nosniff"));
}

#[tokio::test]
async fn what_was_not_announced_is_refused() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let wrong = begin(&stack, &artist, &json!({"contentType": "text/html", "size": 0, "sha256": "x"})).await;
    assert_eq!((wrong.status, wrong.failing_fields()), (400, vec!["contentType", "size", "sha256"]));

    let content = picture(1_000);
    let begun = begin(&stack, &artist, &json!({"contentType": "image/png", "size": 999})).await.expect_success().body;
    let longer = stack.http.put(begun["parts"][0]["url"].as_str().expect("a URL")).body(content.clone());
    longer.send().await.expect("an answer");
    assert_eq!(complete(&stack, &artist, &begun).await.status, 409, "another size");

    let announced = json!({"contentType": "image/png", "size": 1_000, "sha256": "0".repeat(64)});
    let begun = begin(&stack, &artist, &announced).await.expect_success().body;
    put(&stack, &begun, &content).await;
    let refused = complete(&stack, &artist, &begun).await;
    assert_eq!(refused.status, 422, "another hash: {refused:?}");
    assert_eq!(complete(&stack, &stack.new_artist().await, &begun).await.status, 404, "another's upload");

    let cid = Dag::cid_of(&content);
    assert_eq!(Answer::of(stack.get(&format!("/ipfs/{cid}"))).await.status, 404, "it isn't kept");
    assert_eq!(Answer::of(stack.get("/ipfs/..%2Fsecrets")).await.status, 400);
    assert_eq!(Answer::of(stack.post("/uploads").json(&announced)).await.status, 401);
}
