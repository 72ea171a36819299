// SPDX-License-Identifier: Apache-2.0
#include "staging/base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "git/plumbing/bare.h"
#include "git/plumbing/revision.h"
#include "git/run.h"
#include "guard/text.h"
#include "staging/staged.h"
#include "staging/store.h"

void al_base_clear(struct al_base *base)
{
    al_sandbox_files_clear(&base->files);
    json_decref(base->heads);
    json_decref(base->markers);
    *base = (struct al_base){ .heads = NULL };
}

/* --- Changing --- */

void al_base_change(struct al_base *base, const struct al_sandbox_files *changes)
{
    const struct al_sandbox_files old = base->files;
    struct al_sandbox_files made = AL_SANDBOX_FILES_INIT;

    made.items = al_calloc(old.count + changes->count + 1, sizeof(*made.items));
    for (size_t i = 0, j = 0; i < old.count || j < changes->count;) {
        const struct al_sandbox_file *new = &changes->items[j];
        const int order = i == old.count        ? 1
                          : j == changes->count ? -1
                                                : strcmp(old.items[i].path, new->path);

        if (order < 0) {
            made.items[made.count++] = old.items[i++];
            continue;
        }
        if (order == 0)
            free(old.items[i++].path);
        if (j + 1 < changes->count && !strcmp(new->path, new[1].path)) {
            j++;
            continue;
        }
        if (new->mode)
            made.items[made.count++] = (struct al_sandbox_file){ .path = al_strdup(new->path),
                                                                 .mode = new->mode,
                                                                 .oid = new->oid };
        j++;
    }
    free(old.items);
    base->files = made;
}

void al_base_apply(struct al_base *base, const struct al_staged *staged)
{
    al_base_change(base, &(struct al_sandbox_files){ staged->files, staged->count });
    al_markers_forget(base, staged);
}

void al_files_list_replaced(const struct al_sandbox_files *files, const char *path,
                            struct al_strv *ret_paths)
{
    const struct al_range below = al_choose_range(
        &(struct al_choosing){ files->items, files->count, sizeof(*files->items), NULL, NULL },
        path);

    for (size_t i = below.begin; i < below.end; i++)
        al_strv_add(ret_paths, files->items[i].path);
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        al_auto(al_freep) char *above = al_strndup(path, (size_t)(slash - path));

        if (al_sandbox_files_find(files, above).mode)
            al_strv_add(ret_paths, above);
    }
}

/* --- Reading --- */

struct reading {
    struct al_base *base;
    bool sha256;
};

static bool add_file(void *payload, const struct al_change *change)
{
    struct reading *reading = payload;
    struct al_oid oid;

    if (!al_oid_parse(change->new_oid, reading->sha256, &oid))
        return false;
    al_sandbox_files_add(&reading->base->files,
                         &(struct al_sandbox_file){ .path = al_strdup(change->path),
                                                    .mode = change->new_mode,
                                                    .oid = oid });
    return true;
}

/* git writes references as a whole; a broken one comes from elsewhere.  git would not replace it.
 */
static void drop_broken(struct al_staging *staging, const char *ref, struct al_run_limits *budget)
{
    struct al_oid oid;

    if (!al_file_id_at(staging->bare.dir_fd, ref).exists ||
        al_staging_lock(staging, budget, NULL) < 0)
        return;
    if (!al_staging_read_ref(staging, ref, &oid) && unlinkat(staging->bare.dir_fd, ref, 0) == 0)
        al_log_warn("the staging store '%s' is damaged: it had no commit in '%s', and all files of "
                    "its sandbox count as new; pull again before a push",
                    staging->dir, ref);
    al_staging_unlock(staging);
}

