// SPDX-License-Identifier: Apache-2.0
/* airlock doctor: checks of this machine and the repository, with a fix for each problem. */
#include "cli/inspect/doctor.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/config/tokens.h"
#include "cli/environment.h"
#include "cli/names.h"
#include "cli/print.h"
#include "cli/tty.h"
#include "git/repo/git.h"
#include "guard/program.h"
#include "guard/text.h"
#include "history/journal.h"
#include "proc/proc.h"
#include "serve/command/warn.h"
#include "tools/toolsets.h"

/* The finding of airlock doctor about rules that protect nothing in this session, since the tool
 * that they are about is of a toolset that was not chosen. */

/* Whether no own tool of the session is of this rule.  Those of other MCP servers are not known. */
static bool is_idle(const struct al_setup *setup, const struct al_rule *rule)
{
    if (rule->decision == AL_APPROVAL_ALLOW || (!rule->tool && !rule->operation) ||
        al_names_may_be_mounted(setup, rule->tool))
        return false;
    for (size_t i = 0; i < setup->registry.count; i++)
        if (al_names_may_match(rule, setup->registry.items[i].tool))
            return false;
    return true;
}

/* The first toolset that has what the rule is about. */
static const char *toolset_of(const struct al_rule *rule)
{
    const struct al_toolset_registry *all = al_toolsets();

    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; all->items[i].tools[k]; k++)
            if (al_names_may_match(rule, all->items[i].tools[k]))
                return all->items[i].name;
    return NULL;
}

/* Name every rule that asks or denies and is about a tool that no chosen toolset has. */
static void check_rules(struct al_findings *findings, const struct al_setup *setup,
                        const struct al_policy *policy)
{
    for (size_t i = 0; i < policy->count && setup->registry.count; i++) {
        const struct al_rule *rule = &policy->rules[i];
        const char *toolset = is_idle(setup, rule) ? toolset_of(rule) : NULL;

        if (!toolset || !strcmp(toolset, "commands")) /* they are the shell's, of no session */
            continue;
        al_finding_add(findings, "rules", AL_WARNING,
                       "No tool of this session is of that name, so the rule protects nothing "
                       "here. Name the tools that airlock tools lists, or choose that toolset.",
                       "rule %zu (line %u%s) is about %s of the toolset %s", i + 1, rule->line,
                       policy == &setup->worker.policy ? " of the worker file" : "",
                       rule->tool ? rule->tool : rule->operation, toolset);
    }
}

/* airlock doctor: what the configuration says of a server over HTTP.  No server is started. */

static void check_places(struct al_findings *findings, const struct al_setup *setup,
                         const struct al_options *options)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str places = AL_STR_INIT;

    if (!setup->config.serve.http.count)
        return;
    al_text_add_list(&places, &setup->config.serve.http, SIZE_MAX);
    (void)al_http_check(options, &setup->config, &err);
    al_finding_add(findings, "serve", err.message ? AL_MISSING : AL_FINE,
                   "Correct [serve] in the configuration; airlock serve does not start.", "%s",
                   err.message ? err.message : places.buf);
}

/* The tokens themselves are not shown. */
static void check_tokens(struct al_findings *findings, const struct al_setup *setup)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_tokens_clear) struct al_tokens tokens = AL_TOKENS_INIT;
    al_auto(al_freep) char *path = NULL;

    if (!setup->config.serve.token_file) {
        if (setup->config.serve.http.count)
            al_finding_add(findings, "tokens", AL_FINE, NULL, "%s",
                           setup->config.serve.no_token ? "none: everybody may come in"
                                                        : "one is made at each start");
        return;
    }
    path = al_environment_absolute(setup->config.serve.token_file);
    if (al_roots_exclude(al_roots_parts(&setup->roots), path, "token file", &err) == 0 &&
        al_tokens_read(path, &setup->config.grants, &tokens, &err) == 0)
        al_finding_add(findings, "tokens", AL_FINE, NULL, "%zu token%s (%s)", tokens.count,
                       tokens.count == 1 ? "" : "s", path);
    else
        al_finding_add(findings, "tokens", AL_MISSING,
                       "Correct the token file; airlock serve --http does not start with it.", "%s",
                       err.message);
}

