"""An agent with bad manners: six shapes of descendant, all deaf to HUP and TERM."""
import os, signal, sys, time

signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)


def head(prepare):
    if os.fork() == 0:
        prepare()
        while True:
            time.sleep(1000)


def twice():
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)


def scrubbed():
    os.setsid()
    os.execve(sys.executable, [sys.executable, "-c", SCRUBBED, sys.argv[1]], {})


SCRUBBED = "import time\nwhile True: time.sleep(1000)"
head(lambda: None)
head(lambda: os.setpgid(0, 0))
head(os.setsid)
head(twice)
head(scrubbed)
head(lambda: os.kill(os.getpid(), signal.SIGSTOP))
print("hydra", flush=True)
while True:
    time.sleep(1000)
