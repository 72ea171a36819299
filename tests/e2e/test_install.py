#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock install CLIENT` writes one entry into a client's settings, and takes back exactly that."""
import contextlib
import json
import os
import pty
import subprocess
import tomllib

import harness
from test_robust_cli import Program

PROJECT = {
    "claude-code": ".mcp.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
    "vscode": ".vscode/mcp.json",
    "zed": ".zed/settings.json",
}
USER = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "codex": ".codex/config.toml",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "vscode": ".config/Code/User/mcp.json",
    "zed": ".config/zed/settings.json",
}
ABOVE = {"opencode": "mcp", "vscode": "servers", "zed": "context_servers", "codex": "mcp_servers"}

# Settings that others wrote: each comes back byte for byte.
JSON_TEXTS = [
    "{}",
    "",
    " \n",
    "{\n}\n",
    '{"theme": "dark"}',
    '{"theme": "dark",}\n',
    '{\n    "theme": "dark"\n}',
    '{\r\n\t"theme": "dark"\r\n}\r\n',
    '// mine\n{\n  // first\n  "theme": "dark", // why\n  /* last */\n}\n// end\n',
    '{\n  "theme": "dark" // no comma\n  // "airlock": {}\n}\n',
    '\ufeff{ "a": [1, {"b": "}"}], /* { */ "c": "\\u00e4\\"//" }\n',
    '{"%s": {}}',
    '{\n  "%s": {\n    "other": {"command": "x", "args": ["a"]} // other\n  },\n  "z": 1\n}\n',
    '{\n  "%s": {\n    "other": {\n      "command": "x"\n    },\n  },\n}\n',
    '{"%s": {"airlock": {"command": "old", "args": [/* none */]}, "other": {"command": "x"}}}\n',
    '{\n\t"%s": {\n\t\t"airlock": { "command": "old" } // mine\n\t}\n}\n',
    '{"%s": {\n  // nothing yet\n}}\n',
]
TOML_TEXTS = [
    "",
    'model = "x"\n',
    'model = "x"',
    '# mine\r\nmodel = "x"\r\n',
    '[mcp_servers.other] # o\ncommand = "x"\n\n# about the next\n[tui]\ntheme = "a"\n',
    '[mcp_servers.airlock]\ncommand = "old"\nargs = [\n  "[x]", # y\n]\n\n# next\n[tui]\na = 1\n',
    '[tui]\na = """\n[mcp_servers.airlock]\n"""\n',
    '[mcp_servers.airlock]\ncommand = "old"\n\n[tui]\n# theme = "a"\n\n[z]\na = 1\n',
    '[mcp_servers.airlock]\ncommand = "old"\n[[hooks]]\n[[hooks]]\n[z]\na = [\n[1],\n[2]]\n',
]


