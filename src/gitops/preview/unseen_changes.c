// SPDX-License-Identifier: Apache-2.0
#include "gitops/preview/unseen_changes.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/location.h"
#include "gitops/nul_records.h"
#include "gitops/oid.h"
#include "gitops/plumbing/batch.h"
#include "gitops/plumbing/filters.h"
#include "gitops/private_dir.h"
#include "gitops/run.h"
#include "gitops/vet/vet.h"
#include "guard/nofollow.h"

/* Bytes read of one file, and of all unmarked files together. */
#define FILE_MAX_BYTES  (64u << 20)
#define FILES_MAX_BYTES (256u << 20)

void al_unseen_changes_clear(struct al_unseen_changes *unseen)
{
    if (unseen->index)
        (void)unlink(unseen->index);
    free(unseen->index);
    al_buffer_clear(&unseen->names);
    *unseen = AL_UNSEEN_CHANGES_INIT;
}

/** A search. `lines` collects the suspect entries for an index of their own. */
struct search {
    const struct al_repo *repo;
    const struct al_buffer *known;
    int top;
    size_t entries;
    uint64_t bytes;
    struct al_str lines; /* input of update-index --index-info */
};

static bool is_known(const struct al_buffer *known, const char *path)
{
    for (size_t at = 0; at < known->len; at += strlen(known->data + at) + 1)
        if (!strcmp(known->data + at, path))
            return true;
    return false;
}

static char *link_oid(struct search *search, const char *path)
{
    const char *name;
    char target[PATH_MAX];
    al_auto(al_closep) int dir = al_nofollow_open_parent(search->top, path, false, &name);
    ssize_t len = dir < 0 ? -1 : readlinkat(dir, name, target, sizeof(target));

    return len < 0 ? NULL : al_git_blob_id(search->repo->vetting->is_sha256, target, (size_t)len);
}

/* The object id of a file's content on disk; "" when it is too large to read, NULL when there is no
 * file. */
static char *worktree_oid(struct search *search, const char *path, bool marked)
{
    al_auto(al_closep) int fd = al_nofollow_open(search->top, path, O_RDONLY);
    al_auto(al_str_clear) struct al_str content = AL_STR_INIT;
    struct stat st;

    if (fd < 0)
        return link_oid(search, path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    search->bytes += (uint64_t)st.st_size;
    if (st.st_size > FILE_MAX_BYTES || (!marked && search->bytes > FILES_MAX_BYTES) ||
        al_fs_read_fd(fd, FILE_MAX_BYTES, &content) < 0)
        return al_strdup("");
    return al_git_blob_id(search->repo->vetting->is_sha256, content.buf, content.len);
}

/* Parse "<tag> <mode> <oid> <stage> TAB <path>" and compare the entry with the file. */
static bool take_entry(void *payload, char *const *fields)
{
    struct search *search = payload;
    const char *entry = fields[0], *tab = strchr(entry, '\t');
    const char *mode = strchr(entry, ' '), *oid = mode ? strchr(mode + 1, ' ') : NULL;
    bool marked = islower((unsigned char)*entry) || *entry == 'S';
    al_auto(al_freep) char *id = NULL;

    if (!tab || !oid || tab < oid || tab[-1] != '0' || al_starts_with(mode, " 160000"))
        return true; /* git does see a conflict; a gitlink is another repository */
    if (!marked && ++search->entries > AL_UNSEEN_ENTRIES_MAX)
        return true;
    id = worktree_oid(search, tab + 1, marked);
    if (!id || (!*id && !marked) || (*id && al_starts_with(oid + 1, id)))
        return true;
    if (!is_known(search->known, tab + 1))
        al_str_add(&search->lines, mode + 1, strlen(mode + 1) + 1);
    return true;
}

static int read_entries(const struct al_str *words, struct search *search,
                        struct al_run_limits *budget, struct al_error *err)
{
    size_t at = 0;
    int r = 0;

    while (r == 0 && at < words->len) {
        al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
        al_auto(al_nul_records_clear) struct al_nul_records records =
            AL_NUL_RECORDS_INIT(1, take_entry, search);

        al_strv_adds(&command.argv, "git", "ls-files", "--stage", "-v", "-f", "-z", "--full-name",
                     "--", NULL);
        (void)al_batch_add(&command.argv, words, &at);
        r = al_git_read_records(&search->repo->at, &command, &records, budget, err);
    }
    return r;
}

/* Content with another id may still be what git would store, after line ending conversion. git
 * decides: in an index without stat data it can only compare content. */
static int compare_in_git(const struct search *search, struct al_run_limits *budget,
                          struct al_unseen_changes *unseen, struct al_error *err)
{
    const struct al_repo *repo = search->repo;
    al_auto(al_git_command_clear) struct al_git_command fill = AL_GIT_COMMAND_INIT;
    al_auto(al_git_command_clear) struct al_git_command list = AL_GIT_COMMAND_INIT;
    al_auto(al_git_output_clear) struct al_git_output output = { .exit_code = -1 };
    int r;

    unseen->index = al_git_private_name(repo->at.git, "index");
    unseen->names.max_bytes = AL_PATH_LIST_MAX_BYTES;
    fill.class = AL_GIT_WRITE;
    fill.index = list.index = unseen->index;
    fill.input = search->lines.buf;
    fill.input_len = search->lines.len;
    al_strv_adds(&fill.argv, "git", "update-index", "-z", "--index-info", NULL);
    al_strv_adds(&list.argv, "git", "-C", repo->at.top, "ls-files", "-z", "--modified", NULL);
    r = al_git_run(&repo->at, &fill, &(struct al_git_run){ .max_bytes = 0, .checked = true },
                   budget, &output, err);
    return r < 0 ? r : al_git_list_paths(repo, &list, budget, &unseen->names, err);
}

int al_git_find_unseen_changes(const struct al_repo *repo, const struct al_str *words,
                               const struct al_buffer *known, struct al_run_limits *budget,
                               struct al_unseen_changes *unseen, struct al_error *err)
{
    struct search search = { .repo = repo, .known = known, .top = -1, .lines = AL_STR_INIT };
    int r = al_location_open_top(&repo->at, &search.top, err);

    if (r == 0)
        r = read_entries(words, &search, budget, err);
    if (r == 0 && search.lines.len)
        r = compare_in_git(&search, budget, unseen, err);
    if (search.top >= 0)
        (void)close(search.top);
    al_str_clear(&search.lines);
    return r;
}
