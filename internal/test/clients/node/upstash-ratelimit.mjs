// Every algorithm of @upstash/ratelimit: node upstash-ratelimit.mjs URL TOKEN.
import assert from 'node:assert/strict'
import { Analytics, MultiRegionRatelimit, Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'

const [url, token] = process.argv.slice(2)
const redis = new Redis({ url, token, enableTelemetry: false, retry: false })

// Windows begin at multiples of their length; while one lasts, no test sees it end.
const long = '1000 d'
const algorithms = {
  fixedWindow: Ratelimit.fixedWindow(3, long),
  slidingWindow: Ratelimit.slidingWindow(3, long),
  tokenBucket: Ratelimit.tokenBucket(3, long, 3),
  cachedFixedWindow: Ratelimit.cachedFixedWindow(3, long),
}
for (const [name, limiter] of Object.entries(algorithms)) {
  const limit = new Ratelimit({ redis, limiter, prefix: name, analytics: true, ephemeralCache: new Map() })
  for (const remaining of [2, 1, 0]) {
    const answer = await limit.limit('kitty')
    await answer.pending
    assert.deepEqual([answer.success, answer.limit, answer.remaining], [true, 3, remaining], name)
    assert.ok(answer.reset > Date.now() && answer.reset <= Date.now() + 1000 * 86_400_000, name)
  }
  const refused = await limit.limit('kitty')
  await refused.pending
  assert.equal(refused.success, false, name)
  assert.equal((await limit.limit('tom')).success, true, name)
  assert.equal((await limit.getRemaining('kitty')).remaining, 0, name)
  await limit.resetUsedTokens('kitty')
  assert.equal((await limit.getRemaining('kitty')).remaining, 3, name)
}

// many at once; a weight of its own
for (const name of ['fixedWindow', 'slidingWindow', 'tokenBucket']) {
  const limit = new Ratelimit({ redis, limiter: algorithms[name], prefix: `${name}:crowd`, ephemeralCache: false })
  const answers = await Promise.all(Array.from({ length: 20 }, () => limit.limit('crowd')))
  assert.equal(answers.filter((answer) => answer.success).length, 3, name)
  assert.equal((await limit.limit('heavy', { rate: 2 })).remaining, 1, name)
  assert.equal((await limit.limit('heavy', { rate: 2 })).success, false, name)
}

// a short window passes; whoever waits gets in
{
  const limit = new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(1, '300 ms'), prefix: 'short', ephemeralCache: false })
  const began = Date.now()
  for (let i = 0; i < 3; i++) assert.equal((await limit.blockUntilReady('kitty', 30_000)).success, true)
  assert.ok(Date.now() - began >= 300, 'three windows of 300 ms went by too soon')
}

// the limits for several regions, of which there is one here
for (const [name, limiter] of Object.entries({
  fixedWindow: MultiRegionRatelimit.fixedWindow(3, long), slidingWindow: MultiRegionRatelimit.slidingWindow(3, long),
})) {
  const limit = new MultiRegionRatelimit({ redis: [redis], limiter, prefix: `regions:${name}`, ephemeralCache: false })
  for (const want of [[true, 2], [true, 1], [true, 0], [false, 0]]) {
    const answer = await limit.limit('kitty')
    await answer.pending
    assert.deepEqual([answer.success, Math.max(answer.remaining, 0)], want, name)
  }
}

// who is denied, and who was counted
{
  const limit = new Ratelimit({ redis, limiter: algorithms.fixedWindow, prefix: 'denied', enableProtection: true, ephemeralCache: false })
  await redis.set('denied:ipDenyListStatus', 'valid', { ex: 3600 }) // so that no public list is fetched
  await redis.sadd('denied:denyList:all', '10.1.2.3')
  const answer = await limit.limit('tom', { ip: '10.1.2.3' })
  await answer.pending
  assert.deepEqual([answer.success, answer.reason, answer.deniedValue], [false, 'denyList', '10.1.2.3'])

  const analytics = new Analytics({ redis, prefix: 'fixedWindow' })
  const usage = await analytics.getUsage(Date.now() - 3_600_000)
  assert.deepEqual(usage.kitty, { success: 3, blocked: 1 })
}
