#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""airlock git where it reaches another repository: what git prints and leaves is what it is without
airlock; what asks, what is refused, and which rules count."""
import json
import os
import shutil
import subprocess

import harness

#: Command lines; each begins in a fresh copy of a clone, whose hub has commits, a branch and a tag more.
FETCHES = """
fetch | fetch origin | fetch -q | fetch -v origin | fetch origin main | fetch origin topic gone | fetch -p
fetch --prune origin | fetch -t | fetch --no-tags origin | fetch --dry-run | fetch --all | fetch origin nowhere
fetch -pq origin | fetch origin HEAD | ls-remote origin | ls-remote -q | ls-remote --heads origin
ls-remote --tags origin v* | ls-remote --exit-code origin nothing | ls-remote --symref --refs origin main
ls-remote --sort=-version:refname origin | remote update | remote update -p | remote update other | fe -q
fetch --append other | fetch other | ls-remote other | fetch --jobs 2 -q origin | fetch -j2 origin | fetch --depth 1 -q
fetch --depth=1 origin main | fetch --deepen=1 origin | fetch --unshallow | fetch --shallow-since 1.1.2020 origin
"""

SHOWN = ("status", "--porcelain"), ("for-each-ref",), ("stash", "list"), ("config", "-l", "--local"), \
    ("log", "-1", "--format=%T %B", "HEAD"), ("ls-files", "-s")

#: What is refused, and a word of the way there is instead.
REFUSED = {
    "fetch ../hub.git": "git remote add", "fetch ext::sh": "git remote add", "fetch https://a.example/x": "remote",
    "fetch origin main:main": "git branch", "fetch origin +main": "git branch", "fetch origin refs/*:refs/*": "branch",
    "fetch --upload-pack=sh origin": "git_fetch", "fetch --upload-pack sh origin": "git_fetch",
    "fetch --upl=sh origin": "git_fetch", "fetch --multiple origin": "git_fetch", "fetch -u origin": "git_fetch",
    "fetch -o x origin": "git_fetch", "fetch -qo x origin": "git_fetch", "fetch --dep 1 origin": "git_fetch",
    "fetch --recurse-submodules origin": "git_fetch", "fetch --rec=yes": "git_fetch", "fetch --stdin": "git_fetch",
    "fetch origin tag v1": "--tags", "fetch -q origin main tag v1": "--tags", "fetch -ft origin": "git_fetch",
    "fetch --force origin": "git_fetch", "fetch -- origin": "leave it out", "fetch --al": "git_fetch", "fetch --all origin": "without a remote",
    "fetch --server-option=x origin": "git_fetch", "fetch --refmap=x origin main": "git_fetch",
    "ls-remote ../hub.git": "git remote add", "ls-remote --upload-pack=sh origin": "git_fetch",
    "ls-remote --exec=sh origin": "git_fetch", "ls-remote --sort refname origin": "git_fetch",
    "ls-remote ext::sh": "git remote add", "ls-remote -o x origin": "git_fetch", "ls-remote --get-url": "git_fetch",
    "remote update ../hub.git": "git remote add", "remote update origin other": "one remote",
    "remote update --prune=x": "git_fetch", "remote prune origin": "fetch --prune",
    "remote show origin": "-n", "remote add -f x ../hub.git": "git_fetch", "remote set-head origin -a": "git_fetch",
}


class Network(harness.Case):
    toolsets = ()
    before = staticmethod(lambda: None) #: what is done to each fresh copy

    def setUp(self):
        super().setUp()
        self.world, self.root = self.root, self.root / "repo"
        self.hub_dir, self.other = self.world / "hub.git", self.world / "other"
        self.git("init", "-q", "--bare", "hub.git", cwd=self.world)
        self.init(self.root)
        for words in (("branch", "gone"), ("remote", "add", "origin", "../hub.git"),
                      ("push", "-q", "-u", "origin", "main", "gone"), ("branch", "-qD", "gone")):
            self.git(*words)
        self.git("clone", "-q", "hub.git", "other", cwd=self.world)
        self.commit("b.txt", "b\n", "elsewhere", self.other)
        self.git("tag", "v1", cwd=self.other)
        self.git("push", "-q", "origin", "main", "v1", "main:topic", ":gone", cwd=self.other)
        self.git("update-ref", "refs/heads/gone", "HEAD~1", cwd=self.hub_dir)
        self.git("remote", "add", "other", str(self.other))
        self.git("config", "alias.fe", "fetch --tags")
        self.template = self.base / "template"
        self.policy("")
        self.prepare()
        shutil.copytree(self.world, self.template, symlinks=True)

    def prepare(self):
        """What a test adds to the template."""

    def policy(self, rules):
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f'roots = ["{self.world}"]\n{rules}', encoding="ascii")

    def allow(self, tool, address=None):
        where = f'address = "{address}"\n' if address else ""
        self.policy(f'[[tools.approval.rule]]\ndecision = "allow"\ntool = "{tool}"\n{where}')

    def fresh(self):
        shutil.rmtree(self.world)
        shutil.copytree(self.template, self.world, symlinks=True)
        self.git("update-index", "-q", "--refresh", check=False)
        self.before()

    def run_line(self, program, words):
        env = self.env | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": "1800000000 +0000",
                          "GIT_COMMITTER_DATE": "1800000000 +0000"}
        done = subprocess.run([*program, *words], cwd=self.root, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        return done.stdout.decode(), done.stderr.decode(), done.returncode

    def airlock(self, *words):
        return self.run_line([harness.AIRLOCK, "git"], words)

    def shown(self):
        head = self.root / ".git/FETCH_HEAD"
        return [self.git(*words, check=False).stdout for words in SHOWN] + [
            self.out("for-each-ref", cwd=self.hub_dir), head.read_bytes() if head.exists() else b""]

    def alike(self, lines, least):
        """stdout, stderr, exit status and what is left are plain git's."""
        lines = [line.strip() for row in lines.strip().splitlines() for line in row.split(" | ")]
        self.assertGreater(len(lines), least)
        for line in lines:
            answers = []
            for program in (["git"], [harness.AIRLOCK, "git"]):
                self.fresh()
                answers.append((self.run_line(program, line.split()), self.shown()))
            with self.subTest(line):
                self.assertEqual(answers[1], answers[0], line)

    def asks(self, line):
        """A question that nobody answers: nothing was done."""
        before = self.shown()
        out, err, code = self.airlock(*line.split())
        self.assertEqual((out, code), ("", 128), (line, err))
        self.assertIn("airlock review", err, line)
        self.assertEqual(self.shown(), before, line)

    def denied(self, words, line):
        """A rule with these words denies the line."""
        self.policy(f'[[tools.approval.rule]]\ndecision = "deny"\n{words}\n')
        self.assertIn("rule 1 of the configuration", self.airlock(*line.split())[1], (words, line))

    def refused(self, refused):
        for line, way in refused.items():
            before = self.shown()
            out, err, code = self.airlock(*line.split())
            with self.subTest(line):
                self.assertEqual((out, code), ("", 128), err)
                self.assertRegex(err, r"\Aairlock: git [^\n]* is refused: [^\n]*\n\Z")
                self.assertIn(way, err)
                self.assertEqual(self.shown(), before)


