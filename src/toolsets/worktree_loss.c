// SPDX-License-Identifier: Apache-2.0
#include "toolsets/worktree_loss.h"

#include "answer/answer.h"
#include "gitops/worktree/list.h"
#include "guard/text.h"

#define NAMES_BYTES 1000u /* of one line */

/* A list that was cut says so by its last item. */
static void add_line(const char *kind, const struct al_strv *names, struct al_str *out)
{
    al_auto(al_strv_clear) struct al_strv safe = AL_STRV_INIT;

    if (!names->count)
        return;
    for (size_t i = 0; i < names->count; i++)
        al_strv_take(&safe, al_text_sanitize_line(names->items[i]));
    al_str_addf(out, "  %s%s: ", kind, names->count >= AL_WORKTREE_IGNORED_MAX ? ", at least" : "");
    al_answer_add_items(&safe, NAMES_BYTES, out);
    al_str_addc(out, '\n');
}

int al_worktree_add_loss(struct al_call *call, const char *top, struct al_str *out,
                         struct al_error *err)
{
    static const struct {
        enum al_worktree_files files;
        const char *kind;
    } kinds[] = {
        { AL_WORKTREE_CHANGED, "changed" },
        { AL_WORKTREE_STAGED, "staged" },
        { AL_WORKTREE_UNTRACKED, "untracked" },
        { AL_WORKTREE_IGNORED, "ignored" },
    };
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_COUNT(kinds); i++) {
        al_auto(al_strv_clear) struct al_strv names = AL_STRV_INIT;

        r = al_worktree_list_files(al_call_repo(call), top, kinds[i].files, al_call_budget(call),
                                   &names, err);
        if (r == 0)
            add_line(kinds[i].kind, &names, out);
    }
    return r;
}
