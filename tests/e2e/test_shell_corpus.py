#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command lines: hostile ones are refused or confined, ordinary ones give bash's output to the byte.

Each hostile line stands with a part of the reason it is refused with; the confined ones are let
through by the parser and the rules, and then come to nothing.
"""
import json
import os
import subprocess

import harness

WHITELIST = "not in whitelist"
SUBSTITUTION = "(command substitution) is not allowed"
VARIABLE = "(a variable) is not allowed"
EXPANSION = "(an expansion) is not allowed"
OUTSIDE = "Redirect outside the working directory"
PROTECTED = "Protected path"
RUNS = "would run a program"
WRITES = "would write a file"
CLOCK = "could set the clock"
GIT = "it is not among the options that only read"
VERB = "only log, diff, show and status are"
GO = "is not one of build, test, run and mod"
BRACES = "(brace expansion) is not allowed"

REFUSED = (
    # commands that are not there
    ("rm -rf .", "Command 'rm' not in whitelist"), ("mv a.txt b", "Command 'mv' not in whitelist"),
    ("cp a.txt b", WHITELIST), ("chmod 777 a.txt", WHITELIST), ("chown root a.txt", WHITELIST),
    ("sudo ls", "Command 'sudo' not in whitelist"), ("su -c ls", WHITELIST),
    ("curl http://localhost", WHITELIST), ("wget localhost", WHITELIST), ("sh -c ls", WHITELIST),
    ("bash", WHITELIST), ("python3 -c 1", WHITELIST), ("perl -e 1", WHITELIST),
    ("awk BEGIN", WHITELIST), ("sed -i s/a/b/ a.txt", WHITELIST), ("tee out", WHITELIST),
    ("xargs rm", WHITELIST), ("env ls", WHITELIST), ("nohup ls", WHITELIST),
    ("timeout 1 ls", WHITELIST), ("time ls", WHITELIST), ("eval ls", WHITELIST),
    ("exec ls", WHITELIST), ("source a.txt", WHITELIST), (". a.txt", WHITELIST),
    ("command ls", WHITELIST), ("builtin echo", WHITELIST), ("ln -s / x", WHITELIST),
    ("dd if=/dev/zero", WHITELIST), ("touch x", WHITELIST), ("mkdir x", WHITELIST),
    ("kill 1", WHITELIST), ("nc localhost 1", WHITELIST), ("ssh localhost", WHITELIST),
    ("cd /", WHITELIST), ("export A=1", WHITELIST), ("alias ls=rm", WHITELIST),
    ("set -x", WHITELIST), ("trap ls EXIT", WHITELIST), ("printf x", WHITELIST),
    ("read x", WHITELIST), ("test -e a", WHITELIST), ("[ -e a ]", WHITELIST),
    ("[[ -e a ]]", WHITELIST), ("! ls", WHITELIST), ("{ ls", WHITELIST), ("if ls", WHITELIST),
    # ways to say the same
    ("'rm' -rf .", WHITELIST), ("r\\m x", WHITELIST), ('"rm" x', WHITELIST), ("r''m x", WHITELIST),
    ("/bin/ls", "Command '/bin/ls' not in whitelist"), ("./ls", WHITELIST), ("../ls", WHITELIST),
    ("LS", WHITELIST), ("ls\u00a0", WHITELIST), ("l?", WHITELIST), ("/bin/l*", WHITELIST),
    ("A=1 ls", WHITELIST), ("LD_PRELOAD=x ls", WHITELIST), ("PATH=. ls", WHITELIST),
    ("'' ls", WHITELIST), ("'ls -l'", WHITELIST), ("ls | rm", WHITELIST), ("ls |sudo ls", WHITELIST),
    ("ls|sh", WHITELIST), ("cat a.txt | bash", WHITELIST), ("ls | tee x | cat", WHITELIST),
    # lists, background, subshells
    ("ls; rm a.txt", "';' is not allowed"), ("ls;ls", "';'"), ("ls &", "'&' is not allowed"),
    ("ls & ls", "'&'"), ("ls && ls", "'&&' is not allowed"), ("ls||ls", "'||' is not allowed"),
    ("ls |& cat", "'|&' is not allowed"), ("ls &> out", "'&>' is not allowed"),
    ("ls &>> out", "'&>'"), ("(ls)", "(subshell) is not allowed"), ("ls (", "(subshell)"),
    ("ls )", "(subshell)"), ("ls\nrm a.txt", "A newline is not allowed"),
    ("ls\r\nls", "A control character is not allowed"), ("ls 'a\nb'", "A newline"),
    ("ls \x01", "A control character"), ("ls \x7f", "A control character"),
    ("ls \\\nls", "A newline"), ("coproc ls", WHITELIST), ("f() { ls", "(subshell)"),
    # substitution and expansion
    ("echo `id`", SUBSTITUTION), ('echo "`id`"', SUBSTITUTION), ("`ls`", SUBSTITUTION),
    ("echo $(id)", EXPANSION), ('echo "$(id)"', EXPANSION), ("echo ${HOME}", EXPANSION),
    ("echo $HOME", VARIABLE), ('echo "$HOME"', VARIABLE), ("echo $((1+1))", EXPANSION),
    ("echo $[1+1]", EXPANSION), ("echo $?", EXPANSION), ("echo $$", EXPANSION),
    ("echo $!", EXPANSION), ("echo $*", EXPANSION), ("echo $@", EXPANSION), ("echo $#", EXPANSION),
    ("echo $-", EXPANSION), ("echo $1", VARIABLE), ("echo $_", EXPANSION), ("$SHELL", VARIABLE),
    ("echo $'a'", "before a quote"), ('echo $"a"', "before a quote"), ("l$x", VARIABLE),
    ("echo ~", "(a home directory)"), ("ls ~root", "(a home directory)"),
    ("cat ~/.ssh/id_rsa", "(a home directory)"), ("echo a=~/x", "(a home directory)"),
    ("echo PATH=a:~/x", "(a home directory)"), ("echo {a,b}", BRACES), ("ls {1..9}", BRACES),
    ("echo a{b,c}d", BRACES), ('echo {"a b",c}', BRACES), ("{ls,-l}", BRACES),
    ("ls # x", "(a comment)"), ("#", "(a comment)"),
    # redirects
    ("ls > ../outside.txt", OUTSIDE), ("ls > /etc/x", OUTSIDE), ("ls >/tmp/x", OUTSIDE),
    ("ls > d/../../x", OUTSIDE), ("ls >> ../x", OUTSIDE), ("ls 2> ../x", OUTSIDE),
    ("ls 2>> /x", OUTSIDE), ("cat < /etc/passwd", OUTSIDE), ("cat < ../x", OUTSIDE),
    ("ls > '../x'", OUTSIDE), ("ls > ..", OUTSIDE), ("ls > /dev/tcp/127.0.0.1/1", OUTSIDE),
    ("ls > /dev/sda", OUTSIDE), ("ls > /proc/self/mem", OUTSIDE), ("ls > /", OUTSIDE),
    ("ls > .git/config", PROTECTED), ("ls > .git/hooks/pre-commit", PROTECTED),
    ("ls > .GIT/x", PROTECTED), ("ls > .Git/x", PROTECTED), ("ls > d/.git/x", PROTECTED),
    ("ls > git~1/x", PROTECTED), ("cat < .git/config", PROTECTED), ("ls 2> .git/x", PROTECTED),
    ("cat << X", "(here-document)"), ("cat <<< x", "(here-string)"), ("cat <(ls)", "(process"),
    ("ls > >(cat)", "(process"), ("ls >| x", "'>|' is not allowed"), ("ls <> x", "'<>'"),
    ("ls >& x", "'>&' is not allowed"), ("ls 1>&2", "'>&'"), ("ls >&-", "'>&'"),
    ("ls 2>&-", "'>&'"), ("ls 2>&12", "'>&'"), ("cat <&0", "'<&'"), ("ls 3> x", "Such a descriptor"),
    ("ls 10> x", "Such a descriptor"), ("ls 9< x", "Such a descriptor"),
    ("ls {x}> y", "'{' before a redirect"), ("ls > *", "A pattern after a redirect"),
    ("ls > a > b", "redirected twice"), ("ls > x 2> y 2>&1", "redirected twice"),
    ("ls 2>&1 > x", "behind 2>&1"), ("ls >", "needs the name"), ("> x", "A command is missing"),
    ("ls > ''", "needs the name"), ("ls > $X", VARIABLE), ("ls > ~/x", "(a home directory)"),
    # what is not whole
    ("ls |", "A command is missing beside '|'"), ("| ls", "A command is missing"),
    ("ls | | ls", "A command is missing"), ("echo 'a", "is not closed"), ('echo "a', "is not closed"),
    ("echo a\\", "at the end is not allowed"), ("  ", "must not be empty"),
    # arguments that would do something else
    ("find . -exec cat a.txt", RUNS), ("find . -execdir cat", RUNS), ("find . -ok cat", RUNS),
    ("find . -okdir cat", RUNS), ("find . -delete", "would remove files"),
    ("find . '-delete'", "would remove files"), ("find . -de\\lete", "would remove files"),
    ("find . -fprint x", WRITES), ("find . -fprint0 x", WRITES), ("find . -fprintf x y", WRITES),
    ("find . -fls x", WRITES), ("date -s 2000-01-01", CLOCK), ("date --set=2000-01-01", CLOCK),
    ("date --se=2000-01-01", CLOCK), ("date 010100002000", CLOCK), ("date -us 2000", CLOCK),
    ("date -d now 010100002000", CLOCK), ("date -f a.txt", CLOCK), ("git", VERB),
    ("git commit -m x", VERB), ("git push", VERB), ("git -c core.pager=id log", VERB),
    ("git -C / log", VERB), ("git --exec-path=/tmp log", VERB), ("git --git-dir=/ log", VERB),
    ("git -p log", VERB), ("git config x y", VERB), ("git checkout .", VERB), ("git gc", VERB),
    ("git LOG", VERB), ("git log --output=x", GIT), ("git log --outpu=x", GIT),
    ("git diff --output x", GIT), ("git diff --ext-diff", GIT), ("git log --ext-d", GIT),
    ("git show --textconv", GIT), ("git diff --no-index a b", GIT), ("git log --show-signature", GIT),
    ("git diff -Oa.txt", GIT), ("git diff --submodule=diff", GIT), ("git log --help", GIT),
    ("git status --column", GIT), ("git log --exec=x", GIT), ("git log --no-pager", GIT),
    ("go generate", GO), ("go env -w A=b", GO), ("go install x", GO), ("go get x", GO),
    ("go tool x", GO), ("go vet -vettool=x", GO), ("go", GO), ("go -C / build", GO),
    ("go run -exec sh .", RUNS), ("go run -exec=sh .", RUNS), ("go run --exec=sh .", RUNS),
    ("go build -toolexec=sh", RUNS), ("go test -exec sh", RUNS), ("go test -vettool=x", RUNS),
    ("go build -o .git/hooks/pre-commit", ".git directory"),
    ("go test -coverprofile=.git/x", ".git directory"), ("go build -C / .", WRITES),
    ("go build -overlay=x", WRITES),
    # patterns that leave
    ("ls ../*", "leaves the working directory"), ("cat /etc/*", "leaves the working directory"),
    ("ls d/../../*", "leaves the working directory"), ("ls '..'/*", "leaves the working directory"),
)

# (line, what the result must hold in its stderr, and must not in its stdout)
CONFINED = (
    ("cat /etc/passwd", "Permission denied", "root:"),
    ("cat ../outside/secret", "Permission denied", "secret"),
    ("head -c 10 ../outside/secret", "Permission denied", "secret"),
    ("grep -r secret ../outside", "Permission denied", "secret"),
    ("find ../outside -type f", "Permission denied", "secret"),
    ("cat link", "Permission denied", "secret"),
    ("cat linkdir/secret", "Permission denied", "secret"),
    ("tail -n 1 /etc/group", "Permission denied", "root"),
    ("grep -f ../outside/secret a.txt", "Permission denied", "secret"),
    ("wc ../outside/secret", "Permission denied", "1"),
    ("ls -R ../outside", "Permission denied", "secret"),
    ("cat /proc/self/environ", "Permission denied", "PATH"),
    ("cat /proc/1/environ", "Permission denied", "PATH"),
    ("cat /etc/shadow", "Permission denied", "root"),
    ("ls /var /etc", "Permission denied", "passwd"),
)

ORDINARY = (
    "ls", "ls -a", "ls -1 d", "ls *.txt", "ls d/*", "ls nothing*", "ls -d */", "ls -a | head -n 3",
    "cat a.txt", "cat a.txt b.txt", "cat < a.txt", "cat -n a.txt | tail -n 2", "cat nosuch",
    "cat a.txt nosuch", "cat nosuch 2>&1 | wc -l", "cat 'name with spaces.txt'",
    'cat "name with spaces.txt"', "cat name\\ with\\ spaces.txt", "grep two a.txt",
    "grep -c o a.txt b.txt", "grep -r three .", "grep 'o$' a.txt", 'grep "o$" a.txt',
    "grep -v one a.txt | grep three", "grep -E 't(wo|hree)' a.txt", "grep nothing a.txt",
    "grep -rn two d a.txt", "find . -name '*.txt'", "find d -type f", "find . -maxdepth 1 -type d",
    "find . -name \\*.md | wc -l", "head -n 1 a.txt", "head -c 3 a.txt", "tail -n 1 a.txt",
    "tail -c 4 a.txt", "wc a.txt", "wc -l *.txt", "wc -c < a.txt", "echo", "echo hello world",
    "echo -n hello", "echo -e 'a\\tb\\x41\\u00e9\\0101\\n'", "echo -e 'a\\cb' c", "echo -E 'a\\tb'",
    "echo -ne 'x\\n'", "echo -x -n", "echo 'a  b' \"c  d\" e\\ f", "echo *", "echo .*", "echo d/*.md",
    "echo [ab].txt", "echo [!a].txt", "echo [^a].txt", "echo ?.txt", "echo *.nothing", "echo '*'",
    'echo "*"', "echo \\*", "echo [[:alpha:]].txt", "echo d/*/", "echo \u00e4*", "echo ?*.md",
    "echo a$ $ %", "echo {} {a} x{y", "echo a~b HEAD~1", "echo 2 > out; cat out".split(";")[0],
    "echo \"a'b\" 'c\"d'", 'echo "a\\b\\\\c\\"d\\$e"', "echo a#b", "echo one two | wc -w",
    "echo hi | cat | cat | cat", "ls | echo x", "pwd", "pwd -P", "date -u -d @0 +%Y-%m-%d",
    "date -u -d @86400 -R", "date -ud @0 --rfc-3339=seconds", "ls nosuch 2>/dev/null", "ls > out",
    "cat a.txt > out", "cat a.txt >> out", "ls nosuch 2> out", "cat a.txt nosuch > out 2>&1",
    "echo x >out", "echo a 2>out", "cat <a.txt >out", "grep -q one a.txt", "echo -- -n", "echo -",
    "head -n 100000 /dev/zero | head -c 0", "ls -n nosuch a.txt | wc -l", "cat d/sub/deep.md",
    "ls [", "ls a[", "echo d/[s]ub/*.md", "echo *//*.md d//*.md *//", "echo -e '\\\\n' '\\q'", "echo 'tab	tab'",
    "echo a=b c:d e,f", "echo !", "echo a! !b", "echo ^ % @ + = , : / .",
)

# The same as bash's, but for the words in which a command that is not there is named.
GIT_LINES = ("git log --oneline", "git status --short", "git show --stat HEAD", "git diff",
             "git --no-pager log -n 1", "git log -1 --format=%s", "git diff --cached", "git diff HEAD",
             "git log --oneline | wc -l", "git show HEAD:a.txt", "git log --author=Thor | head -n 3",
             "git status -sb", "git diff --stat -- a.txt", "git log nosuch")


class Corpus(harness.Case):
    """A repository with files of odd names, and a secret outside."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write("a.txt", "one\ntwo\nthree\n")
        self.write("b.txt", "zero\n")
        self.write("name with spaces.txt", "spaces\n")
        self.write("\u00e4.txt", "umlaut\n")
        self.write(".hidden", "hidden\n")
        self.write("d/x.md", "two\n")
        self.write("d/y.md", "three\n")
        self.write("d/sub/deep.md", "deep\n")
        outside = self.base / "outside"
        outside.mkdir()
        (outside / "secret").write_text("secret\n", encoding="utf-8")
        self.server = harness.Server(self, "--toolset", "shell", "--tool=command")

    def run_line(self, line):
        """One live call."""
        return self.server.call("bash_command", {"command": line, "reason": "test"})

    def tree(self):
        """Every file and its content."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            if path.is_file() and not path.is_symlink():
                found[str(path)] = path.read_bytes()
        return found


class Hostile(Corpus):
    def setUp(self):
        super().setUp()
        (self.root / "link").symlink_to(self.base / "outside/secret")
        (self.root / "linkdir").symlink_to(self.base / "outside")

    def test_refused(self):
        """R3-6 hostile lines are refused by name, and nothing happens"""
        self.assertGreaterEqual(len(REFUSED) + len(CONFINED), 150)
        before = self.tree()
        for line, reason in REFUSED:
            result = self.run_line(line)
            self.assertTrue(result.failed, line)
            self.assertIn(reason, result.text, line)
            self.assertEqual(result.text, result.error["message"], line)
            self.assertIn(result.kind, ("SandboxViolation", "BadArgs"), line)
            self.assertNotIn("structuredContent", result.value, line)
        self.assertEqual(self.tree(), before)

    def test_refused_dry(self):
        """R3-6 a dry run refuses the same"""
        server = harness.Server(self, "--toolset", "shell")
        for line, reason in REFUSED:
            result = server.call("bash_command", {"command": line, "reason": "test"})
            self.assertTrue(result.failed, line)
            self.assertIn(reason, result.text, line)

    def test_confined(self):
        """what is let through cannot read outside the root and the system's programs"""
        if not self.landlock():
            self.skipTest("no Landlock here")
        for line, words, absent in CONFINED:
            result = self.run_line(line)
            value = result.value["structuredContent"]
            self.assertTrue(result.failed, (line, value))
            self.assertIn(words, value["stderr"], line)
            if absent:
                self.assertNotIn(absent, value["stdout"].replace("outside/secret", ""), line)

    def landlock(self):
        """Whether this kernel has it."""
        done = subprocess.run([harness.AIRLOCK, "--version"], env=self.env, capture_output=True,
                              check=True, timeout=harness.WATCHDOG_SECONDS)
        return b"Landlock ABI" in done.stdout

    def test_names_like_options(self):
        """a pattern that expands to an option is checked like one"""
        for name in ("-delete", "-fprint"):
            self.write(name, "")
            result = self.run_line("find *")
            self.assertIn(f"'{name}' is not allowed", result.text)
            (self.root / name).unlink()
        self.write("--output=x", "")
        self.assertIn("'--output=x' is not allowed", self.run_line("git log *").text)
        self.assertFalse((self.root / "x").exists())

    def test_redirect_through_links(self):
        """a redirect never follows a link, whatever it leads to"""
        for line in ("echo x > link", "echo x > linkdir/new", "echo x >> link", "ls 2> link",
                     "cat < link", "echo x > inner", "echo x > innerdir/f"):
            (self.root / "inner").unlink(missing_ok=True)
            (self.root / "inner").symlink_to("a.txt")
            (self.root / "innerdir").unlink(missing_ok=True)
            (self.root / "innerdir").symlink_to("d")
            result = self.run_line(line)
            self.assertEqual(result.kind, "SandboxViolation", line)
            self.assertIn("through a link", result.text, line)
        self.assertEqual((self.base / "outside/secret").read_text(encoding="utf-8"), "secret\n")
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "one\ntwo\nthree\n")

    def test_redirect_to_no_file(self):
        """a redirect to a directory or a fifo fails at once"""
        os.mkfifo(self.root / "fifo")
        for line in ("echo x > d", "echo x > fifo", "cat < fifo", "cat < d", "echo x > no/such"):
            self.assertEqual(self.run_line(line).kind, "ExecutionFailed", line)

    def test_code(self):
        """a redirect into .git is 7002"""
        for name in (".git/x", ".GIT/x", "d/.gIt/y"):
            self.assertEqual(self.run_line(f"echo x > {name}").error["code"], 7002)


