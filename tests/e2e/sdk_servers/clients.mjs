// SPDX-License-Identifier: Apache-2.0
// node clients.mjs AIRLOCK: well-known MCP servers behind airlock, used by the official clients of both
// eras: all tools in one list, a write that is denied, asked about, recorded and undone, and a server
// that is killed in the middle of a call.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { clients } from './kinds.mjs';
import { World, finish, test } from './world.mjs';

const AIRLOCK = process.argv[2];
const MODULES = path.join(import.meta.dirname, 'node_modules');
const NODE = fs.realpathSync(process.execPath);
const RULES = `
[[tools.approval.rule]]
tool = "mcp__fs__move_file"
decision = "deny"
message = "Nothing is moved here."
[[tools.approval.rule]]
tool = "mcp__fs__*"
effect = "writes_worktree"
decision = "ask"
`;

/** The configuration of one server.  git reads its configuration. */
function server(world, name, program, ...args) {
    const words = [NODE, path.join(MODULES, '.bin', program), ...args];
    const reads = [MODULES, path.dirname(path.dirname(NODE)), '/etc/gitconfig', `${world.home}/.gitconfig`];

    return `[mcp.servers.${name}]\ncommand = ${JSON.stringify(words)}\n`
        + 'env = { MCP_TRANSPORT_TYPE = "stdio", MCP_LOG_LEVEL = "error" }\n'
        + `[mcp.servers.${name}.allow]\nread = ${JSON.stringify(reads)}\n`
        + `exec = ${JSON.stringify([path.dirname(NODE)])}\n`;
}

/** Run `body` with a client of a session with three servers; `decision` is the user's answer. */
async function session(kind, decision, body) {
    const world = new World();
    const client = kind.make({ capabilities: { elicitation: {} } });
    const asked = [];

    world.configure([
        RULES, server(world, 'everything', 'mcp-server-everything', 'stdio'),
        server(world, 'fs', 'mcp-server-filesystem', world.root), server(world, 'git', 'git-mcp-server'),
    ].join('\n'));
    client.setRequestHandler(kind.elicitation, async (request) => {
        asked.push(request.params);
        return { action: 'accept', content: { decision } };
    });
    const transport = new kind.transport({
        command: AIRLOCK, args: ['serve'], cwd: world.root, env: world.env, stderr: 'ignore',
    });
    try {
        await client.connect(transport);
        await every_server_is_listed(client);
        await body({ client, world, asked });
    } finally {
        await client.close();
        world.remove();
    }
}

const textOf = (result) => result.content.map((part) => part.text ?? '').join('');
const kindOf = (result) => result._meta?.['airlock/error']?.kind;

/** The names of all tools.  A server that is slow to start is asked for again. */
async function every_server_is_listed(client) {
    const servers = ['mcp__everything__', 'mcp__fs__', 'mcp__git__'];

    for (;;) {
        const names = (await client.listTools()).tools.map((tool) => tool.name);

        if (servers.every((server) => names.some((name) => name.startsWith(server)))) {
            return names;
        }
    }
}

async function all_in_one_session({ client, world }) {
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    const call = async (name, args) => {
        const result = await client.callTool({ name, arguments: args });

        assert.ok(!result.isError, `${name}: ${textOf(result)}`);
        return result;
    };

    assert.equal(names[0], 'git_status');
    assert.ok(names.includes('mcp__git__git_reflog') && !names.includes('mcp__git__git_status'));
    assert.ok(names.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)));
    assert.equal(textOf(await call('git_status', {})), '## main\n');
    assert.equal(textOf(await call('mcp__everything__echo', { message: 'hello' })), 'Echo: hello');
    assert.equal(textOf(await call('mcp__fs__read_text_file', { path: path.join(world.root, 'a.txt') })), 'one\n');
    assert.match(textOf(await call('mcp__git__git_reflog', { path: world.root })), /first/);
    const image = await call('mcp__everything__get-tiny-image', {});
    assert.ok(image.content.some((part) => part.type === 'image' && part.mimeType === 'image/png'));
    const weather = await call('mcp__everything__get-structured-content', { location: 'New York' });
    assert.equal(typeof weather.structuredContent.temperature, 'number');
}