static void check_tls(struct al_findings *findings, const struct al_setup *setup)
{
    const char *cert = setup->config.serve.tls_cert, *key = setup->config.serve.tls_key;
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_freep) char *files = NULL;

    if (!cert || !key) /* one of them alone is a finding about the places */
        return;
    files = al_asprintf("%s, %s", cert, key);
    if (al_roots_exclude(al_roots_parts(&setup->roots), key, "TLS key", &err) == 0)
        (void)al_http_check_tls(&setup->config, &err);
    al_finding_add(findings, "tls", err.message ? AL_MISSING : AL_FINE,
                   "Correct the files, or serve.tls_cert and serve.tls_key.", "%s",
                   err.message ? err.message : files);
}

/* Their syntax is checked as the configuration is read. */
static void check_hosts(struct al_findings *findings, const struct al_setup *setup)
{
    al_auto(al_str_clear) struct al_str hosts = AL_STR_INIT;

    al_text_add_list(&hosts, &setup->config.serve.hosts, SIZE_MAX);
    if (al_serve_lacks_hosts(&setup->config))
        al_finding_add(findings, "hosts", AL_WARNING,
                       "List the names that clients use in [serve] hosts; others than localhost "
                       "and loopback addresses get 403.",
                       "none");
    else if (setup->config.serve.hosts.count)
        al_finding_add(findings, "hosts", AL_FINE, NULL, "%s", hosts.buf);
}

void al_finding_add(struct al_findings *findings, const char *what, enum al_level level,
                    const char *fix, const char *fmt, ...)
{
    static const char *const names[] = { "ok", "warning", "missing" };
    al_auto(al_str_clear) struct al_str state = AL_STR_INIT;
    al_auto(al_freep) char *safe = NULL;
    al_auto(al_freep) char *safe_fix = al_text_sanitize_line(fix ? fix : "");
    va_list args;

    va_start(args, fmt);
    al_str_addv(&state, fmt, args);
    va_end(args);
    safe = al_text_join_lines(state.buf);
    al_json_append(findings->list,
                   json_pack("{s:s, s:s, s:s, s:s*}", "check", what, "level", names[level], "state",
                             safe, "fix", level != AL_FINE ? safe_fix : NULL));
    findings->missing |= level == AL_MISSING;
}

/* False for a git that is too old for a session. */
static bool check_git(struct al_findings *findings, const char *program)
{
    al_auto(al_freep) char *version = NULL;
    bool supported;

    if (al_proc_init(program, NULL) < 0 || al_git_version(program, &version, NULL) < 0) {
        al_finding_add(findings, "git", AL_MISSING, "Install git (Debian: apt-get install git).",
                       "not found");
        return true;
    }
    supported = al_git_version_is_supported(version);
    al_finding_add(findings, "git", supported ? AL_FINE : AL_MISSING,
                   "Install git " AL_GIT_VERSION_MIN " or newer.", "%s (%s)", version, program);
    return supported;
}

static void check_kernel(struct al_findings *findings, bool required)
{
    struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
    long fd = syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));

    al_close((int)fd);
    al_finding_add(findings, "paths", fd >= 0 ? AL_FINE : AL_MISSING,
                   "Linux 5.6 or newer is needed.", "%s", fd >= 0 ? "openat2" : "no openat2");
    if (al_confine_abi() > 0)
        al_finding_add(findings, "landlock", AL_FINE, NULL, "ABI %d", al_confine_abi());
    else
        al_finding_add(
            findings, "landlock", required ? AL_MISSING : AL_WARNING,
            "Use Linux 5.13 or newer with landlock among its active security modules; until then "
            "git is confined by seccomp and configuration only.",
            "not in this kernel");
}

static void check_watching(struct al_findings *findings, bool required)
{
    const bool is_possible = al_watch_is_possible();

    al_finding_add(
        findings, "watching",
        is_possible ? AL_FINE
        : required  ? AL_MISSING
                    : AL_WARNING,
        "Use Linux 5.9 or newer, let airlock read /proc/PID/mem of its children "
        "(kernel.yama.ptrace_scope 0 or 1), and run it below no other program that listens for "
        "system calls (seccomp); until then what somebody saves while a call discards files "
        "can be lost.",
        "%s", is_possible ? "git stops before it destroys a file" : "git cannot be watched");
}

