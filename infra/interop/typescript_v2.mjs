// The TypeScript SDK v2, in both eras, and without a form in the new one.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { answers, expected, scenario, token, url } from './scenario.mjs';

const open = (mode, capabilities) => async (person) => {
  const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities, versionNegotiation: { mode } });
  if (capabilities.elicitation) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      person.asked.push(params.message);
      return answers[person.answer];
    });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  client.version = client.getNegotiatedProtocolVersion();
  client.server = client.getServerVersion().name;
  client.notFound = -32602; // which it shows for -32002 too
  client.asks = Boolean(capabilities.elicitation);
  return client;
};

const form = { elicitation: { form: {} } };
scenario('TypeScript v2, no form', 'modern', open({ pin: expected.server.modern }, {}));
scenario('TypeScript v2, 2025', 'legacy', open('legacy', form));
scenario('TypeScript v2, by itself', 'modern', open('auto', form));
