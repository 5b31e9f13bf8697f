// An emulator of DynamoDB for tests: the operations of dynalite, in memory,
// and beside them what it lacks and package dynamo uses: TransactWriteItems,
// ReturnValuesOnConditionCheckFailure and the calls for TTL. (As in DynamoDB
// nobody may count on, expired items are never deleted.)
//
//   node server.mjs [--port N] [--until-eof]
//
// It listens on the loopback interface, on a free port unless told, and prints
// its address. With --until-eof it ends with its standard input, so that it
// does not outlive the program that started it.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { crc32 } from 'node:zlib'

const require = createRequire(import.meta.url)
const db = require('dynalite/db/index.js')
const validations = require('dynalite/validations/index.js')

const store = db.create({ createTableMs: 0, deleteTableMs: 0 })

// dynalite orders strings by UTF-16 where it compares them, DynamoDB by UTF-8.
const utf8 = value => value?.S === undefined ? value : { B: Buffer.from(value.S).toString('base64') }
const { compare } = db
db.compare = (operator, value, others) => compare(operator, utf8(value), [others].flat().map(utf8))

const CONDITION_FAILED = 'ConditionalCheckFailedException'

// failure is an error that the client is told.
function failure (type, message, more) {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message, ...more }
  return Object.assign(new Error(message), { statusCode: 400, body })
}

const isFailure = (err, type) => err.body?.__type.endsWith(`#${type}`)

// parse checks the input of one of dynalite's operations.
function parse (name, input) {
  const { types, custom } = require(`dynalite/validations/${name}.js`)
  const data = validations.checkTypes(structuredClone(input), types)
  validations.checkValidations(data, types, custom, store)
  return data
}

// run carries out one of dynalite's operations.
function run (name, data) {
  return new Promise((resolve, reject) => {
    require(`dynalite/actions/${name}.js`)(store, data, (err, output) => err ? reject(err) : resolve(output))
  })
}

const plain = name => input => run(name, parse(name, input))

const table = TableName => new Promise((resolve, reject) => {
  store.getTable(TableName, true, (err, found) => err ? reject(err) : resolve(found))
})

// slot is the place of an item, which is given by its key or whole, with what
// is stored there and how to put that back.
async function slot ({ TableName, Key, Item }) {
  const schema = await table(TableName)
  const invalid = Item ? db.validateItem(Item, schema) : db.validateKey(Key, schema)
  if (invalid) throw invalid
  const items = store.getItemDb(TableName)
  const key = db.createKey(Key ?? Item, schema)
  const call = (method, ...args) => new Promise((resolve, reject) => {
    items[method](key, ...args, (err, value) => err ? reject(err) : resolve(value))
  })
  const stored = await call('get')
  return { place: `${TableName}/${key}`, stored, restore: () => stored ? call('put', stored) : call('del') }
}

const wantsOld = input => input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD'

// conditional is an operation that shows the stored item when it refuses.
const conditional = name => async input => {
  try {
    return await run(name, parse(name, input))
  } catch (err) {
    if (isFailure(err, CONDITION_FAILED) && wantsOld(input)) err.body.Item = (await slot(input)).stored
    throw err
  }
}

// The parts of a transaction, and the operation that each is checked like.
const parts = { Put: 'putItem', Update: 'updateItem', Delete: 'deleteItem', ConditionCheck: 'deleteItem' }

// What was done under each token. DynamoDB forgets them after ten minutes.
const tokens = new Map()

async function transactWriteItems ({ ClientRequestToken: token = randomUUID(), ...input }) {
  const request = JSON.stringify(input)
  const done = tokens.get(token)
  if (done) {
    if (done.request === request) return done.output
    throw failure('IdempotentParameterMismatchException', 'The token was used for another request')
  }
  const output = await transact(input)
  tokens.set(token, { request, output })
  return output
}

