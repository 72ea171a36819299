#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""airlock run --confine: what a command cannot do in the sandbox.

Each attack is a script that prints WORKED; the control is the same script in plain `airlock run`.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position

REAL = shutil.which("git")
PYTHON = "/usr/bin/python3"
SOCKET = "/run/airlock-confined/socket"

#: Sends a request as git's shim does; gives what comes back.
SEND = """
import os, socket, sys
def send(data, fds=(0, 1, 2)):
    s = socket.socket(socket.AF_UNIX); s.connect("%s")
    try:
        socket.send_fds(s, [data[:1]], fds) if fds else s.send(data[:1])
        s.sendall(data[1:]); s.shutdown(socket.SHUT_WR)
        return s.recv(4096)
    except OSError as e:
        return str(e).encode()
""" % SOCKET


def sandboxes():
    """Whether bubblewrap works on this machine."""
    if not shutil.which("bwrap"):
        return "no bubblewrap here"
    words = ["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    done = subprocess.run(words, capture_output=True, check=False)
    return done.stderr.decode() if done.returncode else ""


WHY_NOT = sandboxes()


class Base(harness.Case):
    toolsets = ()

    def setUp(self):
        super().setUp()
        self.init()
        # The leak sanitizer traces its own process, which no sandbox allows.
        self.env |= {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}

    def airlock(self, *words, env=None, cwd=None, stdin=b"", pass_fds=()):
        return subprocess.run([harness.AIRLOCK, *words], cwd=cwd or self.root, env=self.env | (env or {}),
                              input=stdin, capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS,
                              pass_fds=pass_fds)

    def confined(self, script, *options, **how):
        return self.airlock("run", "--confine", *options, "--", "sh", "-c", script, **how)


class Refused(Base):
    def test_without(self):
        """without bubblewrap, or where it cannot make a sandbox, nothing runs"""
        tools = self.base / "bin"
        tools.mkdir()
        for name in ("git", "sh", "touch"):
            (tools / name).symlink_to(shutil.which(name))
        for fake, says in ((None, "install the package bubblewrap"),
                           ("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
                            "No permissions"), ("#!/bin/sh\nexec sh -c 'touch ran'\n", "no sandbox")):
            if fake:
                (tools / "bwrap").write_text(fake, encoding="ascii")
                (tools / "bwrap").chmod(0o755)
            done = self.confined("touch ran; echo WORKED", env={"PATH": str(tools)})
            self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (128, b"", 1), done)
            self.assertIn(says, done.stderr.decode())
        done = self.airlock("run", "--network", "true")
        self.assertIn(b"--confine", done.stderr)
        self.assertEqual(done.returncode, 128)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Confine(Base):
    def attack(self, script, *options, control="WORKED", **how):
        """The script works in plain airlock run, and not in the sandbox."""
        saved = self.base / "saved"
        subprocess.run(["cp", "-a", self.root, saved], check=True)
        done = self.airlock("run", "--", "sh", "-c", script, **how)
        self.assertIn(control, done.stdout.decode(), ("the control", done))
        subprocess.run(["rm", "-rf", self.root], check=True)
        saved.rename(self.root)
        done = self.confined(script + "\necho ENDED", *options, **how)
        self.assertNotIn("WORKED", done.stdout.decode(), done)
        self.assertIn("ENDED", done.stdout.decode(), done)
        return done

    def python(self, script):
        (self.root / "attack.py").write_text(script, encoding="ascii")
        return f"{PYTHON} attack.py"

    # What it can do.

    def test_works(self):
        """streams, status, files, and git with all of its streams"""
        done = self.confined('cat; echo err >&2; echo two >a.txt; exit 7', stdin=b"in")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, b"in", b"err\n"), done)
        done = self.confined("echo message | git commit -qa -F -; git log -1 --format=%s%n%an")
        self.assertEqual(done.stdout, b"message\nA U Thor\n", done)
        self.assertEqual(self.confined("git no-such").returncode, 128)
        self.assertEqual(self.airlock("run", "--confine", "no-such").returncode, 127)
        self.assertEqual(self.airlock("run", "--confine", "./a.txt").returncode, 126)
        self.assertEqual(self.confined("kill -TERM $$").returncode, 128 + signal.SIGTERM)
        self.airlock("rollback", "-y", "--force")
        done = self.confined("mkdir d; cd d; git rev-parse --show-prefix; python3 -c 'import subprocess; "
                             'subprocess.run(["git", "rev-parse", "HEAD"])\'; echo x >new; git add new')
        self.assertEqual(done.stdout.decode(), f"d/\n{self.out('rev-parse', 'HEAD')}")
        self.airlock("rollback", "-y", "--force")
        self.assertFalse((self.root / "d").exists())
        self.assertIn(b"rm: cannot remove", self.confined("rm -rf .git").stderr)
        self.assertEqual(self.out("status", "--short"), " M a.txt\n")

    def test_options(self):
        """what airlock run was told holds for its git"""
        rules = self.home / "rules.toml"
        rules.write_text('[[tools.approval.rule]]\ntool = "git"\noperation = "tag"\ndecision = "deny"\n', encoding="ascii")
        audit = self.home / "elsewhere.jsonl"
        done = self.confined("mkdir -p d/../home; touch home/rules.toml; cd home; git tag v1; git status",
                             "--config", "../home/rules.toml", "--audit", "../home/elsewhere.jsonl",
                             "--agent", "somebody")
        self.assertEqual(self.out("tag"), "", done)
        self.assertEqual(audit.read_text(encoding="ascii").count('"somebody"'), 3)

    def test_signals(self):
        """a signal that is sent reaches the command; one of the terminal does not end the sandbox"""
        script = "trap 'echo two >a.txt; exit 3' TERM INT; echo ready; while :; do sleep 0.1; done"
        for number, whole in ((signal.SIGTERM, False), (signal.SIGINT, True)):
            with subprocess.Popen([harness.AIRLOCK, "run", "--confine", "--", "sh", "-c", script], cwd=self.root,
                                  env=self.env, stdout=subprocess.PIPE, start_new_session=True) as process:
                self.assertEqual(process.stdout.readline(), b"ready\n")
                (os.killpg if whole else os.kill)(process.pid, number)
                self.assertEqual(process.wait(harness.WATCHDOG_SECONDS), 3)

    def test_outside(self):
        """outside of a repository it is confined just so"""
        where = self.base / "elsewhere"
        where.mkdir()
        done = self.confined("echo x >new; cat ../root/a.txt || echo NO", cwd=where)
        self.assertEqual((done.stdout, (where / "new").read_bytes()), (b"NO\n", b"x\n"))

    # Git's directories.

    def test_git_directory(self):
        """what lies in .git is not written, by whatever way"""
        for way in ("echo '[core] fsmonitor=x' >>.git/config",
                    "echo x >.git/hooks/pre-commit",
                    "rm .git/config",
                    "mv .git aside && cp -r aside .git && echo x >>.git/config",
                    "ln -s .git link && echo x >>link/config",
                    "ln .git/config hard && echo x >>hard",
                    "mkdir other; unshare -rm sh -c 'mount --bind . other && echo x >>other/.git/config'",
                    "unshare -rm sh -c 'umount .git; mount -o remount,rw,bind .git; echo x >>.git/config'",
                    f"echo x >>/proc/{os.getpid()}/root$PWD/.git/config",
                    "for p in /proc/[0-9]*; do echo x >>$p/root$PWD/.git/config; done 2>&1",
                    "echo x >>/proc/$$/root$PWD/.git/config",
                    "echo x >>/proc/self/cwd/.git/config",
                    f"{REAL} config core.fsmonitor x",
                    "chmod 777 .git/config && echo x >>.git/config"):
            with self.subTest(way):
                self.attack(f"before=$(cat .git/config .git/hooks/* 2>&1); {way}; "
                            '[ "$(cat .git/config .git/hooks/* 2>&1)" = "$before" ] || echo WORKED')

    def test_others(self):
        """so are those of worktrees, submodules, nested and bare repositories, of any name"""
        self.git("worktree", "add", "-q", "tree", "-b", "tree")
        self.git("init", "-q", "deep/er/nested")
        self.git("init", "-q", "--bare", "bare")
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(self.root), "sub/module")
        for way in ("echo 'gitdir: /tmp' >tree/.git", "rm tree/.git", "mv tree/.git x", "mv tree x",
                    "echo x >>deep/er/nested/.git/config", "mv deep x", "mv deep/er x", "mv deep/er/nested x",
                    "echo x >>bare/config", "mv bare x", "mv sub/module x", "mv sub x", "rm sub/module/.git",
                    "echo x >>.git/modules/sub/module/config", "echo x >>.git/worktrees/tree/HEAD"):
            with self.subTest(way):
                done = self.confined(f"{way} && echo WORKED")
                self.assertNotIn(b"WORKED", done.stdout, done)
        self.assertEqual(self.git("status", cwd=self.root / "tree").returncode, 0)
        for way in ("echo x >tree/file", "mkdir deep/new && mv deep/new deep/er/newer"):
            self.assertIn(b"WORKED", self.confined(f"{way} && echo WORKED").stdout, way)
        done = self.confined("echo x >.git; ls -a; git status --short", cwd=self.root / "tree")
        self.assertIn(b"?? file", done.stdout)
        self.assertIn(b"Read-only", done.stderr)

    def test_made_meanwhile(self):
        """a git directory that the command makes is none afterwards, and git init is refused"""
        self.write("sub/x", "x\n")
        script = ("mkdir -m 700 hidden new; {git} init -q new/one && {git} init -q --bare hidden/two && "
                  "mkdir three && printf 'gitdir: ../new/one/.git' >three/.git && cp -r new/one/.git/. sub && "
                  "{git} -C three config core.fsmonitor 'echo WORKED >&2;' && chmod 0111 hidden && chmod 555 sub")
        places = ("new/one", "hidden/two", "three")
        for directory in (self.root / "hidden", self.root / "sub"):
            self.addCleanup(subprocess.run, ["chmod", "-fR", "u+rwX", directory], check=False)
        for sandboxed in (False, True):
            done = (self.confined if sandboxed else lambda script: self.airlock("run", "sh", "-c", script))(
                script.format(git=REAL))
            for place in places:
                git = self.git("rev-parse", "--git-dir", cwd=self.root / place, check=False)
                self.assertEqual(git.returncode != 0 or git.stdout.decode() == f"{self.root}/.git\n", sandboxed,
                                 (place, git, done))
            ran = self.git("status", cwd=self.root / "three", check=False).stderr
            self.assertEqual(b"WORKED" in ran, not sandboxed, ran)
            self.assertEqual(done.stderr.count(b"HEAD was renamed"), 3 * sandboxed, done)
            self.assertEqual(done.stderr.count(b"\nairlock: git would take") +
                             done.stderr.startswith(b"airlock: git would take"), 3 * sandboxed, done)
            subprocess.run(["sh", "-c", "chmod -R u+rwX hidden sub; rm -rf hidden new three sub"], cwd=self.root,
                           check=True)
            self.write("sub/x", "x\n")
        done = self.confined("git init x; git init; git init --separate-git-dir y .")
        self.assertEqual(done.stderr.count(b"refused"), 3, done)
        self.assertFalse((self.root / "x").exists())

    def test_made_and_used(self):
        """until the command ends it is one, but the git outside runs nothing of it"""
        made = "{0} init -q {1} && {0} -C {1} config core.fsmonitor 'echo WORKED >&2;'; {2} -C {1} status 2>&1"
        self.attack(made.format(REAL, "new", "git"))
        self.assertIn(b"WORKED", self.confined(made.format(REAL, "other", REAL)).stdout)

    def test_link(self):
        """a .git that is a link cannot be protected, so nothing runs"""
        (self.root / "l").mkdir()
        (self.root / "l/.git").symlink_to(self.base / "x")
        done = self.confined("echo WORKED")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (128, b"", 1), done)

    def test_git_and_network(self):
        """without the network its git has none either"""
        self.git("init", "-q", "--bare", str(self.base / "far"))
        self.git("remote", "add", "far", str(self.base / "far"))
        for way in ("git ls-remote far", "git fetch far", "git remote update"):
            done = self.confined(way)
            self.assertEqual((done.returncode, done.stderr.count(b"no network")), (128, 1), done)
        self.assertNotIn(b"no network", self.confined("git fetch far", "--network").stderr)

    # What lies elsewhere.

    def test_home(self):
        """neither files of the home directory nor what lies beside the root"""
        (self.home / "secret").write_text("WORKED", encoding="ascii")
        (self.base / "beside").write_text("WORKED", encoding="ascii")
        for way in ("cat ~/secret", "cat ../beside", f"cat {self.home}/secret", "ln -s ../beside l; cat l",
                    f"cat /proc/[0-9]*/root{self.home}/secret", f"cat /proc/{os.getpid()}/root{self.home}/secret",
                    f"for p in /proc/[0-9]*; do cat $p/cwd/../home/secret; done 2>&1"):
            with self.subTest(way):
                self.attack(way)
        self.confined("echo >../made")
        self.assertFalse((self.base / "made").exists())
        self.confined("git config --global alias.x y; git -C ~ init; echo x >~/new")
        self.assertFalse((self.home / "new").exists())

    def test_handed_in(self):
        """neither secrets of the environment nor descriptors of other files than the streams"""
        names = ("AWS_PROFILE", "ANTHROPIC_API_KEY", "OPENAI_X", "GITHUB_TOKEN", "npm_config__password", "A_SECRET",
                 "SSH_AUTH_SOCK")
        for name in names:
            for way in ("env", "cat /proc/$$/environ", "cat /proc/[0-9]*/environ"):
                with self.subTest((name, way)):
                    self.attack(f"{way} 2>&1 | tr '\\0' '\\n' | grep '^{name}='", env={name: "WORKED"})
        done = self.confined("echo $CC $HOME; git rev-parse HEAD", env={"CC": "cc"})
        self.assertEqual(done.stdout.decode(), f"cc {self.home}\n{self.out('rev-parse', 'HEAD')}")
        (self.base / "beside").write_text("WORKED", encoding="ascii")
        for path, way in (("/", f"cat /proc/self/fd/%d{self.base}/beside"), (self.base / "beside", "cat <&9")):
            fd = os.open(path, os.O_RDONLY)
            os.dup2(fd, 9)
            os.close(fd)
            with self.subTest(path):
                self.attack(way.replace("%d", "9"), pass_fds=(9,))
            os.close(9)

    def test_git_leads_out(self):
        """the git outside works below the root alone, whatever it is told"""
        other = self.base / "other"
        other.mkdir()
        self.git("init", "-q", cwd=other)
        self.git("commit", "-q", "--allow-empty", "-m", "WORKED", cwd=other)
        secret = self.home / "secret"
        secret.write_text("WORKED\n", encoding="ascii")
        (self.root / "d").mkdir()
        for way in (f"git -C {other} log", f"git --git-dir={other}/.git log", f"cd /; git -C {other} log",
                    f"GIT_DIR={other}/.git git log", f"printf 'gitdir: {other}/.git' >d/.git; git -C d log",
                    f"ln -s {other} l; git -C l log", f"git diff --no-index {secret} /dev/null",
                    f"git hash-object -w {secret} | xargs git cat-file -p",
                    f"git commit -q --allow-empty -F {secret}; git log",
                    f"git blame --contents {secret} a.txt", f"cp a.txt x; echo WORKED >x; git grep --no-index -f {secret} x",
                    f"git add --pathspec-from-file={secret} 2>&1"):
            with self.subTest(way):
                self.attack(way)

    def state(self):
        """What programs git would run, and with which settings."""
        files = [*(self.root / ".git/hooks").iterdir(), self.root / ".git/config", *(self.root / "bare").rglob("*")]
        return {file: file.is_file() and file.read_bytes() for file in files}

    def test_git_writes_to_itself(self):
        """the git outside, which may write to git directories, is not made to"""
        self.git("init", "-q", "--bare", "bare")
        self.write("evil", "#!/bin/sh\n").chmod(0o755)
        self.git("add", "evil")
        self.git("commit", "-qm", "evil")
        self.write("p", "diff --git a/made b/made\nnew file mode 100755\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+x\n")
        (self.root / "l").symlink_to(".git/hooks")
        (self.root / "m").symlink_to("bare/hooks")
        blob = self.out("rev-parse", "HEAD:evil").strip()
        clean = self.state()
        for way in ("git mv evil .git/hooks/made", "git mv evil l/made", "git mv evil bare/hooks/made",
                    "git mv evil m/made", "git mv -f evil .git/config",
                    "git apply --unsafe-paths --directory=.git/hooks p",
                    "git apply --directory=bare/hooks p", "git archive -o .git/hooks/made HEAD",
                    "git archive -o l/made HEAD", "git format-patch -1 -o l", "git log -p --output=.git/hooks/made",
                    f"git update-index --add --cacheinfo 100755,{blob},bare/hooks/made; git checkout -- bare",
                    "git config core.hooksPath .", "git config -f .git/hooks/made a.b c"):
            with self.subTest(way):
                subprocess.run(["cp", "-a", self.root, self.base / "saved"], check=True)
                done = self.airlock("run", "--", "sh", "-c", way)
                self.assertNotEqual(self.state(), clean, ("the control", done))
                subprocess.run(["rm", "-rf", self.root], check=True)
                (self.base / "saved").rename(self.root)
                done = self.confined(way)
                self.assertEqual(self.state(), clean, done)
                self.assertNotEqual(done.stderr, b"")
                self.git("reset", "-q", "--hard")
        self.assertIn(b"evil", self.confined("git mv evil moved; git commit -qm x; git show --stat").stdout)

    def test_environment(self):
        """the environment inside counts for nothing outside"""
        evil = self.root / "evil"
        evil.write_text("#!/bin/sh\necho WORKED\n", encoding="ascii")
        evil.chmod(0o755)
        done = self.confined("PATH=.:$PATH GIT_EXTERNAL_DIFF=./evil GIT_PAGER=./evil LD_PRELOAD=./evil "
                             "GIT_AUTHOR_NAME=WORKED XDG_CONFIG_HOME=. git commit -qam x --allow-empty; "
                             "git log -1 --format=%an; git diff HEAD~1")
        self.assertEqual(done.stdout, b"A U Thor\n", done)

    # Other processes.

    def test_socket(self):
        """whatever is sent on the socket, only git's words run, below the root"""
        script = self.python(SEND + f"""
root = os.getcwd().encode()
bad = [b"", b"\\0", b"\\0\\0", b"\\0/\\0status\\0", b"\\0" + root, b"\\0" + root + b"\\0status",
       b"\\0" + root + b"/../other\\0log\\0", b"\\0" + root + b"/l\\0log\\0", b"\\0.\\0log\\0",
       b"\\0" + b"x" * 5000000, b"\\0" + root + b"\\0--upload-pack=x\\0", b"\\0" + root + b"\\0"]
os.symlink("/", "l")
for data in bad:
    print(repr(data[:20]), send(data)[1:30], file=sys.stderr)
for fds in ((), (0,), (0, 1), (0,) * 200):
    print(send(b"\\0" + root + b"\\0--version\\0", fds)[1:30], file=sys.stderr)
idle = [socket.socket(socket.AF_UNIX) for i in range(12)]
for s in idle: s.connect("{SOCKET}")
print(send(b"\\0" + root + b"\\0--version\\0"))
""")
        done = self.confined(script)
        self.assertNotIn(b"WORKED", done.stdout + done.stderr, done)
        self.assertGreaterEqual(done.stderr.count(b"no git of a sandbox"), 9, done)
        self.assertEqual(done.stderr.count(b"below the root"), 5, done)
        self.assertTrue(done.stdout.endswith(b"b'\\x00'\n"), done)

    def test_given_up(self):
        """a git that nobody waits for any more ends, and so does airlock"""
        done = self.confined(f"(git hash-object --stdin </dev/zero >/dev/null &) ; sleep 0.5; exit 5")
        self.assertEqual(done.returncode, 5, done)
        self.assertEqual(self.airlock("log", "--running").stdout, b"no calls are running\n")

    def test_sockets(self):
        """neither servers on loopback nor abstract sockets nor those of the home directory"""
        servers = []
        for family, where in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, f"\0airlock-{os.getpid()}"),
                              (socket.AF_UNIX, str(self.home / "s"))):
            server = socket.socket(family)
            server.bind(where)
            server.listen()
            self.addCleanup(server.close)
            servers.append((int(family), server.getsockname()))
        for family, where in servers:
            script = self.python(f"import socket\ns = socket.socket({family})\ns.connect({where!r})\nprint('WORKED')")
            with self.subTest(where):
                self.attack(script)
                if family == socket.AF_UNIX:
                    self.attack(script, "--network")
                else:
                    self.assertIn(b"WORKED", self.confined(script, "--network").stdout)

    def test_sockets_below(self):
        """a server that listens below the root is not reached, by whatever name"""
        self.git("init", "-q", "d/nested")
        script = self.python("import socket, sys\ns = socket.socket(socket.AF_UNIX)\n"
                             "try: s.connect(sys.argv[1])\nexcept OSError as e: print(e)\nelse: print('WORKED')\n")
        for name in ("server", "d/server", "d/nested/server"):
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(self.root / name))
                server.listen()
                for way in (name, "moved/server", "link", "hard", f"/proc/self/root{self.root}/{name}"):
                    line = (f"ln -s {name} link; ln {name} hard; mv {os.path.dirname(name) or name} moved; "
                            f"{script} {way}; mv moved {os.path.dirname(name) or name}; rm -f link hard")
                    for options in ((), ("--network",)):
                        self.assertNotIn(b"WORKED", self.confined(line, *options).stdout, (name, way))
                self.assertIn(b"WORKED", self.airlock("run", "--", "sh", "-c", f"{script} {name}").stdout)
            (self.root / name).unlink()

    # Limits.

    def test_deep(self):
        """directories are looked at to a depth of 200; deeper ones are refused before, and named after"""
        where = self.base / "elsewhere"
        for depth in (199, 200, 201):
            (where / "/".join("d" * depth)).mkdir(parents=True)
            done = self.confined("echo ran", cwd=where)
            self.assertEqual((done.returncode, b"too deep" in done.stderr), (128, True) if depth > 200 else (0, False))
            shutil.rmtree(where)
            where.mkdir()
            made = "/".join("d" * depth)
            done = self.confined(f"mkdir -p {made}; touch {made}/HEAD {made}/commondir", cwd=where)
            self.assertEqual((b"was renamed" in done.stderr, b"too deep" in done.stderr), (True, depth > 200))
            shutil.rmtree(where)

    def test_many(self):
        """as many git directories as bubblewrap takes words for; with more nothing runs"""
        tools, where = self.base / "bin", self.base / "elsewhere"
        tools.mkdir()
        (tools / "bwrap").write_text('#!/bin/sh\necho $# >&2; exit 1\n', encoding="ascii")
        (tools / "bwrap").chmod(0o755)

        def words():
            done = self.confined("true", cwd=where, env={"PATH": f"{tools}:{os.environ['PATH']}"})
            return int(done.stderr.split()[-1]) if done.stderr.split()[-1].isdigit() else done.stderr

        where.mkdir()
        free = 8000 - words() + 6  # those of the command come last
        for i in range(free // 6 - 1):  # .git and the directory above, three words for each
            (where / str(i) / ".git").mkdir(parents=True)
        for name in (".git", ".Git", ".GIT", ".gIt"):
            (where / name).mkdir()
            seen = words()
            if not isinstance(seen, int):
                break
            self.assertLess(seen, 8100)  # bubblewrap itself takes 9000
        self.assertIn(b"too many git directories", seen)
        done = self.confined("echo ran", cwd=where)
        self.assertEqual((done.returncode, done.stdout), (128, b""), done)

    def test_long(self):
        """a command of more words than bubblewrap takes does not run at all"""
        done = self.airlock("run", "--confine", "--", "echo", *["x"] * 10000)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (128, b"", 1), done)

    def test_requests(self):
        """a request has 4 MB, and 16 gits run at once: another one waits"""
        done = self.confined(self.python(SEND + """
root = os.getcwd().encode()
for more in (-1, 0, 1):
    data = b"\\0" + root + b"\\0--version\\0"
    data += b"x\\0" * ((4 << 20) + more - len(data) + 1)
    data = data[:(4 << 20) + more] + b"\\0"
    sys.stderr.write(f"{more}: "); sys.stderr.flush()
    send(data)
idle = []
for n in (15, 16):
    while len(idle) < n:
        idle.append(socket.socket(socket.AF_UNIX)); idle[-1].connect("%s")
    pid = os.fork()
    if not pid:
        for one in idle: one.close()
        print(send(b"\\0" + root + b"\\0--version\\0"), flush=True)
        os._exit(0)
    if n == 16:
        import time; time.sleep(1)
        print("waited", os.waitpid(pid, os.WNOHANG)[0] == 0, flush=True)
        idle[0].close()
    os.waitpid(pid, 0)
""" % SOCKET))
        self.assertEqual([line.rsplit("airlock: ", 1)[-1] for line in done.stderr.decode().splitlines()],
                         ["args cannot contain more than 10000 elements"] * 2 + ["this is no git of a sandbox"] * 17)
        ran = self.git("--version").stdout.decode() + "b'\\x00'\n"
        self.assertEqual(done.stdout.decode(), f"{ran}waited True\n{ran}")

    def test_processes(self):
        """others can be neither seen nor signalled nor traced, and the shim cannot be traced"""
        with subprocess.Popen(["sleep", "600"]) as other:
            self.addCleanup(other.kill)
            self.attack(f"kill -0 {other.pid} && echo WORKED")
            self.attack(f"[ -e /proc/{other.pid} ] && [ \"$(cat /proc/{other.pid}/comm)\" = sleep ] && echo WORKED")
            other.kill()
        trace = ("import ctypes, subprocess\nc = subprocess.Popen(['sleep', '60'])\n"
                 "print('WORKED' if ctypes.CDLL(None).ptrace(16, c.pid, None, None) == 0 else '')\nc.kill()")
        self.attack(self.python(trace))
        self.attack(self.python(trace.replace("'sleep', '60'", "'git', 'hash-object', '--stdin'], stdin=-1"
                                              ).replace("stdin=-1]", "stdin=-1")))

    def test_terminal(self):
        """nothing is typed into the terminal"""
        script = self.python("import fcntl, os, termios\nfor c in 'echo':\n"
                             "    try: fcntl.ioctl(0, termios.TIOCSTI, c.encode())\n"
                             "    except OSError as e: print(e)\n    else: print('WORKED')\n")
        for words, typed in (((), True), (("--confine",), False)):
            pid, terminal = os.forkpty()
            if pid == 0:
                os.chdir(self.root)
                os.execve(harness.AIRLOCK, ["airlock", "run", *words, "sh", "-c", script + "; echo ENDED"], self.env)
            seen = b""
            try:
                while piece := os.read(terminal, 4096):
                    seen += piece
            except OSError:
                pass
            os.waitpid(pid, 0)
            os.close(terminal)
            self.assertIn(b"ENDED", seen)
            if typed and b"WORKED" not in seen:
                self.skipTest("this kernel has no TIOCSTI")
            self.assertEqual(b"WORKED" in seen, typed, seen)

    def test_background(self):
        """nothing of it goes on after its end"""
        script = ("(setsid sh -c 'trap \"\" HUP TERM; for i in 1 2 3 4 5 6 7 8; do sleep 0.2; echo x >>late; done'"
                  " >/dev/null 2>&1 &); sleep 0.3")
        for run, stays in ((lambda: self.airlock("run", "sh", "-c", script), True),
                           (lambda: self.confined(script), False)):
            run()
            before = (self.root / "late").read_text(encoding="ascii")
            time.sleep(0.7)
            self.assertEqual((self.root / "late").read_text(encoding="ascii") != before, stays)
            time.sleep(1.5)
            (self.root / "late").unlink()

    def test_killed(self):
        """when airlock is killed, so is the sandbox"""
        script = "echo ready; while :; do sleep 0.1; echo x >>late; done"
        with subprocess.Popen([harness.AIRLOCK, "run", "--confine", "--", "sh", "-c", script], cwd=self.root,
                              env=self.env, stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.kill()
        time.sleep(0.3)
        (self.root / "late").unlink(missing_ok=True)
        time.sleep(0.5)
        self.assertFalse((self.root / "late").exists())

    def test_privileges(self):
        """no set-uid program gains anything, and no namespace or mount is made"""
        self.attack("grep -q 'NoNewPrivs:.0' /proc/self/status && echo WORKED")
        if os.geteuid() == 0:
            self.attack("cp /usr/bin/id t; chown 65534 t; chmod u+s t; [ $(./t -u) = 65534 ] && echo WORKED")
        self.attack("unshare -r true && echo WORKED")
        self.attack("echo x >/usr/airlock-test && echo WORKED; rm -f /usr/airlock-test" if os.geteuid() == 0
                    else "unshare -rm true && echo WORKED")

    def test_elsewhere(self):
        """what would be written elsewhere fails, instead of vanishing with the sandbox"""
        place = f"/var/tmp/airlock-test-{os.getpid()}"
        self.attack(f"mkdir -p {place} && rmdir {place} && echo WORKED")
        done = self.confined("for i in / /dev; do mkdir $i/x && echo WORKED; done; "
                             "for i in $HOME /tmp /dev/shm .; do echo x >$i/x && cat $i/x; done; echo x >/dev/null")
        self.assertEqual((done.returncode, done.stdout), (0, b"x\n" * 4), done)

    def test_tmp(self):
        """/tmp is its own"""
        with open(f"/tmp/airlock-test-{os.getpid()}", "w", encoding="ascii") as file:
            file.write("WORKED")
        self.addCleanup(os.unlink, file.name)
        self.attack(f"cat {file.name}")
        self.confined("echo x >/tmp/airlock-test-inside")
        self.assertFalse(pathlib.Path("/tmp/airlock-test-inside").exists())


if __name__ == "__main__":
    harness.main()