async function a_write_is_denied_asked_and_undone({ client, world, asked }) {
    const file = path.join(world.root, 'a.txt');
    const airlock = (...words) => execFileSync(AIRLOCK, words, { cwd: world.root, env: world.env, encoding: 'utf8' });
    const write = { name: 'mcp__fs__write_file', arguments: { path: file, content: 'two\n' } };
    const denied = await client.callTool({
        name: 'mcp__fs__move_file', arguments: { source: file, destination: `${file}.moved` },
    });

    assert.equal(kindOf(denied), 'ApprovalDenied');
    assert.match(textOf(denied), /^Nothing is moved here\.\n\nDenied by rule 1 of the configuration \(line 3\)\./);
    assert.equal(asked.length, 0);
    assert.ok(!(await client.callTool(write)).isError);
    assert.equal(asked.length, 1);
    assert.match(asked[0].message, /^Call "Write File" of fs with [^]*by mcp__fs__write_file \(call\)\n/);
    assert.equal(fs.readFileSync(file, 'utf8'), 'two\n');
    assert.match(airlock('log'), /mcp__fs__move_file +call +rule +declined[^]*mcp__fs__write_file +call +once +ok/);
    airlock('rollback');
    assert.equal(fs.readFileSync(file, 'utf8'), 'one\n');
}

async function a_rejection_writes_nothing({ client, world }) {
    const file = path.join(world.root, 'a.txt');
    const result = await client.callTool({
        name: 'mcp__fs__edit_file', arguments: { path: file, edits: [{ oldText: 'one', newText: 'two' }] },
    });

    assert.equal(kindOf(result), 'ApprovalDenied');
    assert.equal(fs.readFileSync(file, 'utf8'), 'one\n');
}

/** The processes of a server whose working directory is this one. */
function processes(program, root) {
    return fs.readdirSync('/proc').filter((name) => {
        try {
            return fs.readlinkSync(`/proc/${name}/cwd`) === root
                && fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(program);
        } catch {
            return false; // no process, or gone already
        }
    }).map(Number);
}

async function a_killed_server_costs_one_call({ client, world }, kind) {
    let onprogress;
    const runs = new Promise((resolve) => { onprogress = resolve; });
    const params = {
        name: 'mcp__everything__trigger-long-running-operation', arguments: { duration: 60, steps: 300 },
    };
    const long = kind.name === 'v1' ? client.callTool(params, undefined, { onprogress })
        : client.callTool(params, { onprogress });

    await runs;
    assert.ok(!(await client.callTool({ name: 'mcp__fs__list_allowed_directories', arguments: {} })).isError);
    for (const pid of processes('mcp-server-everything', world.root)) {
        process.kill(pid, 'SIGKILL');
    }
    assert.equal(kindOf(await long), 'ExecutionFailed');
    assert.equal(textOf(await client.callTool({ name: 'git_status', arguments: {} })), '## main\n');
    assert.ok(!(await client.callTool({ name: 'mcp__fs__list_allowed_directories', arguments: {} })).isError);
    const again = await client.callTool({ name: 'mcp__everything__echo', arguments: { message: 'again' } });
    assert.equal(textOf(again), 'Echo: again');
}

for (const kind of clients) {
    const run = (name, decision, body) => test(`${kind.name}: ${name}`, () => session(kind, decision, (scene) => body(scene, kind)));

    await run('tools of three servers and of airlock in one session', 'once', all_in_one_session);
    await run('a write is denied, asked about, recorded and undone', 'once', a_write_is_denied_asked_and_undone);
    await run('a rejected write', 'reject', a_rejection_writes_nothing);
    await run('a server that is killed in the middle of a call', 'once', a_killed_server_costs_one_call);
}
finish();
