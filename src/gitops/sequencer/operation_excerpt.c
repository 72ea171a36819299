// SPDX-License-Identifier: Apache-2.0
/* Describe the operation in progress that a commit concludes or continues. */
#include "gitops/sequencer/operation_excerpt.h"

#include <fcntl.h>

#include "gitops/command.h"
#include "gitops/location.h"
#include "gitops/preview/verify_objects.h"
#include "gitops/refs.h"
#include "gitops/run.h"
#include "gitops/sequencer/operation_state.h"
#include "guard/nofollow.h"

#define HEADS_MAX_BYTES (1u << 20)
#define HEADS_MAX       64
#define SHOWN_MAX_BYTES (64u * 1024u)

/* Read the object ids in a file of the git directory, one a line. */
static void read_heads(const struct al_repo *repo, const char *name, struct al_strv *heads)
{
    al_auto(al_closep) int dir = -1;
    al_auto(al_closep) int fd = -1;
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;

    if (al_location_open_git_dir(&repo->at, &dir, NULL) < 0)
        return;
    fd = al_nofollow_open(dir, name, O_RDONLY);
    if (fd < 0 || al_fs_read_fd(fd, HEADS_MAX_BYTES, &text) < 0)
        return;
    for (const char *at = text.buf; *at;) {
        size_t len = strcspn(at, "\n");

        if (al_is_oid(at, len))
            al_strv_addf(heads, "%.*s", (int)len, at);
        at += len + (at[len] == '\n');
    }
}

/* Append the abbreviated id and the subject of each commit. */
static int show_heads(const struct al_repo *repo, const struct al_strv *heads,
                      struct al_run_limits *budget, struct al_str *out, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    bool all = true;
    int r;

    command.show_controls = true;
    al_strv_adds(&command.argv, "git", "log", "--no-walk=unsorted", "--format=  %h %s",
                 "--no-decorate", "--no-show-signature", "--no-color", NULL);
    for (size_t i = 0; i < heads->count && i < HEADS_MAX; i++) {
        al_strv_add(&command.argv, heads->items[i]);
        al_str_addf(&words, "%s\n", heads->items[i]);
    }
    al_strv_add(&command.argv, "--");
    r = al_git_verify_objects(repo, &words, budget, &all, err);
    if (r == 0)
        r = al_git_run(
            &repo->at, &command,
            &(struct al_git_run){ .max_bytes = al_git_excerpt_bytes(budget, SHOWN_MAX_BYTES),
                                  .checked = true },
            budget, &output, err);
    if (r < 0)
        return r;
    al_git_add_excerpt(budget, output.out.out.buf, output.out.out.len, output.stopped, out);
    if (heads->count > HEADS_MAX)
        al_str_addf(out, "  … and %zu more\n", heads->count - HEADS_MAX);
    return 0;
}

int al_git_operation_excerpt(const struct al_repo *repo, struct al_run_limits *budget,
                             struct al_str *out, struct al_error *err)
{
    static const struct {
        enum al_operation_state state;
        const char *file, *title;
    } rows[] = {
        { AL_IN_PROGRESS_MERGE, "MERGE_HEAD",
          "This concludes a merge, and takes in the history of:" },
        { AL_IN_PROGRESS_CHERRY_PICK, "CHERRY_PICK_HEAD", "This continues the cherry-pick of:" },
        { AL_IN_PROGRESS_REVERT, "REVERT_HEAD", "This continues the revert of:" },
    };
    enum al_operation_state state = al_git_operation_state(repo);
    int r = 0;

    for (size_t i = 0; r == 0 && i < AL_COUNT(rows); i++) {
        al_auto(al_strv_clear) struct al_strv heads = AL_STRV_INIT;

        if (rows[i].state == state)
            read_heads(repo, rows[i].file, &heads);
        if (!heads.count)
            continue;
        al_str_addf(out, "%s\n", rows[i].title);
        r = show_heads(repo, &heads, budget, out, err);
    }
    return r;
}
