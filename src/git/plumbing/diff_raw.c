// SPDX-License-Identifier: Apache-2.0
#include "git/plumbing/diff_raw.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "git/command.h"
#include "git/plumbing/revision.h"
#include "git/refs.h"
#include "git/run.h"

/* The kind of the next field. The raw records come first, if --raw is given, then the --numstat
 * records. A --numstat record of a renamed file has an empty path, and the two names follow it. */
enum state { HEADER, END, PATH, OLD_PATH, NEW_PATH, COUNTED_OLD_PATH, COUNTED_NEW_PATH };

static void change_clear(struct al_change *change)
{
    free(change->path);
    free(change->old_path);
    free(change->old_oid);
    free(change->new_oid);
    *change = (struct al_change){ .status = 0 };
}

unsigned al_diff_mode(const char *text)
{
    unsigned mode = 0;

    for (; *text >= '0' && *text <= '7' && mode <= 0777777; text++)
        mode = (mode << 3) + (unsigned)(*text - '0');
    return mode;
}

void al_diff_raw_clear(struct al_diff_raw *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        change_clear(&changes->items[i]);
    change_clear(&changes->reading);
    free(changes->items);
    al_nul_records_clear(&changes->records);
    *changes = AL_DIFF_RAW_INIT;
}

/* ":<old mode> <new mode> <old oid> <new oid> <status>". The ids are checked to be hexadecimal
 * because a generated commit subject may contain the new one. */
static bool take_raw_header(struct al_diff_raw *changes, char *header)
{
    char *words[5];
    char *save = NULL;
    size_t count = 0;

    for (char *word = strtok_r(header + 1, " ", &save); word && count < AL_COUNT(words);
         word = strtok_r(NULL, " ", &save))
        words[count++] = word;
    if (count < AL_COUNT(words) || !al_is_oid(words[2], strlen(words[2])) ||
        !al_is_oid(words[3], strlen(words[3])))
        return false;
    changes->reading = (struct al_change){
        .status = words[4][0],
        .same_content = !strcmp(words[2], words[3]),
        .old_mode = al_diff_mode(words[0]),
        .new_mode = al_diff_mode(words[1]),
        .old_oid = al_strdup(words[2]),
        .new_oid = al_strdup(words[3]),
    };
    changes->state = words[4][0] == 'R' || words[4][0] == 'C' ? OLD_PATH : PATH;
    return true;
}

static void keep(struct al_diff_raw *changes)
{
    changes->total++;
    changes->state = HEADER;
    if (changes->count >= AL_DIFF_RAW_MAX && !changes->all) {
        change_clear(&changes->reading);
        return;
    }
    changes->items = al_grow(changes->items, changes->count, sizeof(*changes->items));
    changes->items[changes->count++] = changes->reading;
    changes->reading = (struct al_change){ .status = 0 };
}

/* "<added> TAB <deleted> TAB <path>". git prints '-' instead of both numbers for a binary file. */
static bool take_counts(struct al_diff_raw *changes, const char *field)
{
    const char *deleted = strchr(field, '\t');
    const char *path = deleted ? strchr(deleted + 1, '\t') : NULL;
    struct al_change *change;

    if (!path)
        return false;
    if (changes->counted && changes->counted == changes->count &&
        !strcmp(changes->items[changes->counted - 1].path, path + 1)) {
        changes->counted--; /* of a file in conflict, "0 TAB 0 TAB <path>" comes first */
    } else if (changes->counted == changes->total) { /* without --raw this says it all */
        changes->reading = (struct al_change){ .path = al_strdup(path + 1) };
        keep(changes);
    }
    if (changes->counted < changes->count) {
        change = &changes->items[changes->counted];
        change->binary = *field == '-';
        change->added = strtoull(field, NULL, 10);
        change->deleted = strtoull(deleted + 1, NULL, 10);
        changes->added += change->added;
        changes->deleted += change->deleted;
    }
    changes->counted++;
    changes->state = path[1] ? HEADER : COUNTED_OLD_PATH;
    return true;
}

/* A name of a renamed file after its numbers; --raw has said it already. */
static void take_counted_name(struct al_diff_raw *changes, char *field, bool is_old)
{
    struct al_change *change =
        changes->counted <= changes->count ? &changes->items[changes->counted - 1] : NULL;

    if (!change || *change->path)
        return;
    if (is_old) {
        change->old_path = al_strdup(field);
    } else {
        free(change->path);
        change->path = al_strdup(field);
    }
}

