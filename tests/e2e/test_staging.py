#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The toolset staging: git_status, git_stage, git_diff, git_discard, and `airlock staging`."""
import json
import os
import signal
import subprocess

import harness
import staging
import test_words


class Tools(staging.Staging):
    def test_status_layout(self):
        """git_status: groups, sizes and staged commits as they are laid out, byte for byte"""
        server = self.serve()
        self.assertEqual(self.status(server), "Sandbox Status:\n  No changes")
        for name in ("gone.txt", "analysis.json", "report.md"):
            self.put(server, name, "old\n")
        first = self.stage(server, "", message="Base\n\nwith a body")["id"][:8]
        self.put(server, "report.md", "x" * 1229)
        self.put(server, "analysis.json", "x" * 819)
        self.put(server, "charts/revenue.svg", "x" * 2150)
        self.put(server, "tiny", "12\n")
        self.remove(server, "gone.txt")
        changed = ("Sandbox Status:\n"
                   "  Modified:\n"
                   "    /workspace/analysis.json (0.8 KB)\n"
                   "    /workspace/report.md (1.2 KB)\n"
                   "  New:\n"
                   "    /workspace/charts/revenue.svg (2.1 KB)\n"
                   "    /workspace/tiny (3 B)\n"
                   "  Deleted:\n"
                   "    /workspace/gone.txt\n")
        before = ("\nStaged Commits:\n"
                  f'  [{first}] "Base" (3 files)\n'
                  "    + /workspace/analysis.json\n"
                  "    + /workspace/gone.txt\n"
                  "    + /workspace/report.md")
        self.assertEqual(self.status(server), changed + before)
        second = self.stage(server, "gone.txt", message="One less")["id"][:8]
        third = self.stage(server, "", message="The rest")["id"][:8]
        self.assertEqual(self.status(server), "Sandbox Status:\n  No changes\n" + before +
                         f'\n  [{second}] "One less" (1 file)\n'
                         "    - /workspace/gone.txt"
                         f'\n  [{third}] "The rest" (4 files)\n'
                         "    M /workspace/analysis.json\n"
                         "    + /workspace/charts/revenue.svg\n"
                         "    M /workspace/report.md\n"
                         "    + /workspace/tiny")

    def test_status_object(self):
        """git_status: the object is a GitStatus; its text is not JSON"""
        server = self.serve()
        self.put(server, "a", "1\n")
        self.put(server, "b", "1\n")
        staged = self.stage(server, "a", "b")
        self.put(server, "a", "2\n")
        self.remove(server, "b")
        self.put(server, "c", "1\n")
        result = server.ok("git_status")
        self.assertEqual(result.value["structuredContent"], {
            "staged": [staged],
            "unstaged": [{"path": "/workspace/a", "status": "modified"},
                         {"path": "/workspace/b", "status": "deleted"},
                         {"path": "/workspace/c", "status": "new"}]})
        self.assertTrue(result.text.startswith("Sandbox Status:\n"))

    def test_stage(self):
        """git_stage: the result is a StagedCommit, as JSON too; contentHash is git's blob id"""
        server = self.serve()
        self.put(server, "a", "1\n")
        self.put(server, "gone", "1\n")
        self.stage(server, "")
        self.put(server, "a", "22\n")
        self.remove(server, "gone")
        self.put(server, "n/new", "")
        result = server.ok("git_stage", {"files": ["/workspace"], "message": "m\u00fc"})
        made = result.value["structuredContent"]
        self.assertEqual(json.loads(result.text), made)
        self.assert_staged_commit(made, "m\u00fc", ("update", "a"), ("delete", "gone"),
                                  ("create", "n/new"))
        self.assertEqual([file["size"] for file in made["files"]], [3, 0, 0])
        self.assertEqual([file["contentHash"] for file in made["files"]], [
            self.out("hash-object", "--stdin", stdin=b"22\n").strip(), "0" * 40,
            self.out("hash-object", "--stdin", stdin=b"").strip()])

    def test_stage_refused(self):
        """git_stage: what does not exist, is unchanged or lies elsewhere; nothing is staged then"""
        server = self.serve()
        self.put(server, "same", "1\n")
        self.stage(server, "same")
        self.put(server, "new", "1\n")
        before = self.status(server)
        for files, kind, message in (
                (["none"], "ExecutionFailed", "there is no '/workspace/none' in the sandbox"),
                (["same"], "ExecutionFailed",
                 "'/workspace/same' is unchanged, so there is nothing to stage"),
                (["new", "same"], "ExecutionFailed",
                 "'/workspace/same' is unchanged, so there is nothing to stage"),
                (["*.md"], "ExecutionFailed", "no file in the sandbox matches '/workspace/*.md'"),
                (["s*"], "ExecutionFailed",
                 "no file that matches '/workspace/s*' has changed, so there is nothing to stage")):
            server.refused(kind, message, "git_stage",
                           {"files": [f"/workspace/{name}" for name in files], "message": "x"})
        for path, kind in (("/etc/passwd", "SandboxViolation"), ("/workspace/../x", "SandboxViolation"),
                           ("/workspace/.git/config", "SandboxViolation"),
                           ("/workspacex", "SandboxViolation"), ("new", "BadArgs"),
                           ("", "BadArgs"), ("/workspace//new", "BadArgs")):
            result = server.call("git_stage", {"files": [path], "message": "x"})
            self.assertEqual(result.kind, kind, (path, result))
        for arguments in ({"files": [], "message": "x"}, {"files": ["/workspace/new"]},
                          {"message": "x"}, {"files": ["/workspace/new"], "message": ""},
                          {"files": ["/workspace/new"], "message": " \n"},
                          {"files": ["/workspace/new"], "message": "x" * 65537},
                          {"files": ["/workspace/new"] * 1001, "message": "x"},
                          {"files": ["/workspace/new"], "message": "x", "all": True}):
            self.assertEqual(server.call("git_stage", arguments).kind, "BadArgs")
        self.assertEqual(self.status(server), before)
        server.ok("git_stage", {"files": ["/workspace/new"] * 1000, "message": "x" * 65536})

    def test_diff(self):
        """git_diff: one staged commit, or all of them; their names are those of the sandbox"""
        server = self.serve()
        self.assertEqual(server.ok("git_diff").text, "No staged commits")
        self.put(server, "report.md", "# Q4\n\nUp\n")
        first = self.stage(server, "report.md", message='Add "report"\n\nbody')["id"]
        self.put(server, "report.md", "# Q4\n\nDown\n")
        second = self.stage(server, "report.md", message="Correct it")["id"]
        new = (f'Staged commit: {first[:8]} "Add "report""\n'
               "\n--- /dev/null\n+++ /workspace/report.md\n@@ -0,0 +1,3 @@\n+# Q4\n+\n+Up\n")
        changed = (f'Staged commit: {second[:8]} "Correct it"\n'
                   "\n--- a/workspace/report.md\n+++ b/workspace/report.md\n@@ -1,3 +1,3 @@\n"
                   " # Q4\n \n-Up\n+Down\n")
        self.assertEqual(server.ok("git_diff", {"commitId": first}).text, new)
        self.assertEqual(server.ok("git_diff", {"commitId": second[:6]}).text, changed)
        result = server.ok("git_diff")
        self.assertEqual(result.text, new + "\n" + changed)
        self.assertNotIn("structuredContent", result.value)

    def test_diff_cut(self):
        """git_diff: a long one is cut at the cap and says how many files it shows"""
        server = self.serve()
        for name in "abc":
            self.put(server, name, "a line of text\n" * 8000)
        self.stage(server, "")
        result = server.ok("git_diff")
        self.assertTrue(result.meta["truncated"])
        self.assertLessEqual(len(result.text), 200000)
        self.assertTrue(result.text.endswith("\n\n[2 of 3 files, the last one in part]" +
                                             harness.MARKER), result.text[-200:])

    def test_diff_attributes(self):
        """git_diff: attributes that an agent stages neither hide a change nor run anything"""
        server = self.serve()
        self.put(server, ".gitattributes", "* -diff\n*.md diff=evil filter=evil\n*.c binary\n")
        self.put(server, ".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c evil\n')
        self.put(server, "a.md", "one\n")
        self.put(server, "b.c", "two\n")
        self.stage(server, "", message="attributes")
        self.put(server, "a.md", "three\n")
        self.stage(server, "a.md", message="later")
        text = server.ok("git_diff").text
        for line in ("+* -diff\n", "+one\n", "+two\n", "-one\n+three\n", "+\turl = ext::sh"):
            self.assertIn(line, text)

    def test_ids(self):
        """commitId: a unique beginning of six or more; all else is not_found, whatever its form"""
        server = self.serve()
        self.put(server, "a", "1\n")
        made = self.stage(server, "a")["id"]
        for word in (made, made[:6], made[:8].upper(), made[:20]):
            server.ok("git_diff", {"commitId": word})
        for word in ("", made[:5], made + "0", "f" * 40, "HEAD", "--all", "../x", "\u00e4" * 20):
            for tool in ("git_diff", "git_discard"):
                result = server.call(tool, {"commitId": word})
                self.assertEqual((result.kind, result.error["reason"]),
                                 ("ExecutionFailed", "not_found"), (word, result))
        self.assertEqual(server.call("git_discard").kind, "BadArgs")
        self.assertEqual(server.call("git_discard", {"commitId": 123456}).kind, "BadArgs")

    def test_discard(self):
        """git_discard: the commit is gone, its files are changed again, the sandbox is as it was"""
        server = self.serve()
        self.put(server, "a", "1\n")
        self.stage(server, "a", message="stays")
        self.put(server, "a", "2\n")
        made = self.stage(server, "a", message="goes")["id"]
        text = server.ok("git_discard", {"commitId": made[:8]}).text
        self.assertEqual(text, f'Discarded staged commit {made[:8]} "goes"; the files in the '
                               "sandbox stay as they are")
        self.assertIn("  Modified:\n    /workspace/a (2 B)\n", self.status(server))
        self.assertNotIn("goes", self.status(server))
        self.assertEqual(server.ok("read_file", {"path": "/workspace/a"}).text, "2\n")
        self.assertEqual(server.call("git_discard", {"commitId": made}).error["reason"],
                         "not_found")

    def test_message(self):
        """empty lines before the title are left out; a message of nothing else is refused"""
        server = self.serve()
        self.put(server, "a", "1\n")
        for message in ("\n", " \n\t\n", "   "):
            result = server.call("git_stage", {"files": ["/workspace/a"], "message": message})
            self.assertEqual((result.kind, result.text), ("BadArgs", "message must not be empty"))
        made = self.stage(server, "a", message="\n \t\n\n  Title\n\nBody\n")
        self.assertEqual(made["message"], "  Title\n\nBody\n")
        self.assertIn(f'[{made["id"][:8]}] "  Title"', self.status(server))

    def test_frozen(self):
        """what the agent writes later is not part of a staged commit"""
        server = self.serve()
        self.put(server, "a", "staged\n")
        made = self.stage(server, "a")["id"]
        self.put(server, "a", "later\n")
        self.assertIn("+staged\n", server.ok("git_diff", {"commitId": made}).text)

    def test_repository_untouched(self):
        """nothing of it reaches the repository or the root, and nobody is asked"""
        before, objects = self.state(), self.out("count-objects")
        listed = sorted(path.name for path in self.root.iterdir())
        server = harness.Server(self, *staging.TOOLSETS)
        self.put(server, "a", "1\n")
        made = self.stage(server, "a")["id"]
        server.ok("git_diff")
        server.ok("git_status")
        server.ok("git_discard", {"commitId": made})
        self.assertEqual(self.state(), before)
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), listed)
        self.assertEqual(self.out("count-objects"), objects)
        record = self.record()
        self.assertEqual((record["tool"], record["operation"], record["decision"],
                          record["git_commit"]), ("git_discard", "discard", "auto", None), record)

    def test_no_repository(self):
        """the root need not be in a repository"""
        plain = self.base / "plain"
        plain.mkdir()
        self.root = plain
        server = self.serve()
        self.put(server, "a", "1\n")
        self.stage(server, "a", message="kept")
        self.assertIn('"kept"', self.status(server))

    def test_hostile_names(self):
        """names and messages are shown safely"""
        server = self.serve()
        self.put(server, "\u202eevil.md", "1\n")
        self.stage(server, "", message="\x1b[31mred\u202e\nsecond line")
        text = self.status(server)
        self.assertIn("/workspace/<U+202E>evil.md", text)
        for shown in (text, server.ok("git_diff").text):
            self.assertNotIn("\x1b", shown)
            self.assertNotIn("\u202e", shown)
            self.assertNotIn("second line", shown)


