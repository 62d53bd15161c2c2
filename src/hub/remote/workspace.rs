//! Makes workspaces elsewhere, asks for what is in them, and removes them, from here.
//!
//! For each there is one here that shows what is there, as it was when it was last asked: whoever
//! compares, checks or merges looks at that one. It is asked when a turn ends, before a claim is
//! checked, before a merge and before it is removed.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use crate::model::{Clearing, Made, Plot, Workspace};
use crate::runner::{SpaceCall, SpaceDeed, SpaceSaid, Way, ask_about_space};
use crate::workspace::{self, Cleared, Mirror, Site, WorkspaceError};

/// A person who looks at a diff sees what is new by then.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// What it takes to reach one.
#[derive(Clone, Debug)]
pub(in crate::hub) struct RemoteWorkspace {
    site: Site,
    /// Or why it cannot be told.
    way: Result<Way, String>,
    /// What the place is called in the settings.
    name: String,
    workspace: Workspace,
}

/// Has the files at a place as they are elsewhere, where they are shown; says why that cannot be.
pub(in crate::hub) async fn refresh(remote: Option<RemoteWorkspace>) -> Result<(), String> {
    let Some(remote) = remote else { return Ok(()) };
    let fetched = tokio::task::spawn_blocking(move || remote.fetch(None)).await;
    let told = |reason: String| format!("its work could not be fetched from elsewhere: {reason}");
    match fetched {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(told(error.to_string())),
        Err(error) => Err(told(error.to_string())),
    }
}

/// Does the same for someone who looks all the time: not more often than every few seconds.
pub(in crate::hub) async fn refresh_at_times(
    remote: Option<RemoteWorkspace>,
) -> Result<(), String> {
    let is_due = |one: &RemoteWorkspace| one.site.shown_for(&one.workspace.agent) > LOOK_EVERY;
    refresh(remote.filter(is_due)).await
}

impl RemoteWorkspace {
    pub(in crate::hub) fn new(site: Site, way: io::Result<Way>, workspace: Workspace) -> Self {
        let name = workspace.plot.runner.as_ref().map(|runner| runner.name.clone());
        let way = way.map_err(|error| error.to_string());
        Self { site, way, name: name.unwrap_or_default(), workspace }
    }

    /// Makes the workspace: here what shows it, and then there.
    pub(in crate::hub) fn make(&self) -> Result<Made, WorkspaceError> {
        let mirror = Mirror::open(&self.site, &self.workspace)?;
        mirror.forget()?;
        let made = workspace::make(&self.site, &self.here())?;
        let (given, content) = workspace::given(&self.workspace)?;
        let deed = SpaceDeed::Make { given };
        let base = &self.workspace.plot.base;
        let said = self.give(&mirror, &deed, content, base)?;
        if let SpaceSaid::Made { outpost, port, copied } = said {
            return Ok(Made { port, copied, outpost: Some(Box::new(outpost)), ..made });
        }
        Err(self.unexpected(&said))
    }

    /// Takes away what was made here of one that could not be made there.
    pub(in crate::hub) fn undo(&self) -> Result<Cleared, WorkspaceError> {
        let clearing = Clearing { is_unfinished: true, ..Clearing::default() };
        workspace::clear(&self.site, &self.here(), clearing)
    }

    /// Fetches what is there; with a message, all of it is committed first. Returns false if there
    /// is no such workspace any more.
    pub(in crate::hub) fn fetch(&self, message: Option<String>) -> Result<bool, WorkspaceError> {
        let mirror = Mirror::open(&self.site, &self.workspace)?;
        self.fetch_into(&mirror, message)
    }

    fn fetch_into(&self, mirror: &Mirror, message: Option<String>) -> Result<bool, WorkspaceError> {
        let deed = SpaceDeed::Send { message, known: mirror.tips() };
        match self.ask(mirror, &deed, Vec::new(), None)? {
            (SpaceSaid::Sent(tips), pack) => mirror.take_in(&tips, pack).map(|()| true),
            (SpaceSaid::Gone, _) => Ok(false),
            (other, _) => Err(self.unexpected(&other)),
        }
    }

    /// Puts what is there into a rescue ref there, and fetches that.
    pub(in crate::hub) fn rescue(&self) -> Result<Option<String>, WorkspaceError> {
        let mirror = Mirror::open(&self.site, &self.workspace)?;
        match self.ask(&mirror, &SpaceDeed::Rescue, Vec::new(), None)? {
            (SpaceSaid::Rescued { rescues }, pack) => mirror.take_rescues(&rescues, pack),
            (other, _) => Err(self.unexpected(&other)),
        }
    }

