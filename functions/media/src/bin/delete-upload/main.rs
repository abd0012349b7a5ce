//! `DELETE /uploads/{id}`: deletes what an artist uploaded, unless something names it. A request may end at any line: the
//! next one goes on.

use media::{complete_upload::CompleteUploadPath, delete_upload::DeleteUploadResponse, names::FileNames};
use shared::{
    api::{error::removed, media::MediaService},
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::UploadId,
    store::{
        artist::{FileState, Profile, Released, UploadedFile},
        chain::ChainTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<DeleteUpload>().await
}

struct DeleteUpload {
    service: MediaService,
    names: FileNames,
}

impl Endpoint for DeleteUpload {
    async fn from_env() -> Result<Self, StartError> {
        let (service, chain) = (MediaService::from_env().await?, ChainTable::from_env(&config::aws().await)?);
        let names = FileNames::new(service.library.media.clone(), chain, &Chains::from_env()?);
        Ok(Self { service, names })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let profile = self.service.profile(request).await?;
        let artist = profile.artist.artist_id;
        let CompleteUploadPath { id } = request.path_parameters().read()?;
        let (bucket, media) = (&self.service.library.bucket, &self.service.library.media);
        let file = media.file(artist, id).await?.ok_or_else(|| unknown(id))?;
        let state = media.states(&[file.cid]).await?.remove(&file.cid);
        self.require_free(&profile, &file, state.as_ref()).await?;
        let released = media.release(&file, state.as_ref(), clock::now()?.as_secs()).await?;
        match released {
            Released::Changed => return Err(changed()),
            Released::Last => bucket.delete(&file.cid.object()).await?,
            Released::Shared | Released::Gone => {}
        }
        // Last: without its row nothing would be known of the bytes.
        if !media.delete_file(artist, &file, released).await? {
            return Err(changed());
        }
        Response::json(&DeleteUploadResponse { success: true })
    }
}

impl DeleteUpload {
    /// 409 if something names the file; 451 if the operator removed it, who needs it as evidence.
    async fn require_free(
        &self,
        profile: &Profile,
        file: &UploadedFile,
        state: Option<&FileState>,
    ) -> Result<(), ApiError> {
        if let Some(reason) = state.and_then(|state| state.removed) {
            return Err(removed(file.cid, reason));
        }
        if profile.avatar == Some(file.cid) {
            return Err(ApiError::conflict("The file is your picture: choose another one first"));
        }
        let is_named = state.is_some_and(|state| state.names > 0);
        let names = self.names.of(&[(file.cid, is_named)]).await?;
        names.iter().try_for_each(|names| names.require_none(clock::now()?.as_secs()))
    }
}

fn unknown(id: UploadId) -> ApiError {
    ApiError::not_found(format!("You have no file of upload {id}"))
}

fn changed() -> ApiError {
    ApiError::in_progress("Something about this file just changed: ask again in a moment", 1)
}
