// SPDX-License-Identifier: Apache-2.0
// A sensible call of every tool, in an order in which each has something to do; by toolset.
// `before` prepares the repository, `text` must be in the result.

export const examples = {
    git: [
        {
            tool: 'git_status',
            before: (world) => {
                world.write('a.txt', 'one\ntwo\n');
                world.write('b.txt', 'new\n');
            },
            arguments: {},
            text: '## main\n M a.txt\n?? b.txt\n',
        },
        { tool: 'git_diff', arguments: { unified: 1, paths: ['a.txt'] }, text: '+two' },
        { tool: 'git_log', arguments: { max_count: 5, oneline: true }, text: 'first' },
        { tool: 'git_show', arguments: { commit: 'HEAD', stat: true }, text: 'a.txt' },
        { tool: 'git_blame', arguments: { path: 'a.txt', start_line: 1, end_line: 1 }, text: 'one' },
        { tool: 'git_add', arguments: { paths: ['a.txt', 'b.txt'] }, text: 'Staged 2 file(s)' },
        { tool: 'git_restore', arguments: { paths: ['b.txt'], staged: true, worktree: false }, text: '1 file' },
        { tool: 'git_commit', arguments: { type: 'feat', scope: 'a', message: 'say more' }, text: 'feat(a): say more' },
        { tool: 'git_branch', arguments: { create: 'topic' }, text: '' },
        { tool: 'git_checkout', arguments: { branch: 'topic' }, text: 'topic' },
        {
            tool: 'git_stash',
            before: (world) => world.write('a.txt', 'three\n'),
            arguments: { action: 'push', message: 'aside' },
            text: 'aside',
        },
    ],
};
