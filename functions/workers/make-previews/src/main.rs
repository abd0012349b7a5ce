//! Makes previews of the pictures that documents name. Woken by the stream of the table with their queue; a schedule wakes
//! it, too, for later tries and should a stream be late. With the arguments `decode` and the seconds that this may take it is
//! the decoder that it starts.

use std::{
    env,
    process::ExitCode,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use lambda_runtime::{Context, LambdaEvent};
use make_previews::{DOWNLOAD, Decoder, LONGEST_DOCUMENT, Previewed, Queue};
use serde::{Serialize, de::IgnoredAny};
use shared::{
    bucket::Bucket,
    config::{self, StartError},
    public_web::{Downloader, Gateways},
    store::{
        artist::{ArtistTable, Artists, Media, Moderation},
        chain::{ChainTable, PreviewQueue},
    },
    telemetry::{self, trace},
};

/// What the event source mapping expects, and what was done.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// Always empty: a failure fails the run.
    batch_item_failures: [(); 0],
    #[serde(flatten)]
    done: Previewed,
}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some("decode") {
        let seconds = arguments.next().and_then(|seconds| seconds.parse().ok());
        return if seconds.is_some_and(make_previews::decode) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", telemetry::chain(&*error));
            ExitCode::FAILURE
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn work() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let gateways = Gateways::from_env()?;
    let artists = ArtistTable::from_env(&aws)?;
    let queue = Queue {
        documents: PreviewQueue::new(ChainTable::from_env(&aws)?),
        artists: Artists::new(artists.clone()),
        media: Media::new(artists.clone()),
        moderation: Moderation::new(artists),
        bucket: Bucket::from_env(&aws)?,
        downloader: Downloader::new(gateways, "moments-previews/1.0", "image/*", DOWNLOAD)?,
        decoder: Decoder::new(env::current_exe()?),
    };
    let queue = &queue;
    // A record only says that there is something to do: none can be a poisoned one.
    trace::run(move |event: LambdaEvent<IgnoredAny>| async move {
        let end = Instant::now() + time_left(&event.context).saturating_sub(LONGEST_DOCUMENT);
        let done = queue.run(end).await?;
        Ok::<_, StartError>(Answer { batch_item_failures: [], done })
    })
    .await
}

fn time_left(context: &Context) -> Duration {
    let end = UNIX_EPOCH + Duration::from_millis(context.deadline);
    end.duration_since(SystemTime::now()).unwrap_or_default()
}
