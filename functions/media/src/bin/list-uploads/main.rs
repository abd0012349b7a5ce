//! `GET /uploads`: what an artist uploaded, and what names it.

use media::{
    list_uploads::{ListUploadsQuery, ListUploadsResponse, UploadedFileView},
    names::FileNames,
};
use shared::{
    api::media::MediaService,
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Cid,
    store::chain::ChainTable,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ListUploads>().await
}

struct ListUploads {
    service: MediaService,
    names: FileNames,
}

impl Endpoint for ListUploads {
    async fn from_env() -> Result<Self, StartError> {
        let (service, chain) = (MediaService::from_env().await?, ChainTable::from_env(&config::aws().await)?);
        let names = FileNames::new(service.library.media.clone(), chain.eventually_consistent(), &Chains::from_env()?);
        Ok(Self { service, names })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.service.identify(request).await?;
        let ListUploadsQuery { limit, before } = request.query().read()?;
        let library = &self.service.library;
        let files = library.media.files(artist, before, limit.get()).await?;
        let cids: Vec<Cid> = files.iter().map(|file| file.cid).collect();
        let states = library.media.states(&cids).await?;
        let is_named = |cid: &Cid| states.get(cid).is_some_and(|state| state.names > 0);
        let names = self.names.of(&cids.iter().map(|cid| (*cid, is_named(cid))).collect::<Vec<_>>()).await?;
        let mut uploads = Vec::new();
        for (file, names) in files.iter().zip(names) {
            let media = library.describe(request, file.cid, file.content.mime.clone(), file.content.size)?;
            uploads.push(UploadedFileView::of(file, media, states.get(&file.cid), &names)?);
        }
        let last = files.last().map(|last| last.upload).filter(|_| u32::try_from(files.len()) == Ok(limit.get()));
        let response = Response::json(&ListUploadsResponse { uploads })?;
        match last {
            Some(last) => response.with_next(request, "before", last),
            None => Ok(response),
        }
    }
}
