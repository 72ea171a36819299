#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The review page in a real browser: a user answers, is kept up to date, and can use it with keys
alone, on a phone and without scripts.  What comes from a repository stays text."""
import subprocess

import browser
import elsewhere
import harness
import review_page
import reviewing

HOSTILE = "<img src=x onerror=\"document.title='ran'\">.txt"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


class PageCase(reviewing.ReviewCase):
    """The page of `airlock review --web`, open in a browser, and calls that wait for it."""

    def setUp(self):
        super().setUp()
        self.browser = browser.Browser(self)
        self.web = review_page.Web(self)

    def open(self, **named):
        """A tab with the page."""
        page = self.browser.page(**named)
        self.assertEqual(page.open(self.web.link), "")
        page.until_text("Waiting for an answer")
        return page

    def call(self, *words):
        """A call that waits, without a terminal."""
        process = subprocess.Popen(
            [harness.AIRLOCK, "call", "--json", "--approval", "ask", *words], cwd=self.root,
            env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def ask(self, path="a.txt"):
        """git_add of a file, which asks; gives the call and the id of its question."""
        return self.ask_for("git_add", f"paths={path}")

    def ask_for(self, *words):
        """The same for any call."""
        before = {entry["id"] for entry in self.waiting()}
        process = self.call(*words)
        while not (new := {entry["id"] for entry in self.waiting()} - before):
            if process.poll() is not None:
                self.fail(self.end(process))
        return process, new.pop()

    def end(self, process):
        """What a call printed."""
        return process.communicate(timeout=harness.WATCHDOG_SECONDS)[0].decode()


class InBrowser(PageCase):
    """What the user does."""

    def test_approve(self):
        """a new question appears by itself, and its button approves it"""
        page = self.open()
        page.until_text("Nothing waits")
        process, number = self.ask()
        entry = f"article[data-approval='{number}']"
        page.until(f"!!document.querySelector(\"{entry} button[value=once]:not(:disabled)\")")
        self.assertEqual(page.get("document.title"), "(1) airlock review")
        page.click(f"{entry} button[value=once]")
        page.until_text("Approved. The call goes on.")
        self.end(process)
        self.assertEqual((process.returncode, self.staged()), (0, ["a.txt"]))
        page.until("!!document.querySelector('[data-execution]')")
        self.assertEqual(page.complaints, [])

    def test_reject(self):
        """a rejection has the reason that was typed, also after the page has changed"""
        process, number = self.ask()
        page = self.open()
        entry = f"article[data-approval='{number}']"
        page.click(f"{entry} input[name=reason]")
        page.get(f"document.querySelector(\"{entry} input[name=reason]\").focus()")
        page.type("not before Monday")
        self.write("b.txt", "new\n")
        self.ask("b.txt")
        page.until("document.querySelectorAll('[data-approval]').length === 2")
        page.press("Enter")  # in the reason, Enter rejects
        page.until_text("Rejected. The agent is told.")
        self.assertIn("Rejected: not before Monday", self.end(process))
        self.assertEqual(self.staged(), [])

    def test_answered_elsewhere(self):
        """a question that somebody else answers keeps its place and loses its buttons"""
        process, number = self.ask()
        page = self.open()
        self.review("reject", number, "a script was first")
        page.until_text("This question no longer waits.")
        entry = f"article[data-approval='{number}']"
        self.assertEqual(page.count(f"{entry} button:not(:disabled)"), 0)
        self.assertIn("a script was first", self.end(process))

    def test_roll_back(self):
        """an execution shows its changes, then what a rollback would change, and is rolled back"""
        process, number = self.ask()
        self.review("approve", number)
        self.end(process)
        page = self.open()
        page.until("!!document.querySelector('[data-execution]')")
        page.click("[data-execution] h3 a")
        page.until_text("What it changed")
        page.click("a.action")
        page.until_text("What a rollback would change")
        self.assertEqual(self.staged(), ["a.txt"])
        page.click("button[value=rollback]")
        page.until_text("It was rolled back")
        self.assertEqual(self.staged(), [])
        self.assertEqual(page.complaints, [])

    def test_keys(self):
        """Tab and Enter alone reach and press every button; no other key answers"""
        process, _ = self.ask()
        page = self.open()
        for letter in "aAryuj":
            page.type(letter)
        for _ in range(40):
            page.press("Tab")
            if page.get("document.activeElement.value") == "once":
                break
        page.press("Enter")
        page.until_text("Approved. The call goes on.")
        self.end(process)
        self.assertEqual(self.staged(), ["a.txt"])

    def test_without_scripts(self):
        """links and forms are enough"""
        self.out("add", "a.txt")
        process, number = self.ask_for("git_commit", "type=feat", "message=two")
        page = self.open(scripts=False)
        page.click(f"article[data-approval='{number}'] h3 a")
        page.until_text("+two")
        page.until_text("Approve once")  # which comes after it, while the page is loaded
        page.click("button[value=once]")
        page.until_text("Approved. The call goes on.")
        self.end(process)
        self.assertEqual(self.out("log", "-1", "--format=%s").strip(), "feat: two")

    def test_look(self):
        """dark and light as the system prefers, and nothing sticks out on a phone"""
        self.write("long-" + "x" * 150, "y" * 3000 + "\n")
        self.ask("long-" + "x" * 150)
        seen = []
        for scheme in ("light", "dark"):
            page = self.open(scheme=scheme, width=390)
            self.web.link = self.web.origin + "/review"  # the cookie is there now
            self.assertFalse(page.get(browser.OVERFLOW))
            seen.append(page.get(BACKGROUND))
        self.assertNotEqual(*seen)

    def test_hostile(self):
        """markup in the name of a file and in its text is shown, and does nothing"""
        self.write(HOSTILE, "</pre></main><script>document.title = 'ran'</script>\n")
        self.out("add", "--", HOSTILE)
        _, number = self.ask_for("git_commit", "type=feat",
                                 "message=</article><script>document.title='ran'")
        page = self.open()
        page.until_text("</article><script>document.title='ran'")
        page.click(f"article[data-approval='{number}'] h3 a")
        page.until_text("<script>document.title = 'ran'</script>")
        self.assertNotEqual(page.get("document.title"), "ran")
        self.assertEqual(page.count("main img") + page.count("main script"), 0)
        self.assertEqual(page.complaints, [])


class FromElsewhere(PageCase):
    """A page of another server on this machine, in the browser that may answer."""

    def lure(self, text):
        """Open a page of elsewhere in the same browser."""
        page = self.browser.page()
        site = elsewhere.Elsewhere(self, {"/": text})
        self.assertEqual(page.open(site.origin + "/"), "")
        return page

    def test_form(self):
        """a form of elsewhere that posts an answer is refused"""
        _, number = self.ask()
        own = self.open()
        csrf = own.get("document.querySelector('[name=csrf]').value")
        for token in ("0" * 32, csrf):  # even with the right one
            page = self.lure(f"<form method=post action='{self.web.origin}/review/{number}'>"
                             f"<input name=csrf value={token}>"
                             "<button name=decision value=once>win</button></form>")
            page.click("button")
            page.until(f"location.port === '{self.web.port}'")
            page.until("document.readyState === 'complete'")
            self.assertEqual(page.status, 403)
        self.assertEqual([entry["id"] for entry in self.waiting()], [number])
        own.click("button[value=once]")  # the control
        own.until_text("Approved. The call goes on.")

    def test_fetch(self):
        """a script of elsewhere can neither read the page nor answer"""
        _, number = self.ask()
        self.open()
        page = self.lure("<p>here</p>")
        for path, method in (("/review", "GET"), ("/review/live", "GET"), (f"/review/{number}", "POST")):
            said = page.get(f"window.said = ''; fetch('{self.web.origin}{path}', {{method: '{method}',"
                            "credentials: 'include', body: "
                            + ("new URLSearchParams({decision: 'once'})" if method == "POST" else "null")
                            + "}).then(() => window.said = 'read', () => window.said = 'refused'); ''")
            self.assertEqual(said, "")
            self.assertEqual(page.until("window.said"), "refused")
        self.assertEqual([entry["id"] for entry in self.waiting()], [number])

    def test_frame(self):
        """the page cannot be framed"""
        self.open()
        page = self.lure(f"<iframe src='{self.web.origin}/review'></iframe>")
        page.until("document.readyState === 'complete'")
        while not any("frame" in complaint.lower() for complaint in page.complaints):
            self.browser.read()


if __name__ == "__main__":
    harness.main()
