// SPDX-License-Identifier: Apache-2.0
#include "gitops/worktree/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gitops/layer.h"
#include "util/fs.h"

#define RECORD_MAX_BYTES (32u << 10)

void al_worktree_record_clear(struct al_worktree_record *record)
{
    free(record->path);
    free(record->from);
    free(record->agent);
    free(record->tree);
    free(record->branch);
    free(record->branch_oid);
    *record = AL_WORKTREE_RECORD_INIT;
}

/* Caller frees; NULL: the repository is gone. */
static char *dir_of(const struct al_git *git, const char *common_dir)
{
    struct stat st;

    if (stat(common_dir, &st) < 0)
        return NULL;
    return al_asprintf("%s/%llx-%llx", git->records_dir, (unsigned long long)st.st_dev,
                       (unsigned long long)st.st_ino);
}

/* The same for a record in it. */
static char *path_of(const struct al_git *git, const char *common_dir, const char *name)
{
    al_auto(al_freep) char *dir = dir_of(git, common_dir);

    return dir ? al_fs_join(dir, name) : NULL;
}

char *al_worktree_tree_id(int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return NULL;
    return al_asprintf("%llx.%llx", (unsigned long long)st.st_ino,
                       (unsigned long long)al_fs_birth_ns(fd));
}

static void parse_line(char *line, struct al_worktree_record *record)
{
    const struct {
        const char *key;
        char **field;
    } keys[] = {
        { "path ", &record->path },     { "from ", &record->from }, { "agent ", &record->agent },
        { "branch ", &record->branch }, { "tree ", &record->tree },
    };
    char *space;

    record->making |= !strcmp(line, "making");
    for (size_t i = 0; i < AL_COUNT(keys); i++) {
        if (!al_starts_with(line, keys[i].key) || *keys[i].field)
            continue;
        *keys[i].field = al_strdup(line + strlen(keys[i].key));
    }
    space = record->branch && !record->branch_oid ? strrchr(record->branch, ' ') : NULL;
    if (space) {
        record->branch_oid = al_strdup(space + 1);
        *space = '\0';
    }
}

int al_worktree_record_read(const struct al_git *git, const char *common_dir, const char *name,
                            struct al_worktree_record *ret_record)
{
    al_auto(al_freep) char *path = path_of(git, common_dir, name);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    char *save = NULL;

    *ret_record = AL_WORKTREE_RECORD_INIT;
    if (!path || al_fs_read(AT_FDCWD, path, RECORD_MAX_BYTES, &text) < 0 ||
        !al_ends_with(text.buf, "\nend\n"))
        return AL_ERR_NOT_FOUND;
    for (char *line = strtok_r(text.buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        parse_line(line, ret_record);
    if (ret_record->path && ret_record->from)
        return 0;
    al_worktree_record_clear(ret_record);
    return AL_ERR_NOT_FOUND;
}

static void add_line(struct al_str *text, const char *key, const char *value)
{
    if (value && !strchr(value, '\n'))
        al_str_addf(text, "%s %s\n", key, value);
}

int al_worktree_record_write(const struct al_repo *repo, const char *name,
                             const struct al_worktree_record *record, struct al_error *err)
{
    al_auto(al_freep) char *dir = dir_of(repo->at.git, repo->at.common_dir);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    al_auto(al_closep) int fd = -1;
    int r = dir ? al_fs_mkdirs(dir, 0700) : -ENOENT;

    add_line(&text, "path", record->path);
    add_line(&text, "from", record->from);
    add_line(&text, "agent", record->agent);
    add_line(&text, "tree", record->tree);
    if (record->branch)
        al_str_addf(&text, "branch %s %s\n", record->branch, record->branch_oid);
    al_str_adds(&text, record->making ? "making\nend\n" : "end\n");
    if (r == 0)
        fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r == 0 && fd < 0)
        r = -errno;
    if (r == 0)
        r = al_fs_write_durable(fd, name, text.buf, text.len, 0600);
    return r < 0 ? al_error_errno(err, -r, "cannot write the record of the worktree") : 0;
}

void al_worktree_record_move(const struct al_repo *repo, const char *name, const char *to)
{
    al_auto(al_freep) char *path = path_of(repo->at.git, repo->at.common_dir, name);
    al_auto(al_freep) char *new = to ? path_of(repo->at.git, repo->at.common_dir, to) : NULL;

    if (path)
        (void)(new ? rename(path, new) : unlink(path));
}

void al_worktree_record_names(const struct al_git *git, const char *common_dir,
                              struct al_strv *ret_names)
{
    al_auto(al_freep) char *path = dir_of(git, common_dir);
    al_auto(al_closedirp) DIR *dir = path ? opendir(path) : NULL;
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !al_fs_temp_owner(entry->d_name))
            al_strv_add(ret_names, entry->d_name);
    al_strv_sort(ret_names);
}
