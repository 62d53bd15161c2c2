//! Only our own user comes through the hub's door, and only a safe directory holds it.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use super::support::world::{World, run};

/// Becomes nobody, connects, says hello and prints what it got.
const STRANGER: &str = "
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
door = socket.socket(socket.AF_UNIX)
door.settimeout(20)
door.connect(sys.argv[1])
try:
    body = b'{\"id\":1,\"request\":\"hello\",\"protocol\":1,\"version\":\"x\"}'
    door.sendall(len(body).to_bytes(4, 'big') + body)
    print('got', door.recv(100))
except (BrokenPipeError, ConnectionResetError):
    print('got', b'')
";

#[test]
fn another_user_gets_nothing_even_where_the_modes_let_everyone_in() {
    if !rustix::process::geteuid().is_root() {
        println!("not root, so there is no other user to be");
        return;
    }
    let world = World::new();
    world.ok(&["up", "shell"]);
    let paths = world.paths();
    let agent_socket = paths.agent_socket(&"one".parse().unwrap());
    for directory in paths.runtime_dir.ancestors().take_while(|path| path.starts_with(&world.root))
    {
        open_to_all(directory);
    }
    for socket in [paths.hub_socket(), agent_socket] {
        open_to_all(&socket);
        let mut stranger = Command::new("python3");
        stranger.args(["-c", STRANGER]).arg(&socket).env_clear().env("PATH", "/usr/bin:/bin");
        stranger.current_dir("/");
        let said = run(stranger).unwrap();
        assert_eq!(said.out, "got b''\n", "{}: {said:?}", socket.display());
    }
    fs::set_permissions(&paths.runtime_dir, Permissions::from_mode(0o700)).unwrap();
    assert_eq!(world.running_status().unwrap().agents.len(), 2, "we ourselves are let in");
}

#[test]
fn the_sockets_and_records_are_closed_to_others() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let paths = world.paths();
    for path in [&paths.state_dir, &paths.runtime_dir, &paths.hub_socket(), &paths.record()] {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}

#[test]
fn a_directory_that_others_can_write_to_is_refused_with_a_hint() {
    for part in ["state/wheelhouse", "run/wheelhouse"] {
        let world = World::new();
        fs::create_dir(world.path(part)).unwrap();
        fs::set_permissions(world.path(part), Permissions::from_mode(0o770)).unwrap();
        let said = world.run(&["attention", "--read"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        let expected = format!(
            "error: `/{part}` can be written by other users\n\
             hint: Look inside, then run `chmod 700 /{part}`\n"
        );
        assert_eq!(world.plain(&said.err), expected);
        assert!(world.alive().is_empty());
    }
}

#[test]
fn a_directory_that_is_a_link_is_refused_with_a_hint() {
    for part in ["state/wheelhouse", "run/wheelhouse"] {
        let world = World::new();
        fs::create_dir(world.path("elsewhere")).unwrap();
        symlink(world.path("elsewhere"), world.path(part)).unwrap();
        let said = world.run(&["up", "shell"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains("is a symbolic link or not a directory"), "{}", said.err);
        assert!(said.err.contains("hint: Look at it with `ls -ld "), "{}", said.err);
        assert_eq!(fs::read_dir(world.path("elsewhere")).unwrap().count(), 0);
    }
}

fn open_to_all(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
}

/// Becomes nobody once it listens, gives the socket to us, and prints what it is told.
const IMPOSTOR: &str = "
import os, socket, sys
door = socket.socket(socket.AF_UNIX)
os.setegid(65534); os.seteuid(65534)
door.bind(sys.argv[1])
door.listen()
os.seteuid(0)
os.chown(sys.argv[1], 0, 0)
os.setgid(65534); os.setuid(65534)
door.listen()
print('ready', flush=True)
door.settimeout(60)
while True:
    guest, _ = door.accept()
    print('got', guest.recv(1000), flush=True)
";

#[test]
fn a_program_in_a_sandbox_tells_its_token_to_no_other_user() {
    let alone = ["--pid", "--fork"];
    let can = Command::new("unshare").args(alone).arg("true").status();
    if !rustix::process::geteuid().is_root() || !can.is_ok_and(|status| status.success()) {
        println!("SKIPPED: there is no other user to be, or no sandbox to be in");
        return;
    }
    let world = World::new();
    open_to_all(&world.root);
    open_to_all(&world.path("run"));
    let socket = world.path("run/s");
    let mut impostor = Command::new("python3");
    impostor.args(["-c", IMPOSTOR]).arg(&socket).stdout(Stdio::piped());
    let mut impostor = impostor.spawn().unwrap();
    let mut told = BufReader::new(impostor.stdout.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert_eq!((line.as_str(), fs::metadata(&socket).unwrap().uid()), ("ready\n", 0));
    let plain = world.command(&["report", "progress", "1/2", "x"]);
    let mut command = Command::new("unshare");
    command.args(alone).arg(plain.get_program()).args(plain.get_args());
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("WHEELHOUSE_TOKEN", "very-secret").env("WHEELHOUSE_SOCKET", &socket);
    command.env("WHEELHOUSE_PROJECT", &world.project);
    let said = run(command).unwrap();
    assert!(said.err.contains("belongs to another user"), "{said:?}");
    line.clear();
    told.read_line(&mut line).unwrap();
    impostor.kill().unwrap();
    impostor.wait().unwrap();
    assert_eq!(line, "got b''\n", "it was told nothing");
}