class Fetch(Network):
    def test_lines(self):
        """git fetch, ls-remote and remote update print and leave what they do without airlock"""
        self.alike(FETCHES, 25)

    def test_user_settings(self):
        """the user's own configuration counts for what is shown and how it works"""
        with open(self.home / ".gitconfig", "a", encoding="ascii") as f:
            f.write("[fetch]\n\tprune = true\n\toutput = compact\n[color]\n\tui = always\n")
        self.alike("fetch | fetch origin main", 1)

    def test_refused(self):
        """what cannot be told from the words is refused, with a way"""
        self.refused(REFUSED)

    def test_rules(self):
        """rules match the words of git and of everyday, for each spelling"""
        for words in ('tool = "git"\noperation = "fetch"', 'tool = "git_fetch"', 'effect = "uses_network"'):
            self.denied(words, "fetch -q")
        self.denied('tool = "git_fetch"', "ls-remote origin")
        self.denied('tool = "git"\noperation = "remote_update"', "remote update")

    def test_journal(self):
        """the journal has the words, and a fetch goes back"""
        before = self.shown()[:-1]
        self.airlock("fetch", "-q", "--tags")
        self.assertNotEqual(self.shown()[:-1], before)
        log = self.home / ".local/state/airlock/tool_log.jsonl"
        line = json.loads(log.read_text(encoding="ascii").splitlines()[-1])
        self.assertEqual((line["tool"], line["operation"], line["input"]["args"]),
                         ("git", "fetch", ["fetch", "-q", "--tags"]))


#: Begins with a clone that is ahead by a commit; main follows origin, whose topic was rewritten here.
PUSHES = """
push | push origin | push origin main | push -q | push -v origin main | push -u origin new | push -uq origin new
push origin new | push origin HEAD | push origin new:new | push origin refs/heads/new | push origin @:main
push origin main:refs/heads/main | push origin topic | push origin +topic | push -f origin topic
push --force-with-lease origin topic | push origin :topic | push -d origin topic | push origin --delete gone
push origin v2 | push origin tag v2 | push origin refs/tags/v2 | push --tags origin main | push --porcelain origin new
push --porcelain origin main | push -fq origin topic | push --atomic origin new | push origin v2:v2 | push other new
push --porcelain origin HEAD | push -u origin main | push origin v1 | push --porcelain origin topic
push -n origin main | push --dry-run -u origin new | push -nq origin v2
"""

