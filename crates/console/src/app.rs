//! What all requests of the console share.

use crate::Config;
use crate::answer::{Answer, ApiError};
use crate::auth::Auth;
use crate::hub::Hubs;
use crate::index::Index;
use crate::jobs::Jobs;
use crate::login_throttle::LoginThrottle;
use crate::names::Names;
use crate::readers::Readers;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What all requests share.
pub struct App {
    pub config: Config,
    pub names: Names,
    pub auth: Auth,
    pub throttle: LoginThrottle,
    pub index: Arc<Index>,
    /// Held while annotations are written: two browsers write one after the other.
    pub annotating: Arc<Mutex<()>>,
    pub jobs: Arc<Jobs>,
    pub hubs: Hubs,
    /// For pages and run files.
    pub pages: Readers,
    /// For moments: what is new in a run that goes on, and whether a path still leads to where it did.
    pub looks: Readers,
}

impl App {
    /// The file or folder behind an id.
    pub async fn path(self: &Arc<Self>, id: &str) -> Answer<PathBuf> {
        let found = self.index.path(id).await.ok_or_else(|| ApiError::missing("there is no such run"))?;
        let (app, path) = (self.clone(), found.clone());
        self.looks.read(&[&found], move || app.index.check(&path)).await?.map_err(ApiError::missing)?;
        Ok(found)
    }
}