async function transact ({ TransactItems, ReturnConsumedCapacity }) {
  const ops = []
  for (const item of TransactItems) {
    const [[kind, input]] = Object.entries(item)
    const data = parse(parts[kind], { ...input, ReturnConsumedCapacity: 'TOTAL' })
    ops.push({ kind, input, data, ...await slot(data) })
  }
  if (ops.length < 1 || ops.length > 100) throw db.validationError('A transaction has 1 to 100 items')
  if (new Set(ops.map(op => op.place)).size < ops.length) {
    throw db.validationError('Transaction request cannot include multiple operations on one item')
  }

  const refused = ops.map(({ data, stored }) => db.checkConditional(data, stored))
  if (refused.some(Boolean)) {
    throw cancelled(ops.map(({ input, stored }, n) => refused[n]
      ? { Code: 'ConditionalCheckFailed', Message: refused[n].message, Item: wantsOld(input) ? stored : undefined }
      : { Code: 'None' }))
  }

  const units = new Map()
  for (const [n, op] of ops.entries()) {
    try {
      const consumed = op.kind === 'ConditionCheck'
        ? db.addConsumedCapacity(op.data, false, op.stored)
        : (await run(parts[op.kind], op.data)).ConsumedCapacity
      units.set(consumed.TableName, (units.get(consumed.TableName) ?? 0) + 2 * consumed.CapacityUnits)
    } catch (err) {
      for (const { restore } of ops.slice(0, n)) await restore()
      throw cancelled(ops.map((_, other) => other === n
        ? { Code: 'ValidationError', Message: err.message }
        : { Code: 'None' }))
    }
  }
  if (ReturnConsumedCapacity !== 'TOTAL') return {}
  return { ConsumedCapacity: [...units].map(([TableName, CapacityUnits]) => ({ TableName, CapacityUnits })) }
}

function cancelled (reasons) {
  const codes = reasons.map(reason => reason.Code).join(', ')
  return failure('TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons })
}

const ttl = new Map() // by table

async function updateTimeToLive ({ TableName, TimeToLiveSpecification }) {
  await table(TableName)
  if (Boolean(ttl.get(TableName)?.Enabled) === TimeToLiveSpecification.Enabled) {
    throw db.validationError(`TimeToLive is already ${TimeToLiveSpecification.Enabled ? 'enabled' : 'disabled'}`)
  }
  ttl.set(TableName, TimeToLiveSpecification)
  return { TimeToLiveSpecification }
}

async function describeTimeToLive ({ TableName }) {
  await table(TableName)
  const { Enabled, AttributeName } = ttl.get(TableName) ?? {}
  return { TimeToLiveDescription: Enabled ? { TimeToLiveStatus: 'ENABLED', AttributeName } : { TimeToLiveStatus: 'DISABLED' } }
}

const operations = {
  CreateTable: plain('createTable'),
  DescribeTable: plain('describeTable'),
  DeleteTable: plain('deleteTable'),
  ListTables: plain('listTables'),
  UpdateTimeToLive: updateTimeToLive,
  DescribeTimeToLive: describeTimeToLive,
  GetItem: plain('getItem'),
  Query: plain('query'),
  PutItem: conditional('putItem'),
  UpdateItem: conditional('updateItem'),
  DeleteItem: conditional('deleteItem'),
  TransactWriteItems: transactWriteItems,
}

// One request runs at a time, so that nothing comes between the parts of a
// transaction.
let last = Promise.resolve()
const inTurn = work => {
  const turn = last.then(work)
  last = turn.catch(() => {})
  return turn
}

const server = createServer(async (req, res) => {
  let status = 200
  let output
  try {
    const chunks = []
    for await (const chunk of req) chunks.push(chunk)
    const name = /^DynamoDB_20120810\.(\w+)$/.exec(req.headers['x-amz-target'])?.[1]
    if (!Object.hasOwn(operations, name)) throw failure('UnknownOperationException', String(name))
    const input = JSON.parse(Buffer.concat(chunks).toString())
    output = await inTurn(() => operations[name](input))
  } catch (err) {
    if (req.errored) return // the client went away
    if (!err.body) console.error(err)
    status = err.statusCode ?? 500
    output = err.body ?? { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: String(err) }
  }
  const body = JSON.stringify(output)
  res.writeHead(status, {
    'content-type': 'application/x-amz-json-1.0',
    'x-amzn-requestid': randomUUID(),
    'x-amz-crc32': crc32(body),
  })
  res.end(body)
})

const { values: flags } = parseArgs({ options: { port: { type: 'string', default: '0' }, 'until-eof': { type: 'boolean' } } })
server.listen(Number(flags.port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
if (flags['until-eof']) process.stdin.on('end', () => process.exit()).resume()