PUSHES_REFUSED = {
    "push ../hub.git main": "remote add", "push ext::sh main": "remote add", "push https://a.example/x main": "remote",
    "push origin main:topic": "one branch", "push origin new:refs/tags/x": "one branch", "push origin :": "one branch",
    "push origin main new": "one branch", "push origin +:": "one branch", "push origin +:topic": "one branch",
    "push origin refs/heads/*": "is refused", "push origin refs/heads/*:refs/heads/*": "one branch",
    "push origin main:main:main": "one branch", "push origin ^main": "is refused", "push --tags": "one branch",
    "push --tags origin": "one branch", "push origin HEAD:refs/for/main": "one branch", "push origin -d :topic": "one",
    "push origin +HEAD:topic": "one branch", "push origin --delete topic gone": "one branch", "push origin -d": "one",
    "push --mirror origin": "git_push", "push --all origin": "git_push", "push --branches origin": "git_push",
    "push --follow-tags origin main": "git_push", "push --prune origin main": "git_push",
    "push --receive-pack=sh origin main": "git_push", "push --receive-pack sh origin main": "git_push",
    "push --exec=sh origin main": "git_push", "push --exe=sh origin main": "git_push", "push -o x origin main": "git_push",
    "push -ox origin main": "git_push", "push -qox origin main": "git_push", "push --push-option=x origin main": "git_push",
    "push --repo=origin main": "git_push", "push --signed origin main": "git_push", "push --forc origin main": "git_push",
    "push --force-with-lease=topic:v1 origin topic": "git_push", "push --force-if-includes origin topic": "git_push",
    "push --del origin topic": "git_push", "push --mir origin": "git_push", "push --recurse-submodules=on-demand": "git_push",
    "push --set-up origin new": "git_push", "push -- origin main": "leave it out", "push origin -- main": "leave it out",
    "push origin :refs/tags/v1": "the user", "push -d origin v1": "the user", "push origin :v1": "the user",
    "push origin both": "one branch", "push origin both:both": "one branch", "push origin :both": "one branch",
    "push -d origin both": "one branch", "push --no-force origin main": "git_push", "push -uf --rec=x origin main": "git_push",
}


class Push(Network):
    def prepare(self):
        self.git("fetch", "-q", "--tags")
        self.git("merge", "-q", "--ff-only", "origin/main")
        self.git("branch", "topic", "HEAD~1")
        self.commit("c.txt", "c\n", "ahead")
        self.git("tag", "v2")
        self.git("branch", "new")
        self.git("branch", "both")
        self.git("tag", "both")

    def test_lines(self):
        """git push prints and leaves what it does without airlock"""
        self.allow("git_push")
        self.alike(PUSHES, 30)

    def test_refused(self):
        """no spelling of a refspec or an option goes past the question"""
        self.allow("git")
        self.refused(PUSHES_REFUSED)
        for key, value in (("push.default", "matching"), ("push.default", "nothing"), ("remote.origin.push", "+main:topic"),
                           ("remote.origin.mirror", "true"), ("branch.main.merge", "refs/heads/topic")):
            self.fresh()
            self.git("config", key, value)
            self.refused({"push": "one branch", "push origin": "one branch"})

    def test_settings(self):
        """what settings add to a named branch is not pushed, nor anywhere else"""
        for key, value in (("push.followTags", "true"), ("remote.origin.push", "+main:topic"),
                           ("remote.origin.mirror", "true"), ("push.default", "matching"),
                           ("remote.origin.receivepack", "false"), ("push.recurseSubmodules", "only")):
            self.fresh()
            self.allow("git_push")
            self.git("config", key, value)
            self.assertEqual(self.airlock("push", "origin", "new")[2], 0)
            self.assertEqual(set(self.out("for-each-ref", "--format=%(refname)", cwd=self.hub_dir).split()),
                             {"refs/heads/" + name for name in ("gone", "main", "new", "topic")} | {"refs/tags/v1"})

    def test_asks(self):
        """the first push to a branch asks, and so do force, deleting and all tags; without a user 128"""
        for line in ("push", "push origin new", "push origin v2", "push -f origin topic", "push origin +topic",
                     "push origin :topic", "push -d origin topic", "push --tags origin main", "push -uf origin topic"):
            self.asks(line)
        self.git("config", "alias.p", "push --force")
        self.asks("p origin topic")
        err = self.airlock("push", "-u", "origin", "new")[1]
        self.assertTrue(err.startswith("airlock: git push -u origin new: this needs the user's approval"), err)
        self.assertRegex(err, r"approval \([a-z][^()]+\), and nobody could be asked")
        self.assertNotIn("in a terminal: git", err)
        self.assertNotIn("  ", err)
        self.git("update-ref", "refs/remotes/origin/topic", "HEAD")
        amended = self.airlock("commit", "--amend", "-m", "x")[1]
        self.assertIn("approval (commits that a remote-tracking branch has), and nobody could be asked", amended)
        self.assertEqual(self.airlock("push", "origin", "gone")[2], 128)

    def test_rejected(self):
        """what git refuses is not asked about, and ends as it does without airlock"""
        self.alike("push origin topic | push -u origin topic | push -q origin topic | push --porcelain origin topic", 3)

    def test_outside(self):
        """a remote outside of the roots says how it would be inside"""
        self.git("remote", "add", "far", str(self.base / "far.git"))
        self.git("init", "-q", "--bare", str(self.base / "far.git"))
        for line in "fetch far", "push far main":
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code), ("", 128), line)
            self.assertIn("`roots` in the configuration file", err, line)
            self.assertNotIn("--root", err, line)
        self.assertIn("so it is not deleted. git fetch looks", self.airlock("push", "origin", ":nowhere")[1])

    def test_nothing(self):
        """what is there already is not asked about"""
        self.git("push", "-q", "origin", "main")
        self.assertEqual(self.airlock("push"), ("", "Everything up-to-date\n", 0))

    def test_rules(self):
        """rules match git and everyday's git_push, by operation, branch and effect, for every spelling"""
        for words, line in (('tool = "git"\noperation = "push"', "push"), ('tool = "git_push"', "push origin new"),
                            ('tool = "git_push"\noperation = "force"', "push origin +topic"),
                            ('tool = "git_push"\noperation = "force"', "push -uf origin topic"),
                            ('tool = "git_push"\noperation = "delete"', "push origin :topic"),
                            ('tool = "git_push"\noperation = "tags"', "push --tags origin main"),
                            ('tool = "git_push"\noperation = "tag"', "push origin v2"),
                            ('tool = "git_push"\nbranch = "new"', "push origin refs/heads/new"),
                            ('tool = "git"\nbranch = "main"', "push origin HEAD"), ('branch = "topic"', "push -d origin topic"),
                            ('effect = "leaves_machine"', "push"), ('effect = "rewrites_history"', "push -f origin topic")):
            self.denied(words, line)
        self.policy('[[tools.approval.rule]]\ndecision = "allow"\ntool = "git_push"\noperation = "push"\n')
        self.asks("push -f origin topic")
        self.assertEqual(self.airlock("push", "-q", "origin", "new"), ("", "", 0))


