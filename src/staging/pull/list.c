// SPDX-License-Identifier: Apache-2.0
#include "staging/pull/list.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "gitops/nul_records.h"
#include "gitops/plumbing/partial_clone.h"
#include "gitops/plumbing/revision.h"
#include "gitops/repo/repo.h"
#include "gitops/vet/vet.h"
#include "guard/text.h"
#include "sandbox/sandbox.h"
#include "staging/tree_bounds.h"
#include "util/sorted.h"

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

static void add_file(struct al_pull_list *list, const struct al_pull_file *file)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 256;
        list->items = al_reallocarray(list->items, list->capacity, sizeof(*list->items));
    }
    list->items[list->count++] = *file;
}

static bool parse_entry(struct reading *reading, const char *entry)
{
    struct al_pull_file file = { .path = NULL };
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
    return strcmp(((const struct al_pull_file *)a)->path, ((const struct al_pull_file *)b)->path);
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

const struct al_pull_file *al_pull_list_find(const struct al_pull_list *list, const char *path)
{
    const size_t at = al_sorted_find(list->items, list->count, sizeof(*list->items), path);

    return at == SIZE_MAX ? NULL : &list->items[at];
}
