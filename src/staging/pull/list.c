// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/private.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/sorted.h"
#include "git/plumbing/partial_clone.h"
#include "git/plumbing/revision.h"
#include "git/repo/repo.h"
#include "git/run.h"
#include "git/vet/vet.h"
#include "guard/text.h"
#include "staging/base.h"
#include "staging/store.h"
#include "staging/target.h"
#include "verbs/preview/verify_objects.h"

/* How a pointer of git-lfs(1) begins, and what its size is below (git-lfs-spec, "The Pointer"). */
#define LFS_MARK       "version https://git-lfs.github.com/spec/"
#define LFS_MAX_BYTES  1024u

#define MODE_SUBMODULE 0160000u

void al_pull_list_clear(struct al_pull_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].path);
    free(list->items);
    al_strv_clear(&list->trees);
    *list = (struct al_pull_list){ .items = NULL };
}

/* An entry as `ls-tree -l` prints it: "<mode> SP <type> SP <oid> SP+ <size> TAB <path>".  The size
 * is left out for a partial clone, which would have to be asked for every object. */
struct reading {
    struct al_pull_list *list;
    const struct al_pull_filter *filter; /* NULL: every file is listed */
    struct al_tree_bounds bounds;
    bool sha256, is_damaged;
};

/* Old trees have other permission bits; git knows only whether a file is executable. */
static unsigned canonical_mode(unsigned mode)
{
    if (S_ISREG(mode))
        return mode & S_IXUSR ? AL_SANDBOX_MODE_EXECUTABLE : AL_SANDBOX_MODE_FILE;
    return S_ISLNK(mode) ? AL_SANDBOX_MODE_LINK : MODE_SUBMODULE;
}

static void add_file(struct al_pull_list *list, const struct al_sandbox_file *file)
{
    list->items = al_grow(list->items, list->count, sizeof(*list->items));
    list->items[list->count++] = *file;
}

static bool parse_entry(struct reading *reading, const char *entry)
{
    struct al_sandbox_file file = { .path = NULL };
    const char *tab = strchr(entry, '\t');
    size_t digits = 2 * al_oid_bytes(reading->sha256);
    char *end, *type, oid[AL_OID_TEXT];

    file.mode = (unsigned)strtoull(entry, &type, 8);
    if (!tab || type == entry || *type != ' ')
        return false;
    type++;
    end = strchr(type, ' ');
    if (!end || !al_oid_parse(end + 1, reading->sha256, &file.oid))
        return false;
    al_oid_text(&file.oid, reading->sha256, oid);
    if (al_starts_with(type, "tree ")) {
        al_strv_add(&reading->list->trees, oid);
        return true;
    }
    if (reading->filter && !reading->filter->keeps(reading->filter->payload, tab + 1))
        return true;
    entry = end + 1 + digits;
    file.size = strtoull(entry, &end, 10);
    file.has_size = end != entry && *end == '\t';
    file.mode = canonical_mode(file.mode);
    file.path = al_strdup(tab + 1);
    add_file(reading->list, &file);
    return true;
}

static bool add_entry(void *payload, char *const *fields)
{
    struct reading *reading = payload;
    const char *tab = strchr(fields[0], '\t');

    if (!al_tree_bounds_add(&reading->bounds, tab ? tab + 1 : fields[0]))
        return false;
    reading->is_damaged = !parse_entry(reading, fields[0]);
    return !reading->is_damaged;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct al_sandbox_file *)a)->path,
                  ((const struct al_sandbox_file *)b)->path);
}

/* git writes trees in order, but somebody else may have written this one. */
static int sort(struct al_pull_list *list, struct al_error *err)
{
    bool sorted = true;

    for (size_t i = 1; i < list->count && sorted; i++)
        sorted = by_path(&list->items[i - 1], &list->items[i]) < 0;
    if (!sorted)
        qsort(list->items, list->count, sizeof(*list->items), by_path);
    for (size_t i = 1; i < list->count && !sorted; i++) {
        al_auto(al_freep) char *safe = NULL;

        if (by_path(&list->items[i - 1], &list->items[i]) != 0)
            continue;
        safe = al_text_sanitize_line(list->items[i].path);
        return al_error_set(err, AL_ERR_EXECUTION,
                            "the commit to pull has two entries named '%s'; the user can look with "
                            "git fsck",
                            safe);
    }
    return 0;
}

