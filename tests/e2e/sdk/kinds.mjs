// SPDX-License-Identifier: Apache-2.0
// The official clients, each with the revision that it speaks.

import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as V2Transport } from '@modelcontextprotocol/client/stdio';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const INFO = { name: 'airlock-sdk-tests', version: '0' };

export const clients = [
    {
        name: 'v1',
        revision: '2025-11-25',
        make: (options) => new V1Client(INFO, options),
        transport: V1Transport,
        http: V1Http,
        elicitation: ElicitRequestSchema,
    },
    {
        name: 'v2 by default',
        revision: '2025-11-25',
        make: (options) => new v2.Client(INFO, options),
        transport: V2Transport,
        http: v2.StreamableHTTPClientTransport,
        elicitation: 'elicitation/create',
    },
    {
        name: 'v2 auto',
        revision: '2026-07-28',
        make: (options) => new v2.Client(INFO, { ...options, versionNegotiation: { mode: 'auto' } }),
        transport: V2Transport,
        http: v2.StreamableHTTPClientTransport,
        elicitation: 'elicitation/create',
    },
    {
        name: 'v2 pinned',
        revision: '2026-07-28',
        make: (options) => new v2.Client(INFO, { ...options, versionNegotiation: { mode: { pin: '2026-07-28' } } }),
        transport: V2Transport,
        http: v2.StreamableHTTPClientTransport,
        elicitation: 'elicitation/create',
    },
];