int al_base_load(struct al_staging *staging, const char *key, struct al_run_limits *budget,
                 struct al_base *ret_base, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_BASE "%s", key);
    al_auto(al_base_clear) struct al_base base = { .heads = NULL };
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *known = NULL;
    struct reading reading = { .base = &base, .sha256 = staging->options.sha256 };
    const struct al_location bare = al_staging_bare(staging, budget);
    struct al_oid oid;
    char commit[AL_OID_TEXT];
    int r;

    *ret_base = (struct al_base){ .heads = NULL };
    if (!al_staging_read_ref(staging, ref, &oid)) {
        drop_broken(staging, ref, budget);
        return 0;
    }
    al_oid_text(&oid, reading.sha256, commit);
    r = al_bare_read_commit(&bare, commit, &message, add_file, &reading, err);
    if (r < 0)
        return r;
    known = json_loadb(message.buf, message.len, JSON_REJECT_DUPLICATES, NULL);
    base.heads = json_incref(json_object_get(known, "heads"));
    base.markers = json_incref(json_object_get(known, "markers"));
    *ret_base = base;
    base = (struct al_base){ .heads = NULL };
    return 0;
}

/* --- Heads --- */

static json_t *find_head(const json_t *heads, const char *target, const char *branch)
{
    json_t *head;
    size_t i;

    json_array_foreach(heads, i, head)
    {
        const char *its = al_json_get_string(head, "target");
        const char *name = al_json_get_string(head, "branch");

        if (its && name && !strcmp(its, target) && !strcmp(name, branch))
            return head;
    }
    return NULL;
}

const char *al_heads_find(const json_t *heads, const char *target, const char *branch)
{
    return al_json_get_string(find_head(heads, target, branch), "head");
}

bool al_heads_differ(const json_t *heads, const json_t *others)
{
    const json_t *head;
    size_t i;

    json_array_foreach(heads, i, head)
    {
        const char *target = al_json_get_string(head, "target");
        const char *branch = al_json_get_string(head, "branch");
        const char *commit = al_json_get_string(head, "head");
        const char *other = target && branch ? al_heads_find(others, target, branch) : NULL;

        if (commit && other && strcmp(other, commit) != 0)
            return true;
    }
    return false;
}

void al_heads_set(json_t **heads, const char *target, const char *branch, const char *commit)
{
    json_t *head = find_head(*heads, target, branch), *value = al_json_string(commit);

    if (!head) {
        if (!json_is_array(*heads)) {
            json_decref(*heads);
            *heads = al_json_array();
        }
        head = json_pack("{s:o, s:o}", "target", al_json_string(target), "branch",
                         al_json_string(branch));
        al_json_append(*heads, head);
    }
    al_json_set(head, "head", value);
}

/* --- Origins --- */

char *al_origin_name(const char *key, const char *target, const char *branch)
{
    char digits[AL_STAGING_KEY_TEXT];

    al_staging_make_key(target, branch, digits);
    return al_asprintf("%s-%.16s", key, digits);
}

/* --- The files of a commit --- */

#define MODE_SUBMODULE 0160000u