class Install(Program):
    def setUp(self):
        super().setUp()
        self.init()

    def install(self, *words, code=0, **named):
        done = self.run_it("install", *words, **named)
        self.assertEqual(done.returncode, code, done)
        return done

    def entry(self, client, path):
        """Airlock's entry, and what else the file has, as the client's own parser would see it."""
        text = path.read_text(encoding="utf-8-sig")
        if client == "codex":
            value = tomllib.loads(text)
        else:
            value = self.loads(text)
        above = value[ABOVE.get(client, "mcpServers")]
        entry = above.pop("airlock")
        return entry, value

    @staticmethod
    def loads(text):
        """JSON with comments and trailing commas."""
        out, at = "", 0
        while at < len(text):
            if text[at] == '"':
                end = at + 1
                while text[end] != '"':
                    end += 2 if text[end] == "\\" else 1
                out, at = out + text[at:end + 1], end + 1
            elif text.startswith("//", at):
                at = text.find("\n", at) if "\n" in text[at:] else len(text)
            elif text.startswith("/*", at):
                at = text.index("*/", at) + 2
            elif text[at] in "]}" and out.rstrip().endswith(","):
                out, at = out.rstrip()[:-1] + text[at], at + 1
            else:
                out, at = out + text[at], at + 1
        return json.loads(out)

    def others(self, client, text):
        """All settings but airlock's entry, in the object that it is put into."""
        value = tomllib.loads(text) if client == "codex" else self.loads(text.strip() or "{}")
        value.setdefault(ABOVE.get(client, "mcpServers"), {}).pop("airlock", None)
        return value

    def command(self, client, entry):
        if client == "opencode":
            return entry["command"]
        return [entry["command"], *entry["args"]]

    def test_each_client(self):
        """the file of each client gets the entry, for the project and for the user"""
        for client in USER:
            for user in (False, True):
                where = self.home if user or client == "claude-desktop" else self.root
                path = where / (USER[client] if where == self.home else PROJECT[client])
                words = [client] + ["--user"] * user
                shown = self.install(*words, "--print").stdout
                self.assertFalse(path.exists())
                done = self.install(*words, "--yes")
                self.assertTrue(done.stdout.startswith(shown), done)
                self.assertIn(f"+++ {path}\n", shown)
                entry, rest = self.entry(client, path)
                wanted = [harness.AIRLOCK, "serve"]
                if client == "claude-desktop" and not user:
                    wanted += ["--root", str(self.root)]
                elif client in ("cursor", "vscode") and not user:
                    wanted += ["--root", "${workspaceFolder}"]
                self.assertEqual([os.path.realpath(wanted[0]), *wanted[1:]],
                                 self.command(client, entry))
                self.assertEqual(rest, {ABOVE.get(client, "mcpServers"): {}})
                if client in ("opencode", "vscode"):
                    self.assertEqual(entry["type"], "local" if client == "opencode" else "stdio")
                self.assertIn("nothing to do", self.install(*words, "--yes").stdout)
                self.install(*words, "--remove", "--yes")
                self.assertFalse(path.exists())
                if path.parent not in (self.home, self.root, self.home / ".config"):
                    self.assertFalse(path.parent.exists())

    def test_byte_for_byte(self):
        """every other byte stays, and removing gives the file back as it was, with its mode"""
        for client, file in PROJECT.items():
            path = self.root / file
            path.parent.mkdir(exist_ok=True)
            for text in TOML_TEXTS if client == "codex" else JSON_TEXTS:
                text = text.replace("%s", ABOVE.get(client, "mcpServers")).encode("utf-8")
                path.write_bytes(text)
                path.chmod(0o640)
                self.install(client, "-y")
                entry, rest = self.entry(client, path)
                self.assertEqual(self.command(client, entry)[1], "serve", text)
                self.assertEqual(path.stat().st_mode & 0o777, 0o640)
                self.assertEqual(rest, self.others(client, text.decode("utf-8-sig")), text)
                self.assertEqual(path.read_bytes().count(b"//"), text.count(b"//"), text)
                self.install(client, "-y", "--remove")
                self.assertEqual(path.read_bytes(), text)
                self.assertEqual(path.stat().st_mode & 0o777, 0o640)
                path.unlink()

    def test_shown_and_restored(self):
        """a user's own file of each client: the diff is all that is written, and comes off again"""
        for client, file in USER.items():
            path = self.home / file
            path.parent.mkdir(parents=True, exist_ok=True)
            before = (TOML_TEXTS[4] if client == "codex" else JSON_TEXTS[12].replace(
                "%s", ABOVE.get(client, "mcpServers")))
            path.write_text(before)
            shown = self.install(client, "--user", "--print").stdout
            self.assertEqual(path.read_text(), before)
            self.install(client, "--user", "--yes")
            after = path.read_text()
            patched = self.base / "patched"
            patched.write_text(before)
            diff = shown[shown.index("--- "):].replace(str(path), "patched")
            self.git("apply", "--unsafe-paths", "-p0", "-", cwd=self.base, stdin=diff.encode())
            self.assertEqual(patched.read_text(), after, client)
            self.assertIn("airlock", after)
            self.install(client, "--user", "--yes", "--remove")
            self.assertEqual(path.read_text(), before, client)

    def test_later_edits(self):
        """removing keeps what the user has changed since, also where the record does not match"""
        path = self.root / ".cursor/mcp.json"
        path.parent.mkdir()
        path.write_text('{\n  "mcpServers": {\n    "a": {"command": "x"}\n  }\n}\n')
        self.install("cursor", "-y")
        path.write_text(path.read_text().replace('"x"', '"changed"'))
        self.install("cursor", "-y", "--remove")
        self.assertEqual(path.read_text(),
                         '{\n  "mcpServers": {\n    "a": {"command": "changed"}\n  }\n}\n')
        self.install("cursor", "-y")
        path.write_text(path.read_text().replace('"serve"', '"serve", "--approval", "deny"'))
        self.install("cursor", "-y", "--remove")
        self.assertEqual(path.read_text(),
                         '{\n  "mcpServers": {\n    "a": {"command": "changed"}\n  }\n}\n')
        self.assertIn("not installed", self.install("cursor", "-y", "--remove").stdout)

    def test_again(self):
        """a second installation with other options replaces the first, and one removal suffices"""
        path = self.root / ".vscode/mcp.json"
        path.parent.mkdir()
        text = '{\n  "servers": {}, // none\n}\n'
        path.write_text(text)
        self.config("")
        self.install("vscode", "-y")
        self.install("vscode", "-y", "--toolset", "staging", "--toolset", "files",
                     "--approval", "deny", "--config", "../airlock.toml")
        entry, _ = self.entry("vscode", path)
        self.assertEqual(entry["args"], ["serve", "--root", "${workspaceFolder}",
                                         "--toolset", "staging",
                                         "--toolset", "files", "--approval", "deny", "--config",
                                         str(self.root / "../airlock.toml")])
        self.install("vscode", "-y", "--remove")
        self.assertEqual(path.read_text(), text)

    def test_left_alone(self):
        """what cannot be read, or is not a settings file of the user's, is left alone and named"""
        path = self.root / ".mcp.json"
        for text, why in (("{", "line 1: string or '}' expected near end of file"),
                          ('{"mcpServers": []}', "mcpServers is no object"),
                          ("[1]", "the file is no object"),
                          ('{"mcpServers": {}, "mcpServers": {}}', "it has 'mcpServers' twice")):
            path.write_text(text)
            for words in (("claude-code", "-y"), ("claude-code", "-y", "--remove")):
                done = self.install(*words, code=1)
                self.assertEqual(done.stderr, f"airlock: '{path}' was left alone: {why}\n")
                self.assertEqual(path.read_text(), text)
        for data in (b"{\"a\": \"\xff\"}", b"{}\0"):
            path.write_bytes(data)
            self.assertIn("is no UTF-8 text", self.install("claude-code", "-y", code=1).stderr)
            self.assertEqual(path.read_bytes(), data)
        path.unlink()
        path.mkdir()
        self.assertIn("is no regular file", self.install("claude-code", "-y", code=1).stderr)
        path.rmdir()
        os.mkfifo(path)
        self.assertIn("is no regular file", self.install("claude-code", "-y", code=1).stderr)
        toml = self.root / ".codex/config.toml"
        toml.parent.mkdir()
        for text in ('mcp_servers = { airlock = { command = "x" } }\n',
                     'mcp_servers.airlock.command = "x"\n', "a = \n"):
            toml.write_text(text)
            self.assertIn("was left alone: ", self.install("codex", "-y", code=1).stderr)
            self.assertEqual(toml.read_text(), text)

    def test_owner(self):
        """another user's file is left alone"""
        if os.geteuid():
            self.skipTest("only root can give a file away")
        path = self.root / ".mcp.json"
        path.write_text("{}")
        os.chown(path, 12345, -1)
        self.assertIn("is another user's", self.install("claude-code", "-y", code=1).stderr)
        self.assertEqual(path.read_text(), "{}")

    def test_size(self):
        """16 MiB can be read, and not a byte more"""
        path = self.root / ".mcp.json"
        limit = 16 * 1024 * 1024
        for size in (limit - 1, limit, limit + 1):
            path.write_text("{}" + " " * (size - 2))
            done = self.install("claude-code", "-y", code=int(size > limit))
            self.assertEqual("is larger than 16 MiB" in done.stderr, size > limit)

    def test_link(self):
        """a file that is a link is written where the link leads, and stays a link"""
        real = self.home / "dotfiles/mcp.json"
        real.parent.mkdir()
        real.write_text("{}\n")
        path = self.home / ".cursor/mcp.json"
        path.parent.mkdir()
        path.symlink_to("../dotfiles/mcp.json")
        done = self.install("cursor", "--user", "-y")
        self.assertIn(f"{path} leads to {real}\n", done.stdout)
        self.assertTrue(path.is_symlink())
        self.assertIn("airlock", json.loads(real.read_text())["mcpServers"])
        self.install("cursor", "--user", "-y", "--remove")
        self.assertEqual((path.is_symlink(), real.read_text()), (True, "{}\n"))
        real.unlink()
        self.assertIn("cannot follow", self.install("cursor", "--user", "-y", code=1).stderr)

    def test_linked_directory(self):
        """a file in a directory that is a link is made and written where the link leads"""
        real = self.home / "dotfiles/cursor"
        real.mkdir(parents=True)
        (self.home / ".cursor").symlink_to("dotfiles/cursor")
        path = self.home / ".cursor/mcp.json"
        for before in (None, '{"mcpServers": {}}\n'):
            if before:
                (real / "mcp.json").write_text(before)
            done = self.install("cursor", "--user", "-y")
            self.assertIn(f"{path} leads to {real / 'mcp.json'}\n", done.stdout)
            self.assertIn("airlock", json.loads((real / "mcp.json").read_text())["mcpServers"])
            self.install("cursor", "--user", "-y", "--remove")
            self.assertTrue((self.home / ".cursor").is_symlink())
        real.rename(self.home / "elsewhere")
        self.assertIn("cannot", self.install("cursor", "--user", "-y", code=1).stderr)
        self.assertFalse(real.exists())

    def ask(self, answer, *words, meanwhile=None):
        """The command on a terminal, with this answer."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.Popen([harness.AIRLOCK, "install", *words], env=self.env,
                                   cwd=self.root, stdin=slave, stdout=slave, stderr=slave,
                                   start_new_session=True)
        os.close(slave)
        shown = b""
        while not shown.endswith(b"? [y/N] "):
            shown += os.read(master, 4096)
        if meanwhile:
            meanwhile()
        os.write(master, answer)
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:
                data = b""
            if not data:
                return process.wait(), shown.decode().replace("\r\n", "\n")
            shown += data

    def test_terminal(self):
        """it asks on a terminal; without one and without --yes nothing is written"""
        path = self.root / ".mcp.json"
        done = self.install("claude-code", code=1)
        self.assertIn("no terminal", done.stderr)
        self.assertFalse(path.exists())
        for answer in (b"n\n", b"\n", b"yellow\n"):
            self.assertEqual(self.ask(answer, "claude-code")[0], 1)
            self.assertFalse(path.exists())
        code, shown = self.ask(b"y\n", "claude-code")
        self.assertEqual(code, 0, shown)
        self.assertTrue(path.exists())

    def test_changed_meanwhile(self):
        """a file that changes, appears or goes while the question is open is not overwritten"""
        path = self.root / ".mcp.json"
        code, shown = self.ask(b"y\n", "claude-code", meanwhile=lambda: path.write_text("{ }"))
        self.assertEqual((code, path.read_text()), (1, "{ }"), shown)
        self.assertIn("was made meanwhile", shown)
        code, shown = self.ask(b"y\n", "claude-code", meanwhile=lambda: path.write_text("{  }"))
        self.assertEqual((code, path.read_text()), (1, "{  }"), shown)
        self.assertIn("was changed meanwhile", shown)
        code, shown = self.ask(b"y\n", "claude-code", meanwhile=path.unlink)
        self.assertEqual((code, path.exists()), (1, False), shown)

    def test_rules(self):
        """--with-rules denies git in the client's shell and allows the reading tools"""
        path = self.root / ".claude/settings.json"
        path.parent.mkdir()
        text = '{\n  "permissions": {\n    "deny": ["Bash(rm *)"],\n    "allow": []\n  }\n}\n'
        path.write_text(text)
        self.install("claude-code", "-y", "--with-rules", "--toolset", "git")
        rules = json.loads(path.read_text())["permissions"]
        self.assertEqual(rules["deny"], ["Bash(rm *)", "Bash(git *)"])
        self.assertIn("mcp__airlock__git_status", rules["allow"])
        self.assertNotIn("mcp__airlock__git_commit", rules["allow"])
        self.install("claude-code", "-y", "--remove")
        self.assertEqual(path.read_text(), text)
        self.assertFalse((self.root / ".mcp.json").exists())
        # One that a later installation did not add is the user's, too.
        allowed = []
        for toolset in "git", "staging":
            self.install("claude-code", "-y", "--with-rules", "--toolset", toolset)
            allowed.append(json.loads(path.read_text())["permissions"]["allow"])
        own = min(set(allowed[0]) - set(allowed[1]))
        path.write_text(path.read_text().replace('"allow": [', f'"allow": ["{own}", '))
        self.install("claude-code", "-y", "--remove")
        self.assertEqual(json.loads(path.read_text())["permissions"], {"deny": ["Bash(rm *)"], "allow": [own]})
        # What it denies the user may have allowed, which stays so when the file was edited since.
        for text in ('{"permissions": {"allow": ["Bash(git *)"]}}',
                     '{\n  "permissions": {\n    "allow": [\n      "Bash(git *)"\n    ]\n  }\n}\n'):
            path.write_text(text)
            self.install("claude-code", "-y", "--with-rules", "--toolset", "git")
            text = path.read_text()
            self.assertEqual(json.loads(text)["permissions"]["deny"], ["Bash(git *)"])
            path.write_text(text.replace('"mcp__airlock__git_log"', '"Read(*)", "mcp__airlock__git_log"'))
            self.install("claude-code", "-y", "--remove")
            self.assertEqual(json.loads(path.read_text()), {"permissions": {"allow": ["Bash(git *)", "Read(*)"]}})
        path.unlink()
        # Rules that the user wrote are the user's.
        path.write_text('{"permissions": {"deny": ["Bash(git *)"]}}')
        self.install("claude-code", "-y")
        self.install("claude-code", "-y", "--remove")
        self.assertEqual(path.read_text(), '{"permissions": {"deny": ["Bash(git *)"]}}')

    def test_rules_offered(self):
        """the rules are offered where they can be written, and r writes them after they are shown"""
        path = self.root / ".claude/settings.json"
        done = self.install("claude-code", "-y")
        self.assertIn("--with-rules denies it that", done.stdout)
        self.assertFalse(path.exists())
        self.install("claude-code", "-y", "--remove")
        self.assertNotIn("--with-rules", self.install("zed", "-y").stdout)
        code, shown = self.ask(b"r\ny\n", "claude-code")
        self.assertEqual(code, 0, shown)
        self.assertEqual(shown.count("? [y/N] "), 2)
        self.assertIn(f"+++ {path}\n", shown)
        self.assertIn("Bash(git *)", path.read_text())
        self.assertTrue((self.root / ".mcp.json").exists())

    def test_project_entry(self):
        """nothing of this place is in a project's entry; explicit roots are, beside the project's"""
        other = self.base / "other"
        other.mkdir()
        path = self.root / ".mcp.json"
        self.install("claude-code", "-y")
        self.assertNotIn(str(self.root), path.read_text())
        self.install("claude-code", "-y", "--root", ".", "--root", str(other))
        self.assertEqual(self.entry("claude-code", path)[0]["args"],
                         ["serve", "--root", ".", "--root", str(other)])
        self.install("claude-code", "-y", "--remove")
        self.assertFalse(path.exists())

    def test_committed(self):
        """it says whether git will take the file along"""
        self.assertIn(".zed/settings.json will be committed with your next commit of everything.\n",
                      self.install("zed", "--print").stdout)
        self.write(".gitignore", ".zed/\n")
        self.assertIn("is ignored by .gitignore:1 .zed/; it will not be committed.\n",
                      self.install("zed", "-y").stdout)
        self.assertNotIn("committed", self.install("zed", "--user", "-y").stdout)

    def test_wrong_words(self):
        """wrong words are refused"""
        names = " ".join(sorted(USER))
        self.assert_usage(f"install needs one client: {names}", "install")
        self.assert_usage(f"install needs one client: {names}", "install", "zed", "cursor")
        self.assert_usage("unknown client 'curser'; did you mean cursor?", "install", "curser")
        self.assert_usage(f"unknown client 'emacs'; there are: {names}", "install", "emacs")
        self.assert_usage("--user is for every repository, so it takes no --root", "install", "zed",
                          "--user", "--root", ".")
        self.assert_usage("--with-rules is not supported for Zed", "install", "zed", "--with-rules")

    def test_hostile_text(self):
        """what the file has is made safe before it is shown"""
        path = self.root / ".mcp.json"
        path.write_text('{\n  // \x1b[2J\u202e\n}\n')
        done = self.install("claude-code", "-y")
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("<U+202E>", done.stdout)
        self.assertIn("\x1b[2J\u202e", path.read_text())