class Sessions(staging.Staging):
    def test_restart(self):
        """staged commits survive the server, also one that is killed; a memory sandbox does not"""
        server = self.serve()
        self.put(server, "a", "1\n")
        made = self.stage(server, "a", message="first")
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        server = self.serve()
        self.assertEqual(self.status(server),
                         "Sandbox Status:\n  No changes\n\nStaged Commits:\n"
                         f'  [{made["id"][:8]}] "first" (1 file)\n    + /workspace/a')
        self.assertEqual(server.ok("git_status").value["structuredContent"]["staged"], [made])
        self.assertEqual(server.ok("list_files").text, "no files in /workspace")
        self.put(server, "b", "1\n")
        self.stage(server, "b", message="second")
        self.assertIn("+1\n", server.ok("git_diff", {"commitId": made["id"]}).text)
        server.ok("git_discard", {"commitId": made["id"]})
        self.assertNotIn("first", self.status(server))

    def test_directory(self):
        """the files of a directory are compared with what was staged before the restart"""
        server = self.serve(*self.in_directory)
        self.put(server, "a", "1\n")
        self.stage(server, "a")
        server.close()
        (self.workspace / "a").write_text("2\n", encoding="utf-8")
        (self.workspace / "b").write_text("1\n", encoding="utf-8")
        server = self.serve(*self.in_directory)
        self.assertTrue(self.status(server).startswith(
            "Sandbox Status:\n  Modified:\n    /workspace/a (2 B)\n  New:\n    /workspace/b (2 B)\n"))
        self.stage(server, "*", message="both")
        self.assertIn("No changes", self.status(server))

    def test_directory_modes_and_links(self):
        """an executable file stays one; a symbolic link is not staged"""
        server = self.serve(*self.in_directory)
        self.put(server, "run.sh", "#!/bin/sh\n")
        self.stage(server, "run.sh")
        (self.workspace / "run.sh").chmod(0o755)
        made = self.stage(server, "run.sh")
        self.assertIn("\nold mode 100644\nnew mode 100755\n--- a/workspace/run.sh\n",
                      server.ok("git_diff", {"commitId": made["id"]}).text)
        os.symlink("/etc/passwd", self.workspace / "link")
        self.assertIn("/workspace/link", self.status(server))
        result = server.call("git_stage", {"files": ["/workspace/link"], "message": "x"})
        self.assertTrue(result.text.startswith("'/workspace/link' is a symbolic link; "), result)
        server.close()
        with self.config.open("a", encoding="utf-8") as config:
            config.write("allow_symlinks = true\n")
        server = self.serve(*self.in_directory)
        made = self.stage(server, "link")
        self.assert_staged_commit(made, "x", ("create", "link"))
        self.assertEqual(made["files"][0]["contentHash"],
                         self.out("hash-object", "--stdin", stdin=b"/etc/passwd").strip())
        self.assertEqual(server.ok("git_diff", {"commitId": made["id"]}).text.split("\n", 1)[1],
                         "\nnew file mode 120000\n--- /dev/null\n+++ /workspace/link\n"
                         "@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n")
        self.assertIn("No changes", self.status(server))

    def test_two_servers(self):
        """two servers on one root see each other's staged commits, and only their own changes"""
        one, two = self.serve(), self.serve()
        self.put(one, "a", "1\n")
        self.put(two, "a", "2\n")
        first = self.stage(one, "a", message="of one")["id"]
        self.assertIn("New:\n    /workspace/a", self.status(two))
        self.stage(two, "a", message="of two")
        for server in (one, two):
            text = self.status(server)
            self.assertLess(text.index("of one"), text.index("of two"))
            self.assertIn("No changes", text)
        two.ok("git_discard", {"commitId": first})
        self.assertIn("New:\n    /workspace/a", self.status(one))
        self.assertEqual(one.call("git_discard", {"commitId": first}).error["reason"], "not_found")

    def test_at_the_same_time(self):
        """two servers stage at the same time, and nothing is lost"""
        servers = [self.serve(*self.in_directory) for _ in range(2)]
        for number in range(10):
            (self.workspace / f"f{number}").write_text(f"{number}\n", encoding="utf-8")
        for number in range(10):
            servers[number % 2].ask("git_stage", {"files": [f"/workspace/f{number}"],
                                                  "message": f"m{number}"})
        for number in range(10):
            self.assertNotIn("isError", servers[number % 2].receive()["result"])
        for server in servers:
            staged = server.ok("git_status").value["structuredContent"]
            self.assertEqual(sorted(commit["message"] for commit in staged["staged"]),
                             [f"m{number}" for number in range(10)])
            self.assertEqual(staged["unstaged"], [])

    def test_roots(self):
        """what is staged belongs to the root"""
        server = self.serve()
        self.put(server, "a", "1\n")
        self.stage(server, "a", message="here")
        self.root = self.base / "other"
        self.init(self.root)
        self.assertNotIn("here", self.status(self.serve()))


