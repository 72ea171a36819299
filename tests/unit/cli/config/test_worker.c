// SPDX-License-Identifier: Apache-2.0
/* cli/config/worker.h: a worker file is read, or refused with file, line and key. */
#include "cli/config/worker.h"

#include <sys/stat.h>

#include "base/str.h"
#include "guard/text.h"
#include "tests/unit/cli/config/lib.h"

static int read_worker(struct tmpdir *dir, const char *text, struct al_worker *worker,
                       struct al_error *err)
{
    al_auto(al_freep) char *path = tmpdir_path(dir, "w.md");

    tmpdir_write(dir, "w.md", text);
    return al_worker_read(path, worker, err);
}

static void reads(void **state, const char *text, struct al_worker *worker)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;

    if (read_worker(*state, text, worker, &err) < 0)
        fail_msg("%s", err.message);
}

/* Expect "<file><what>". */
static void refuses(void **state, const char *text, const char *what)
{
    const struct tmpdir *dir = *state;
    struct al_worker worker = { .file = NULL };
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *wanted = al_asprintf("%s/w.md%s", dir->path, what);

    assert_int_equal(read_worker(*state, text, &worker, &err), AL_ERR_BAD_ARGS);
    assert_string_equal(err.message, wanted);
    assert_null(worker.file);
}

static void reads_every_key(void **state)
{
    al_auto(al_worker_clear) struct al_worker worker = { .file = NULL };
    const struct al_grant *grant;
    const struct al_rule *rules;

    reads(state,
          "---\n"
          "name: report-writer\n"
          "description: Writes analysis reports\n"
          "toolsets:\n"
          "  filesystem: {}\n"
          "  git:\n"
          "    default_target: {type: local, path: .}\n"
          "  readonly:\n"
          "roots: [one, /two]\n"
          "grants:\n"
          "  tools: [git_*, read_file]\n"
          "  fs:\n"
          "    /two/sub: r\n"
          "policy:\n"
          "  - tool: git_push\n"
          "    operation: force\n"
          "    effect: leaves_machine\n"
          "    branch: main\n"
          "    path: infra/*\n"
          "    decision: deny\n"
          "    message: Not from here.\n"
          "  - decision: ask\n"
          "---\n"
          "# Instructions\n"
          "---\n"
          "name: this is not read\n",
          &worker);
    assert_string_equal(worker.name, "report-writer");
    assert_int_equal(worker.toolsets->count, 3);
    assert_string_equal(worker.toolsets->items[1].name, "git");
    assert_int_equal(worker.toolsets->items[1].line, 6);
    assert_int_equal(worker.toolsets->items[2].type, AL_VALUE_NULL);
    assert_int_equal(worker.roots->count, 2);
    grant = &worker.grants.items[0];
    assert_int_equal(worker.grants.count, 1);
    assert_string_equal(grant->name, "worker report-writer");
    assert_true(al_grant_has_tool(grant, "git_log"));
    assert_false(al_grant_has_tool(grant, "write_file"));
    assert_int_equal(al_grant_check_dir(grant, "/two/sub/x", false, NULL), 0);
    assert_int_equal(al_grant_check_dir(grant, "/two/sub", true, NULL), AL_ERR_NOT_GRANTED);
    assert_int_equal(al_grant_check_dir(grant, "/two", false, NULL), AL_ERR_NOT_GRANTED);
    rules = worker.policy.rules;
    assert_int_equal(worker.policy.count, 2);
    assert_string_equal(rules[0].tool, "git_push");
    assert_string_equal(rules[0].operation, "force");
    assert_string_equal(rules[0].effect, "leaves_machine");
    assert_string_equal(rules[0].branch, "main");
    assert_string_equal(rules[0].path, "infra/*");
    assert_string_equal(rules[0].message, "Not from here.");
    assert_int_equal(rules[0].decision, AL_APPROVAL_DENY);
    assert_int_equal(rules[0].line, 15);
    assert_int_equal(rules[1].decision, AL_APPROVAL_ASK);
    assert_int_equal(rules[1].line, 22);
}

