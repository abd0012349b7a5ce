//! Pins files that are kept here at a service of the IPFS Pinning API, on a schedule. Without one, nothing is done, and the
//! queue is kept.

use lambda_runtime::LambdaEvent;
use pin_content::{Pinned, Pinner, Settings};
use shared::{
    bucket::Bucket,
    clock,
    config::{self, StartError},
    store::artist::{ArtistTable, Media, Pins},
    telemetry::{
        self,
        trace::{self, ScheduledEvent},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let (aws, settings) = (config::aws().await, Settings::from_env()?);
    let artists = ArtistTable::from_env(&aws)?;
    let pinner = &Pinner::new(&aws, Pins::new(artists.clone()), Media::new(artists), Bucket::from_env(&aws)?)?;
    let settings = settings.as_ref();
    trace::run(move |_: LambdaEvent<ScheduledEvent>| async move {
        match settings {
            Some(settings) => pinner.run(settings, clock::now()?.as_secs()).await,
            None => Ok(Pinned::default()),
        }
    })
    .await
}
