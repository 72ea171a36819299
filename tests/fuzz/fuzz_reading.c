// SPDX-License-Identifier: Apache-2.0
/* git/reading, git/diff, verbs/sequencer/conflict_hunks.h: what git prints means the same
 * however it arrives, and what is found in a text lies inside of it. */
#include <stdlib.h>

#include "git/diff/diff.h"
#include "git/hunks/hunk_list.h"
#include "git/reading/grep.h"
#include "git/reading/read_blame.h"
#include "git/reading/read_log.h"
#include "tests/fuzz/fuzz.h"
#include "verbs/sequencer/conflict_hunks.h"

/* What a reader passes on, in one string, and how much of it is wanted. */
struct seen {
    struct al_str text;
    size_t left;
};

static bool more(struct seen *seen)
{
    fuzz_require(seen->left > 0);
    return --seen->left > 0;
}

static void see(struct seen *seen, const char *text)
{
    al_str_adds(&seen->text, text ? text : "(none)");
    al_str_addc(&seen->text, '\n');
}

static bool take_file(void *payload, const struct al_patch_file *file)
{
    struct seen *seen = payload;

    see(seen, file->path);
    see(seen, file->old_path);
    al_str_addf(&seen->text, "%d%d%d%d%d %o %o\n", file->is_new, file->is_deleted, file->is_copy,
                file->is_binary, file->is_unmerged, file->old_mode, file->mode);
    return more(seen);
}

/* Where a long hunk is cut may depend on how it arrives; what it says does not. */
static bool take_hunk(void *payload, const char *part, size_t len, bool is_first)
{
    struct seen *seen = payload;

    al_str_adds(&seen->text, is_first ? "hunk\n" : "");
    al_str_add(&seen->text, part, len);
    fuzz_require(!len || part[len - 1] == '\n' || len <= AL_PATCH_PART_BYTES * 2);
    return is_first ? more(seen) : true;
}

static bool take_files(void *payload, const struct al_diff_raw *files)
{
    struct seen *seen = payload;

    for (size_t i = 0; i < files->count; i++) {
        see(seen, files->items[i].path);
        see(seen, files->items[i].old_path);
    }
    al_str_addf(&seen->text, "%zu files +%llu -%llu\n", files->count,
                (unsigned long long)files->added, (unsigned long long)files->deleted);
    return more(seen);
}

static bool take_commit(void *payload, const struct al_logged *commit)
{
    struct seen *seen = payload;

    see(seen, commit->hash);
    see(seen, commit->date);
    see(seen, commit->author);
    see(seen, commit->decorations);
    see(seen, commit->message);
    see(seen, commit->parents);
    return more(seen);
}

static bool take_found(void *payload, const struct al_grep_line *line)
{
    struct seen *seen = payload;

    see(seen, line->path);
    see(seen, line->line);
    al_str_add(&seen->text, line->text, line->len);
    see(seen, line->is_match ? "match" : "");
    return more(seen);
}

static bool take_blamed(void *payload, const struct al_blamed *commit, bool begins, uint64_t line,
                        const char *text, size_t len)
{
    struct seen *seen = payload;

    see(seen, commit->oid);
    see(seen, commit->author);
    see(seen, commit->subject);
    see(seen, commit->date);
    al_str_addf(&seen->text, "%d %d %llu ", commit->is_committed, begins, (unsigned long long)line);
    al_str_add(&seen->text, text, len);
    return more(seen);
}

/* Feed everything; in pieces unless `seed` is NULL.  False: the reader has enough. */
static bool feed(bool (*add)(void *, const char *, size_t), void *reader,
                 const struct fuzz_input *input, uint32_t *seed)
{
    for (size_t at = 0, n; at < input->len; at += n) {
        n = seed ? fuzz_piece(seed, input->len - at) : input->len;
        if (!add(reader, input->data + at, n))
            return false;
    }
    return true;
}

static void read_changes(const struct fuzz_input *input, uint32_t *seed, struct seen *seen,
                         bool lists_files)
{
    const struct al_patch_taker to = { take_file, take_hunk, seen };
    al_auto(al_change_reader_clear) struct al_change_reader reader;

    al_change_reader_init(&reader, lists_files ? take_files : NULL, &to);
    reader.files.in_patch = !lists_files;
    if (feed(al_change_reader_add, &reader, input, seed))
        (void)al_change_reader_end(&reader);
}

static void read_log(const struct fuzz_input *input, uint32_t *seed, struct seen *seen,
                     const struct al_log_query *query)
{
    const struct al_log_taker to = { .take_commit = take_commit,
                                     .take_files = take_files,
                                     .patch = { take_file, take_hunk, seen } };
    al_auto(al_log_reader_clear) struct al_log_reader reader;

    al_log_reader_init(&reader, query, &to);
    if (feed(al_log_reader_add, &reader, input, seed))
        al_log_reader_end(&reader);
}