class Doctor(Program):
    def setUp(self):
        super().setUp()
        if "ASAN_OPTIONS" in os.environ:
            self.skipTest("a sanitizer needs more address space than a server gets")
        self.init()

    def found(self):
        done = self.run_it("doctor", "--json")
        findings = [(entry["check"], entry["level"], entry["state"])
                    for entry in json.loads(done.stdout) if entry["check"] in USER]
        return done.returncode, findings

    def test_installed(self):
        """each entry is started as its client would start it, and its tools are counted"""
        for client in USER:
            self.run_it("install", client, "-y")
        code, findings = self.found()
        self.assertEqual(code, 0, findings)
        self.assertEqual([name for name, _, _ in findings], sorted(USER))
        for name, level, state in findings:
            self.assertEqual(level, "ok")
            self.assertRegex(state, r": 20\d\d-\d\d-\d\d, \d+ tools$", name)

    def test_other_tree(self):
        """an entry that is copied with an absolute root of another tree is named"""
        other = self.base / "other"
        other.mkdir()
        path = self.root / ".mcp.json"
        for root, level in ((str(other), "warning"), ("..", "warning"), (str(self.root), "ok"),
                            (".", "ok")):
            path.write_text(json.dumps({"mcpServers": {"airlock": {
                "command": harness.AIRLOCK, "args": ["serve", "--root", root]}}}))
            code, findings = self.found()
            self.assertEqual((code, findings[0][1]), (0, level), findings)
            self.assertEqual("another working tree" in findings[0][2], level == "warning")

    def test_cannot_start(self):
        """an entry that cannot start is named, and doctor fails"""
        path = self.home / ".cursor/mcp.json"
        path.parent.mkdir()
        for entry, words in (({"command": "/nonexistent/airlock"}, "there is no program"),
                             ({"command": harness.AIRLOCK, "args": ["serve", "--no"]}, "exit code"),
                             ({"url": "http://127.0.0.1/"}, "names no command")):
            path.write_text(json.dumps({"mcpServers": {"airlock": entry}}))
            code, findings = self.found()
            self.assertEqual((code, findings[0][1]), (1, "missing"), findings)
            self.assertIn(words, findings[0][2])

    def test_hostile_project(self):
        """nothing of a repository's choosing is started: the client's own start is the control"""
        canary = self.base / "canary"
        script = self.write("evil.sh", f"#!/bin/sh\ntouch {canary}\n", self.base)
        script.chmod(0o755)
        evil = self.write("evil.toml", '[mcp.servers.evil]\nconfine = false\n'
                          f'command = ["{script}"]\n', self.base)
        path = self.root / ".mcp.json"
        for command in ([str(script)], [harness.AIRLOCK, "serve", "--config", str(evil)]):
            with subprocess.Popen(command, env=self.env, cwd=self.root, bufsize=0,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL) as control:
                with contextlib.suppress(BrokenPipeError):  # the script reads nothing
                    control.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
                control.stdout.readline()  # a server may end as soon as its input does
            path.write_text(json.dumps({"mcpServers": {"airlock": {"command": command[0],
                                                                  "args": command[1:]}}}))
            self.assertTrue(canary.exists(), command)
            canary.unlink()
            _, findings = self.found()
            self.assertEqual(findings[0][1], "warning", findings)
            self.assertIn("was not tried", findings[0][2])
            self.assertFalse(canary.exists())


if __name__ == "__main__":
    harness.main()
