// SPDX-License-Identifier: Apache-2.0
// What the cases share: a repository in a home of its own, and lines of TAP.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const GITCONFIG = '[user]\n\tname = A U Thor\n\temail = author@example.com\n[init]\n\tdefaultBranch = main\n';

const TOOLSETS = 'toolsets = ["git", "workflow"]\n';

/** A repository with one commit, and the six variables clients give to a server. */
export class World {
    constructor() {
        this.base = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'airlock-sdk-')));
        this.root = path.join(this.base, 'repository');
        this.home = path.join(this.base, 'home');
        fs.mkdirSync(this.root);
        fs.mkdirSync(this.home);
        fs.writeFileSync(path.join(this.home, '.gitconfig'), GITCONFIG);
        this.configure();
        this.env = {
            HOME: this.home, LOGNAME: 'author', PATH: process.env.PATH, SHELL: '/bin/sh',
            TERM: 'dumb', USER: 'author',
        };
        this.git('init', '-q');
        this.write('a.txt', 'one\n');
        this.git('add', 'a.txt');
        this.git('commit', '-q', '-m', 'first');
    }

    git(...args) {
        return execFileSync('git', args, { cwd: this.root, env: this.env, encoding: 'utf8' });
    }

    write(name, text) {
        fs.writeFileSync(path.join(this.root, name), text);
    }

    /** The user's configuration: the toolsets of the cases, and more. */
    configure(more = '') {
        const config = path.join(this.home, '.config', 'airlock');

        fs.mkdirSync(config, { recursive: true });
        fs.writeFileSync(path.join(config, 'config.toml'), TOOLSETS + more);
    }

    staged() {
        return this.git('diff', '--cached', '--name-only').trim();
    }

    remove() {
        fs.rmSync(this.base, { recursive: true, force: true });
    }
}

let count = 0;
let failed = 0;

/** Run one case and print its line. */
export async function test(name, body) {
    count++;
    try {
        await body();
        console.log(`ok ${count} - ${name}`);
    } catch (error) {
        failed++;
        console.log(`not ok ${count} - ${name}`);
        for (const line of String(error.stack ?? error).split('\n')) {
            console.log(`# ${line}`);
        }
    }
}

/** The plan, at the end; the exit code says whether all went well. */
export function finish() {
    console.log(`1..${count}`);
    process.exitCode = failed ? 1 : 0;
}
