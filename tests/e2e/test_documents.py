#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that README and docs show is run, or of make, is a target; what they show of a terminal is so."""
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess

import harness

TOP = pathlib.Path(__file__).resolve().parents[2]
# The reference page is printed by the program; golden compares it.
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
BUILDERS = [*PAGES, TOP / "CONTRIBUTING.md"]
LASTS = r"^airlock (serve .*--http|review --web)"  # until a signal


def shown(text, program):
    """The commands of a page: in indented lines, in lines behind a prompt, and within a sentence."""
    lines = re.findall(r"(?m)^(?: {4}|\$ )(\S.*)$", text)
    words = re.findall(r"`([^`]+)`", re.sub(r"(?ms)^```.*?^```", "", text))
    for line in [re.split(r" {2,}#| # ", line)[0] for line in lines] + [" ".join(word.split()) for word in words]:
        for command in line.split(" && "):
            command = command.strip().removeprefix("sudo ")
            if re.match(rf"{program}( [a-zA-Z-]|$)", command):
                yield command


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
                       "/srv/app": str(self.root), "DIR": str(self.root), "127.0.0.1:7420": f"127.0.0.1:{port}",
                       "127.0.0.1:7421": "127.0.0.1:0", "CLIENT": "cursor", "TOOL": "git_push",
                       "COMMAND": "log"}

    def run_it(self, line):
        """A line as a shell runs it; one that lasts is ended once it has said something, and a name
        within a sentence has its help shown."""
        line = re.sub(r"\[(--[a-z]+|[A-Z]+)\]", r"\1", line)
        if re.fullmatch(r"airlock (serve|call|install|tools|policy explain|run)( --http)?", line):
            line = line.removesuffix(" --http") + " --help"
        elif line.startswith("airlock install") and "--print" not in line:
            line += " --yes"
        for name, place in self.places.items():
            line = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", lambda _, place=place: place, line)
        words = f"exec {harness.AIRLOCK} {line[len('airlock '):]}"
        with subprocess.Popen(["sh", "-c", words], cwd=self.root, env=self.env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as run:
            if re.match(LASTS, line) and "--help" not in line:
                said = run.stdout.readline()
                run.send_signal(signal.SIGTERM)
                return run.wait(), said
            said = run.communicate()[0]
            return run.returncode, said

    def test_commands(self):
        """no command that the pages show is wrong usage, or has a parameter that the tool lacks"""
        lines = {line: page.name for page in PAGES for line in shown(page.read_text("utf-8"), "airlock")}
        self.assertGreater(len(lines), 70)
        wrong = []
        for line, page in lines.items():
            code, said = self.run_it(line)
            if code not in (0, 1, 3) or ("BadArgs" in said and "any more" not in said):
                wrong.append((page, line, code, said))
        self.assertEqual(wrong, [])

    def test_make(self):
        """every target of make that the pages show is there"""
        if not shutil.which("make"):
            self.skipTest("make is not installed")
        lines = {line for page in BUILDERS for line in shown(page.read_text("utf-8"), "make")}
        self.assertIn("make demo", lines)
        for line in sorted(lines):
            done = subprocess.run(["make", "-n", "-C", TOP, *line.split()[1:]], env=self.env, check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual((line, done.returncode), (line, 0), done.stderr)

    # What a page shows of a terminal.

    def shown_of(self, page, command):
        """What a page shows below a command."""
        text = (TOP / page).read_text("utf-8")
        return self.masked(text.partition(f"```\n$ airlock {command}\n")[2].partition("\n```")[0])

    def masked(self, text):
        """A text without ids, times and the scratch directory."""
        text = text.replace("\r", "").replace(str(self.root), "/tmp").strip()
        text = re.sub(r"(?<=asked ).*? by|(?<=ends in ).*", "TIME", text)
        return re.sub(r"\b[0-9a-f]{7,8}\b", "COMMIT", text)

    def configure(self, text):
        self.write("airlock/config.toml", text, self.home / ".config")

    def on_terminal(self, directory, words, keys):
        """What a terminal shows of a command, and of the keys that are typed at its question."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        start = 'exec 3<>"$0"; exec 3>&-; exec "$@"'  # it becomes the session's terminal
        with subprocess.Popen(["sh", "-c", start, os.ttyname(slave), harness.AIRLOCK, *words], cwd=directory,
                              env=self.env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True) as run:
            os.close(slave)
            said = b""
            while True:
                try:
                    said += os.read(master, 65536)
                except OSError:  # its end
                    break
                if keys and said.endswith(b"iff? "):
                    os.write(master, keys.encode())
                    keys = ""
            self.assertEqual(run.wait(), 0, said)
        return said.decode()

    def pushable(self):
        """A project with a commit that its remote has not."""
        self.configure(f"roots = [\"{self.root}\"]\n")
        project = self.root / "project"
        self.git("init", "-q", "--bare", "hub.git")
        self.init(project)
        self.git("remote", "add", "origin", "../hub.git", cwd=project)
        self.git("push", "-q", "-u", "origin", "main", cwd=project)
        self.commit("a.txt", "two\n", "fix: return success", project)
        return project

    def test_push_shown(self):
        """the README shows a push as the terminal does"""
        self.env["NO_COLOR"] = "1"
        said = self.on_terminal(self.pushable(), ["call", "git_push"], "o\n")
        self.assertEqual(self.shown_of("README.md", "call git_push"), self.masked(said))

    def test_question_shown(self):
        """docs/APPROVALS.md shows a question that waits as the list does"""
        server = harness.AskingServer(self)
        server.ask("git_push", {"working_dir": str(self.pushable())})
        self.assertEqual(server.receive()["method"], "elicitation/create")
        said = self.run_it("airlock review --list")[1]
        self.assertEqual(self.shown_of("docs/APPROVALS.md", "review --list"), self.masked(said).replace("e2e", "claude-code"))

    def test_rule_shown(self):
        """docs/RULES.md shows which of its rules decides as the program does"""
        self.configure((TOP / "docs/RULES.md").read_text("utf-8").partition("```toml\n")[2].partition("```")[0])
        command = "policy explain git_commit message=x"
        self.assertEqual(self.shown_of("docs/RULES.md", command), self.masked(self.run_it(f"airlock {command}")[1]))


if __name__ == "__main__":
    harness.main()
