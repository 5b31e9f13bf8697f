// The MCP Inspector: its command line, in both eras, which completes nothing
// and shows no forms; and its mcpdo, which keeps a connection and does both.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expected, scenario, token, url } from './scenario.mjs';

const execute = promisify(execFile);
const program = (name) => fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url));
const server = ['--transport', 'http', '--header', `Authorization: Bearer ${token}`];
const pairs = (flag, values) => Object.entries(values ?? {}).flatMap(([name, value]) => [flag, `${name}=${value}`]);

// run returns what a command prints: a result also where it exits with 5, for
// a tool that failed. It tells errors by their message only.
async function run(name, args, env) {
  const options = { timeout: 60_000, maxBuffer: 8 << 20, env: { ...process.env, MCP_INSPECTOR_SECRET_STORE: 'file', ...env } };
  let out;
  try {
    out = await execute(program(name), [...args, '--stored-auth-only', '--format', 'json'], options);
  } catch (error) {
    if (error.code !== 5) throw Object.assign(new Error(error.stderr || error.message), { code: undefined });
    out = error;
  }
  return out.stdout.trim() && JSON.parse(out.stdout);
}

// client has both programs do what the SDK's clients do.
function client(command, more) {
  return {
    listTools: () => command('tools/list'),
    listResources: () => command('resources/list'),
    listResourceTemplates: () => command('resources/templates/list'),
    listPrompts: () => command('prompts/list'),
    readResource: ({ uri }) => command('resources/read', '--uri', uri),
    getPrompt: ({ name, arguments: values }) => command('prompts/get', '--prompt-name', name, ...pairs('--prompt-args', values)),
    callTool: ({ name, arguments: values }) => command('tools/call', '--tool-name', name, ...pairs('--tool-arg', values)),
    hidesCodes: true,
    ...more,
  };
}

for (const era of ['legacy', 'modern']) {
  scenario(`Inspector, ${era}`, era, async () => {
    const command = async (method, ...args) =>
      (await run('mcp-inspector', ['--cli', '--server-url', url, ...server, '--protocol-era', era, '--method', method, ...args])).result;
    const { serverInfo, protocolVersion } = await command('initialize');
    return client(command, { server: serverInfo.name, version: protocolVersion });
  });
}

scenario('Inspector, mcpdo', 'modern', async (person) => {
  const exports = (await execute(program('mcpdo'), ['private'])).stdout;
  const env = Object.fromEntries([...exports.matchAll(/export (\w+)='(.*)'/g)].map(([, name, value]) => [name, value]));
  const command = (...args) => run('mcpdo', ['--connection', 'interop', ...args], env);
  await command('connect', url, ...server, '--era', 'modern', '--elicit', 'form');
  const { serverInfo, protocolVersion } = await command('connections/show');
  const key = expected.confirm;
  const replies = { yes: [`${key}:=true`], no: [`${key}:=false`], decline: ['--decline'], cancel: ['--cancel'] };
  const inner = client(command, {});
  return {
    ...inner,
    server: serverInfo.name,
    version: protocolVersion,
    asks: true,
    complete: async ({ ref, argument }) => ({
      completion: await command('prompts/complete', '--complete-ref-type', ref.type, '--complete-ref', ref.uri ?? ref.name,
        '--complete-arg-name', argument.name, '--complete-arg-value', argument.value),
    }),
    callTool: async (call) => {
      const { elicitationPending: pending, ...result } = await inner.callTool(call);
      if (!pending) return result;
      person.asked.push(pending.message);
      return command('elicitation/respond', pending.elicitationId, ...replies[person.answer]);
    },
    close: () => command('daemon', 'stop'),
  };
});
