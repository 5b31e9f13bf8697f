// node --test infra/edge/edge.test.mjs
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import vm from 'node:vm';

const source = readFileSync(new URL('viewer-request.js', import.meta.url), 'utf8');
const viewerRequest = vm.runInNewContext(`${source}; handler`);
const { handler: originResponse } = createRequire(import.meta.url)('./origin-response.js');

// The event that CloudFront Functions get for a request.
function viewerEvent({ method = 'POST', uri = '/mcp', querystring = {}, headers = {} }) {
  return {
    version: '1.0',
    context: { distributionDomainName: 'd111111abcdef8.cloudfront.net', distributionId: 'EDFDVBD6EXAMPLE', eventType: 'viewer-request', requestId: 'EXAMPLEntjQpEXAMPLE_SG5Z-EXAMPLEPmPfEXAMPLEu3EqEXAMPLE==' },
    viewer: { ip: '198.51.100.11' },
    request: {
      method, uri, querystring, cookies: {},
      headers: { host: { value: 'inbox.example.com' }, authorization: { value: 'Bearer x' }, 'content-type': { value: 'application/json' }, ...headers },
    },
  };
}

const modern = (method, more = {}) => ({ 'mcp-protocol-version': { value: '2026-07-28' }, 'mcp-method': { value: method }, ...more });

test('a message of 2026-07-28 goes to its family', () => {
  for (const [method, family] of Object.entries({
    'tools/list': 'tools', 'tools/call': 'tools', 'resources/list': 'resources', 'resources/templates/list': 'resources',
    'resources/read': 'resources', 'prompts/list': 'prompts', 'prompts/get': 'prompts', 'completion/complete': 'completion',
  })) {
    const event = viewerEvent({ headers: modern(method, { 'mcp-name': { value: 'x' } }), querystring: { a: { value: '1' } } });
    const want = structuredClone(event.request);
    want.uri = `/mcp/${family}`;
    assert.deepEqual(viewerRequest(event), want); // and nothing else is touched
  }
});

test('everything else goes to the router as it came', () => {
  const twice = { value: 'tools/list', multiValue: [{ value: 'tools/list' }, { value: 'tools/call' }] };
  for (const [name, request] of Object.entries({
    'a 2025 revision': { headers: { ...modern('tools/list'), 'mcp-protocol-version': { value: '2025-11-25' } } },
    'an unknown revision': { headers: { ...modern('tools/list'), 'mcp-protocol-version': { value: '2099-01-01' } } },
    'no revision': { headers: { 'mcp-method': { value: 'tools/list' } } },
    'no method': { headers: { 'mcp-protocol-version': { value: '2026-07-28' } } },
    'an empty method': { headers: modern('') },
    'the protocol’s own method': { headers: modern('server/discover') },
    'an unknown method': { headers: modern('tools/what') },
    'another case': { headers: modern('Tools/List') },
    'what every object has': { headers: modern('constructor') },
    'a prototype': { headers: modern('__proto__') },
    'a path in the method': { headers: modern('../healthz') },
    'a method sent twice': { headers: modern('', { 'mcp-method': twice }) },
    GET: { method: 'GET', headers: modern('tools/list') },
    preflight: { method: 'OPTIONS', headers: { origin: { value: 'https://app.example' } } },
    'another path': { uri: '/mcp/', headers: modern('tools/list') },
    'a family’s path': { uri: '/mcp/prompts', headers: modern('tools/list') },
    metadata: { method: 'GET', uri: '/.well-known/oauth-protected-resource/mcp' },
  })) {
    const event = viewerEvent(request);
    const want = structuredClone(event.request);
    assert.deepEqual(viewerRequest(event), want, name);
  }
});

test('the function is small enough for CloudFront', () => assert.ok(source.length < 10_240));

// The event that Lambda@Edge functions get for an answer.
const answer = (status, headers) => ({
  Records: [{
    cf: {
      config: { distributionDomainName: 'd111111abcdef8.cloudfront.net', distributionId: 'EDFDVBD6EXAMPLE', eventType: 'origin-response', requestId: '4TyzHTaYWb1GX1qTfsHhEqV6HUDd_BzoBZnwfnvQc_1oF26ClkoUSEQ==' },
      request: { clientIp: '198.51.100.11', method: 'POST', uri: '/mcp', querystring: '', headers: {} },
      response: { status, statusDescription: '', headers },
    },
  }],
});
const challenge = 'Bearer resource_metadata="https://inbox.example.com/.well-known/oauth-protected-resource/mcp", scope="inbox.read"';
const field = (key, value) => [{ key, value }];

test('a challenge that the gateway renamed gets its name back', async () => {
  for (const status of ['401', '403']) {
    const got = await originResponse(answer(status, {
      'content-type': field('Content-Type', 'application/json'),
      'x-amzn-remapped-www-authenticate': field('x-amzn-Remapped-WWW-Authenticate', challenge),
    }));
    assert.deepEqual(got, {
      status, statusDescription: '',
      headers: { 'content-type': field('Content-Type', 'application/json'), 'www-authenticate': field('WWW-Authenticate', challenge) },
    });
  }
});

test('other answers stay as they are', async () => {
  for (const headers of [{}, { 'www-authenticate': field('WWW-Authenticate', challenge) }]) {
    assert.deepEqual((await originResponse(answer('200', structuredClone(headers)))).headers, headers);
  }
  const both = await originResponse(answer('401', {
    'www-authenticate': field('WWW-Authenticate', challenge), 'x-amzn-remapped-www-authenticate': field('x', 'Basic'),
  }));
  assert.deepEqual(both.headers, { 'www-authenticate': field('WWW-Authenticate', challenge) });
});
