#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The review page as a browser without a script uses it: links, forms, a cookie, and refusals."""
import html
import http.client
import re
import signal
import subprocess
import threading
import urllib.parse

import harness
import http_server
import reviewing

ADD = {"paths": ["a.txt"]}
POLICY = ("default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")


class Browser:
    """A browser that has opened a link, or none."""

    def __init__(self, case, port, cookie=None):
        self.case, self.port, self.cookie = case, port, cookie

    def send(self, method, path, body=None, **headers):
        """One request on a connection of its own; gives the response, its text is `.text`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                timeout=harness.WATCHDOG_SECONDS)
        self.case.addCleanup(connection.close)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            headers["Cookie"] = self.cookie
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        if response.headers.get_content_type() != "text/event-stream":
            response.text = response.read().decode()
        return response

    def get(self, path="/review", status=200, **headers):
        """A page."""
        response = self.send("GET", path, **headers)
        self.case.assertEqual(response.status, status, response.text)
        return response

    def open(self, link):
        """Open a link with its key, which becomes a cookie."""
        address = urllib.parse.urlsplit(link)
        self.case.assertEqual(address.port, self.port)
        response = self.get(f"{address.path}?{address.query}", 303)
        cookie = response.headers["Set-Cookie"]
        for part in ("HttpOnly", "SameSite=Strict", "Path=/review"):
            self.case.assertIn(part, cookie)
        self.case.assertEqual(response.headers["Location"], "/review")
        self.cookie = cookie.split(";")[0]
        return self

    def fields(self, path="/review"):
        """The hidden fields of the page's first form."""
        return {name: html.unescape(value) for name, value in re.findall(
            r'<input type="hidden" name="(\w+)" value="([^"]*)"', self.get(path).text)}

    def post(self, path, status, origin="null", **fields):
        """Send a form."""
        response = self.send("POST", path, urllib.parse.urlencode(fields), Origin=origin)
        self.case.assertEqual(response.status, status, response.text)
        return response


