//! Pinning at a service that keeps the real interface, and its bad days.

use local::{
    cloud::{self, Endpoints},
    database::LocalDatabase,
    paths::Paths,
    pinning_service::{Fault, PinningService, TOKEN},
    process::Process,
};
use pin_content::{Pinned, Pinner, Settings};
use shared::{
    bucket::Bucket,
    model::{ArtistId, Cid, Dag, LEAF, UploadId},
    store::artist::{ArtistTable, Media, Naming, Pins, Released, StoredBlock, StoredContent, UploadedFile},
};

type TestResult<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// When the tests begin, in Unix seconds.
const START: u64 = 1_800_000_000;
const MINUTE: u64 = 60;

struct World {
    pinner: Pinner,
    pins: Pins,
    media: Media,
    bucket: Bucket,
    endpoints: Endpoints,
    settings: Settings,
    service: PinningService,
    _database: LocalDatabase,
    _aws: Process,
}

impl World {
    async fn open(name: &str) -> TestResult<Self> {
        let paths = Paths::of_checkout();
        let database = LocalDatabase::start().await?;
        let (url, process) = cloud::start(&paths, &paths.local(&format!("pinning-{name}"))).await?;
        let endpoints = Endpoints { aws: url.clone(), dynamodb: database.endpoint.clone() };
        let template = paths.template()?;
        for table in template.resources("AWS::DynamoDB::Table") {
            endpoints.create_table(table).await?;
        }
        endpoints.create_bucket("media").await?;
        let service = PinningService::start(None).await?;
        let secret = endpoints.create_secret("pinning", TOKEN).await?;
        let origins = vec!["/dns4/node.example.com/tcp/4001".to_owned()];
        let settings = Settings { endpoint: service.url.parse()?, secret, origins };
        let aws = endpoints.sdk_config(&url).await;
        let table = ArtistTable::new(&endpoints.sdk_config(&database.endpoint).await, "ArtistTable");
        let (pins, media, bucket) = (Pins::new(table.clone()), Media::new(table), Bucket::new(&aws, "media"));
        let pinner = Pinner::new(&aws, pins.clone(), media.clone(), bucket.clone())?;
        Ok(Self { pinner, pins, media, bucket, endpoints, settings, service, _database: database, _aws: process })
    }

    async fn keep(&self, content: &[u8]) -> TestResult<Cid> {
        let cid = Dag::cid_of(content);
        self.bucket.file_document(cid, "image/png", content.to_vec()).await?;
        self.media.add_content(ArtistId::random(), cid, &stored("a test", content.len()), START).await?;
        Ok(cid)
    }

    /// A run, some seconds after the start.
    async fn run(&self, seconds: u64) -> TestResult<Pinned> {
        self.pinner.run(&self.settings, START + seconds).await
    }

    fn asked(&self, request: &str) -> usize {
        self.service.requests().iter().filter(|asked| asked.starts_with(request)).count()
    }
}

fn sums(pinned: u64, waiting: u64, failed: u64) -> Pinned {
    Pinned { pinned, waiting, failed }
}

#[tokio::test]
async fn files_are_pinned_once_and_their_blocks_are_stored() -> TestResult {
    let world = World::open("files").await?;
    let small = world.keep(b"a small file").await?;
    // Two of its leaves are the same.
    let mut content = vec![7; 2 * LEAF];
    content.extend_from_slice(b"the end");
    let large = world.keep(&content).await?;
    assert_eq!(world.keep(&content).await?, large, "kept again");
    assert_eq!(world.run(0).await?, sums(0, 2, 0), "both are queued there");
    assert_eq!(world.run(0).await?, sums(0, 0, 0), "nothing is due");
    assert_eq!(world.run(MINUTE).await?, sums(0, 2, 0), "both are being fetched");
    assert_eq!(world.run(2 * MINUTE).await?, sums(2, 0, 0));
    assert_eq!(world.run(100 * MINUTE).await?, sums(0, 0, 0), "nothing is left");
    for cid in [small, large] {
        assert_eq!(world.service.pins_of(&cid.to_string()), ["pinned"]);
    }

    assert_eq!(world.media.block(small).await?, None, "it is its only block");
    let end = 2 * LEAF as u64;
    for (leaf, expected) in [
        (&content[..LEAF], StoredBlock::Leaf { file: large, offset: LEAF as u64, size: LEAF as u64 }),
        (b"the end", StoredBlock::Leaf { file: large, offset: end, size: 7 }),
    ] {
        assert_eq!(world.media.block(Dag::cid_of(leaf)).await?, Some(expected));
    }
    assert!(matches!(world.media.block(large).await?, Some(StoredBlock::Node { .. })));
    Ok(())
}

