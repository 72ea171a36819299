#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The token for GitHub: where it comes from, and where it never goes."""
import http.server
import json
import os
import pathlib
import subprocess
import threading

import github
import harness
import pushing
import servers
from github import NEEDED, TOKEN, needs_askpass

GH = """#!/bin/sh
printf '%s\\n' "$*" "token=$GITHUB_TOKEN" "home=$HOME" "cwd=$(pwd)" >>'{log}'
{script}
"""


class Sources(github.Case):
    """GITHUB_TOKEN, else gh, else an error that says what to do."""

    def setUp(self):
        super().setUp()
        self.bin, self.log = self.base / "bin", self.base / "gh.log"
        self.bin.mkdir()
        self.env["PATH"] = f"{self.bin}:{self.env['PATH']}"

    def gh(self, script, where=None):
        """A program of the name gh."""
        path = (where or self.bin) / "gh"
        path.write_text(GH.format(log=self.log, script=script), encoding="utf-8")
        path.chmod(0o755)

    def heard(self):
        """What gh was asked."""
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def needs_a_token(self, staged):
        """The push fails for want of a token, before anybody is asked."""
        for approval in ("allow", "ask"):
            result = self.push(staged, self.TARGET, approval=approval)
            self.assertEqual((result.kind, result.error["code"], result.error["message"]),
                             ("ExecutionFailed", 7034, NEEDED), result)
            self.assertTrue(result.text.startswith(NEEDED), result.text)
        self.assertEqual(self.head("main", self.far), self.first)

    def test_none(self):
        """without a token and without gh the error says exactly what to do"""
        staged = self.stage({"b.txt": "b\n"})
        del self.env["GITHUB_TOKEN"]
        self.env["PATH"] = f"{self.bin}:/nonexistent"  # no gh of this machine
        (self.bin / "git").symlink_to(servers.program("git"))
        self.needs_a_token(staged)

    def test_doctor(self):
        """airlock doctor says where a token would come from, and never the token"""
        for token, path, state in (
                (TOKEN, self.env["PATH"], "GITHUB_TOKEN"),
                ("", self.env["PATH"], f"gh auth token ({self.bin}/gh)"),
                ("", self.without_gh(), "none; public repositories can be pulled from")):
            self.gh("exit 1")
            done = subprocess.run(
                [harness.AIRLOCK, "doctor", "--json", "--root", str(self.root)], cwd=self.root,
                env=self.env | {"GITHUB_TOKEN": token, "PATH": path}, capture_output=True,
                check=False, timeout=harness.WATCHDOG_SECONDS)
            found = {entry["check"]: entry for entry in json.loads(done.stdout)}
            self.assertEqual((found["github token"]["level"], found["github token"]["state"]),
                             ("ok", state))
            self.assertNotIn(TOKEN.encode(), done.stdout + done.stderr)
        self.assertEqual(self.heard(), [])

    def test_useless(self):
        """what is no token is none: empty, two words, control characters, too long"""
        staged = self.stage({"b.txt": "b\n"})
        self.gh("exit 1")
        for token in ("", "  ", "two words", "a\x01b", "a\nb", "\u00e9", "x" * 4097):
            self.env["GITHUB_TOKEN"] = token
            self.needs_a_token(staged)

    def test_useless_gh(self):
        """nor is what a gh prints that fails, or that prints something else"""
        del self.env["GITHUB_TOKEN"]
        staged = self.stage({"b.txt": "b\n"})
        for script in (f"echo {TOKEN}; exit 1", "exit 0", "echo two words", "yes", "kill -9 $$"):
            self.gh(script)
            self.needs_a_token(staged)

    @needs_askpass
    def test_gh(self):
        """gh gives the token; it runs with the user's home, and outside of the roots"""
        del self.env["GITHUB_TOKEN"]
        staged = self.stage({"b.txt": "b\n"})
        self.gh(f"echo {TOKEN}")
        self.pushed(staged, self.TARGET)
        host = self.hub.url.removeprefix("http://")
        self.assertEqual(self.heard()[:4], [f"auth token --hostname {host}", "token=",
                                            f"home={self.home}", "cwd=/"])
        self.assertEqual(self.hub.tokens(), {self.hub.expected})

    @needs_askpass
    def test_environment_first(self):
        """with GITHUB_TOKEN gh is not asked"""
        self.gh("exit 1")
        self.pushed(self.stage({"b.txt": "b\n"}), self.TARGET)
        self.assertEqual(self.heard(), [])

    def test_gh_in_the_root(self):
        """a gh that the agent could have written is not run"""
        del self.env["GITHUB_TOKEN"]
        staged = self.stage({"b.txt": "b\n"})
        self.gh(f"echo {TOKEN}", self.root)
        self.env["PATH"] = f"{self.root}:{self.bin}:/nonexistent"
        (self.bin / "git").symlink_to(servers.program("git"))
        self.needs_a_token(staged)
        self.assertEqual(self.heard(), [])

    @needs_askpass
    def test_wrong(self):
        """a token that the server does not accept is named nowhere"""
        staged = self.stage({"b.txt": "b\n"})
        self.env["GITHUB_TOKEN"] = "ghp_wrong0000000000000000000000000000000"
        result = self.push(staged, self.TARGET)
        self.assertEqual(result.error["code"], 7034, result)
        self.assertEqual(result.error["message"],
                         f"{self.hub.url} does not accept the token it was given")
        self.assertNotIn("ghp_wrong", str(result))
        self.assert_no_token("ghp_wrong")
        self.assertIn(staged[:8], self.ok("git_status").text)

    def test_public_needs_none(self):
        """what is public is read without a token, and without gh"""
        staged = self.stage({"b.txt": "b\n"})
        self.gh("exit 1")
        self.shown(staged, self.TARGET)
        self.assertEqual((self.hub.tokens(), self.heard()), (set(), []))


