// Real clients sign in at the identity provider and call the local server,
// knowing nothing but the MCP URL.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { issuer, people, start } from './provider.mjs'
import { Browser, json, serve } from './testing.mjs'

const callback = 'http://127.0.0.1:7777/callback'

let provider, server, mcp

before(async () => {
  provider = await start()
  server = await serve({ OAUTH_ISSUERS: issuer })
  mcp = `${server.url}/mcp`
})

after(() => Promise.all([server?.stop(), close(provider)]))

function close(http) {
  http.closeAllConnections()
  return new Promise((resolve) => http.close(resolve))
}

// Memory is where a client keeps what it learns; it hands the address to
// authorize at to its browser.
class Memory {
  redirectUrl = callback
  clientMetadata = {
    client_name: 'Test client', redirect_uris: [callback], application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none',
  }
  registrations = 0
  sent = [] // addresses to authorize at
  clientInformation() { return this.client }
  saveClientInformation(client) { this.client = client; this.registrations++ }
  tokens() { return this.token }
  saveTokens(token) { this.token = token }
  saveCodeVerifier(verifier) { this.verifier = verifier }
  codeVerifier() { return this.verifier }
  saveDiscoveryState(state) { this.discovery = state }
  discoveryState() { return this.discovery }
  redirectToAuthorization(url) { this.sent.push(url) }
}

// Person is somebody at a client of the official SDK and at a browser.
class Person {
  memory = new Memory()
  browser = new Browser()

  constructor(name, mode, answer) {
    this.name = name
    this.client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} }, versionNegotiation: { mode } })
    this.client.setRequestHandler('elicitation/create', (request) => answer(request.params))
  }

  transport() { return new StreamableHTTPClientTransport(new URL(mcp), { authProvider: this.memory }) }

  async connect() {
    const first = this.transport()
    await assert.rejects(this.client.connect(first), UnauthorizedError)
    await this.signIn(first)
    this.current = this.transport()
    await this.client.connect(this.current)
  }

  async signIn(transport) {
    const { searchParams } = await this.browser.authorize(this.memory.sent.at(-1), this.name)
    await transport.finishAuth(searchParams)
  }

  call(name, args) { return this.client.callTool({ name, arguments: args }) }
}

for (const mode of [{ pin: '2026-07-28' }, 'legacy']) {
  test(`the official client signs in and steps up: ${JSON.stringify(mode)}`, async () => {
    const questions = []
    const owner = new Person('owner', mode, (params) => {
      questions.push(params.message)
      return { action: 'accept', content: { confirm: true } }
    })
    await owner.connect()
    const asked = owner.memory.sent[0].searchParams
    assert.equal(owner.memory.sent.length, 1)
    assert.equal(asked.get('resource'), mcp)
    assert.equal(asked.get('code_challenge_method'), 'S256')
    assert.ok(!asked.get('scope').includes('inbox.write'), `it asks for ${asked.get('scope')} at first`)

    const { tools } = await owner.client.listTools()
    assert.ok(tools.length > 15)
    assert.deepEqual(tools.filter((t) => !t.annotations.readOnlyHint), [], 'what a token that only reads is shown')
    const inboxes = (await owner.call('inboxes_list', {})).structuredContent.data
    assert.ok(inboxes.some((i) => i.email === 'aurora-support@inbox.kobana.com.br'))

    const rename = ['inboxes_update', { id: inboxes[0].id, label: `Renamed ${JSON.stringify(mode)}` }]
    await assert.rejects(owner.call(...rename), UnauthorizedError)
    assert.equal(owner.memory.sent.length, 2)
    assert.match(owner.memory.sent[1].searchParams.get('scope'), /inbox\.write/)
    await owner.signIn(owner.current)
    assert.equal((await owner.call(...rename)).structuredContent.label, rename[1].label)
    assert.equal(owner.memory.registrations, 1)

    const email = (await owner.call('emails_list', {})).structuredContent.data[0].id
    const deletion = await owner.call('emails_delete', { id: email })
    if (mode === 'legacy') {
      assert.match(deletion.content[0].text, /^confirmation_required: /)
      assert.equal(questions.length, 0)
    } else {
      assert.ok(!deletion.isError, deletion.content[0].text)
      assert.equal(questions.length, 1)
    }
    const gone = await owner.call('emails_get', { id: email })
    assert.equal(gone.isError === true, mode !== 'legacy')
    await owner.client.close()
  })
}

