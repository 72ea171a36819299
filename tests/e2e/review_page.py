# SPDX-License-Identifier: Apache-2.0
"""`airlock review --web`, and a user who answers on its page by plain requests, without a browser."""
import html.parser
import http.client
import re
import select
import subprocess
import urllib.parse

import harness


class Web:
    """The page, served until the test ends; `link` is what the command prints."""

    def __init__(self, case, *words):
        self.process = subprocess.Popen(
            [harness.AIRLOCK, "review", "--web", *words], cwd=case.base, env=case.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True)
        case.addCleanup(self.end)
        printed = b""
        while not (found := re.search(rb"(http://127\.0\.0\.1:(\d+))/review\?k=[^\s]+", printed)):
            if not select.select([self.process.stdout], [], [], harness.WATCHDOG_SECONDS)[0]:
                raise AssertionError(f"no link: {printed!r}")
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"no page: {printed!r}")
            printed += line
        self.link, self.origin, self.port = found[0].decode(), found[1].decode(), int(found[2])

    def end(self):
        """SIGTERM, and its end."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(harness.WATCHDOG_SECONDS)
        self.process.stdout.close()
        return self.process.returncode


class Form(html.parser.HTMLParser):
    """The entries of a page, with the hidden field of each form."""

    def __init__(self, text):
        super().__init__()
        self.entries, self.at = {}, None  # by data-approval
        self.csrf = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "article":
            self.at = attrs.get("data-approval")
            if self.at:
                self.entries[self.at] = {}
        elif tag == "form" and self.at:
            self.entries[self.at]["action"] = (attrs["method"], attrs["action"])
        elif tag == "input" and attrs.get("name") == "csrf":
            self.csrf = attrs["value"]

    def handle_endtag(self, tag):
        if tag == "article":
            self.at = None


class Reader:
    """Signed in by the link, with the cookie that a browser would keep."""

    def __init__(self, web):
        self.port, self.cookie = web.port, None
        status, headers, _ = self.request("GET", web.link.removeprefix(web.origin))
        if status not in (200, 302, 303) or "set-cookie" not in headers:
            raise AssertionError(f"not signed in: {status} {headers}")
        self.cookie = headers["set-cookie"].partition(";")[0]

    def request(self, method, path, body=None, **more):
        """One request; gives status, headers and text.  `more` are headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                timeout=harness.WATCHDOG_SECONDS)
        headers = {"Cookie": self.cookie} if self.cookie else {}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, body, headers | more)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return response.status, found, response.read().decode()
        finally:
            connection.close()

    def page(self, path="/review"):
        """The text of a page that must be there."""
        status, _, text = self.request("GET", path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {text}")
        return text

    def answer(self, number, decision, csrf=None, **fields):
        """Send the form of a question; gives the status."""
        fields |= {"csrf": Form(self.page()).csrf if csrf is None else csrf, "decision": decision}
        return self.request("POST", f"/review/{number}", urllib.parse.urlencode(fields))[0]
