// The tour with ioredis: node ioredis.mjs HOST PORT PASSWORD, or SOCKET "" PASSWORD.
import assert from 'node:assert/strict'
import Redis from 'ioredis'

const [host, port, password] = process.argv.slice(2)
const address = port ? { host, port: Number(port) } : { path: host }
const connect = (options = {}) => new Redis({ ...address, password, retryStrategy: null, maxRetriesPerRequest: 1, ...options })

const redis = connect({ connectionName: 'tour' })
assert.equal(await redis.client('GETNAME'), 'tour')
await redis.flushall()

// strings
assert.equal(await redis.set('greeting', 'hello'), 'OK')
assert.equal(await redis.append('greeting', ', world'), 12)
assert.equal(await redis.get('greeting'), 'hello, world')
assert.equal(await redis.set('greeting', 'x', 'NX'), null)
assert.equal(await redis.get('nothing'), null)
assert.equal(await redis.incrby('counter', 41), 41)
assert.equal(await redis.incr('counter'), 42)
assert.equal(await redis.incrbyfloat('float', '0.1'), '0.1')
await redis.mset({ a: '1', b: '2' })
assert.deepEqual(await redis.mget('a', 'nothing', 'b'), ['1', null, '2'])

// time to live
await redis.set('short', 'v', 'PX', 60_000)
const ttl = await redis.pttl('short')
assert.ok(ttl > 0 && ttl <= 60_000, `pttl ${ttl}`)
assert.equal(await redis.persist('short'), 1)
assert.equal(await redis.ttl('short'), -1)
assert.equal(await redis.ttl('nothing'), -2)

// hashes
assert.equal(await redis.hset('h', { field: 'value', other: '2' }), 2)
assert.deepEqual(await redis.hgetall('h'), { field: 'value', other: '2' })
assert.equal(await redis.hincrby('h', 'other', 3), 5)
assert.deepEqual(await redis.hmget('h', 'field', 'none'), ['value', null])

// lists
assert.equal(await redis.rpush('l', 'a', 'b', 'c'), 3)
assert.equal(await redis.lpop('l'), 'a')
assert.deepEqual(await redis.lrange('l', 0, -1), ['b', 'c'])

// sets
assert.equal(await redis.sadd('s', 'x', 'y', 'x'), 2)
assert.deepEqual((await redis.smembers('s')).sort(), ['x', 'y'])
assert.equal(await redis.sismember('s', 'z'), 0)

// sorted sets
assert.equal(await redis.zadd('z', 1, 'one', 2.5, 'two', 'inf', 'many'), 3)
assert.deepEqual(await redis.zrange('z', 0, -1, 'WITHSCORES'), ['one', '1', 'two', '2.5', 'many', 'inf'])
assert.equal(await redis.zrank('z', 'two'), 1)

// scanning
const keys = []
for await (const page of redis.scanStream({ match: '?' })) keys.push(...page)
assert.deepEqual([...new Set(keys)].sort(), ['a', 'b', 'h', 'l', 's', 'z'])

// a pipeline: each command on its own
const replies = await redis.pipeline().set('p', '1').incr('p').lpush('p', 'x').get('p').exec()
assert.deepEqual(replies.map(([error, reply]) => error?.message ?? reply),
  ['OK', 2, 'WRONGTYPE Operation against a key holding the wrong kind of value', '2'])

// many commands at once, without being asked to
const many = connect({ enableAutoPipelining: true })
assert.deepEqual(await Promise.all(Array.from({ length: 500 }, (_, i) => many.set(`many:${i}`, i))), Array(500).fill('OK'))
assert.deepEqual(await many.mget(...Array.from({ length: 500 }, (_, i) => `many:${i}`)), Array.from({ length: 500 }, (_, i) => `${i}`))

// transactions
assert.deepEqual(await redis.multi().set('t', '1').incr('t').exec(), [[null, 'OK'], [null, 2]])
await redis.watch('t')
await many.set('t', 'changed')
assert.equal(await redis.multi().set('t', 'mine').exec(), null)
assert.equal(await redis.get('t'), 'changed')

