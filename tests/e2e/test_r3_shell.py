#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bash_command: previews, runs, their results, and what the session and the configuration decide."""
import json
import os
import re
import shutil
import subprocess

import harness

WARNING = "Warning: firejail not installed, running without isolation"


class Shell(harness.Case):
    """A repository, and the tool."""

    def setUp(self):
        super().setUp()
        self.init()
        self.options = ("--tool=command",)

    def line(self, command, *options, reason="test", **named):
        """One call."""
        return self.call("bash_command", {"command": command, "reason": reason}, "--toolset",
                         "shell", *self.options, *options, **named)

    def object(self, command, *options, **named):
        """The object of a call; its text is the same."""
        result = self.line(command, *options, **named)
        value = result.value["structuredContent"]
        self.assertEqual(json.loads(result.text), value)
        return value

    def config(self, text):
        """A configuration file."""
        path = self.base / "config.toml"
        path.write_text(text, encoding="utf-8")
        return ("--config", str(path))


class Parameters(Shell):
    def test_required(self):
        """R3-1 command and reason are required, and not empty"""
        for arguments, name in (({}, "command"), ({"command": "ls"}, "reason"),
                                ({"reason": "x"}, "command"),
                                ({"command": "ls", "reason": ""}, "reason"),
                                ({"command": " ", "reason": "x"}, "command"),
                                ({"command": "ls", "reason": "x", "cwd": "/"}, "cwd")):
            result = self.call("bash_command", arguments, "--toolset", "shell")
            self.assertEqual(result.kind, "BadArgs", arguments)
            self.assertIn(name, result.text)

    def test_listed(self):
        """R3-1 the tool has R3's name, description and parameters"""
        done = subprocess.run([harness.AIRLOCK, "tools", "--toolset", "shell", "--json"],
                              env=self.env, cwd=self.root, capture_output=True, check=True,
                              timeout=harness.WATCHDOG_SECONDS)
        tool, = json.loads(done.stdout)
        self.assertEqual(tool["name"], "bash_command")
        self.assertEqual(tool["description"], "Execute a bash command. Whitelist enforced. "
                                              "Shows preview in dry-run.")
        self.assertEqual(tool["inputSchema"]["required"], ["command", "reason"])
        self.assertEqual(tool["approval"], "none")
        self.assertIn("runs_program", tool["effects"])

    def test_recorded(self):
        """R3-1 the reason is in the journal"""
        self.line("ls", reason="to see what there is")
        record = self.record()
        self.assertEqual(record["input"], {"command": "ls", "reason": "to see what there is"})
        self.assertEqual((record["operation"], record["outcome"], record["decision"]),
                         ("run", "ok", "auto"))
        self.assertEqual(record["root"], str(self.root))

    def test_length(self):
        """a command has at most 16384 bytes"""
        for length in (16383, 16384):
            self.assertEqual(self.line("echo " + "x" * (length - 5)).code, 0)
        self.assertEqual(self.line("echo " + "x" * 16380).kind, "BadArgs")

    def test_counts(self):
        """a pipeline has at most 16 commands, a line 2000 words"""
        for count in (15, 16):
            self.assertFalse(self.line("|".join(["echo x"] + ["cat"] * (count - 1))).failed)
        self.assertEqual(self.line("|".join(["cat"] * 17)).kind, "BadArgs")
        for count in (1999, 2000):
            self.assertFalse(self.line("echo" + " x" * (count - 1)).failed)
        self.assertEqual(self.line("echo" + " x" * 2000).kind, "BadArgs")


