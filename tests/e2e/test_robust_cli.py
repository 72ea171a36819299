#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line as its users meet it: exit codes, one-line errors, configuration, exact caps."""
import json
import subprocess

import harness

MARKER_BYTES = len(harness.MARKER)


class Program(harness.Case):
    def run_it(self, *words, cwd=None, stdin=subprocess.DEVNULL, text=None, **env):
        """The program with these words; nobody can be asked."""
        return subprocess.run([harness.AIRLOCK, *words], env=self.env | env, cwd=cwd or self.root,
                              stdin=stdin if text is None else None, input=text, text=True,
                              capture_output=True, check=False, start_new_session=True,
                              timeout=harness.WATCHDOG_SECONDS)

    def assert_usage(self, message, *words, **named):
        """Exit code 2, nothing on standard output, and this one line."""
        done = self.run_it(*words, **named)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertEqual(done.stderr, f"airlock: {message}\n")
        return done

    def config(self, text):
        """A configuration file outside the root."""
        return str(self.write("airlock.toml", text, self.base))


class ExitCodes(Program):
    def test_doctor_of_a_broken_configuration(self):
        """doctor and --version work where the configuration does not, and doctor says why"""
        config = self.write("broken.toml", "foo = 1\n", self.home)
        for path, complaint in ((config, ":1: foo: unknown key"), (self.home / "none.toml", "")):
            done = subprocess.run([harness.AIRLOCK, "doctor", "--config", str(path)], env=self.env,
                                  cwd=self.root, capture_output=True, check=False, text=True,
                                  timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(f"{path}{complaint}", done.stdout)
        (self.home / ".config/airlock").mkdir(parents=True, exist_ok=True)
        config.rename(self.home / ".config/airlock/config.toml")
        done = subprocess.run([harness.AIRLOCK, "--version"], env=self.env, cwd=self.root,
                              capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(done.stdout.startswith("airlock "), done)

    def test_objects(self):
        """the members of an argument that is an object are listed, and given alone or as JSON"""
        self.init()
        done = self.run_it("tools", "git_push", "--toolset", "staging")
        for line in ("  target              Where to.", "  target.type         (string; one of local, ",
                     "  target.branch       Default: the current one. (string)\n"):
            self.assertIn(line, done.stdout)
        for words in (["target.type=local", "target.path=."],
                      ['target={"type": "local", "path": "."}'],
                      ['target={"type": "local"}', "target.path=."],
                      ['{"target": {"type": "local", "path": "."}}']):
            done = self.run_it("policy", "explain", "--toolset", "staging", "git_branches", *words)
            self.assertEqual((done.returncode, done.stdout.split("\n")[0]),
                             (0, "decision   allow"), done)
        for words, complaint in ((["target=local:."], "'target' must be an object"),
                                 (['target={"type": "local", "pth": "."}'], "target.pth"),
                                 (["target.pth=."], "no parameter 'target.pth'"),
                                 ([], "target is required\ngit_branches takes: target (required)")):
            done = self.run_it("policy", "explain", "--toolset", "staging", "git_branches", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(complaint, done.stderr)

    def test_good_use(self):
        """what works exits 0"""
        self.init()
        for words in (["--help"], ["-h"], ["help"], ["--version"], ["call", "git_status"],
                      ["call", "git_status", "{}"], ["call", "--json", "git_log"], ["tools"],
                      ["tools", "--json"], ["doctor"], ["doctor", "--json"], ["log"], ["log", "1"],
                      ["log", "--json"], ["log", "--verify"], ["serve", "--toolset", "git"],
                      ["call", "--root=.", "--approval=allow", "git_add", '{"all": true}'],
                      ["call", "--", "git_status"], ["log", "--audit", "none.jsonl"]):
            done = self.run_it(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        for command in ("serve", "call", "tools", "log", "doctor"):
            long, helped = self.run_it(command, "--help"), self.run_it("help", command)
            self.assertEqual((long.returncode, long.stdout), (0, helped.stdout))
            self.assertTrue(long.stdout.startswith(f"usage: airlock {command}"), long.stdout)

    def test_toolsets(self):
        """the earlier toolset wins a name, and the log of serve says so"""
        def listed(*words):
            done = self.run_it("tools", "--json", *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            return {tool["name"]: tool["toolset"] for tool in json.loads(done.stdout)}

        self.init()
        self.assertEqual(listed(), listed("--toolset", "git", "--toolset", "workflow"))
        self.assertEqual(listed()["git_status"], "git")
        self.assertEqual(listed("--toolset", "workflow", "--toolset", "git")["git_status"],
                         "workflow")
        for words in ((), ("--toolset", "git", "--toolset", "workflow"), ("--toolset", "git")):
            done = self.run_it("serve", *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.run_it("serve", "--toolset", "git", "--toolset", "workflow", "--toolset",
                           "readonly")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^airlock: toolset 'workflow': earlier toolsets keep "
                                      r"git_status \(git\)[^\n]*\n$")

    def test_standard_input(self):
        """`airlock call TOOL -` reads the arguments"""
        self.init()
        done = self.run_it("call", "git_log", "-", text='{"oneline": true}')
        self.assertEqual((done.returncode, done.stdout.split(" ", 1)[1]), (0, "first\n"))
        done = self.run_it("call", "git_log", "-", text="")
        self.assertEqual(done.returncode, 2)

    def test_failed(self):
        """a call that fails exits 1, its text behind its kind"""
        self.init()
        for words, text in ((["git_status", '{"working_dir": "absent"}'],
                             "ExecutionFailed: No such directory: absent\n"),
                            (["git_status", '{"x": 1}'], None),
                            (["git_diff", '{"from_ref": "absent"}'], None),
                            (["git_commit", '{"type": "feat", "message": "m"}'],
                             "ExecutionFailed: nothing to commit\n")):
            done = self.run_it("call", *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertRegex(done.stderr, r"\A(BadArgs|ExecutionFailed): ")
            if text:
                self.assertEqual(done.stderr, text)

    def test_no_arguments(self):
        """without a command the overview is shown, and the exit code is 2"""
        done = self.run_it()
        self.assertEqual((done.returncode, done.stdout), (2, self.run_it("--help").stdout))

    def test_wrong_use(self):
        """wrong use exits 2 with one line that says what is wrong"""
        self.init()
        for message, *words in (
                ("unknown command 'frobnicate'; see airlock --help", "frobnicate"),
                ("unknown command 'versoin'; did you mean version? See airlock --help", "versoin"),
                ("unknown command 'lgo'; did you mean log? See airlock --help", "lgo"),
                ("unknown command 'cal'; did you mean call? See airlock --help", "cal"),
                ("unknown command '<U+202E>x'; see airlock --help", "\u202ex"),
                ("no help for 'nope'; see airlock --help", "help", "nope"),
                ("unknown option '--bad'; see airlock serve --help", "serve", "--bad"),
                ("unknown option '--json'; see airlock serve --help", "serve", "--json"),
                ("unknown option '--rot'; did you mean --root? See airlock serve --help", "serve",
                 "--rot", "."),
                ("unknown option '--aproval=deny'; did you mean --approval? See airlock call --help",
                 "call", "--aproval=deny", "git_status"),
                ("--root needs a value; see airlock --help", "serve", "--root"),
                ("--approval is ask, allow or deny", "serve", "--approval=maybe"),
                ("unknown toolset 'nope' (valid: git, workflow, readonly, shell, files, staging, everyday, parallel)", "serve", "--toolset", "nope"),
                ("serve takes options only", "serve", "word"),
                ("unknown tool 'word'; airlock tools lists them", "tools", "word"),
                ("tools takes one tool at most", "tools", "git_log", "git_show"),
                ("--markdown is about all tools", "tools", "--markdown", "git_log"),
                ("doctor takes options only", "doctor", "word"),
                ("call needs a tool and, optionally, its arguments, for example: "
                 "airlock call git_log max_count=3", "call"),
                ("unknown tool 'nope'; airlock tools lists them", "call", "nope"),
                ("unknown tool 'git_stauts'; did you mean git_status? airlock tools lists them",
                 "call", "git_stauts"),
                ("unknown option '--jsn'; did you mean --json? See airlock call --help", "call",
                 "git_status", "--jsn"),
                ("'bash_command' is a tool of the toolset shell, which is not chosen; add "
                 "--toolset shell", "call", "bash_command"),
                ("malformed JSON at column 1: string or '}' expected near end of file",
                 "call", "git_status", "{"),
                ("not a number of lines: 'x'; see airlock log --help", "log", "x"),
                ("not a number of lines: '0'; see airlock log --help", "log", "0")):
            self.assert_usage(message, *words)

    def test_roots(self):
        """a root that may not be one exits 2 and says why"""
        self.init()
        for root in ("/", str(self.home), str(self.home / ".local"), str(self.base / "absent"), "",
                     str(self.root / "a.txt"), str(self.base)):
            (self.home / ".local/state/airlock").mkdir(parents=True, exist_ok=True)
            for command in ("serve", "call"):
                words = ["git_status"] if command == "call" else []
                done = self.run_it(command, "--root", root, *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done)
                self.assertRegex(done.stderr, r"\Aairlock: root '[^\n]*\n\Z")

    def test_not_approved(self):
        """what nobody approved exits 3 and nothing happened"""
        self.init()
        self.write("b.txt", "b\n")
        for mode, kind in (("ask", "ApprovalRequired"), ("deny", "ApprovalDenied")):
            done = self.run_it("call", "--approval", mode, "git_add", '{"all": true}')
            self.assertEqual((done.returncode, done.stdout), (3, ""), done)
            self.assertTrue(done.stderr.startswith(kind + ": Stage all changes"), done.stderr)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")

    def test_version(self):
        """--version is airlock's, git's, and the kernel's confinement"""
        done = self.run_it("--version")
        self.assertRegex(done.stdout, r"\Aairlock \d+\.\d+\.\d+\ngit \d+\.\d+[^\n]*\n"
                                      r"(Landlock ABI \d+|no Landlock in this kernel)\n\Z")

    def test_doctor(self):
        """doctor --json: one object a check, and a fix for each that is not ok"""
        self.init()
        found = json.loads(self.run_it("doctor", "--json").stdout)
        self.assertEqual(len({entry["check"] for entry in found}), len(found))
        for entry in found:
            self.assertIn(entry["level"], ("ok", "warning", "missing"))
            self.assertTrue(entry["state"])
            self.assertEqual("fix" in entry, entry["level"] != "ok", entry)
        self.assertIn("git", [entry["check"] for entry in found])
        done = self.run_it("doctor", "--json", "--root", str(self.base / "absent"))
        self.assertEqual(done.returncode, 1, done)
        self.assertTrue([e for e in json.loads(done.stdout) if e["level"] == "missing"])

    def test_link(self):
        """`git airlock` is the same program"""
        self.init()
        bin_dir = self.base / "bin"
        bin_dir.mkdir()
        (bin_dir / "git-airlock").symlink_to(harness.AIRLOCK)
        done = subprocess.run(["git", "airlock", "call", "git_status"], cwd=self.root,
                              env=self.env | {"PATH": f"{bin_dir}:{self.env['PATH']}"},
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "## main\n"), done)


class Configuration(Program):
    def setUp(self):
        super().setUp()
        self.init()

    def assert_wrong(self, text, where):
        """Every command refuses the file, naming place and key."""
        path = self.config(text)
        for words in (["serve"], ["call", "git_status"], ["tools"], ["log"]):
            done = self.run_it(words[0], "--config", path, *words[1:])
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertRegex(done.stderr, r"\Aairlock: [^\n]*\n\Z")
            self.assertTrue(done.stderr.startswith(f"airlock: {path}:{where}"), done.stderr)

    def test_errors(self):
        """a wrong key, type or bound: exit code 2, and file, line and key are named"""
        for text, where in (("[tools.git]\nenable = true\n", "2: tools.git.enable: "),
                            ("[tools.git]\n\ntimeout_ms = \"1\"\n", "3: tools.git.timeout_ms: "),
                            ("[tools.git]\ntimeout_ms = 99\n", "2: tools.git.timeout_ms: "),
                            ("[tools.git]\nmax_bytes = 5000001\n", "2: tools.git.max_bytes: "),
                            ("colour = true\n", "1: colour: "),
                            ("toolsets = git\n", "1: "),
                            ("[tools.approval]\nmode = \"yes\"\n", "2: tools.approval.mode: ")):
            self.assert_wrong(text, where)

    def test_not_from_a_root(self):
        """a configuration inside the root is refused"""
        self.write("airlock.toml", "[tools.approval]\nmode = \"allow\"\n")
        done = self.run_it("call", "--config", str(self.root / "airlock.toml"), "git_status")
        self.assertEqual(done.returncode, 2, done)
        self.assertRegex(done.stderr, r"\Aairlock: root '[^\n]*\n\Z")

    def test_missing_file(self):
        """a configuration that is not there is named"""
        done = self.run_it("tools", "--config", str(self.base / "absent.toml"))
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(str(self.base / "absent.toml"), done.stderr)

    def test_disabled(self):
        """tools.git.enabled = false lists and offers nothing of toolset git, and all of the others"""
        path = self.config('toolsets = ["git"]\n[tools.git]\nenabled = false\n')
        self.assertEqual(json.loads(self.run_it("tools", "--config", path, "--json").stdout), [])
        self.assert_usage("unknown tool 'git_status'; airlock tools lists them", "call",
                          "--config", path, "git_status")
        server = harness.Server(self, "--config", path)
        server.send(id=1, method="tools/list")
        self.assertEqual(server.receive()["result"]["tools"], [])
        path = self.config('toolsets = ["git", "workflow"]\n[tools.git]\nenabled = false\n')
        self.assertEqual({tool["toolset"] for tool in json.loads(
            self.run_it("tools", "--config", path, "--json").stdout)}, {"workflow"})

    def test_places(self):
        """toolsets, roots and grants that are not there are said with file, line and key"""
        for key, text, message in (
                ("toolsets", 'toolsets = ["nope"]\n', "unknown toolset 'nope'"),
                ("roots", 'roots = ["nope"]\n', "root 'nope' cannot be used"),
                ("serve.grant", '[serve]\ngrant = "nope"\n', "unknown grant 'nope'"),
                ("shell.grant", '[shell]\ngrant = "nope"\n', "unknown grant 'nope'")):
            path = self.config("\n" + text)
            line = 3 if "." in key else 2
            done = self.run_it("serve", "--config", path)
            self.assertEqual(done.returncode, 2, done)
            self.assertTrue(done.stderr.startswith(f"airlock: {path}:{line}: {key}: {message}"), done)
        path = self.config('toolsets = ["nope"]\n')
        self.assert_usage(self.run_it("serve", "--toolset", "none").stderr[len("airlock: "):-1], "serve",
                          "--config", path, "--toolset", "none")

    def test_defaults(self):
        """configured timeout_ms and max_bytes are the printed defaults, and they apply"""
        path = self.config("[tools.git]\ntimeout_ms = 12345\nmax_bytes = 100\n")
        listed = {tool["name"]: tool["inputSchema"]["properties"]
                  for tool in json.loads(self.run_it("tools", "--config", path, "--toolset", "git",
                                                    "--json").stdout)}
        for name, properties in listed.items():
            self.assertEqual(properties["timeout_ms"]["default"], 12345, name)
        for name in ("git_diff", "git_log"):
            self.assertEqual(listed[name]["max_bytes"]["default"], 100)
        result = self.ok("git_log", {}, "--config", path)
        self.assertEqual((len(result.text), result.meta["truncated"]), (100, True))

    def test_environment(self):
        """the environment passes what is allowed by name, and never a secret"""
        path = self.config('[tools.environment]\nallow = ["HARMLESS_VALUE"]\n')
        pipe = self.block_log()
        server = harness.Server(self, "--config", path,
                                env={"HARMLESS_VALUE": "seen", "OTHER_VALUE": "unseen"})
        server.ask("git_log", {"timeout_ms": 600000})
        self.hold(pipe)
        (child,) = [pid for pid in self.processes_in(self.root) if pid != server.process.pid]
        with open(f"/proc/{child}/environ", "rb") as file:
            seen = file.read().split(b"\0")
        self.assertIn(b"HARMLESS_VALUE=seen", seen)
        self.assertNotIn(b"OTHER_VALUE=unseen", seen)
        for name in ("MY_TOKEN", "AWS_REGION", "OPENAI_X", "GIT_DIR", "LD_PRELOAD", "PATH", "HOME",
                     "SSH_ASKPASS"):
            self.assert_wrong(f'[tools.environment]\nallow = ["{name}"]\n',
                              "2: tools.environment.allow")

    def test_relative_roots(self):
        """configured roots are relative to where airlock was started"""
        path = self.config('roots = ["sub"]\ntoolsets = ["git"]\n')
        self.init(self.root / "sub")
        done = self.run_it("call", "--config", path, "git_log", '{"oneline": true}')
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1), done)


class Caps(Program):
    """The cap counts bytes of the text that is given, exactly."""

    def setUp(self):
        super().setUp()
        self.init()
        self.commit("a.txt", "gr\u00fc\u00dfe \u4e2d\u6587 \U0001f600\n" * 40, "zw\u00f6lf")

    def assert_exact(self, tool, arguments):
        """At, around and far below the exact size."""
        whole = self.ok(tool, arguments).text.encode()
        for cap in (len(whole), len(whole) + 1):
            result = self.ok(tool, arguments | {"max_bytes": cap})
            self.assertEqual((result.text.encode(), result.meta["truncated"]), (whole, False))
        sizes = set()
        for cap in list(range(len(whole) - 20, len(whole))) + [MARKER_BYTES + 1, MARKER_BYTES + 2]:
            result = self.ok(tool, arguments | {"max_bytes": cap})
            text = result.text.encode()
            kept = text.removesuffix(harness.MARKER.encode())
            self.assertEqual(len(text) - len(kept), MARKER_BYTES)
            self.assertTrue(whole.startswith(kept))
            self.assertLessEqual(len(text), cap)
            self.assertGreater(len(text), cap - 4)
            self.assertTrue(result.meta["truncated"])
            sizes.add(cap - len(text))
        for cap in (1, MARKER_BYTES - 1, MARKER_BYTES):
            self.assertEqual(self.ok(tool, arguments | {"max_bytes": cap}).text, harness.MARKER)
        return sizes

    def test_diff(self):
        """git_diff at exactly its size, one byte around it, inside characters, below the marker"""
        self.assertEqual(self.assert_exact("git_diff", {"from_ref": "HEAD~1"}), {0, 1, 2, 3})

    def test_log(self):
        """git_log at exactly its size, one byte around it, below the marker"""
        self.assert_exact("git_log", {"format": "%H %s %b \u4e2d"})


if __name__ == "__main__":
    harness.main()