int al_pull_list_read(const struct al_repo *repo, const char *commit,
                      const struct al_pull_filter *filter, struct al_run_limits *budget,
                      struct al_pull_list *ret_list, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_pull_list_clear) struct al_pull_list list = { .items = NULL };
    struct reading reading = { .list = &list,
                               .filter = filter,
                               .sha256 = repo->vetting->is_sha256 };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, add_entry, &reading);
    int r;

    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "ls-tree", "-r", "-t", "-z",
                 "--full-tree", NULL);
    if (!al_repo_is_partial(repo))
        al_strv_add(&command.argv, "-l");
    al_strv_addf(&command.argv, "%s^{tree}", commit);
    r = al_git_read_records(&repo->at, &command, &records, budget, err);
    if (r == 0 && reading.is_damaged)
        r = al_error_set(err, AL_ERR_EXECUTION, "git ls-tree did not say what was asked");
    if (r == 0)
        r = al_tree_bounds_check(&reading.bounds, "the commit to pull", "pull from a smaller one",
                                 err);
    if (r == 0)
        r = sort(&list, err);
    if (r < 0)
        return r;
    *ret_list = list;
    list = (struct al_pull_list){ .items = NULL };
    return 0;
}

const struct al_sandbox_file *al_pull_list_find(const struct al_pull_list *list, const char *path)
{
    const size_t at = al_sorted_find(list->items, list->count, sizeof(*list->items), path);

    return at == SIZE_MAX ? NULL : &list->items[at];
}

/* --- Content --- */

int al_pull_too_large(uint64_t bytes, uint64_t max, struct al_error *err)
{
    return al_error_set(err, AL_ERR_EXECUTION,
                        "the files have %llu bytes, more than the %llu that the sandbox may hold, "
                        "so nothing was pulled; give fewer paths or raise staging.max_bytes",
                        (unsigned long long)bytes, (unsigned long long)max);
}

bool al_pull_is_wanted(const struct al_pull_item *item)
{
    return item->chosen && !item->skipped && item->theirs.mode &&
           !al_sandbox_version_equal(&item->theirs, &item->base);
}

static void list_blobs(const struct al_pull_plan *plan, bool sha256, struct al_strv *ret_oids)
{
    for (size_t i = 0; i < plan->count; i++) {
        char oid[AL_OID_TEXT];

        al_oid_text(&plan->items[i].theirs.oid, sha256, oid);
        if (al_pull_is_wanted(&plan->items[i]))
            al_strv_add(ret_oids, oid);
    }
}

int al_pull_bring_blobs(const struct al_pull_request *request, const struct al_pull_plan *plan,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;

    list_blobs(plan, request->repo->vetting->is_sha256, &oids);
    return al_target_bring(request->repo, &oids, budget, err);
}

/* Compare the commit and its trees with their ids. */
static int verify_trees(const struct al_pull_request *request, const struct al_pull_list *list,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_str_clear) struct al_str words = AL_STR_INIT;
    bool complete = true;
    int r;

    al_str_addf(&words, "%s\n%s^{tree}\n", request->commit, request->commit);
    for (size_t i = 0; i < list->trees.count; i++)
        al_str_addf(&words, "%s\n", list->trees.items[i]);
    r = al_git_verify_objects(request->repo, &words, budget, &complete, err);
    if (r == 0 && !complete)
        r = al_error_set(err, AL_ERR_EXECUTION,
                         "the directories of the commit to pull have more than %u bytes; pull from "
                         "a smaller one",
                         AL_VERIFY_MAX_BYTES);
    return r;
}

/* Blobs as they come, each verified. */
struct copying {
    struct al_pull_plan *plan;
    size_t next; /* the items before it have come */
    struct al_import *import;
    struct al_str content;
    uint64_t bytes, max_bytes; /* so far; 0: no limit */
};

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct copying *copying = payload;
    struct al_str *content = &copying->content;

    (void)which;
    copying->bytes += len;
    if (copying->max_bytes && copying->bytes > copying->max_bytes)
        return al_pull_too_large(copying->bytes, copying->max_bytes, err);
    al_str_add(content, data, len);
    if (!last)
        return 0;
    while (!al_pull_is_wanted(&copying->plan->items[copying->next]))
        copying->next++;
    copying->plan->items[copying->next++].is_lfs =
        content->len < LFS_MAX_BYTES && al_starts_with(content->buf, LFS_MARK);
    al_import_put(copying->import, content->buf, content->len);
    al_str_reset(content);
    return 0;
}

int al_pull_copy_blobs(struct al_staging *staging, const struct al_pull_request *request,
                       const struct al_pull_list *list, struct al_pull_plan *plan,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    al_auto(al_import_clear) struct al_import import = { .file = NULL };
    struct copying copying = { .plan = plan,
                               .import = &import,
                               .content = AL_STR_INIT,
                               .max_bytes = staging->options.max_bytes };
    struct al_bare both = staging->bare;
    int r = verify_trees(request, list, budget, err);

    list_blobs(plan, staging->options.sha256, &oids);
    if (r < 0 || !oids.count)
        return r;
    r = al_target_bring(request->repo, &oids, budget, err);
    if (r == 0)
        r = al_import_begin(staging, &import, err);
    both.lender = &request->repo->at;
    both.reads_borrowed = true;
    if (r == 0)
        r = al_bare_read(&both, (const char *const *)oids.items, oids.count, take, &copying, budget,
                         err);
    al_str_clear(&copying.content);
    return r < 0 ? r : al_import_end(&import, budget, NULL, err);
}