    /// Lets the agent there see a branch of the project.
    pub(in crate::hub) fn offer(&self, branch: &str) -> Result<(), WorkspaceError> {
        let mirror = Mirror::open(&self.site, &self.workspace)?;
        let Some(commit) = workspace::branch_tip(&self.workspace, branch)? else { return Ok(()) };
        let name = format!("refs/heads/{branch}");
        let deed = SpaceDeed::Take { name, commit: commit.clone() };
        let said = self.give(&mirror, &deed, Vec::new(), &commit)?;
        if matches!(said, SpaceSaid::Taken) { Ok(()) } else { Err(self.unexpected(&said)) }
    }

    /// Removes it there and here, unless something would be lost: what is there has been fetched by
    /// then, and what is not held elsewhere keeps it.
    pub(in crate::hub) fn clear(&self, clearing: Clearing) -> Result<Cleared, WorkspaceError> {
        let mirror = Mirror::open(&self.site, &self.workspace)?;
        let is_whole = self.workspace.outpost.is_some() && self.workspace.plot.root.is_dir();
        let is_fetched = is_whole && self.fetch_into(&mirror, None)?;
        if is_fetched {
            let here = workspace::clearing_here(clearing);
            let refused = workspace::refuse_to_clear(&self.site, &self.here(), here)?;
            if let Some(reason) = refused {
                return Ok(Cleared::Kept { reason });
            }
        }
        let held = mirror.tips().filter(|_| is_fetched).map(|tips| tips.head);
        let deed = SpaceDeed::Clear { clearing, held, variables: self.variables() };
        let rescue = match self.ask(&mirror, &deed, Vec::new(), None)? {
            (SpaceSaid::Cleared { rescues }, pack) => mirror.take_rescues(&rescues, pack)?,
            (SpaceSaid::Kept { reason }, _) => return Ok(Cleared::Kept { reason }),
            (other, _) => return Err(self.unexpected(&other)),
        };
        let here = workspace::clearing_here(clearing);
        let cleared = workspace::clear(&self.site, &self.here(), here)?;
        if let Cleared::Removed { rescue: own } = cleared {
            mirror.forget()?;
            return Ok(Cleared::Removed { rescue: rescue.filter(|_| clearing.rescues).or(own) });
        }
        Ok(cleared)
    }

    /// Asks for something that a commit is needed for, and sends it if it is wanted.
    fn give(
        &self,
        mirror: &Mirror,
        deed: &SpaceDeed,
        content: Vec<u8>,
        commit: &str,
    ) -> Result<SpaceSaid, WorkspaceError> {
        let (said, _) = self.ask(mirror, deed, content.clone(), None)?;
        let SpaceSaid::Lacks { had } = said else { return Ok(said) };
        let pack = workspace::packed(&self.workspace, commit, &had)?;
        Ok(self.ask(mirror, deed, content, pack)?.0)
    }

    fn ask(
        &self,
        mirror: &Mirror,
        deed: &SpaceDeed,
        content: Vec<u8>,
        pack: Option<std::fs::File>,
    ) -> Result<(SpaceSaid, Option<std::fs::File>), WorkspaceError> {
        let name = &self.name;
        let failed = |error: io::Error| WorkspaceError::Advised {
            message: format!("`{name}`: {error}"),
            hint: format!("See what is missing with `wheelhouse runner check {name}`"),
        };
        let bytes = pack.as_ref().map(|pack| pack.metadata().map(|told| told.len()));
        let way = self.way.as_ref().map_err(|reason| failed(io::Error::other(reason.clone())))?;
        let call = SpaceCall {
            workspace: self.workspace.clone(),
            directory: way.workspaces(),
            deed: deed.clone(),
            pack_bytes: bytes.transpose().map_err(failed)?,
        };
        let draft = mirror.draft();
        match ask_about_space(&way.space(), &call, content, pack, &draft).map_err(failed)? {
            (SpaceSaid::Refused { reason, hint: Some(hint) }, _) => {
                Err(WorkspaceError::Advised { message: reason, hint })
            }
            (SpaceSaid::Refused { reason, hint: None }, _) => Err(WorkspaceError::Refused(reason)),
            answered => Ok(answered),
        }
    }

    fn unexpected(&self, said: &SpaceSaid) -> WorkspaceError {
        let name = &self.name;
        tracing::warn!(?said, name, "an answer that does not fit");
        WorkspaceError::Refused(format!("`{name}` answers something else: is it the same version?"))
    }

    /// Returns the workspace as the part of it that is here: no local files, no ports, no commands.
    fn here(&self) -> Workspace {
        let plot = Plot {
            copy: Vec::new(),
            setup: None,
            teardown: None,
            port_count: 0,
            ..self.workspace.plot.clone()
        };
        Workspace { plot, copied: BTreeMap::new(), ..self.workspace.clone() }
    }

    fn variables(&self) -> BTreeMap<String, String> {
        let count = self.workspace.plot.port_count.to_string();
        let ports = self.workspace.port.map(|port| {
            [("WHEELHOUSE_PORT_BASE", port.to_string()), ("WHEELHOUSE_PORT_COUNT", count)]
        });
        let ports = ports.into_iter().flatten();
        ports.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
