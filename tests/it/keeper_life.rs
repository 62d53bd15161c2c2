//! How an agent starts, what it is given, and what is told of its end.

use std::fs;

use wheelhouse::keeper::{ToKeeper, is_held};
use wheelhouse::model::{Exit, Size};

use super::support::clock::wait_for;
use super::support::keeper::Berth;

#[test]
fn a_program_that_does_not_exist_is_reported_until_the_report_is_taken() {
    let mut berth = Berth::new(&["no-such-cli", "TOKEN"]).start();
    for _ in 0..2 {
        let mut hub = berth.attach(0);
        assert_eq!(hub.until_failed(), "There is no program `no-such-cli`");
        assert_eq!(hub.welcome().failed.as_deref(), Some("There is no program `no-such-cli`"));
        assert_eq!(hub.welcome().process, None);
    }
    assert!(is_held(&berth.order.lock));
    berth.attach(0).send(&ToKeeper::Release);
    assert_eq!(berth.exit_code(), Some(0));
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_missing_directory_is_reported_and_nothing_runs_elsewhere() {
    let mut berth = Berth::sh("touch ran");
    berth.order.launch.cwd = berth.path("gone");
    let mut berth = berth.start();
    let mut hub = berth.attach(0);
    assert!(hub.until_failed().contains("There is no directory"));
    assert_eq!(hub.stop(0), []);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_command_that_the_kernel_refuses_is_reported() {
    let mut berth = Berth::new(&["/bin/echo", "TOKEN"]);
    berth.order.launch.argv.push("too long for one argument ".repeat(10_000));
    let mut berth = berth.start();
    let mut hub = berth.attach(0);
    assert_eq!(hub.until_failed(), "The system cannot execute `/bin/echo`");
    hub.send(&ToKeeper::Release);
    berth.wait_until_nothing_is_left();
}

#[test]
fn an_exit_is_kept_until_it_is_on_record() {
    for (script, expected) in
        [("echo bye; exit 42", Exit::Code(42)), ("echo bye; kill -9 $$", Exit::Signal(9))]
    {
        let mut berth = Berth::sh(script).start();
        for _ in 0..3 {
            let mut hub = berth.attach(0);
            let (exit, offset) = hub.until_exited();
            assert_eq!(exit, expected);
            assert_eq!(hub.output, b"bye\r\n");
            assert_eq!(offset, 5);
        }
        let mut hub = berth.attach(0);
        assert_eq!(hub.welcome().exit, Some(expected));
        hub.send(&ToKeeper::Release);
        assert_eq!(berth.exit_code(), Some(0));
        berth.wait_until_nothing_is_left();
    }
}

#[test]
fn a_release_does_not_end_an_agent_that_lives() {
    let mut berth = Berth::sh("cat").start();
    let mut hub = berth.attach(0);
    hub.send(&ToKeeper::Release);
    hub.input(b"alive\r");
    hub.until_output("alive");
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn two_hundred_kilobytes_arrive_byte_for_byte() {
    let script = "import os, sys, tty, hashlib\n\
                  tty.setraw(0)\n\
                  os.write(1, b'raw\\n')\n\
                  left, sum = 200000, hashlib.sha256()\n\
                  while left:\n\
                  \x20   piece = os.read(0, min(left, 5000)); left -= len(piece); sum.update(piece)\n\
                  os.write(1, b'sum ' + sum.hexdigest().encode() + b'\\n')\n\
                  os.read(0, 1)";
    let mut berth = Berth::python(script, &[]).start();
    let mut hub = berth.attach(0);
    hub.until_output("raw");
    let bytes: Vec<u8> =
        (0..200_000_u32).map(|i| u8::try_from(i.wrapping_mul(31) % 251).unwrap()).collect();
    fs::write(berth.path("sent"), &bytes).unwrap();
    hub.input(&bytes);
    let sum = std::process::Command::new("sha256sum").arg(berth.path("sent")).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    hub.until_output(&format!("sum {}", &sum[..64]));
    hub.stop(0);
    berth.wait_until_nothing_is_left();
}

#[test]
fn an_agent_gets_its_own_environment_terminal_and_nothing_else() {
    let script = "import os, sys\n\
                  print('env', sorted(os.environ), os.getsid(0) == os.getpid())\n\
                  print('fds', sorted(map(int, os.listdir('/proc/self/fd')))[:-1])\n\
                  print('oom', open('/proc/self/oom_score_adj').read().strip())\n\
                  print('cwd', os.getcwd() == sys.argv[2], os.get_terminal_size())\n\
                  print('tty', all(map(os.isatty, (0, 1, 2))), open('/dev/tty').fileno() > 2)\n\
                  print('end', flush=True)";
    let mut berth = Berth::python(script, &[]);
    let directory = berth.directory.path().canonicalize().unwrap();
    berth.order.launch.argv.push(directory.to_str().unwrap().to_owned());
    berth.order.launch.environment.0.insert("LC_ALL".into(), "C".into());
    let mut berth = berth.start();
    let mut hub = berth.attach(0);
    hub.until_output("end");
    let text = String::from_utf8_lossy(&hub.output).replace("\r\n", "\n");
    let expected = "env ['LC_ALL', 'PATH', 'SHELL', 'TERM', 'WHEELHOUSE_AGENT', \
                    'WHEELHOUSE_RUN', 'WHEELHOUSE_SESSION'] True\n\
                    fds [0, 1, 2]\n\
                    oom 500\n\
                    cwd True os.terminal_size(columns=80, lines=24)\n\
                    tty True True\n\
                    end\n";
    assert_eq!(text, expected);
    hub.stop(0);
    berth.wait_until_nothing_is_left();
}

#[test]
fn the_keeper_is_not_as_exposed_as_its_agent() {
    let mut berth = Berth::sh("cat").start();
    let mut hub = berth.attach(0);
    let score = |pid: u32| fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).unwrap();
    let own = score(std::process::id());
    assert_eq!(score(hub.welcome().keeper.pid), own);
    assert_eq!(score(hub.welcome().guard.pid), own);
    assert_eq!(score(hub.welcome().process.unwrap().pid).trim(), "500");
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_signal_reaches_what_is_in_the_foreground() {
    let script = "set -m; (trap 'echo interrupted; exit 0' INT; echo ready; \
                  while :; do sleep 0.01; done); echo shell lives; cat";
    let mut berth = Berth::new(&["bash", "-c", script, "TOKEN"]).start();
    let mut hub = berth.attach(0);
    hub.until_output("ready");
    hub.send(&ToKeeper::Signal(2));
    hub.until_output("interrupted");
    hub.until_output("shell lives");
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn orphans_are_adopted_and_do_not_pile_up_as_zombies() {
    let script = "for i in $(seq 50); do (sleep 0.05 & sleep 0.02 &); done; echo done; cat";
    let mut berth = Berth::sh(script).start();
    let mut hub = berth.attach(0);
    hub.until_output("done");
    let keeper = hub.welcome().keeper.pid;
    wait_for("one shell and one cat, and no zombies", || {
        let path = format!("/proc/{keeper}/task/{keeper}/children");
        fs::read_to_string(path).unwrap().split_whitespace().count() == 1
    });
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}

#[test]
fn the_tree_says_what_each_process_uses() {
    let script = "import time\nheap = bytearray(b'x') * 50_000_000\nend = time.process_time() + 0.3\n\
                  while time.process_time() < end: pass\nprint('used', flush=True)\ntime.sleep(1000)";
    let mut berth = Berth::python(script, &[]).start();
    let mut hub = berth.attach(0);
    hub.until_output("used");
    let tree = hub.tree(1);
    assert_eq!(tree.len(), 1);
    assert!(tree[0].name.starts_with("python"), "{tree:?}");
    assert!(tree[0].cpu_ms >= 200 && tree[0].memory_bytes > 50_000_000, "{tree:?}");
    assert_eq!(tree[0].parent, hub.welcome().keeper.pid);
    assert_eq!(Some(tree[0].id), hub.welcome().process);
    hub.stop(0);
    berth.wait_until_nothing_is_left();
}

#[test]
fn a_size_out_of_range_is_brought_into_it() {
    let mut berth = Berth::sh("stty size; cat");
    berth.order.launch.size = Size { rows: 0, cols: 60_000 };
    let mut berth = berth.start();
    let mut hub = berth.attach(0);
    hub.until_output("2 1000");
    assert_eq!(hub.welcome().size, Size { rows: 2, cols: 1000 });
    hub.stop(1000);
    berth.wait_until_nothing_is_left();
}