/* Only bash_command uses firejail: when the configuration asks for it, or without Landlock. */
static void check_firejail(struct al_findings *findings, const struct al_setup *setup)
{
    al_auto(al_freep) char *path = al_program_find("firejail", getenv("PATH"), &setup->roots);
    bool wanted = setup->config.shell.isolation == AL_ISOLATION_FIREJAIL || al_confine_abi() == 0;

    al_finding_add(
        findings, "firejail", path || !wanted ? AL_FINE : AL_WARNING,
        "Install firejail (Debian: apt-get install firejail), or set [tools.shell] isolation.",
        "%s",
        path     ? path
        : wanted ? "not installed"
                 : "not installed, and not needed");
}

/* The token that targets on GitHub get: it is not looked at itself, and gh is not started. */
static void check_github(struct al_findings *findings, const struct al_setup *setup)
{
    const char *token = getenv("GITHUB_TOKEN");
    al_auto(al_freep) char *gh = al_program_find("gh", getenv("PATH"), &setup->roots);

    if (!al_strv_contains(&setup->config.toolsets, "staging"))
        return;
    if (gh && !(token && *token))
        al_finding_add(findings, "github token", AL_FINE, NULL, "gh auth token (%s)", gh);
    else
        al_finding_add(findings, "github token", AL_FINE, NULL, "%s",
                       gh || (token && *token) ? "GITHUB_TOKEN"
                                               : "none; public repositories can be pulled from");
}

static void check_journal(struct al_findings *findings, const struct al_setup *setup)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_journal *journal = NULL;
    struct al_verdict verdict = { .lines = 0 };

    if (al_journal_open(setup->journal_file, &journal, &err) < 0) {
        al_finding_add(findings, "journal", AL_MISSING,
                       "Without a journal only reads are possible: make its folder writable, or "
                       "choose another file with --audit or [journal] file.",
                       "%s", err.message);
        return;
    }
    al_journal_free(journal);
    if (al_journal_verify(setup->journal_file, &verdict, &err) == 0 && !verdict.problem)
        al_finding_add(findings, "journal", AL_FINE, NULL, "%s", setup->journal_file);
    else
        al_finding_add(findings, "journal", AL_WARNING, "Run airlock log --verify for details.",
                       "%s", verdict.problem ? verdict.problem : err.message);
    free(verdict.problem);
}

#define DISK_SHORT_BYTES (64u << 20)
#define DISK_FULL_BYTES  (1u << 20)

/* Nothing is recorded without room on the disk, and so nothing is done that changes anything. */
static void check_disk(struct al_findings *findings, const struct al_setup *setup)
{
    struct statvfs disk;
    uint64_t left;

    if (statvfs(setup->state_dir, &disk) < 0)
        return;
    left = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (left >= DISK_SHORT_BYTES && (disk.f_favail || !disk.f_files))
        return;
    al_finding_add(
        findings, "disk", left < DISK_FULL_BYTES || !disk.f_favail ? AL_MISSING : AL_WARNING,
        "Make room there, or lower max_store_bytes in [journal]: without it no checkpoint "
        "is taken, and only reading is possible.",
        "%" PRIu64 " MiB and %ju files more fit below %s", left >> 20, (uintmax_t)disk.f_favail,
        setup->state_dir);
}

/* The roots are open already; narrowing them a second time changes nothing. */
static bool check_worker(struct al_findings *findings, struct al_setup *setup)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    const struct al_worker *worker = &setup->worker;

    if (!worker->file)
        return true;
    if (al_setup_worker_roots(setup, &err) < 0) {
        al_finding_add(findings, "worker", AL_MISSING,
                       "Correct the worker file, or keep it elsewhere, for example below "
                       "~/.config/airlock.",
                       "%s", err.message);
        return false;
    }
    al_finding_add(findings, "worker", AL_FINE, NULL, "%s (%s)", worker->name, worker->file);
    return true;
}

static bool check_roots(struct al_findings *findings, struct al_setup *setup)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    al_auto(al_str_clear) struct al_str paths = AL_STR_INIT;

    if (al_setup_session(setup, &err) < 0) {
        al_finding_add(findings, "roots", AL_MISSING,
                       "Start airlock in a repository, or name directories with --root or roots.",
                       "%s", err.message);
        return false;
    }
    for (size_t i = 0; i < setup->roots.count; i++)
        al_str_addf(&paths, "%s%s", i ? ", " : "", setup->roots.items[i].path);
    al_finding_add(findings, "roots", AL_FINE, NULL, "%s", paths.buf);
    al_finding_add(findings, "confinement", AL_FINE, NULL, "%s", setup->session.confinement);
    return true;
}