class Rewritten(Network):
    def test_asks(self):
        """what takes a commit away that a remote-tracking branch has asks, as everyday's tools do; nothing else does"""
        self.commit("c.txt", "c\n", "local")
        self.git("branch", "own")
        for line in ("commit --amend -m new", "reset --hard HEAD~1", "reset --soft HEAD~1", "reset HEAD~1", "rebase HEAD~1",
                     "reset -q", "reset HEAD -- a.txt", "commit -m more --allow-empty", "rebase origin/main"):
            self.git("reset", "-q", "--hard", "own")
            self.assertEqual(self.airlock(*line.split())[2], 0, line)
        self.git("reset", "-q", "--hard", "own")
        self.git("push", "-q", "origin", "main:mine")
        before = ":/" + self.out("log", "-1", "--format=%s", "HEAD~1").strip()
        for line in (f"reset --soft {before}", "commit --amend -m new", "commit -q --am --no-edit", "reset --hard HEAD~1", "reset --soft HEAD~1",
                     "reset HEAD~1", "rebase", "rebase origin/topic", "rebase --onto HEAD~1 origin/topic main",
                     "rebase --root --force-rebase", "pull --rebase", "pull -r origin main"):
            self.git("fetch", "-q")
            self.asks(line)
        self.git("config", "pull.rebase", "true")
        self.asks("pull")
        for line in "reset --hard", "reset -q a.txt", "commit -m more --allow-empty", "reset --hard origin/mine":
            self.assertEqual(self.airlock(*line.split())[2], 0, line)
        self.assertEqual(self.airlock("pull", "-q", "--no-rebase", "--no-edit")[2], 0)
        self.denied('tool = "git_commit"\noperation = "amend"', "commit --amend -m new")


#: Each where main is behind, and where it has a commit more.
PULLS = """
pull | pull origin | pull -q | pull -v origin main | pull --ff-only | pull --rebase | pull --no-rebase | pull -r origin topic
pull --no-ff origin main | pull --squash --no-rebase | pull --no-commit --no-rebase origin main | pull other main
pull --dry-run | pull origin nowhere | pull --rebase=merges | pull --no-rebase -s ours origin main | pull -n
pull --no-rebase -Xtheirs origin main | pull --rebase --autostash | pull --no-rebase --tags | pull --no-rebase origin main gone
pull --all --no-rebase | pull --depth 1 --no-rebase | pull --rebase other topic | pull -q --no-rebase --log
pull --ff-only --no-stat | pull --no-rebase --strategy recursive --strategy-option=ours | pull -p --rebase | pl
"""

PULLS_REFUSED = {
    "pull ../hub.git": "git remote add", "pull ext::sh": "git remote add", "pull https://a.example/x main": "remote",
    "pull origin main:main": "git branch", "pull --rebase=interactive": "an editor", "pull --rebase=i": "an editor",
    "pull --upload-pack=sh": "git_fetch", "pull --upload-p sh origin": "git_fetch", "pull -S": "git_fetch",
    "pull --gpg-sign": "git_fetch", "pull --verify-signatures": "git_fetch", "pull --edit": "git_fetch",
    "pull -e": "git_fetch", "pull --recurse-submodules": "git_fetch", "pull --set-upstream origin main": "git_fetch",
    "pull -o x": "git_fetch", "pull --server-option=x": "git_fetch", "pull --force": "git_fetch", "pull -- origin": "leave",
    "pull --reb": "git_fetch", "pull --negotiation-tip=x": "git_fetch", "pull --all origin": "without", "pull -s": "git_fetch",
}


