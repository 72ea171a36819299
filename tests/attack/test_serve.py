#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that remembers a repository notices every way in which the repository turns hostile."""
import json
import os
import subprocess
import sys
import time

from lab import LIMIT_S, MARK, Run, Scene, answer_of, remove, snapshot, write
from vectors import DIFF, LOG, STATUS, check, general_canary, main


class Server:
    """airlock serve on pipes; one call at a time."""

    def __init__(self, lab, root):
        words = [lab.binary, "serve", "--root", root, "--approval", "allow"]
        self.process = subprocess.Popen(words, env=lab.env(), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.serial = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "attack", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def ask(self, method, params):
        self.serial += 1
        self.send({"id": self.serial, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.serial:
                return answer["result"]
        raise AssertionError("the server is gone")

    def call(self, verb):
        result = self.ask("tools/call", {"name": verb.tool, "arguments": verb.args})
        return answer_of(Run(rc=int(result.get("isError", False)), err=b"",
                             out=json.dumps(result).encode()))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        said = self.process.stderr.read().decode(errors="replace")
        self.process.stderr.close()
        code = self.process.wait(LIMIT_S)
        assert code == 0 and "Sanitizer" not in said and "runtime error" not in said, (code, said)


def turned(sentence, turn, prepare=None, refused=False, verbs=(STATUS, DIFF)):
    """A harmless repository is asked about, turn() makes it hostile, it is asked about again."""
    def build(lab):
        s = Scene(lab)
        if prepare:
            prepare(s)
        return s

    def test(lab, controls_only):
        s = build(lab)
        turn(s)
        before = snapshot(s.outside)
        control = b"".join(lab.git(s.repo, *verb.git).all for verb in verbs)
        assert general_canary(s, before, control), "the control is silent"
        if controls_only:
            return
        s = build(lab)
        answers = [lab.git_ok(s.repo, *verb.git).decode() for verb in verbs]
        server = Server(lab, s.repo)
        built = time.monotonic()
        while time.monotonic() < built + 0.05:  # an answer about fresh files is not remembered
            assert [server.call(verb).body for verb in verbs] == answers
        turn(s)
        before = snapshot(s.outside)
        for verb, expected in zip(verbs, answers):
            answer = server.call(verb)
            why = general_canary(s, before, answer.text.encode())
            assert not why, f"got through: {why}: {answer}"
            if refused:
                assert answer.kind == "SandboxViolation", answer
            else:
                assert answer.kind is None and answer.body == expected, f"{expected}\n{answer}"
                assert "cannot" not in answer.notes, f"only the kernel stopped it: {answer}"
        server.close()
    test.__doc__ = f"serve: {sentence}"
    check(test)


def arm(s):
    s.config("core.fsmonitor", s.canary())
    s.config("diff.external", s.canary())


def in_place(s):
    """Another text of the same length at the same time, in the same inode."""
    path = s.path(".git/config")
    st = os.stat(path)
    with open(path, "r+b") as f:
        text = f.read().replace(b"nonsense =", b"fsmonitor=")
        f.seek(0)
        f.write(text)
    os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))


def hidden_key(s):
    s.script()
    write(s.path(".git/info/exclude"), "fired\nmore\nless\n")
    s.raw_config(f"[core]\n\tnonsense = {s.path('.git/canary')}\n")


def included(s):
    s.config("include.path", "../more")
    write(s.path(".git/info/exclude"), "fired\nmore\nless\n")


def on_branch(s):
    s.config("includeIf.onbranch:side.path", "evil")
    s.plant(".git/evil", f"[core]\n\tfsmonitor = {s.script()}\n")
    s.git("branch", "side")


def two_steps(s):
    """HEAD names a symbolic ref, and that one decides which branch is on."""
    on_branch(s)
    write(s.path(".git/refs/heads/step"), "ref: refs/heads/main\n")
    write(s.path(".git/HEAD"), "ref: refs/heads/step\n")


def away(s):
    where = s.outside_repo()
    s.git("-C", where, "branch", "-m", MARK)
    remove(s.path(".git"))
    os.symlink(where + "/.git", s.path(".git"))


def common_away(s):
    where = s.outside_repo()
    write(s.path(".git/commondir"), where + "/.git\n")


def write_more(s):
    write(s.path("more"), f"[core]\n\tfsmonitor = {s.script()}\n")


def link_more(s):
    write(s.path("less"), f"[core]\n\tfsmonitor = {s.script()}\n")
    remove(s.path("more"))
    os.symlink("less", s.path("more"))


turned("keys appended to .git/config", arm)
turned("a value changed in place, with its time put back", in_place, hidden_key, verbs=(STATUS,))
turned("an included file that appears", write_more, included, verbs=(STATUS,))
turned("an included file that becomes a link", link_more,
       lambda s: (included(s), write(s.path("more"), "")), verbs=(STATUS,))
turned("config.worktree appears",
       lambda s: s.plant(".git/config.worktree", f"[core]\n\tfsmonitor = {s.script()}\n"),
       lambda s: s.config("extensions.worktreeConfig", "true"), verbs=(DIFF,))
turned("includeIf.onbranch with another branch in HEAD",
       lambda s: write(s.path(".git/HEAD"), "ref: refs/heads/side\n"), on_branch, verbs=(DIFF,))
turned("includeIf.onbranch with another branch behind HEAD's",
       lambda s: write(s.path(".git/refs/heads/step"), "ref: refs/heads/side\n"), two_steps,
       verbs=(DIFF,))
turned(".git becomes a link that leads outside", away, refused=True, verbs=(STATUS, LOG))
turned("commondir appears and leads outside", common_away, refused=True, verbs=(LOG,))


if __name__ == "__main__":
    sys.exit(main())
