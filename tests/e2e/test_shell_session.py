#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bash_command: what the session and the configuration decide, and that it can be undone."""
import os
import shutil
import subprocess

import harness
import shell


class Session(shell.Shell):
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
        """a program a user lists writes below the root, and nowhere else"""
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
        self.assertTrue(self.line("echo x > made", *config).text.startswith("No.\n\nDenied by rule 1 "))
        self.assertFalse((self.root / "made").exists())
        plain = self.base / "plain"
        plain.mkdir()
        self.assertTrue(self.line("echo x > made", *config, root=plain).text.startswith("No.\n\nDenied by rule 1 "))

    def asked(self, command, meanwhile):
        """One call that a rule asks about; `meanwhile` happens before the answer, which is yes."""
        server = harness.AskingServer(self, "--toolset", "shell", "--tool=command", *self.config(
            '[[tools.approval.rule]]\ntool = "bash_command"\ndecision = "ask"\n'))
        number = server.ask("bash_command", {"command": command, "reason": "test"})
        question = server.receive()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        meanwhile()
        server.send(id=question["id"],
                    result={"action": "accept", "content": {"decision": "once"}})
        answer = server.receive()
        self.assertEqual(answer["id"], number, answer)
        return harness.Result(answer["result"]).value["structuredContent"]

    def test_planned_once(self):
        """what was checked before the user was asked is what runs"""
        self.write("b.txt", "two\n")
        self.assertEqual(self.asked("echo *.txt", lambda: self.write("c.txt", ""))["stdout"],
                         "a.txt b.txt\n")
        # What is gone is gone, as in a shell.
        value = self.asked("cat b.t*", (self.root / "b.txt").unlink)
        self.assertEqual((value["exit_code"], value["stdout"]), (1, ""))
        self.assertIn("b.txt: No such file", value["stderr"])

        outside, inside = self.base / "outside", self.root / "d"
        outside.mkdir()
        inside.mkdir()

        def swap():
            inside.rename(self.root / "moved")
            inside.symlink_to(outside)

        self.assertEqual(self.asked("echo x > d/f", swap)["exit_code"], 0)
        self.assertEqual((self.root / "moved/f").read_text(encoding="utf-8"), "x\n")
        self.assertEqual(list(outside.iterdir()), [])

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


class Undo(shell.Shell):
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
        """another process's index.lock is no obstacle to a command"""
        (self.root / ".git/index.lock").write_text("", encoding="utf-8")
        self.assertEqual(self.object("cat a.txt")["stdout"], "one\n")


if __name__ == "__main__":
    harness.main()
