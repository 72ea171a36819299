#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bash_command: what isolates its programs, by itself, with firejail, and for go."""
import shutil
import subprocess

import harness
import shell

WARNING = "Warning: firejail not installed, running without isolation"


class Isolation(shell.Shell):
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
            "--quiet", "--noprofile", "--private-tmp", "--private-dev", "--noroot", "--net=none",
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
        self.assertEqual(self.object("cat a.txt", *config)["stdout"], "one\n")
        result = self.line("cat a.txt | wc -l > out", *config)
        self.assertFalse(result.failed, result)
        self.assertEqual((self.root / "out").read_text(encoding="utf-8"), "1\n")


class Go(shell.Shell):
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
