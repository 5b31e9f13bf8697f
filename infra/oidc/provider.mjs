// An identity provider for the local server, on this machine only: whoever
// clicks on a person of the demo is that person. It has what MCP asks of an
// authorization server: metadata (RFC 8414), registration (RFC 7591), PKCE,
// resource indicators (RFC 8707), access tokens as JWTs (RFC 9068). Everything
// is kept in memory; its key is new at every start.

import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import Provider, { errors } from 'oidc-provider'

// The people who can sign in: the members of the demo (infra/demo), whose
// issuer this is.
export const people = {
  owner: 'owner of the workspace Aurora: may do everything',
  operator: 'operator of Aurora: reads all but secrets, writes e-mails and webhooks',
  viewer: 'viewer of Aurora: reads all but secrets',
  other: 'owner of a workspace in another organization',
  nobody: 'member of no workspace',
}

export const issuer = 'http://127.0.0.1:3001'

const scopes = ['inbox.read', 'inbox.write']
const hour = 60 * 60
const lifetimes = {
  AccessToken: hour, AuthorizationCode: 60, Grant: 24 * hour, IdToken: hour,
  Interaction: 10 * 60, RefreshToken: 24 * hour, Session: 24 * hour,
}

// start serves the identity provider until the returned server is closed.
export function start() {
  const provider = new Provider(issuer, configuration())
  provider.use(onlyLoopback)
  provider.use(crossOriginRegistration)
  provider.use(defaultScope)
  provider.use(signIn(provider))
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(issuer)
    const server = provider.listen(port, hostname, () => resolve(server))
    server.on('error', (error) => reject(new Error(`The identity provider cannot listen at ${issuer}, the only address that it has: ${error.message}`)))
  })
}

function configuration() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    scopes: ['openid', 'offline_access', ...scopes],
    responseTypes: ['code'],
    pkce: { required: () => true },
    ttl: lifetimes,
    clientBasedCORS: () => true,
    // Clients register with the scopes that the server's metadata names, the
    // least there are. One that was challenged for more may ask for it.
    extraClientMetadata: { properties: ['scope'], validator: (_ctx, _key, _scope, client) => { delete client.scope } },
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => {
          if (!/^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?\/mcp$/.test(resource)) {
            throw new errors.InvalidTarget('the resource must be the address of an MCP server on this machine')
          }
          return {
            scope: scopes.join(' '), audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: hour,
            jwt: { sign: { alg: 'RS256' } },
          }
        },
      },
    },
  }
}

// onlyLoopback keeps out pages whose own name was pointed at this machine (DNS
// rebinding).
async function onlyLoopback(ctx, next) {
  ctx.assert(ctx.host === new URL(issuer).host, 403, `This identity provider is at ${issuer} only.`)
  await next()
}

// crossOriginRegistration lets clients that are web pages register.
async function crossOriginRegistration(ctx, next) {
  if (ctx.path === '/reg') {
    ctx.set('Access-Control-Allow-Origin', '*')
    if (ctx.method === 'OPTIONS') {
      ctx.set('Access-Control-Allow-Headers', 'content-type, mcp-protocol-version')
      ctx.status = 204
      return
    }
  }
  await next()
}

// defaultScope is what a client gets that names no scope (RFC 6749 §3.3).
async function defaultScope(ctx, next) {
  if (ctx.path === '/auth' && !ctx.query.scope) {
    ctx.query = { ...ctx.query, scope: scopes[0] }
  }
  await next()
}

// signIn asks the person who they are. The click grants what the client asks
// for: there is nothing here to protect from the person at this machine.
function signIn(provider) {
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/interaction/')) return next()
    const { params } = await provider.interactionDetails(ctx.req, ctx.res)
    const client = await provider.Client.find(params.client_id)
    ctx.set('Cache-Control', 'no-store')
    if (ctx.method !== 'POST') {
      ctx.type = 'html'
      ctx.body = page(client, params)
      return
    }
    const person = ctx.query.person
    ctx.assert(Object.hasOwn(people, person ?? ''), 400, 'There is no such person.')
    const grant = new provider.Grant({ accountId: person, clientId: client.clientId })
    grant.addOIDCScope(params.scope)
    for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, params.scope)
    const result = { login: { accountId: person, remember: false }, consent: { grantId: await grant.save() } }
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result))
    ctx.status = 303
  }
}

function page(client, params) {
  const buttons = Object.entries(people).map(([name, who]) => `
    <p><button formaction="?person=${name}">${name}</button> ${who}</p>`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Sign in to Kobana Inbox (local)</title>
<body style="font: 16px/1.5 system-ui; max-width: 40em; margin: 3em auto">
<h1>Who are you?</h1>
<p><b>${text(client.clientName ?? client.clientId)}</b>, at ${text(new URL(params.redirect_uri).host)}, asks for
<b>${text(params.scope)}</b> of ${text([params.resource ?? []].flat().join(', '))}.</p>
<form method="post">${buttons.join('')}
</form>
`
}

const text = (s) => s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
