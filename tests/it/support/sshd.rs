//! A machine elsewhere: an sshd of the test's own, on this machine, with a home of its own.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use super::clock::wait_for;
use super::process;
use super::world::{PROGRAM, World};

/// An ssh server that knows one key and one home, and nothing of the system's own.
pub(crate) struct Sshd {
    directory: PathBuf,
    port: u16,
    child: Option<Child>,
}

impl Sshd {
    /// Starts a server in a world; nothing, and a loud word, where none is installed.
    pub(crate) fn start(world: &World) -> Option<Self> {
        let Some(program) = program() else {
            println!(
                "SKIPPED: no sshd is here; `apt-get install openssh-server openssh-client` brings it"
            );
            return None;
        };
        let directory = world.path("sshd");
        fs::create_dir(&directory).unwrap();
        for name in ["host", "key"] {
            let file = directory.join(name);
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&file);
            assert!(command.status().unwrap().success());
        }
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        drop(socket);
        let home = world.path("elsewhere");
        fs::create_dir(&home).unwrap();
        let place = directory.display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {place}/host\n\
             AuthorizedKeysFile {place}/key.pub\nPidFile none\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nPermitRootLogin prohibit-password\nMaxStartups 100\n\
             SetEnv HOME={}\n",
            home.display()
        );
        fs::write(directory.join("config"), config).unwrap();
        let known = fs::read_to_string(directory.join("host.pub")).unwrap();
        fs::write(directory.join("known"), format!("[127.0.0.1]:{port} {known}")).unwrap();
        if rustix::process::geteuid().is_root() {
            // Where root runs it, it wants an empty directory of the system's.
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let mut server = Self { directory, port, child: None };
        server.run(&program);
        Some(server)
    }

    fn run(&mut self, program: &Path) {
        let log = fs::File::create(self.directory.join("log")).unwrap();
        let mut command = Command::new(program);
        command.args(["-D", "-e", "-f"]).arg(self.directory.join("config"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().unwrap());
        wait_for("the ssh server", || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok());
    }

    /// Takes the machine off the network: nobody gets in, and whoever was in is cut off.
    pub(crate) fn cut_off(&mut self, world: &World) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        Self::cut(world);
    }

    /// Brings the machine back.
    pub(crate) fn bring_back(&mut self) {
        let program = program().unwrap();
        self.run(&program);
    }

    /// Cuts every connection that stands, from this end.
    pub(crate) fn cut(world: &World) {
        for pid in Self::connections(world) {
            process::kill(pid, Signal::KILL);
        }
    }

    /// Returns the ssh processes of the hub.
    pub(crate) fn connections(world: &World) -> Vec<u32> {
        let is_ssh = |pid: &u32| process::words(*pid).first().is_some_and(|word| word == "ssh");
        world.alive().into_iter().map(|id| id.pid).filter(is_ssh).collect()
    }

    /// Returns the table that describes this machine as a runner.
    pub(crate) fn runner(&self, name: &str) -> String {
        let place = self.directory.display();
        let arguments = [
            "-F".to_owned(),
            "/dev/null".to_owned(),
            "-p".to_owned(),
            self.port.to_string(),
            "-i".to_owned(),
            format!("{place}/key"),
            "-o".to_owned(),
            format!("UserKnownHostsFile={place}/known"),
            "-o".to_owned(),
            "IdentitiesOnly=yes".to_owned(),
        ];
        let arguments = serde_json::to_string(&arguments).unwrap();
        format!(
            "[runner.{name}]\nkind = \"ssh\"\nhost = \"127.0.0.1\"\narguments = {arguments}\n\
             program = \"{PROGRAM}\"\n"
        )
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn program() -> Option<PathBuf> {
    let places = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"];
    let has_client = Command::new("ssh").arg("-V").stderr(Stdio::null()).status().is_ok();
    places.into_iter().map(PathBuf::from).find(|path| has_client && path.is_file())
}
