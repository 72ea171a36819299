# SPDX-License-Identifier: Apache-2.0
"""An ordinary repository made a linked worktree, without git's help, so that whatever state it is in
is kept.

AIRLOCK_LAYOUT=linked makes harness.Case.init() and lab.Scene build their repositories that way: the
tests then run a second time, on a root whose git directory lies outside of it.
"""
import os
import shutil

LINKED = os.environ.get("AIRLOCK_LAYOUT") == "linked"

# What belongs to a working tree and not to the repository: gitrepository-layout(5).
OWN = {"HEAD", "index", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE",
       "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "MERGE_RR", "SQUASH_MSG", "COMMIT_EDITMSG", "rebase-merge",
       "rebase-apply", "sequencer", "config.worktree", "BISECT_LOG", "index.lock", "HEAD.lock"}


def link(top, hub, name="w"):
    """Move the git directory of the working tree `top` to `hub`/.git, of which `top` then is the
    linked worktree `name`."""
    top, hub = os.path.realpath(top), os.path.realpath(hub)
    common = os.path.join(hub, ".git")
    own = os.path.join(common, "worktrees", name)
    os.makedirs(hub, exist_ok=True)
    shutil.move(os.path.join(top, ".git"), common)
    os.makedirs(os.path.join(own, "logs"), exist_ok=True)
    for file in sorted(OWN):
        if os.path.lexists(os.path.join(common, file)):
            os.rename(os.path.join(common, file), os.path.join(own, file))
    if os.path.exists(os.path.join(common, "logs", "HEAD")):
        os.rename(os.path.join(common, "logs", "HEAD"), os.path.join(own, "logs", "HEAD"))
    for path, text in ((os.path.join(common, "HEAD"), "ref: refs/heads/hub\n"),
                       (os.path.join(own, "commondir"), "../..\n"),
                       (os.path.join(own, "gitdir"), os.path.join(top, ".git") + "\n"),
                       (os.path.join(top, ".git"), f"gitdir: {own}\n")):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)


def part(top, hub, name, worktree="w"):
    """Where a path of the repository lies: `.git/config` in `hub`, `a.txt` in `top`."""
    if name != ".git" and not name.startswith(".git/"):
        return os.path.join(top, name)
    inner = name[5:]
    common = os.path.join(hub, ".git")
    if inner.split("/")[0] in OWN or inner == "logs/HEAD":
        return os.path.join(common, "worktrees", worktree, inner)
    return os.path.join(common, inner) if inner else common
