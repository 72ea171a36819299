// SPDX-License-Identifier: Apache-2.0
/* airlock rollback: back to before the last executions. */
#include "journal/rollback.h"

#include <unistd.h>

#include "cli/undo.h"
#include "guard/text.h"
#include "util/fs.h"
#include "util/log.h"

/* More names than this in a list help nobody. */
#define LISTED_MAX 100u

static void print(int fd, const struct al_str *text)
{
    (void)al_write_all(fd, text->buf, text->len);
}

static void add_list(struct al_str *out, const char *title, const struct al_strv *names)
{
    if (!names->count)
        return;
    al_str_addf(out, "%s\n", title);
    for (size_t i = 0; i < names->count && i < LISTED_MAX; i++) {
        al_auto(al_freep) char *safe = al_text_word(names->items[i]);

        al_str_addf(out, "  %s\n", safe);
    }
    if (names->count > LISTED_MAX)
        al_str_addf(out, "  and %zu more\n", names->count - LISTED_MAX);
}

static size_t count_files(const struct al_differences *changes)
{
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++)
        count += changes->items[i].part == AL_PART_WORKTREE;
    return count;
}

static void add_others(struct al_str *out, const struct al_differences *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->items[i].part != AL_PART_WORKTREE)
            al_undo_add_change(out, &changes->items[i]);
}

static void show_dry_run(const struct al_rollback *rollback)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    al_str_addf(&out, "Rolling back %zu execution%s would change:\n", rollback->count,
                rollback->count == 1 ? "" : "s");
    al_str_add(&out, rollback->stat.buf, rollback->stat.len);
    add_others(&out, &rollback->changes);
    if (!rollback->changes.count)
        al_str_adds(&out, " nothing\n");
    print(STDOUT_FILENO, &out);
}

static void show_done(const struct al_rollback *rollback)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;
    size_t files = count_files(&rollback->changes) - rollback->kept.count;

    if (rollback->resumed)
        al_str_adds(&out, "Finished the rollback that was interrupted. ");
    al_str_addf(&out, "Rolled back %zu execution%s: %zu file%s", rollback->count,
                rollback->count == 1 ? "" : "s", files, files == 1 ? "" : "s");
    al_str_adds(&out, "; airlock rollback undoes this\n");
    add_others(&out, &rollback->changes);
    add_list(&out, "Left as they are, since they are ignored or were too large to be kept:",
             &rollback->kept);
    print(STDOUT_FILENO, &out);
}

/* What would be lost is said on standard error, with the reason after it. */
static int show_failed(const struct al_rollback *rollback, const struct al_error *err)
{
    al_auto(al_str_clear) struct al_str out = AL_STR_INIT;

    add_list(&out, "Changed by somebody else since:", &rollback->lost);
    add_list(&out, "In the way, and in no checkpoint:", &rollback->unsaved);
    print(STDERR_FILENO, &out);
    al_log_note("%s", err->message);
    return AL_EXIT_FAILED;
}

static int run(struct al_undo *undo, bool dry_run, bool force)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_rollback_clear) struct al_rollback rollback = AL_ROLLBACK_INIT;
    const struct al_session *session = &undo->setup.session;
    int r;

    if (!session->journal && !dry_run)
        return AL_EXIT_FAILED; /* why was said when it was opened */
    r = al_rollback_run(undo->repo,
                        &(struct al_rollback_options){
                            .journal_file = undo->setup.journal_file,
                            .journal = session->journal,
                            .settings = &undo->setup.checkpoints,
                            .confinement = session->confinement,
                            .lock_wait_ms = undo->setup.config.git.timeout_ms,
                            .count = undo->count,
                            .force = force,
                            .dry_run = dry_run,
                        },
                        &undo->budget, &rollback, &err);
    if (dry_run && (r == 0 || r == AL_ERR_APPROVAL_REQUIRED))
        show_dry_run(&rollback);
    else if (r == 0)
        show_done(&rollback);
    return r < 0 ? show_failed(&rollback, &err) : AL_EXIT_OK;
}

int al_cmd_rollback(int argc, char **argv)
{
    static const char *const flags[] = { "--dry-run", "--force", NULL };
    struct al_undo undo = AL_UNDO_INIT;
    bool values[2] = { false, false };
    int code = al_undo_open(&undo, "rollback", flags, values, argc, argv);

    if (code == AL_EXIT_OK)
        code = run(&undo, values[0], values[1]);
    al_undo_close(&undo);
    return code < 0 ? AL_EXIT_OK : code;
}