// scripts, which are sent once and named by their digest from then on, also when the server has forgotten them
many.defineCommand('addTo', { numberOfKeys: 1, lua: "return {redis.call('INCRBY', KEYS[1], ARGV[1]), 'two', false}" })
assert.deepEqual(await many.addTo('script', 40), [40, 'two', null])
assert.equal(await redis.script('FLUSH'), 'OK')
assert.deepEqual(await Promise.all([many.addTo('script', 1), many.addTo('script', 1)]), [[41, 'two', null], [42, 'two', null]])
assert.deepEqual(await redis.multi().eval("return redis.call('GET', KEYS[1])", 1, 'script').exec(), [[null, '42']])

// waiting for lists, sorted sets and streams
const waiting = [connect(), connect(), connect()]
const waits = [waiting[0].blpop('jobs', 'other', 30), waiting[1].bzpopmin('scores', 30),
  waiting[2].xread('BLOCK', 30_000, 'STREAMS', 'log', '$')]
while ((await redis.info('clients')).match(/blocked_clients:(\d+)/)[1] !== '3') await new Promise((resolve) => setTimeout(resolve, 5))
await redis.pipeline().rpush('jobs', 'one', 'two').zadd('scores', 1.5, 'a').xadd('log', '1-1', 'f', 'v').exec()
assert.deepEqual(await Promise.all(waits), [['jobs', 'one'], ['scores', 'a', '1.5'], [['log', [['1-1', ['f', 'v']]]]]])
assert.deepEqual(await redis.lrange('jobs', 0, -1), ['two'])
assert.equal(await waiting[0].brpop('nothing', 0.01), null)

// databases
const second = connect({ db: 2 })
assert.equal(await second.get('greeting'), null)
await second.set('greeting', 'two')
assert.equal(await redis.get('greeting'), 'hello, world')

// errors
await assert.rejects(redis.incr('greeting'), { message: 'ERR value is not an integer or out of range' })
await assert.rejects(redis.lpush('greeting', 'x'), /^ReplyError: WRONGTYPE /)
await assert.rejects(redis.call('NOSUCH', 'a'), { message: "ERR unknown command 'NOSUCH', with args beginning with: 'a' " })
await assert.rejects(redis.call('GET'), { message: "ERR wrong number of arguments for 'get' command" })

// any bytes, any language
const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
await redis.set(bytes, bytes)
assert.deepEqual(await redis.getBuffer(bytes), bytes)
await redis.set('käse/チーズ/🧀', 'größe\r\n')
assert.equal(await redis.get('käse/チーズ/🧀'), 'größe\r\n')
const big = 'x'.repeat(1_000_000)
await redis.set('big', big)
assert.equal(await redis.get('big'), big)

// messages
const listener = connect()
const got = []
const enough = new Promise((resolve) => {
  listener.on('message', (channel, message) => got.push([channel, message]))
  listener.on('pmessage', (pattern, channel, message) => { if (got.push([pattern, channel, message]) === 5) resolve() })
})
assert.equal(await listener.subscribe('news', 'jobs'), 2)
assert.equal(await listener.psubscribe('n*'), 3)
await assert.rejects(listener.get('greeting'), /subscriber mode/)
assert.equal(await redis.publish('jobs', 'größe'), 1)
assert.equal(await redis.publish('news', 'hello'), 2)
assert.deepEqual(await redis.multi().publish('news', 'in multi').set('published', '1').exec(), [[null, 2], [null, 'OK']])
await enough
assert.deepEqual(got.slice(0, 3), [['jobs', 'größe'], ['news', 'hello'], ['n*', 'news', 'hello']])
assert.deepEqual((await redis.pubsub('CHANNELS')).sort(), ['jobs', 'news'])
assert.equal(await listener.unsubscribe('news', 'jobs'), 1)
assert.equal(await listener.punsubscribe('n*'), 0)
assert.equal(await listener.get('published'), '1')
listener.disconnect()

// a wrong password
const stranger = connect({ password: 'wrong', lazyConnect: true })
stranger.on('error', () => {})
await assert.rejects(stranger.connect().then(() => stranger.get('a')), /WRONGPASS|NOAUTH|closed/)
stranger.disconnect()

assert.equal(await redis.quit(), 'OK')
await Promise.all([many, second, ...waiting].map((client) => client.quit()))
