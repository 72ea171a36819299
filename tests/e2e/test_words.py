#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls as words of a command line, and what the commands say about themselves."""
import json
import pathlib
import re
import subprocess

import harness
from test_robust_cli import Program

COMMANDS = ("serve", "call", "tools", "log", "rollback", "diff", "staging", "policy", "doctor",
            "version", "complete")
TOOLSETS = ("git", "workflow", "readonly", "shell", "files", "staging", "everyday",
            "parallel")


class Arguments(Program):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("b.txt", "b\n", "second")

    def said(self, *words, code=0, **named):
        """What a command that ends with this code prints."""
        done = self.run_it(*words, **named)
        self.assertEqual(done.returncode, code, done)
        return done.stdout if code == 0 else done.stderr

    def test_values(self):
        """NAME=VALUE is what the same argument is as JSON: number, truth, text"""
        wanted = self.said("call", "git_log", '{"max_count": 1, "oneline": true}')
        self.assertEqual(wanted.count("\n"), 1)
        for words in (("max_count=1", "oneline=true"), ("oneline=true", '{"max_count": 1}'),
                      ("maxCount=1", "oneline=true")):
            self.assertEqual(self.said("call", "git_log", *words), wanted, words)
        self.assertEqual(self.said("call", "git_log", "-", "max_count=1", text='{"oneline": true}'),
                         wanted)
        self.assertEqual(self.said("call", "git_log", "format=%s=%s", "max_count=1"),
                         "second=second\n")

    def test_list(self):
        """each NAME=VALUE of a list is one item, whatever is in it"""
        for name in ("c.txt", "[d].txt", "e f.txt", "g=h.txt"):
            self.write(name, "x\n")
        self.said("call", "--approval", "allow", "git_add", "paths=c.txt", "paths=[d].txt",
                  "paths=e f.txt", "paths=g=h.txt")
        self.assertEqual(self.out("diff", "--cached", "--name-only", "-z").split("\0")[:-1],
                         ["[d].txt", "c.txt", "e f.txt", "g=h.txt"])

    def test_wrong(self):
        """words that are no arguments are refused, and nothing runs"""
        for message, *words in (
                ("git_log has no parameter 'max_cuont'; did you mean max_count? airlock tools "
                 "git_log lists them", "max_cuont=1"),
                ("git_log has no parameter 'zzzzzz'; airlock tools git_log lists them", "zzzzzz=1"),
                ("'three' is neither NAME=VALUE nor JSON; did you mean 'path=three'? airlock tools git_log "
                 "lists the names", "three"),
                ("max_count is given twice", "max_count=1", "max_count=2"),
                ("max_count is given twice", '{"maxCount": 1}', "max_count=2"),
                ("the arguments are one JSON object and NAME=VALUE words", "{}", "{}"),
                ("the arguments are no JSON object", "[]", "max_count=1")):
            self.assert_usage(message, "call", "git_log", *words)
        for word in ("max_count=x", "max_count=", "max_count= 1", "max_count=1.5", "oneline=yes",
                     "max_count=99999999999999999999"):
            self.assertTrue(self.said("call", "git_log", word, code=1).startswith("BadArgs: "),
                            word)

    def test_options(self):
        """options count wherever they stand, and not behind `--`"""
        wanted = self.said("call", "--json", "git_log", "{}")
        self.assertTrue(json.loads(wanted))
        for words in (("git_log", "--json"), ("git_log", "{}", "--json"),
                      ("git_log", "--json", "--toolset=git"), ("--json", "--", "git_log", "{}")):
            self.assertEqual(json.loads(self.said("call", *words))["content"],
                             json.loads(wanted)["content"], words)
        self.assert_usage("malformed JSON at column 1: invalid token near '-'", "call", "git_log",
                          "--", "--json")
        self.write("b.txt", "changed\n")
        self.assertEqual(self.run_it("call", "git_add", "all=true", "--approval",
                                     "deny").returncode, 3)
        self.assertEqual(self.said("policy", "explain", "git_add", "all=true", "--json"),
                         self.said("policy", "explain", "--json", "git_add", '{"all": true}'))


