// Runs the local server with the identity provider beside it, for clients that
// sign in from nothing but the MCP URL. Ctrl-C ends both.

import { spawn } from 'node:child_process'
import { issuer, people, start } from './provider.mjs'

try {
  await start()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
console.log(`The identity provider is at ${issuer}. Its people: ${Object.keys(people).join(', ')}.
To sign in is to click on one of them: nobody has a password.\n`)
const [command, ...args] = process.argv.slice(2)
const server = spawn(command, args, { stdio: 'inherit', env: { ...process.env, OAUTH_ISSUERS: issuer } })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal))
server.on('exit', (code) => process.exit(code ?? 1))
