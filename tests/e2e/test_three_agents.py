#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three agents work on one machine, and one user answers each of their questions at another door.

One agent speaks MCP on standard input and has forms, one speaks it over HTTP with a token, one calls
`airlock call`.  Each question is about a repository of its own: what changes a repository makes the
other questions about it be asked again.
"""
import contextlib
import http.client
import json
import subprocess
import threading

import browser
import harness
import http_server
import review_page
import reviewing
from screens import Screen

TOKEN = "t" * 40
REASON = "not before Monday"
AGENTS = {"e2e": ("form", "script"), "builder": ("page", "reason"), "caller": ("screen",)}
DOORS = [door for doors in AGENTS.values() for door in doors]
ONCE = {"action": "accept", "content": {"decision": "once"}}


class Agents(reviewing.ReviewCase):
    """Five questions wait at once; `ids` has their ids by the door that is to answer.  The question
    of the door `form` wants to stage form.txt in the repository `form`, and so on."""

    def setUp(self):
        super().setUp()
        self.places = {door: self.base / door for door in DOORS}
        for door, place in self.places.items():
            self.init(place)
            self.write(f"{door}.txt", f"for the {door}\n", place)
        self.sent, self.forms, self.results = {}, {}, {}
        self.withdrawn = []

    def begin(self):
        """A screen is open, and every agent works."""
        self.screen = Screen(self, rows=40, columns=160)
        self.screen.until("No call waits")
        self.begin_stdio()
        self.begin_http()
        self.begin_call()
        self.ids = {}
        while len(self.ids) < len(DOORS):
            self.assertEqual(self.results, {})
            self.ids = {entry["repository"].rpartition("/")[2]: entry["id"]
                        for entry in self.waiting()}
        self.csrf = review_page.Form(self.reader.page()).csrf

    def arguments(self, door):
        """What the call is about."""
        return {"working_dir": str(self.places[door]), "paths": [f"{door}.txt"]}

    def begin_stdio(self):
        """An agent whose client has forms, and asks two questions at once."""
        self.server = harness.AskingServer(
            self, *(word for door in AGENTS["e2e"] for word in ("--root", str(self.places[door]))))
        for door in AGENTS["e2e"]:
            number = self.server.ask("git_add", self.arguments(door))
            form = self.server.receive()
            self.assertEqual(form.get("method"), "elicitation/create", form)
            self.assertIn(f"{door}.txt", form["params"]["message"])
            self.sent[number], self.forms[door] = door, form["id"]

    def begin_http(self):
        """An agent with a token, and two calls at once; its client cannot ask."""
        with open(self.home / ".config/airlock/config.toml", "a", encoding="utf-8") as config:
            config.write('[grants.all]\ntools = ["*"]\n')
        self.http = http_server.Endpoint(
            self, "--approval", "ask", tokens=[f"{TOKEN} all builder"],
            roots=[self.places[door] for door in AGENTS["builder"]])
        # From its first moment on; the screen needs a moment to find a new server.
        reviewing.Attached(self, self.http.process.pid)
        self.threads = {}
        for door in AGENTS["builder"]:
            client = http_server.Client(self.http, TOKEN)
            thread = threading.Thread(target=self.over_http, args=(client, door), daemon=True)
            thread.start()
            self.threads[door] = thread
        self.reader = review_page.Reader(review_page.Web(self))

    def over_http(self, client, door):
        """One call of the agent with a token."""
        with contextlib.suppress(OSError, http.client.HTTPException):  # the test has ended
            self.results[door] = client.call("git_add", self.arguments(door))

    def begin_call(self):
        """An agent that calls `airlock call`, without a terminal."""
        self.command = subprocess.Popen(
            [harness.AIRLOCK, "call", "--json", "--agent", "caller", "--root",
             str(self.places["screen"]), "git_add", "paths=screen.txt"], cwd=self.places["screen"],
            env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.command.communicate)
        self.addCleanup(self.command.kill)

    def receive(self, door):
        """Read what the client with forms is told, until the result of this call is there."""
        while door not in self.results:
            message = self.server.receive()
            if message.get("method") == "notifications/cancelled":
                self.withdrawn.append(message["params"]["requestId"])
            elif message.get("id") in self.sent:
                self.results[self.sent[message["id"]]] = harness.Result(message["result"])
            else:
                self.assertIn("method", message)

    def shown(self):
        """What the screen shows, drawn again from nothing."""
        self.screen.type("\x0c").until("\x1b[2J")
        return self.screen.until("q quit")

    def lists(self):
        """What each door shows that waits, as text; the script's list is looked at elsewhere."""
        return [self.shown()]

    def staged_in(self, door):
        """Whether the call of this question was done."""
        return self.out("diff", "--cached", "--name-only", cwd=self.places[door]) != ""

    def assert_gone(self, door, left, done):
        """A question waits at no door, and cannot be answered again; the others still wait."""
        self.assertEqual({entry["id"] for entry in self.waiting()},
                         {self.ids[other] for other in left})
        for words in (("approve",), ("approve", "--always"), ("reject",), ("show",)):
            self.assertIn(f"no question '{self.ids[door]}' waits",
                          self.review(*words, self.ids[door], code=1))
        self.assertEqual(self.reader.answer(self.ids[door], "once", self.csrf), 409)
        self.assertEqual(set(review_page.Form(self.reader.page()).entries),
                         {self.ids[other] for other in left})
        while any(f"? Stage 1 file(s): {door}.txt" in text for text in self.lists()):
            pass  # the door is told, and then draws; the watchdog ends it
        for text in self.lists():
            for other in left:
                self.assertIn(f"Stage 1 file(s): {other}.txt", text)
        self.assertEqual({place for place in DOORS if self.staged_in(place)}, done)

    # The doors, each with the agent that waits behind it.

    def by_form(self):
        """The form of the client on standard input approves."""
        self.server.send(id=self.forms["form"], result=ONCE)
        self.receive("form")
        self.assertEqual(self.withdrawn, [])

    def by_screen(self):
        """The screen approves what `airlock call` asks."""
        while self.ids["screen"] not in self.shown():
            self.screen.type("j")
        self.screen.insist("a", "Question, answered")
        out = self.command.communicate(timeout=harness.WATCHDOG_SECONDS)[0]
        self.results["screen"] = harness.Result(json.loads(out))

    def by_script(self):
        """A script approves a question that also has a form, which is withdrawn."""
        self.assertEqual(self.review("approve", self.ids["script"]),
                         "Approved once: Stage 1 file(s): script.txt\n")
        self.receive("script")
        self.assertEqual(self.withdrawn, [self.forms["script"]])

    def by_page(self):
        """The page of the server over HTTP approves what its agent asks."""
        self.assertEqual(self.reader.answer(self.ids["page"], "once"), 303)
        self.threads["page"].join()

    def by_reason(self):
        """The page rejects it, with a reason."""
        self.assertEqual(self.reader.answer(self.ids["reason"], "reject", reason=REASON), 303)
        self.threads["reason"].join()

    def answer_all(self):
        """Answer each question at its door; after each one all doors agree about what is left."""
        self.begin()
        left, done = set(DOORS), set()
        for door in DOORS:
            getattr(self, f"by_{door}")()
            left.discard(door)
            done |= {door} - {"reason"}
            self.assert_gone(door, left, done)
        for door in done:
            self.assertFalse(self.results[door].failed, self.results[door])
        refused = self.results["reason"]
        self.assertEqual((refused.kind, refused.text), ("ApprovalDenied", f"Rejected: {REASON}"))
        self.assertEqual(sorted((record["decision"], record["decided_by"])
                                for record in self.records()),
                         [("once", "elicitation")] + [("once", "review")] * 3
                         + [("rejected", "review")])
        self.screen.type("q").end()
        self.server.assert_lives()

    def records(self):
        """What the journal says of the calls."""
        log = self.home / ".local/state/airlock/tool_log.jsonl"
        found = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        return [record for record in found if "decision" in record]