static void print_table(const struct al_findings *findings)
{
    bool colours = al_tty_colours(STDOUT_FILENO);
    al_auto(al_str_clear) struct al_str text = AL_STR_INIT;
    const json_t *finding;
    size_t i, width = 0;

    json_array_foreach(findings->list, i,
                       finding) if (strlen(al_json_get_string(finding, "check")) > width) width =
        strlen(al_json_get_string(finding, "check"));
    json_array_foreach(findings->list, i, finding)
    {
        const char *level = al_json_get_string(finding, "level");
        const char *colour = *level == 'o' ? "\033[32m" : *level == 'w' ? "\033[33m" : "\033[31m";

        al_str_addf(&text, "%s%-7s%s  %-*s  %s\n", colours ? colour : "", level,
                    colours ? "\033[0m" : "", (int)width, al_json_get_string(finding, "check"),
                    al_json_get_string(finding, "state"));
        if (al_json_get_string(finding, "fix"))
            al_cli_wrap(&text, 7 + 2 + width + 2, al_json_get_string(finding, "fix"));
    }
    al_cli_print(STDOUT_FILENO, &text);
}

static void add_configuration(struct al_findings *findings, const struct al_setup *setup)
{
    al_finding_add(findings, "configuration", AL_FINE, NULL, "%s",
                   setup->config.file ? setup->config.file : "none");
}

/* An option may be what is wrong, and not the file. */
static const char *fix_of(const struct al_options *options, const struct al_error *err)
{
    static const struct {
        const char *option, *fix;
    } fixes[] = {
        { "--toolset", "Give --toolset one of these." },
        { "--grant", "Give --grant one that the configuration has." },
        { "--approval", "Give --approval ask, allow or deny." },
    };

    for (size_t i = 0; err->name && i < AL_COUNT(fixes); i++)
        if (!strcmp(err->name, fixes[i].option) && al_option(options, err->name))
            return fixes[i].fix;
    return "Correct the file, or choose another with --config.";
}

static void check_all(struct al_findings *findings, const struct al_options *options)
{
    al_auto(al_error_clear) struct al_error err = AL_ERROR_INIT;
    struct al_setup setup;
    int r = al_setup_config(&setup, options, &err);
    bool has_git;

    (void)al_setup_git(&setup, NULL); /* check_roots() reports an error in a root */
    has_git = check_git(findings, setup.git_program);
    check_kernel(findings, setup.config.sandbox.require_confinement);
    check_watching(findings, setup.config.sandbox.require_confinement);
    if (r == 0)
        r = al_setup_tools(&setup, &err);
    if (r < 0 && err.name && !strcmp(err.name, "--worker")) {
        add_configuration(findings, &setup);
        al_finding_add(findings, "worker", AL_MISSING,
                       "Correct the worker file, or choose another with --worker.", "%s",
                       err.message);
    } else if (r < 0) {
        al_finding_add(findings, "configuration", AL_MISSING, fix_of(options, &err), "%s",
                       err.message);
    } else {
        add_configuration(findings, &setup);
        check_rules(findings, &setup, &setup.config.approval.policy);
        check_rules(findings, &setup, &setup.worker.policy);
        check_firejail(findings, &setup);
        check_github(findings, &setup);
        check_journal(findings, &setup);
        check_disk(findings, &setup);
        if (check_worker(findings, &setup) && has_git && check_roots(findings, &setup)) {
            al_doctor_repositories(findings, &setup, options);
            check_places(findings, &setup, options);
            check_tokens(findings, &setup);
            check_tls(findings, &setup);
            check_hosts(findings, &setup);
            al_doctor_servers(findings, &setup);
            al_doctor_clients(findings, &setup);
        }
    }
    al_setup_clear(&setup);
}

int al_cmd_doctor(struct al_options *options, int argc, char **argv)
{
    struct al_findings findings = { .missing = false };

    (void)argv;
    if (argc > 0)
        return al_cli_usage("doctor takes options only");
    findings.list = al_json_array();
    check_all(&findings, options);
    if (!al_option(options, "--json"))
        print_table(&findings);
    else
        al_cli_print_json(json_incref(findings.list));
    json_decref(findings.list);
    return findings.missing ? AL_EXIT_FAILED : AL_EXIT_OK;
}
