// SPDX-License-Identifier: Apache-2.0
/*
 * git/plumbing/bare.h, changes.h, conflict.h, describe.h, pr.h, rebase.h: what git lists
 * about objects and changes means the same however it arrives, and files with conflicts, notes of a
 * rebase, what a model writes and templates give nothing but what they promise.
 */
#include <stdlib.h>

#include "git/plumbing/bare.h"
#include "git/plumbing/diff_raw.h"
#include "tests/fuzz/fuzz.h"
#include "verbs/message/commit_message.h"
#include "verbs/message/pull_request.h"
#include "verbs/porcelain/resume.h"
#include "verbs/sequencer/conflict_hunks.h"

enum { OBJECTS, CHANGES, MARKERS, NOTES, MESSAGE, TEMPLATE, TARGETS };

/* Feed everything; in pieces unless `seed` is NULL. */
static bool feed(bool (*add)(void *, const char *, size_t), void *parser,
                 const struct fuzz_input *input, uint32_t *seed)
{
    bool more = true;

    for (size_t at = 0, n; at < input->len && more; at += n) {
        n = seed ? fuzz_piece(seed, input->len - at) : input->len;
        more = add(parser, input->data + at, n);
    }
    return more;
}

static bool begin_object(void *payload, const char *oid, const char *type, uint64_t size)
{
    al_str_addf(payload, "%s %s %llu|", oid, type ? type : "-", (unsigned long long)size);
    return true;
}

static bool add_object(void *payload, const char *data, size_t len, bool last)
{
    al_str_add(payload, data, len);
    if (last)
        al_str_addc(payload, '|');
    return true;
}

static bool read_objects(const struct fuzz_input *input, uint32_t *seed, struct al_str *out)
{
    al_auto(al_cat_file_clear) struct al_cat_file reader =
        AL_CAT_FILE_INIT(begin_object, add_object, out);

    (void)feed(al_cat_file_add, &reader, input, seed);
    return al_cat_file_is_whole(&reader);
}

static void check_objects(const struct fuzz_input *input, uint32_t seed)
{
    al_auto(al_str_clear) struct al_str whole = AL_STR_INIT;
    al_auto(al_str_clear) struct al_str pieces = AL_STR_INIT;

    fuzz_require(read_objects(input, NULL, &whole) == read_objects(input, &seed, &pieces));
    fuzz_require(whole.len == pieces.len && !memcmp(whole.buf, pieces.buf, whole.len));
}

/* Whatever is staged can be said in a subject that fits a line. */
static void check_described(const struct al_diff_raw *changes)
{
    al_auto(al_str_clear) struct al_str message = AL_STR_INIT;
    size_t characters = 0;

    if (!changes->count)
        return;
    al_commit_message_of_changes(changes, &message);
    for (size_t i = 0; i < message.len && message.buf[i] != '\n'; i++)
        characters += ((unsigned char)message.buf[i] & 0xc0) != 0x80;
    fuzz_require(characters > 0 && characters <= AL_SUBJECT_MAX);
    fuzz_require(fuzz_is_safe(message.buf, message.len));
}

static void check_changes(const struct fuzz_input *input, uint32_t seed)
{
    al_auto(al_diff_raw_clear) struct al_diff_raw whole = AL_DIFF_RAW_INIT,
                                                  pieces = AL_DIFF_RAW_INIT;

    fuzz_require(feed(al_diff_raw_add, &whole, input, NULL) ==
                 feed(al_diff_raw_add, &pieces, input, &seed));
    fuzz_require(whole.count == pieces.count && whole.total == pieces.total);
    for (size_t i = 0; i < whole.count; i++)
        fuzz_require(!strcmp(whole.items[i].path, pieces.items[i].path));
    check_described(&whole);
}