class Configured(github.Case):
    """The user's own configuration of git."""

    @needs_askpass
    def test_configuration(self):
        """no setting of it sends the exchange or the token elsewhere, or adds to it"""
        ran = self.base / "helper-ran"
        with open(self.home / ".gitconfig", "a", encoding="utf-8") as config:
            config.write(f'[url "ssh://git@nowhere/"]\n\tinsteadOf = {self.hub.url}/\n'
                         f"\tpushInsteadOf = {self.hub.url}/\n"
                         f'[credential]\n\thelper = "!touch {ran}"\n'
                         "[http]\n\textraHeader = X-More: 1\n\tfollowRedirects = true\n"
                         "[clone]\n\tdefaultRemoteName = other\n[protocol]\n\tversion = 0\n"
                         "[push]\n\tdefault = nothing\n\tgpgSign = true\n"
                         "[remote]\n\tpushDefault = other\n")
        control = self.git("ls-remote", f"{self.hub.url}/user/proj.git", check=False)
        self.assertIn(b"nowhere", control.stderr)
        commit, _ = self.pushed(self.stage({"a.txt": "b\n"}), self.TARGET)
        self.assertEqual(self.head("main", self.far), commit)
        self.assertFalse(ran.exists())


class Watched(github.Case):
    """While a server holds a request."""

    def children(self, pid):
        """Every process below this one."""
        found, level = [], [pid]
        while level:
            below = []
            for task in level:
                for path in pathlib.Path(f"/proc/{task}/task").glob("*/children"):
                    below += path.read_text(encoding="ascii").split()
            found += below
            level = below
        return found

    @needs_askpass
    def test_children(self):
        """no child of airlock has the token in its words or its environment"""
        held = github.Held(self, self.hub, self.hub.expected)
        staged = self.stage({"b.txt": "b\n"})
        server = harness.Server(self)
        number = server.ask("git_push", {"commitId": staged, "target": self.TARGET})
        held.wait()
        seen = b""
        children = self.children(server.process.pid)
        for pid in children:
            for name in ("cmdline", "environ"):
                seen += pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
        limits = pathlib.Path(f"/proc/{server.process.pid}/limits").read_text(encoding="ascii")
        self.assertRegex(limits, r"Max core file size +0 +0 ")
        held.go.set()
        answer = server.receive()
        self.assertEqual(answer["id"], number)
        self.assertEqual(answer["result"]["structuredContent"]["status"], "success", answer)
        self.assertGreaterEqual(len(children), 2)
        self.assertIn(b"git-remote-http", seen)
        self.assertNotIn(TOKEN.encode(), seen)
        self.assertNotIn(TOKEN, str(answer))
        server.close()
        self.assert_no_token()

    @needs_askpass
    def test_cancelled(self):
        """a call that is cancelled in the middle leaves nothing, and the next one works"""
        held = github.Held(self, self.hub, "POST /user/proj.git/git-upload-pack")
        staged = self.stage({"b.txt": "b\n"})
        server = harness.Server(self)
        number = server.ask("git_push", {"commitId": staged, "target": self.TARGET})
        held.wait()
        server.send(method="notifications/cancelled", params={"requestId": number})
        while self.mirrors():  # the watchdog ends a test that never comes out of here
            server.ok("git_status")
        held.go.set()
        self.hub.before = lambda _: False
        result = server.ok("git_push", {"commitId": staged, "target": self.TARGET})
        self.assertEqual(result.value["structuredContent"]["status"], "success")

    @needs_askpass
    def test_killed(self):
        """what a killed server leaves, the next one removes; the commit is still staged"""
        held = github.Held(self, self.hub, "POST /user/proj.git/git-upload-pack")
        staged = self.stage({"b.txt": "b\n"})
        server = harness.Server(self)
        server.ask("git_push", {"commitId": staged, "target": self.TARGET})
        held.wait()
        server.process.kill()
        server.process.wait()
        held.go.set()
        self.hub.before = lambda _: False
        self.pushed(staged, self.TARGET)
        self.assert_nothing_left()

    def test_deadline(self):
        """a server that does not answer costs the call its deadline"""
        github.Held(self, self.hub, "GET")
        staged = self.stage({"b.txt": "b\n"})
        self.configure(f'github_base_url = "{self.hub.url}"', "[tools.git]\ntimeout_ms = 500\n")
        result = self.push(staged, self.TARGET)
        self.assertEqual(result.kind, "Timeout", result)
        self.assert_nothing_left()