class Said(Program):
    def test_width(self):
        """no line of the help and of the tools is wider than 80 columns"""
        self.init()
        asked = [("--help",)] + [(name, "--help") for name in COMMANDS]
        for toolset in TOOLSETS:
            listed = json.loads(self.run_it("tools", "--toolset", toolset, "--json").stdout)
            asked += [("tools", "--toolset", toolset)]
            asked += [("tools", "--toolset", toolset, tool["name"]) for tool in listed]
        asked += [("tools", "--approval", mode) for mode in ("allow", "deny")]
        for words in asked:
            done = self.run_it(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertTrue(done.stdout)
            wide = [line for line in done.stdout.split("\n") if len(line) > 80]
            self.assertEqual(wide, [], words)

    def test_one_tool(self):
        """`tools NAME` and `call NAME --help` show every parameter and operation of one tool"""
        self.init()
        (tool,) = json.loads(self.run_it("tools", "git_stash", "--json").stdout)
        text = self.run_it("tools", "git_stash").stdout
        for name in list(tool["inputSchema"]["properties"]) + ["push", "clear"]:
            self.assertRegex(text, rf"(?m)^  {name} ")
        for words in (("call", "git_stash", "--help"), ("call", "-h", "git_stash"),
                      ("policy", "explain", "git_stash", "--help")):
            self.assertEqual(self.run_it(*words).stdout, text, words)

    def test_each_operation_once(self):
        """an operation that has two rows, for it has more effects at times, is shown once"""
        for toolset in TOOLSETS:
            options = ("--toolset", toolset)
            for tool in json.loads(self.run_it("tools", "--json", *options).stdout):
                text = self.run_it("tools", tool["name"], *options).stdout
                rows = re.findall(r"(?m)^  (\w+) +(?:asks|does not ask)", text)
                self.assertTrue(rows, text)
                self.assertEqual(len(set(rows)), len(rows), (toolset, tool["name"], rows))
                if tool["name"] == "git_commit" and toolset != "everyday":
                    self.assertEqual(rows, ["commit"])

    def test_version(self):
        """`version` is `--version`"""
        self.assertEqual(self.run_it("version").stdout, self.run_it("--version").stdout)

    def test_asking(self):
        """the list, one tool and `policy explain` say the same about asking"""
        self.init()
        listed = {tool["name"]: tool["approval"]
                  for tool in json.loads(self.run_it("tools", "--json").stdout)}
        self.assertEqual({name: listed[name] for name in
                          ("git_log", "git_add", "git_branch", "git_push", "git_pull", "git_fetch",
                           "git_remote", "git_commit")},
                         {"git_log": "none", "git_add": "ask", "git_branch": "some",
                          "git_push": "some", "git_pull": "some", "git_fetch": "some",
                          "git_remote": "some", "git_commit": "ask"})
        self.out("remote", "add", "origin", str(self.root / ".git"))
        condition = "for an address that was added or changed in this session"
        for name in ("git_push", "git_fetch", "git_pull"):
            shown = " ".join(self.run_it("tools", name).stdout.split())
            self.assertIn(f"asks only {condition}", shown)
        done = self.run_it("policy", "explain", "git_push")
        self.assertIn("decision   allow\n", done.stdout, done)
        self.assertIn(f"but        asks {condition}\n", done.stdout)
        self.assertNotIn("but ", self.run_it("policy", "explain", "git_push", "--approval",
                                             "allow").stdout)


def completed(case, *words):
    """What bash offers for the last of these words."""
    script = pathlib.Path(__file__).resolve().parents[2] / "completions/airlock.bash"
    text = (f"source {script}; PATH={pathlib.Path(harness.AIRLOCK).resolve().parent}:$PATH; "
            'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _airlock; '
            'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", text, "bash", "airlock", *words], env=case.env,
                          cwd=case.root, capture_output=True, text=True, check=False)
    case.assertEqual(done.stderr, "")
    return done.stdout.split()


class Completion(Program):
    def test_bash(self):
        """grants and tools are completed by their names, those of the named configuration too"""
        self.init()
        path = self.config('[grants.look]\ntools = ["git_log"]\n[grants.other]\n')
        self.assertEqual(completed(self, "call", "--config", path, "--grant", ""),
                         ["look", "other"])
        self.assertEqual(completed(self, "serve", "--config", path, "--grant", "l"), ["look"])
        self.assertEqual(completed(self, "serve", "--grant", ""), [])
        self.assertEqual(completed(self, "tools", "git_sta"), ["git_status", "git_stash"])
        self.assertEqual(completed(self, "ver"), ["version"])

    def test_whole(self):
        """what --help lists is completed, and in the manual page: the commands, and the long options of each"""
        manual = pathlib.Path(__file__).resolve().parents[2] / "man/airlock.1"
        manual = manual.read_text(encoding="utf-8").replace("\\-", "-")
        commands = re.findall(r"^  ([a-z]+) ", self.run_it("--help").stdout.split("\nTry ")[0], re.MULTILINE)
        self.assertIn("run", commands)
        self.assertEqual([name for name in commands if name not in completed(self, "")], [])
        for name in commands:
            shown = self.run_it(name, "--help").stdout if name != "git" else ""
            options = re.findall(r"^  (?:-y, )?(--[a-z-]+)", shown, re.MULTILINE)
            offered = completed(self, name, "explain", "") if name == "policy" else completed(self, name, "--")
            if name in ("staging", "review"):
                offered += completed(self, name, "push" if name == "staging" else "approve", "x", "--")
            self.assertEqual([option for option in options if option not in offered or option not in manual], [], name)


if __name__ == "__main__":
    harness.main()
