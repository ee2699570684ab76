// The tour with @upstash/redis: node upstash.mjs URL TOKEN. Commands of one tick go
// out as one pipeline, its default.
import assert from 'node:assert/strict'
import { Redis } from '@upstash/redis'

const [url, token] = process.argv.slice(2)
const quiet = { enableTelemetry: false, retry: false }
const redis = new Redis({ url, token, ...quiet })
await redis.flushall()

// strings; what looks like JSON comes back as its value
assert.equal(await redis.set('greeting', 'hello'), 'OK')
assert.equal(await redis.append('greeting', ', world'), 12)
assert.equal(await redis.get('greeting'), 'hello, world')
assert.equal(await redis.set('greeting', 'x', { nx: true }), null)
assert.equal(await redis.get('nothing'), null)
assert.equal(await redis.incrby('counter', 41), 41)
assert.equal(await redis.incr('counter'), 42)
assert.equal(await redis.get('counter'), 42)
assert.equal(await redis.set('object', { deep: [1, 'two', null, true] }), 'OK')
assert.deepEqual(await redis.get('object'), { deep: [1, 'two', null, true] })
await redis.mset({ a: '1', b: 'two' })
assert.deepEqual(await redis.mget('a', 'nothing', 'b'), [1, null, 'two'])

// time to live
await redis.set('short', 'v', { px: 60_000 })
const ttl = await redis.pttl('short')
assert.ok(ttl > 0 && ttl <= 60_000, `pttl ${ttl}`)
assert.equal(await redis.persist('short'), 1)
assert.equal(await redis.ttl('short'), -1)

// hashes
assert.equal(await redis.hset('h', { field: 'value', other: 2 }), 2)
assert.deepEqual(await redis.hgetall('h'), { field: 'value', other: 2 })
assert.equal(await redis.hgetall('nothing'), null)
assert.equal(await redis.hincrby('h', 'other', 3), 5)
assert.deepEqual(await redis.hmget('h', 'field', 'none'), { field: 'value', none: null })

// lists
assert.equal(await redis.rpush('l', 'a', 'b', 'c'), 3)
assert.equal(await redis.lpop('l'), 'a')
assert.deepEqual(await redis.lrange('l', 0, -1), ['b', 'c'])

// sets
assert.equal(await redis.sadd('s', 'x', 'y', 'x'), 2)
assert.deepEqual((await redis.smembers('s')).sort(), ['x', 'y'])
assert.equal(await redis.sismember('s', 'z'), 0)

// sorted sets
assert.equal(await redis.zadd('z', { score: 1, member: 'one' }, { score: 2.5, member: 'two' }), 2)
assert.deepEqual(await redis.zrange('z', 0, -1, { withScores: true }), ['one', 1, 'two', 2.5])
assert.equal(await redis.zscore('z', 'two'), 2.5)

// documents: replies of JSON come back as values; strings to look for and to append are JSON already
assert.equal(await redis.json.set('d', '$', { n: 1, s: 'x', l: [1, 'two'], o: { b: true } }), 'OK')
assert.equal(await redis.json.set('d', '$.n', 2, { nx: true }), null)
assert.deepEqual(await redis.json.get('d', '$.n'), [1])
assert.deepEqual(await redis.json.get('d', '$.n', '$.s'), { '$.n': [1], '$.s': ['x'] })
assert.equal(await redis.json.get('nothing', '$'), null)
assert.deepEqual(await redis.json.mget(['d', 'nothing'], '$.n'), [[1], null])
assert.deepEqual(await redis.json.numincrby('d', '$.*', 1.5), [2.5, null, null, null])
assert.deepEqual(await redis.json.nummultby('d', '$.n', 2), [5])
assert.deepEqual(await redis.json.arrappend('d', '$.l', 3, { four: 4 }), [4])
assert.deepEqual(await redis.json.arrindex('d', '$.l', '"two"'), [1])
assert.deepEqual(await redis.json.arrpop('d', '$.l', 0), [1])
assert.deepEqual(await redis.json.strappend('d', '$.s', '"y"'), [2])
assert.deepEqual(await redis.json.toggle('d', '$.o.b'), [0])
assert.deepEqual(await redis.json.objkeys('d', '$'), [['n', 's', 'l', 'o']])
assert.deepEqual(await redis.json.type('d', '$.*'), ['number', 'string', 'array', 'object'])
assert.deepEqual(await redis.json.resp('d', '$.l'), [['[', 'two', 3, ['{', 'four', 4]]])
assert.equal(await redis.json.merge('d', '$', { o: null, s: null }), 'OK')
assert.equal(await redis.json.mset({ key: 'd', path: '$.m', value: [0] }), 'OK')
assert.deepEqual(await redis.json.get('d'), { n: 5, l: ['two', 3, { four: 4 }], m: [0] })
assert.equal(await redis.json.clear('d', '$.l'), 1)
assert.equal(await redis.json.del('d', '$.*'), 3)
assert.equal(await redis.exists('d'), 0)