class Pull(Network):
    def prepare(self):
        self.git("branch", "behind")
        self.git("config", "alias.pl", "pull --no-rebase")
        self.git("switch", "-qc", "topic", cwd=self.other)
        self.commit("topic.txt", "t\n", "topic", self.other)
        self.git("push", "-qf", "origin", "topic", cwd=self.other)
        self.git("update-index", "-q", "--refresh", cwd=self.root)

    def ahead(self):
        self.commit("mine.txt", "m\n", "mine", GIT_AUTHOR_DATE="1700000000 +0000",
                    GIT_COMMITTER_DATE="1700000000 +0000")

    def shown(self):
        return super().shown() + [self.git(*words, check=False).stdout for words in (
            ("reflog", "--format=%H %gd %gs"), ("reflog", "--format=%H %gs", "origin/main"), ("diff", "HEAD"))]

    def states(self, lines, least):
        self.alike(lines, least)
        self.before = self.ahead
        self.alike(lines, least)
        self.before = lambda: (self.ahead(), self.write("a.txt", "one\nchanged\n"))
        self.alike("pull --rebase | pull --no-rebase | pull -q --rebase --autostash", 2)

    def test_lines(self):
        """git pull prints and leaves what it does without airlock"""
        self.states(PULLS, 25)

    def test_settings(self):
        """settings say how it goes on"""
        for key, value in (("pull.rebase", "true"), ("pull.ff", "only"), ("branch.main.rebase", "merges"),
                           ("rebase.autoStash", "true")):
            self.before = lambda k=key, v=value: (self.ahead(), self.git("config", k, v))
            self.alike("pull | pull -q origin main", 1)
        for words in ("checkout -q --detach", "switch -q behind", "branch --unset-upstream", "reset -q --hard HEAD",
                      "update-ref -d HEAD", "remote remove other"):
            self.before = lambda w=words: (self.ahead(), self.git(*w.split()))
            self.alike("pull --no-rebase | pull --rebase origin main", 1)
        self.before = lambda: (self.ahead(), self.git("fetch", "-q"), self.git("merge", "-q", "--no-commit", "origin/main"))
        self.alike("pull | pull --rebase", 1)

    def test_names(self):
        """a name may have what separates a setting from its value"""
        self.before = lambda: (self.git("remote", "rename", "other", "o=p"), self.git("branch", "-qm", "fix=1"))
        self.alike("pull -q --rebase | pull --rebase origin main | pull --no-rebase o=p main", 2)

    def test_refused(self):
        """what cannot be told from the words is refused, with a way"""
        self.refused(PULLS_REFUSED)
        for remote in ".", "../hub.git":
            self.git("config", "branch.main.remote", remote)
            self.refused({"pull": "name the remote", "fetch -q": "name the remote"})

    def test_other_branches(self):
        """no branch but the current one moves, whatever the configuration says"""
        self.ahead()
        self.git("branch", "along")
        self.commit("further.txt", "f\n", "further")
        self.git("config", "rebase.updateRefs", "true")
        self.git("config", "--global", "rebase.updateRefs", "true")
        self.git("config", "rebase.instructionFormat", "%s%nupdate-ref refs/heads/along%nexec false")
        before = self.out("rev-parse", "along", "behind")
        self.assertEqual(self.airlock("pull", "-q", "--rebase")[2], 0)
        self.assertEqual(self.out("rev-parse", "along", "behind"), before)

    def test_rules(self):
        """rules match the words of git and of everyday"""
        for words in ('tool = "git"\noperation = "pull"', 'tool = "git_pull"', 'effect = "uses_network"',
                      'effect = "writes_worktree"', 'tool = "git"\nbranch = "main"'):
            self.denied(words, "pull --rebase")

    def own(self):
        """What is shown, without what is known of the remote."""
        shown = self.shown()[:-4]
        shown[1] = [line for line in shown[1].splitlines() if b"\trefs/remotes/" not in line and b"\trefs/tags/" not in line]
        return shown

    def test_back(self):
        """a pull goes back; what is known of the remote stays"""
        self.ahead()
        before = self.own()
        self.assertEqual(self.airlock("pull", "-q", "--no-rebase")[2], 0)
        self.assertNotEqual(self.own(), before)
        subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.root, env=self.env, check=True, capture_output=True,
                       timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(self.own(), before)
        self.assertEqual(self.out("rev-parse", "origin/main"), self.out("rev-parse", "main", cwd=self.hub_dir))

    def test_shallow(self):
        """what a shallow fetch cut off comes back"""
        whole = self.out("log", "--format=%H")
        self.assertEqual(self.airlock("fetch", "-q", "--depth=1")[2], 0)
        subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.root, env=self.env, check=True, capture_output=True,
                       timeout=harness.WATCHDOG_SECONDS)
        self.assertFalse((self.root / ".git/shallow").exists())
        self.assertEqual(self.out("log", "--format=%H"), whole)


CLONES = """
clone ../hub.git ../x | clone -q ../hub.git ../x | clone ../hub.git | clone --bare ../hub.git ../x.git | clone ../empty
clone -b topic ../hub.git ../x | clone -o up ../hub.git ../x | clone -n ../hub.git ../x | clone -qbtopic ../hub.git/ ../x
clone --no-tags --single-branch ../hub.git ../x | clone ../hub.git ../other | clone -b nowhere ../hub.git ../x | clone ../other ../x
clone ../hub ../x | clone --no-local --depth 1 ../hub.git ../x | clone --depth=1 -q HUB ../x | clone HUB ../new/x | clone -- ../hub.git ../x
"""

