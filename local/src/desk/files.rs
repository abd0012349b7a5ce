//! Files that go with a removed moment, and come back with it.

use std::collections::{BTreeSet, HashSet};

use shared::{
    model::{Action, Cid, MomentRef, Picture, Subject},
    store::artist::Decision,
};

use super::Desk;
use crate::Error;

impl Desk {
    /// Removes the file or, of a moment, the files that it names, whatever was done before.
    pub(super) async fn remove_files(&self, decision: &Decision, month: &str) -> Result<(), Error> {
        match decision.subject {
            Subject::File(cid) => self.take_away(cid).await,
            Subject::Moment(place) if decision.action == Action::Remove => {
                for cid in self.files(&place).await? {
                    let with = Some(decision.subject);
                    let decision = Decision { subject: Subject::File(cid), with, ..decision.clone() };
                    // One that is removed already stays so when the moment comes back.
                    self.moderation.decide(decision, None, month).await?;
                    self.take_away(cid).await?;
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
        let uri = moment.uri.as_str();
        let document = self.documents.find_many(place.chain, [uri]).await?.remove(uri).unwrap_or_default();
        let uris = [uri, &document.image, &document.animation_url, &document.content.uri];
        Ok(uris.into_iter().filter_map(Cid::in_uri).collect())
    }

    /// Moves a file and its previews away, so that signed addresses and blocks lead nowhere.
    async fn take_away(&self, cid: Cid) -> Result<(), Error> {
        if let Some(object) = self.media.object(cid).await? {
            self.bucket.rename(&object, &removed(&object)).await?;
        }
        let previews = previews(cid);
        Ok(self.bucket.rename_under(&previews, &removed(&previews)).await?)
    }

    async fn bring_back(&self, cid: Cid) -> Result<(), Error> {
        if let Some(object) = self.media.object(cid).await? {
            self.bucket.rename(&removed(&object), &object).await?;
        }
        let previews = previews(cid);
        Ok(self.bucket.rename_under(&removed(&previews), &previews).await?)
    }
}

fn previews(cid: Cid) -> String {
    Picture::objects(&Picture::hash(&format!("ipfs://{cid}")))
}

fn removed(object: &str) -> String {
    format!("removed/{object}")
}