class Elsewhere(github.Case):
    """A server that sends its clients to another one."""

    def setUp(self):
        super().setUp()
        seen = self.came = []

        class Evil(http.server.BaseHTTPRequestHandler):
            """Asks everybody for a password, and writes down what it gets."""

            def do_GET(self):
                """Any request."""
                seen.append((self.path, self.headers.get("Authorization")))
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="x"')
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *_):
                """Nothing is written down."""

        self.evil = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
        thread = threading.Thread(target=self.evil.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self.addCleanup(self.evil.server_close)
        self.addCleanup(self.evil.shutdown)

    def redirect(self, word, host="127.0.0.1"):
        """Requests with this word in them are sent to the other server."""
        where = f"http://{host}:{self.evil.server_address[1]}"

        def before(handler):
            if word not in f"{handler.command} {handler.path} {handler.headers}":
                return False
            handler.answer(302, [("Location", where + handler.path)])
            return True

        self.hub.before = before

    def test_control(self):
        """plain git follows such a redirect, and brings a password along when it is asked"""
        self.redirect("info/refs")
        asks = self.base / "askpass"
        asks.write_text(f"#!/bin/sh\necho {TOKEN}\n", encoding="utf-8")
        asks.chmod(0o755)
        self.git("ls-remote", f"{self.hub.url}/user/proj.git", check=False, GIT_ASKPASS=str(asks))
        self.assertTrue(any(given for _, given in self.came), self.came)

    def test_first(self):
        """a redirect of the first request is not followed, and the error says why"""
        staged = self.stage({"b.txt": "b\n"})
        for host in ("127.0.0.1", "localhost"):
            self.redirect("info/refs", host)
            result = self.push(staged, self.TARGET)
            self.assertEqual(result.error["code"], 7034, result)
            self.assertIn("was moved or renamed", result.text)
        self.assertEqual(self.came, [])

    @needs_askpass
    def test_with_the_token(self):
        """nor is one of a request that brought the token"""
        staged = self.stage({"b.txt": "b\n"})
        for word in ("Authorization", "POST /user/proj.git/git-receive-pack",
                     "POST /user/proj.git/git-upload-pack"):
            self.redirect(word)
            result = self.push(staged, self.TARGET)
            self.assertTrue(result.failed, result)
            self.assertNotIn(TOKEN, str(result))
        self.assertEqual(self.came, [])
        self.assertEqual(self.head("main", self.far), self.first)

    def test_asks_for_more(self):
        """a server that asks for the token of another realm or scheme gets none in the clear"""
        def before(handler):
            handler.answer(401, [("WWW-Authenticate", 'Digest realm="x", nonce="1", qop="auth"')])
            return True
        self.hub.before = before
        result = self.push(self.stage({"b.txt": "b\n"}), self.TARGET)
        self.assertTrue(result.failed, result)
        self.assertNotIn(TOKEN, str(result) + str(self.hub.seen))


class Costs(github.Case):
    """What a big repository costs."""

    @needs_askpass
    def test_bytes(self):
        """of a big repository the files that a push changes are fetched, and no others"""
        for n in range(8):
            self.elsewhere(f"big/{n}.bin", os.urandom(200_000))
        self.elsewhere("big/small.txt", "old\n")
        self.git("clone", "-q", "--bare", "--depth=1", f"{self.hub.url}/user/proj.git",
                 str(self.base / "whole"))
        whole, self.hub.sent = self.hub.sent, 0
        self.assertGreater(whole, 1_600_000)
        self.pushed(self.stage({"big/small.txt": "new\n", "x.txt": "x\n"}), self.TARGET)
        self.assertLess(self.hub.sent, 20_000)
        posts = [path for method, path, _ in self.hub.seen if method == "POST"]
        self.assertLess(len(posts), 12, posts)

    def test_limit(self):
        """more than max_fetch_bytes is refused, and nothing is left"""
        self.git("config", "uploadpack.allowFilter", "false", cwd=self.far)
        self.elsewhere("big.bin", os.urandom(2_200_000))
        staged = self.stage({"b.txt": "b\n"})
        self.configure(f'github_base_url = "{self.hub.url}"',
                       "[tools.git]\nmax_fetch_bytes = 1048576\n")
        result = self.push(staged, self.TARGET)
        self.assertIn("max_fetch_bytes", result.text)
        self.assert_nothing_left()


class Hostile(github.Case):
    """A server that sends what no server should."""

    def test_garbage(self):
        """answers that are no git give an error, and nothing is left or shown raw"""
        staged = self.stage({"b.txt": "b\n"})
        for status, kind, body in (
                (200, "text/html", b"<html>\033[31m\033]0;t\007</html>"),
                (200, "application/x-git-upload-pack-advertisement", b"zzzz\033[31m"),
                (200, "application/x-git-upload-pack-advertisement",
                 b"001e# service=git-upload-pack\n0000" + b"0038ERR \033[31mred\033[0m\033]0;t\007"
                 b" and \342\200\256 bidi text of it, long"),
                (500, "text/plain", b"\033[31m" * 1000),
                (404, "text/plain", b"")):
            def before(handler, status=status, kind=kind, body=body):
                handler.answer(status, [("Content-Type", kind)], body)
                return True
            self.hub.before = before
            result = self.push(staged, self.TARGET)
            self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7034),
                             result)
            for sign in "\033", "\007", "\u202e":
                self.assertNotIn(sign, result.text)
        self.assert_nothing_left()

    def test_bad_refs(self):
        """a branch whose name leads out of the repository is not taken"""
        self.git("branch", "a" * 8, "main", cwd=self.far)
        staged = self.stage({"b.txt": "b\n"})
        for name in (b"../../xx", b"aaa..aaa", b"aa\033[31m", b"-aaaaaaa", b"aaa.lock"):
            def change(_path, content, name=name):
                return content.replace(b"refs/heads/aaaaaaaa", b"refs/heads/" + name)
            self.hub.change = change
            result = self.push(staged, self.TARGET | {"branch": "aaaaaaaa"}, approval="deny")
            self.assertTrue(result.failed, result)
            self.assertNotIn("\033", result.text)
        self.assert_nothing_left()
        self.assertEqual(list(self.base.rglob("xx")), [])

    def test_wrong_objects(self):
        """a pack that does not hold the commit that was promised is refused"""
        other = "1" * 40

        def change(path, content):
            return content.replace(self.first.encode(), other.encode())
        self.hub.change = change
        result = self.push(self.stage({"b.txt": "b\n"}), self.TARGET)
        self.assertTrue(result.failed, result)
        self.assert_nothing_left()

    def test_told_another_head(self):
        """a server that promises another head than it has later gets nothing"""
        server = pushing.Asked(self)
        staged = self.stage({"b.txt": "b\n"})
        number, question = server.question("git_push",
                                           {"commitId": staged, "target": self.TARGET})
        self.git("update-ref", "-d", "refs/heads/main", cwd=self.far)
        server.reply(question, "once")
        result = server.outcome(number)
        if not harness.ASAN:
            found = result.value["structuredContent"]["conflict"]
            self.assertEqual(found["reason"], "non-fast-forward")
            self.assertNotIn("targetHead", found)
        self.assertEqual(self.out("for-each-ref", cwd=self.far), "")


if __name__ == "__main__":
    harness.main()
