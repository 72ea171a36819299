// SPDX-License-Identifier: Apache-2.0
#include "toolsets/everyday/stash_text.h"

#include "answer/place.h"
#include "answer/state_line.h"
#include "gitops/command.h"
#include "gitops/plumbing/stash_owners.h"
#include "gitops/porcelain/stash.h"
#include "gitops/run.h"

#define SHOW_MAX_BYTES 20000u

int al_stash_text_entry(struct al_call *call, const char *oid, struct al_str *out,
                        struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "log", "-1", "--no-walk", "--no-decorate",
                 "--encoding=UTF-8", "--format=%s", oid, "--", NULL);
    r = al_git_run(&al_call_repo(call)->at, &command,
                   &(struct al_git_run){ .max_bytes = 1000, .checked = true }, al_call_budget(call),
                   &output, err);
    if (r < 0)
        return r;
    al_str_trim_end(&output.out.out);
    al_str_addf(out, "%.*s ", AL_SHORT_ID, oid);
    al_place_add_name(output.out.out.buf, out);
    return 0;
}

int al_stash_text_list(struct al_call *call, struct al_str *text, struct al_error *err)
{
    al_auto(al_stash_owners_clear) struct al_stash_owners owners = AL_STASH_OWNERS_INIT;
    al_auto(al_stashes_clear) struct al_stashes stashes = AL_STASHES_INIT;
    al_auto(al_strv_clear) struct al_strv ids = AL_STRV_INIT;
    int r = al_git_read_stashes(al_call_repo(call), SHOW_MAX_BYTES, al_call_budget(call), &stashes,
                                err);

    if (r < 0)
        return r;
    al_stash_owners_read(al_call_repo(call), &owners);
    al_git_stash_entries(al_call_repo(call), &ids);
    if (!stashes.count)
        al_str_adds(text, "No stash entries.\n");
    for (size_t i = 0; i < stashes.count && i < ids.count; i++) {
        const struct al_stash_entry *entry = &stashes.items[i];
        al_auto(al_freep) char *whose =
            owners.is_shared ? al_stash_owner_words(&owners, ids.items[i]) : NULL;

        al_str_addf(text, "%.*s %.10s  ", AL_SHORT_ID, ids.items[i], entry->date);
        if (entry->branch)
            al_str_addf(text, "On %s: ", entry->branch);
        al_place_add_name(entry->message, text);
        al_str_addf(text, "%s%s%s\n", whose ? " (" : "", whose ? whose : "", whose ? ")" : "");
    }
    if (stashes.truncated)
        al_str_adds(text, "-- more entries are not shown; a user sees them with git stash list\n");
    return 0;
}

/* Cut a long patch; the statistics before it stay.  True if it was cut. */
static bool cut(struct al_git_output *output)
{
    struct al_str *out = &output->out.out;
    const char *patch;

    if (!output->stopped && out->len <= SHOW_MAX_BYTES)
        return false;
    patch = strstr(out->buf, "\ndiff --git ");
    al_str_truncate(out, patch ? (size_t)(patch - out->buf) + 1 : SHOW_MAX_BYTES);
    return true;
}

/* The untracked files, which git has in a third parent. */
static int add_untracked(struct al_call *call, const char *oid, struct al_str *text,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    al_strv_adds(&command.argv, "git", "diff-tree", "--root", "--no-commit-id", "-r", "--stat",
                 "--patch", "--no-ext-diff", "--no-textconv", "--no-relative", NULL);
    al_strv_addf(&command.argv, "%s^3", oid);
    al_strv_add(&command.argv, "--");
    r = al_git_run(&al_call_repo(call)->at, &command,
                   &(struct al_git_run){ .max_bytes = SHOW_MAX_BYTES + 1 }, al_call_budget(call),
                   &output, err);
    if (r < 0 || (output.exit_code != 0 && !output.stopped) || !output.out.out.len)
        return r;
    al_str_adds(text, "Untracked files:\n");
    if (cut(&output))
        al_str_addf(&output.out.out, "-- the patch is long: git_show with rev %.*s^3 shows it\n",
                    AL_SHORT_ID, oid);
    al_str_add(text, output.out.out.buf, output.out.out.len);
    return 0;
}

int al_stash_text_show(struct al_call *call, const char *oid, struct al_str *text,
                       struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r = al_stash_text_entry(call, oid, text, err);

    al_str_addc(text, '\n');
    al_strv_adds(&command.argv, "git", "diff", "--stat", "--patch", "--no-ext-diff",
                 "--no-textconv", "--no-relative", NULL);
    al_strv_addf(&command.argv, "%s^", oid);
    al_strv_adds(&command.argv, oid, "--", NULL);
    if (r == 0)
        r = al_git_run(&al_call_repo(call)->at, &command,
                       &(struct al_git_run){ .max_bytes = SHOW_MAX_BYTES + 1, .checked = true },
                       al_call_budget(call), &output, err);
    if (r < 0)
        return r;
    if (cut(&output))
        al_str_addf(&output.out.out,
                    "-- the patch is long: git_diff with from %.*s^ and to %.*s shows it\n",
                    AL_SHORT_ID, oid, AL_SHORT_ID, oid);
    al_str_add(text, output.out.out.buf, output.out.out.len);
    return add_untracked(call, oid, text, err);
}
