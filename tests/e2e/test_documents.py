#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of airlock that README, docs and the help show is one that it takes, and is run."""
import os
import pathlib
import re
import signal
import socket
import subprocess

import harness

TOP = pathlib.Path(__file__).resolve().parents[2]
# The reference page is printed by the program; golden compares it.
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
LASTS = r"^airlock (serve .*--http|review --web)"  # until a signal


def shown(text):
    """The commands of a page: indented lines, and lines behind a prompt."""
    for line in re.findall(r"(?m)^(?: {4}|\$ )(airlock [a-z].*)$", text):
        yield re.split(r" {2,}#", line)[0].strip()


class Documents(harness.Case):
    toolsets = ()

    def setUp(self):
        super().setUp()
        self.init()
        self.write("src/main.c", "int parse_header(void) { return 0; }\n" * 200)
        self.write("src/a.c", "int a;\n")
        self.git("add", "."), self.git("commit", "-q", "-m", "Begin")
        for tag in ("v1.0", "v2.30.0"):
            self.git("tag", tag)
        self.git("branch", "-M", "main"), self.git("branch", "topic")
        tokens = self.write("tokens", "d1" * 32 + "\n", self.home)
        os.chmod(tokens, 0o600)
        worker = self.write("worker.md", "---\nname: w\n---\n", self.home)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.places = {"~/.config/airlock/report-writer.md": str(worker), "ID": "abcdef12",
                       "~/.config/airlock/tokens": str(tokens), "~/src/project": str(self.root),
                       "/srv/app": str(self.root), "127.0.0.1:7420": f"127.0.0.1:{port}",
                       "127.0.0.1:7421": "127.0.0.1:0", "install cursor": "install --print cursor"}

    def run_it(self, line):
        """A line as a shell runs it; one that lasts is ended once it has said something."""
        for name, place in self.places.items():
            line = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", lambda _, place=place: place, line)
        words = f"exec {harness.AIRLOCK} {line[len('airlock '):]}"
        with subprocess.Popen(["sh", "-c", words], cwd=self.root, env=self.env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as run:
            if re.match(LASTS, line):
                said = run.stdout.readline()
                run.send_signal(signal.SIGTERM)
                return run.wait(), said
            said = run.communicate()[0]
            return run.returncode, said

    def test_commands(self):
        """no command that the pages show is wrong usage, or has a parameter that the tool lacks"""
        lines = {line: page.name for page in PAGES for line in shown(page.read_text("utf-8"))}
        self.assertGreater(len(lines), 50)
        wrong = []
        for line, page in lines.items():
            code, said = self.run_it(line)
            if code not in (0, 1, 3) or ("BadArgs" in said and "any more" not in said):
                wrong.append((page, line, code, said))
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    harness.main()
