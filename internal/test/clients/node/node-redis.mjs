// The tour with redis: node node-redis.mjs HOST PORT PASSWORD RESP, or SOCKET "" PASSWORD RESP.
import assert from 'node:assert/strict'
import { createClient, defineScript, RESP_TYPES, WatchError } from 'redis'

const [host, port, password, version] = process.argv.slice(2)
const socket = { ...(port ? { host, port: Number(port) } : { path: host }), reconnectStrategy: false }
const RESP = Number(version)

async function connect(options = {}) {
  const client = createClient({ socket, password, RESP, unstableResp3: true, ...options })
  client.on('error', () => {})
  await client.connect()
  return client
}

const redis = await connect({ name: 'tour' })
assert.equal(await redis.clientGetName(), 'tour')
const info = await redis.clientInfo()
assert.equal(info.resp ?? RESP, RESP)
await redis.flushAll()

// strings
assert.equal(await redis.set('greeting', 'hello'), 'OK')
assert.equal(await redis.append('greeting', ', world'), 12)
assert.equal(await redis.get('greeting'), 'hello, world')
assert.equal(await redis.set('greeting', 'x', { condition: 'NX' }), null)
assert.equal(await redis.get('nothing'), null)
assert.equal(await redis.incrBy('counter', 41), 41)
assert.equal(await redis.incr('counter'), 42)
await redis.mSet({ a: '1', b: '2' })
assert.deepEqual(await redis.mGet(['a', 'nothing', 'b']), ['1', null, '2'])

// time to live
await redis.set('short', 'v', { expiration: { type: 'PX', value: 60_000 } })
const ttl = await redis.pTTL('short')
assert.ok(ttl > 0 && ttl <= 60_000, `pttl ${ttl}`)
assert.equal(await redis.persist('short'), 1)
assert.equal(await redis.ttl('short'), -1)
assert.equal(await redis.expire('nothing', 10), 0)

// hashes: a map in RESP3
assert.equal(await redis.hSet('h', { field: 'value', other: '2' }), 2)
assert.deepEqual({ ...await redis.hGetAll('h') }, { field: 'value', other: '2' })
assert.deepEqual(await redis.hmGet('h', ['field', 'none']), ['value', null])

// lists
assert.equal(await redis.rPush('l', ['a', 'b', 'c']), 3)
assert.equal(await redis.lPop('l'), 'a')
assert.deepEqual(await redis.lRange('l', 0, -1), ['b', 'c'])

// sets: a set in RESP3
assert.equal(await redis.sAdd('s', ['x', 'y', 'x']), 2)
assert.deepEqual((await redis.sMembers('s')).sort(), ['x', 'y'])
assert.equal(await redis.sIsMember('s', 'z'), 0)

// sorted sets: doubles in RESP3
assert.equal(await redis.zAdd('z', [{ score: 1, value: 'one' }, { score: 2.5, value: 'two' }, { score: 1e20, value: 'many' }]), 3)
assert.deepEqual((await redis.zRangeWithScores('z', 0, -1)).map((e) => [e.value, e.score]), [['one', 1], ['two', 2.5], ['many', 1e20]])
assert.equal(await redis.zScore('z', 'two'), 2.5)
assert.equal(await redis.zScore('z', 'none'), null)