static void a_name_is_enough(void **state)
{
    static const char *const texts[] = {
        "---\nname: w\n---\n",
        "---\nname: w\n---",
        "---  \nname: w\n--- \t\nbody",
        "---\r\nname: w\r\n---\r\nbody\r\n",
        "\xef\xbb\xbf---\nname: w\n---\n",
        "---\n# a comment\n\nname: \"w\"\n---\n",
        "---\nname: w\n---\n\xff\xfe the body may be anything\n",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        al_auto(al_worker_clear) struct al_worker worker = { .file = NULL };

        reads(state, texts[i], &worker);
        assert_string_equal(worker.name, "w");
        assert_null(worker.toolsets);
        assert_null(worker.roots);
        assert_int_equal(worker.grants.count, 0);
        assert_int_equal(worker.policy.count, 0);
    }
}

static void refuses_a_file_without_frontmatter(void **state)
{
    static const char needs[] =
        ":1: a worker file begins with a line '---', settings and another line '---'";
    static const char *const texts[] = {
        "",        "---",         "--",          "# Title\n---\nname: w\n---\n",
        "\n---\n", "----\n---\n", " ---\n---\n", "--- x\n---\n"
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        refuses(state, texts[i], needs);
    refuses(state, "---\nname: w\n", ":1: no line '---' ends the frontmatter");
    refuses(state, "---\nname: w\n ---\n----\n--- x\n", ":1: no line '---' ends the frontmatter");
    refuses(state, "---\n---\n", ":2: name: is missing");
    refuses(state, "---\n# name: w\n---\n", ":2: name: is missing");
    refuses(state, "---\n- name\n---\n", ":2: must be a mapping, not a list");
    refuses(state, "---\nname\n---\n", ":2: must be a mapping, not a string");
}

static void refuses_wrong_keys_types_and_values(void **state)
{
    static const char *const cases[][2] = {
        { "nmae: w", ":2: nmae: unknown key, did you mean 'name'?" },
        { "name: w\nmodel: x", ":3: model: unknown key" },
        { "name: w\nname: v", ":3: name: is there twice" },
        { "name: 12", ":2: name: must be a string, not a number; put it in quotes" },
        { "name: true", ":2: name: must be a string, not true or false; put it in quotes" },
        { "name:", ":2: name: must be a string, not empty" },
        { "name: ''", ":2: name: must not be empty" },
        { "name: [w]", ":2: name: must be a string, not a list" },
        { "name: \"a\\nb\"", ":2: name: must be one line of visible characters" },
        { "name: \"a\\e[2Jb\"", ":2: name: must be one line of visible characters" },
        { "name: \"a\\u202eb\"", ":2: name: must be one line of visible characters" },
        { "name: ' a'", ":2: name: must be one line of visible characters" },
        { "name: 'a '", ":2: name: must be one line of visible characters" },
        { "name: w\ndescription: {}", ":3: description: must be a string, not a mapping" },
        { "name: w\n\ttoolsets: x", ":3: indented with a tab; indent with spaces" },
        { "name: &a w", ":2: an anchor is not read; write the value itself" },
        { "name: w\n--- {name: v}", ":3: a second document begins" },
        { "name: w\ndescription: \"\xff\"", ":3: not UTF-8" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *text = al_asprintf("---\n%s\n---\nbody\n", cases[i][0]);

        refuses(state, text, cases[i][1]);
    }
}

static void refuses_wrong_toolsets_and_limits(void **state)
{
    static const char *const cases[][2] = {
        { "toolsets: [git]", ":3: toolsets: must be a mapping, not a list" },
        { "toolsets:", ":3: toolsets: must be a mapping, not empty" },
        { "toolsets: {}", ":3: toolsets: must name between 1 and 32 toolsets" },
        { "toolsets: {git: yes}", ":3: toolsets.git: must be a mapping, not a string" },
        { "toolsets:\n  git: {}\n  staging: {}",
          ":5: toolsets.staging: is the same toolset as 'git'" },
        { "toolsets:\n  files: {}\n  filesystem: {}",
          ":5: toolsets.filesystem: is the same toolset as 'files'" },
        { "roots: .", ":3: roots: must be a list, not a string" },
        { "roots: []", ":3: roots: must have between 1 and 64 items" },
        { "roots: ['']", ":3: roots[0]: must not be empty" },
        { "roots: [a, 1]", ":3: roots[1]: must be a string, not a number; put it in quotes" },
        { "grants: reviewer", ":3: grants: must be a mapping, not a string" },
        { "grants: {tool: []}", ":3: grants.tool: unknown key, did you mean 'tools'?" },
        { "grants: {tools: git_log}", ":3: grants.tools: must be a list of strings, not a string" },
        { "grants:\n  fs:\n    sub: r", ":5: grants.fs.sub: must be an absolute path" },
        { "grants: {fs: {/a: w}}", ":3: grants.fs./a: must be 'r' or 'rw'" },
        { "grants: {fs: {/a: r, /a/: rw}}", ":3: grants.fs./a/: is there twice" },
        { "policy: {}", ":3: policy: must be a list, not a mapping" },
        { "policy:\n  - deny", ":4: policy[0]: must be a mapping, not a string" },
        { "policy:\n  - tool: x", ":4: policy[0]: has no 'decision'" },
        { "policy:\n  - tool: x\n    decision: allow",
          ":5: policy[0].decision: must be 'ask' or 'deny': a worker file only narrows" },
        { "policy: [{decision: ask, tols: x}]",
          ":3: policy[0].tols: unknown key, did you mean 'tool'?" },
        { "policy: [{decision: ask, effect: 'deletes'}]",
          ":3: policy[0].effect: unknown effect 'deletes' (valid: reads, writes_index, "
          "writes_worktree, discards_work, writes_refs, rewrites_history, writes_config, "
          "uses_network, leaves_machine, runs_program, writes_files)" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_freep) char *text = al_asprintf("---\nname: w\n%s\n---\nbody\n", cases[i][0]);

        refuses(state, text, cases[i][1]);
    }
}

/* A file whose frontmatter has `len` bytes. */
static char *frontmatter_of(size_t len)
{
    static const char name[] = "name: w\n#";
    struct al_str text = AL_STR_INIT;

    al_str_adds(&text, "---\n");
    al_str_adds(&text, name);
    for (size_t i = strlen(name) + 1; i < len; i++)
        al_str_addc(&text, 'x');
    al_str_adds(&text, "\n---\n");
    return al_str_detach(&text);
}

static void sizes_are_limited(void **state)
{
    for (size_t len = AL_WORKER_FRONTMATTER_MAX_BYTES - 1;
         len <= AL_WORKER_FRONTMATTER_MAX_BYTES + 1; len++) {
        al_auto(al_worker_clear) struct al_worker worker = { .file = NULL };
        al_auto(al_freep) char *text = frontmatter_of(len);

        if (len <= AL_WORKER_FRONTMATTER_MAX_BYTES)
            reads(state, text, &worker);
        else
            refuses(state, text,
                    ":1: the frontmatter is larger than 65536 bytes; move text below it");
    }
    for (int len = AL_WORKER_NAME_MAX_BYTES - 1; len <= (int)AL_WORKER_NAME_MAX_BYTES + 1; len++) {
        al_auto(al_worker_clear) struct al_worker worker = { .file = NULL };
        al_auto(al_freep) char *text = al_asprintf("---\nname: '%0*d'\n---\n", len, 1);

        if (len <= (int)AL_WORKER_NAME_MAX_BYTES)
            reads(state, text, &worker);
        else
            refuses(state, text, ":2: name: must be at most 64 bytes");
    }
}

static void refuses_what_is_no_file(void **state)
{
    struct tmpdir *dir = *state;
    static const char *const cases[][2] = { { "none.md", "No such file or directory" },
                                            { "dir.md", "not a regular file" },
                                            { "fifo.md", "not a regular file" } };

    tmpdir_mkdir(dir, "dir.md");
    assert_int_equal(mkfifoat(dir->fd, "fifo.md", 0600), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
        al_auto(al_freep) char *path = tmpdir_path(dir, cases[i][0]);
        al_auto(al_freep) char *wanted = al_asprintf("%s: cannot read: %s", path, cases[i][1]);
        struct al_worker worker = { .file = NULL };

        assert_int_equal(al_worker_read(path, &worker, &err), AL_ERR_BAD_ARGS);
        assert_string_equal(err.message, wanted);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_key),
        cmocka_unit_test(a_name_is_enough),
        cmocka_unit_test(refuses_a_file_without_frontmatter),
        cmocka_unit_test(refuses_wrong_keys_types_and_values),
        cmocka_unit_test(refuses_wrong_toolsets_and_limits),
        cmocka_unit_test(sizes_are_limited),
        cmocka_unit_test(refuses_what_is_no_file),
    };

    return cmocka_run_group_tests_name("config/worker", tests, setup, teardown);
}
