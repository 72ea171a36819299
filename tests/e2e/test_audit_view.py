#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock log` for users: what was asked for, where, since when, and in a pager."""
import datetime
import json
import os
import pathlib
import tempfile

import harness
import test_audit_log


def noon():
    """A time zone in which it is about noon: no test runs into midnight."""
    hour = datetime.datetime.now(datetime.timezone.utc).hour
    return {"TZ": f"XST{hour - 12:+d}"}


class Views(test_audit_log.Audit):
    terminal = test_audit_log.Table.terminal

    def test_asked(self):
        """the summary of a call that reads says what was asked for"""
        self.ok("git_log", {"max_count": 3, "path": "a.txt", "grep": "x y"})
        self.ok("git_show", {"commit": "HEAD", "stat": True})
        self.ok("git_status")
        first, second, third = self.log().splitlines()
        self.assertTrue(first.endswith(": max_count=3, path=a.txt, grep=x y"), first)
        self.assertTrue(second.endswith("HEAD: stat=true"), second)
        self.assertNotIn("=", third)

    def test_changes(self):
        """that of a call that changes something stays as it was shown"""
        self.call("git_add", {"paths": ["a.txt"]})
        self.assertTrue(self.log().rstrip("\n").endswith("Stage 1 file(s): a.txt"), self.log())

    def test_repositories(self):
        """a column for repositories where there are several, and only there"""
        self.ok("git_status")
        one = self.log()
        self.assertNotIn("REPOSITORY", self.terminal(200))
        for where in (self.base / "other", self.base / "deep/er"):
            self.init(where)
            self.ok("git_status", root=where, cwd=where)
        self.assertEqual(self.log(), one)  # of this repository alone
        cells = [line.split() for line in self.log("--all").splitlines()]
        self.assertEqual([line[8] for line in cells], ["root", "other", "deep/er"], cells)
        self.assertIn("REPOSITORY", self.terminal(200, "--all"))
        self.assertEqual(self.log("--all", "--tool", "git_log"), "")
        self.assertEqual([json.loads(line)["seq"] for line in self.log("--all", "--json").splitlines()],
                         [1, 2, 3])
        self.assertNotEqual(self.log("1"), "")
        self.assertIn(one.split("  ")[2], self.log())
        plain = self.base / "plain"
        plain.mkdir()
        self.call("git_status", root=plain, cwd=plain)  # of none, elsewhere
        self.assertEqual(self.log(), one)
        self.assertEqual(len(self.log("--all").splitlines()), 4)
        self.call("git_status", {"working_dir": "/no/such"})
        self.assertEqual(len(self.log().splitlines()), 2)

    def test_repositories_apart(self):
        """what have only "/" in common are shown by their paths from there"""
        first = self.root.parts[1]
        elsewhere = next(place for place in ("/var/tmp", "/tmp", "/dev/shm") if pathlib.Path(place).resolve().parts[1] != first)
        with tempfile.TemporaryDirectory(dir=elsewhere) as other:
            other = os.path.realpath(other)
            self.init(pathlib.Path(other))
            self.ok("git_status")
            self.ok("git_status", root=other, cwd=other)
        places = [line.split()[8].rstrip("…") for line in self.log("--all").splitlines()]
        self.assertTrue(str(self.root).startswith(places[0]) and other.startswith(places[1]), places)

    def test_since(self):
        """times in git's words; what is none is an error that says so"""
        self.ok("git_status")
        for when in ("yesterday", "today", "Yesterday", "1 hour ago", "1.hour.ago", "2 Hours Ago",
                     "90 minutes ago", "30 seconds ago", "3 days ago", "2 weeks ago", "1 month ago",
                     "1 year ago", "last week", "last year", "2m", "1d", "00:00", "10:59:59"):
            self.assertEqual(len(self.log("--since", when, env=noon()).splitlines()), 1, when)
        for when in ("2999-01-01", "14:00"):
            self.assertEqual(self.log("--since", when, env=noon()), "", when)
        for bad in ("tomorrow", "gestern", "ago", "1 ago", "hour ago", "1 hour", "1 hours before",
                    "last", "last tuesday", "yesterday evening", "1 fortnight ago", "-1 day ago",
                    "99999999 days ago", "1 m ago", ".", "25:00", "12:3x"):
            done = self.command("log", "--since", bad)
            self.assertEqual((done.returncode, done.stdout), (2, ""), bad)
            self.assertIn(f"not '{bad}'", done.stderr)

    def test_boundaries(self):
        """a time counts to the second, from the beginning of the day"""
        self.ok("git_status")
        path = self.state_dir / "tool_log.jsonl"
        line = json.loads(path.read_text(encoding="utf-8"))
        now = datetime.datetime.now(datetime.timezone.utc)
        for ago, since, shown in ((59, "1 hour ago", 1), (61, "1 hour ago", 0),
                                  (23 * 60, "1 day ago", 1), (25 * 60, "1 day ago", 0),
                                  (60, "today", 1), (13 * 60, "today", 0),
                                  (13 * 60, "yesterday", 1), (35 * 60, "yesterday", 1),
                                  (37 * 60, "yesterday", 0)):
            time = now - datetime.timedelta(minutes=ago)
            line["time"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z")
            path.write_text(json.dumps(line) + "\n", encoding="utf-8")
            self.assertEqual(len(self.log("--since", since, env=noon()).splitlines()), shown,
                             (ago, since))

    def test_options(self):
        """an unknown option names the nearest of the log's own"""
        for given, meant in (("--sicne", "; did you mean --since? See airlock log --help"),
                             ("--jsn", "; did you mean --json? See airlock log --help"),
                             ("--tol=x", "; did you mean --tool? See airlock log --help"),
                             ("--xyzzy", "; see airlock log --help")):
            done = self.command("log", given)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(f"unknown option '{given}'{meant}", done.stderr)

    def test_tool(self):
        """a tool that nobody has is an error that names the one that was meant"""
        self.ok("git_status")
        for name, meant in (("git_statsu", "did you mean 'git_status'?"), ("nope", "airlock tools"),
                            ("rollbak", "did you mean 'rollback'?"), ("", "airlock tools")):
            done = self.command("log", "--tool", name)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(f"no tool is called '{name}'", done.stderr)
            self.assertIn(meant, done.stderr)
        for name in ("git_log", "bash_command", "Git", "rollback", "git_push"):
            self.assertEqual(self.log("--tool", name), "")
        path = self.state_dir / "tool_log.jsonl"
        path.write_text(path.read_text(encoding="utf-8").replace("git_status", "git_gone"),
                        encoding="utf-8")
        self.assertIn("git_gone", self.log("--tool", "git_gone"))

    def test_pager(self):
        """on a terminal, the user's pager; else none"""
        self.ok("git_status")
        pager = {"PAGER": "sed s/^/paged:/", "NO_COLOR": "1"}
        self.assertIn("paged:TIME", self.terminal(100, env=pager))
        self.assertNotIn("paged:", self.log(env=pager))
        for none in ({"PAGER": ""}, {"PAGER": "cat"}, pager | {"TERM": "dumb"}):
            self.assertTrue(self.terminal(100, env=none | {"NO_COLOR": "1"}).startswith("TIME"))
        self.assertEqual(self.terminal(100, env={"PAGER": "true"}), "")
        self.assertEqual(self.terminal(100, "--verify", env=pager), "1 line, chain intact\n")

    def test_less(self):
        """without PAGER it is less, told to end at once with what fits and to show colours"""
        self.ok("git_status")
        bin_dir = self.base / "bin"
        bin_dir.mkdir()
        less = bin_dir / "less"
        less.write_text('#!/bin/sh\necho "LESS is $LESS"; cat\n', encoding="utf-8")
        less.chmod(0o755)
        del_pager = {"PATH": f"{bin_dir}:{os.environ['PATH']}"}
        self.env |= del_pager
        self.assertIn("LESS is FRX\n", self.unpaged())
        for _ in range(23):
            self.ok("git_status")
        self.assertIn("LESS is FRX+G\n", self.unpaged())  # longer than the screen: the newest first
        self.assertIn("LESS is FRX\n", self.unpaged("5"))
        self.env["LESS"] = "S"
        self.assertIn("LESS is S\n", self.unpaged())

    def test_no_program(self):
        """a PAGER that cannot be run is said, and nothing is lost"""
        self.ok("git_status")
        not_executable = str(self.write("pager", "#!/bin/sh\n"))
        for pager in ("/nope", "no-such-pager -x", not_executable):
            shown = self.terminal(100, env={"PAGER": pager, "NO_COLOR": "1"})
            self.assertTrue(shown.startswith("airlock: the program in $PAGER does not exist; "),
                            shown)
            self.assertIn("git_status", shown)
        shown = self.terminal(100, env={"PAGER": "X=1 sed s/^/paged:/", "NO_COLOR": "1"})
        self.assertIn("paged:TIME", shown)

    def unpaged(self, *words):
        """What a terminal shows when PAGER is not set."""
        return self.terminal(100, *words, env={"PAGER": None})


if __name__ == "__main__":
    harness.main()