class WebCase(reviewing.ReviewCase):
    """A page, and a server that asks."""

    def serve_page(self, *words):
        """`airlock review --web`; gives its browser, the process and the link."""
        process = subprocess.Popen([harness.AIRLOCK, "review", "--web", *words], cwd=self.base,
                                   env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        link = process.stdout.readline().decode().strip()
        self.assertRegex(link, r"^http://127\.0\.0\.1:\d+/review\?k=[0-9a-f]{32}$")
        return Browser(self, urllib.parse.urlsplit(link).port), process, link

    def ask(self, **named):
        """A call that waits; gives its thread and the list that its result comes to."""
        config = self.home / ".config/airlock/config.toml"
        config.write_text('toolsets = ["git"]\n[grants.all]\ntools = ["*"]\n')
        self.server = http_server.Endpoint(self, "--approval", "ask", tokens=["b" * 40 + " all bob"],
                                           **named)
        return self.call_later()

    def call_later(self):
        """The same call on the server that there is."""
        client = http_server.ModernClient(self.server, "b" * 40)
        results = []
        thread = threading.Thread(target=lambda: results.append(client.call("git_add", ADD)))
        return thread, results

    def changed(self, stream, shown):
        """Wait on an event stream until the page has what a function finds."""
        while not (found := shown()):
            self.assertTrue(stream.readline(), "the stream has ended")
        return found


class Page(WebCase):
    """What the page does."""

    def question(self, browser):
        """A call that waits and its id on the page, told by the event stream."""
        thread, results = self.ask()
        stream = browser.send("GET", "/review/events")
        self.assertEqual(stream.status, 200)
        thread.start()
        self.addCleanup(thread.join)
        found = self.changed(stream, lambda: re.search(
            r'<article[^>]* data-approval="([0-9a-f]{8})"', browser.get("/review/live").text))
        return found[1], thread, results

    def decide(self, decision, **fields):
        """Answer a question by its form; gives what the agent got."""
        browser, _, link = self.serve_page()
        browser.open(link)
        number, thread, results = self.question(browser)
        csrf = browser.fields()["csrf"]
        self.assertIn("a.txt", browser.get(f"/review/{number}").text)
        browser.post(f"/review/{number}", 403, decision=decision, csrf="0" * 32)
        browser.post(f"/review/{number}", 400, decision="perhaps", csrf=csrf)
        browser.post(f"/review/{number}", 403, origin="http://evil.example", decision=decision,
                     csrf=csrf)
        foreign = browser.send("POST", f"/review/{number}", f"decision={decision}&csrf={csrf}",
                               Origin="null", Sec_Fetch_Site="cross-site")
        self.assertEqual((foreign.status, self.staged()), (403, []))
        browser.post(f"/review/{number}", 303, decision=decision, csrf=csrf, **fields)
        thread.join()
        browser.post(f"/review/{number}", 409, decision=decision, csrf=csrf)
        return results[0]

    def test_once(self):
        """a form approves a call, after wrong forms did nothing; a second answer is 409"""
        self.assertFalse(self.decide("once").failed)
        self.assertEqual(self.staged(), ["a.txt"])

    def test_reject(self):
        """the agent gets the reason of a rejection"""
        self.assertEqual(self.decide("reject", reason="later, \u00fc & <b>").text,
                         "Rejected: later, \u00fc & <b>")
        self.assertEqual(self.staged(), [])

    def test_headers(self):
        """every answer has the headers that keep other pages out, refusals too"""
        browser, _, link = self.serve_page()
        browser.get(status=403)
        browser.open(link)
        for path, status in (("/review", 200), ("/review/live", 200), ("/review/style.css", 200),
                             ("/review/script.js", 200), ("/review/nothing", 404),
                             ("/review/00000000", 404), ("/review/execution/9", 404)):
            headers = browser.get(path, status).headers
            self.assertEqual(headers["Content-Security-Policy"], POLICY, path)
            self.assertEqual((headers["X-Frame-Options"], headers["Referrer-Policy"],
                              headers["X-Content-Type-Options"], headers["Cache-Control"]),
                             ("DENY", "no-referrer", "nosniff", "no-store"), path)
            self.assertIsNone(headers["Access-Control-Allow-Origin"], path)
        self.assertEqual(browser.send("HEAD", "/review").text, "")
        self.assertEqual(browser.send("DELETE", "/review").status, 405)

    def test_keys(self):
        """a link works once; a wrong one, no cookie and a wrong cookie are 403"""
        browser, _, link = self.serve_page()
        path = "/review?k="
        key = link.split("k=")[1]
        for wrong in ("", "0" * 32, key[:-1], key + "0"):
            browser.get(path + wrong, 403)
        self.assertIn("airlock review --web", browser.get(status=403).text)
        browser.open(link)
        browser.get()
        browser.get(path + key, 403)
        Browser(self, browser.port, browser.cookie[:-1]).get(status=403)
        Browser(self, browser.port, "airlock-review=" + "0" * 32).get(status=403)

    def test_host(self):
        """another Host or Origin is 403, whatever the cookie"""
        browser, _, link = self.serve_page()
        browser.open(link)
        browser.get(status=403, Host="evil.example")
        browser.get(status=403, Host=f"evil.example:{browser.port}")
        browser.get(status=403, Origin="http://evil.example")
        browser.get(Host=f"localhost:{browser.port}")
        browser.get(Origin=f"http://127.0.0.1:{browser.port}")

    def test_end(self):
        """SIGTERM and SIGINT end the page with 0, also while a browser is told about changes"""
        for number in (signal.SIGTERM, signal.SIGINT):
            browser, process, link = self.serve_page()
            browser.open(link).send("GET", "/review/events")
            process.send_signal(number)
            self.assertEqual(process.wait(harness.WATCHDOG_SECONDS), 0)

    def test_places(self):
        """the page is for loopback: other places are exit 2, and a word too many is"""
        for words in (["0.0.0.0:0"], ["192.0.2.1:80"], ["unix:/tmp/x"], ["127.0.0.1:0", "x"]):
            self.review("--web", *words, code=2)


class Served(WebCase):
    """The same page of `serve --http`."""

    def test_link(self):
        """--web prints the link of a server over HTTP and ends; its page needs no token"""
        thread, results = self.ask()
        link = self.review("--web").strip()
        browser = Browser(self, self.server.port)
        browser.get(status=403)
        browser.open(link)
        stream = browser.send("GET", "/review/events")
        browser.get()  # the stream is there
        thread.start()
        self.addCleanup(thread.join)
        number = self.changed(stream, lambda: re.search(
            r'data-approval="([0-9a-f]{8})"', browser.get("/review/live").text))[1]
        csrf = browser.fields()["csrf"]
        browser.post(f"/review/{number}", 303, decision="once", csrf=csrf)
        thread.join()
        self.assertFalse(results[0].failed)
        self.assertEqual(self.staged(), ["a.txt"])
        self.assertNotIn(link.split("k=")[1].encode(), b"".join(self.server.said))
        self.assertEqual(self.server.end(), 0)


if __name__ == "__main__":
    harness.main()