// documents: numbers and types have shapes of their own in RESP3; a Redis without the module is passed over
const [json] = await redis.sendCommand(['COMMAND', 'INFO', 'JSON.SET'])
if (json) {
  assert.equal(await redis.json.set('d', '$', { n: 1, s: 'x', l: [1, 'two'], o: { b: true } }), 'OK')
  assert.equal(await redis.json.set('d', '$.n', 2, { condition: 'NX' }), null)
  assert.deepEqual(await redis.json.get('d'), { n: 1, s: 'x', l: [1, 'two'], o: { b: true } })
  assert.deepEqual(await redis.json.get('d', { path: ['$.n', '$.s'] }), { '$.n': [1], '$.s': ['x'] })
  assert.equal(await redis.json.get('nothing'), null)
  assert.deepEqual(await redis.json.mGet(['d', 'nothing'], '$.n'), [[1], null])
  assert.deepEqual(await redis.json.type('d', { path: '$.*' }), ['integer', 'string', 'array', 'object'])
  assert.equal(await redis.json.type('d', { path: '.s' }), 'string')
  assert.equal(await redis.json.type('nothing'), null)
  assert.deepEqual(await redis.json.numIncrBy('d', '$.*', 1.5), [2.5, null, null, null])
  assert.deepEqual(await redis.json.numMultBy('d', '$.n', 2), [5])
  assert.deepEqual(await redis.json.arrAppend('d', '$.l', 3, { four: 4 }), [4])
  assert.deepEqual(await redis.json.arrIndex('d', '$.l', 'two'), [1])
  assert.deepEqual(await redis.json.arrPop('d', { path: '$.l', index: 0 }), [1])
  assert.deepEqual(await redis.json.strAppend('d', 'y', { path: '$.s' }), [2])
  assert.deepEqual(await redis.json.toggle('d', '$.o.b'), [0])
  assert.deepEqual(await redis.json.objKeys('d', { path: '$' }), [['n', 's', 'l', 'o']])
  assert.equal(await redis.json.merge('d', '$', { o: null, s: null }), 'OK')
  assert.equal(await redis.json.mSet([{ key: 'd', path: '$.m', value: [0] }]), 'OK')
  assert.deepEqual(await redis.json.get('d', { path: '$' }), [{ n: 5, l: ['two', 3, { four: 4 }], m: [0] }])
  assert.equal(await redis.json.del('d', { path: '$.*' }), 3)
  assert.equal(await redis.exists('d'), 0)
}

// scanning
const keys = new Set()
for await (const page of redis.scanIterator({ MATCH: '?' })) for (const key of page) keys.add(key)
assert.deepEqual([...keys].sort(), ['a', 'b', 'h', 'l', 's', 'z'])

// a pipeline: commands of one tick go together
const replies = await Promise.allSettled([redis.set('p', '1'), redis.incr('p'), redis.lPush('p', 'x'), redis.get('p')])
assert.deepEqual(replies.map((r) => r.value ?? r.reason.message),
  ['OK', 2, 'WRONGTYPE Operation against a key holding the wrong kind of value', '2'])
assert.deepEqual(await Promise.all(Array.from({ length: 500 }, (_, i) => redis.set(`many:${i}`, `${i}`))), Array(500).fill('OK'))

// transactions
assert.deepEqual(await redis.multi().set('t', '1').incr('t').get('t').exec(), ['OK', 2, '2'])
const other = await connect()
await redis.watch('t')
await other.set('t', 'changed')
await assert.rejects(redis.multi().set('t', 'mine').exec(), WatchError)
assert.equal(await redis.get('t'), 'changed')

// scripts and functions, as methods
const scripts = { addTo: defineScript({
  SCRIPT: "return redis.call('INCRBY', KEYS[1], ARGV[1])",
  NUMBER_OF_KEYS: 1,
  parseCommand: (parser, key, by) => { parser.pushKey(key); parser.push(String(by)) },
  transformReply: (reply) => reply,
}) }
const functions = { counters: { subtract: {
  NUMBER_OF_KEYS: 1,
  parseCommand: (parser, key, by) => { parser.pushKey(key); parser.push(String(by)) },
  transformReply: (reply) => reply,
} } }
const scripted = await connect({ scripts, functions })
assert.equal(await scripted.addTo('script', 42), 42)
await redis.scriptFlush()
assert.equal(await scripted.addTo('script', 1), 43)
await redis.functionLoad(`#!lua name=counters
redis.register_function('subtract', function(keys, args) return redis.call('DECRBY', keys[1], args[1]) end)`, { REPLACE: true })
assert.equal(await scripted.counters.subtract('script', 3), 40)
assert.deepEqual((await redis.functionList()).map((library) => library.library_name), ['counters'])