static void read_grep(const struct fuzz_input *input, uint32_t *seed, struct seen *seen,
                      const struct al_grep_query *query)
{
    al_auto(al_grep_reader_clear) struct al_grep_reader reader =
        AL_GREP_READER_INIT(query, take_found, seen);

    (void)feed(al_grep_reader_add, &reader, input, seed);
}

static void read_blame(const struct fuzz_input *input, uint32_t *seed, struct seen *seen)
{
    al_auto(al_blame_reader_clear) struct al_blame_reader reader =
        AL_BLAME_READER_INIT(take_blamed, seen);

    (void)feed(al_blame_reader_add, &reader, input, seed);
}

enum kind {
    PATCH,
    CHANGES,
    LOG,
    LOG_PATCH,
    LOG_SHOW,
    GREP,
    GREP_CONTEXT,
    GREP_FILES,
    BLAME,
    READERS,
    HUNKS = READERS,
    CONFLICTS,
    KINDS
};

static void read_as(enum kind kind, const struct fuzz_input *input, uint32_t *seed,
                    struct seen *seen)
{
    static const struct al_log_query logs[] = {
        [LOG] = { .max_count = 0 },
        [LOG_PATCH] = { .patch = true },
        [LOG_SHOW] = { .no_walk = true, .stat = true, .patch = true }
    };
    static const struct al_grep_query greps[] = { [GREP] = { .pattern = "" },
                                                  [GREP_CONTEXT] = { .context = 2, .rev = "HEAD" },
                                                  [GREP_FILES] = { .files_only = true } };

    if (kind == PATCH)
        read_changes(input, seed, seen, false);
    else if (kind == CHANGES)
        read_changes(input, seed, seen, true);
    else if (kind <= LOG_SHOW)
        read_log(input, seed, seen, &logs[kind]);
    else if (kind <= GREP_FILES)
        read_grep(input, seed, seen, &greps[kind]);
    else
        read_blame(input, seed, seen);
}

static void check_reader(enum kind kind, struct fuzz_input *input)
{
    uint32_t seed = fuzz_byte(input);
    const size_t wanted = 1 + fuzz_byte(input);
    struct seen whole = { AL_STR_INIT, wanted }, pieces = { AL_STR_INIT, wanted };
    const struct fuzz_input same = *input;

    read_as(kind, &same, NULL, &whole);
    read_as(kind, &same, &seed, &pieces);
    fuzz_require(whole.text.len == pieces.text.len &&
                 !memcmp(whole.text.buf, pieces.text.buf, whole.text.len));
    al_str_clear(&whole.text);
    al_str_clear(&pieces.text);
}

/* Every hunk lies in its file, and its file in the text; an id finds its hunk. */
static void check_hunks(struct fuzz_input *input)
{
    al_auto(al_hunk_list_clear) struct al_hunk_list list = AL_HUNK_LIST_INIT;

    list.side = fuzz_byte(input) & 1 ? AL_HUNKS_STAGED : AL_HUNKS_UNSTAGED;
    al_str_add(&list.text, input->data, input->len);
    al_hunk_list_parse(&list);
    al_hunk_list_number(&list, NULL);
    for (size_t i = 0; i < list.nfiles; i++) {
        const struct al_hunk_file *file = &list.files[i];

        fuzz_require(file->path && file->begin <= file->body && file->body <= file->end);
        fuzz_require(file->end <= list.text.len && file->first + file->count <= list.count);
    }
    for (size_t i = 0; i < list.count; i++) {
        const struct al_hunk_item *item = &list.items[i];
        al_auto(al_str_clear) struct al_str shown = AL_STR_INIT;

        fuzz_require(item->file < list.nfiles && item->begin <= item->end);
        fuzz_require(item->end <= list.files[item->file].end);
        fuzz_require(al_hunk_find(&list, item->id) == item);
        al_hunk_show(&list, item, 1, &shown);
    }
}

/* Conflicts lie in the text, in order, and so do their sides. */
static void check_conflicts(struct fuzz_input *input)
{
    const size_t marker_size = 1 + fuzz_byte(input) % 9;
    al_auto(al_freep) char *text = fuzz_bytes(input);
    al_auto(al_conflict_blocks_clear) struct al_conflict_blocks blocks = { .items = NULL };
    size_t at = 0;

    al_conflict_blocks_find((struct al_bytes){ text, input->len }, marker_size, NULL, &blocks);
    for (size_t i = 0; i < blocks.count; i++) {
        const struct al_conflict_block *block = &blocks.items[i];

        fuzz_require(block->start >= at && block->start < block->end && block->end <= input->len);
        for (size_t side = 0; side < AL_STAGES; side++) {
            const struct al_bytes *bytes = &block->sides[side];

            fuzz_require(!bytes->len || (bytes->data >= text + block->start &&
                                         bytes->data + bytes->len <= text + block->end));
        }
        at = block->end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    const enum kind kind = fuzz_byte(&input) % KINDS;

    if (kind < READERS)
        check_reader(kind, &input);
    else if (kind == HUNKS)
        check_hunks(&input);
    else
        check_conflicts(&input);
    return 0;
}
