// SPDX-License-Identifier: Apache-2.0
/*
 * The files of a commit that is pushed, in a private index.
 *
 * A file with CRLF line ends is stored as `git add` would store it in the target: git itself
 * decides, by the attributes of the commit, from a copy of the file below <push directory>/wt.
 *
 * Source: gitattributes(5) "text", git-update-index(1) --index-info.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/command.h"
#include "gitops/nul_records.h"
#include "staging/push/private.h"
#include "staging/store.h"
#include "staging/tree_bounds.h"
#include "util/fs.h"

/* The tree of the branch while it is listed. */
struct tree {
    const struct al_push *push;
    struct al_tree_bounds bounds;
};

/* "<mode> SP <type> SP <oid> TAB <path>" */
static bool take_entry(void *payload, char *const *fields)
{
    struct tree *tree = payload;
    const struct al_push *push = tree->push;
    const char *tab = strchr(fields[0], '\t'), *oid;
    char *type;
    struct al_push_version version = { .mode = (unsigned)strtoull(fields[0], &type, 8) };
    size_t which;

    if (!al_tree_bounds_add(&tree->bounds, tab ? tab + 1 : fields[0]))
        return false;
    which = tab && !S_ISDIR(version.mode) ? al_push_find_file(push, tab + 1) : SIZE_MAX;
    oid = *type ? strchr(type + 1, ' ') : NULL;
    if (which != SIZE_MAX && oid &&
        al_oid_parse(oid + 1, al_staging_is_sha256(push->staging), &version.oid))
        push->theirs[which] = version;
    return true;
}

/* git reads a whole tree into an index, however large. */
static int check_parent(const struct al_push *push, const struct al_push_dir *dir,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    struct tree tree = { .push = push };
    al_auto(al_nul_records_clear) struct al_nul_records records =
        AL_NUL_RECORDS_INIT(1, take_entry, &tree);
    int r;

    al_strv_adds(&command.argv, "git", "ls-tree", "-r", "-t", "-z", "--full-tree", NULL);
    al_strv_addf(&command.argv, "%s^{tree}", push->parent);
    r = al_push_git_sink(dir, &command, (struct al_sink){ al_nul_records_add, &records }, budget,
                         err);
    return r < 0 ? r
                 : al_tree_bounds_check(&tree.bounds, "the branch", "push to a smaller one", err);
}

static int read_parent(const struct al_push *push, const struct al_push_dir *dir,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    int r;

    if (!*push->parent)
        return 0;
    r = check_parent(push, dir, budget, err);
    if (r < 0)
        return r;
    command.class = AL_GIT_WRITE;
    al_strv_adds(&command.argv, "git", "read-tree", push->parent, NULL);
    return al_push_git(dir, &command, NULL, budget, err);
}

/* Regular files, and their content as it comes. */
struct contents {
    const struct al_push *push;
    const char *wt;
    size_t *files; /* index of each object that is read */
    struct al_str text;
    bool *copied;        /* for each staged file */
    struct al_str names; /* files that were copied, each ended by NUL */
};

/* Write <wt>/<path>; components of a staged path were checked when it was staged. */
static int copy_file(struct contents *contents, const struct al_staged_file *file,
                     struct al_error *err)
{
    al_auto(al_freep) char *path = al_fs_join(contents->wt, file->path);
    al_auto(al_freep) char *parent = al_strndup(path, (size_t)(strrchr(path, '/') - path));
    al_auto(al_closep) int fd = -1;
    int r = al_fs_mkdirs(parent, 0700);

    if (r == 0)
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  file->mode & 0100 ? 0700 : 0600);
    if (r == 0 && fd < 0)
        r = -errno;
    if (r == 0)
        r = al_write_all(fd, contents->text.buf, contents->text.len);
    if (r < 0)
        return al_staging_unusable(contents->push->staging, -r, err);
    al_str_add(&contents->names, file->path, strlen(file->path) + 1);
    return 0;
}

static int take(void *payload, size_t which, const char *data, size_t len, bool last,
                struct al_error *err)
{
    struct contents *contents = payload;
    int r = 0;

