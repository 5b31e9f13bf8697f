// What the tests need beside a client: the local server, and a browser.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

// serve builds the local server and runs it on a free port and new data.
export async function serve(env) {
  const dir = mkdtempSync(join(tmpdir(), 'kobana'))
  const binary = join(dir, 'kobana-inbox')
  execFileSync('go', ['build', '-o', binary, './infra/local/kobana-inbox'], { cwd: root, stdio: 'inherit' })
  const child = spawn(binary, {
    env: { ...process.env, PORT: '0', DATA_DIR: join(dir, 'data'), RATE_LIMIT: 'off', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let told = ''
  for await (const chunk of child.stdout) {
    told += chunk
    const url = /Kobana Inbox MCP is at (\S+)\/mcp/.exec(told)?.[1]
    if (url) return { url, stop: () => { child.kill(); rmSync(dir, { recursive: true }) } }
  }
  throw new Error(`the server ended: ${told}`)
}

// json fetches a JSON document, with whatever status.
export async function json(url, options) {
  const response = await fetch(url, options)
  return response.json()
}

// Browser keeps cookies and follows redirects, as far as the person's sign-in.
export class Browser {
  cookies = new Map()

  // authorize goes to the address, clicks on the person, and returns the
  // address at the client that it is sent back to.
  async authorize(url, person) {
    for (let step = 0; step < 10; step++) {
      let response = await this.#get(url)
      if (response.status === 200) {
        const page = await response.text()
        assert.ok(page.includes(`formaction="?person=${person}"`), page)
        response = await this.#get(new URL(`?person=${person}`, url), 'POST')
      }
      assert.ok([302, 303].includes(response.status), `HTTP ${response.status} ${await response.text()}`)
      const next = new URL(response.headers.get('location'), url)
      if (next.origin !== new URL(url).origin) return next
      url = next
    }
    throw new Error('redirects without end')
  }

  async #get(url, method = 'GET') {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { method, redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';')[0].split('=')
      this.cookies.set(name, value)
    }
    return response
  }
}