// tokenFor goes through the steps one by one, and returns what the token
// endpoint answers.
async function tokenFor(person, { scope, resource = mcp } = {}) {
  const refused = await fetch(mcp, { method: 'POST', body: '{}' })
  assert.equal(refused.status, 401)
  const address = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate'))[1]
  const metadata = await json(address)
  assert.equal(metadata.resource, mcp)
  const authorization = await json(`${metadata.authorization_servers[0]}/.well-known/oauth-authorization-server`)
  assert.equal(authorization.issuer, metadata.authorization_servers[0])
  const client = await json(authorization.registration_endpoint, {
    method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(new Memory().clientMetadata),
  })
  const verifier = randomBytes(32).toString('base64url')
  const request = new URL(authorization.authorization_endpoint)
  request.search = new URLSearchParams({
    response_type: 'code', client_id: client.client_id, redirect_uri: callback, state: 'xyz', resource,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256',
    ...(scope === undefined ? {} : { scope }),
  })
  const { searchParams } = await new Browser().authorize(request, person)
  if (searchParams.has('error')) return Object.fromEntries(searchParams)
  assert.equal(searchParams.get('state'), 'xyz')
  assert.equal(searchParams.get('iss'), issuer)
  return json(authorization.token_endpoint, {
    method: 'POST', body: new URLSearchParams({
      grant_type: 'authorization_code', client_id: client.client_id, redirect_uri: callback, resource,
      code: searchParams.get('code'), code_verifier: verifier,
    }),
  })
}

const key = (token) => JSON.parse(Buffer.from(token.split('.')[0], 'base64url')).kid
const claims = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'))

// post sends one request and returns status, challenge and answer.
async function post(token, method, params) {
  const response = await fetch(mcp, {
    method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body: await response.json() }
}

test('the challenge of a write names the scope that is missing', async () => {
  const read = await tokenFor('owner', { scope: 'inbox.read' })
  assert.equal(read.scope, 'inbox.read')
  assert.equal(claims(read.access_token).aud, mcp)
  assert.equal(claims(read.access_token).iss, issuer)
  const refused = await post(read.access_token, 'tools/call', { name: 'agents_create', arguments: {} })
  assert.equal(refused.status, 403)
  assert.match(refused.challenge, /^Bearer error="insufficient_scope", error_description="[^"]+", scope="inbox\.write", resource_metadata="/)
  const write = await tokenFor('owner', { scope: 'inbox.read inbox.write' })
  const reached = await post(write.access_token, 'tools/call', { name: 'agents_create', arguments: {} })
  assert.equal(reached.status, 200)
  assert.match(reached.body.result.content[0].text, /^invalid_arguments: /)
})

test('case 17 an empty requested scope works', async () => {
  for (const scope of [undefined, '']) {
    const token = await tokenFor('viewer', { scope })
    assert.equal((await post(token.access_token, 'tools/list')).status, 200)
  }
})

test('case 14 a token for another server is refused', async () => {
  const { access_token: token } = await tokenFor('owner', { scope: 'inbox.read', resource: 'http://127.0.0.1:9/mcp' })
  assert.equal(claims(token).aud, 'http://127.0.0.1:9/mcp')
  const refused = await post(token, 'tools/list')
  assert.equal(refused.status, 401)
  assert.match(refused.challenge, /error="invalid_token"/)
  assert.equal((await tokenFor('owner', { resource: 'https://example.com/mcp' })).error, 'invalid_target')
})

test('each person of the demo has the rights of their membership', async () => {
  const writes = { owner: ['secrets_create', 'emails_delete'], operator: ['emails_delete'], viewer: [], other: ['secrets_create', 'emails_delete'] }
  const workspaces = { owner: 'Aurora', operator: 'Aurora', viewer: 'Aurora', other: 'Viveiro' }
  for (const person of Object.keys(people)) {
    const { access_token: token } = await tokenFor(person, { scope: 'inbox.read inbox.write' })
    const listed = await post(token, 'tools/list')
    if (person === 'nobody') {
      assert.equal(listed.status, 403)
      assert.match(listed.body.error.message, /no active membership/)
      assert.equal((await post(token, 'ping')).status, 200)
      continue
    }
    const names = listed.body.result.tools.map((t) => t.name)
    assert.deepEqual(['secrets_create', 'emails_delete'].filter((n) => names.includes(n)), writes[person], person)
    const mine = await post(token, 'tools/call', { name: 'workspaces_list' })
    assert.deepEqual(JSON.parse(mine.body.result.content[0].text).data.map((w) => w.label), [workspaces[person]])
  }
})

test('a demo token is the same person as the one who signs in', async () => {
  const { access_token: token } = await tokenFor('owner', { scope: 'inbox.read inbox.write' })
  const seen = await Promise.all(['demo-owner', token].map((t) => post(t, 'tools/call', { name: 'inboxes_list' })))
  assert.deepEqual(seen[0].body.result, seen[1].body.result)
})

test('the identity provider is away, and comes back with another key', async () => {
  const { access_token: old } = await tokenFor('viewer', { scope: 'inbox.read' })
  assert.equal((await post(old, 'tools/list')).status, 200)
  await close(provider)
  assert.equal((await post(old, 'tools/list')).status, 200, 'a known key needs no network')
  provider = await start()
  const { access_token: token } = await tokenFor('viewer', { scope: 'inbox.read' })
  assert.notEqual(key(token), key(old))
  assert.equal((await post(token, 'tools/list')).status, 200)
  assert.equal((await post(old, 'tools/list')).status, 401, 'the old key is withdrawn')
})