CLONES_REFUSED = {
    "clone -c core.fsmonitor=sh ../hub.git ../x": "cannot be told", "clone --config a.b=c ../hub.git ../x": "cannot be told",
    "clone -u sh ../hub.git ../x": "cannot be told", "clone --upload-pack=sh ../hub.git ../x": "cannot be told",
    "clone --upload-p sh ../hub.git ../x": "cannot be told", "clone --template=. ../hub.git ../x": "cannot be told",
    "clone --recurse-submodules ../hub.git ../x": "cannot be told", "clone --reference . ../hub.git ../x": "cannot be told",
    "clone -s ../hub.git ../x": "cannot be told", "clone --mirror ../hub.git ../x": "cannot be told", "clone": "an address",
    "clone --separate-git-dir=y ../hub.git ../x": "cannot be told", "clone ../hub.git ../../x": "outside of the roots",
    "clone ../hub.git .git/x": "git's own", "clone ../hub.git none/../.git/x": "git's own", "clone a b c": "an address",
    "clone --filter=blob:none ../hub.git ../x": "cannot be told", "clone --bundle-uri=x ../hub.git ../x": "cannot be told",
}


class Clone(Network):
    def prepare(self):
        self.git("init", "-q", "empty", cwd=self.world)
        (self.world / "new").mkdir()

    def run_line(self, program, words):
        return super().run_line(program, [word.replace("HUB", f"file://{self.hub_dir}") for word in words])

    def shown(self):
        made = [path for path in (self.world / "x", self.world / "x.git", self.root / "hub", self.world / "new/x",
                                  self.root / "empty") if path.exists()]
        return super().shown() + [str(made)] + [
            self.git(*words, check=False, cwd=made[0]).stdout for words in (*SHOWN, ("status",), ("log", "-p")) if made] + [
            sorted(str(path) for path in made[0].rglob("*") if not {"objects", "logs"} & set(path.parts)) if made else []]

    def test_lines(self):
        """git clone prints and leaves what it does without airlock"""
        self.alike(CLONES, 15)

    def test_refused(self):
        """no option that brings something along, and no place where git's own files are"""
        self.refused(CLONES_REFUSED)
        for line in "clone ext::sh ../x", "clone x::y ../x", "clone -- --upload-pack=sh ../x", "clone /etc ../x":
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code, (self.world / "x").exists()), ("", 128, False), (line, err))

    def test_asks(self):
        """an address elsewhere asks, with and without a repository around; rules count"""
        for where in (self.root, self.world):
            self.root, self.world = where, self.world
            for line in "clone https://a.example/x", "clone -q a.example:x y", "clone -- ssh://a.example/x z":
                out, err, code = self.airlock(*line.split())
                self.assertEqual((out, code), ("", 128), (line, err))
                self.assertIn("airlock review", err, line)
        for words in ('tool = "git"\noperation = "clone"', 'tool = "git_fetch"', 'effect = "uses_network"'):
            self.denied(words, "clone hub.git y")
        self.assertFalse((self.world / "y").exists())

    def test_denied_address(self):
        """a rule that denies an address denies a clone of it, known or not"""
        self.denied('address = "../hub*"', "clone ../hub.git y")
        self.denied('address = "*/other"', f"clone {self.other} y")
        self.assertFalse((self.world / "y").exists())

    def test_user_rewrites(self):
        """the user's own insteadOf counts, as for fetch and push, and the clone keeps the address as it was given"""
        with open(self.home / ".gitconfig", "a", encoding="ascii") as f:
            f.write(f'[url "{self.world}/"]\n\tinsteadOf = hub:\n[url "file://{self.world}/"]\n\tinsteadOf = https://h.example/\n')
        self.asks("clone hub:hub.git ../x")
        self.allow("git")
        self.asks("clone hub:hub.git ../x")  # the rule does not name the address
        self.allow("git", "h*")
        self.alike("clone hub:hub.git ../x | clone -q https://h.example/hub.git ../x | clone -o up hub:hub.git ../x", 2)

    def test_nothing_left(self):
        """a clone that fails leaves nothing"""
        self.allow("git", "*")
        out, err, code = self.airlock("clone", "http://127.0.0.1:9/x", "../x")
        self.assertEqual((out, (self.world / "x").exists()), ("", False), err)
        self.assertNotEqual(code, 0)
        for line in "clone nope.git", "clone ../nope.git y", f"clone file://{self.world}/nope z":
            out, err, code = self.airlock(*line.split())
            self.assertEqual((out, code), ("", 128), line)
            self.assertRegex(err, r"\Aairlock: repository '[^']*nope[^']*' does not exist\n\Z")


#: Begins with a superproject that has two submodules, of which one has another inside; none is checked out here.
UPDATES = """
submodule update --init | submodule update --init --recursive | submodule update | submodule update --init lib
submodule -q update --init | submodule update --init -q --recursive lib | submodule update --init --remote lib
submodule update --init sub/ | submodule update --init --no-fetch | submodule update --init nothing
submodule update --init --rebase | submodule update --init --checkout -- lib | submodule update --init --jobs 2
submodule update --init --merge sub/plain | submodule update --init --jobs=2 lib
submodule update --init --single-branch | submodule update --init --no-single-branch lib
"""
#: The same, where submodule.active chooses one, as after git clone --recurse-submodules.
CHOSEN = "submodule update --init | submodule update | submodule update --recursive | submodule update --init lib"
#: The same, where lib is not updated.
NONE = """
submodule update --init lib | submodule update --init --recursive lib | submodule update --init --checkout lib
"""
#: The same, where the file .gitmodules, several values or lib's own one choose.
GIVEN = "submodule update --init lib | submodule update | submodule update --init"
SETTINGS = (("config", "-f", ".gitmodules", "submodule.lib.url", "../moved.git"),
            ("config", "-f", ".gitmodules", "submodule.lib.update", "none"),
            ("config", "submodule.lib.active", "false"), ("config", "submodule.lib.active", "no"),
            ("config", "--add", "submodule.active", ":(exclude)lib"), ("config", "--add", "submodule.active", "li*"))