// scanning
let cursor = '0'
const keys = new Set()
do {
  const [next, page] = await redis.scan(cursor, { match: '?', count: 3 })
  for (const key of page) keys.add(key)
  cursor = next
} while (cursor !== '0')
assert.deepEqual([...keys].sort(), ['a', 'b', 'h', 'l', 's', 'z'])

// auto-pipelining: many commands, one request; one that fails does not harm the rest
const written = await Promise.all(Array.from({ length: 500 }, (_, i) => redis.set(`many:${i}`, i)))
assert.deepEqual(written, Array(500).fill('OK'))
const mixed = await Promise.allSettled([redis.get('many:1'), redis.lpush('greeting', 'x'), redis.get('many:2')])
assert.deepEqual(mixed.map((r) => r.status), ['fulfilled', 'rejected', 'fulfilled'])
assert.deepEqual([mixed[0].value, mixed[2].value], [1, 2])
assert.match(mixed[1].reason.message, /WRONGTYPE Operation against a key holding the wrong kind of value/)

// pipelines and transactions
assert.deepEqual(await redis.pipeline().set('p', 1).incr('p').get('p').exec(), ['OK', 2, 2])
assert.deepEqual(await redis.multi().set('t', 1).incr('t').hgetall('h').exec(), ['OK', 2, { field: 'value', other: 5 }])
const kept = await redis.multi().set('t', 5).lpush('greeting', 'x').incr('t').exec({ keepErrors: true })
assert.deepEqual([kept[0].result, kept[2].result], ['OK', 6])
assert.match(kept[1].error, /^WRONGTYPE /)

// scripts: sent once, named by their digest from then on; a server that has forgotten them is sent them again
const add = redis.createScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
assert.equal(await add.eval(['t'], ['4']), 10)
assert.equal(await add.evalsha(['t'], ['1']), 11)
await redis.scriptFlush()
await assert.rejects(add.evalsha(['t'], ['1']), /NOSCRIPT/)
assert.equal(await add.exec(['t'], ['1']), 12)
assert.deepEqual(await redis.scriptExists(await redis.scriptLoad('return 1'), '0'.repeat(40)), [1, 0])
assert.deepEqual(await redis.createScript('return {1, "two", {redis.call("GET", KEYS[1])}}', { readonly: true }).evalRo(['t'], []), [1, 'two', [12]])
await assert.rejects(redis.eval('return redis.error_reply("no fish")', [], []), /no fish/)

// errors
await assert.rejects(redis.incr('greeting'), /ERR value is not an integer or out of range/)
await assert.rejects(redis.exec(['NOSUCH', 'a']), /ERR unknown command 'NOSUCH'/)

// any language, and bytes that are not text as far as a JSON client can have them
await redis.set('käse/チーズ/🧀', 'größe "\\\r\n\u0000')
assert.equal(await redis.get('käse/チーズ/🧀'), 'größe "\\\r\n\u0000')
assert.equal(await redis.set('ok', 'OK'), 'OK')
assert.equal(await redis.get('ok'), 'OK')
const big = 'x'.repeat(1_000_000)
await redis.set('big', big)
assert.equal(await redis.get('big'), big)

// one command a request, and without base64
const plain = new Redis({ url, token, enableAutoPipelining: false, responseEncoding: false, automaticDeserialization: false, ...quiet })
assert.equal(await plain.get('counter'), '42')
assert.equal(await plain.get('greeting'), 'hello, world')
assert.equal(await plain.ping(), 'PONG')

// messages, as events
const heard = (subscriber, type, n = 1) => new Promise((resolve, reject) => {
  const all = []
  subscriber.on('error', reject)
  subscriber.on(type, (event) => { if (all.push(event) === n) resolve(all) })
})
const news = redis.subscribe(['news', 'jobs, and more'])
await heard(news, 'subscribe', 2)
const byPattern = redis.psubscribe('n*')
await heard(byPattern, 'psubscribe')
const messages = heard(news, 'message', 3)
const one = heard(news, 'message:jobs, and more')
const matched = heard(byPattern, 'pmessage')
assert.equal(await redis.publish('news', { deep: [1, 'two, three'] }), 2)
assert.equal(await redis.publish('jobs, and more', 'größe'), 1)
assert.equal(await redis.publish('other', 'x'), 0)
assert.deepEqual(await matched, [{ pattern: 'n*', channel: 'news', message: { deep: [1, 'two, three'] } }])
await news.unsubscribe(['jobs, and more'])
await byPattern.unsubscribe()
while (await redis.publish('jobs, and more', 'x') > 0);
while (await redis.publish('news', 'last') > 1);
assert.deepEqual((await messages)[0], { channel: 'news', message: { deep: [1, 'two, three'] } })
await news.unsubscribe()
one.catch(() => {})

// a wrong token
const stranger = new Redis({ url, token: 'wrong', ...quiet })
await assert.rejects(stranger.get('a'), /WRONGPASS/)
