// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel layer refuses what it must, and nothing else: every row is tried with the guard on,
 * and again with the guard off or the right given.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>

#include "base/fs.h"
#include "base/str.h"
#include "tests/lib/tmpdir.h"
#include "tests/unit/proc/lib.h"

#define NUMBER_(x) #x
#define NUMBER(x)  NUMBER_(x)

static const char *probe;

/* The directory in/ gets the rights of a row; out/ gets none. */
static struct tmpdir *make_scratch(void)
{
    struct tmpdir *dir = tmpdir_new();
    al_auto(al_str_clear) struct al_str program = AL_STR_INIT;

    tmpdir_write(dir, "in/file", "text\n");
    tmpdir_mkdir(dir, "in/empty");
    tmpdir_mkdir(dir, "in/sub");
    tmpdir_write(dir, "out/file", "text\n");
    tmpdir_symlink(dir, "../out/file", "in/leads-out");
    assert_int_equal(al_fs_read(AT_FDCWD, probe, 64u << 20, &program), 0);
    tmpdir_write_bytes(dir, "in/tool", program.buf, program.len);
    assert_int_equal(fchmodat(dir->fd, "in/tool", 0755, 0), 0);
    return dir;
}

/* The output of the probe, or "signal N".  The probe starts in the scratch directory. */
static char *ask(const struct tmpdir *dir, const struct al_confinement *sandbox, const char *action,
                 const char *a, const char *b)
{
    const char *const argv[] = { "probe", action, a ? a : "", b ? b : "", NULL };
    const char *const envp[] = { NULL };
    const struct al_proc_spec spec = {
        .program = probe,
        .argv = argv,
        .envp = envp,
        .cwd_fd = dir->fd,
        .sandbox = sandbox,
        .timeout_ms = LONG_MS,
    };
    al_auto(outcome_clear) struct outcome got = run(&spec);

    if (got.r < 0)
        return al_strdup(got.err.message);
    if (got.result.signal)
        return al_asprintf("signal %d", got.result.signal);
    assert_non_null(got.out.text.buf);
    assert_int_equal(got.out.text.buf[got.out.text.len - 1], '\n');
    return al_strndup(got.out.text.buf, got.out.text.len - 1);
}

static void check(const struct tmpdir *dir, const struct al_confinement *sandbox,
                  const char *action, const char *a, const char *b, const char *expected)
{
    al_auto(al_freep) char *said = ask(dir, sandbox, action, a, b);

    print_message("  %s %s %s: %s\n", action, a ? a : "", b ? b : "", said);
    assert_string_equal(said, expected);
}

/* A ruleset that runs the probe, and gives `rights` at and below `name` in the scratch directory.
 */
static int ruleset_for(const struct tmpdir *dir, const char *name, unsigned rights)
{
    al_auto(al_freep) char *path = al_fs_join(dir->path, name);
    const struct al_confine_rule rules[] = {
        { .path = probe, .rights = AL_RIGHT_EXECUTE },
        { .path = path, .rights = rights },
    };
    int ruleset_fd = 0;

    assert_int_equal(al_ruleset_new(rules, COUNT(rules), false, &ruleset_fd, NULL), 0);
    return ruleset_fd;
}

static void check_with_rights(const char *name, unsigned rights, const char *action, const char *a,
                              const char *b, const char *expected)
{
    struct tmpdir *dir = make_scratch();
    const int ruleset_fd = ruleset_for(dir, name, rights);
    const struct al_confinement sandbox = { .ruleset_fd = ruleset_fd };

    check(dir, &sandbox, action, a, b, expected);
    al_ruleset_free(ruleset_fd);
    tmpdir_free(dir);
}