#: The same, when both are checked out and have fallen behind.
MOVED = """
submodule update | submodule update -q lib | submodule update --remote lib | submodule update --recursive --init
submodule update --no-fetch | submodule update --merge | submodule update --rebase lib | submodule update --force
"""
ADDS = """
submodule add ../plain.git | submodule add ../plain.git new | submodule add -b topic ../plain.git new
submodule -q add PLAIN new | submodule add --name x ../plain.git new
submodule add ../plain.git lib | submodule add ../plain.git ignored | submodule add -f ../plain.git ignored
submodule add plain.git new | submodule add ../plain.git b/c | submodule add PLAIN/ new/
submodule add -f ../plain.git lib
"""


class Submodules(Network):
    def run_line(self, program, words):
        return super().run_line(program, [word.replace("PLAIN", str(self.world / "plain.git")) for word in words])

    def prepare(self):
        with open(self.home / ".gitconfig", "a", encoding="ascii") as f:
            f.write('[protocol "file"]\n\tallow = always\n')
        for name in "inner", "plain", "lib":
            self.git("init", "-q", "--bare", f"{name}.git", cwd=self.world)
            self.git("clone", "-q", f"{name}.git", f"{name}.work", cwd=self.world)
            self.commit("f", name, name, self.world / f"{name}.work")
            self.git("push", "-q", "origin", "HEAD:main", "HEAD:topic", cwd=self.world / f"{name}.work")
            self.git("symbolic-ref", "HEAD", "refs/heads/main", cwd=self.world / f"{name}.git")
        self.add(self.world / "lib.work", ("../inner.git", "inner"))
        self.git("push", "-q", "origin", "HEAD:main", cwd=self.world / "lib.work")
        self.write(".gitignore", "ignored\n", self.root)
        self.add(self.root, ("../lib.git", "lib"), ("../plain.git", "sub/plain"))
        self.git("submodule", "--quiet", "deinit", "--all", "-f")
        shutil.rmtree(self.root / ".git/modules")

    def add(self, where, *parts):
        for part in parts:
            self.git("submodule", "--quiet", "add", *part, cwd=where)
        self.git("add", ".", cwd=where)
        self.git("commit", "-qm", "with submodules", cwd=where)

    def shown(self):
        trees = [path.parent for path in sorted(self.root.rglob(".git"))]
        return super().shown() + [
            (str(tree), *((words, self.git(*words, cwd=tree, check=False).stdout) for words in (
                *SHOWN, ("status",), ("submodule", "status"), ("rev-parse", "HEAD", "--git-dir"), ("branch", "-a"))))
            for tree in trees] + [sorted(str(path) for path in self.root.rglob("*")
                                         if not {"objects", "logs", "FETCH_HEAD", "ORIG_HEAD", "airlock"} & set(path.parts))]

    def test_update(self):
        """what is not here comes, also what is nested"""
        self.alike(UPDATES, 10)

    def test_passed_over(self):
        """what git would pass over is not cloned, and what submodule.active chooses is"""
        self.before = lambda: self.git("config", "submodule.active", "sub/")
        self.alike(CHOSEN, 3)
        self.before = lambda: (self.git("config", "-f", ".gitmodules", "submodule.lib.update", "none"),
                               self.git("add", ".gitmodules"))
        self.alike(NONE, 2)
        self.git("clone", "-q", "--bare", "lib.git", str(self.template / "moved.git"), cwd=self.template)
        for words in SETTINGS:
            self.before = lambda words=words: (self.git("config", "--add", "submodule.active", "sub") if "--add" in words
                                               else None, self.git(*words))
            with self.subTest(words):
                self.alike(GIVEN.removesuffix(" | submodule update --init") if "none" in words else GIVEN, 1)
        self.before = lambda: None
        self.fresh()
        out, err, code = self.airlock("submodule", "update", "--init", "--filter=blob:none", "lib")
        self.assertEqual((code, "checked out" in out), (0, True), err)
        out, err, code = self.airlock("-C", "sub", "submodule", "add", "../plain.git", "new")
        self.assertEqual((code, (self.root / "sub/new").exists()), (128, False), err)

    def test_confined(self):
        """nothing that is nested is made inside of a sandbox, nor fetched without a network"""
        run = [harness.AIRLOCK, "run", "--confine", "--", "git"]
        self.git("submodule", "--quiet", "update", "--init")
        out, err, _ = self.run_line(run, ["submodule", "update", "--recursive", "--init"])
        self.assertIn("inside of airlock run --confine", err, out)
        self.assertFalse((self.root / "lib/inner/.git").exists())
        self.commit("g", "further", "further", self.world / "lib.work")
        self.git("push", "-q", "origin", "HEAD:main", cwd=self.world / "lib.work")
        tip = self.out("rev-parse", "HEAD", cwd=self.world / "lib.work").strip()
        self.git("update-index", "--cacheinfo", f"160000,{tip},lib")
        for line in "submodule update lib", "submodule update --remote lib", "-C lib fetch origin":
            out, err, _ = self.run_line(run, line.split())
            self.assertIn("this sandbox has no network", err, (line, out))

    def test_address_rules(self):
        """a rule for an address holds for what is cloned, nested or not, and for what is fetched"""
        for decision in "deny", "ask":
            self.fresh()
            self.policy(f'[[tools.approval.rule]]\naddress = "*inner*"\ndecision = "{decision}"\n')
            out, err, code = self.airlock("submodule", "update", "--init", "--recursive")
            self.assertEqual(code, 128, (out, err))
            self.assertIn("rule 1 of the configuration", err)
            self.assertTrue((self.root / "lib/f").exists())
            self.assertFalse((self.root / "lib/inner/f").exists())
            self.commit("g", "further", "further", self.world / "lib.work")
            self.git("push", "-q", "origin", "HEAD:main", cwd=self.world / "lib.work")
            tip = self.out("rev-parse", "HEAD", cwd=self.world / "lib.work").strip()
            self.git("update-index", "--cacheinfo", f"160000,{tip},lib")
            self.policy(f'[[tools.approval.rule]]\naddress = "*lib*"\ndecision = "{decision}"\n')
            out, err, code = self.airlock("submodule", "update", "lib")
            self.assertIn("rule 1 of the configuration", err)
            self.policy("")
            self.assertEqual(self.airlock("submodule", "update", "lib")[2], 0)
            self.assertTrue((self.root / "lib/g").exists())

    def test_moved(self):
        """what is here fetches what it lacks, and changes that are not committed stay"""
        self.git("submodule", "--quiet", "update", "--init", "--recursive")
        for part, where in ("lib", self.root / "lib"), ("plain", self.root / "sub/plain"):
            self.commit("g", part, "further", self.world / f"{part}.work")
            self.git("push", "-q", "origin", "HEAD:main", cwd=self.world / f"{part}.work")
            tip = self.out("rev-parse", "HEAD", cwd=self.world / f"{part}.work").strip()
            self.git("update-index", "--cacheinfo", f"160000,{tip},{where.relative_to(self.root)}")
        self.git("commit", "-qm", "further")
        shutil.rmtree(self.template)
        shutil.copytree(self.world, self.template, symlinks=True)
        self.alike(MOVED, 7)

    def test_rules(self):
        """an address elsewhere asks, one inside of a submodule is refused, and rules count"""
        self.asks("submodule add https://a.example/x new")
        self.git("config", "-f", ".gitmodules", "submodule.lib.url", "https://a.example/x")
        self.git("add", ".gitmodules")
        self.asks("submodule update --init")
        self.asks("submodule update --init --recursive lib")
        for words in ('tool = "git"\noperation = "submodule"', 'tool = "git_fetch"', 'effect = "uses_network"'):
            self.denied(words, "submodule update --init")
        self.denied('tool = "git_fetch"', "submodule add ../plain.git new")
        self.denied('address = "*a.example*"', "submodule update --init lib")
        self.git("checkout", "HEAD", ".gitmodules")
        self.git("config", "-f", ".gitmodules", "submodule.inner.url", "https://a.example/x", cwd=self.world / "lib.work")
        self.git("commit", "-qam", "elsewhere", cwd=self.world / "lib.work")
        self.git("push", "-q", "origin", "HEAD:main", cwd=self.world / "lib.work")
        self.policy("")
        out, err, code = self.airlock("submodule", "update", "--init", "--recursive", "--remote", "lib")
        self.assertEqual(code, 128, err)
        self.assertIn("git -C lib/ submodule update --init", err, out)

    def test_places(self):
        """nothing is made outside of the roots, through a link, where git's own files are, or by a mode that runs"""
        for line in ("submodule add ../plain.git ../../x", "submodule add ../plain.git .git/x",
                     "submodule add --name ../../x ../plain.git x", "submodule add --name hooks/../../x ../plain.git x",
                     "submodule add /etc x", "submodule add ext::sh x", "submodule add -- --upload-pack=sh x"):
            self.assertNotEqual(self.airlock(*line.split())[2], 0, line)
        self.assertFalse(any((self.base / name).exists() for name in ("x", "root/x", "root/repo/.git/x")))
        (self.root / "lib").rmdir()
        os.symlink(".git/hooks", self.root / "lib")
        self.assertNotEqual(self.airlock("submodule", "update", "--init", "lib")[2], 0)
        self.assertFalse((self.root / ".git/hooks/f").exists())

    def test_back(self):
        """the files, the index and the configuration go back, and an update brings the files again"""
        for line in "submodule update --init --recursive", "submodule add ../plain.git new":
            with self.subTest(line):
                self.fresh()
                before = self.shown()[:6]
                self.assertEqual(self.airlock(*line.split())[2], 0)
                self.assertNotEqual(self.shown()[:6], before)
                subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.root, env=self.env, check=True,
                               capture_output=True, timeout=harness.WATCHDOG_SECONDS)
                self.assertEqual(self.shown()[:6], before)
        self.assertEqual(self.airlock("submodule", "update", "--init", "lib")[2], 0)
        self.assertTrue((self.root / "lib/f").exists())

    def test_add(self):
        """a new one"""
        self.alike(ADDS, 10)


if __name__ == "__main__":
    os.umask(0o022)
    harness.main()