#[tokio::test]
async fn failing_service_loses_no_file() -> TestResult {
    let world = World::open("outage").await?;
    let cid = world.keep(b"a file of a bad day").await?;
    world.service.fail_with([Fault::Status(429, Some(3_600))]);
    assert_eq!(world.run(0).await?, sums(0, 0, 1));
    assert_eq!(world.run(59 * MINUTE).await?, sums(0, 0, 0), "the service asked to wait an hour");
    assert_eq!(world.service.requests().len(), 1, "it isn't asked meanwhile");

    // Days without an answer that is one: pauses stay short of a quarter of an hour, the file's own of six hours.
    let faults = [Fault::Status(503, None), Fault::Garbage, Fault::Status(500, None), Fault::Status(401, None)];
    world.service.fail_with(faults.into_iter().cycle().take(12));
    let mut now = 60 * MINUTE;
    while world.service.requests().len() < 13 {
        world.run(now).await?;
        now += 15 * MINUTE;
        assert!(now < 7 * 24 * 60 * MINUTE, "it gave up: {:?}", world.service.requests());
    }
    assert!(world.service.pins_of(&cid.to_string()).is_empty());
    for _ in 0..30 {
        world.run(now).await?;
        now += 15 * MINUTE;
    }
    assert_eq!(world.service.pins_of(&cid.to_string()), ["pinned"]);
    assert!(world.pins.due(u64::MAX / 2, 10).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn lost_answers_failures_and_forgotten_requests_end_with_one_pin() -> TestResult {
    let world = World::open("answers").await?;
    let cid = world.keep(b"a file with bad luck").await?.to_string();
    world.service.fail_once(&cid);
    assert_eq!(world.run(0).await?, sums(0, 1, 0));
    assert_eq!(world.run(MINUTE).await?, sums(0, 1, 0));
    assert_eq!(world.run(2 * MINUTE).await?, sums(0, 0, 1), "the service gave it up");
    assert_eq!(world.run(4 * MINUTE).await?, sums(0, 1, 0), "it is asked again");
    assert_eq!((world.asked("POST /pins/1"), world.service.pins_of(&cid).len()), (1, 1), "the failed one is replaced");

    world.service.fail_with([Fault::Status(404, None), Fault::Status(404, None)]);
    assert_eq!(world.run(6 * MINUTE).await?, sums(0, 0, 1), "its request is forgotten");
    assert_eq!(world.run(30 * MINUTE).await?, sums(0, 1, 0));
    assert_eq!(world.run(60 * MINUTE).await?, sums(0, 1, 0), "it is found again");
    assert_eq!(world.run(90 * MINUTE).await?, sums(1, 0, 0));
    assert_eq!(world.service.pins_of(&cid), ["pinned"]);

    let other = world.keep(b"another file").await?.to_string();
    let quiet = world.service.requests().len();
    world.service.lose_next("POST");
    assert_eq!(world.run(91 * MINUTE).await?, sums(0, 0, 1), "its answer is lost");
    assert_eq!(world.run(99 * MINUTE).await?, sums(0, 1, 0), "its request is found");
    let asked = &world.service.requests()[quiet..];
    assert_eq!(asked.iter().filter(|asked| asked.starts_with("POST")).count(), 1, "{asked:?}");
    assert_eq!(world.service.pins_of(&other).len(), 1);
    Ok(())
}

#[tokio::test]
async fn new_token_is_used_at_once_and_failing_file_delays_no_other() -> TestResult {
    let mut world = World::open("token").await?;
    let right = world.settings.secret.clone();
    world.settings.secret = world.endpoints.create_secret("wrong", "another-token").await?;
    let cid = world.keep(b"a file").await?.to_string();
    assert_eq!(world.run(0).await?, sums(0, 0, 1));
    world.settings.secret = right;
    assert_eq!(world.run(MINUTE).await?, sums(0, 1, 0), "the file lost nothing but the pause");

    // Its row is there, its bytes are gone.
    let content = vec![9; 2 * LEAF];
    let gone = world.keep(&content).await?;
    world.bucket.delete(&gone.object()).await?;
    assert_eq!(world.run(2 * MINUTE).await?, sums(0, 1, 1));
    assert_eq!(world.run(3 * MINUTE).await?, sums(1, 0, 1), "the other one is pinned");
    assert_eq!(world.service.pins_of(&cid), ["pinned"]);
    assert!(world.service.pins_of(&gone.to_string()).is_empty(), "nobody could fetch it");
    world.bucket.file_document(gone, "image/png", content).await?;
    assert_eq!(world.run(60 * MINUTE).await?, sums(0, 1, 0), "it is tried again");
    Ok(())
}

#[tokio::test]
async fn file_that_its_last_holder_deleted_is_unpinned() -> TestResult {
    let world = World::open("deleted").await?;
    let (content, artist, upload) = (b"a file that goes", ArtistId::random(), UploadId::next());
    let cid = Dag::cid_of(content);
    world.bucket.put(&upload.object(), "image/png", content.to_vec()).await?;
    assert!(world.bucket.file(upload, cid, "image/png", content.len() as u64).await?);
    let file = UploadedFile { upload, cid, content: stored("one", content.len()), at: START };
    assert!(world.media.add_file(artist, &file).await?);
    world.run(0).await?;
    world.run(MINUTE).await?;
    assert_eq!(world.run(2 * MINUTE).await?, sums(1, 0, 0));
    let seen = world.media.states(&[cid]).await?.remove(&cid);
    let named = Naming { document: Dag::cid_of(b"a document"), at: START };
    assert!(world.media.note_naming(cid, named).await?);
    assert_eq!(world.media.release(&file, seen.as_ref(), START).await?, Released::Changed, "it was named meanwhile");
    let seen = world.media.states(&[cid]).await?.remove(&cid);
    assert_eq!(world.media.release(&file, seen.as_ref(), START).await?, Released::Last);
    assert!(!world.media.note_naming(cid, named).await?, "it is gone");
    assert_eq!(world.media.release(&file, seen.as_ref(), START).await?, Released::Last, "a broken-off try goes on");
    assert!(world.media.delete_file(artist, &file, Released::Last).await?);
    assert_eq!(world.run(3 * MINUTE).await?, sums(0, 0, 0));
    assert!(world.service.pins_of(&cid.to_string()).is_empty(), "it is unpinned");
    assert_eq!(world.run(4 * MINUTE).await?, sums(0, 0, 0), "nothing is left");
    Ok(())
}

#[tokio::test]
async fn file_that_others_file_again_while_it_is_deleted_keeps_its_bytes() -> TestResult {
    let world = World::open("refiled").await?;
    let (content, [one, other]) = (b"a file of two", [ArtistId::random(), ArtistId::random()]);
    let cid = Dag::cid_of(content);
    let of =
        |origin: &str, at| UploadedFile { upload: UploadId::next(), cid, content: stored(origin, content.len()), at };
    let first = of("one", START);
    assert!(world.media.add_file(one, &first).await?);
    let seen = world.media.states(&[cid]).await?.remove(&cid);
    assert_eq!(world.media.release(&first, seen.as_ref(), START).await?, Released::Last);
    assert_eq!(world.media.content(cid).await?, None, "it isn't served any more");
    assert!(!world.media.add_file(other, &of("other", START + MINUTE)).await?, "its bytes may still be deleted");
    assert!(!world.media.share_file(other, &of("one", START + MINUTE)).await?, "and nobody comes to hold it");
    let second = of("other", START + MINUTE + 1);
    assert!(world.media.add_file(other, &second).await?, "the first request is over for sure");
    assert!(!world.media.delete_file(one, &first, Released::Last).await?, "the content is another's");
    let seen = world.media.states(&[cid]).await?.remove(&cid);
    assert_eq!(world.media.release(&first, seen.as_ref(), START + 2 * MINUTE).await?, Released::Gone);
    assert!(world.media.delete_file(one, &first, Released::Gone).await?);
    assert_eq!(world.media.stored(cid).await?, Some(second.content));
    Ok(())
}

fn stored(origin: &str, size: usize) -> StoredContent {
    StoredContent { origin: origin.to_owned(), mime: "image/png".to_owned(), size: size as u64 }
}
