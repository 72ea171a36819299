#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An address that an agent added or changed: the first exchange is asked about, and no credentials
go there.  What was configured when the session began is the user's and asks nothing."""
import unittest

import harness
import remotes
import servers

HELPER = """#!/bin/sh
echo "$1" >>'{log}'
[ "$1" = get ] && printf 'username=%s\\npassword=%s\\n' '{user}' '{password}'
exit 0
"""

NEW = "This address was added or changed in this session."


class Pushes(remotes.Session):
    """git_push"""

    def test_once(self):
        """the first push to an address that was added asks, those that follow do not"""
        second = self.second()
        self.start()
        self.add(second)
        shown, result = self.asked("once", "git_push", {"remote": "mine"})
        self.assertIn(f"To {second}\n{NEW}", shown)
        self.assertFalse(result.failed, result)
        self.quiet("git_push", {"remote": "mine"})
        self.git("branch", "other")
        self.quiet("git_push", {"remote": "mine", "branch": "other"})

    def test_rejected(self):
        """without a yes nothing is pushed, and the next push asks again"""
        second = self.second()
        self.start()
        self.add(second)
        for _ in range(2):
            result = self.asked("reject", "git_push", {"remote": "mine"})[1]
            self.assertEqual(result.kind, "ApprovalDenied", result)
        self.assertEqual(self.out("for-each-ref", cwd=second), "")

    def test_known(self):
        """what was configured when the session began asks nothing"""
        self.git("remote", "add", "mine", str(self.second()))
        self.start()
        self.quiet("git_push", {"remote": "mine"})
        self.quiet("git_push")

    def test_renamed_and_added_again(self):
        """a remote that was renamed, or removed and added again, is new"""
        self.start()
        self.quiet("git_push")
        self.rename("origin", "x")
        self.asked("once", "git_push", {"remote": "x"})
        self.quiet("git_push", {"remote": "x"})
        self.rename("x", "origin")
        self.asked("once", "git_push")
        self.asked("once", "git_remote", {"action": "remove", "name": "origin"})
        self.add(self.hub, "origin")
        self.asked("once", "git_push")
        self.quiet("git_push")

    def test_changed_by_hand(self):
        """an address that was written into the configuration is new, under whichever key"""
        second = self.second()
        self.start()
        self.quiet("git_status")
        for key in "url", "pushurl":
            self.git("config", f"remote.origin.{key}", str(second))
            shown = self.asked("reject", "git_push")[0]
            self.assertIn(f"To {second}\n{NEW}", shown)
            self.git("config", f"remote.origin.{key}", str(self.hub))
            self.quiet("git_push")

    def test_changed_before_it_is_seen(self):
        """a configuration that changed since the session began has no known address"""
        self.start()
        self.git("config", "remote.origin.url", str(self.second()))
        self.asked("reject", "git_push")

    def test_included(self):
        """the same where it is a file that the configuration includes"""
        (self.top / "more").write_text("", encoding="utf-8")
        self.git("config", "include.path", str(self.top / "more"))
        self.start()
        (self.top / "more").write_text(f"[remote \"origin\"]\npushurl = {self.second()}\n",
                                       encoding="utf-8")
        self.asked("reject", "git_push")

    def test_force(self):
        """a forced push that was agreed to settles its address"""
        self.start()
        self.add(self.second())
        shown = self.asked("once", "git_push", {"remote": "mine", "force": True})[0]
        self.assertIn(NEW, shown)
        self.quiet("git_push", {"remote": "mine"})

    def rule(self, decision, **conditions):
        return "".join(["[[tools.approval.rule]]\n", f'decision = "{decision}"\n',
                        *(f'{name} = "{value}"\n' for name, value in conditions.items())])

    def test_rules(self):
        """a rule that allows a push allows none to a new address, unless it names the address"""
        second = self.second()
        for number, (conditions, asks) in enumerate((({}, True), ({"tool": "git_push", "branch": "*"}, True),
                                                     ({"effect": "*"}, True),
                                                     ({"address": str(self.hub)}, True), ({"address": "*"}, False),
                                                     ({"address": str(second)}, False),
                                                     ({"tool": "git_push", "address": f"{second}*"}, False))):
            self.start(*self.configured(self.rule("allow", **({"tool": "git_push"} | conditions))))
            self.quiet("git_push")
            self.add(second, f"r{number}")
            if asks:
                shown, result = self.asked("reject", "git_push", {"remote": f"r{number}"})
                self.assertIn(f"To {second}\n{NEW}", shown)
                self.assertEqual(result.kind, "ApprovalDenied", result)
            else:
                self.quiet("git_push", {"remote": f"r{number}"})

    def test_leads_up(self):
        """an address with `..` is covered by no pattern: it may lead elsewhere than it reads"""
        second = self.second()
        self.start(*self.configured(self.rule("allow", tool="git_push", address=f"{self.hub}*")))
        self.add(f"{self.hub}/../second.git")
        self.assertIn(NEW, self.asked("reject", "git_push", {"remote": "mine"})[0])
        self.assertEqual(self.out("for-each-ref", cwd=second), "")

    def test_denied(self):
        """a rule about an address is for what leads there, whatever the remote is called"""
        second = self.second()
        self.git("remote", "add", "known", str(second))
        self.start(*self.configured(self.rule("deny", address=f"{second}*", message="Not there.")))
        for tool in "git_push", "git_fetch", "git_pull":
            self.session.refused("ApprovalDenied", "Not there.", tool, self.arguments({"remote": "known"}))
        for tool in "git_push", "git_fetch":
            self.quiet(tool)

    def test_spelled_otherwise(self):
        """a rule that denies an address holds however the same address is spelled"""
        self.git("remote", "add", "far", "https://example.com/org/x.git")
        self.start(*self.configured(self.rule("deny", address="https://example.com/org/*", message="Not there.") +
                                    self.rule("deny", address="*git@example.com[:/]org/*", message="Not there.")))
        for url in ("https://example.com/org/x.git", "https://Example.COM/org/x.git",
                    "https://example.com:443/org/x.git", "https://me@example.com/org/x.git",
                    "https://example.com/%6Frg/x.git", "ssh://git@EXAMPLE.com:22/org/x.git",
                    "git@Example.com:org/x.git", "git@example.com:./org/x.git",
                    "https://example.com./org/x.git", "https://example.com//org/x.git",
                    "https://example.com/other/../org/x.git",
                    "https://example.com/other/%2E%2e/org/x.git"):
            self.git("remote", "set-url", "far", url)
            self.session.refused("ApprovalDenied", "Not there.", "git_fetch", self.arguments({"remote": "far"}))

    def test_nobody_asked(self):
        """mode deny denies it, mode allow does it"""
        second = self.second()
        for mode, kind in (("deny", "ApprovalDenied"), ("allow", None)):
            self.start("--approval", mode, kind=harness.Server)
            if mode == "deny":
                arguments = self.arguments({"action": "add", "name": mode, "url": str(second)})
                self.assertEqual(self.session.call("git_remote", arguments).kind, kind)
                self.git("remote", "add", mode, str(second))
            else:
                self.add(second, mode)
            result = self.session.call("git_push", self.arguments({"remote": mode}))
            self.assertEqual(result.kind, kind, result)


