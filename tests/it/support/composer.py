"""A program with a composer, on whose every step a test can lay its hand.

It takes bracketed pastes, and Enter submits. Files in the directory that it is given hold it back for
as long as they are there: `works` shows it at work, `mute` keeps it from showing what was typed,
`restless` keeps its screen from coming to rest, `deaf` keeps it from reading, `stunned` keeps it from
showing anything after Enter, `slow` keeps it from coming up, `shy` keeps it from asking for pastes. `asks`
puts a dialog in the place of the composer. With `forgetful` there it knows no conversation that it is to take up.
What was submitted goes to `submitted`, what was typed at the dialog to `answered`, and its arguments to
`started`, one JSON value a line.
"""

import json
import os
import select
import sys
import termios
import tty

PLACE = sys.argv[1]
PASTE, PASTE_END = b"\x1b[200~", b"\x1b[201~"


def is_held(name):
    return os.path.exists(os.path.join(PLACE, name))


class Composer:
    def __init__(self):
        self.text = ""
        self.taken = []
        self.waiting = b""
        self.ticks = 0
        self.stunned = False
        self.drawn = None

    def submit(self):
        if self.text:
            with open(os.path.join(PLACE, "submitted"), "a") as log:
                log.write(json.dumps(self.text) + "\n")
            self.taken.append(self.text)
            self.text = ""
            self.stunned = True

    def take(self, data):
        if is_held("asks"):
            with open(os.path.join(PLACE, "answered"), "a") as log:
                log.write(json.dumps(data.decode("latin-1")) + "\n")
            return
        self.waiting += data
        while self.waiting:
            if self.waiting.startswith(PASTE):
                end = self.waiting.find(PASTE_END)
                if end < 0:
                    return
                self.text += self.waiting[len(PASTE) : end].decode()
                self.waiting = self.waiting[end + len(PASTE_END) :]
            elif PASTE.startswith(self.waiting):
                return
            elif self.waiting[:1] == b"\r":
                self.waiting = self.waiting[1:]
                self.submit()
            else:
                self.text += self.waiting[:1].decode("latin-1")
                self.waiting = self.waiting[1:]

    def shown(self):
        lines = self.text.split("\n")
        if len(self.text) > 800:
            return f"[Pasted text #1 +{len(lines) - 1} lines]"
        return "\r\n  ".join(lines)

    def draw(self):
        self.stunned = self.stunned and is_held("stunned")
        if self.stunned or (self.text and is_held("mute")):
            return
        self.ticks += is_held("restless")
        rule = "\u2500" * 40
        if is_held("asks"):
            rows = ["A composer", rule, " Bash command", "", "   rm -rf out", "", " Do you want to proceed?"]
            rows += [" \u276f 1. Yes", "   2. No", "", " Esc to cancel \u00b7 Tab to amend"]
            return self.paint("\x1b[H\x1b[2J" + "\r\n".join(rows))
        rows = ["A composer " + "." * (self.ticks % 2)]
        rows += ["\u276f " + text[:60].replace("\n", " ") for text in self.taken[-4:]]
        rows += [rule, "\u276f " + self.shown(), rule]
        rows.append("  esc to interrupt" if is_held("works") else "  ? for shortcuts")
        picture = "\x1b[H\x1b[2J" + "\r\n".join(rows)
        # The cursor stands behind what was typed.
        last = self.shown().split("\r\n")[-1]
        indent = 2 if last == self.shown() else 0
        picture += f"\x1b[2A\x1b[{indent + len(last) + 1}G"
        self.paint(picture)

    def paint(self, picture):
        if picture != self.drawn:
            self.drawn = picture
            sys.stdout.write(picture)
            sys.stdout.flush()


def main():
    with open(os.path.join(PLACE, "started"), "a") as log:
        log.write(json.dumps(sys.argv[2:]) + "\n")
    if "--resume" in sys.argv and is_held("forgetful"):
        sys.exit("No conversation of this id")
    before = termios.tcgetattr(0)
    tty.setraw(0)
    if is_held("slow"):
        sys.stdout.write("Loading\r\n")
        sys.stdout.flush()
    while is_held("slow"):
        select.select([], [], [], 0.02)
    composer = Composer()
    is_shy = True
    try:
        while True:
            if is_shy and not is_held("shy"):
                is_shy = False
                sys.stdout.write("\x1b[?2004h")
                sys.stdout.flush()
            composer.draw()
            if is_held("deaf") and composer.text:
                select.select([], [], [], 0.02)
            elif select.select([0], [], [], 0.02)[0]:
                data = os.read(0, 65536)
                if not data:
                    return
                composer.take(data)
    finally:
        termios.tcsetattr(0, termios.TCSANOW, before)


main()
