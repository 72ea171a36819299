// SPDX-License-Identifier: Apache-2.0
/* The submodules of a repository: entries of its index, and their names in .gitmodules. */
#include <stdlib.h>
#include <string.h>

#include "gitops/nul_records.h"
#include "gitops/worktree/submodules.h"
#include "guard/gitdir.h"
#include "guard/text.h"
#include "util/fs.h"

#define NAME_MAX_BYTES 1024u

void al_worktree_submodule_clear(struct al_worktree_submodule *submodule)
{
    free(submodule->path);
    free(submodule->dir);
    free(submodule->head);
}

void al_worktree_submodules_clear(struct al_worktree_submodules *submodules)
{
    for (size_t i = 0; i < submodules->count; i++)
        al_worktree_submodule_clear(&submodules->items[i]);
    free(submodules->items);
    *submodules = AL_WORKTREE_SUBMODULES_INIT;
}

/* Gitlinks and names while they are read: pairs of path and commit, and of path and name. */
struct listing {
    struct al_strv links, names;
};

static void listing_clear(struct listing *listing)
{
    al_strv_clear(&listing->links);
    al_strv_clear(&listing->names);
}

/* "<mode> <oid> <stage> TAB <path>" */
static bool take_link(void *payload, char *const *fields)
{
    struct listing *listing = payload;
    const char *tab = strchr(fields[0], '\t');
    const char *oid = fields[0] + strlen("160000 ");

    if (!tab || !al_starts_with(fields[0], "160000 ") || tab[-1] != '0')
        return true;
    al_strv_add(&listing->links, tab + 1);
    al_strv_take(&listing->links, al_strndup(oid, strcspn(oid, " ")));
    return listing->links.count <= 2 * (size_t)AL_WORKTREE_SUBMODULES_MAX;
}

/* "submodule.<name>.path NL <path>"; the last one of a name counts. */
static bool take_name(void *payload, char *const *fields)
{
    struct listing *listing = payload;
    const char *begin = fields[0] + strlen("submodule.");
    const char *line = strchr(fields[0], '\n');
    const char *end = line ? line - strlen(".path") : NULL;

    if (!line || end <= begin)
        return true;
    al_strv_add(&listing->names, line + 1);
    al_strv_take(&listing->names, al_strndup(begin, (size_t)(end - begin)));
    return listing->names.count <= 16 * (size_t)AL_WORKTREE_SUBMODULES_MAX;
}

static int read_links(const struct al_repo *repo, struct listing *listing,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_link, listing);

    al_strv_adds(&command.argv, "git", "-C", repo->at.top, "ls-files", "--stage", "-z", NULL);
    return al_git_read_records(&repo->at, &command, &records, budget, err);
}

/* The blob of the index is read, not the file, which could be a link.  A repository without it has
 * submodules without names. */
static void read_names(const struct al_repo *repo, struct listing *listing,
                       struct al_run_limits *budget)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_CONTENT_INIT;
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_name, listing);

    al_strv_adds(&command.argv, "git", "config", "--no-includes", "--blob=:.gitmodules", "-z",
                 "--get-regexp", "^submodule\\..*\\.path$", NULL);
    (void)al_git_read_records(&repo->at, &command, &records, budget, NULL);
}

/* The name is a path below modules/: no part of it may be empty, "." or "..", or a git directory.
 */
static bool is_name(const char *name)
{
    if (!*name || strlen(name) > NAME_MAX_BYTES || *name == '/' || al_ends_with(name, "/") ||
        strpbrk(name, "\\\n\r") || strstr(name, "//") || al_path_has_dot_git(name))
        return false;
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        size_t len = strcspn(at, "/");

        if ((len == 1 && at[0] == '.') || (len == 2 && at[0] == '.' && at[1] == '.'))
            return false;
    }
    return true;
}

/* Caller borrows; NULL: none. */
static const char *name_of(const struct listing *listing, const char *path)
{
    const char *name = NULL;

    for (size_t i = 0; i + 1 < listing->names.count; i += 2)
        if (!strcmp(listing->names.items[i], path))
            name = listing->names.items[i + 1];
    return name;
}

static void refuse(struct al_strv *refused, const char *path, const char *reason)
{
    al_auto(al_freep) char *safe = al_text_sanitize_line(path);

    al_strv_addf(refused, "'%s': %s", safe, reason);
}

static void add(struct al_worktree_submodules *list, char *path, char *dir, const char *head)
{
    list->items = al_reallocarray(list->items, list->count + 1, sizeof(*list->items));
    list->items[list->count++] =
        (struct al_worktree_submodule){ .path = path, .dir = dir, .head = al_strdup(head) };
}

int al_worktree_list_submodules(const struct al_repo *repo, const char *path, const char *dir,
                                struct al_run_limits *budget, struct al_worktree_submodules *list,
                                struct al_strv *refused, struct al_error *err)
{
    al_auto(listing_clear) struct listing listing = { .links = AL_STRV_INIT };
    int r = read_links(repo, &listing, budget, err);

    if (r < 0 || !listing.links.count)
        return r;
    read_names(repo, &listing, budget);
    for (size_t i = 0; i + 1 < listing.links.count; i += 2) {
        const char *name = name_of(&listing, listing.links.items[i]);
        al_auto(al_freep) char *at = al_asprintf("%s%s", path, listing.links.items[i]);

        if (list->count >= AL_WORKTREE_SUBMODULES_MAX)
            refuse(refused, at, "there are too many submodules");
        else if (!name)
            refuse(refused, at, ".gitmodules does not name it");
        else if (!is_name(name) || strpbrk(at, "\n\r"))
            refuse(refused, at, "its name in .gitmodules is no name of a directory");
        else
            add(list, al_take(&at), al_asprintf("%smodules/%s", dir, name),
                listing.links.items[i + 1]);
    }
    return 0;
}