    al_str_add(&contents->text, data, len);
    if (!last)
        return 0;
    if (contents->text.len && memmem(contents->text.buf, contents->text.len, "\r\n", 2)) {
        contents->copied[contents->files[which]] = true;
        r = copy_file(contents, &contents->push->staged.files[contents->files[which]], err);
    }
    al_str_reset(&contents->text);
    return r;
}

static int read_contents(struct contents *contents, struct al_run_limits *budget,
                         struct al_error *err)
{
    const struct al_staged *staged = &contents->push->staged;
    al_auto(al_strv_clear) struct al_strv oids = AL_STRV_INIT;
    int r;

    contents->files = al_calloc(staged->count + 1, sizeof(*contents->files));
    for (size_t i = 0; i < staged->count; i++) {
        char oid[AL_OID_TEXT];

        if (staged->files[i].operation == AL_STAGED_DELETE ||
            (staged->files[i].mode & 0170000) != 0100000)
            continue;
        al_oid_text(&staged->files[i].oid, al_staging_is_sha256(contents->push->staging), oid);
        contents->files[oids.count] = i;
        al_strv_add(&oids, oid);
    }
    r = al_bare_read(&contents->push->staging->bare, (const char *const *)oids.items, oids.count,
                     take, contents, budget, err);
    free(al_take(&contents->files));
    return r;
}

/* "<mode> SP <oid> TAB <path>" NUL for each file that was not copied; mode 0 removes it. */
static void add_entries(const struct contents *contents, struct al_str *out)
{
    const struct al_push *push = contents->push;

    for (size_t i = 0; i < push->staged.count; i++) {
        const struct al_staged_file *file = &push->staged.files[i];
        char oid[AL_OID_TEXT];

        if (contents->copied[i])
            continue;
        al_oid_text(&file->oid, al_staging_is_sha256(push->staging), oid);
        al_str_addf(out, "%o %s\t%s", file->operation == AL_STAGED_DELETE ? 0 : file->mode, oid,
                    file->path);
        al_str_addc(out, '\0');
    }
}

static int set_entries(const struct contents *contents, const struct al_push_dir *dir,
                       struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_str_clear) struct al_str entries = AL_STR_INIT;

    add_entries(contents, &entries);
    if (!entries.len)
        return 0;
    command.class = AL_GIT_WRITE;
    command.input = entries.buf;
    command.input_len = entries.len;
    al_strv_adds(&command.argv, "git", "update-index", "-z", "--index-info", NULL);
    return al_push_git(dir, &command, NULL, budget, err);
}

/* The entries of copied files are still those of the parent: for `text=auto`, CRLF in the entry
 * makes git keep CRLF. */
static int add_copied(const struct contents *contents, const struct al_push_dir *dir,
                      struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    if (!contents->names.len)
        return 0;
    command.class = AL_GIT_WRITE;
    command.input = contents->names.buf;
    command.input_len = contents->names.len;
    al_strv_add(&command.argv, "git");
    al_strv_addf(&command.argv, "--work-tree=%s", contents->wt);
    al_strv_adds(&command.argv, "update-index", "--add", "--replace", "-z", "--stdin", NULL);
    return al_push_git(dir, &command, NULL, budget, err);
}

int al_push_build_index(const struct al_push *push, const struct al_push_dir *dir,
                        struct al_run_limits *budget, struct al_error *err)
{
    al_auto(al_freep) char *wt = al_fs_join(dir->path, "wt");
    struct contents contents = {
        .push = push, .wt = wt, .text = AL_STR_INIT, .names = AL_STR_INIT
    };
    int r = read_parent(push, dir, budget, err);

    contents.copied = al_calloc(push->staged.count + 1, sizeof(*contents.copied));
    if (r == 0)
        r = read_contents(&contents, budget, err);
    if (r == 0)
        r = set_entries(&contents, dir, budget, err);
    if (r == 0)
        r = add_copied(&contents, dir, budget, err);
    free(contents.copied);
    al_str_clear(&contents.text);
    al_str_clear(&contents.names);
    return r;
}