static unsigned depth_of(const char *path)
{
    unsigned depth = 0;

    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

/* The part of a tree that was seen. */
struct size {
    uint64_t entries, names_bytes;
    bool is_too_large;
};

/* Count the path of a file or a directory.  False: the tree is too large. */
static bool add_to_size(struct size *size, const char *path)
{
    size->entries++;
    size->names_bytes += strlen(path);
    if (size->entries > AL_TREE_ENTRIES_MAX || size->names_bytes > AL_TREE_NAMES_MAX_BYTES ||
        depth_of(path) > AL_TREE_DEPTH_MAX)
        size->is_too_large = true;
    return !size->is_too_large;
}

static int check_size(const struct size *size, const char *what, const char *advice,
                      struct al_error *err)
{
    if (!size->is_too_large)
        return 0;
    return al_error_set(err, AL_ERR_EXECUTION,
                        "%s has more than %u files and directories, more than %u bytes of names, "
                        "or directories more than %u deep; %s",
                        what, AL_TREE_ENTRIES_MAX, AL_TREE_NAMES_MAX_BYTES, AL_TREE_DEPTH_MAX,
                        advice);
}

/* Old trees have other permission bits; git knows only whether a file is executable. */
static unsigned canonical_mode(unsigned mode)
{
    if (S_ISREG(mode))
        return mode & S_IXUSR ? AL_SANDBOX_MODE_EXECUTABLE : AL_SANDBOX_MODE_FILE;
    return S_ISLNK(mode) ? AL_SANDBOX_MODE_LINK : MODE_SUBMODULE;
}

/* A tree that is read. */
struct listing {
    struct al_tree *tree;
    struct size size;
    bool sha256, is_damaged;
};

/* "<mode> SP <type> SP <oid> TAB <path>" */
static bool add_entry(void *payload, char *const *fields)
{
    struct listing *listing = payload;
    const char *tab = strchr(fields[0], '\t'), *id;
    struct al_sandbox_file file = { .path = NULL };
    char *type;

    if (!add_to_size(&listing->size, tab ? tab + 1 : fields[0]))
        return false;
    file.mode = (unsigned)strtoull(fields[0], &type, 8);
    id = *type == ' ' ? strchr(type + 1, ' ') : NULL;
    listing->is_damaged = !tab || !id || !al_oid_parse(id + 1, listing->sha256, &file.oid);
    if (listing->is_damaged)
        return false;
    if (al_starts_with(type, " tree ")) {
        al_str_addf(&listing->tree->trees, "%.*s\n", (int)(tab - id - 1), id + 1);
        return true;
    }
    file.mode = canonical_mode(file.mode);
    file.path = al_strdup(tab + 1);
    al_sandbox_files_add(&listing->tree->files, &file);
    return true;
}

void al_tree_clear(struct al_tree *tree)
{
    al_sandbox_files_clear(&tree->files);
    al_str_clear(&tree->trees);
}

/* git writes trees in order, but somebody else may have written this one. */
static int sort_files(struct al_sandbox_files *files, const char *what, struct al_error *err)
{
    al_sandbox_files_sort(files);
    for (size_t i = 1; i < files->count; i++) {
        al_auto(al_freep) char *safe = NULL;

        if (strcmp(files->items[i - 1].path, files->items[i].path) != 0)
            continue;
        safe = al_text_sanitize_line(files->items[i].path);
        return al_error_set(err, AL_ERR_EXECUTION,
                            "%s has two entries named '%s'; the user can look with git fsck", what,
                            safe);
    }
    return 0;
}

int al_tree_read(const struct al_location *at, bool sha256, const char *commit, const char *what,
                 const char *advice, struct al_tree *ret_tree, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct listing listing = { .tree = ret_tree, .sha256 = sha256 };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, add_entry, &listing);
    int r;

    *ret_tree = (struct al_tree){ .trees = AL_STR_INIT };
    command.borrows = at->lender != NULL;
    al_strv_adds(&command.argv, "git", "-c", AL_NO_COMMIT_GRAPH, "ls-tree", "-r", "-t", "-z",
                 "--full-tree", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", commit);
    r = al_git_read(at, &command, (struct al_sink){ al_nul_records_add, &records }, err);
    if (r == 0)
        r = check_size(&listing.size, what, advice, err);
    if (r == 0 && listing.is_damaged)
        r = al_error_set(err, AL_ERR_EXECUTION, "git ls-tree did not say what was asked");
    return r < 0 ? r : sort_files(&ret_tree->files, what, err);
}

/* --- Writing --- */

/* Many pulls may bring more than one commit may have. */
static int check_count(const struct al_base *base, struct al_error *err)
{
    struct size size = { .entries = 0 };

    for (size_t i = 0; i < base->files.count && add_to_size(&size, base->files.items[i].path); i++)
        continue;
    return check_size(&size, "what was pulled into this sandbox",
                      "use another sandbox for other repositories", err);
}

int al_base_save(struct al_staging *staging, const char *key, struct al_base *base,
                 struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *ref = al_asprintf(AL_REF_BASE "%s", key);
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    al_auto(al_json_decrefp) json_t *known = NULL;
    al_auto(al_import_clear) struct al_import import;
    int r = al_import_begin(staging, &import, err);

    if (r < 0)
        return r;
    r = check_count(base, err);
    if (r < 0)
        return r;
    known =
        json_pack("{s:o, s:o}", "heads", base->heads ? json_incref(base->heads) : al_json_array(),
                  "markers", base->markers ? json_incref(base->markers) : al_json_object());
    al_json_dump(known, true, &message);
    al_import_commit(&import, ref, message.buf, 0);
    al_import_set_all(&import, base);
    return al_import_end(&import, budget, NULL, err);
}