class InBrowser(Agents):
    """The page is open in a real browser."""

    def begin_http(self):
        super().begin_http()
        self.page = browser.Browser(self).page()
        self.assertEqual(self.page.open(review_page.Web(self).link), "")

    def by_page(self):
        """A click on the button."""
        entry = f"article[data-approval='{self.ids['page']}']"
        self.page.until(f"!!document.querySelector(\"{entry} button[value=once]:not(:disabled)\")")
        self.page.click(f"{entry} button[value=once]")
        self.page.until_text("Approved. The call goes on.")
        self.threads["page"].join()

    def test_browser(self):
        """the same with a browser, whose page sees every other answer without being loaded again"""
        self.answer_all()
        self.page.until("!document.querySelector('#waiting article:not(.gone)')")
        self.assertEqual(self.page.complaints, [])


class ThreeAgents(Agents):
    def test_doors(self):
        """form, screen and script each answer one question once, and every other door sees it go"""
        self.answer_all()

    def test_late_form(self):
        """a form that is answered after the script did changes nothing"""
        self.begin()
        self.review("reject", self.ids["form"], "the script was first")
        self.server.send(id=self.forms["form"], result=ONCE)
        self.receive("form")
        self.assertEqual(self.results["form"].text, "Rejected: the script was first")
        self.assertFalse(self.staged_in("form"))

    def test_agents_apart(self):
        """each question says which agent asks it, and in which repository"""
        self.begin()
        found = {entry["id"]: (entry["agent"], entry["repository"]) for entry in self.waiting()}
        self.assertEqual(found, {self.ids[door]: (agent, str(self.places[door]))
                                 for agent, doors in AGENTS.items() for door in doors})


if __name__ == "__main__":
    harness.main()
