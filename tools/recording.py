#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recording.py AIRLOCK FILE.svg [--check]: the demo's first three acts, as a picture for the README.

  recording.py build/airlock docs/demo.svg           draw it (`make recording`)
  recording.py build/airlock docs/demo.svg --check   is it what the demo prints today?  As TAP

Each row is the demo's, word for word; the ids of commits, which depend on the time, are made the
same each time.  Rows appear one after the other once, and stay.
"""
import difflib
import hashlib
import html
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent
COLUMN, ROW, LEFT, HEAD = 9.2, 20, 24, 50
TEXT_COLUMN = 14            # where the words stand, behind who says them
CLASSES = {"1": "b", "2": "d", "31": "red", "32": "air", "33": "you", "33;1": "ask", "36": "agent"}
DELAYS = {"chapter": 1.1, "agent": 0.9, "you": 1.0, "asks": 0.7, "airlock": 0.6}

STYLE = """
.paper{fill:#ffffff;stroke:#d0d7de}.bar{fill:#f6f8fa}.line{stroke:#d0d7de}
text{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
text{fill:#1f2328;white-space:pre}
.chapter{font-weight:700;font-size:16px}.b{font-weight:600}.d{fill:#59636e}.red{fill:#cf222e}
.air,.agent,.you{font-weight:600}.air{fill:#1a7f37}.agent{fill:#0969da}.you{fill:#8250df}
.ask{fill:#9a6700;font-weight:700}.band{fill:#fff8c5}
@media(prefers-color-scheme:dark){
.paper{fill:#0d1117;stroke:#3d444d}.bar{fill:#151b23}.line{stroke:#3d444d}
text{fill:#e6edf3}.d{fill:#9198a1}.red{fill:#ff7b72}
.air{fill:#56d364}.agent{fill:#79c0ff}.you{fill:#d2a8ff}.ask{fill:#e3b341}.band{fill:#2a2310}}
@keyframes in{from{opacity:.28}to{opacity:1}}
.r{animation:in .25s both}
@media(prefers-reduced-motion:reduce){.r{animation:none}}
"""


def story(binary):
    """The rows of the demo's story, in colour, with the same ids each time."""
    done = subprocess.run([sys.executable, TOP / "demo.py", binary, "--story"], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"the demo failed:\n{done.stdout}{done.stderr}")
    ids = {}

    def stable(match):
        known = ids.setdefault(match[0][:7], hashlib.sha1(str(len(ids)).encode()).hexdigest())
        return known[:len(match[0])]

    return [re.sub(r"\b[0-9a-f]{7,40}\b", stable, row)
            for row in done.stdout.strip("\n").split("\n")]


def spans(row):
    """A row as (column, class, words): one for each run of a colour."""
    column, kind = 0, ""
    for part in re.split(r"(\033\[[\d;]*m)", row):
        if part.startswith("\033"):
            kind = CLASSES.get(part[2:-1], "")
            continue
        for words in re.finditer(r"\S+(?: \S+)*", part):
            yield column + words.start(), kind, words[0]
        column += len(part)


def plain(row):
    return re.sub(r"\033\[[\d;]*m", "", row)


def draw(rows):
    """The picture."""
    columns = max(len(plain(row)) for row in rows)
    width = round(2 * LEFT + columns * COLUMN)
    body, top, at, asking, first = [], HEAD + ROW, 0.0, False, True
    for row in rows:
        text = plain(row)
        who = text[3:TEXT_COLUMN].strip()
        chapter = re.match(r"\d  ", text)
        if not text:
            continue
        asking = who == "asks" or (asking and not who)
        if chapter and not first:
            body.append(f'<path class="line" d="M{LEFT} {top - 4}H{width - LEFT}"/>')
            top += 25
        elif not first and (who or text[3] != " "):
            top += 3
        at += 0 if first else DELAYS.get("chapter" if chapter else who, 0.05)
        first = False
        drawn = []
        if asking:
            x = LEFT + (TEXT_COLUMN - 2) * COLUMN - 8
            drawn.append(f'<rect class="band" x="{x:g}" y="{top - 15}" '
                         f'width="{width - LEFT - x:g}" height="{ROW + .5}"/>')
        if chapter:
            drawn.append(f'<text class="chapter" x="{LEFT}" y="{top}">{html.escape(text)}</text>')
        else:
            for column, kind, words in spans(row):
                name = f' class="{kind}"' if kind else ""
                drawn.append(f'<text{name} x="{LEFT + column * COLUMN - 2 * COLUMN:g}" y="{top}" '
                             f'textLength="{len(words) * COLUMN:g}">{html.escape(words)}</text>')
        body.append(f'<g class="r" style="animation-delay:{at:.2f}s">{"".join(drawn)}</g>')
        top += ROW + (4 if chapter else 0)
    height = top + 2
    told = html.escape("\n".join(plain(row) for row in rows))
    dots = "".join(f'<circle cx="{LEFT + 18 * i}" cy="20" r="6" fill="{fill}"/>'
                   for i, fill in enumerate(("#ff5f57", "#febc2e", "#28c840")))
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="t d">',
        '<!-- SPDX-License-Identifier: Apache-2.0.  Drawn by tools/recording.py (make recording). -->',
        '<title id="t">make demo: an agent breaks something, a push asks, a planted hook does not '
        'run</title>', f'<desc id="d">{told}</desc>', f"<style>{STYLE}</style>",
        f'<rect class="paper" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10"/>',
        f'<path class="bar" d="M1 40V11a10 10 0 0 1 10-10h{width - 22}a10 10 0 0 1 10 10v29z"/>',
        f'<line class="line" x1="1" x2="{width - 1}" y1="40" y2="40"/>', dots,
        f'<text class="d" x="{width / 2:g}" y="25" text-anchor="middle">make demo</text>',
        *body, "</svg>", ""))


def main():
    """The command line."""
    if len(sys.argv) < 3 or sys.argv[3:] not in ([], ["--check"]):
        sys.exit(__doc__)
    picture, file = draw(story(sys.argv[1])), pathlib.Path(sys.argv[2])
    if not sys.argv[3:]:
        file.write_text(picture, encoding="utf-8")
        return 0
    there = file.read_text(encoding="utf-8") if file.exists() else ""
    print("1..1")
    print(f"{'ok' if there == picture else 'not ok'} 1 - the picture is what the demo prints")
    for line in difflib.unified_diff(there.split("\n"), picture.split("\n"), "committed", "today",
                                     n=0, lineterm=""):
        print(f"# {line}")
    if there != picture:
        print("# when the change is meant: make recording")
    return there != picture


if __name__ == "__main__":
    sys.exit(main())
