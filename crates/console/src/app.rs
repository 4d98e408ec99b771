//! State that all requests of the console share.

use crate::Config;
use crate::agents::Agents;
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

/// Shared state.
pub struct App {
    pub config: Config,
    pub names: Names,
    pub auth: Auth,
    pub throttle: LoginThrottle,
    pub index: Arc<Index>,
    /// Held while annotations are written, so that two browsers do not write at once.
    pub annotating: Arc<Mutex<()>>,
    pub agents: Arc<Agents>,
    pub jobs: Arc<Jobs>,
    pub hubs: Hubs,
    /// For pages and run files.
    pub pages: Readers,
    /// For short reads: news of a run in progress, and checks of paths.
    pub looks: Readers,
}

impl App {
    /// Returns the path of a run or folder by its id.
    pub async fn path(self: &Arc<Self>, id: &str) -> Answer<PathBuf> {
        let found = self.index.path(id).await.ok_or_else(|| ApiError::missing("there is no such run"))?;
        let (app, path) = (self.clone(), found.clone());
        self.looks.read(&[&found], move || app.index.check(&path)).await?.map_err(ApiError::missing)?;
        Ok(found)
    }
}
