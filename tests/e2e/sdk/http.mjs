// SPDX-License-Identifier: Apache-2.0
// airlock over HTTP on loopback, with one token.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** Start a server for a world; it listens when this is done. */
export async function serve(airlock, world, options) {
    const token = crypto.randomBytes(24).toString('hex');
    const file = path.join(world.base, 'tokens');

    fs.writeFileSync(file, `${token}\n`, { mode: 0o600 });
    const child = spawn(airlock, ['serve', '--http', '127.0.0.1:0', '--token-file', file, ...options],
        { cwd: world.root, env: world.env, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
    let said = '';
    const url = await new Promise((resolve, reject) => {
        child.stderr.on('data', (bytes) => {
            said += bytes;
            const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said);
            if (found) {
                resolve(new URL(found[0]));
            }
        });
        ended.then(() => reject(new Error(`the server does not listen: ${said}`)));
    });

    return {
        url,
        token,

        /** A transport of this class to the server. */
        transport: (Transport) => new Transport(url, {
            requestInit: { headers: { Authorization: `Bearer ${token}` } },
        }),

        /** End the session, if there is one. */
        async leave(transport) {
            if (transport.sessionId) {
                await transport.terminateSession();
            }
        },

        /** SIGTERM ends it well. */
        async end() {
            child.kill('SIGTERM');
            assert.equal(await ended, 0, said);
        },
    };
}
