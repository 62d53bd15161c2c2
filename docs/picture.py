#!/usr/bin/env python3
"""Draws the picture in the README: the real dashboard at its demo, as SVG.

usage: docs/picture.py [BINARY] > docs/dashboard.svg      (needs tmux; standard library only)
"""
import html
import os
import re
import subprocess
import sys
import tempfile
import time

COLS, ROWS, SECONDS = 150, 42, 17
CELL_W, CELL_H, FONT = 8.4, 18, 14
BACKGROUND, FOREGROUND = "#11131a", "#c8ccd4"
ANSI = ["#1d1f21", "#cc6666", "#8fbf6a", "#e0af68", "#7aa2f7", "#b294bb", "#6cb6c2", "#c8ccd4",
        "#6b7280", "#f7768e", "#9ece6a", "#f0c674", "#8ab4f8", "#c9a6e0", "#8bd5ca", "#ffffff"]


def capture(binary):
    """Runs the demo in a terminal of its own and returns what it shows, with its colours."""
    socket = f"picture-{os.getpid()}"
    tmux = ["tmux", "-L", socket, "-f", "/dev/null"]
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLORTERM": "truecolor",
               "LANG": "C.UTF-8"}
        start = ["new-session", "-d", "-s", "p", "-x", str(COLS), "-y", str(ROWS), f"{binary} demo"]
        subprocess.run(tmux + start, env=env, check=True)
        subprocess.run(tmux + ["set", "-g", "default-terminal", "tmux-256color"], check=True)
        time.sleep(SECONDS)
        shown = subprocess.run(tmux + ["capture-pane", "-e", "-p", "-t", "p"], check=True, capture_output=True, text=True)
        subprocess.run(tmux + ["send-keys", "-t", "p", "q"], check=True)
        time.sleep(3)
        subprocess.run(tmux + ["kill-server"], capture_output=True)
    return shown.stdout.splitlines()


def indexed(number):
    if number < 16:
        return ANSI[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    steps = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#%02x%02x%02x" % (steps[number // 36], steps[number // 6 % 6], steps[number % 6])


def restyle(style, codes):
    """Applies the numbers of one SGR sequence to a style."""
    codes = [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code in (1, 2, 3, 4, 7):
            style = {**style, {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse"}[code]: True}
        elif code in (38, 48):
            kind = codes.pop(0)
            color = indexed(codes.pop(0)) if kind == 5 else "#%02x%02x%02x" % tuple(codes.pop(0) for _ in range(3))
            style = {**style, "fg" if code == 38 else "bg": color}
        elif code in (39, 49):
            style = {key: value for key, value in style.items() if key != ("fg" if code == 39 else "bg")}
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = {**style, "fg": ANSI[code - 30 if code < 90 else code - 82]}
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style = {**style, "bg": ANSI[code - 40 if code < 100 else code - 92]}
    return style


def svg(lines):
    width, height = COLS * CELL_W + 24, ROWS * CELL_H + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
           f'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="{FONT}">',
           f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>']
    for row, line in enumerate(lines):
        style, col = {}, 0
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            if part.startswith("\x1b"):
                style = restyle(style, part[2:-1])
                continue
            if not part:
                continue
            fg, bg = style.get("fg", FOREGROUND), style.get("bg")
            if style.get("inverse"):
                fg, bg = bg or BACKGROUND, fg
            x, y = 12 + col * CELL_W, 12 + row * CELL_H
            if bg:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{len(part) * CELL_W:.1f}" height="{CELL_H}" fill="{bg}"/>')
            if part.strip():
                marks = ' font-weight="bold"' * bool(style.get("bold")) + ' font-style="italic"' * bool(style.get("italic"))
                marks += ' opacity="0.6"' * bool(style.get("dim"))
                out.append(f'<text x="{x:.1f}" y="{y + 14}" fill="{fg}"{marks} textLength="{len(part) * CELL_W:.1f}" '
                           f'xml:space="preserve">{html.escape(part)}</text>')
            col += len(part)
    return "\n".join(out + ["</svg>"])


if __name__ == "__main__":
    print(svg(capture(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/wheelhouse"))))
