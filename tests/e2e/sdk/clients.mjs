// SPDX-License-Identifier: Apache-2.0
// node clients.mjs AIRLOCK [http]: the official clients of both eras use every tool, and a user answers.
// With `http`, over HTTP and with a token; otherwise over standard input and output.

import assert from 'node:assert/strict';

import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';

import { examples } from './examples.mjs';
import { serve } from './http.mjs';
import { clients } from './kinds.mjs';
import { World, finish, test } from './world.mjs';

const AIRLOCK = process.argv[2];
const OVER_HTTP = process.argv[3] === 'http';

/** Run `body` with a connected client; `answer` is what a user says, null: they cannot be asked. */
async function session(kind, answer, body, options = []) {
    const world = new World();
    const client = kind.make({ capabilities: answer ? { elicitation: {} } : {} });
    const asked = [];

    if (answer) {
        client.setRequestHandler(kind.elicitation, async (request) => {
            asked.push(request.params);
            return answer(asked.length, world);
        });
    }
    const server = OVER_HTTP ? await serve(AIRLOCK, world, options) : null;
    const transport = server ? server.transport(kind.http) : new kind.transport({
        command: AIRLOCK, args: ['serve', ...options], cwd: world.root, env: world.env, stderr: 'ignore',
    });
    try {
        await client.connect(transport);
        await body({ client, world, asked });
        await server?.leave(transport);
    } finally {
        await client.close();
        await server?.end();
        world.remove();
    }
}

const say = (decision) => async () => ({ action: 'accept', content: { decision } });
const textOf = (result) => result.content.map((part) => part.text).join('');
const kindOf = (result) => result._meta?.['airlock/error']?.kind;
const ADD = { name: 'git_add', arguments: { paths: ['a.txt'] } };

async function connects({ client }, kind) {
    const version = client.getNegotiatedProtocolVersion?.();

    if (version) {
        assert.equal(version, kind.revision);
    }
    assert.equal(client.getServerVersion()?.name, 'airlock');
    assert.deepEqual(client.getServerCapabilities(), { tools: {} });
    assert.match(client.getInstructions(), /^git status/);
}

async function schemas_compile({ client }) {
    const { tools } = await client.listTools();

    assert.ok(tools.length >= 11);
    for (const tool of tools) {
        for (const schema of [tool.inputSchema, tool.outputSchema].filter(Boolean)) {
            new Ajv2020({ strict: true }).compile(schema);
            new Ajv({ strict: true }).compile(schema);
        }
        assert.equal(tool.inputSchema.additionalProperties, false);
        assert.match(tool.name, /^[a-zA-Z0-9_-]{1,64}$/);
    }
    assert.deepEqual((await client.listTools()).tools, tools);
}

async function every_tool_works({ client, world, asked }, list) {
    const { tools } = await client.listTools();

    assert.deepEqual(list.map((example) => example.tool).sort(), tools.map((tool) => tool.name).sort());
    for (const example of list) {
        const tool = tools.find((one) => one.name === example.tool);
        const before = asked.length;

        example.before?.(world);
        assert.ok(new Ajv2020({ strict: true }).validate(tool.inputSchema, example.arguments), example.tool);
        const result = await client.callTool({ name: example.tool, arguments: example.arguments });
        assert.ok(!result.isError, `${example.tool}: ${textOf(result)}`);
        assert.ok(textOf(result).includes(example.text), `${example.tool}: ${textOf(result)}`);
        if (tool.annotations.readOnlyHint) {
            assert.equal(asked.length, before, `${example.tool} reads, and asked`);
        } else if (tool.name !== 'git_diff') {
            assert.equal(asked.length, before + 1, `${example.tool} did not ask once`);
        }
    }
}

async function shows_what_will_happen({ client, world, asked }) {
    world.write('a.txt', 'two\n');
    await client.callTool(ADD);
    await client.callTool({ name: 'git_commit', arguments: { type: 'fix', message: 'count' } });
    assert.equal(asked.length, 2);
    assert.match(asked[0].message, /^Stage 1 file\(s\): a.txt/);
    assert.match(asked[1].message, /^Commit: fix: count\nIn [^\n]*, by git_commit \(commit\)\n[^]*-one\n\+two/);
    assert.deepEqual(asked[1].requestedSchema.required, ['decision']);
    assert.equal(world.git('log', '--format=%s', '-1').trim(), 'fix: count');
}

async function is_refused({ client, world, asked }) {
    world.write('a.txt', 'two\n');
    const result = await client.callTool(ADD);

    assert.equal(asked.length, 1);
    assert.equal(result.isError, true);
    assert.equal(kindOf(result), 'ApprovalDenied');
    assert.equal(world.staged(), '');
}

async function always_asks_once({ client, world, asked }) {
    for (const text of ['two\n', 'three\n']) {
        world.write('a.txt', text);
        assert.ok(!(await client.callTool(ADD)).isError);
    }
    assert.equal(asked.length, 1);
    assert.equal(world.staged(), 'a.txt');
}

async function asks_again_when_it_changed({ client, world, asked }) {
    world.write('a.txt', 'two\n');
    assert.ok(!(await client.callTool(ADD)).isError);
    assert.equal(asked.length, 2);
    assert.equal(world.staged(), 'a.txt');
}

async function says_how_when_nobody_is_asked({ client, world }) {
    world.write('a.txt', 'two\n');
    const result = await client.callTool(ADD);

    assert.equal(kindOf(result), 'ApprovalRequired');
    assert.match(textOf(result), /^Stage 1 file\(s\): a.txt[^]*airlock call --toolset git git_add/);
    assert.equal(world.staged(), '');
}

async function tells_errors_apart({ client }) {
    await assert.rejects(client.callTool({ name: 'nope', arguments: {} }), (error) => error.code === -32602);
    const result = await client.callTool({ name: 'git_status', arguments: { nope: 1 } });

    assert.equal(kindOf(result), 'BadArgs');
}

async function calls_side_by_side({ client }) {
    const calls = Array.from({ length: 16 }, () => client.callTool({ name: 'git_status', arguments: {} }));

    for (const result of await Promise.all(calls)) {
        assert.equal(textOf(result), '## main\n');
    }
}

/** A user who edits the file while the first question is before them. */
async function edits_meanwhile(turn, world) {
    if (turn === 1) {
        world.write('a.txt', 'three and more\n');
    }
    return { action: 'accept', content: { decision: 'once' } };
}

for (const kind of clients) {
    const run = (name, answer, body, ...options) =>
        test(`${kind.name}: ${name}`, () => session(kind, answer, (scene) => body(scene, kind), options));

    await run(`connects and speaks ${kind.revision}`, null, connects);
    await run('every schema compiles, and the list is constant', null, schemas_compile);
    for (const [toolset, list] of Object.entries(examples)) {
        await run(`every tool of ${toolset} works, approved by a user`, say('once'),
            (scene) => every_tool_works(scene, list), '--toolset', toolset);
    }
    await run('the user sees what will happen', say('once'), shows_what_will_happen);
    await run('reject', say('reject'), is_refused);
    await run('decline', async () => ({ action: 'decline' }), is_refused);
    await run('cancel', async () => ({ action: 'cancel' }), is_refused);
    await run('always', say('always'), always_asks_once);
    await run('what changed meanwhile is asked again', edits_meanwhile, asks_again_when_it_changed);
    await run('a client that cannot ask', null, says_how_when_nobody_is_asked);
    await run('errors of the protocol and of tools', null, tells_errors_apart);
    await run('sixteen calls at once', null, calls_side_by_side);
}
finish();