class Preview(Shell):
    def setUp(self):
        super().setUp()
        self.options = ()

    def test_default(self):
        """R3-2 without --tool nothing runs: the result is a preview"""
        value = self.object("ls *.txt | wc -l > out.txt 2>&1")
        self.assertEqual(value, {
            "dry_run": True, "command": "ls *.txt | wc -l > out.txt 2>&1",
            "stages": [{"command": "ls", "args": ["a.txt"]},
                       {"command": "wc", "args": ["-l"], "stdout": "out.txt", "stderr": "&1"}],
            "cwd": str(self.root), "env": ["PATH", "LC_ALL", "TERM", "HOME", "TMPDIR"]})
        self.assertFalse((self.root / "out.txt").exists())
        record = self.record()
        self.assertEqual((record["operation"], record["outcome"], record["effects"]),
                         ("preview", "dry_run", ["reads"]))

    def test_missing_program(self):
        """R3-2 a preview does not ask whether the program exists; a run gives 127"""
        config = self.config('[tools.shell]\ncommand_whitelist = ["nosuchprogram"]\n')
        self.assertTrue(self.object("nosuchprogram x", *config)["dry_run"])
        self.options = ("--tool=all",)
        value = self.object("nosuchprogram x", *config)
        self.assertEqual((value["exit_code"], value["stderr"]),
                         (127, "nosuchprogram: command not found\n"))

    def test_tool_option(self):
        """R3-3 command and all let it run; read and write do not"""
        for words, runs in (("command", True), ("all", True), ("read", False), ("write", False),
                            ("read,write", False), ("read,command", True), ("all,read", True)):
            value = self.object("echo x", f"--tool={words}")
            self.assertEqual("dry_run" not in value, runs, words)
        for words in ("", "commands", "command,", "Command", "command all", "none"):
            done = subprocess.run([harness.AIRLOCK, "call", f"--tool={words}", "--toolset", "shell",
                                   "bash_command", "{}"], env=self.env, cwd=self.root,
                                  capture_output=True, check=False,
                                  timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 2, words)

    def test_other_tools(self):
        """R3-3 --tool restricts no other tool"""
        self.assertFalse(self.call("git_status", {}, "--tool=read").failed)
        self.write("b.txt", "b\n")
        self.assertFalse(self.call("git_add", {"paths": ["b.txt"]}, "--tool=read").failed)


