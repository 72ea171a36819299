// SPDX-License-Identifier: Apache-2.0
/* airlock diff: the changes that the last executions made. */
#include <inttypes.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/history/undo.h"
#include "cli/pager.h"
#include "cli/print.h"
#include "guard/text.h"
#include "history/rollback.h"

/* The names of the patches in headings. */
static const char *const place_names[AL_PATCH_COUNT] = {
    [AL_PATCH_WORKTREE] = "the working tree",
    [AL_PATCH_INDEX] = "the index",
    [AL_PATCH_HEAD] = "the commits of HEAD",
};

/* Add a patch under a heading.  Equal patches are shown once, with all their names in the heading.
 */
static void add_patch(struct al_str *out, const struct al_execution_changes *found, size_t which)
{
    const struct al_str *patch = &found->patches[which];

    if (!patch->len)
        return;
    for (size_t i = 0; i < which; i++)
        if (!strcmp(found->patches[i].buf, patch->buf))
            return;
    al_str_addf(out, "In %s", place_names[which]);
    for (size_t i = which + 1; i < AL_PATCH_COUNT; i++)
        if (!strcmp(found->patches[i].buf, patch->buf))
            al_str_addf(out, ", %s", place_names[i]);
    al_str_adds(out, ":\n");
    al_str_add(out, patch->buf, patch->len);
}

static void add_execution(void *payload, const struct al_execution_changes *found)
{
    struct al_str *out = payload;
    al_auto(al_freep) char *tool = al_text_sanitize_line(found->tool);
    al_auto(al_freep) char *summary = al_text_join_lines(found->summary ? found->summary : "");

    if (out->len)
        al_str_addc(out, '\n');
    al_str_addf(out, "%" PRIu64 " %s%s%s%s\n", found->seq, tool, *summary ? ": " : "", summary,
                found->ended ? "" : " (interrupted)");
    for (size_t i = 0; i < found->changes.count; i++)
        if (found->changes.items[i].part != AL_PART_WORKTREE)
            al_undo_add_change(out, &found->changes.items[i]);
    for (size_t i = 0; i < AL_PATCH_COUNT; i++)
        add_patch(out, found, i);
}

static int run(struct al_undo *undo, bool stat)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    struct al_pager pager = AL_PAGER_INIT;
    int r = al_difference_read(undo->repo,
                               &(struct al_difference_options){
                                   .settings = &undo->setup.checkpoints,
                                   .journal_file = undo->setup.journal_file,
                                   .count = undo->count,
                                   .execution = undo->execution,
                                   .agent = undo->options.agent,
                                   .lines = !stat,
                               },
                               &undo->budget, add_execution, &out, &err);

    if (r < 0) {
        (void)al_cli_fail(&err);
        return AL_EXIT_FAILED;
    }
    /* After the last git, so that the pager is not mistaken for a git child. */
    al_pager_start(&pager, false);
    al_cli_print(STDOUT_FILENO, &out);
    al_pager_end(&pager);
    return AL_EXIT_OK;
}

int al_cmd_diff(int argc, char **argv)
{
    static const char *const flags[] = { "--stat", NULL };
    struct al_undo undo = AL_UNDO_INIT;
    bool stat = false;
    int code = al_undo_open(&undo, "diff", flags, &stat, argc, argv);

    if (code == AL_EXIT_OK)
        code = run(&undo, stat);
    al_undo_close(&undo);
    return code < 0 ? AL_EXIT_OK : code;
}
