// The TypeScript SDK v1, which speaks the 2025 revisions.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { answers, scenario, token, url } from './scenario.mjs';

scenario('TypeScript v1', 'legacy', async (person) => {
  const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    person.asked.push(params.message);
    return answers[person.answer];
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
  await client.connect(transport);
  client.version = transport.protocolVersion;
  client.server = client.getServerVersion().name;
  return client;
});
