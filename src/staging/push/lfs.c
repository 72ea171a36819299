// SPDX-License-Identifier: Apache-2.0
/*
 * Files that the target keeps with git-lfs.  airlock runs no filters, so their content goes into
 * the repository itself, which the user should know before.
 *
 * Source: git-check-attr(1), git-lfs-spec "The Pointer".
 */
#include <stdlib.h>

#include "gitops/command.h"
#include "gitops/nul_records.h"
#include "guard/text.h"
#include "staging/push/private.h"
#include "staging/store.h"

static const char pointer[] = "version https://git-lfs.github.com/spec/";

/* Test whether a text begins with the words of a pointer; more of it is of no interest. */
struct beginning {
    struct al_str text;
    bool *is_pointer; /* for each object that is read */
};

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct beginning *beginning = payload;
    const size_t room = strlen(pointer) - beginning->text.len;

    (void)err;
    al_str_add(&beginning->text, data, len < room ? len : room);
    if (!last)
        return 0;
    beginning->is_pointer[which] = !strcmp(beginning->text.buf, pointer);
    al_str_reset(&beginning->text);
    return 0;
}

/* Append the files of `kept`, the numbers of staged files, that are no pointers. */
static int leave_out_pointers(const struct al_push *push, const size_t *kept, size_t count,
                              struct al_run_limits *budget, struct al_strv *ret_paths,
                              struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    struct beginning beginning = { .text = AL_STR_INIT };
    int r;

    for (size_t i = 0; i < count; i++) {
        char oid[AL_OID_TEXT];

        al_oid_text(&push->staged.files[kept[i]].oid, al_staging_is_sha256(push->staging), oid);
        al_strv_add(&oids, oid);
    }
    beginning.is_pointer = al_calloc(count + 1, sizeof(*beginning.is_pointer));
    r = al_bare_read(&push->staging->bare, (const char *const *)oids.items, oids.count, take,
                     &beginning, budget, err);
    for (size_t i = 0; r == 0 && i < count; i++)
        if (!beginning.is_pointer[i])
            al_strv_add(ret_paths, push->staged.files[kept[i]].path);
    al_str_clear(&beginning.text);
    free(beginning.is_pointer);
    return r;
}

/* Which of the staged files git-lfs keeps, in their order. */
struct filtered {
    const struct al_push *push;
    size_t next;
    size_t *kept, count;
};

/* "<path>" NUL "filter" NUL "<value>" NUL, in the order of the request. */
static bool take_filter(void *payload, char *const *fields)
{
    struct filtered *filtered = payload;
    const struct al_staged *staged = &filtered->push->staged;

    while (filtered->next < staged->count &&
           strcmp(staged->files[filtered->next].path, fields[0]) != 0)
        filtered->next++;
    if (filtered->next < staged->count && !strcmp(fields[2], "lfs"))
        filtered->kept[filtered->count++] = filtered->next;
    return true;
}

static int find_filtered(const struct al_push *push, const struct al_push_dir *dir,
                         struct filtered *filtered, struct al_run_limits *budget,
                         struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(3, take_filter, filtered);
    al_auto(al_str_clear) struct al_str names = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str output = AL_STR_INIT;
    int r;

    for (size_t i = 0; i < push->staged.count; i++)
        if (push->staged.files[i].operation != AL_STAGED_DELETE)
            al_str_add(&names, push->staged.files[i].path, strlen(push->staged.files[i].path) + 1);
    if (!names.len)
        return 0;
    command.input = names.buf;
    command.input_len = names.len;
    al_strv_adds(&command.argv, "git", "check-attr", "--cached", "-z", "--stdin", "filter", NULL);
    r = al_push_git(dir, &command, &output, budget, err);
    if (r == 0)
        (void)al_nul_records_add(&records, output.buf, output.len);
    return r;
}

int al_push_find_lfs(const struct al_push *push, const struct al_push_dir *dir,
                     struct al_run_limits *budget, struct al_strv *ret_paths, struct al_error *err)
{
    struct filtered filtered = { .push = push };
    int r;

    filtered.kept = al_calloc(push->staged.count + 1, sizeof(*filtered.kept));
    r = find_filtered(push, dir, &filtered, budget, err);
    if (r == 0 && filtered.count)
        r = leave_out_pointers(push, filtered.kept, filtered.count, budget, ret_paths, err);
    free(filtered.kept);
    return r;
}

void al_push_note_lfs(const struct al_push *push, struct al_strv *notes)
{
    for (size_t i = 0; i < push->lfs.count && i < AL_PUSH_LFS_NAMED; i++) {
        al_auto(al_freep) char *path = al_text_sanitize_line(push->lfs.items[i]);

        al_strv_addf(notes,
                     "%s: the target keeps it with git-lfs, and its content went into the "
                     "repository itself",
                     path);
    }
    if (push->lfs.count > AL_PUSH_LFS_NAMED)
        al_strv_addf(notes, "… and %zu more files that the target keeps with git-lfs",
                     push->lfs.count - AL_PUSH_LFS_NAMED);
}