class Fetches(remotes.Session):
    """git_fetch and git_pull"""

    def setUp(self):
        super().setUp()
        self.daemon = servers.Daemon(self, self.top)
        self.url = self.daemon.url("hub.git")

    def test_once(self):
        """the first fetch from an address on the network asks; a push asks for itself"""
        self.start()
        self.add(self.url)
        for tool, arguments in (("git_fetch", {"remote": "mine"}), ("git_fetch", {"all": True}),
                                ("git_pull", {"remote": "mine"})):
            shown, result = self.asked("reject", tool, arguments)
            self.assertIn(f"From {self.url}\n{NEW}", shown)
            self.assertEqual(result.kind, "ApprovalDenied", result)
        self.asked("once", "git_fetch", {"remote": "mine"})
        self.quiet("git_fetch", {"all": True})
        self.quiet("git_pull", {"remote": "mine"})
        self.asked("once", "git_push", {"remote": "mine"})
        self.quiet("git_push", {"remote": "mine"})

    def test_pull(self):
        """a pull from there asks once, though it fetches before it merges"""
        self.start()
        self.add(self.url)
        self.asked("once", "git_pull", {"remote": "mine"})
        self.quiet("git_pull", {"remote": "mine"})

    def test_after_a_push(self):
        """what may be pushed to may be fetched from"""
        self.start()
        self.add(self.url)
        self.asked("once", "git_push", {"remote": "mine"})
        self.quiet("git_fetch", {"remote": "mine"})

    def test_here(self):
        """fetching from a repository on this machine asks nothing"""
        self.start()
        self.add(self.hub)
        self.quiet("git_fetch", {"remote": "mine"})
        self.quiet("git_pull", {"remote": "mine"})

    def test_rule(self):
        """a rule about what leaves the machine is for a fetch from a new address, and no other"""
        self.git("remote", "add", "known", self.url)
        self.start(*self.configured('[[tools.approval.rule]]\neffect = "leaves_machine"\n'
                                    'decision = "deny"\nmessage = "It stays."\n'))
        self.add(self.url)
        for tool in "git_fetch", "git_pull":
            self.session.refused("ApprovalDenied", "It stays.", tool,
                                 self.arguments({"remote": "mine"}))
            self.quiet(tool, {"remote": "known"})


