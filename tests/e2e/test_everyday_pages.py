#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: limits, cursors and spellings, which are the same for every tool that reads."""
import json
import os
import re
import subprocess

import everyday
import harness

LARGE = bool(os.environ.get("AIRLOCK_LARGE"))
FILES = 100_000 if LARGE else 20_000

CURSOR = re.compile(r' go on with cursor "([0-9a-f]{16})"$')


class Case(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()

    def server(self):
        return harness.Server(self, "--toolset", "everyday")

    def pages(self, server, tool, arguments):
        """All pages of an answer, without their last lines; each is within its limit."""
        result, pages = server.ok(tool, arguments), []
        while True:
            text = result.text
            self.assertLessEqual(len(text.encode()), arguments.get("max_bytes", 30000))
            found = CURSOR.search(text)
            if not found:
                return pages + [text]
            body, _, tail = text.rpartition("\n")
            self.assertTrue(tail.startswith("-- "), tail)
            pages.append(body)
            required = {name: arguments[name] for name in ("pattern", "path") if name in arguments}
            if tool == "git_show":
                required = {}
            result = server.ok(tool, required | {"cursor": found[1],
                                                 "max_bytes": arguments.get("max_bytes", 30000)})


class Pages(Case):
    def test_every_tool(self):
        """pages together are the whole answer, for every tool that reads"""
        for i in range(60):
            self.commit(f"dir/f{i:02}.txt", "".join(f"line {i} {n}\n" for n in range(9)), f"commit {i}")
        for i in range(45):
            self.write(f"dir/f{i:02}.txt", "".join(f"line {i} {n} x\n" for n in range(9)))
        server = self.server()
        for tool, arguments in (
                ("git_status", {}), ("git_diff", {}), ("git_diff", {"stat": True}),
                ("git_diff", {"hunks": True}), ("git_log", {"max_count": 100}),
                ("git_log", {"max_count": 100, "stat": True}),
                ("git_log", {"max_count": 100, "patch": True}), ("git_show", {"path": "dir"}),
                ("git_grep", {"pattern": "line"}), ("git_grep", {"pattern": "l", "files_only": True})):
            pages = self.pages(server, tool, arguments | {"max_bytes": 1200})
            whole = server.ok(tool, arguments | {"max_bytes": 200000}).text
            self.assertGreater(len(pages), 1, (tool, arguments))
            lines = [line for page in pages for line in page.splitlines()
                     if not line.endswith(", continued") and line]
            self.assertEqual(lines, [line for line in whole.splitlines() if line], (tool, arguments))

    def test_one_file(self):
        """a file larger than a page is continued inside; no line is cut"""
        self.write("a.txt", "".join(f"{n} {'x' * 60}\n" for n in range(400)))
        self.git("commit", "-qam", "large")
        server = self.server()
        for tool, arguments in (("git_show", {}), ("git_show", {"path": "a.txt"}),
                                ("git_blame", {"path": "a.txt"})):
            pages = self.pages(server, tool, arguments | {"max_bytes": 5000})
            self.assertGreater(len(pages), 4)
            if arguments == {}:
                self.assertEqual({page.split("\n")[0] for page in pages[1:]}, {"--- a.txt, continued"})
            numbers = re.findall(r"(?m)^(?:\+|\d+\t)?(\d+) x{60}$", "\n".join(pages))
            self.assertEqual(numbers, [str(n) for n in range(400)], tool)

    def test_one_line(self):
        """a line larger than a page is cut inside, and the answer says so"""
        self.commit("long", "y" * 5000 + "\n", "long")
        server = self.server()
        result = server.ok("git_show", {"path": "long", "max_bytes": 1000})
        self.assertIn("-- cut in the middle of a line -- ", result.text)
        pages = self.pages(server, "git_show", {"path": "long", "max_bytes": 1000})
        self.assertEqual("".join(pages), "y" * 5000)

    def test_what_is_left(self):
        """the last line names the files that are not shown, unless the page begins with them"""
        for i in range(12):
            self.write(f"f{i:02}", "x\n" * 40)
        self.git("add", "-A")
        server = self.server()
        text = server.ok("git_diff", {"staged": True, "max_bytes": 1500}).text
        self.assertRegex(text.splitlines()[-1],
                         r'^-- \d+ of 12 files not shown -- go on with cursor "[0-9a-f]{16}"$')
        self.assertEqual(text.count("f11"), 1)
        text = server.ok("git_diff", {"cursor": CURSOR.search(text)[1], "staged": True,
                                      "max_bytes": 1500}).text
        self.assertRegex(text.splitlines()[-1],
                         r"^-- \d+ of 12 files not shown: f\d\d \+40 -0, .*, f11 \+40 -0 -- go on with "
                         r'cursor "[0-9a-f]{16}"$')

    def test_max_count(self):
        """git_log and git_grep: the limit makes a page too"""
        for i in range(5):
            self.commit("b", f"{i}\n", f"commit {i}")
        server = self.server()
        text = server.ok("git_log", {"max_count": 2}).text
        self.assertIn("-- 4 more commits -- ", text)
        text = server.ok("git_log", {"cursor": CURSOR.search(text)[1]}).text
        self.assertEqual([line.split("  ")[1] for line in text.splitlines()[:2]],
                         ["commit 2", "commit 1"])
        self.assertIn("-- 2 more commits -- ", text)

    def test_limits(self):
        """max_bytes: 1,000 to 200,000"""
        for tool, more in (("git_status", {}), ("git_diff", {}), ("git_log", {}), ("git_show", {}),
                           ("git_grep", {"pattern": "x"}), ("git_blame", {"path": "a.txt"})):
            for bytes_ in (999, 200001, "many"):
                self.fails("BadArgs", "max_bytes", tool, more | {"max_bytes": bytes_})
            for bytes_ in (1000, 200000, "1000"):
                self.says(tool, more | {"max_bytes": bytes_})


class OneCall(Case):
    """`airlock call`: no later call could use a cursor, so the answer names what shows more."""

    def tail(self, tool, **arguments):
        result = self.call(tool, arguments, "--toolset", "everyday")
        self.assertFalse(result.failed, result)
        return result.text.splitlines()[-1]

    def test_more(self):
        """the argument that it names shows the rest"""
        self.commit("f", "".join(f"line {n} of many\n" for n in range(20_000)), "large")
        self.commit("g", "x\n", "second")
        self.assertEqual(self.tail("git_log", max_count=1), "-- 2 more commits -- a larger max_count shows more")
        self.assertIn("second", self.call("git_log", {"max_count": 2}, "--toolset", "everyday").text)
        self.assertRegex(self.tail("git_show", path="f", max_bytes=1000), r"^-- .* -- max_bytes=200000 shows more$")
        self.assertRegex(self.tail("git_show", path="f", max_bytes=200000),
                         r"^-- .* -- max_bytes cannot be larger; ask for a part$")


class Search(Case):
    """git_log changed: 1,300 commits, of which each hundredth adds `needle`.  A pipe in the place of a
    commit or file makes git wait, so that a search runs out of time there."""

    def setUp(self):
        super().setUp()
        lines = []
        for n in range(1300):
            name = "g" if n % 100 == 99 else "f"
            text = f"needle {n}\n" * (n // 100 + 1) if name == "g" else f"{n}\n"
            message = f"commit {n}\n"
            lines.append(f"commit refs/heads/main\nmark :{n + 1}\n"
                         f"committer T <t@example.org> {1700000000 + n} +0000\n"
                         f"data {len(message)}\n{message}" +
                         ("from refs/heads/main^0\n" if not n else "") +
                         f"M 644 inline {name}\ndata {len(text)}\n{text}\n")
        self.git("-c", "fastimport.unpackLimit=100000", "fast-import", "--quiet",
                 stdin="".join(lines).encode())
        self.git("reset", "-q", "--hard")
    def block(self, rev, where=None):
        """The pipe in the place of an object; gives how to end it."""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("[tools.git]\ntimeout_ms = 4000\n", encoding="utf-8")
        oid = self.out("rev-parse", rev).strip()
        path = self.root / ".git/objects" / oid[:2] / oid[2:]
        content = path.read_bytes()
        super().block(oid, where)
        return lambda: (path.unlink(), path.write_bytes(content))

    @staticmethod
    def found(text):
        return [int(n) for n in re.findall(r"  commit (\d+)", text)]

    def test_files(self):
        """out of time at a file: what was found, and a cursor that goes on there"""
        end = self.block("main~249:f")
        server = self.server()
        text = server.ok("git_log", {"changed": "needle"}).text
        self.assertEqual(self.found(text), [1299, 1199, 1099])
        self.assertRegex(text, r"\n-- out of time: older ones are not searched yet "
                               r"-- go on with cursor \"\w+\"$")
        cursor = CURSOR.search(text)[1]
        result = server.call("git_log", {"cursor": cursor})
        self.assertEqual(result.kind, "Timeout", result)  # no further than before
        end()
        text = server.ok("git_log", {"cursor": cursor}).text
        self.assertEqual(self.found(text), list(range(999, 0, -100)))

    def test_steps(self):
        """a cursor does not search again what was searched, and what moved is said"""
        end = self.block("main~700")
        server = self.server()
        text = server.ok("git_log", {"changed": "needle", "stat": True}).text
        self.assertEqual(text.count("needle") + text.count("    commit"), 5)
        self.assertIn("-- out of time after 500 commits: ", text)
        cursor = CURSOR.search(text)[1]
        end()
        end = self.block("main~99:f")  # in the first step
        rest = server.ok("git_log", {"cursor": cursor}).text
        end()
        self.assertEqual(text.split("\n-- ")[0] + "\n" + rest,
                         server.ok("git_log", {"changed": "needle", "stat": True}).text)
        self.commit("later", "x\n", "later")
        result = server.call("git_log", {"cursor": cursor})
        self.assertIn("the repository has changed since, and what follows would not fit", result.text)
        self.assertEqual(result.kind, "BadArgs")

    def test_pages(self):
        """pages of a search are those of one answer, with all its filters"""
        server = self.server()
        for arguments in ({}, {"regex": True}, {"patch": True}, {"paths": ["g"]}, {"all": True},
                          {"first_parent": True}, {"range": "main~1250..main"},
                          {"grep": "commit [0-9]*99"}, {"until": "main~150"},
                          {"changed": "nothing"}):
            arguments = {"changed": "needle"} | arguments
            whole = server.ok("git_log", arguments | {"max_count": 1000}).text
            text = server.ok("git_log", arguments | {"max_count": 2}).text
            pages = []
            while found := CURSOR.search(text):
                pages.append(text.split("\n-- ")[0])
                text = server.ok("git_log", {"cursor": found[1]}).text
            self.assertEqual("\n".join([*pages, text]), whole, arguments)
        self.assertEqual(len(pages), 0)

    def test_nothing(self):
        """nothing was found in time: that is no answer yet"""
        end = self.block("main~600")
        server = self.server()
        text = server.ok("git_log", {"changed": "nothing of it"}).text
        self.assertRegex(text, r"\A-- out of time after 500 commits: .* -- go on with cursor")
        end()
        self.assertEqual(server.ok("git_log", {"cursor": CURSOR.search(text)[1]}).text,
                         "No more commits match.")
        end = self.block("main~199:f")
        self.assertEqual(server.call("git_log", {"changed": "nothing of it"}).kind, "Timeout")
        text = self.says("git_log", {"changed": "needle"})
        end()
        self.assertEqual(self.found(text), [1299, 1199])
        self.assertTrue(text.endswith("\n-- out of time: older ones are not searched yet -- "
                                      "since, paths or a range leave less to search"), text)


class Cursors(Case):
    def setUp(self):
        super().setUp()
        for i in range(30):
            self.commit(f"f{i:02}", "x\n" * 20, f"commit {i}")
            self.write(f"f{i:02}", "y\n" * 20)

    def cursor(self, server, tool="git_diff", **arguments):
        return CURSOR.search(server.ok(tool, arguments | {"max_bytes": 1000}).text)[1]

    def test_stale(self):
        """a cursor says so when what was shown has changed"""
        server = self.server()
        cursor = self.cursor(server)
        self.write("f29", "changed after the place of the cursor\n")
        stale = self.cursor(server)
        self.write("f00", "changed before it\n")
        result = server.call("git_diff", {"cursor": cursor})
        self.assertEqual(result.kind, "BadArgs", result)
        self.assertIn("the repository has changed since, and what follows would not fit", result.text)
        self.assertIn("again without cursor", result.text)
        self.git("checkout", "-q", ".")
        self.assertEqual(server.call("git_diff", {"cursor": stale}).kind, "BadArgs")
        log = self.cursor(server, "git_log", max_count=5)
        self.commit("new", "n\n", "new")
        self.assertEqual(server.call("git_log", {"cursor": log}).kind, "BadArgs")

    def test_foreign(self):
        """a cursor of another session, another tool, or of nobody"""
        server = self.server()
        cursor = self.cursor(server)
        for other, tool, word, words in (
                (self.server(), "git_diff", cursor, "not of this session"),
                (server, "git_log", cursor, "it goes on with git_diff, not with git_log"),
                (server, "git_diff", "0" * 16, "not of this session"),
                (server, "git_diff", "", "not of this session"),
                (server, "git_diff", cursor[:-1], "not of this session")):
            result = other.call(tool, {"cursor": word})
            self.assertEqual(result.kind, "BadArgs", result)
            self.assertIn(words, result.text)
        server.ok("git_diff", {"cursor": cursor})
        self.assertEqual(server.call("git_diff", {"cursor": 5}).kind, "BadArgs")

    def test_other_arguments(self):
        """a cursor goes on with the arguments it has; the same ones may be given again"""
        server = self.server()
        cursor = self.cursor(server, paths=["f*"])
        alone = server.ok("git_diff", {"cursor": cursor}).text.splitlines()[:-1]
        again = server.ok("git_diff", {"cursor": cursor, "paths": ["f*"]}).text.splitlines()[:-1]
        self.assertEqual(alone, again)
        for other in ({"paths": ["f1*"]}, {"staged": True}, {"working_dir": "."}, {"unknown": 1}):
            result = server.call("git_diff", {"cursor": cursor} | other)
            self.assertEqual(result.kind, "BadArgs", (other, result))


class Spellings(Case):
    def test_camel_case(self):
        """a camelCase spelling is taken; both at once are refused"""
        self.assertEqual(self.says("git_log", {"maxCount": 1, "firstParent": True, "workingDir": "."}),
                         self.says("git_log", {"max_count": 1}))
        self.fails("BadArgs", "'max_count' and 'maxCount' are the same parameter", "git_log",
                   {"max_count": 1, "maxCount": 1})
        self.fails("BadArgs", "are the same parameter", "git_status",
                   {"working_dir": ".", "cwd": "."})

    def test_unknown(self):
        """an unknown parameter is refused, with the nearest name"""
        self.fails("BadArgs", "unknown parameter 'max_cuont'; did you mean 'max_count'?", "git_log",
                   {"max_cuont": 1})
        for tool, word in (("git_log", "timeout_ms"), ("git_status", "rev")):
            result = self.fails("BadArgs", f"unknown parameter '{word}'", tool, {word: 1})
            self.assertNotIn("did you mean", result.text)

    def test_unknown_revision(self):
        """a word for a revision is answered with the parameter that takes one"""
        for tool, word, meant in (("git_diff", "rev", "from"), ("git_diff", "commit", "from"),
                                  ("git_reset", "rev", "to"), ("git_show", "commit", "rev")):
            self.fails("BadArgs", f"unknown parameter '{word}'; did you mean '{meant}'?", tool,
                       {word: "HEAD"})

    def test_misfit(self):
        """arguments that do not fit together are answered with the ones that do"""
        result = self.fails("BadArgs", "create makes one", "git_switch",
                            {"branch": "x", "create": True, "rev": "HEAD"})
        self.assertIn("from is where create begins a new branch", result.text)
        result = self.fails("BadArgs", "name has no meaning for action list", "git_tag",
                            {"name": "v9"})
        self.assertIn("Give action create to make the tag", result.text)
        self.assertEqual(self.out("tag", "-l", "v9"), "")

    def test_checkout(self):
        """git_checkout, which this toolset does not have, is answered with what it has"""
        server = harness.Server(self, "--toolset", "everyday")
        server.ask("git_checkout", {"branch": "main"})
        error = server.receive()["error"]
        self.assertEqual((error["code"], error["message"]),
                         (-32602, "Unknown tool: git_checkout; did you mean git_switch or "
                                  "git_restore?"))
        server = harness.Server(self, "--toolset", "readonly")
        server.ask("git_checkout", {"branch": "main"})
        self.assertEqual(server.receive()["error"]["message"], "Unknown tool: git_checkout")

    def test_parents(self):
        """leading '..' components that stay inside are taken, others are refused"""
        self.commit("d/e/f.txt", "f\n", "deep")
        for given in ("../../a.txt", "./../../a.txt", "..//../a.txt"):
            self.assertIn("first", self.says("git_log", {"paths": [given], "working_dir": "d/e"}))
        self.assertEqual(self.says("git_grep", {"pattern": "f", "paths": [".."], "working_dir": "d/e"}),
                         "f.txt\n1: f")
        for given in ("../../../x", "../../..", "../../../root/a.txt"):
            self.fails("SandboxViolation", "outside the working tree", "git_log",
                       {"paths": [given], "working_dir": "d/e"})
        for given in ("d/../a.txt", "../e/../f.txt"):
            self.fails("SandboxViolation", "..", "git_log", {"paths": [given], "working_dir": "d"})

    def test_list(self):
        """tools/list: no output schemas, and working_dir on every tool"""
        done = subprocess.run([harness.AIRLOCK, "tools", "--json", "--toolset", "everyday"],
                              capture_output=True, check=True)
        for tool in json.loads(done.stdout):
            self.assertNotIn("outputSchema", tool)
            self.assertIn("working_dir", tool["inputSchema"]["properties"], tool["name"])


class Large(Case):
    def test_many_files(self):
        """20,000 changed files (100,000 with AIRLOCK_LARGE): small answers"""
        blob = self.git("hash-object", "-w", "a.txt").stdout.strip()
        tree = b"".join(b"100644 blob %s\tmany/%03d/f%05d\n" % (blob, i // 200, i)
                        for i in range(FILES))
        self.git("update-index", "--index-info", stdin=tree)
        for tool, arguments in (("git_status", {}), ("git_diff", {"staged": True}), ("git_diff", {})):
            text = self.says(tool, arguments)
            self.assertLessEqual(len(text.encode()), 30000)
            self.assertIn(f"{FILES:,}", text)

    def test_large_diff(self):
        """a diff of 8 MB (200 MB with AIRLOCK_LARGE): in pages, staged whole, taken back"""
        size = (200 if LARGE else 8) << 20
        line = b"a line of sixty-four bytes, which is repeated very many times.\r\n"
        old, new = line * (size // 2 // 64), line.upper() * (size // 2 // 64)
        self.commit("big.txt", old, "big")
        self.write("big.txt", new)
        before = self.snapshot()
        server = everyday.Server(self)
        text = server.ok("git_diff").text
        self.assertLessEqual(len(text.encode()), 30000)
        cursor = CURSOR.search(text)[1]
        more = server.ok("git_diff", {"cursor": cursor}).text
        self.assertLessEqual(len(more.encode()), 30000)
        self.assertIsNotNone(CURSOR.search(more))
        numbers = f"+{len(new) // 64} -{len(old) // 64}"
        self.assertIn(numbers, server.ok("git_diff", {"stat": True}).text)
        self.assertLessEqual(len(server.ok("git_diff", {"hunks": True}).text.encode()), 30000)
        result = server.call("git_add", {"hunks": ["00000000"]})
        self.assertEqual(result.kind, "BadArgs", result)
        self.assertEqual(self.snapshot(), before)
        server.ok("git_add", {"paths": ["big.txt"]})
        server.ok("git_restore", {"paths": ["."], "staged": True})
        self.assertEqual(self.snapshot(), before)
        server.ok("git_restore", {"paths": ["big.txt"]})
        self.assertEqual((self.root / "big.txt").read_bytes(), old)
        server.ok("git_undo")
        self.assertEqual((self.root / "big.txt").read_bytes(), new)


harness.main()