static bool take_field(struct al_diff_raw *changes, char *field)
{
    switch ((enum state)changes->state) {
    case HEADER:
        if (changes->message) { /* and its end, an empty field */
            al_str_adds(al_take(&changes->message), field);
            changes->state = END;
            return true;
        }
        field += *field == '\n'; /* after the message */
        return *field == ':' ? take_raw_header(changes, field) : take_counts(changes, field);
    case END:
        changes->state = HEADER;
        return true;
    case OLD_PATH:
        changes->reading.old_path = al_strdup(field);
        changes->state = NEW_PATH;
        return true;
    case PATH:
    case NEW_PATH:
        changes->reading.path = al_strdup(field);
        keep(changes);
        return true;
    case COUNTED_OLD_PATH:
        take_counted_name(changes, field, true);
        changes->state = COUNTED_NEW_PATH;
        return true;
    case COUNTED_NEW_PATH:
        take_counted_name(changes, field, false);
        changes->state = HEADER;
        return true;
    }
    return false;
}

static bool take_record(void *payload, char *const *fields)
{
    struct al_diff_raw *changes = payload;

    changes->broken = !take_field(changes, fields[0]);
    return !changes->broken;
}

bool al_diff_raw_add(void *payload, const char *data, size_t len)
{
    struct al_diff_raw *changes = payload;

    changes->records.take = take_record;
    changes->records.payload = changes;
    return !changes->broken && al_nul_records_add(&changes->records, data, len);
}

size_t al_diff_raw_add_list(struct al_diff_raw *changes, const char *data, size_t len)
{
    size_t at = 0;

    while (at < len && !changes->in_patch && !changes->broken) {
        const char *end = memchr(data + at, '\0', len - at);
        size_t piece = end ? (size_t)(end - data) + 1 - at : len - at;

        if (changes->state == HEADER && !changes->records.field[0].len &&
            (data[at] == '\0' || data[at] == '\n')) {
            changes->in_patch = data[at] == '\0';
            piece = 1;
        } else {
            changes->broken = !al_diff_raw_add(changes, data + at, piece);
        }
        at += piece;
    }
    return at;
}

static void add_object(const char *oid, unsigned mode, struct al_str *words)
{
    if (mode && (mode & S_IFMT) != AL_TYPE_GITLINK && oid[strspn(oid, "0")])
        al_str_addf(words, "%s\n", oid);
}

void al_diff_raw_add_objects(const struct al_diff_raw *changes, struct al_str *words)
{
    for (size_t i = 0; i < changes->count; i++) {
        add_object(changes->items[i].old_oid, changes->items[i].old_mode, words);
        add_object(changes->items[i].new_oid, changes->items[i].new_mode, words);
    }
}

int al_git_list_changes(const struct al_location *at, const struct al_git_command *command,
                        struct al_diff_raw *changes, struct al_error *err)
{
    int r = al_git_read(at, command, (struct al_sink){ al_diff_raw_add, changes }, err);

    return r < 0 || !changes->broken
               ? r
               : al_error_set(err, AL_ERR_EXECUTION, "git %s did not list what differs",
                              command->argv.items[1]);
}

int al_git_staged_changes(const struct al_repo *repo, struct al_diff_raw *changes,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;

    al_strv_adds(&command.argv, "git", "diff", "--cached", "--raw", "--numstat", "-z",
                 "--find-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv",
                 "--ignore-submodules=dirty", "--", NULL);
    return al_git_list_changes(&repo->at, &command, changes, err);
}

int al_git_staged_objects(const struct al_repo *repo, struct al_strv *ret_oids,
                          struct al_error *err)
{
    al_auto(al_git_command_clear) struct al_git_command command = AL_GIT_COMMAND_INIT;
    al_auto(al_freep) char *head = al_ref_head(&repo->at);
    al_auto(al_diff_raw_clear) struct al_diff_raw staged = AL_DIFF_RAW_INIT;
    int r;

    staged.all = true;
    al_strv_adds(&command.argv, "git", "diff-index", "--cached", "--raw", "-z", "--no-renames",
                 "--no-abbrev", "--ignore-submodules=dirty",
                 *head ? "HEAD" : al_git_empty_tree(repo), "--", NULL);
    r = al_git_list_changes(&repo->at, &command, &staged, err);
    for (size_t i = 0; r == 0 && i < staged.count; i++)
        if (staged.items[i].new_mode && staged.items[i].new_mode != AL_TYPE_GITLINK)
            al_strv_add(ret_oids, staged.items[i].new_oid);
    return r;
}