/* Conflicts are whole, one behind the other, and found in themselves. */
static void check_markers(const struct fuzz_input *input, uint8_t size)
{
    al_auto(al_freep) char *text = fuzz_bytes(input);
    const struct al_bytes bytes = { text, input->len };
    const size_t marker_size = 1 + size % 16;
    al_auto(al_conflict_blocks_clear) struct al_conflict_blocks blocks = { .items = NULL };
    al_auto(al_str_clear) struct al_str ours = AL_STR_INIT;
    size_t end = 0;

    al_conflict_blocks_find(bytes, marker_size, NULL, &blocks);
    for (size_t i = 0; i < blocks.count; i++) {
        const struct al_conflict_block *block = &blocks.items[i];
        const struct al_bytes whole = { text + block->start, block->end - block->start };
        al_auto(al_conflict_blocks_clear) struct al_conflict_blocks again = { .items = NULL };

        fuzz_require(block->start >= end && block->end > block->start && block->end <= bytes.len);
        al_conflict_blocks_find(whole, marker_size, NULL, &again);
        fuzz_require(again.count == 1 && again.items[0].end == whole.len);
        end = block->end;
    }
    al_conflict_take_side(bytes, marker_size, AL_STAGE_OURS, &ours);
    fuzz_require(blocks.count ? ours.len < bytes.len : ours.len == bytes.len);
}

static void check_todo(const struct fuzz_input *input)
{
    al_auto(al_freep) char *todo = fuzz_string(input);
    al_auto(al_strv_clear) struct al_strv commits = AL_STRV_INIT;
    al_auto(al_freep) char *word = al_todo_vet(todo, true, &commits);
    static const char *const never[] = { "exec", "x",     "merge", "m",          "label",
                                         "l",    "reset", "t",     "update-ref", "u" };

    fuzz_require(commits.count <= strlen(todo));
    if (word)
        return;
    for (const char *line = todo; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        for (size_t i = 0; i < AL_COUNT(never); i++)
            fuzz_require(strncmp(line, never[i], strlen(never[i])) != 0 ||
                         !strchr(" \t\r\n", line[strlen(never[i])]));
    }
}

static void check_message(const struct fuzz_input *input)
{
    al_auto(al_freep) char *proposed = fuzz_string(input);
    al_auto(al_freep) char *message = al_commit_message_accept(proposed);
    al_auto(al_freep) char *again = NULL;

    if (!message)
        return;
    fuzz_require(fuzz_is_safe(message, strlen(message)) && !strchr(message, '\t'));
    fuzz_require(al_ends_with(message, "\n") && message[0] != '\n' && message[0] != ' ');
    again = al_commit_message_accept(message);
    fuzz_require(again || strlen(message) > strlen(proposed));
}

static void check_template(const struct fuzz_input *input)
{
    static const struct al_pull_request_placeholder words[] = { { "{title}", "{files}" },
                                                                { "{files}", "" },
                                                                { NULL, NULL } };
    static const struct al_pull_request_placeholder none[] = { { NULL, NULL } };
    al_auto(al_freep) char *template = fuzz_string(input);
    al_auto(al_str_clear) struct al_str filled = AL_STR_INIT, same = AL_STR_INIT;
    al_auto(al_freep) char *title = al_pull_request_title(template);

    al_pull_request_fill(template, none, &same);
    fuzz_require(!strcmp(same.buf, template));
    al_pull_request_fill(template, words, &filled);
    fuzz_require(filled.len <= strlen(template));
    fuzz_require(fuzz_is_safe_line(title));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { (const char *)data, size };
    uint8_t target = fuzz_byte(&input) % TARGETS;
    uint8_t seed = fuzz_byte(&input);

    if (target == OBJECTS)
        check_objects(&input, seed);
    else if (target == CHANGES)
        check_changes(&input, seed);
    else if (target == MARKERS)
        check_markers(&input, seed);
    else if (target == NOTES)
        check_todo(&input);
    else if (target == MESSAGE)
        check_message(&input);
    else
        check_template(&input);
    return 0;
}
