#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""airlock git: what git prints and how it ends is what it is without airlock; what has no row is
refused; what a command changed comes back."""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import harness

#: Command lines, and what is on their standard input.  Each begins in a fresh copy of one repository.
LINES = """
status | status -sb | status --porcelain=v2 --branch | diff | diff --cached | diff --stat HEAD~2
diff --word-diff HEAD -- a.txt | diff --exit-code | diff HEAD~1 nowhere | log | log --oneline --graph --all
log -p -2 | log --format=%h%x09%an%x09%s -n 3 | log --since=2001-01-01 -- dir | show | show HEAD~1:a.txt
show --stat side | blame HEAD -- a.txt | blame -L 1,1 -s a.txt | grep -n line | grep -c nothing | ls-files
ls-files -s -o --exclude-standard | ls-tree -r HEAD | cat-file -p HEAD | cat-file -t HEAD:dir
cat-file --batch-check < HEAD | rev-parse HEAD | rev-parse --abbrev-ref HEAD | rev-parse --show-toplevel
rev-parse --git-dir | rev-parse --git-path hooks | rev-parse --verify -q nowhere | rev-list --count HEAD
merge-base HEAD side | for-each-ref | show-ref | describe --tags --always | shortlog -sn HEAD
name-rev --name-only HEAD | reflog | range-diff HEAD~2 HEAD side | diff-tree --name-status -r HEAD
diff-index HEAD | diff-files | check-ignore -v x.log | check-ref-format --branch main | count-objects
fsck | var GIT_AUTHOR_IDENT | version | --version | branch | branch -a -v | branch --show-current | tag
tag -l -n | remote -v | stash list | worktree list | config -l --local | config user.name | notes list
hash-object --stdin < text | -C dir status -s | -C nowhere status | --no-pager log -1 --oneline
-c core.quotePath=false status -s | -c color.ui=always status -s | st -s | last | symbolic-ref HEAD
archive --format=tar HEAD dir | format-patch --stdout -1 | apply --stat < PATCH
add u.txt | add -A | add nowhere | rm --cached dir/b.txt | rm a.txt | rm -f a.txt | mv dir/b.txt c.txt
commit -m second | commit -am all | commit -m nothing dir | commit --amend --no-edit | commit -q -F - < words
restore a.txt | restore --staged s.txt | checkout -- a.txt | checkout side | checkout -b new | checkout -f side
switch side | switch -c topic | switch nowhere | reset | reset --soft HEAD~1 | reset --hard HEAD~1 | reset -q s.txt
stash | stash push -m mine -- a.txt | stash -u | stash pop | branch topic | branch -d side | branch -D side
branch -m side away | tag v2 | tag -a v3 -m three | tag -d v1 | merge side | merge --no-ff -m joined clean
cherry-pick clean | revert --no-edit HEAD | rebase clean | clean -n | clean -f | clean -fd | apply < PATCH
update-ref refs/heads/x HEAD | notes add -m note | stash show -p | stash list -p | switch --force side
branch --abbrev -D side | notes show HEAD~2 | commit -u -am all | config --get user.name | switch -Cclean | config color.ui false
remote add up ../up | gc -q | init -q sub | write-tree
config -- user.name other | config -- user.name | branch -- topic | tag -- v9 | symbolic-ref -- HEAD refs/heads/side
merge-tree main side | merge-tree --write-tree main clean | merge-tree --trivial-merge clean main side | worktree prune -n
merge side --abort | commit --dry-run -m x | help | help -a | describe --broken --tags | rev-parse --is-inside-work-tree --show-prefix
"""

#: With a submodule that has changes of its own.
SUBMODULE = ("add -A", "add .", "add sub", "add -u", "add u.txt", "commit -qam x", "commit -qm x", "rm --cached sub", "mv sub away", "stash", "reset --hard", "checkout side", "update-index sub", "restore .",
             "describe --dirty")

SHOWN = ("status", "--porcelain"), ("for-each-ref",), ("ls-files", "-s"), ("stash", "list"), \
    ("config", "-l", "--local"), ("log", "-1", "--format=%T %B", "HEAD")

HOOKS = ("applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg",
         "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "post-rewrite")

#: Lines that run hooks, or nearly; what precedes " ; " is plain git's.
HOOKED = """
commit --allow-empty -m x | commit --allow-empty --no-verify -m x | commit --amend -m x | commit --amend --no-edit -n
commit --dry-run --allow-empty -m x | cherry-pick clean | cherry-pick -n clean | cherry-pick --ff ahead | cherry-pick side
cherry-pick side ; checkout --theirs a.txt ; add a.txt ; cherry-pick --continue | cherry-pick side ; cherry-pick --abort
cherry-pick side ; cherry-pick --skip | revert --no-edit HEAD | revert -n HEAD
merge --no-edit clean | merge --no-verify --no-edit clean | merge --ff-only ahead | merge --squash clean | merge --no-commit clean
merge --no-commit clean ; commit --no-edit | merge --no-commit clean ; merge --abort
rebase clean | rebase --no-verify clean | rebase --apply clean | rebase --no-ff HEAD~1 | rebase HEAD~1 | rebase ahead
rebase clean ahead | rebase --onto clean HEAD~1 | rebase side ; checkout --theirs a.txt ; add a.txt ; rebase --continue
rebase side ; rebase --skip | rebase side ; rebase --abort | reset -q --hard clean~1 ; am < PATCH | reset -q --hard clean~1 ; am -3 < PATCH
pull --no-rebase --no-edit | pull --no-rebase --no-verify --no-edit | pull --rebase | reset -q --hard clean~1 ; pull --rebase
reset -q --hard clean~1 ; pull --ff-only | reset -q --hard up/main ; pull | pull --no-rebase --no-edit up main | fetch
push up side | push -n up side | push --no-verify up side
checkout side | checkout -b new | checkout -- a.txt | checkout side -- a.txt | switch side | switch -c new | switch --detach
restore a.txt | restore --source=side --staged a.txt | stash branch new | stash pop | worktree add wt | worktree add -b new wt side
worktree add --no-checkout wt | reset --hard HEAD~1 | branch new | tag v9 | bisect start HEAD HEAD~2 | bisect start HEAD HEAD~2 ; bisect reset
"""

#: Lines over an ignored file, x.log, and beside it; what precedes " ; " is plain git's.
OVER_IGNORED = """
cherry-pick side | cherry-pick -n side | cherry-pick side~1..side | revert --no-edit gone | checkout -q both ; revert --no-edit gone
stash pop | stash apply stash@{0} | stash pop 0 | stash branch new | checkout side -- x.log | checkout side x.log
checkout side -- . | checkout side -- *.log | restore --source=side x.log | restore -s side -WS -- x.log | checkout far | switch far
checkout --detach side | checkout -b new side | remote rm up ; rebase side | remote rm up ; rebase --onto side HEAD~1
remote rm up ; rebase main side | merge --squash side | pull --no-rebase | pull --rebase | pull --no-rebase up far
checkout side -- x.log ; commit -qm x ; rm -q --cached x.log ; reset --hard | mv -f dir/b.txt x.log | read-tree -m -u HEAD side
checkout side -- x.log ; commit -qm x ; rm -q --cached x.log ; checkout -f | bisect start ; bisect bad gone ; bisect good side~1
checkout -q side ; bisect start HEAD HEAD~2 ; checkout -q main ; bisect reset
bisect start gone side~1 | cherry-pick ^side~1 gone | cherry-pick -m 2 twice
remote rm up ; rebase main gone | merge --allow-unrelated-histories alien | checkout :/has | reset --hard :/has
restore --sourc=side x.log
"""
BESIDE_IGNORED = """
cherry-pick clean | revert --no-edit HEAD | checkout side -- a.txt | checkout side a.txt | restore --source=side a.txt
restore -s side -S x.log | checkout clean | switch -c new | remote rm up ; rebase clean | merge --no-edit clean
merge -s ours -m x side | remote rm up ; reset --hard HEAD~1 | remote rm up ; reset side | checkout -q both ; merge gone
checkout -q both ; cherry-pick gone | stash drop | bisect start HEAD HEAD~2 | mv dir/b.txt c.txt | worktree add wt side | fetch up
branch new side | stash -u | checkout -f | mv dir/b.txt x.log | clean -fd | checkout nowhere | merge nowhere
bisect start | fetch up far ; pull --no-rebase --dry-run up main | remote rm up ; checkout -q clean ; rebase main
"""

#: What is refused, and a word of the way there is instead.
REFUSED = {
    "add -p": "hunks", "commit": "-m", "commit --amend": "--no-edit", "commit -am x -S": "signatures",
    "rebase --update-refs side": "update_refs", "-c rebase.updateRefs=true rebase side": "leave it out",
    "rebase -i HEAD~1": "plan", "rebase -x true HEAD~1": "program", "frobnicate": "not run",
    "filter-branch": "git_rebase", "difftool": "git_conflicts", "push": "git_push", "fetch origin": "remote add",
    "submodule foreach ls": "-C PATH", "submodule update -i": "--init", "submodule clone --name=.. --path=x --url=./a": "init",
    "submodule --depth clone init --name=.. --path=x --url=./a": "init", "submodule -- foreach ls": "init", "config core.pager less": "the user can set",
    "config core.fsmonitor x": "the user can set", "config --global user.name x": "--global",
    "config alias.x !sh": "the user can set", "config -- core.pager less": "the user can set", "config -e": "config KEY", "config --file x -l": "any file",
    "-c core.pager=less log": "leave it out", "-c diff.external=x diff": "leave it out",
    "--exec-path=/tmp status": "leave it out", "--config-env=a=b status": "leave it out",
    "diff --ext-diff": "program", "log -p --textconv": "program", "show --remerge-diff": "-m", "grep -O line": "pager",
    "mktag": "git tag", "replace -l": "git_rebase", "rerere": "git_conflicts", "mergetool": "git_conflicts",
    "sh": "run its command", "help everyday": "-h", "status --help": "-h", "branch --edit-description": "config",
    "tag -s v9": "signatures", "tag -a v9": "-m", "bisect run sh": "bisect good", "bisect view": "log", "clean -i": "-n",
    "checkout -p": "files", "stash -p": "stash push", "remote update x": "remote add", "notes edit": "-m",
    "stash -p show": "stash push", "update-ref --stdin": "line of its own", "worktree add .git/x": "git's own",
    "worktree add -b x -- ../../../x": "outside of the roots", "worktree move x none/../x": "git's own",
    "checkout-index -a --prefix=.git/hooks/": "leave it out", "read-tree --index-output=.git/x HEAD": "leave it out",
    "repack --expire-to=.git/x": "leave it out", "commit-tree -S HEAD^{tree}": "signatures",
    "submodule add --reference /tmp x y": "no other place",
    "symbolic-ref refs/heads/alias refs/heads/main": "git branch", "symbolic-ref -m x -- refs/a refs/heads/main":
    "git branch", "commit -m x --trailer a=b": "-m TEXT", "log --format=%(describe)": "git describe",
    "--git-dir=/tmp status": "-C", "--bare log": "leave it out", "-C": "value is missing", "-c": "value is missing",
    "archive -o .git/refs/heads/keep HEAD": "standard output", "archive -vo.git/refs/heads/keep HEAD": "standard output",
    "archive --outp=.git/refs/heads/keep HEAD": "standard output", "archive --output x.tar HEAD": "standard output",
    "format-patch -1": "--stdout", "format-patch -o .git/refs/heads -1": "--stdout",
    "format-patch --output-dir=.git/refs/heads -1": "--stdout", "format-patch --output .git/refs/heads/keep -1": "--stdout",
    "apply --build-fake-ancestor=.git/refs/heads/keep p": "leave it out", "apply --stat --build .git/x p": "leave it out",
    "apply --unsafe-paths p": "leave it out", "apply --ind p": "leave it out", "gc --expire-to=.git/x": "leave it out",
    "stash export --to-ref refs/heads/keep": "no rule", "init .git/refs/heads/keep": "git's own", "init -q -- x/.GIT": "git's own",
}


class CommandGit(harness.Case):
    toolsets = ()

    def setUp(self):
        super().setUp()
        self.init()
        self.commit("a.txt", "one\nline\n", "first")
        self.commit("dir/b.txt", "b\n", "second")
        self.git("tag", "v1")
        self.git("branch", "clean")
        self.git("branch", "side")
        self.commit("a.txt", "one\nline\nthree\n", "third")
        self.git("checkout", "-q", "side")
        self.commit("a.txt", "other\nline\n", "on the side")
        self.git("checkout", "-q", "clean")
        self.commit("clean.txt", "clean\n", "clean")
        self.git("checkout", "-q", "main")
        self.write(".git/info/exclude", "*.log\n")
        self.write("a.txt", "one\nline\nthree\nfour\n")
        self.git("stash")
        self.write("s.txt", "staged\n")
        self.git("add", "s.txt")
        self.write("a.txt", "one\nline\nthree\nmore\n")
        self.write("u.txt", "untracked\n")
        self.write("new/v.txt", "untracked too\n")
        self.write("x.log", "ignored\n")
        self.git("config", "alias.st", "status --branch")
        self.git("config", "alias.last", "log -1 '--format=%s and more'")
        self.git("config", "alias.sh", "!sh")
        self.patch = self.git("diff", "clean~1", "clean").stdout
        self.template = self.base / "template"
        shutil.copytree(self.root, self.template, symlinks=True)

    def fresh(self):
        shutil.rmtree(self.root)
        shutil.copytree(self.template, self.root, symlinks=True)
        self.git("update-index", "-q", "--refresh", check=False)

    def run_line(self, program, words, stdin=b"", cwd=None, **variables):
        env = self.env | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": "1800000000 +0000",
                          "GIT_COMMITTER_DATE": "1800000000 +0000"} | variables
        done = subprocess.run([*program, *words], cwd=cwd or self.root, env=env, input=stdin,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        return done.stdout.decode(), done.stderr.decode(), done.returncode

    def airlock(self, *words, **options):
        return self.run_line([harness.AIRLOCK, "git"], words, **options)

    def shown(self):
        return [self.git(*words, check=False).stdout for words in SHOWN]

    def both(self, line):
        """What plain git and airlock say to a line, each in a fresh copy, and leave there."""
        words, _, given = line.partition(" < ")
        stdin = {"PATCH": self.patch, "": b""}.get(given, given.encode() + b"\n")
        answers = []
        for program in (["git"], [harness.AIRLOCK, "git"]):
            self.fresh()
            answers.append((self.run_line(program, words.split(), stdin), self.shown()))
        return answers

    def test_lines(self):
        """stdout, stderr, exit status and what is changed are plain git's"""
        lines = [line.strip() for row in LINES.strip().splitlines() for line in row.split(" | ")]
        self.assertGreater(len(lines), 120)
        for line in lines:
            plain, ours = self.both(line)
            with self.subTest(line):
                self.assertEqual(ours, plain, line)

    def test_shim(self):
        """called through a link named git it is the same, and finds the real one"""
        shim = self.base / "shim"
        shim.mkdir()
        (shim / "git").symlink_to(harness.AIRLOCK)
        path = f"{shim}:{self.env['PATH']}"
        self.assertEqual(self.run_line(["git"], ["log", "--oneline"], PATH=path),
                         self.run_line(["git"], ["log", "--oneline"]))
        out, _, code = self.run_line([str(shim / "git")], ["frobnicate"], PATH=path)
        self.assertEqual((out, code), ("", 128))

    def test_alone(self):
        """git alone shows its usage, as git does"""
        for words in ((), ("--no-pager",), ("-c", "color.ui=always")):
            out, err, code = self.airlock(*words)
            self.assertEqual((out.split()[:2], err, code), (["usage:", "git"], "", 1))

    def test_usage(self):
        """what a command takes is read, of those too that connect, write or open an editor; help shows it as well"""
        for command in "status", "push", "commit", "branch", "worktree":
            plain = self.run_line(["git"], [command, "-h"])
            self.assertEqual(plain[2], 129)
            self.assertEqual(self.airlock(command, "-h"), plain)
            self.assertEqual(self.airlock("help", command), plain)
        plain, (out, *rest) = self.run_line(["git"], ["bisect", "-h"]), self.airlock("bisect", "-h")
        self.assertEqual([out.splitlines()[0], *rest], [plain[0].splitlines()[0], *plain[1:]])

    def test_denied(self):
        """the mode deny lets nothing make a repository"""
        self.policy('[tools.approval]\nmode = "deny"\n')
        for words in ("init", "new"), ("clone", ".", "new"):
            out, err, code = self.airlock(*words)
            self.assertEqual((out, code, (self.root / "new/.git").exists()), ("", 128, False), err)

    def test_rename_of_another(self):
        """a branch that another worktree has checked out keeps its name"""
        self.git("worktree", "add", "-q", str(self.base / "wt"), "side")
        for words in ("-m", "side", "new"), ("-qM", "side", "new"), ("-m", "--", "side", "new"):
            out, err, code = self.airlock("branch", *words)
            self.assertEqual((out, code, self.out("branch", "--list", "new")), ("", 128, ""), err)
            self.assertIn("'side' is checked out in the worktree", err)
        self.assertEqual(self.airlock("branch", "-m", "clean", "new"), ("", "", 0))

    def test_refused(self):
        """what may not be done ends with 128 and one line that names a way"""
        (self.root / ".git/modules").mkdir()
        for line, way in REFUSED.items():
            before = self.shown()
            out, err, code = self.airlock(*line.split())
            with self.subTest(line):
                self.assertEqual((out, code), ("", 128), err)
                self.assertRegex(err, r"\Aairlock: git [^\n]* is refused: [^\n]*\n\Z")
                self.assertIn(way, err)
                self.assertEqual(self.shown(), before)

    def test_file_elsewhere(self):
        """a file outside of the roots cannot be read: git fails, and airlock says why and what to do"""
        message = self.base / "message"
        message.write_text("text\n", encoding="ascii")
        for words in (("-F", str(message)), (f"--file={message}",), (f"-F{message}",)):
            out, err, code = self.airlock("commit", "--allow-empty", *words)
            self.assertEqual((out, code), ("", 128), err)
            self.assertIn(f"airlock: {message} is outside of the roots, where git reads nothing; copy it", err)
        self.assertNotIn("airlock:", self.airlock("show", "none/tmp")[1])
        self.write("message", "text\n")
        self.assertEqual(self.airlock("commit", "--allow-empty", "-qF", str(self.root / "message")), ("", "", 0))

    def test_end_of_options(self):
        """what follows --end-of-options is no option of git, so it makes nothing of a removal that reads"""
        for line, gone in (("clean -f --end-of-options -n u.txt", "u.txt"),
                           ("rm -fq --ignore-unmatch --end-of-options --cached a.txt", "a.txt")):
            self.git(*line.split())  # the control: plain git removes it
            self.assertFalse((self.root / gone).exists())
            self.fresh()
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code, (self.root / gone).exists()), ("", 128, True), err)
            self.assertIn("--end-of-options is refused", err)
        self.assertEqual(self.airlock("rev-parse", "--verify", "--end-of-options", "HEAD")[2], 0)

    def test_init(self):
        """git init makes nothing in a git directory, whatever leads there"""
        (self.root / "link").symlink_to(".git/refs/heads")
        for line in ("init --bare link/keep", "init --bare none/../link/keep", "-C .git/refs init --bare heads/keep",
                     f"init --bare {self.root}/.git/refs/heads/keep", "-C link/. init"):
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code), ("", 128), line)
            self.assertIn("git's own", err)
        self.assertFalse((self.root / ".git/refs/heads/keep").exists())

    def test_environment(self):
        """variables that say where are refused, those that run programs are dropped"""
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NOTES_REF", "GIT_CONFIG"):
            out, err, code = self.airlock("status", **{name: str(self.root / ".git")})
            self.assertEqual((out, code), ("", 128))
            self.assertEqual(err, f"airlock: {name} is set; unset it, or name the place with -C DIRECTORY\n")
        fired = self.base / "fired"
        hostile = {"GIT_EXTERNAL_DIFF": f"touch {fired}", "GIT_PAGER": f"touch {fired}",
                   "GIT_EDITOR": f"touch {fired}", "GIT_CONFIG_COUNT": "1",
                   "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": f"touch {fired}",
                   "GIT_TRACE": str(fired)}
        self.run_line(["git"], ["diff"], **hostile)
        self.assertTrue(fired.exists())
        fired.unlink()
        self.assertEqual(self.airlock("diff", **hostile), self.run_line(["git"], ["diff"]))
        self.assertFalse(fired.exists())

    def test_ceilings(self):
        """git looks for a repository in no directory that GIT_CEILING_DIRECTORIES has, nor above one"""
        self.write("dir/sub/x.txt", "x\n")
        for ceilings in str(self.root), f"{self.root}/dir:/", f"{self.root}/dir/sub", str(self.base), "/none":
            for line in "status -s", "rev-parse --show-toplevel", "add .":
                for place in "dir/sub", ".":
                    answers = []
                    for program in (["git"], [harness.AIRLOCK, "git"]):
                        answers.append(self.run_line(program, line.split(), cwd=self.root / place, GIT_CEILING_DIRECTORIES=ceilings))
                    self.assertEqual(answers[1], answers[0], (ceilings, line, place))

    def test_told_programs(self):
        """git var tells which editor and pager git would start"""
        self.env = {name: value for name, value in self.env.items() if "EDITOR" not in name and "PAGER" not in name}
        for variables in ({}, {"EDITOR": "nano", "PAGER": "more"}, {"VISUAL": "joe", "TERM": "xterm"}, {"TERM": "dumb"},
                          {"GIT_EDITOR": "ed -s", "GIT_PAGER": "less -F", "GIT_SEQUENCE_EDITOR": "vim"}):
            for name in "GIT_EDITOR", "GIT_PAGER", "GIT_SEQUENCE_EDITOR":
                for words in ("var", name), ("-C", "dir", "-c", "color.ui=false", "var", name):
                    self.assertEqual(self.airlock(*words, **variables), self.run_line(["git"], words, **variables))

    def test_no_pager(self):
        """values that start no pager and no editor are those that count anyway"""
        for line in ("-c core.pager=cat log", "-c core.pager= diff", "-c core.editor=true revert --no-edit HEAD",
                     "-c core.editor=: -c sequence.editor=true log -1"):
            plain, ours = self.both(line)
            self.assertEqual(ours, plain, line)
        for setting in "core.pager=less", "core.pager=cat x", "core.pager", "core.editor=vi", "core.editor=", "pager.log=cat":
            out, err, code = self.airlock("-c", setting, "log")
            self.assertEqual((out, code), ("", 128), setting)
            self.assertIn(f"-c {setting.partition('=')[0]} is refused: ", err)

    def test_closed_streams(self):
        """a stream that is closed is none for git, and nothing of airlock's own takes its place"""
        for line, streams in ("status", "0<&-"), ("log -1", ">&-"), ("nowhere", "2>&-"), ("tag closed", "<&- >&- 2>&-"):
            answers = []
            for program in "git", f"{harness.AIRLOCK} git":
                self.fresh()
                answers.append((self.run_line(["sh", "-c", f"{program} {line} {streams}"], ()), self.shown()))
            with self.subTest(line):
                self.assertEqual(answers[1][0][:2], answers[0][0][:2])
                self.assertEqual(answers[1][1], answers[0][1])

    @unittest.skipUnless(shutil.which("bwrap"), "bubblewrap is not installed")
    def test_read_only(self):
        """where nothing can be written, as in the sandbox of a client, reads are git's, and a commit is refused"""
        sandbox = ["env", "-u", "TMPDIR", "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
                   "--ro-bind", str(self.base), str(self.base)]
        self.fresh()
        for line in ("status --short", "log -1", "--version"):
            plain, ours = (self.run_line([*sandbox, *program], line.split())
                           for program in (["git"], [harness.AIRLOCK, "git"]))
            self.assertEqual(ours, plain, line)
        for program in (["git"], [harness.AIRLOCK, "git"]):
            self.assertEqual(self.run_line([*sandbox, *program], ["commit", "--allow-empty", "-m", "x"])[2], 128)

    def test_user_settings(self):
        """what the user's own configuration says about the output counts, and no program of it"""
        with open(self.home / ".gitconfig", "a", encoding="ascii") as f:
            f.write("[log]\n\tdate = iso\n\tabbrevCommit = true\n[color]\n\tui = always\n"
                    "[status]\n\tshort = true\n[format]\n\tpretty = fuller\n[core]\n\tpager = false\n")
        for line in ("log -2", "status", "diff", "branch"):
            plain, ours = self.both(line)
            self.assertEqual(ours, plain)

    def test_submodule(self):
        """a submodule with changes of its own keeps no command from what it does without airlock"""
        self.fresh()
        self.git("clone", "-q", ".", "sub")
        self.git("submodule", "--quiet", "add", "./sub")
        self.git("commit", "-qm", "with a submodule", "sub", ".gitmodules")
        self.git("submodule", "--quiet", "absorbgitdirs")
        self.git("config", "-f", ".git/modules/sub/config", "core.worktree", "../../../sub")
        clean = self.base / "clean"
        shutil.copytree(self.root, clean, symlinks=True)
        self.write("sub/a.txt", "changed in it\n")
        shutil.rmtree(self.template)
        shutil.copytree(self.root, self.template, symlinks=True)
        for line in SUBMODULE:
            plain, ours = self.both(line)
            with self.subTest(line):
                self.assertEqual(ours, plain, line)
        self.template = clean
        for line in "add -A", "rm --cached sub", "mv sub away":
            plain, ours = self.both(line)
            with self.subTest(line):
                self.assertEqual(ours, plain, line)
        self.fresh()
        for line in "rm sub", "rm -rf sub/", "-C dir rm -f -- ../sub":
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code), ("", 128), line)
            self.assertIn("git rm --cached", err, line)
        self.git("mv", "sub", "dir/sub")
        self.write("dir/sub/x.log", "ignored\n")
        self.assertNotEqual(self.airlock("rm", "-rf", "dir")[2], 0)
        self.assertTrue((self.root / "dir/sub/x.log").exists())

    def test_merge_driver(self):
        """a merge that needs a driver ends as git's does, and the driver is named"""
        self.git("reset", "-q", "--hard")
        self.git("config", "merge.mine.driver", "touch ran")
        self.write(".git/info/attributes", "a.txt merge=mine\n")
        out, err, code = self.airlock("merge", "side")
        self.assertGreater(code, 1)
        self.assertIn("airlock: merge drivers ('mine') do not run here", err.splitlines()[-1])
        self.assertFalse((self.root / "ran").exists())
        self.assertEqual(self.out("status", "--porcelain", "-uno"), "")

    def test_hooks(self):
        """a hook that git would have run is named once, and where it runs none or there is none, nothing is said"""
        for hook, line, other in (
                ("pre-commit", "commit -m x s.txt", "commit --no-verify --allow-empty -m y"),
                ("commit-msg", "commit -m x s.txt", "commit -n --allow-empty -m y"),
                ("post-commit", "cherry-pick clean", "cherry-pick --no-commit clean"),
                ("post-checkout", "switch --force side", "branch topic"),
                ("post-checkout", "checkout -- a.txt", "reset --soft HEAD"),
                ("post-merge", "merge clean --no-edit", "merge HEAD~1"),
                ("pre-merge-commit", "merge clean --no-edit", "merge --ff-only ahead"),
                ("post-merge", "merge --ff-only ahead", "merge --abort"),
                ("pre-rebase", "rebase --autostash clean", "rebase --no-verify --autostash clean"),
                ("post-rewrite", "rebase --autostash clean", "rebase --autostash HEAD~1")):
            path = self.root / ".git/hooks" / hook
            answers = []
            for mode, program, words in ((0o755, ["git"], line), (0o755, ["git"], other), (0o644, [harness.AIRLOCK, "git"], line),
                                         (0o755, [harness.AIRLOCK, "git"], line), (0o755, [harness.AIRLOCK, "git"], other)):
                self.fresh()
                if line.startswith(("merge", "cherry-pick")):
                    self.git("reset", "-q")
                self.git("branch", "ahead", self.out("commit-tree", "-p", "HEAD", "-m", "ahead", "HEAD^{tree}").strip())
                path.parent.mkdir(exist_ok=True)
                path.write_text(f"#!/bin/sh\ntouch {self.base}/ran\n", encoding="ascii")
                path.chmod(mode)
                out, err, code = self.run_line(program, words.split())
                self.assertEqual((self.base / "ran").exists(), program == ["git"] and words == line, (hook, words, err))
                (self.base / "ran").unlink(missing_ok=True)
                answers.append((out, err, code))
            self.assertEqual(answers[0][2], 0, answers[0])
            self.assertEqual(answers[2], answers[0], line)
            self.assertEqual(answers[3], (answers[0][0], f"{answers[0][1]}airlock: hook not run: {hook}\n", 0), line)
            self.assertEqual(answers[4], answers[1], other)

    def make_hooked(self):
        """Nothing uncommitted, a commit ahead of main and one of a remote, which main follows."""
        self.policy('[tools.approval]\nmode = "allow"\n')
        self.git("reset", "-q", "--hard")
        self.git("clean", "-qfdx")
        self.git("branch", "ahead", self.out("commit-tree", "-p", "HEAD", "-m", "ahead", "HEAD^{tree}").strip())
        self.git("clone", "-q", "--bare", ".", "up.git")
        self.write(".git/info/exclude", "*.log\nup.git\nwt\n")
        self.git("remote", "add", "up", "up.git")
        self.git("push", "-q", "up", "clean:main", "--force")
        self.git("fetch", "-q", "up")
        self.git("branch", "-q", "--set-upstream-to=up/main")
        self.write("stashed.txt", "x\n")
        self.git("add", "stashed.txt")
        self.git("stash", "-q")
        shutil.rmtree(self.template)
        shutil.copytree(self.root, self.template, symlinks=True)

    def hooked(self, program, line):
        """The hooks that a line runs, or that airlock names, and how it ends."""
        self.fresh()
        *before, line = line.split(" ; ")
        for words in before:
            self.git(*words.split(), check=False)
        for name in HOOKS:
            path = self.root / ".git/hooks" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/sh\necho {name} >>{self.base}/ran\n", encoding="ascii")
            path.chmod(0o755)
        words, _, given = line.partition(" < ")
        _, err, code = self.run_line(program, words.split(), self.patch if given else b"")
        ran = self.base / "ran"
        names = set(ran.read_text(encoding="ascii").split()) if ran.exists() else set()
        self.assertFalse(names and program != ["git"], (line, names))
        ran.unlink(missing_ok=True)
        said = [row for row in err.splitlines() if row.startswith("airlock: hook")]
        self.assertLessEqual(len(said), 1, err)
        named = set(re.sub("['\"]", "", said[0].partition("run: ")[2]).split(", ")) if said else set()
        return names or named, code

    def test_octopus(self):
        """git merges several branches at once by a shell script, which does not run: that is said, with a way"""
        self.make_hooked()
        self.assertEqual(self.run_line(["git"], "merge --no-edit clean clean~1".split())[2], 0)
        self.fresh()
        before = self.shown()
        out, err, code = self.airlock("merge", "--no-edit", "clean", "ahead")
        self.assertEqual((code, self.shown()), (2, before), out)
        self.assertIn("airlock: git merges several at once by a shell script, which does not run here; merge one after the other\n", err)

    def test_every_hook(self):
        """the hooks that are named are those that plain git runs"""
        self.patch = self.git("format-patch", "--stdout", "-1", "clean").stdout
        self.make_hooked()
        for line in [line.strip() for row in HOOKED.strip().splitlines() for line in row.split(" | ")]:
            with self.subTest(line):
                ran, code = self.hooked(["git"], line)
                self.assertEqual(self.hooked([harness.AIRLOCK, "git"], line), (ran, code))

    def test_hooks_of_all(self):
        """those that run whenever a reference or the index changes are named with what changes them"""
        for line, ran in ("tag v9", {"reference-transaction"}), ("add a.txt", {"post-index-change"}), ("log", set()):
            for name in "reference-transaction", "post-index-change":
                path = self.root / ".git/hooks" / name
                path.parent.mkdir(exist_ok=True)
                path.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
                path.chmod(0o755)
            err = self.airlock(*line.split())[1]
            self.assertEqual(err, "".join(f"airlock: hook not run: {name}\n" for name in ran), line)

    def test_unsigned(self):
        """a commit that the configuration wants signed says that it is not; what makes none does not say it"""
        self.make_hooked()
        self.git("config", "commit.gpgSign", "true")
        self.git("config", "gpg.program", "false")
        said = "airlock: not signed, although commit.gpgSign asks for it\n"
        control = self.run_line(["git"], "commit --allow-empty -m x".split())
        self.assertIn("gpg failed to sign", control[1])
        shutil.rmtree(self.template)
        shutil.copytree(self.root, self.template, symlinks=True)
        for line in ("commit --allow-empty -m x", "commit --amend --no-edit", "merge --no-edit side -X ours", "cherry-pick clean",
                     "revert --no-edit HEAD", "rebase clean", "pull --no-rebase --no-edit", "pull --rebase", "am < PATCH"):
            self.fresh()
            words, _, given = line.partition(" < ")
            out, err, code = self.airlock(*words.split(), stdin=self.git("format-patch", "--stdout", "-1", "clean").stdout if given else b"")
            self.assertEqual((code, err.count(said)), (0, 1), (line, out, err))
        for line in ("commit --allow-empty --no-gpg-sign -m x", "merge --ff-only ahead", "cherry-pick -n clean", "rebase HEAD~1",
                     "rebase ahead", "checkout side", "tag v9", "stash apply", "reset --hard HEAD~1", "merge --squash clean"):
            self.fresh()
            out, err, code = self.airlock(*line.split())
            self.assertEqual((code, err.count("not signed")), (0, 0), (line, out, err))

    def test_filters(self):
        """what goes through a filter is not staged without it, and what is written without it is said"""
        def write(**texts):
            for name, text in texts.items():
                (self.root / name.replace("_", ".")).write_text(text, encoding="ascii")
        for key, program in ("clean", "tr a-z A-Z"), ("smudge", "tr A-Z a-z"):
            self.git("config", f"filter.veil.{key}", program)
        write(_gitattributes="*.bin filter=veil\n", f_bin="hidden\n")
        self.git("add", ".gitattributes", "f.bin")
        self.assertEqual(self.out("cat-file", "-p", ":f.bin"), "HIDDEN\n")  # the control
        self.git("commit", "-m", "veil")
        self.refuse_raw(("add --renormalize .", "add --renormalize f.bin"))
        write(f_bin="changed\n", n_bin="new\n", o_txt="other\n", paths="f.bin\n", ign_bin="ignored\n")
        write(**{".git/info/exclude": "ign.*\npaths\n"})
        self.refuse_raw(("add f.bin", "add n.bin", "add .", "add -A", "add -u", "add :/", "add --pathspec-from-file=paths",
                         "add -f ign.bin", "--icase-pathspecs add N.BIN", "commit -a -m x", "commit -m x f.bin",
                         "commit -m x --pathspec-from-file=paths", "stash", "stash push", "stash push -m x", "stash -- f.bin",
                         "stash push f.bin", "stash save x", "update-index --add n.bin", "update-index --add ign.bin",
                         "update-index --again"))
        for line in ("add o.txt", "add -n f.bin", "add -N n.bin", "commit --allow-empty -m x", "stash list", "stash push o.txt",
                     "stash push -u -- o.txt", "add no.such", "tag v9", "update-index -q --refresh", "checkout -b topic",
                     "update-index --assume-unchanged f.bin", "checkout nope", "mv o.txt q.txt", "merge HEAD~1"):
            self.fresh()
            err = self.airlock(*line.split())[1].replace("airlock: filter not run: veil\n", "" if "stash" in line else "X")
            self.assertNotIn("X", err, line)
            self.assertNotIn("goes through", err, line)
        for line in ("checkout HEAD f.bin", "reset --hard", "restore f.bin"):
            self.fresh()
            out, err, code = self.airlock(*line.split())
            self.assertEqual((code, err.count("airlock: filter not run: veil\n")), (0, 1), (line, out, err))
        self.fresh()
        self.git("checkout", "-f", "HEAD")
        (self.root / "f.bin").unlink()
        self.assertEqual(self.airlock("add", "-u")[2], 0)  # nothing of it is stored
        self.fresh()
        self.git("checkout", "-f", "HEAD")
        self.refuse_raw(("stash -u", "stash push --include-untracked"))
        (self.root / "d").mkdir()
        for number in range(45000):
            (self.root / "d" / f"{number:0200}").touch()
        self.git("config", "core.excludesFile", "/dev/null")
        (self.root / "f.bin").write_text("late\n", encoding="ascii")
        out, err, code = self.airlock("add", ".")
        self.assertEqual((code, self.out("cat-file", "-p", ":f.bin")), (128, "HIDDEN\n"), (out, err))

    def refuse_raw(self, lines):
        """None of the lines stages anything, for the filter."""
        shutil.rmtree(self.template)
        shutil.copytree(self.root, self.template, symlinks=True)
        staged = self.out("ls-files", "-s")
        for line in lines:
            self.fresh()
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code, self.out("ls-files", "-s")), ("", 128, staged), (line, err))
            self.assertRegex(err, r"'[a-z]+\.bin' goes through the filter 'veil', a program airlock does not run", line)

    def test_subdirectory(self):
        """a directory below the top counts as git has it"""
        for line in ("status -s", "rev-parse --show-prefix --show-cdup --git-dir", "ls-files", "add .",
                     "log --oneline -- b.txt", "diff --relative HEAD~2"):
            answers = []
            for program in (["git"], [harness.AIRLOCK, "git"]):
                self.fresh()
                answers.append(self.run_line(program, line.split(), cwd=self.root / "dir"))
            self.assertEqual(*answers)

    def test_outside(self):
        """without a repository git says so, and what needs none goes on"""
        where = self.base / "elsewhere"
        where.mkdir()
        for line in ("status", "log", "version", "check-ref-format --branch x", "hash-object --stdin"):
            self.assertEqual(self.airlock(*line.split(), cwd=where),
                             self.run_line(["git"], line.split(), cwd=where), line)
        self.assertEqual(self.airlock("init", "-q", "made", cwd=where)[2], 0)
        self.assertTrue((where / "made/.git/HEAD").exists())

    def test_outside_roots(self):
        """where the configuration names roots, a repository beside them is refused in one line with a way"""
        other = self.base / "other"
        self.git("init", "-q", str(other), cwd=self.base)
        self.policy(f'roots = ["{self.root}"]\n')
        refused = f"airlock: '{other}' is outside of the roots; the user adds it to `roots` in the configuration file, which then names this repository too\n"
        for line in "status", "version", "commit --allow-empty -m x":
            self.assertEqual(self.airlock("-C", str(other), *line.split()), ("", refused, 128), line)
        self.assertEqual(self.airlock("status", cwd=other), ("", refused, 128))

    def test_undo(self):
        """each command that changes something is one execution, and comes back"""
        self.write("a.txt", "precious\n")
        self.airlock("reset", "--hard", "HEAD~1")
        self.assertNotEqual((self.root / "a.txt").read_text(encoding="ascii"), "precious\n")
        done = subprocess.run([harness.AIRLOCK, "rollback", "--force"], cwd=self.root, env=self.env,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.root / "a.txt").read_text(encoding="ascii"), "precious\n")

    def test_undo_remote(self):
        """a remote comes back with its branches"""
        self.git("remote", "add", "up", "../up")
        self.git("update-ref", "refs/remotes/up/main", "HEAD")
        before = self.shown()
        for line in "remote rename up down", "remote remove up", "branch -rd up/main":
            self.assertEqual(self.airlock(*line.split())[2], 0)
            self.assertNotEqual(self.shown(), before)
            subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.root, env=self.env, check=True,
                           capture_output=True, timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(self.shown(), before, line)

    def test_journal(self):
        """the journal has tool, operation and words, without secrets"""
        self.policy('[[tools.approval.rule]]\ndecision = "allow"\ntool = "git"\noperation = "remote"\n')
        self.airlock("commit", "-m", "a message", "--author", "A <a@b>")
        self.airlock("remote", "add", "up", "https://me:secretword@example.com/x")
        self.airlock("log", "-1")
        log = self.home / ".local/state/airlock/tool_log.jsonl"
        lines = [json.loads(line) for line in log.read_text(encoding="ascii").splitlines()]
        self.assertEqual([(line["tool"], line["operation"]) for line in lines],
                         [("git", "commit"), ("git", "remote"), ("git", "log")])
        self.assertEqual(lines[0]["input"]["args"][:3], ["commit", "-m", "a message"])
        self.assertNotIn("secretword", json.dumps(lines))
        shown = subprocess.run([harness.AIRLOCK, "log", "1"], cwd=self.root, env=self.env, check=True,
                               capture_output=True, text=True, timeout=harness.WATCHDOG_SECONDS).stdout
        self.assertTrue(shown.endswith(" git log -1\n"), shown)

    def policy(self, rules):
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(rules, encoding="ascii")

    def test_rules(self):
        """rules match the words of everyday and those of git, branches and paths"""
        rule = '[[tools.approval.rule]]\ndecision = "deny"\n'
        for words, line, other in (
                ('tool = "git_reset"\noperation = "hard"', "reset --hard", "reset"),
                ('tool = "git"\noperation = "commit"', "commit -m x", "status"),
                ('tool = "git_switch"\nbranch = "side"', "checkout side", "checkout -b new"),
                ('tool = "git"\nbranch = "clean"', "checkout -Bclean HEAD", "checkout -Btopic HEAD"),
                ('tool = "git"\nbranch = "clean"', "switch -fCclean HEAD", "switch -fCtopic HEAD"),
                ('tool = "git"\nbranch = "clean"', "switch --force-create=clean HEAD", "switch side"),
                ('tool = "git"\nbranch = "clean"', "stash branch clean", "stash push -m clean"),
                ('tool = "git"\nbranch = "clean"', "worktree add wt/clean/", "worktree add wt/topic"),
                ('tool = "git"\nbranch = "a/clean"', "checkout -qt up/a/clean", "checkout -bx -t up/a/clean"),
                ('tool = "git"\npath = "dir/*"', "show HEAD:dir/b.txt -- a.txt", "show HEAD -- a.txt"),
                ('tool = "git"\npath = "dir/*"', "grep b HEAD:dir -- b.txt", "grep b HEAD -- a.txt"),
                ('tool = "git"\npath = "dir/*"', "restore --source=HEAD:dir -- b.txt", "restore -- a.txt"),
                ('tool = "git"\npath = "dir/*"', "restore -sHEAD:dir b.txt", "restore -sHEAD a.txt"),
                ('tool = "git"\npath = "dir/*"', "checkout HEAD:dir -- b.txt", "commit -m a:b -- a.txt"),
                ('tool = "git"\npath = "dir/*"', "grep b TREE -- b.txt", "grep b main -- a.txt"),
                ('tool = "git"\npath = "dir/*"', "restore -s TREE b.txt", "restore -s main a.txt"),
                ('tool = "git"\npath = "dir/*"', "checkout TREE -- b.txt", "checkout main -- a.txt"),
                ('effect = "discards_work"', "clean -f", "add u.txt"),
                ('tool = "git_add"\npath = "secret/*"', "add secret/x", "add u.txt")):
            self.fresh()
            self.policy(rule + words + "\n")
            line = line.replace("TREE", self.out("rev-parse", "HEAD:dir").strip() if "TREE" in line else "")
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code), ("", 128), line)
            self.assertRegex(err, r"\Aairlock: [^\n]*rule 1 of the configuration[^\n]*\n\Z")
            self.assertNotIn("rule 1", self.airlock(*other.split())[1], other)
        self.policy(rule + 'tool = "git_reset"\nmessage = "no hard resets"\n')
        self.assertIn("airlock: no hard resets. Denied by rule 1 ", self.airlock("reset", "--hard")[1])

    def test_asks(self):
        """a question nobody can answer ends with 128, and says how a user grants it"""
        self.git("worktree", "add", "-q", str(self.base / "x"), "clean")
        for line in ("clean -fx", "clean --exc -- -fx", "clean --exclude -- -fx", "stash -a", "stash push --al",
                     "stash push -q --mess -- -a", "worktree remove x", "worktree move x y", "worktree prune", "submodule deinit --all",
                     "submodule sync", "submodule set-url x y", "gc --prune=now", "gc -q --pru=now", "prune", "repack -ad",
                     "reflog expire --expire=now --all", "reflog delete HEAD@{0}"):
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code), ("", 128))
            self.assertRegex(err, r"\Aairlock: [^\n]*airlock review[^\n]*\n\Z")
            self.assertTrue((self.root / "x.log").exists())

    def make_ignored(self):
        """A file on the side that is ignored here."""
        self.git("reset", "-q", "--hard")
        self.git("checkout", "-q", "side")
        self.write("x.log", "theirs\n")
        self.git("add", "-f", "x.log")
        self.git("commit", "-qm", "has the file")
        self.git("checkout", "-q", "main")
        shutil.rmtree(self.template)
        shutil.copytree(self.root, self.template, symlinks=True)

    def test_ignored(self):
        """what would write over an ignored file asks, and names it; plain git does not"""
        self.make_ignored()
        for line in ("checkout side", "checkout -f side", "switch side", "switch -f -", "switch -c new side", "merge --no-edit side",
                     "reset --hard side", "rebase side"):
            self.fresh()
            self.write("x.log", "mine\n")
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code, (self.root / "x.log").read_text(encoding="ascii")), ("", 128, "mine\n"), line)
            self.assertIn("'x.log' would be lost", err, line)
            self.assertIn("airlock review", err, line)
            self.run_line(["git"], line.split())
            self.assertNotEqual((self.root / "x.log").read_text(encoding="ascii"), "mine\n", line)
        for line in "reset --soft side", "reset side", "checkout side -- a.txt", "branch new side":
            self.fresh()
            self.write("x.log", "mine\n")
            self.assertNotIn("x.log' would be", self.airlock(*line.split())[1], line)

    def make_ignored_everywhere(self):
        """It comes with a commit of a remote, an entry of the stash and a revert, too."""
        self.make_ignored()
        self.git("stash", "clear")
        self.git("clone", "-q", "--bare", ".", "up.git")
        self.git("remote", "add", "up", "up.git")
        self.git("push", "-q", "up", "side:far", self.out("commit-tree", "-p", "main", "-m", "has it", "side^{tree}").strip() + ":main", "--force")
        self.git("fetch", "-q", "up", "far")
        self.git("branch", "-q", "--set-upstream-to=up/main")
        self.git("checkout", "-q", "-b", "gone", "side")
        self.git("rm", "-q", "x.log")
        self.git("commit", "-qm", "removes it")
        self.git("checkout", "-q", "-b", "both", "main")
        self.git("merge", "-q", "-s", "ours", "-m", "joins", "gone")
        self.git("checkout", "-q", "main")
        self.git("branch", "alien", self.out("commit-tree", "-m", "alien", "side^{tree}").strip())
        self.git("branch", "twice", self.out("commit-tree", "-p", "side", "-p", "clean", "-m", "has it", "side^{tree}").strip())
        self.write("x.log", "stashed\n")
        self.git("add", "-f", "x.log")
        self.git("stash", "-q")
        self.write(".git/info/exclude", "*.log\nup.git\nwt\n")
        shutil.rmtree(self.template)
        shutil.copytree(self.root, self.template, symlinks=True)

    def over_ignored(self, program, line):
        """How a line ends where the file is there, what it says, and what the file has then."""
        self.fresh()
        *before, line = line.split(" ; ")
        for words in before:
            self.git(*words.split(), check=False)
        self.write("x.log", "mine\n")
        _, err, code = self.run_line(program, line.split())
        path = self.root / "x.log"
        return code, err, path.read_text(encoding="ascii") if path.exists() else None

    def test_ignored_each(self):
        """whatever line it is: where plain git would write over the file, it asks and names it"""
        self.make_ignored_everywhere()
        for line in [line.strip() for row in OVER_IGNORED.strip().splitlines() for line in row.split(" | ")]:
            with self.subTest(line):
                self.assertNotEqual(self.over_ignored(["git"], line)[2], "mine\n", "plain git leaves it")
                code, err, left = self.over_ignored([harness.AIRLOCK, "git"], line)
                self.assertEqual((code, left), (128, "mine\n"), err)
                self.assertIn("'x.log' would be lost", err)
                self.assertIn("airlock review", err)

    def test_ignored_in_no_way(self):
        """where it would not, nobody is asked"""
        self.make_ignored_everywhere()
        for line in [line.strip() for row in BESIDE_IGNORED.strip().splitlines() for line in row.split(" | ")]:
            with self.subTest(line):
                code, err, left = self.over_ignored(["git"], line)
                self.assertEqual(left, "mine\n", err)
                self.assertEqual(self.over_ignored([harness.AIRLOCK, "git"], line)[::2], (code, left), line)

    @contextlib.contextmanager
    def waiting(self, *words):
        """A command that waits for a review, what it said before, and what a review lists."""
        sockets = self.home / "airlock"
        sockets.mkdir(mode=0o700, exist_ok=True)
        with open(sockets / "review.lock", "w+", encoding="ascii") as lock:
            fcntl.lockf(lock, fcntl.LOCK_SH)
            with subprocess.Popen([harness.AIRLOCK, "git", *words], cwd=self.root, env=self.env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
                self.addCleanup(process.kill)
                said = [process.stderr.readline()]
                while said[-1] and "waiting for approval" not in said[-1]:
                    said.append(process.stderr.readline())
                self.assertEqual(said.pop(), "airlock: waiting for approval in airlock review\n")
                yield process, said, json.loads(self.command("review", "--list", "--json")[0])[0]
                process.kill()

    def command(self, *words):
        """Another command of airlock."""
        done = subprocess.run([harness.AIRLOCK, *words], cwd=self.root, env=self.env, check=True, capture_output=True,
                              text=True, timeout=harness.WATCHDOG_SECONDS)
        return done.stdout, done.stderr

    def question(self, *words):
        """What a review shows of a command that waits for it."""
        with self.waiting(*words) as (_, said, entry):
            self.assertEqual(said, [])
            return entry["text"]

    def test_ignored_approved(self):
        """the question is whole and says what would be lost, once; approved, what is written over is kept, and named"""
        self.make_ignored()
        for line in "checkout -f side", "merge --no-edit side", "reset --hard side":
            self.fresh()
            self.write("x.log", "mine\n")
            with self.waiting(*line.split()) as (process, said, entry):
                loss = "'x.log' would be lost: the checkpoint does not have it"
                self.assertEqual(len(said), 1, said)
                self.assertTrue(said[0].startswith(f"airlock: warning: {loss}"), said)
                self.assertTrue(entry["text"].startswith(loss), entry)
                shown, problem = self.command("review", "show", entry["id"])
                self.assertIn(loss, shown)
                self.assertEqual(problem, "")
                self.command("review", "approve", entry["id"])
                err = process.communicate(timeout=harness.WATCHDOG_SECONDS)[1]
                self.assertEqual(process.returncode, 0, err)
            self.assertNotIn("would be lost", err)
            self.assertEqual((self.root / "x.log").read_text(encoding="ascii"), "theirs\n", line)
            kept = re.search("^airlock: x.log: (.*)$", err, re.MULTILINE)
            self.assertEqual(pathlib.Path(kept[1]).read_text(encoding="ascii"), "mine\n", err)
            self.assertIn("ignored:\n  x.log\n", self.command("rollback")[0])

    def test_left_behind(self):
        """what takes pushed commits from a branch asks, and lists them; what moves no branch does neither"""
        for name in "main", "side":
            self.git("update-ref", f"refs/remotes/up/{name}", name)
        for line, taken in (("reset --hard HEAD~1", "HEAD~1..HEAD"), ("reset --soft HEAD~2", "HEAD~2..HEAD"),
                            ("commit --amend -m x", "-1"), ("commit --am --no-edit s.txt", "-1"),
                            ("rebase clean", "clean..HEAD"), ("rebase clean side", "clean..side"),
                            ("rebase --onto clean HEAD~1", "-1"), ("rebase --root", "HEAD"), ("rebase --root side", "side")):
            commits = self.out("log", "--format=  %h %s", "--abbrev=8", taken)
            self.assertIn(f"These commits leave the branch:\n{commits}", self.question(*line.split()) + "\n", line)
        for line in "reset HEAD~1 -- a.txt", "reset HEAD~1 a.txt", "reset HEAD", "commit -m x":
            self.assertNotIn("airlock", self.airlock(*line.split())[1], line)
            self.fresh()

    def test_unreachable(self):
        """what removes commits that nothing names any more asks, since no checkpoint has them; plain git removes them"""
        lines = "reflog expire --expire=now --all", "gc -q --prune=now", "prune"
        for line in lines:
            self.fresh()
            lost = self.out("commit-tree", "-m", "lost", "HEAD^{tree}").strip()
            self.airlock(*line.split())
            self.assertEqual(self.out("cat-file", "-t", lost), "commit\n", line)
        for line in lines:
            self.run_line(["git"], line.split())
        self.assertNotEqual(self.run_line(["git"], ["cat-file", "-e", lost])[2], 0)

    def test_clean(self):
        """the question names what would go, as git says it, and nothing has gone"""
        self.write("dir/\x1b[2J.log", "ignored\n")
        for line in ("clean -fx", "clean -fdx", "clean -fdX", "clean -fdxq", "clean -fx -e u.*", "clean -fx --exc -- dir",
                     "clean -fX -- dir/*.log", "-C dir clean -fx", "clean -x --no-dry-run -f"):
            plain = self.out(*line.replace("clean", "clean -n").replace("q", "").replace("--no-dry-run", "").split())
            text = self.question(*line.split())
            self.assertIn("Would remove ", plain)
            self.assertEqual([shown for shown in text.splitlines() if "Would " in shown], plain.splitlines(), line)
            self.assertTrue((self.root / "x.log").exists() and (self.root / "dir/\x1b[2J.log").exists())

    def test_worktree_remove(self):
        """the question names what is lost; without --force git keeps it, and nobody is asked"""
        self.git("worktree", "add", "-q", "wt", "clean")
        self.write("wt/mine.txt", "mine\n")
        out, err, code = self.airlock("worktree", "remove", "wt")
        self.assertEqual((out, code), ("", 128))
        self.assertEqual(err, "airlock: 'wt' contains modified or untracked files, use --force to delete it\n")
        text = self.question("worktree", "remove", "--force", "wt")
        self.assertIn("no rollback brings it back", text)
        self.assertIn("untracked: mine.txt", text)
        self.git("worktree", "add", "-q", str(self.base / "far/away"), "side")
        (self.base / "far/away/u.txt").write_text("mine\n")
        self.assertIn("untracked: u.txt", self.question("worktree", "remove", "--force", "away"))
        for name in "away", "../far/away":
            shutil.rmtree(self.base / "far/away", ignore_errors=True)
            self.assertNotIn("cannot be told", self.question("worktree", "remove", name))
        for words in [], ["away", "wt"]:  # git says how it is used
            self.assertNotIn("untracked", self.question("worktree", "remove", *words))
        for name in "nowhere", "far", ".git", "../far/away/":
            self.assertEqual(self.airlock("worktree", "remove", "--force", name),
                             ("", f"airlock: '{name}' is not a working tree\n", 128))

    def test_push_refused_tags(self):
        """the question says that only tags go there, where some are new"""
        moved = self.out("commit-tree", "-m", "elsewhere", "main^{tree}").strip()
        self.git("clone", "-q", "--bare", ".", "up.git")
        self.git("remote", "add", "up", "up.git")
        self.git("push", "-q", "up", moved + ":refs/heads/main", "--force")
        self.assertNotIn("Only tags", self.question("push", "--tags", "up", "main"))
        self.git("tag", "mine", "main")
        self.assertIn("Only tags go there. ", self.question("push", "--tags", "up", "main"))

    def test_new_address(self):
        """an address elsewhere that no remote has is asked about before a remote leads there"""
        self.git("remote", "add", "up", "https://a.example/x")
        self.git("config", "branch.main.description", "https://b.example/x")
        with open(self.home / ".gitconfig", "a", encoding="ascii") as f:
            f.write('[url "https://c.example/"]\n\tinsteadOf = mine/\n')
        before = self.shown()
        for line in ("add evil https://b.example/x", "add -t main -- evil b.example:x", "set-url up ssh://b.example/x",
                     "set-url --add --push up https://b.example/x", "add evil mine/x", "add evil ext::sh",
                     "-v add evil git://b.example/x"):
            out, err, code = self.airlock("remote", *line.split())
            self.assertEqual((out, code), ("", 128), line)
            self.assertIn("airlock review", err, line)
            self.assertEqual(self.shown(), before, line)
        for line in "add same https://a.example/x", "add here ../up", "set-url here file:///up", "rename same other":
            self.assertEqual(self.airlock("remote", *line.split()), ("", "", 0), line)

    def test_lock(self):
        """the lock of another git is waited for as long as the configuration says"""
        self.policy("[tools.git]\ntimeout_ms = 300\n")
        self.write(".git/index.lock", "")
        out, err, code = self.airlock("add", "u.txt")
        self.assertEqual((out, code), ("", 128))
        self.assertIn("Another git process holds index.lock", err)

    def test_no_toolset(self):
        """no server offers it"""
        done = subprocess.run([harness.AIRLOCK, "call", "--toolset", "commands", "git"], cwd=self.root,
                              env=self.env, capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown toolset", done.stderr)
        for words in ("policy", "explain", "git"), ("call", "run"), ("tools", "git"):
            done = subprocess.run([harness.AIRLOCK, *words], cwd=self.root, env=self.env, capture_output=True, check=False,
                                  text=True, timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 2, words)
            self.assertRegex(done.stderr, f"'{words[-1]}' is no tool of a session, but for a shell: airlock help {words[-1]}\n")


if __name__ == "__main__":
    os.umask(0o022)
    harness.main()
