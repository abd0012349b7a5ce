//! Files and previews that go with a removed moment, and come back with it.

use std::collections::BTreeSet;

use shared::{
    model::{Action, ChainId, Cid, Fingerprint, Metadata, MomentRef, Picture, Reason, Subject},
    store::{
        artist::{Decision, RemovedPicture},
        chain::Documents,
    },
};

use super::Desk;
use crate::Error;

/// Characters of a picture's URI that are listed: one may hold the picture itself.
const LISTED: usize = 200;

/// What a moment names.
#[derive(Debug, Default, PartialEq, Eq)]
struct Named {
    /// Its metadata and what that names, where a file is named.
    files: BTreeSet<Cid>,
    /// URIs of what may be a picture that isn't kept here: only its previews are.
    elsewhere: BTreeSet<String>,
}

impl Named {
    fn of(uri: &str, Metadata { image, animation_url, content, .. }: Metadata) -> Self {
        let files = [uri, &image, &animation_url, &content.uri].into_iter().filter_map(Cid::in_uri).collect();
        let pictures = [image, content.uri].into_iter();
        let elsewhere = pictures.filter(|uri| !uri.is_empty() && Cid::in_uri(uri).is_none()).collect();
        Self { files, elsewhere }
    }
}

impl Desk {
    /// Removes the file or, of a moment, the files and previews of what it names, whatever was done before.
    pub(super) async fn remove_files(&self, decision: &Decision, month: &str) -> Result<(), Error> {
        match decision.subject {
            Subject::File(cid) => self.take_away(cid, decision.reason).await,
            Subject::Moment(place) if decision.action == Action::Remove => {
                let named = self.names(&place).await?;
                for cid in named.files {
                    let with = Some(decision.subject);
                    let along = Decision { subject: Subject::File(cid), with, ..decision.clone() };
                    // One that is removed already stays so when the moment comes back.
                    self.moderation.decide(along, None, month).await?;
                    self.take_away(cid, decision.reason).await?;
                }
                for uri in named.elsewhere {
                    let fingerprint = self.looks_in(&place, &uri).await?;
                    let begin = Some(uri.chars().take(LISTED).collect());
                    let picture = RemovedPicture { file: None, uri: begin, fingerprint, reason: decision.reason };
                    self.take_previews_away(&uri, &picture).await?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Brings the file or, of a moment, those files and previews back that went with one, and with no other that is
    /// still removed.
    pub(super) async fn bring_files_back(&self, decision: &Decision, now: u64) -> Result<(), Error> {
        match decision.subject {
            Subject::File(cid) => self.bring_back(cid).await,
            Subject::Moment(place) if decision.action == Action::Remove => {
                let decisions = self.moderation.decisions().await?;
                let mut kept = Named::default();
                for other in decisions.iter().filter(|other| other.action == Action::Remove) {
                    if let Subject::Moment(other) = other.subject
                        && other != place
                    {
                        let named = self.names(&other).await?;
                        kept.files.extend(named.files);
                        kept.elsewhere.extend(named.elsewhere);
                    }
                }
                let own = self.names(&place).await?;
                for file in decisions {
                    let Subject::File(cid) = file.subject else { continue };
                    let went_along =
                        file.with == Some(decision.subject) || file.with.is_some() && own.files.contains(&cid);
                    if went_along && !kept.files.contains(&cid) {
                        self.bring_back(cid).await?;
                        self.moderation.undo(file, None, &self.operator, now).await?;
                    }
                }
                for uri in own.elsewhere.difference(&kept.elsewhere) {
                    self.bring_previews_back(uri).await?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What a moment names; of one that isn't there nothing.
    async fn names(&self, place: &MomentRef) -> Result<Named, Error> {
        let Some(moment) = self.moments.moment(place).await? else { return Ok(Named::default()) };
        Ok(Named::of(&moment.uri, self.document(place.chain, &moment.uri).await?))
    }

    /// The document at a URI; an empty one until it is fetched.
    pub(super) async fn document(&self, chain: ChainId, uri: &str) -> Result<Metadata, Error> {
        Ok(self.documents.find_many(chain, [uri]).await?.remove(uri).unwrap_or_default())
    }

    /// Moves a file and its previews away, so that signed addresses and blocks lead nowhere.
    async fn take_away(&self, cid: Cid, reason: Reason) -> Result<(), Error> {
        let picture = RemovedPicture { file: Some(cid), uri: None, fingerprint: self.fingerprint(cid).await?, reason };
        self.bucket.rename(&cid.object(), &removed(&cid.object())).await?;
        self.take_previews_away(&cid.uri(), &picture).await
    }

    /// Moves the previews of a picture away, once no new ones are made.
    async fn take_previews_away(&self, uri: &str, picture: &RemovedPicture) -> Result<(), Error> {
        self.moderation.remember_picture(uri, picture).await?;
        let previews = previews(uri);
        Ok(self.bucket.rename_under(&previews, &removed(&previews)).await?)
    }

    /// How a picture looks that a moment names.
    async fn looks_in(&self, place: &MomentRef, uri: &str) -> Result<Option<Fingerprint>, Error> {
        let Some(moment) = self.moments.moment(place).await? else { return Ok(None) };
        let picture = self.previews.picture(place.chain, &Documents::uri_hash(&moment.uri)).await?;
        Ok(picture.filter(|picture| picture.uri == uri).and_then(|picture| picture.fingerprint))
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
        self.bucket.rename(&removed(&cid.object()), &cid.object()).await?;
        self.bring_previews_back(&cid.uri()).await
    }

    async fn bring_previews_back(&self, uri: &str) -> Result<(), Error> {
        self.moderation.forget_picture(uri).await?;
        let previews = previews(uri);
        Ok(self.bucket.rename_under(&removed(&previews), &previews).await?)
    }
}

fn previews(uri: &str) -> String {
    Picture::objects(&Picture::hash(uri))
}

pub(super) fn removed(object: &str) -> String {
    format!("removed/{object}")
}

#[cfg(test)]
mod tests {
    use shared::model::Content;

    use super::*;

    #[test]
    fn pictures_that_are_no_files_here_are_named_by_their_uris() {
        let file = "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";
        let inside = format!("{file}/picture.png");
        for elsewhere in [inside.as_str(), "https://pictures.example/1.png", "ar://1", "data:image/png;base64,AA=="] {
            let content = Content { mime: "image/png".to_owned(), uri: file.to_owned() };
            let document = Metadata { image: elsewhere.to_owned(), content, ..Metadata::default() };
            let named = Named::of("ar://metadata", document);
            assert_eq!(named.elsewhere, BTreeSet::from([elsewhere.to_owned()]));
            assert_eq!(named.files, BTreeSet::from_iter(Cid::in_uri(file)));
        }
        assert_eq!(Named::of("ar://metadata", Metadata::default()), Named::default());
    }
}
