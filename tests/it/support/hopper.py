"""Goes from fork to fork and leaves each parent behind; with a second argument, in new sessions."""
import os, signal, sys, time

signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    while True:
        if os.fork():
            os._exit(0)
        if len(sys.argv) > 2:
            os.setsid()
print("hopping", flush=True)
while True:
    time.sleep(1000)
