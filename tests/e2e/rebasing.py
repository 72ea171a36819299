# SPDX-License-Identifier: Apache-2.0
"""The base of tests of rebases: git rebase -i as the judge of what git_rebase makes of a plan."""
import random
import re
import shutil

import everyday

FIELDS = "--format=%T%n%an <%ae> %ad%n%B%x00"

EMPTY_TREE = b"4b825dc642cb6eb9a060e54bf8d69288fbee4904"

# Lines that begin with "#" are part of a message for airlock; git can be told so.
NO_COMMENTS = ("-c", "core.commentChar=;")


def editor_messages(plan):
    """What the editor is to write: for a reword, and at the end of a chain with a squash.  By the
    number of the step, from 1."""
    messages, message = {}, None
    for i, step in enumerate(plan):
        if step["do"] == "reword":
            messages[i + 1] = step["message"]
        if step["do"] in ("squash", "fixup"):
            message = step.get("message", message if step["do"] == "fixup" else None)
            end = i + 1
        rest = [later["do"] for later in plan[i + 1:] if later["do"] != "drop"]
        if not rest or rest[0] not in ("squash", "fixup"):
            if message is not None:
                messages[end] = message
            message = None
    return messages


def drops_a_given_message(plan, said):
    """Whether git left out a squash with a message, whose change is there already."""
    dropped = re.findall(r"dropping ([0-9a-f]+)", said.decode())
    return any(step["commit"] in dropped for step in plan
               if step["do"] == "squash" and "message" in step)


class Case(everyday.Case):
    """A repository whose history git and airlock rewrite in turn."""

    def editors(self, plan):
        """Programs that write the todo list of a plan, and its messages: each at its step, for a
        step that is dropped as empty is not asked about."""
        queue = self.base / "messages"
        shutil.rmtree(queue, ignore_errors=True)
        queue.mkdir()
        for number, message in editor_messages(plan).items():
            (queue / str(number)).write_text(message, encoding="utf-8")
        self.write("todo", "".join(f"{step['do']} {step['commit']}\n" for step in plan), self.base)
        for name, script in (("sequence-editor", "cat \"$STEPS\" > \"$1\""), ("message-editor",
                "n=$(wc -l < \"$(git rev-parse --git-path rebase-merge/done)\")\n"
                "if [ -e $QUEUE/$n ]; then cat $QUEUE/$n > \"$1\"; fi")):
            self.write(name, f"#!/bin/sh\n{script}\n", self.base).chmod(0o755)
        return {"GIT_SEQUENCE_EDITOR": str(self.base / "sequence-editor"), "QUEUE": str(queue),
                "GIT_EDITOR": str(self.base / "message-editor"), "STEPS": str(self.base / "todo")}

    def outcome(self, onto):
        """What a rebase left: the index, what is not staged, and the history on `onto`."""
        said = [self.git(*words, check=False).stdout for words in (
            ("ls-files", "--stage"), ("diff", "--name-only"), ("symbolic-ref", "-q", "HEAD"),
            ("log", "--reverse", FIELDS, *([f"{onto}..HEAD"] if onto else ["HEAD"])))]
        return [re.sub(rb"^; (?=This is|The )", b"# ", text, flags=re.M) for text in said]

    def begin_again(self, start):
        self.git("rebase", "--abort", check=False)
        self.git("checkout", "-q", "-f", "-B", "topic", start)
        self.git("clean", "-q", "-f", "-d")

    def judged(self, server, plan, onto, start):
        """Run a plan with git, then with airlock: the same comes of it.  `onto` is None for the
        root.  Gives whether it went through."""
        done = self.git(*NO_COMMENTS, "rebase", "-i", "--empty=drop", onto or "--root",
                        check=False, **self.editors(plan))
        expected = self.outcome(onto)
        self.begin_again(start)
        if b"would make\nit empty" in done.stderr:  # git stops; airlock keeps an empty commit
            return False
        result = server.call("git_rebase", {"plan": plan} | ({"onto": onto} if onto else {}))
        if "cannot be the first commit" in result.text:  # git stops, above an empty commit
            self.assertIn(EMPTY_TREE, expected[3])
            return False
        self.assertFalse(result.failed, (plan, result, done))
        self.assertEqual("stopped" in result.text, done.returncode != 0, (plan, result, done))
        actual = self.outcome(onto)
        # git does not ask for the message of a squash that it drops, and leaves its own comments in
        # one that ends with such a squash.
        if drops_a_given_message(plan, done.stderr) or (
                done.returncode == 0 and b"This is a combination of" in expected[3]):
            actual[3], expected[3] = (re.sub(rb"\n[^\0]*\0", b"", text)
                                      for text in (actual[3], expected[3]))
        self.assertEqual(actual, expected, (plan, result, done))
        if onto:  # git rebase --root leaves a commit whose empty tree it does not write
            self.assertEqual(self.out("fsck", "--no-dangling"), "", plan)
        self.begin_again(start)
        return done.returncode == 0


MESSAGES = ("plain", "with a body\n\n- of\n- two lines\n", "  spaces  \n\n\n\nmany   \n\n",
            "#12 is the subject\n\n# heading\ntext", "fixup! something", "squash! other\n\nwhy",
            "Ümläute, 日本", "trailer\n\nSigned-off-by: A U Thor <author@example.com>\n")


def random_plan(dice, ids):
    """One of the plans that a user could write."""
    order = list(ids)
    if dice.random() < 0.5:
        dice.shuffle(order)
    plan = []
    for commit in order:
        do = dice.choice(["pick", "pick", "reword", "squash", "fixup", "drop"])
        if do in ("squash", "fixup") and not any(step["do"] != "drop" for step in plan):
            do = "pick"
        step = {"commit": commit, "do": do}
        if do == "reword" or (do == "squash" and dice.random() < 0.3):
            step["message"] = dice.choice(MESSAGES)
        plan.append(step)
    for i, step in enumerate(plan):
        rest = [later["do"] for later in plan[i + 1:] if later["do"] != "drop"]
        chain = rest[:next((j for j, do in enumerate(rest) if do not in ("squash", "fixup")),
                           len(rest))]
        if step["do"] == "squash" and "squash" in chain:
            step.pop("message", None)  # the editor would ask for one at the end of the chain only
    return plan
