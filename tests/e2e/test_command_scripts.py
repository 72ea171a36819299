#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""airlock git in scripts: each line prints and ends as with plain git, and what is left is the same.

A line is git's own, or one of: `write PATH TEXT`, `append PATH TEXT`, `cd PATH`, `mkdir PATH`.  A line
with ` < TEXT` has a text on its standard input.  The scripts do what git's own tutorials do.
"""
import os
import pathlib
import shlex
import shutil
import subprocess

import harness

SCRIPTS = {
    "tutorial": """
        mkdir project | cd project | init | write one.txt hello | write two.txt "and more" | add . | diff --cached
        status | commit -m "The first one" | append one.txt again | write three.txt new | add one.txt three.txt
        diff | diff --cached | status | commit -m second | append two.txt last | commit -a -m third | log | log -p
        log --stat --summary | branch experimental | branch | switch experimental | append one.txt odd
        commit -a -m "An experiment" | switch main | append two.txt plain | commit -a -m plain | merge experimental
        log --oneline --graph | branch -d experimental | switch -c crazy | append one.txt worse | commit -a -m worse
        switch main | append one.txt better | commit -a -m better | merge crazy | diff | status
        write one.txt resolved | commit -a -m "Both of it" | log --graph --format=%s%d | branch -D crazy
        log -3 --pretty=raw | show HEAD~2 | show HEAD^ | show HEAD^2 | tag v2.5 HEAD~2 | diff v2.5 HEAD
        branch stable v2.5 | reset --hard HEAD^ | grep hello | grep again v2.5 | log v2.5..HEAD | log v2.5.. one.txt
        log stable..main | diff v2.5:one.txt HEAD:one.txt | show v2.5:one.txt | reflog | blame two.txt""",
    "tutorial in the object database": """
        mkdir test | cd test | init | write file.txt "hello world" | add . | commit -a -m initial
        append file.txt again | commit -a -m emphasis | cat-file -t HEAD | cat-file commit HEAD | ls-tree HEAD
        cat-file blob HEAD~1:file.txt | cat-file tree HEAD^{tree} | cat-file -t HEAD^{tree} | append file.txt more
        add file.txt | diff | diff HEAD | diff --cached | ls-files --stage | write closing.txt bye | add closing.txt
        status | ls-files --stage | append file.txt unstaged | status | commit -m partly | log --oneline --stat
        rm -q closing.txt | status -s | checkout HEAD closing.txt | mv closing.txt end.txt | commit -m moved -q
        diff -M --name-status HEAD~1 | describe --always | count-objects | fsck""",
    "core tutorial": """
        mkdir work | cd work | init -q | write hello "Hello World" | write example "Silly example"
        update-index --add hello example | cat-file -t :hello | cat-file blob :hello | append hello "a new day"
        diff-files -p | diff | write-tree | commit-tree :/none -m x | commit-tree -m initial 4b825dc642cb6eb9a060e54bf8d69288fbee4904
        ls-files -s | commit -q -m initial | diff-index -p HEAD | diff-index --cached -p HEAD | update-index hello
        diff-files -p | diff-index --cached -p HEAD | commit -q -m second | diff-tree -p HEAD | diff-tree --stat HEAD~1 HEAD
        whatchanged -p | log --oneline --root -p | tag plain | tag -a full -m "With a message" | cat-file tag full
        read-tree --reset HEAD | update-index --refresh | checkout-index -u -f -a | checkout -b mine | append hello work
        commit -m mine -i hello | switch main | append hello fun | write extra x | commit -m fun -i hello
        show-branch --topo-order --more=1 main mine | merge -m "Both" mine | ls-files --stage | ls-files --unmerged
        diff | write hello merged | update-index hello | commit -m "Both, by hand" | show-branch main mine
        merge-base main mine | show-branch --merge-base main mine | rev-parse HEAD^2 | read-tree -m -u HEAD~1 HEAD
        repack -q -a -d | count-objects -v | prune-packed | verify-pack nothing | prune | pack-refs --all
        update-ref -m by-hand refs/heads/copy HEAD | symbolic-ref HEAD | stripspace < "a  " | log --format=%s --all
        mktree < "100644 blob e69de29bb2d1d6434b8b29ae775ad8c2e48c5391	empty" """,
    "every day alone": """
        mkdir tree | cd tree | init -q | write Makefile all: | write a.c int | add . | commit -m "import of the source"
        tag v2.43 | switch -c alsa-audio | append a.c broken | restore a.c | append a.c fixed | add -u | diff HEAD
        commit -a -s -m "A change" | diff HEAD^ | commit -a --amend --no-edit | switch main | merge alsa-audio
        log --since=3.days.ago | log v2.43.. a.c | reset --soft HEAD^ | diff --cached | commit -a -C ORIG_HEAD
        switch -c topic | append Makefile x | commit -am topic | format-patch --stdout main..topic | log main..topic
        switch main | append a.c more | commit -am "on main" | rebase main topic | cherry-pick main | show --stat
        switch main | merge --no-ff -m "Merge topic" topic | revert --no-edit -m 1 HEAD | branch -vv | branch --no-merged
        branch --merged | shortlog -s HEAD | reset --hard v2.43 | stash list | append a.c wip | stash | stash pop
        stash push -u -m later | stash show -p | stash drop | clean -nd | write junk x | clean -f | describe
        config core.abbrev 8 | log --oneline -1 | config --unset core.abbrev | config --get core.abbrev""",
    "bisect": """
        init -q | write f 0 | add f | commit -qm 0 | write f 1 | commit -qam 1 | write f 2 | commit -qam 2 | tag two
        write f 3 | commit -qam 3 | write f 4 | commit -qam 4 | write f 5 | commit -qam 5 | write f 6 | commit -qam 6
        bisect start HEAD HEAD~6 | bisect good | bisect bad | bisect log | bisect skip | status | bisect reset
        bisect start --term-new=broken --term-old=whole -- f | bisect broken | bisect whole HEAD~5 | bisect terms
        bisect terms --term-good | bisect whole | bisect broken | bisect log | bisect reset two | bisect log
        bisect start --no-checkout HEAD two | bisect good | bisect reset | status""",
    "worktrees": """
        mkdir main | cd main | init -q | write f 1 | add f | commit -qm 1 | worktree add ../beside
        worktree add -b topic ../topic HEAD | worktree add --detach ../loose | worktree list | worktree list --porcelain
        worktree lock --reason "in use" ../topic | worktree remove ../topic | worktree unlock ../topic
        worktree move ../loose ../moved | worktree remove ../topic | worktree add ../beside | worktree add ../other beside
        worktree prune -v | worktree repair | branch | cd ../beside | append f here | commit -qam here | cd ../main
        log --all --oneline --graph | worktree remove ../beside | worktree remove --force ../moved | worktree list""",
    "submodules": """
        mkdir lib | cd lib | init -q | write l 1 | add l | commit -qm lib | cd .. | mkdir app | cd app | init -q
        write a 1 | add a | commit -qm app | init -q sub | cd sub | write s 1 | add s | commit -qm sub | cd ..
        submodule add ./sub sub | commit -m "with a submodule" | submodule | submodule status | submodule init
        submodule absorbgitdirs | submodule update | submodule sync | submodule summary | cd sub | append s 2
        commit -qam further | cd .. | submodule status | submodule summary | diff | add sub | commit -qm moved
        submodule update | submodule status --cached | submodule set-branch -b main sub | status -s
        submodule deinit -f sub | submodule | submodule update --init --quiet | submodule status sub
        submodule deinit --all -f | submodule deinit""",
    "stash and clean": """
        init -q | write f 1 | write .gitignore *.log | add . | commit -qm 1 | write x.log ignored | write new u | append f 2
        stash -a | status -s --ignored | stash list | stash show --include-untracked | stash pop | stash push --all -m all
        stash apply | stash clear | clean -nx | clean -fdx | status -s""",
}


class Scripts(harness.Case):
    toolsets = ()

    def setUp(self):
        super().setUp()
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f'roots = ["{self.root}"]\n[tools.approval]\nmode = "allow"\n', encoding="ascii")
        with open(self.home / ".gitconfig", "a", encoding="ascii") as f:
            f.write("[init]\n\tdefaultBranch = main\n[advice]\n\tdefaultBranchName = false\n")

    def run_line(self, program, words, given, clock):
        env = self.env | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": f"{clock} +0000",
                          "GIT_COMMITTER_DATE": f"{clock} +0000", "PAGER": "cat"}
        done = subprocess.run([*program, *words], cwd=self.at, env=env, input=given.encode(), check=False,
                              capture_output=True, timeout=harness.WATCHDOG_SECONDS)
        err = "".join(line for line in done.stderr.decode().splitlines(True) if "approval: allow" not in line)
        return done.stdout.decode(errors="replace"), err, done.returncode

    def act(self, words):
        """Do a line that is not git's; false: it is."""
        if words[0] == "cd":
            self.at = pathlib.Path(os.path.normpath(self.at / words[1]))
        elif words[0] == "mkdir":
            (self.at / words[1]).mkdir()
        elif words[0] in ("write", "append"):
            with open(self.at / words[1], words[0][0], encoding="utf-8") as f:
                f.write(words[2] + "\n")
        else:
            return False
        return True

    def left(self):
        """All files but git's own, and what git says about each repository."""
        shown = {}
        for path in sorted(self.root.rglob("*")):
            if ".git" in path.parts or path.is_dir():
                continue
            shown[str(path)] = path.read_bytes()
        for git_dir in sorted(self.root.rglob(".git")):
            shown[str(git_dir)] = [
                self.git(*words, cwd=git_dir.parent, check=False).stdout for words in (
                    ("for-each-ref",), ("ls-files", "-s"), ("status", "--porcelain=v2", "--branch"), ("stash", "list"),
                    ("config", "-l", "--local"), ("reflog",))]
        return shown

    def play(self, script, program):
        shutil.rmtree(self.root)
        self.root.mkdir()
        self.at = self.root
        said = []
        lines = [line.strip() for row in script.strip().splitlines() for line in row.split(" | ")]
        for number, line in enumerate(lines):
            line, _, given = line.partition(" < ")
            if not self.act(words := shlex.split(line)):
                said.append((line, *self.run_line(program, words, given.strip('"') + "\n" * bool(given),
                                                  1800000000 + number)))
        return said, self.left()

    def test_scripts(self):
        """stdout, stderr, exit status of each line and what is left are plain git's"""
        count = 0
        shim = self.base / "libexec/airlock/bin/git"  # as `make install` puts it
        shim.parent.mkdir(parents=True)
        shim.symlink_to(harness.AIRLOCK)
        for name, script in SCRIPTS.items():
            plain, ours = (self.play(script, program) for program in (["git"], [str(shim)]))
            count += len(plain[0])
            for theirs, mine in zip(plain[0], ours[0]):
                with self.subTest(f"{name}: {theirs[0]}"):
                    self.assertEqual(mine, theirs)
            with self.subTest(name):
                self.assertEqual(ours[1], plain[1])
        self.assertGreater(count, 250)


if __name__ == "__main__":
    os.umask(0o022)
    harness.main()