static void each_right_gives_its_own_and_nothing_more(void **state)
{
    enum { R = AL_RIGHT_READ, W = AL_RIGHT_WRITE, X = AL_RIGHT_EXECUTE, F = AL_RIGHT_WRITE_FILE };
    static const struct {
        const char *name; /* of the rule */
        unsigned enough, too_little;
        const char *action, *a, *b;
    } rows[] = {
        { "in", R, W, "read", "in/file", NULL },
        { "in", R, W, "list", "in", NULL },
        { "in", W, R, "write", "in/file", NULL },
        { "in", W, R, "create", "in/new", NULL },
        { "in", W, R, "truncate", "in/file", NULL },
        { "in", W, R, "mkdir", "in/new", NULL },
        { "in", W, R, "rmdir", "in/empty", NULL },
        { "in", W, R, "unlink", "in/file", NULL },
        { "in", W, R, "symlink", "anything", "in/new" },
        { "in", W, R, "rename", "in/file", "in/new" },
        { "in", W, R, "rename", "in/file", "in/sub/new" },
        { "in", W, R, "link", "in/file", "in/sub/new" },
        { "in/tool", X, R, "exec", "in/tool", NULL },
        { "in/tool", X, R, "execveat", "in/tool", NULL },
        { "in/tool", X, W, "read", "in/tool", NULL },
        { "in/file", F, R, "write", "in/file", NULL },
        { "in/file", F, R, "truncate", "in/file", NULL },
        { "in/file", W, R, "write", "in/file", NULL },
        { "in/file", R, F, "read", "in/file", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_with_rights(rows[i].name, rows[i].enough, rows[i].action, rows[i].a, rows[i].b, "ok");
        check_with_rights(rows[i].name, rows[i].too_little, rows[i].action, rows[i].a, rows[i].b,
                          "EACCES");
    }
}

static void reading_and_writing_never_means_executing_or_special_files(void **state)
{
    static const struct {
        const char *action, *a;
    } rows[] = {
        { "exec", "in/tool" },
        { "execveat", "in/tool" },
        { "mkfifo", "in/new" },
        { "mksock", "in/new" },
    };
    const struct al_confinement open = { .ruleset_fd = 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tmpdir *dir = make_scratch();

        check(dir, &open, rows[i].action, rows[i].a, NULL, "ok");
        tmpdir_free(dir);
        check_with_rights("in", AL_RIGHT_READ | AL_RIGHT_WRITE, rows[i].action, rows[i].a, NULL,
                          "EACCES");
    }
}

static void rights_end_at_their_directory(void **state)
{
    static const struct {
        const char *action, *a, *b;
    } rows[] = {
        { "read", "out/file", NULL },
        { "read", "in/leads-out", NULL },
        { "write", "in/leads-out", NULL },
        { "truncate", "in/leads-out", NULL },
        { "list", "out", NULL },
        { "create", "out/new", NULL },
        { "unlink", "out/file", NULL },
        { "rename", "in/file", "out/new" },
        { "link", "in/file", "out/new" },
        { "rename", "out/file", "in/new" },
        { "read", "in/../out/file", NULL },
        { "read", "/etc/passwd", NULL },
        { "list", "/", NULL },
    };
    const struct al_confinement open = { .ruleset_fd = 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tmpdir *dir = make_scratch();

        check(dir, &open, rows[i].action, rows[i].a, rows[i].b, "ok");
        tmpdir_free(dir);
        check_with_rights("in", AL_RIGHT_READ | AL_RIGHT_WRITE, rows[i].action, rows[i].a,
                          rows[i].b, "EACCES");
    }
    /* Links may be made there, so the refusal is about the file that is linked. */
    check_with_rights("in", AL_RIGHT_READ | AL_RIGHT_WRITE, "link", "out/file", "in/new", "EXDEV");
}

/* TCGETS reaches the device's own code; /dev/null does not implement it. */
static void one_device_can_be_written_and_no_other(void **state)
{
    struct tmpdir *dir = make_scratch();
    const int with = ruleset_for(dir, "/dev/null", AL_RIGHT_READ | AL_RIGHT_WRITE_FILE);
    const int without = ruleset_for(dir, "/dev/null", AL_RIGHT_READ);
    const struct al_confinement may = { .ruleset_fd = with }, may_not = { .ruleset_fd = without };

    (void)state;
    check(dir, &may, "write", "/dev/null", NULL, "ok");
    check(dir, &may, "ioctl", "0x5401", "/dev/null", "ENOTTY");
    check(dir, &may, "write", "/dev/zero", NULL, "EACCES");
    check(dir, &may_not, "write", "/dev/null", NULL, "EACCES");
    check(dir, &may_not, "read", "/dev/null", NULL, "ok");
    al_ruleset_free(with);
    al_ruleset_free(without);
    tmpdir_free(dir);
}

/* Nothing listens on port 1 of loopback: an attempt that gets through is refused by the peer. */
static void a_ruleset_allows_no_tcp(void **state)
{
    struct tmpdir *dir = make_scratch();
    const int ruleset_fd = ruleset_for(dir, "in", AL_RIGHT_READ);
    const struct al_confinement confined = { .ruleset_fd = ruleset_fd }, open = { .ruleset_fd = 0 };

    (void)state;
    if (al_confine_abi() < 4)
        skip();
    check(dir, &open, "connect", "1", NULL, "ECONNREFUSED");
    check(dir, &confined, "connect", "1", NULL, "EACCES");
    check(dir, &open, "bind", "0", NULL, "ok");
    check(dir, &confined, "bind", "0", NULL, "EACCES");
    al_ruleset_free(ruleset_fd);
    tmpdir_free(dir);
}

static int listen_abstract(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(address.sun_path + 1, name, strlen(name));
    assert_int_equal(bind(fd, (const struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))),
                     0);
    assert_int_equal(listen(fd, 8), 0);
    return fd;
}

