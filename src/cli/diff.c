// SPDX-License-Identifier: Apache-2.0
/* airlock diff: what the last executions changed. */
#include <unistd.h>

#include "cli/undo.h"
#include "journal/difference.h"
#include "util/fs.h"

static int run(struct al_undo *undo, bool stat)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    struct al_differences changes = { .items = NULL };
    int r = al_difference_read(undo->repo,
                               &(struct al_difference_options){
                                   .settings = &undo->setup.checkpoints,
                                   .journal_file = undo->setup.journal_file,
                                   .count = undo->count,
                                   .lines = !stat,
                               },
                               &undo->budget, &changes, &text, &err);

    if (r < 0) {
        (void)al_cli_fail(&err);
        return AL_EXIT_FAILED;
    }
    for (size_t i = 0; i < changes.count; i++)
        if (changes.items[i].part != AL_PART_WORKTREE)
            al_undo_add_change(&out, &changes.items[i]);
    al_str_add(&out, text.buf, text.len);
    (void)al_write_all(STDOUT_FILENO, out.buf, out.len);
    al_differences_clear(&changes);
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
