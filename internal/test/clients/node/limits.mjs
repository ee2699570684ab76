// Limits and locks with rate-limiter-flexible and redlock: node limits.mjs HOST PORT PASSWORD.
import assert from 'node:assert/strict'
import limiters from 'rate-limiter-flexible'
import Redlock from 'redlock'
import { createClient } from 'redis'
import { address, connect, until } from './server.mjs'

const { BurstyRateLimiter, RateLimiterQueue, RateLimiterRedis, RateLimiterUnion } = limiters
const redis = connect()

// so many points in so many seconds; what is too much is refused and told when to come again
{
  const limiter = new RateLimiterRedis({ storeClient: redis, keyPrefix: 'login', points: 3, duration: 60 })
  const first = await limiter.consume('kitty')
  assert.deepEqual([first.consumedPoints, first.remainingPoints, first.isFirstInDuration], [1, 2, true])
  assert.ok(first.msBeforeNext > 50_000 && first.msBeforeNext <= 60_000)
  assert.equal((await limiter.consume('kitty', 2)).remainingPoints, 0)
  await assert.rejects(limiter.consume('kitty'), (res) => res.remainingPoints === 0 && res.consumedPoints === 4)
  assert.equal((await limiter.consume('tom')).remainingPoints, 2)
  assert.equal((await limiter.reward('kitty', 2)).consumedPoints, 2)
  assert.equal((await limiter.penalty('tom', 2)).consumedPoints, 3)
  assert.equal((await limiter.get('kitty')).consumedPoints, 2)
  await limiter.set('kitty', 7, 30)
  assert.equal((await limiter.get('kitty')).consumedPoints, 7)
  assert.equal(await limiter.delete('kitty'), true)
  assert.equal(await limiter.get('kitty'), null)

  // Of many at once as many pass as may.
  const tries = await Promise.allSettled(Array.from({ length: 20 }, () => limiter.consume('crowd')))
  assert.equal(tries.filter((one) => one.status === 'fulfilled').length, 3)
}

// whoever was refused stays out for longer
{
  const limiter = new RateLimiterRedis({ storeClient: redis, keyPrefix: 'block', points: 1, duration: 60, blockDuration: 600 })
  await limiter.consume('kitty')
  await assert.rejects(limiter.consume('kitty'), (res) => res.msBeforeNext > 590_000)
  assert.ok(await redis.pttl('block:kitty') > 590_000)
}

// with a window that goes by, a burst, a union, and a queue of those who wait
{
  const short = new RateLimiterRedis({ storeClient: redis, keyPrefix: 'short', points: 1, duration: 1 })
  const began = performance.now()
  await short.consume('kitty')
  let refused = 0
  await until(() => short.consume('kitty').then(() => true, () => { refused++; return false }))
  assert.ok(refused > 0 && performance.now() - began >= 900, 'a window went by too soon')

  const bursty = new BurstyRateLimiter(
    new RateLimiterRedis({ storeClient: redis, keyPrefix: 'steady', points: 1, duration: 60 }),
    new RateLimiterRedis({ storeClient: redis, keyPrefix: 'burst', points: 2, duration: 600 }))
  for (let i = 0; i < 3; i++) await bursty.consume('kitty')
  await assert.rejects(bursty.consume('kitty'))

  const union = new RateLimiterUnion(
    new RateLimiterRedis({ storeClient: redis, keyPrefix: 'minute', points: 1, duration: 60 }),
    new RateLimiterRedis({ storeClient: redis, keyPrefix: 'hour', points: 5, duration: 3600 }))
  await union.consume('kitty')
  await assert.rejects(union.consume('kitty'), (res) => res.minute.remainingPoints === 0)

  const queue = new RateLimiterQueue(new RateLimiterRedis({ storeClient: redis, keyPrefix: 'queue', points: 2, duration: 1 }), { maxQueueSize: 2 })
  await Promise.all([queue.removeTokens(1), queue.removeTokens(1), queue.removeTokens(1)])
  assert.equal(await queue.getTokensRemaining(), 1)
}

// the same with redis, the other client
{
  const { host, port, password } = address
  const client = createClient({ socket: { host, port }, password })
  await client.connect()
  const limiter = new RateLimiterRedis({ storeClient: client, useRedisPackage: true, keyPrefix: 'other', points: 2, duration: 60 })
  await limiter.consume('kitty', 2)
  await assert.rejects(limiter.consume('kitty'), (res) => res.consumedPoints === 3)
  await client.close()
}

// one lock that one has, the others want, and that is let go of or runs out
{
  const locks = new Redlock([redis], { retryCount: 500, retryDelay: 10, retryJitter: 5 })
  const hasty = new Redlock([redis], { retryCount: 0 })
  const lock = await locks.lock(['lock:a', 'lock:b'], 60_000)
  await assert.rejects(hasty.lock('lock:b', 1000), { name: 'LockError' })
  const longer = await lock.extend(120_000)
  assert.ok(await redis.pttl('lock:a') > 110_000)
  await longer.unlock()
  assert.equal(await redis.exists('lock:a', 'lock:b'), 0)
  await assert.rejects(longer.unlock(), { name: 'LockError' })
  await hasty.lock('lock:b', 100)
  await (await locks.lock('lock:b', 60_000)).unlock() // once the first has run out

  let inside = 0
  let visits = 0
  await Promise.all(Array.from({ length: 10 }, async () => {
    const lock = await locks.lock('lock:room', 60_000)
    assert.equal(++inside, 1)
    await redis.incr('visits')
    visits++
    inside--
    await lock.unlock()
  }))
  assert.deepEqual([visits, await redis.get('visits')], [10, '10'])
}

await redis.quit()
