#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_fetch, git_pull and git_push with real servers: git daemon, sshd, and http behind lighttpd."""
import os
import subprocess
import threading
import unittest
import http.server

import harness
import remotes
import servers

HELPER = """#!/bin/sh
echo "$1" >>'{log}'
cat >>'{log}'
[ "$1" = get ] && printf 'username=%s\\npassword=%s\\n' '{user}' '{password}'
exit 0
"""


class Case(remotes.Case):
    """The hub is reached through a server, as `origin`."""

    def reach(self, url):
        """Set the address of origin."""
        self.git("config", "remote.origin.url", url)
        self.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")

    def exchange(self):
        """Push, fetch, pull and push with force, each with what follows from it."""
        self.gives("git_push", {"setUpstream": True})
        self.assertEqual(self.at_hub(), self.here())
        commit = self.elsewhere()
        self.gives("git_fetch", {})
        self.assertEqual(self.here("origin/main"), commit)
        self.commit("c.txt", "c\n", "mine")
        self.fails(7034, "git_push", {})
        self.gives("git_pull", {"rebase": True})
        self.gives("git_push", {})
        self.assertEqual(self.at_hub(), self.here())
        self.git("commit", "-q", "--amend", "-m", "better")
        self.gives("git_push", {"force": True})
        self.assertEqual(self.at_hub(), self.here())

    def reject(self, script):
        """A hook of the hub that refuses every push."""
        hook = self.hub / "hooks/pre-receive"
        hook.write_text(f"#!/bin/sh\n{script}\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)

    def rejected(self):
        """A push that the hook refuses, and what was said."""
        self.reject(r"printf 'main is \033[31mclosed\033[0m\033]0;title\007 today\nask us\n'")
        result = self.fails(7034, "git_push", {})
        self.assertIn("main is closed today", result.text)
        self.assertIn("ask us", result.text)
        for sign in "\033", "\007", "title":
            self.assertNotIn(sign, result.text)
        self.assertNotEqual(self.git("rev-parse", "-q", "--verify", "refs/heads/main",
                                     cwd=self.hub, check=False).returncode, 0)
        self.assertEqual(self.git("for-each-ref", "refs/remotes").stdout, b"")


class OverGit(Case):
    """git://"""

    def setUp(self):
        super().setUp()
        self.server = servers.Daemon(self, self.top)
        self.reach(self.server.url("hub.git"))

    def test_exchange(self):
        """git daemon: push, fetch, pull, and push with force"""
        self.exchange()

    def test_rejected(self):
        """git daemon: what a hook says is shown, without its escapes"""
        self.rejected()

    def test_no_repository(self):
        """git daemon: a repository that is not there is 7034, saying where"""
        self.reach(self.server.url("none.git"))
        self.assertIn(f"'{self.server.url('none.git')}'", self.fails(7034, "git_fetch").text)

    def test_nobody_there(self):
        """a port nobody listens on is 7034"""
        self.reach(f"git://127.0.0.1:{servers.free_port()}/hub.git")
        self.assertIn("Nobody answers", self.fails(7034, "git_fetch").text)

    def test_silent_server(self):
        """a server that never answers costs the call its deadline, and nothing is left"""
        self.git("push", "-q", str(self.hub), "main")
        config = self.base / "config.toml"
        config.write_text("[tools.git]\ntimeout_ms = 500\n", encoding="utf-8")
        self.reach(f"git://127.0.0.1:{servers.Silent(self).port}/hub.git")
        for tool in ("git_fetch", "git_pull", "git_push"):
            before = self.state()
            self.fails(7035, tool, {}, "--config", str(config))
            self.assertEqual(self.state(), before)
        self.assertEqual(self.processes_in(self.top), [])

    def test_cut_connection(self):
        """a connection cut at any place leaves what was there, and the next call works"""
        self.git("push", "-q", str(self.hub), "main")
        commit = self.elsewhere("big.bin", os.urandom(200_000))
        for after in (0, 10, 400, 20_000, 150_000):
            cut = servers.Cut(self, self.server.port, after)
            self.reach(f"git://127.0.0.1:{cut.port}/hub.git")
            before = self.state()
            for tool in ("git_fetch", "git_pull"):
                self.fails(7034, tool)
                self.assertEqual(self.state(), before)
        self.reach(self.server.url("hub.git"))
        self.gives("git_pull", {})
        self.assertEqual(self.here(), commit)
        self.git("fsck", "--strict")


class Progress(Case):
    """notifications/progress"""

    def fetch(self, token):
        """Fetch a big file over MCP, most of which comes only once progress was seen; gives the
        notifications and the result."""
        self.git("push", "-q", str(self.hub), "main")
        self.elsewhere("big.bin", os.urandom(300_000))
        daemon = servers.Daemon(self, self.top)
        held = servers.Held(self, daemon.port, 100_000)
        self.reach(f"git://127.0.0.1:{held.port}/hub.git")
        server = harness.Server(self, "--toolset", "workflow", "--root", str(self.top))
        meta = {"_meta": {"progressToken": token}} if token else {}
        server.send(id=7, method="tools/call", params={
            "name": "git_fetch", "arguments": {"cwd": str(self.root)}, **meta})
        seen = []
        if not token:
            held.go.set()
        while (message := server.receive()).get("id") != 7:
            seen.append(message)
            held.go.set()
        return seen, harness.Result(message["result"])

    def test_token(self):
        """with a token git's progress is told, ever further on, and is not in the result"""
        seen, result = self.fetch("mine")
        self.assertTrue(seen)
        for message in seen:
            self.assertEqual(message["method"], "notifications/progress")
            self.assertEqual(message["params"]["progressToken"], "mine")
        steps = [message["params"]["progress"] for message in seen]
        self.assertEqual(steps, sorted(set(steps)))
        self.assertTrue(any("objects: " in message["params"]["message"] for message in seen), seen)
        self.assertFalse(result.failed, result)
        self.assertNotIn("objects", result.text)

    def test_no_token(self):
        """without a token nothing is told"""
        seen, result = self.fetch(None)
        self.assertEqual((seen, result.failed), ([], False))


class OverHttp(Case):
    """http://"""

    def setUp(self):
        super().setUp()
        self.git("config", "http.receivepack", "true", cwd=self.hub)
        self.server = servers.Http(self, self.top)
        self.list_servers(f"http://127.0.0.1:{self.server.port}")
        self.log = self.base / "helper.log"

    def helper(self, password=servers.Http.password):
        """A credential helper of the user's."""
        script = self.base / "helper"
        script.write_text(HELPER.format(log=self.log, user=servers.Http.user, password=password),
                          encoding="utf-8")
        script.chmod(0o755)
        self.git("config", "--global", "credential.helper", str(script))

    def heard(self):
        """What the helper was asked and told."""
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def test_exchange(self):
        """http: push, fetch, pull, and push with force"""
        self.reach(self.server.url("hub.git"))
        self.exchange()

    @unittest.skipIf(harness.ASAN, "askpass cannot start below the limits of memory")
    def test_exchange_with_credentials(self):
        """http: the same with the credentials of the user's helper"""
        self.helper()
        self.reach(self.server.private("hub.git"))
        self.exchange()
        self.assertIn(f"host=127.0.0.1:{self.server.port}\n", self.heard())
        self.assertIn("store\n", self.heard())
        self.assertNotIn("erase\n", self.heard())

    def test_rejected(self):
        """http: what a hook says is shown, without its escapes"""
        self.reach(self.server.url("hub.git"))
        self.rejected()

    def test_no_credentials(self):
        """http: without credentials nobody is prompted, and the error says what to do"""
        self.reach(self.server.private("hub.git"))
        for tool in ("git_fetch", "git_pull", "git_push"):
            result = self.fails(7034, tool)
            self.assertIn("no credential helper has them", result.text)

    def test_wrong_credentials(self):
        """http: wrong credentials are forgotten by the helper, and shown nowhere"""
        self.helper("wr0ng")
        self.reach(self.server.private("hub.git"))
        result = self.fails(7034, "git_fetch")
        self.assertIn("does not accept the credentials", result.text)
        self.assertIn("erase\n", self.heard())
        self.assertNotIn("store\n", self.heard())
        self.assertNotIn("wr0ng", str(result))

    @unittest.skipIf(harness.ASAN, "askpass cannot start below the limits of memory")
    def test_credentials_in_the_address(self):
        """http: a password in the address works, and is shown nowhere"""
        self.git("push", "-q", str(self.hub), "main")
        self.reach(self.server.private("hub.git", "person:pass%3Aword%401@"))
        for tool in ("git_fetch", "git_push", "git_pull"):
            result = self.ok(tool)
            self.assertNotIn("word", str(result))
        self.reach(self.server.private("hub.git", "person:wr0ng@"))
        result = self.fails(7034, "git_fetch")
        self.assertIn("does not accept", result.text)
        self.assertNotIn("wr0ng", str(result))
        log = self.home / ".local/state/airlock/tool_log.jsonl"
        self.assertNotIn("wr0ng", log.read_text(encoding="utf-8"))

    @unittest.skipIf(harness.ASAN, "askpass cannot start below the limits of memory")
    def test_user_in_the_address(self):
        """http: with a user in the address the helper is asked for that user"""
        self.helper()
        self.reach(self.server.private("hub.git", "person@"))
        self.gives("git_push")
        self.assertIn("username=person\n", self.heard())

    def test_redirect(self):
        """http: credentials go to the server of the address, and not where it sends us"""
        self.git("push", "-q", str(self.hub), "main")
        target = self.server.private("hub.git")

        class Elsewhere(http.server.BaseHTTPRequestHandler):
            """Sends everybody to the other server."""

            def do_GET(self):
                """Any page."""
                self.send_response(301)
                self.send_header("Location", target + self.path.removeprefix("/hub.git"))
                self.end_headers()

            def log_message(self, *_):
                """Nothing is written down."""

        first = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
        threading.Thread(target=first.serve_forever, daemon=True).start()
        self.addCleanup(first.server_close)
        self.addCleanup(first.shutdown)
        self.helper()
        self.reach(f"http://127.0.0.1:{first.server_port}/hub.git")
        self.fails(7034, "git_fetch")
        self.assertNotIn(f"host=127.0.0.1:{self.server.port}\n", self.heard())
        self.assertEqual(self.git("for-each-ref", "refs/remotes").stdout, b"")
        self.assertNotIn(b"password", b"".join(self.server.process.said))

    def test_no_repository(self):
        """http: a repository that is not there is 7034"""
        self.reach(self.server.url("none.git"))
        self.assertIn("There is no repository", self.fails(7034, "git_fetch").text)


class OverHttps(Case):
    """https://"""

    def setUp(self):
        super().setUp()
        self.git("config", "http.receivepack", "true", cwd=self.hub)
        self.tls = servers.Tls(self, servers.Http(self, self.top).port)
        self.reach(f"https://localhost:{self.tls.port}/git/hub.git")

    def test_exchange(self):
        """https: push, fetch, pull, and push with force, the authority being the user's"""
        self.git("config", "--global", "http.sslCAInfo", str(self.tls.certificate))
        self.exchange()

    def test_environment(self):
        """https: the authority in the user's environment"""
        self.gives("git_push", env={"GIT_SSL_CAINFO": str(self.tls.certificate)})

    def test_unknown_authority(self):
        """https: a certificate nobody vouches for is 7034, whatever the repository says of it"""
        for key, value in (("http.sslVerify", "false"),
                           (f"http.https://localhost:{self.tls.port}.sslVerify", "false")):
            result = self.fails(7034, "git_push")
            self.assertIn("certificate", result.text)
            self.git("config", key, value)
        self.fails(7034, "git_push")
        for key in ("http.sslCAInfo", "http.sslCert", "http.pinnedPubkey", "http.sslBackend"):
            self.git("config", key, str(self.tls.certificate))
            self.assertIn(key.lower(), self.fails(7034, "git_push").text)
            self.git("config", "--unset", key)


class OverSsh(Case):
    """ssh://"""

    def setUp(self):
        super().setUp()
        self.server = servers.Sshd(self, self.top)
        self.reach(self.server.url("hub.git"))

    def launch(self, argv):
        return self.server.at_home(argv)

    def test_exchange(self):
        """sshd: push, fetch, pull, and push with force"""
        self.server.trust()
        self.exchange()

    def test_rejected(self):
        """sshd: what a hook says is shown, without its escapes"""
        self.server.trust()
        self.rejected()

    def test_unknown_host(self):
        """sshd: an unknown host key is an error that names the host, and is not accepted"""
        for tool in ("git_fetch", "git_push"):
            result = self.fails(7034, tool)
            self.assertIn("host key", result.text)
            self.assertIn("127.0.0.1", result.text)
        self.assertFalse((self.home / ".ssh/known_hosts").exists())

    def test_changed_host(self):
        """sshd: a host key that is another one by now is an error"""
        self.server.trust()
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.base / "other"],
                       check=True)
        known = self.home / ".ssh/known_hosts"
        name, kind, _ = known.read_text(encoding="utf-8").split()
        other = (self.base / "other.pub").read_text(encoding="utf-8").split()[1]
        known.write_text(f"{name} {kind} {other}\n", encoding="utf-8")
        self.assertIn("host key", self.fails(7034, "git_fetch").text)

    def test_no_key(self):
        """sshd: without a key that is accepted nobody is prompted"""
        self.server.trust()
        (self.home / ".ssh/id_ed25519").unlink()
        self.assertIn("accepts none of the keys", self.fails(7034, "git_fetch").text)

    def test_agent(self):
        """sshd: the user's agent is used"""
        self.server.trust()
        socket = self.base / "agent"
        with subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)],
                              stdout=subprocess.PIPE) as agent:
            try:
                agent.stdout.readline()
                env = self.env | {"SSH_AUTH_SOCK": str(socket)}
                subprocess.run(["ssh-add", "-q", self.home / ".ssh/id_ed25519"], env=env,
                               check=True)
                (self.home / ".ssh/id_ed25519").unlink()
                self.gives("git_push", env={"SSH_AUTH_SOCK": str(socket)})
            finally:  # leaving the block waits for it
                agent.kill()
        self.assertEqual(self.at_hub(), self.here())


if __name__ == "__main__":
    harness.main()