class Results(Shell):
    def test_success(self):
        """R3-5 success: stdout, stderr, exit_code, duration_ms"""
        value = self.object("cat a.txt nosuch | cat")
        self.assertEqual(list(value), ["stdout", "stderr", "exit_code", "duration_ms"])
        self.assertEqual((value["stdout"], value["exit_code"]), ("one\n", 0))
        self.assertIn("nosuch", value["stderr"])
        self.assertIsInstance(value["duration_ms"], int)

    def test_failure(self):
        """R3-5 failure: error, stdout, stderr, exit_code, as a failed result"""
        result = self.line("cat a.txt nosuch")
        self.assertTrue(result.failed)
        self.assertEqual((result.kind, result.code), ("ExecutionFailed", 1))
        self.assertEqual(result.error["message"], "command failed: exit code 1")
        self.assertEqual(result.value["structuredContent"], {
            "error": "command failed: exit code 1", "stdout": "one\n",
            "stderr": "cat: nosuch: No such file or directory\n", "exit_code": 1})
        self.assertEqual(result.meta["exit_code"], 1)
        self.assertEqual(self.record()["outcome"], "error")

    def test_failure_on_stdout(self):
        """R3-5 without --json a failure's object is on standard output, a refusal on standard error"""
        base = [harness.AIRLOCK, "call", "--root", str(self.root), "--toolset", "shell",
                "--tool=command", "bash_command"]
        done = subprocess.run([*base, '{"command": "ls nosuch", "reason": "x"}'], env=self.env,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual((done.returncode, json.loads(done.stdout)["exit_code"]), (1, 2))
        done = subprocess.run([*base, '{"command": "rm x", "reason": "x"}'], env=self.env,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"Command 'rm' not in whitelist", done.stderr)

    def test_timeout(self):
        """R3-4 R3-5 timeout: error, what came until then, exit code -1"""
        os.mkfifo(self.root / "fifo")
        result = self.line("cat a.txt fifo", "--command-timeout", "1")
        self.assertTrue(result.failed)
        self.assertEqual((result.kind, result.code), ("Timeout", 1))
        self.assertEqual(result.value["structuredContent"], {
            "error": "command timeout after 1s", "stdout": "one\n", "stderr": "", "exit_code": -1})
        self.assertEqual(self.processes_in(self.root), [])
        self.assertEqual(self.record()["outcome"], "timeout")

    def test_timeout_of_a_pipeline(self):
        """R3-4 one deadline for all of a pipeline, and nobody is left"""
        os.mkfifo(self.root / "fifo")
        value = self.object("echo x | cat - fifo | cat | cat", "--command-timeout=1")
        self.assertEqual((value["exit_code"], value["stdout"]), (-1, "x\n"))
        self.assertEqual(self.processes_in(self.root), [])
        self.assert_nobody_reads(self.root / "fifo")

    def test_timeout_bounds(self):
        """R3-4 --command-timeout is 1 to 600 seconds"""
        for value, good in (("0", False), ("1", True), ("600", True), ("601", False), ("x", False),
                            ("-1", False), ("1.5", False), ("", False)):
            done = subprocess.run([harness.AIRLOCK, "tools", "--command-timeout", value],
                                  env=self.env, cwd=self.root, capture_output=True, check=False,
                                  timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode == 0, good, value)

    def test_cap(self):
        """R3-12 standard output is cut at max_bytes, and says so"""
        config = self.config("[tools.git]\nmax_bytes = 1000\n")
        for size in (999, 1000, 1001, 100000):
            self.write("x", "x" * size)
            result = self.line("cat x", *config)
            self.assertFalse(result.failed, result)
            value = result.value["structuredContent"]
            self.assertEqual(result.meta["truncated"], size > 1000)
            self.assertEqual(len(value["stdout"]), min(size, 1000))
            self.assertEqual(value["stdout"].endswith(harness.MARKER), size > 1000)
            self.assertEqual(value["exit_code"], 0)

    def test_cap_of_a_pipeline(self):
        """R3-12 a pipeline that never ends is stopped at the cap"""
        config = self.config("[tools.git]\nmax_bytes = 1000\n")
        self.write("x", "x\n" * 100000)
        result = self.line("cat x x x x x x x x | cat | grep x", *config)
        self.assertTrue(result.meta["truncated"])
        self.assertEqual(self.processes_in(self.root), [])

    def test_errors_cap(self):
        """R3-12 standard error is cut at 64 KiB"""
        result = self.line("cat " + " ".join(f"{'n' * 150}{i}" for i in range(90)))
        self.assertFalse(result.meta["truncated"])
        self.write("many/" + "n" * 200, "")
        for i in range(400):
            os.symlink("/nowhere" + "x" * 10, self.root / "many" / f"{i:03}{'n' * 200}")
        result = self.line("cat many/*")
        self.assertTrue(result.meta["truncated"])
        self.assertEqual(len(result.value["structuredContent"]["stderr"]), 65536)

    def test_same_over_mcp(self):
        """a client gets the same objects, and they keep the output schema"""
        server = harness.Server(self, "--toolset", "shell", "--tool=command")
        good = server.call("bash_command", {"command": "ls", "reason": "x"})
        self.assertEqual(good.value["structuredContent"]["stdout"], "a.txt\n")
        bad = server.call("bash_command", {"command": "ls nosuch", "reason": "x"})
        self.assertTrue(bad.failed)
        self.assertEqual(bad.value["structuredContent"]["exit_code"], 2)


class Session(Shell):
    def test_environment(self):
        """R3-8 programs get an environment of a few names"""
        config = self.config('[tools.shell]\ncommand_whitelist = ["printenv"]\n'
                             '[tools.environment]\nallow = ["MY_VAR"]\n')
        env = {"MY_VAR": "mine", "API_KEY": "secret", "LD_DEBUG": "x", "GIT_DIR": "/x",
               "BASH_ENV": "/x"}
        value = self.object("printenv", *config, env=env)
        self.assertEqual(value["stdout"].splitlines()[:4],
                         ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TERM=dumb", "HOME=/nonexistent"])
        self.assertIn("MY_VAR=mine\n", value["stdout"])
        for name in ("API_KEY", "LD_DEBUG", "GIT_DIR", "BASH_ENV"):
            self.assertNotIn(name, value["stdout"])

    def test_whitelist(self):
        """R3-9 the whitelist is what the configuration says, exactly"""
        config = self.config('[tools.shell]\ncommand_whitelist = ["cat", "sort"]\n')
        self.assertEqual(self.object("cat a.txt | sort", *config)["stdout"], "one\n")
        for name in ("ls", "git", "sor", "sortx", "Sort"):
            self.assertEqual(self.line(name, *config).text, f"Command '{name}' not in whitelist")
        for trap in ("-o x", "-ox", "-nox", "--output=x", "--outp=x", "--compress-program=sh",
                     "--comp=sh", "-T."):
            result = self.line(f"sort {trap} a.txt", *config)
            self.assertEqual(result.kind, "SandboxViolation", trap)

    def test_never_listed(self):
        """R3-9 what is always refused cannot be listed"""
        for name in ("rm", "mv", "cp", "chmod", "chown", "sudo", "su", "curl", "wget", "bash", "sh",
                     "/bin/ls", "a b", "", "-x"):
            config = self.config(f'[tools.shell]\ncommand_whitelist = ["{name}"]\n')
            done = subprocess.run([harness.AIRLOCK, "tools", *config], env=self.env, cwd=self.root,
                                  capture_output=True, check=False,
                                  timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(b"config.toml:2: tools.shell.command_whitelist", done.stderr)

    def test_timeout_key(self):
        """R3-9 command_timeout is a key too, and the option wins"""
        os.mkfifo(self.root / "fifo")
        config = self.config("[tools.shell]\ncommand_timeout = 1\n")
        self.assertEqual(self.object("cat fifo", *config)["error"], "command timeout after 1s")
        config = self.config("[tools.shell]\ncommand_timeout = 600\n")
        value = self.object("cat fifo", *config, "--command-timeout=1")
        self.assertEqual(value["error"], "command timeout after 1s")

    def test_writers(self):
        """a program a person lists writes below the root, and nowhere else"""
        outside = self.base / "outside"
        outside.mkdir()
        config = self.config('[tools.shell]\ncommand_whitelist = ["touch", "mkdir", "ls"]\n')
        self.assertEqual(self.line("touch new", *config).code, 0)
        self.assertTrue((self.root / "new").exists())
        self.assertEqual(self.object(f"touch {outside}/x", *config)["exit_code"], 1)
        self.assertEqual(self.object("mkdir ../outside/d", *config)["exit_code"], 1)
        self.assertEqual(list(outside.iterdir()), [])

    def test_readers_cannot_write(self):
        """a program that reads has no right to write, whatever its options"""
        config = self.config('[tools.shell]\ncommand_whitelist = ["sed", "awk"]\n')
        for line in ("sed -n 'w stolen' a.txt", "awk '{print > \"stolen\"}' a.txt"):
            if shutil.which(line.split()[0]):
                self.assertNotEqual(self.object(line, *config)["exit_code"], 0, line)
        self.assertFalse((self.root / "stolen").exists())

    def test_no_other_program(self):
        """no program can start another, or make a socket"""
        config = self.config('[tools.shell]\ncommand_whitelist = ["awk", "python3", "xargs"]\n')
        for line in ("awk 'BEGIN { exit system(\"touch stolen\") == 0 }'", "xargs touch stolen",
                     "python3 -c 'import os; os.execv(\"/usr/bin/touch\", [\"touch\", \"stolen\"])'",
                     "python3 -c 'import socket; socket.socket()'",
                     "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'"):
            if shutil.which(line.split()[0]):
                self.line(line, *config)
        self.assertFalse((self.root / "stolen").exists())
        if shutil.which("python3"):
            value = self.object("python3 -c 'import socket; socket.socket(socket.AF_UNIX)'", *config)
            self.assertIn("PermissionError", value["stderr"])

    def test_no_repository(self):
        """outside a repository commands run, and git says what it says"""
        plain = self.base / "plain"
        plain.mkdir()
        (plain / "f").write_text("x\n", encoding="utf-8")
        self.assertEqual(self.object("ls", root=plain)["stdout"], "f\n")
        value = self.object("git status", root=plain)
        self.assertEqual(value["exit_code"], 128)
        self.assertIn("not a git repository", value["stderr"])
        self.assertIsNone(self.record()["repository"])
        self.assertEqual(self.record()["root"], str(plain))

    def test_rules(self):
        """a rule may ask about a live call, or deny it"""
        config = self.config('[[tools.approval.rule]]\ntool = "bash_command"\noperation = "run"\n'
                             'decision = "ask"\n')
        result = self.line("echo x > made", *config)
        self.assertEqual(result.kind, "ApprovalRequired")
        self.assertTrue(result.text.startswith("Run echo x > made (test)\n"), result.text)
        config = self.config('[[tools.approval.rule]]\neffect = "runs_program"\n'
                             'decision = "deny"\nmessage = "No."\n')
        self.assertEqual(self.line("echo x > made", *config).text, "No.")
        self.assertFalse((self.root / "made").exists())
        plain = self.base / "plain"
        plain.mkdir()
        self.assertEqual(self.line("echo x > made", *config, root=plain).text, "No.")

    def test_path_rules(self):
        """a rule that denies a path catches every line"""
        config = self.config('[[tools.approval.rule]]\npath = "docs/*"\ndecision = "deny"\n')
        self.assertEqual(self.line("ls", *config).kind, "ApprovalDenied")

    def test_grants(self):
        """a live call needs rw on the root, a preview r"""
        config = self.config(f'[grants.g]\nfs = {{ "{self.root}" = "r" }}\n')
        self.assertEqual(self.line("ls", *config, "--grant", "g").kind, "NotGranted")
        self.options = ()
        self.assertFalse(self.line("ls", *config, "--grant", "g").failed)

    def test_granted_roots(self):
        """programs read only the roots that are granted"""
        other = self.base / "other"
        other.mkdir()
        (other / "f").write_text("secret\n", encoding="utf-8")
        config = self.config(f'[grants.g]\nfs = {{ "{self.root}" = "rw" }}\n')
        more = ("--root", str(other))
        self.assertEqual(self.object(f"cat {other}/f", *more)["stdout"], "secret\n")
        value = self.object(f"cat {other}/f", *more, *config, "--grant", "g")
        self.assertEqual((value["stdout"], value["exit_code"]), ("", 1))

    def test_hostile_git(self):
        """git in a pipeline runs nothing a repository configures"""
        canary, script = self.base / "canary", self.base / "script"
        script.write_text(f"#!/bin/sh\ntouch {canary}\n", encoding="utf-8")
        script.chmod(0o755)
        self.write("a.txt", "two\n")
        for name, value in (("core.fsmonitor", script), ("diff.external", script),
                            ("core.pager", script), ("alias.log", f"!{script}"),
                            ("diff.evil.textconv", script)):
            self.git("config", name, str(value))
        (self.root / ".gitattributes").write_text("*.txt diff=evil\n", encoding="utf-8")
        self.git("diff", check=False)
        self.assertTrue(canary.exists(), "the control must fire")
        canary.unlink()
        for line in ("git diff", "git status", "git log -p", "git show", "git diff | cat"):
            self.assertIn("stdout", self.object(line), line)
            self.assertFalse(canary.exists(), line)

    def test_program_in_a_root(self):
        """a program that lies in a root is not run"""
        self.write("bin/ls", "#!/bin/sh\necho stolen\n").chmod(0o755)
        value = self.object("ls", env={"PATH": f"{self.root}/bin:{self.env['PATH']}"})
        self.assertIn("a.txt", value["stdout"])


class Undo(Shell):
    """What a command did can be undone."""

    def rollback(self):
        """`airlock rollback 1`."""
        return subprocess.run([harness.AIRLOCK, "rollback", "1"], cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=harness.WATCHDOG_SECONDS)

    def test_rollback(self):
        """a live command is checkpointed, and a rollback undoes its redirects"""
        self.object("echo new > a.txt")
        self.assertRegex(self.record()["git_commit"], r"\A[0-9a-f]{40}\Z")
        self.object("ls | grep a > made.txt")
        done = self.rollback()
        self.assertEqual(done.returncode, 0, done)
        self.assertFalse((self.root / "made.txt").exists())
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "new\n")

    def test_preview_is_none(self):
        """a dry run takes no checkpoint"""
        self.options = ()
        self.object("echo new > a.txt")
        self.assertIsNone(self.record()["git_commit"])

    def test_no_repository(self):
        """outside a repository the call goes on, with the requirements' warning"""
        plain = self.base / "plain"
        plain.mkdir()
        result = self.line("echo x > f", root=plain)
        self.assertFalse(result.failed, result)
        self.assertIn("Warning: git auto-commit failed (not in git repo?)", result.stderr)
        self.assertEqual((plain / "f").read_text(encoding="utf-8"), "x\n")

    def test_foreign_lock(self):
        """somebody's index.lock is no obstacle to a command"""
        (self.root / ".git/index.lock").write_text("", encoding="utf-8")
        self.assertEqual(self.object("cat a.txt")["stdout"], "one\n")


class Isolation(Shell):
    def serve(self, isolation, path=None):
        """What a live call says on standard error, and its object."""
        config = self.config(f'[tools.shell]\nisolation = "{isolation}"\n')
        result = self.line("echo a | cat", *config, env={"PATH": path} if path else None)
        return result

    def without_firejail(self):
        """A PATH without it."""
        folder = self.base / "bin"
        folder.mkdir(exist_ok=True)
        for name in ("git", "cat", "ls"):
            if not (folder / name).exists():
                (folder / name).symlink_to(shutil.which(name))
        return str(folder)

    def test_words(self):
        """R3-10 isolation is auto, landlock, firejail or none"""
        for word, good in (("auto", True), ("landlock", True), ("firejail", True), ("none", True),
                           ("bwrap", False), ("", False)):
            config = self.config(f'[tools.shell]\nisolation = "{word}"\n')
            done = subprocess.run([harness.AIRLOCK, "tools", *config], env=self.env, cwd=self.root,
                                  capture_output=True, check=False,
                                  timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode == 0, good, word)

    def test_warning(self):
        """R3-11 firejail that is wanted and missing: R3's warning, and the call goes on"""
        path = self.without_firejail()
        result = self.serve("firejail", path)
        self.assertEqual(result.value["structuredContent"]["stdout"], "a\n")
        self.assertIn(WARNING, result.stderr)
        for isolation in ("auto", "none"):
            self.assertNotIn(WARNING, self.serve(isolation, path).stderr)

    def test_none(self):
        """without isolation the journal says so"""
        self.serve("none")
        self.assertEqual(self.record()["confinement"], "seccomp")
        self.serve("auto")
        self.assertRegex(self.record()["confinement"], r"landlock\d|seccomp|firejail")

    def fake_firejail(self):
        """A firejail that tells how it was started and goes on with what it was given."""
        folder = self.base / "fake"
        folder.mkdir()
        told = self.base / "told"
        (folder / "firejail").write_text(
            f'#!/bin/bash\nprintf "%s\\n" "$@" > {told}\nwhile [ "$1" != -- ]; do shift; done\n'
            "shift\nexec \"$@\"\n", encoding="utf-8")
        (folder / "firejail").chmod(0o755)
        return f"{folder}:{self.env['PATH']}", told

    def test_command_line(self):
        """R3-10 firejail is started with R3's options and our words, quoted"""
        path, told = self.fake_firejail()
        config = self.config('[tools.shell]\nisolation = "firejail"\n')
        self.write("it's", "quoted\n")
        value = self.object("cat it\\'s *.txt | grep 'o e\\|q' 2>&1", *config, env={"PATH": path})
        self.assertEqual(value["stdout"], "quoted\n")
        self.assertEqual(told.read_text(encoding="utf-8").splitlines(), [
            "--noprofile", "--private-tmp", "--private-dev", "--noroot", "--net=none",
            f"--whitelist={self.root}", "--", "bash", "-c",
            "'cat' 'it'\\''s' 'a.txt' | 'grep' 'o e\\|q' 2>&1"])
        self.assertEqual(self.record()["confinement"], "firejail")

    def test_refusals(self):
        """R3-10 what is refused never gets to firejail"""
        path, told = self.fake_firejail()
        config = self.config('[tools.shell]\nisolation = "firejail"\n')
        for line in ("rm x", "ls; id", "echo $(id)", "ls > ../x", "ls > .git/x", "find -delete"):
            self.assertTrue(self.line(line, *config, env={"PATH": path}).failed)
        self.assertFalse(told.exists())

    def test_real_firejail(self):
        """R3-10 a pipeline with a redirect runs in Debian's firejail"""
        if not shutil.which("firejail"):
            self.skipTest("firejail is not installed")
        probe = subprocess.run(["firejail", "--noprofile", "--quiet", "--", "true"], check=False,
                               capture_output=True, timeout=harness.WATCHDOG_SECONDS)
        if probe.returncode:
            self.skipTest(f"firejail does not work here: {probe.stderr.decode().strip()}")
        config = self.config('[tools.shell]\nisolation = "firejail"\n')
        result = self.line("cat a.txt | wc -l > out", *config)
        self.assertFalse(result.failed, result)
        self.assertEqual((self.root / "out").read_text(encoding="utf-8"), "1\n")


class Go(Shell):
    """go has a profile of its own."""

    def setUp(self):
        super().setUp()
        if not shutil.which("go"):
            self.skipTest("go is not installed")
        self.options = ("--tool=command", "--command-timeout=120")
        self.write("go.mod", "module example.com/m\n\ngo 1.18\n")
        self.write("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() "
                              "{ fmt.Println(\"hello from go\") }\n")
        self.write("main_test.go", "package main\n\nimport \"testing\"\n\n"
                                   "func TestNothing(t *testing.T) {}\n")

    def test_run(self):
        """go run, build, test and mod work"""
        self.assertEqual(self.object("go run .")["stdout"], "hello from go\n")
        self.assertEqual(self.object("go build -o hello .")["exit_code"], 0)
        self.assertTrue((self.root / "hello").exists())
        self.assertIn("ok", self.object("go test ./...")["stdout"])
        self.assertEqual(self.object("go mod verify")["stdout"], "all modules verified\n")

    def test_confined(self):
        """what go runs has no network, no other program, and writes below the root only"""
        outside = self.base / "outside"
        outside.mkdir()
        self.write("main.go", """package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
)

func main() {
	_, dial := net.Dial("tcp", "127.0.0.1:1")
	_, listen := net.Listen("unix", "socket")
	write := os.WriteFile("%s/x", nil, 0644)
	run := exec.Command("/usr/bin/touch", "stolen").Run()
	_, read := os.ReadFile("/etc/passwd")
	inside := os.WriteFile("inside", nil, 0644)
	fmt.Println(dial != nil, listen != nil, write != nil, run != nil, read != nil, inside == nil)
}
""" % outside)
        self.assertEqual(self.object("go run .")["stdout"], "true true true true true true\n")
        self.assertEqual(list(outside.iterdir()), [])
        self.assertFalse((self.root / "stolen").exists())


if __name__ == "__main__":
    harness.main()