static void a_ruleset_keeps_signals_and_abstract_sockets_inside(void **state)
{
    struct tmpdir *dir = make_scratch();
    const int ruleset_fd = ruleset_for(dir, "in", AL_RIGHT_READ);
    const struct al_confinement confined = { .ruleset_fd = ruleset_fd }, open = { .ruleset_fd = 0 };
    al_auto(al_freep) char *pid = al_asprintf("%d", (int)getpid());
    al_auto(al_freep) char *name = al_asprintf("confine-%d", (int)getpid());
    int fd = listen_abstract(name);

    (void)state;
    if (al_confine_abi() < 6)
        skip();
    check(dir, &open, "kill", pid, NULL, "ok");
    check(dir, &confined, "kill", pid, NULL, "EPERM");
    check(dir, &open, "abstract", name, NULL, "ok");
    check(dir, &confined, "abstract", name, NULL, "EPERM");
    close(fd);
    al_ruleset_free(ruleset_fd);
    tmpdir_free(dir);
}

static void a_connecting_ruleset_allows_connecting_alone(void **state)
{
    struct tmpdir *dir = make_scratch();
    al_auto(al_freep) char *in = al_fs_join(dir->path, "in");
    const struct al_confine_rule rules[] = {
        { .path = probe, .rights = AL_RIGHT_EXECUTE },
        { .path = in, .rights = AL_RIGHT_READ },
    };
    int ruleset_fd = 0;
    struct al_confinement confined = { .network = true };

    (void)state;
    assert_int_equal(al_ruleset_new(rules, COUNT(rules), true, &ruleset_fd, NULL), 0);
    confined.ruleset_fd = ruleset_fd;
    check(dir, &confined, "connect", "1", NULL, "ECONNREFUSED");
    check(dir, &confined, "bind", "0", NULL, "EACCES");
    check(dir, &confined, "read", "in/file", NULL, "ok");
    check(dir, &confined, "write", "in/file", NULL, "EACCES");
    check(dir, &confined, "read", "out/file", NULL, "EACCES");
    al_ruleset_free(ruleset_fd);
    tmpdir_free(dir);
}

static void the_network_filter_lets_sockets_and_programs_be(void **state)
{
    const struct al_confinement network = { .network = true };
    struct tmpdir *dir = make_scratch();

    (void)state;
    check(dir, &network, "socket", NUMBER(AF_INET), "1", "ok"); /* SOCK_STREAM */
    check(dir, &network, "socketpair", NULL, NULL, "ok");
    check(dir, &network, "exec", "in/tool", NULL, "ok");
    tmpdir_free(dir);
}