class Credentials(remotes.Session):
    """The user's credential helper, which answers for every server."""

    def setUp(self):
        super().setUp()
        self.git("config", "http.receivepack", "true", cwd=self.hub)
        self.plain = servers.Http(self, self.top)
        self.tls = servers.Tls(self, self.plain.port)
        self.git("config", "--global", "http.sslCAInfo", str(self.tls.certificate))
        self.log, helper = self.base / "helper.log", self.base / "helper"
        helper.write_text(HELPER.format(log=self.log, user=servers.Http.user,
                                        password=servers.Http.password), encoding="utf-8")
        helper.chmod(0o755)
        self.git("config", "--global", "credential.helper", str(helper))
        self.secure = f"https://localhost:{self.tls.port}/private/hub.git"

    def listed(self, *hosts):
        """Options of a session whose user lists these."""
        return self.configured(f"[tools.git]\ncredential_hosts = {list(hosts)}\n")

    def withheld(self, remote, word, *options, asked=False):
        """No credentials go there, and what fails says how they would."""
        arguments = {"remote": remote}
        if asked:
            result = self.asked("once", "git_fetch", arguments)[1]
        else:
            result = self.session.call("git_fetch", self.arguments(arguments))
        self.assertEqual(result.error.get("code"), 7034, result)
        self.assertIn(word, result.text)
        self.assertIn("credential_hosts", result.text)
        self.assertFalse(self.log.exists())

    def test_control(self):
        """plain git gives the token to any server that asks"""
        for url in self.plain.private("hub.git"), self.secure:
            self.git("fetch", "-q", url, "main")
            self.assertIn("get\n", self.log.read_text(encoding="utf-8"))
            self.log.unlink()

    def test_nobody_agreed(self):
        """an address that was added gets none, though the mode allows the call"""
        self.start("--approval", "allow", kind=harness.Server)
        self.add(self.secure)
        self.withheld("mine", "the user did not agree")
        self.git("config", "remote.origin.url", self.secure)
        self.withheld("origin", "the user did not agree")

    def test_plain(self):
        """over http it gets none, known or agreed to"""
        self.git("remote", "add", "known", self.plain.private("hub.git"))
        self.start()
        self.withheld("known", "over plain http")
        self.add(self.plain.private("hub.git"))
        self.withheld("mine", "over plain http", asked=True)

    def test_not_listed(self):
        """a list is for the hosts, schemes and ports in it"""
        for host in ("localhost", "http://localhost:*", "*.localhost:*", "localhost:1",
                     "https://example.com:*"):
            self.start(*self.listed(host), "--approval", "allow", kind=harness.Server)
            name = "r" + str(len(host))
            self.add(self.secure, name)
            self.withheld(name, "the user did not agree")
            self.session.close()

    @unittest.skipIf(harness.ASAN, "askpass cannot start below the limits of memory")
    def test_agreed(self):
        """known, agreed to, and listed addresses get them"""
        self.git("remote", "add", "known", self.secure)
        self.start()
        self.quiet("git_fetch", {"remote": "known"})
        self.add(self.secure)
        self.asked("once", "git_fetch", {"remote": "mine"})
        self.quiet("git_fetch", {"remote": "mine"})
        self.session.close()
        self.start(*self.listed("LOCAL*:*", "http://127.0.0.1:*"), "--approval", "allow",
                   kind=harness.Server)
        self.add(self.secure, "https")
        self.add(self.plain.private("hub.git"), "http")
        for name in "https", "http":
            self.quiet("git_fetch", {"remote": name})


if __name__ == "__main__":
    harness.main()
