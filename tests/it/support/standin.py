"""Plays a cli that has hooks: takes what it was given at its start, and does what is typed into it.

A line of input is JSON: what the hook of that name is to say, or the event to serve. `argv` is
what it was started with."""
import http.server, itertools, json, os, subprocess, sys, threading, tomllib

cli, argv = sys.argv[1], sys.argv[3:]
print("up", json.dumps(argv), flush=True)


def given(flag):
    return argv[argv.index(flag) + 1] if flag in argv else None


def run(settings, said):
    for group in settings["hooks"].get(said["hook_event_name"], []):
        for hook in group["hooks"]:
            done = subprocess.run(hook["command"], shell=True, input=json.dumps(said), text=True, capture_output=True)
            print("hook", done.returncode, repr(done.stdout + done.stderr), flush=True)


def notify(command, said):
    done = subprocess.run([*command, json.dumps(said)], text=True, capture_output=True)
    print("hook", done.returncode, repr(done.stdout + done.stderr), flush=True)


events, news = [], threading.Condition()
asked = itertools.count()


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        # Whoever asks while the server starts is never answered.
        if next(asked) == 0:
            self.rfile.read()
            return
        self.send_response(200 if self.path == "/event" else 404)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        at = len(events)
        self.event({"type": "server.connected", "properties": {}})
        while True:
            with news:
                news.wait_for(lambda: len(events) > at)
                fresh, at = events[at:], len(events)
            for event in fresh:
                self.event(event)

    def event(self, event):
        data = f"data: {json.dumps(event)}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        if event["type"] == "server.connected":
            print("connected", flush=True)

    def log_message(self, *words):
        pass


if cli == "opencode":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(given("--port"))), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()

for line in sys.stdin:
    said = json.loads(line)
    if cli == "claude":
        run(json.loads(given("--settings")), said)
    elif cli == "codex":
        notify(tomllib.loads(given("-c"))["notify"], said)
    elif cli == "gemini":
        with open(os.environ["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"]) as settings:
            run(json.load(settings), said)
    elif cli == "opencode":
        with news:
            events.append(said)
            news.notify_all()