// waiting for lists and sorted sets, and a group of consumers who share a stream
const waiting = [await connect(), await connect(), await connect()]
await redis.xGroupCreate('log', 'readers', '$', { MKSTREAM: true })
const waits = [waiting[0].blPop(['jobs', 'other'], 30), waiting[1].bzPopMin('scores', 30),
  waiting[2].xReadGroup('readers', 'kitty', { key: 'log', id: '>' }, { BLOCK: 30_000 })]
while ((await redis.info('clients')).match(/blocked_clients:(\d+)/)[1] !== '3') await new Promise((resolve) => setTimeout(resolve, 5))
await redis.rPush('jobs', ['one', 'two'])
await redis.zAdd('scores', { score: 1.5, value: 'a' })
await redis.xAdd('log', '1-1', { f: 'v' })
const [list, scores, log] = await Promise.all(waits)
assert.deepEqual([{ ...list }, { ...scores }], [{ key: 'jobs', element: 'one' }, { key: 'scores', score: 1.5, value: 'a' }])
// in RESP3 the client passes streams on as they come
if (RESP === 3) assert.deepEqual({ ...log }, { log: [['1-1', ['f', 'v']]] })
else assert.deepEqual(JSON.parse(JSON.stringify(log)), [{ name: 'log', messages: [{ id: '1-1', message: { f: 'v' } }] }])
assert.equal((await redis.xPending('log', 'readers')).pending, 1)
assert.deepEqual((await redis.xAutoClaim('log', 'readers', 'tom', 0, '0')).messages.map((entry) => entry.id), ['1-1'])
assert.equal(await redis.xAck('log', 'readers', '1-1'), 1)

// databases
const second = await connect({ database: 2 })
assert.equal(await second.get('greeting'), null)

// errors
await assert.rejects(redis.incr('greeting'), { message: 'ERR value is not an integer or out of range' })
await assert.rejects(redis.lPush('greeting', 'x'), /WRONGTYPE/)
await assert.rejects(redis.sendCommand(['NOSUCH', 'a']), { message: "ERR unknown command 'NOSUCH', with args beginning with: 'a' " })

// any bytes, any language
const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
await binary.set(bytes, bytes)
assert.deepEqual(await binary.get(bytes), bytes)
await redis.set('käse/チーズ/🧀', 'größe\r\n')
assert.equal(await redis.get('käse/チーズ/🧀'), 'größe\r\n')
const big = 'x'.repeat(1_000_000)
await redis.set('big', big)
assert.equal(await redis.get('big'), big)

// messages
const listener = await connect()
const arrived = []
await new Promise((resolve) => {
  let confirmed = 0
  for (const [kind, name] of [['subscribe', 'news'], ['pSubscribe', 'n*'], ['sSubscribe', 'news']]) {
    arrived.push(new Promise((heard) => {
      listener[kind](name, (text, channel) => heard([kind, channel, text])).then(() => { if (++confirmed === 3) resolve() })
    }))
  }
})
assert.equal(await redis.publish('news', 'hello'), 2)
assert.equal(await redis.sPublish('news', 'to the shard'), 1)
assert.deepEqual(await Promise.all(arrived), [['subscribe', 'news', 'hello'], ['pSubscribe', 'news', 'hello'], ['sSubscribe', 'news', 'to the shard']])
assert.deepEqual({ ...await redis.pubSubNumSub(['news', 'nothing']) }, { news: 1, nothing: 0 })
if (RESP === 3) assert.equal(await listener.get('greeting'), 'hello, world') // beside its messages
await listener.unsubscribe('news')
await listener.pUnsubscribe('n*')
await listener.sUnsubscribe('news')
assert.equal(await redis.publish('news', 'nobody'), 0)
assert.equal(String(await listener.get('greeting')), 'hello, world')
await listener.close()

// a wrong password
await assert.rejects(connect({ password: 'wrong' }), { message: 'WRONGPASS invalid username-password pair or user is disabled.' })

await Promise.all([redis, other, second, scripted, ...waiting].map((client) => client.close()))
