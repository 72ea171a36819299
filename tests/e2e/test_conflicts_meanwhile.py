#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: what somebody edits while git_conflicts waits is not written over."""
import fcntl
import os
import pathlib
import re

import everyday
import harness


class Meanwhile(everyday.Case):
    def setUp(self):
        super().setUp()
        self.collide(everyday.text_with(at5="ours", at30="ours too"),
                     everyday.text_with(at5="theirs", at30="theirs too"), "".join(everyday.LINES))
        self.ids = re.findall(r"\b[0-9a-f]{8}\b", self.says("git_conflicts"))
        self.says("git_branch", {"action": "create", "name": "for-the-store"})
        newest = max((self.home / ".local/state/airlock").glob("*/lock"),
                     key=lambda path: path.stat().st_mtime_ns)
        self.lock, self.name = os.open(newest, os.O_RDWR), str(newest)
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def waits(self, server):
        """Until the call waits for its checkpoint: the server has the lock's file open then."""
        fds = pathlib.Path(f"/proc/{server.process.pid}/fd")
        while True:
            for fd in fds.iterdir():
                try:
                    if os.readlink(fd) == self.name:
                        return
                except OSError:
                    pass
            os.sched_yield()

    def resolve_after(self, change, server=None):
        """Take theirs of the first hunk, while somebody changes the file before it is written."""
        server = server or everyday.Server(self)
        self.addCleanup(server.close)
        number = server.ask("git_conflicts", {"action": "resolve", "path": "f.txt", "hunks": [
            {"id": self.ids[0], "take": "theirs"}]})
        if isinstance(server, everyday.AskingServer):
            question = server.receive()
            server.send(id=question["id"],
                        result={"action": "accept", "content": {"decision": "once"}})
        self.waits(server)
        text = (self.root / "f.txt").read_text()
        self.write("f.txt", change(text))
        os.close(self.lock)
        message = server.receive()
        while message.get("method") == "elicitation/create":
            server.send(id=message["id"],
                        result={"action": "accept", "content": {"decision": "reject"}})
            message = server.receive()
        self.assertEqual(message["id"], number, message)
        return harness.Result(message["result"]), (self.root / "f.txt").read_text()

    def test_another_line(self):
        """a line elsewhere in the file stays as it is by then"""
        result, text = self.resolve_after(lambda text: text.replace("line 20\n", "edited\n"))
        self.assertFalse(result.failed, result)
        self.assertIn("edited\n", text)
        self.assertIn("line 4\ntheirs\nline 6\n", text)
        self.assertIn("<<<<<<<", text)

    def test_the_hunk(self):
        """a hunk that somebody has resolved is not there any more"""
        mine = lambda text: re.sub(r"<<<<<<<.*?>>>>>>>[^\n]*\n", "mine\n", text, count=1, flags=re.S)
        result, text = self.resolve_after(mine)
        self.assertIn(f"hunk {self.ids[0]} is not there any more", result.text)
        self.assertIn("line 4\nmine\nline 6\n", text)

    def test_asked(self):
        """an answer was about the file as it was"""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('[[tools.approval.rule]]\ntool = "git_conflicts"\ndecision = "ask"\n')
        edited = []
        result, text = self.resolve_after(
            lambda text: edited.append(text.replace("line 20\n", "edited\n")) or edited[0],
            everyday.AskingServer(self))
        self.assertTrue(result.failed, result)
        self.assertEqual(text, edited[0])


if __name__ == "__main__":
    harness.main()