class Ordinary(Corpus):
    def bash(self, line):
        """What bash says, run in the same environment."""
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "dumb", "HOME": "/nonexistent"}
        done = subprocess.run(["bash", "-c", line], cwd=self.root, env=env, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False,
                              timeout=harness.WATCHDOG_SECONDS)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_like_bash(self):
        """R3-7 ordinary lines give bash's output, errors and exit code to the byte"""
        self.assertGreaterEqual(len(ORDINARY), 60)
        out = self.root / "out"
        for line in ORDINARY:
            out.write_text("before\n", encoding="utf-8")
            want = self.bash(line), out.read_bytes()
            out.write_text("before\n", encoding="utf-8")
            value = self.run_line(line).value.get("structuredContent")
            self.assertIsNotNone(value, line)
            got = (value["exit_code"], value["stdout"], value["stderr"]), out.read_bytes()
            self.assertEqual(got, want, line)

    def test_git(self):
        """git's commands print what git prints"""
        self.git("add", "b.txt")
        for line in GIT_LINES:
            words = subprocess.run(["bash", "-c", line], cwd=self.root, stdin=subprocess.DEVNULL,
                                   env=self.env | {"GIT_PAGER": "cat"}, capture_output=True,
                                   check=False, timeout=harness.WATCHDOG_SECONDS)
            value = self.run_line(line).value["structuredContent"]
            self.assertEqual((value["exit_code"], value["stdout"], value["stderr"]),
                             (words.returncode, words.stdout.decode(), words.stderr.decode()), line)

    def test_previews_agree(self):
        """a dry run of an ordinary line shows the words that a live one gives its programs"""
        server = harness.Server(self, "--toolset", "shell")
        value = server.ok("bash_command", {"command": "ls d/* 'x y' | wc -l", "reason": "test"})
        stages = json.loads(value.text)["stages"]
        self.assertEqual(stages, [
            {"command": "ls", "args": ["d/sub", "d/x.md", "d/y.md", "x y"]},
            {"command": "wc", "args": ["-l"]}])


if __name__ == "__main__":
    harness.main()