class Command(staging.Staging):
    def say(self, *words, code=0, cwd=None):
        """`airlock staging`, and what it prints."""
        done = subprocess.run([harness.AIRLOCK, "staging", *words], cwd=cwd or self.root,
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, text=True, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done)
        return done.stderr if code else done.stdout

    def test_nothing(self):
        """a root below which nothing was ever staged: no store is made"""
        self.assertEqual(self.say(), "No staged commits\n")
        self.assertEqual(json.loads(self.say("list", "--json")), {"staged": []})
        self.assertFalse((self.home / ".local/state/airlock/staging").exists())
        self.assertIn("no staged commit 'abcdef'", self.say("show", "abcdef", code=1))

    def test_everything(self):
        """list, show, diff and discard, as text and as objects"""
        server = self.serve()
        self.put(server, "a", "1\n")
        made = self.stage(server, "a", message="Add a\n\nBecause.")
        self.put(server, "b/c", "x" * 2048)
        second = self.stage(server, "b/c", message="Add c")
        short = made["id"][:8]
        day = made["createdAt"][:10]
        listed = self.say().splitlines()
        self.assertEqual(len(listed), 2)
        self.assertRegex(listed[0], rf'^{day} \d\d:\d\d:\d\d UTC  {short} "Add a" \(1 file\)$')
        self.assertEqual(json.loads(self.say("--json")), {"staged": [made, second]})
        self.assertRegex(self.say("show", short),
                         rf"^staged commit {made['id']}\ncreated       {day} .*UTC\n\n"
                         r"    Add a\n    \n    Because\.\n\n  \+ /workspace/a \(2 B\)\n$")
        self.assertEqual(json.loads(self.say("show", second["id"][:6], "--json")),
                         second | {"worker": None, "basedOn": []})
        diff = self.say("diff", short)
        self.assertEqual(diff, server.ok("git_diff", {"commitId": short}).text)
        self.assertEqual(json.loads(self.say("diff", short, "--json")),
                         {"id": made["id"], "diff": diff, "truncated": False})
        self.assertIn(f'Discarded staged commit {short} "Add a"', self.say("discard", short))
        result = json.loads(self.say("discard", second["id"], "--json"))
        self.assertIn('"Add c"', result["content"][0]["text"])
        self.assertEqual(self.say(), "No staged commits\n")
        self.assertIn("New:\n    /workspace/a (2 B)\n    /workspace/b/c (2.0 KB)",
                      self.status(server))

    def test_discard_is_recorded(self):
        """a discard is a line of the journal like that of the tool, and the rules count for it"""
        server = self.serve()
        self.put(server, "a", "1\n")
        made = self.stage(server, "a", message="Add a")["id"]
        self.say("discard", "abcdef", code=1)
        record = self.record()
        self.assertEqual((record["tool"], record["outcome"]), ("git_discard", "error"))
        rule = '[[tools.approval.rule]]\ntool = "git_discard"\ndecision = "deny"\n'
        self.write("deny.toml", rule, self.base)
        self.say("discard", made, "--config", str(self.base / "deny.toml"), code=3)
        self.assertEqual(self.record()["outcome"], "declined")
        self.assertIn("Add a", self.say())
        self.say("discard", made[:8])
        record = self.record()
        self.assertEqual((record["tool"], record["operation"], record["outcome"],
                          record["input"]), ("git_discard", "discard", "ok",
                                             {"commitId": made[:8]}))

    def test_from_below(self):
        """it works anywhere below the root, and with --root from anywhere"""
        server = self.serve()
        self.put(server, "a", "1\n")
        self.stage(server, "a", message="found")
        (self.root / "sub").mkdir()
        self.assertIn("found", self.say(cwd=self.root / "sub"))
        self.assertIn("found", self.say("--root", str(self.root), cwd=self.base))

    def test_call_from_below(self):
        """a call from a directory below the root: no argument is taken for a working directory"""
        (self.root / "sub").mkdir()
        self.assertEqual(self.ok("git_diff", {}, *staging.TOOLSETS, cwd=self.root / "sub").text,
                         "No staged commits")

    def test_open(self):
        """open prints the directory of the sandbox, and fails when it is in memory"""
        self.assertEqual(self.say("open", "--config", str(self.config)), f"{self.workspace}\n")
        self.assertEqual(json.loads(self.say("open", "--json", "--config", str(self.config))),
                         {"path": str(self.workspace)})
        self.assertIn("the sandbox is in memory", self.say("open", code=1))

    def test_wrong(self):
        """wrong words are usage errors"""
        for words, message in ((("shwo",), "did you mean show?"), (("show",), "needs the id"),
                               (("diff", "abcdef", "abcdeg"), "needs the id"),
                               (("list", "x"), "takes no words"), (("open", "x"), "takes no words"),
                               (("--nope",), "--nope")):
            self.assertIn(message, self.say(*words, code=2), words)

    def test_complete(self):
        """completion offers the ids of what is staged"""
        server = self.serve()
        self.put(server, "a", "1\n")
        made = self.stage(server, "a", message="Add a")
        self.assertEqual(test_words.completed(self, "staging", "show", ""), [made["id"][:8]])


if __name__ == "__main__":
    harness.main()