static void no_sockets_means_of_no_family(void **state)
{
    static const struct {
        const char *action, *a, *b;
    } rows[] = {
        { "socket", "1", "1" },  /* local stream */
        { "socket", "2", "1" },  /* TCP */
        { "socket", "2", "2" },  /* UDP */
        { "socket", "10", "1" }, /* IPv6 */
        { "socket", "16", "3" }, /* netlink */
        { "socketpair", NULL, NULL },
    };
    const struct al_confinement offline = { .no_sockets = true }, open = { .ruleset_fd = 0 },
                                once = { .exec_once = true };
    struct tmpdir *dir = make_scratch();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *said = ask(dir, &open, rows[i].action, rows[i].a, rows[i].b);

        /* A machine without IPv6 has no such family to offer. */
        if (strcmp(said, "EAFNOSUPPORT") != 0)
            assert_string_equal(said, "ok");
        check(dir, &once, rows[i].action, rows[i].a, rows[i].b, said);
        check(dir, &offline, rows[i].action, rows[i].a, rows[i].b, "EACCES");
    }
    tmpdir_free(dir);
}

static void exec_once_means_once_and_by_one_process(void **state)
{
    static const struct {
        const char *action, *a, *refusal;
    } rows[] = {
        { "exec", "in/tool", "EPERM" },  { "execveat", "in/tool", "EPERM" },
        { "process", "fork", "EPERM" },  { "process", "clone", "EPERM" },
        { "process", "pidfd", "EPERM" },
    };
    const struct al_confinement once = { .exec_once = true }, offline = { .no_sockets = true },
                                both = { .exec_once = true, .no_sockets = true };
    struct tmpdir *dir = make_scratch();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        check(dir, &offline, rows[i].action, rows[i].a, NULL, "ok");
        check(dir, &once, rows[i].action, rows[i].a, NULL, rows[i].refusal);
        check(dir, &both, rows[i].action, rows[i].a, NULL, rows[i].refusal);
    }
    check(dir, &both, "read", "in/file", NULL, "ok");
    check(dir, &both, "thread", NULL, NULL, "ok");
    tmpdir_free(dir);
}

/*
 * Without the filter each of these reaches the kernel's own checks.  Their errors differ, but none
 * is the filter's.
 */
static void every_filter_refuses_what_no_tool_needs(void **state)
{
    static const struct {
        const char *action, *a, *b;
        bool root_only; /* others get EPERM from the kernel itself */
    } rows[] = {
        { "ptrace", NULL, NULL, false },
        { "process_vm_readv", NULL, NULL, false },
        { "process_vm_writev", NULL, NULL, false },
        { "syscall", NUMBER(__NR_io_uring_setup), NULL, false },
        { "syscall", NUMBER(__NR_io_uring_enter), NULL, false },
        { "syscall", NUMBER(__NR_io_uring_register), NULL, false },
        { "syscall", NUMBER(__NR_pidfd_getfd), NULL, false },
        { "syscall", NUMBER(__NR_userfaultfd), NULL, false },
        { "syscall", NUMBER(__NR_keyctl), NULL, false },
        { "syscall", NUMBER(__NR_add_key), NULL, false },
        { "syscall", NUMBER(__NR_request_key), NULL, false },
        { "syscall", NUMBER(__NR_bpf), NULL, true },
        { "syscall", NUMBER(__NR_unshare), NULL, false },
        { "syscall", NUMBER(__NR_setns), NULL, false },
        { "syscall", NUMBER(__NR_mount), NULL, true },
        { "syscall", NUMBER(__NR_umount2), NULL, true },
        { "syscall", NUMBER(__NR_pivot_root), NULL, true },
        { "syscall", NUMBER(__NR_open_tree), NULL, true },
        { "syscall", NUMBER(__NR_move_mount), NULL, true },
        { "syscall", NUMBER(__NR_fsopen), NULL, true },
        { "syscall", NUMBER(__NR_perf_event_open), NULL, false },
        { "ioctl", "0x5412", "/dev/null", false }, /* TIOCSTI */
        { "ioctl", "0x541c", "/dev/null", false }, /* TIOCLINUX */
    };
    const struct al_confinement open = { .ruleset_fd = 0 }, once = { .exec_once = true },
                                offline = { .no_sockets = true },
                                both = { .exec_once = true, .no_sockets = true },
                                network = { .network = true };
    struct tmpdir *dir = make_scratch();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        al_auto(al_freep) char *said = ask(dir, &open, rows[i].action, rows[i].a, rows[i].b);

        print_message("  unfiltered: %s\n", said);
        if (!rows[i].root_only || geteuid() == 0)
            assert_string_not_equal(said, "EPERM");
        check(dir, &once, rows[i].action, rows[i].a, rows[i].b, "EPERM");
        check(dir, &offline, rows[i].action, rows[i].a, rows[i].b, "EPERM");
        check(dir, &both, rows[i].action, rows[i].a, rows[i].b, "EPERM");
        check(dir, &network, rows[i].action, rows[i].a, rows[i].b, "EPERM");
    }
    check(dir, &both, "ioctl", "0x5401", "/dev/null", "ENOTTY"); /* any other request */
    tmpdir_free(dir);
}

