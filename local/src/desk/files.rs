//! Files that go with a removed moment, and come back with it.

use std::collections::{BTreeSet, HashSet};

use shared::{
    model::{Action, ChainId, Cid, Fingerprint, Metadata, MomentRef, Picture, Reason, Subject},
    store::{
        artist::{Decision, RemovedPicture},
        chain::Documents,
    },
};

use super::Desk;
use crate::Error;

impl Desk {
    /// Removes the file or, of a moment, the files that it names, whatever was done before.
    pub(super) async fn remove_files(&self, decision: &Decision, month: &str) -> Result<(), Error> {
        match decision.subject {
            Subject::File(cid) => self.take_away(cid, decision.reason).await,
            Subject::Moment(place) if decision.action == Action::Remove => {
                for cid in self.files(&place).await? {
                    let with = Some(decision.subject);
                    let along = Decision { subject: Subject::File(cid), with, ..decision.clone() };
                    // One that is removed already stays so when the moment comes back.
                    self.moderation.decide(along, None, month).await?;
                    self.take_away(cid, decision.reason).await?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Brings the file or, of a moment, those files back that went with one, and with no other that is still removed.
    pub(super) async fn bring_files_back(&self, decision: &Decision, now: u64) -> Result<(), Error> {
        match decision.subject {
            Subject::File(cid) => self.bring_back(cid).await,
            Subject::Moment(place) if decision.action == Action::Remove => {
                let decisions = self.moderation.decisions().await?;
                let mut kept = HashSet::new();
                for other in decisions.iter().filter(|other| other.action == Action::Remove) {
                    if let Subject::Moment(other) = other.subject
                        && other != place
                    {
                        kept.extend(self.files(&other).await?);
                    }
                }
                let own = self.files(&place).await?;
                for file in decisions {
                    let Subject::File(cid) = file.subject else { continue };
                    let went_along = file.with == Some(decision.subject) || file.with.is_some() && own.contains(&cid);
                    if went_along && !kept.contains(&cid) {
                        self.bring_back(cid).await?;
                        self.moderation.undo(file, None, &self.operator, now).await?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The files that a moment names: its metadata, and what that names.
    async fn files(&self, place: &MomentRef) -> Result<BTreeSet<Cid>, Error> {
        let Some(moment) = self.moments.moment(place).await? else { return Ok(BTreeSet::new()) };
        let document = self.document(place.chain, &moment.uri).await?;
        let uris = [&moment.uri, &document.image, &document.animation_url, &document.content.uri];
        Ok(uris.into_iter().filter_map(|uri| Cid::in_uri(uri)).collect())
    }

    /// The document at a URI; an empty one until it is fetched.
    pub(super) async fn document(&self, chain: ChainId, uri: &str) -> Result<Metadata, Error> {
        Ok(self.documents.find_many(chain, [uri]).await?.remove(uri).unwrap_or_default())
    }

    /// Moves a file and its previews away, so that signed addresses and blocks lead nowhere.
    async fn take_away(&self, cid: Cid, reason: Reason) -> Result<(), Error> {
        if let Some(fingerprint) = self.fingerprint(cid).await? {
            self.moderation.remember_picture(&RemovedPicture { file: cid, fingerprint, reason }).await?;
        }
        self.bucket.rename(&cid.object(), &removed(&cid.object())).await?;
        let previews = previews(cid);
        Ok(self.bucket.rename_under(&previews, &removed(&previews)).await?)
    }

    /// How a picture looks, by the documents that name it.
    async fn fingerprint(&self, cid: Cid) -> Result<Option<Fingerprint>, Error> {
        for naming in self.media.namings(cid).await? {
            let document = Documents::uri_hash(&naming.document.uri());
            for chain in self.chains.iter() {
                let picture = self.previews.picture(chain.id, &document).await?;
                let looks = picture.filter(|picture| picture.uri == cid.uri()).and_then(|picture| picture.fingerprint);
                if looks.is_some() {
                    return Ok(looks);
                }
            }
        }
        Ok(None)
    }

    async fn bring_back(&self, cid: Cid) -> Result<(), Error> {
        self.moderation.forget_picture(cid).await?;
        self.bucket.rename(&removed(&cid.object()), &cid.object()).await?;
        let previews = previews(cid);
        Ok(self.bucket.rename_under(&removed(&previews), &previews).await?)
    }
}

fn previews(cid: Cid) -> String {
    Picture::objects(&Picture::hash(&cid.uri()))
}

pub(super) fn removed(object: &str) -> String {
    format!("removed/{object}")
}
