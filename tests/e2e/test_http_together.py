# SPDX-License-Identifier: Apache-2.0
"""A morning with one server: two agents with different tokens and grants over HTTP, a third on
standard input and output, two repositories, a user who approves, and an end in the middle of it."""
import contextlib
import json
import os
import subprocess
import threading

import harness
import http_server

ANNA, BERT = "anna-" + "1" * 40, "bert-" + "2" * 40
ACCEPT = {"action": "accept", "content": {"decision": "once"}}


class User:
    """Answers forms when they are told to."""

    def __init__(self):
        self.asked, self.may_answer = threading.Event(), threading.Event()
        self.shown = []

    def __call__(self, question):
        self.shown.append(question["params"]["message"])
        self.asked.set()
        if not self.may_answer.wait(harness.WATCHDOG_SECONDS):
            raise AssertionError("nobody told the user to answer")
        return ACCEPT

    def next(self):
        """Another form comes, and waits."""
        self.asked.clear()
        self.may_answer.clear()


class Call(threading.Thread):
    """A call that goes on while the test does something else."""

    def __init__(self, client, tool, arguments):
        super().__init__(daemon=True)
        self.client, self.tool, self.arguments = client, tool, arguments
        self.result = self.trouble = None
        self.start()

    def run(self):
        try:
            self.result = self.client.call(self.tool, self.arguments)
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.trouble = error

    def end(self):
        """The result."""
        self.join(harness.WATCHDOG_SECONDS)
        if self.trouble:
            raise self.trouble
        return self.result


class Together(harness.Case):
    """One server over HTTP, and one over pipes, with the same state."""

    def setUp(self):
        super().setUp()
        self.other = self.base / "other"
        for where in (self.root, self.other):
            self.init(where)
            self.commit("b.txt", "one\n", "second", where)
        config = self.home / ".config/airlock/config.toml"
        with config.open("a", encoding="utf-8") as file:
            file.write("[serve]\ndrain_s = 60\n")  # a busy machine is no reason to give up
            for name, where in (("anna", self.root), ("bert", self.other)):
                file.write(f'[grants.{name}]\ntools = ["git_*"]\n'
                           f'fs = {{ "{where}" = "rw" }}\n')
        self.server = http_server.Endpoint(self, "--approval", "ask", tokens=[
            f"{ANNA} anna anna", f"{BERT} bert bert"], roots=[self.root, self.other])
        self.user = User()
        self.anna = http_server.Client(self.server, ANNA, on_question=self.user)
        self.bert = http_server.ModernClient(self.server, BERT, {"elicitation": {}})

    def records(self):
        """The lines of the journal."""
        log = self.home / ".local/state/airlock/tool_log.jsonl"
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]

    def approved(self, client, tool, arguments):
        """A call of a modern client, which brings the user's answer with a second request."""
        params = {"name": tool, "arguments": arguments}
        first = client.request("tools/call", params)["result"]
        self.assertEqual(first["resultType"], "input_required", first)
        key, = first["inputRequests"]
        second = client.request("tools/call", params | {
            "requestState": first["requestState"], "inputResponses": {key: ACCEPT}})
        return harness.Result(second["result"])

    def wait_until_no_call_is_taken(self):
        """SIGTERM has been seen: a new call is refused, or no connection is accepted."""
        while True:
            with contextlib.suppress(OSError, AssertionError):
                other = http_server.ModernClient(self.server, BERT)
                if other.post(other.message("tools/call", {"name": "git_status"})).status == 200:
                    continue
            return

    def test_morning(self):
        """two agents over HTTP and one over pipes work at once, a user approves, SIGTERM loses nothing"""
        pipes = harness.Server(self, "--root", str(self.other), "--agent", "carl")
        self.write("a.txt", "anna\n")
        self.write("a.txt", "bert\n", self.other)
        self.write("b.txt", "carl\n", self.other)

        # Anna waits for her user; nobody waits for Anna.
        waiting = Call(self.anna, "git_add", {"paths": ["a.txt"]})
        self.assertTrue(self.user.asked.wait(harness.WATCHDOG_SECONDS))
        self.assertIn("a.txt", self.user.shown[0])
        where = {"working_dir": str(self.other)}
        self.assertFalse(self.approved(self.bert, "git_add", {"paths": ["a.txt"]} | where).failed)
        self.assertFalse(self.approved(self.bert, "git_commit", {
            "type": "fix", "message": "bert"} | where).failed)
        pipes.ok("git_add", {"paths": ["b.txt"]} | where)
        pipes.ok("git_commit", {"type": "fix", "message": "carl"} | where)
        self.assertEqual(pipes.ok("git_status").text, "## main\n M a.txt\n")
        self.assertTrue(waiting.is_alive())
        self.user.may_answer.set()
        self.assertFalse(waiting.end().failed)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "a.txt\n")

        # Neither reaches the other's repository.
        for client, elsewhere in ((self.anna, self.other), (self.bert, self.root)):
            refused = client.call("git_status", {"working_dir": str(elsewhere)})
            self.assertTrue(refused.failed, refused)

        # SIGTERM while Anna's user reads and Bert's git works.
        self.user.next()
        waiting = Call(self.anna, "git_commit", {"type": "fix", "message": "anna"})
        self.assertTrue(self.user.asked.wait(harness.WATCHDOG_SECONDS))
        pipe = self.other / ".mailmap"  # git reads it until nobody can write to it
        os.mkfifo(pipe)
        reading = Call(self.bert, "git_log", {"max_count": 1} | where)
        writer = os.open(pipe, os.O_WRONLY)
        self.server.process.terminate()
        self.wait_until_no_call_is_taken()
        self.user.may_answer.set()
        self.assertFalse(waiting.end().failed, waiting.result)
        pipe.unlink()
        os.close(writer)
        self.assertIn("carl", reading.end().text)
        self.assertEqual(self.server.wait(), 0, self.server.said)
        pipes.assert_lives()

        # Nothing is lost: the commits, and a line for each call.
        self.assertEqual(self.out("log", "--format=%s"), "fix: anna\nsecond\nfirst\n")
        self.assertEqual(self.out("log", "--format=%s", cwd=self.other),
                         "fix: carl\nfix: bert\nsecond\nfirst\n")
        lines = self.records()
        changing = [(line["agent"], line["tool"]) for line in lines
                    if line["tool"] in ("git_add", "git_commit") and line["outcome"] == "ok"]
        self.assertEqual(sorted(changing), [(agent, tool) for agent in ("anna", "bert", "carl")
                                            for tool in ("git_add", "git_commit")])
        self.assertNotIn("interrupted", [line["outcome"] for line in lines])
        subprocess.run([harness.AIRLOCK, "log", "--verify"], env=self.env, check=True,
                       stdout=subprocess.DEVNULL)
        self.assertNotIn(ANNA, json.dumps(lines))


if __name__ == "__main__":
    harness.main()