/* Threads and processes are created as on a kernel without clone3; namespaces are refused. */
static void no_filter_lets_namespaces_be_made(void **state)
{
    const struct al_confinement open = { .ruleset_fd = 0 }, once = { .exec_once = true },
                                offline = { .no_sockets = true }, network = { .network = true };
    const struct al_confinement *const filtered[] = { &once, &offline, &network };
    struct tmpdir *dir = make_scratch();
    al_auto(al_freep) char *said = ask(dir, &open, "process", "newuser", NULL);

    (void)state;
    print_message("  unfiltered: %s\n", said); /* some systems allow none either */
    check(dir, &open, "process", "clone3", NULL, "ok");
    for (size_t i = 0; i < COUNT(filtered); i++) {
        check(dir, filtered[i], "process", "newuser", NULL, "EPERM");
        check(dir, filtered[i], "process", "clone3", NULL, "ENOSYS");
        check(dir, filtered[i], "thread", NULL, NULL, "ok");
    }
    for (size_t i = 1; i < COUNT(filtered); i++) {
        check(dir, filtered[i], "process", "fork", NULL, "ok");
        check(dir, filtered[i], "process", "clone", NULL, "ok");
    }
    tmpdir_free(dir);
}

#if defined(__x86_64__)
static void other_calling_conventions_are_deadly(void **state)
{
    const struct al_confinement open = { .ruleset_fd = 0 }, once = { .exec_once = true };
    al_auto(al_freep) char *killed = al_asprintf("signal %d", SIGSYS);
    al_auto(al_freep) char *x32 = al_asprintf("%d", 0x40000000 | __NR_getpid);
    struct tmpdir *dir = make_scratch();
    al_auto(al_freep) char *without = ask(dir, &open, "foreign", NULL, NULL);

    (void)state;
    assert_string_not_equal(without, killed);
    if (strcmp(without, "ok") == 0) /* else the kernel does not offer it at all */
        check(dir, &once, "foreign", NULL, NULL, killed);
    check(dir, &once, "syscall", x32, NULL, killed);
    tmpdir_free(dir);
}
#endif

static int set_up(void **state)
{
    (void)state;
    return al_proc_init(probe, NULL);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_right_gives_its_own_and_nothing_more),
        cmocka_unit_test(reading_and_writing_never_means_executing_or_special_files),
        cmocka_unit_test(rights_end_at_their_directory),
        cmocka_unit_test(one_device_can_be_written_and_no_other),
        cmocka_unit_test(a_ruleset_allows_no_tcp),
        cmocka_unit_test(a_connecting_ruleset_allows_connecting_alone),
        cmocka_unit_test(the_network_filter_lets_sockets_and_programs_be),
        cmocka_unit_test(a_ruleset_keeps_signals_and_abstract_sockets_inside),
        cmocka_unit_test(no_sockets_means_of_no_family),
        cmocka_unit_test(exec_once_means_once_and_by_one_process),
        cmocka_unit_test(every_filter_refuses_what_no_tool_needs),
        cmocka_unit_test(no_filter_lets_namespaces_be_made),
#if defined(__x86_64__)
        cmocka_unit_test(other_calling_conventions_are_deadly),
#endif
    };

    if (argc != 2)
        return 2;
    probe = argv[1];
    return cmocka_run_group_tests_name("confine", tests, set_up, NULL);
}
