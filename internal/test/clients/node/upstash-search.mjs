// The search of @upstash/redis: node upstash-search.mjs URL TOKEN.
import assert from 'node:assert/strict'
import { Redis, s } from '@upstash/redis'

const [url, token] = process.argv.slice(2)
const redis = new Redis({ url, token, enableTelemetry: false, retry: false })
await redis.flushall()

// documents, some of which exist before the index
const schema = s.object({
  title: s.string(),
  raw: s.string().noTokenize().from('title'),
  price: s.number(),
  stock: s.number('U64'),
  sold: s.boolean().fast(),
  since: s.date().fast(),
  maker: s.object({ name: s.keyword() }),
  shelf: s.facet(),
})
const bike = { title: 'A red bicycle', price: 40, stock: 3, sold: false, since: '2026-05-01T10:00:00Z', maker: { name: 'Ada' }, shelf: '/sport/wheels' }
const cart = { title: 'Cart in red', price: 9.5, stock: 1, sold: true, since: '2026-06-01T00:00:00Z', maker: { name: 'Bob' }, shelf: '/garden' }
await redis.json.set('item:1', '$', bike)
const index = await redis.search.createIndex({ name: 'items', dataType: 'json', prefix: 'item:', schema })
await redis.json.set('item:2', '$', cart)
await redis.json.set('item:3', '$', { title: 'redd bicycles', price: 95, stock: 0, maker: { name: 'Cyd' }, shelf: '/sport' })
assert.equal(await index.waitIndexing(), 1)
await assert.rejects(redis.search.createIndex({ name: 'items', dataType: 'json', prefix: 'item:', schema }), /already exists/)
await redis.search.createIndex({ name: 'items', dataType: 'json', prefix: 'item:', schema, existsOk: true })
assert.deepEqual(await index.describe(), {
  name: 'items', dataType: 'json', prefixes: ['item:'], language: 'english',
  schema: {
    title: { type: 'TEXT' }, raw: { type: 'TEXT', noTokenize: true, from: 'title' }, price: { type: 'F64', fast: true }, stock: { type: 'U64', fast: true },
    sold: { type: 'BOOL', fast: true }, since: { type: 'DATE', fast: true }, 'maker.name': { type: 'KEYWORD' }, shelf: { type: 'FACET' },
  },
})
assert.equal(await redis.search.index({ name: 'none' }).describe(), null)

// filters
const keys = async (filter, options) => (await index.query({ filter, ...options })).map((hit) => hit.key)
assert.deepEqual(await keys({ title: 'red bicycl' }), ['item:1', 'item:3', 'item:2'])
assert.deepEqual(await keys({ title: { $eq: 'bicycle' }, price: { $gte: 20, $lt: 90 } }), ['item:1'])
assert.deepEqual(await keys({ title: { $phrase: { value: 'cart red', slop: 1 } } }), ['item:2'])
assert.deepEqual(await keys({ title: { $fuzzy: { value: 'bycicle', distance: 2 } } }, { orderBy: { price: 'ASC' } }), ['item:1', 'item:3'])
assert.deepEqual(await keys({ title: { $regex: 'bicyc.*' } }, { orderBy: { price: 'DESC' } }), ['item:3', 'item:1'])
assert.deepEqual(await keys({ raw: { $eq: 'Cart in red' } }), ['item:2'])
assert.deepEqual(await keys({ 'maker.name': { $in: ['Ada', 'Cyd'] } }), ['item:1', 'item:3'])
assert.deepEqual(await keys({ sold: true }), ['item:2'])
assert.deepEqual(await keys({ since: { $gt: new Date('2026-05-15') } }), ['item:2'])
assert.deepEqual(await keys({ shelf: '/sport' }), ['item:1', 'item:3'])
assert.deepEqual(await keys({ $should: [{ sold: true }, { price: 95, $boost: 5 }] }), ['item:3', 'item:2'])
assert.deepEqual(await keys({ $must: { title: { $regex: 'red.*' } }, $mustNot: { stock: 0 } }), ['item:1', 'item:2'])
assert.deepEqual(await keys({ $or: [{ price: 40 }, { price: 95 }] }, { limit: 1, offset: 1 }), ['item:3'])
await assert.rejects(index.query({ filter: { none: 1 } }), /none/)

// what a query returns
assert.deepEqual(await index.query({ filter: { price: 40 } }), [{ key: 'item:1', score: 1, data: bike }])
assert.deepEqual(await index.query({ filter: { price: 40 }, select: {} }), [{ key: 'item:1', score: 1 }])
assert.deepEqual(await index.query({ filter: { stock: 1 }, select: { 'maker.name': true, price: true, sold: true } }),
  [{ key: 'item:2', score: 1, data: { maker: { name: 'Bob' }, price: 9.5, sold: true } }])
assert.equal((await index.query({ filter: { title: { $eq: 'cart' } }, highlight: { fields: ['title'] } }))[0].data.title, '<em>Cart</em> in red')
assert.equal((await index.query({ filter: { title: { $eq: 'cart' } }, highlight: { fields: ['title'], preTag: '[', postTag: ']' } }))[0].data.title, '[Cart] in red')
assert.deepEqual((await index.query({ orderBy: { stock: 'ASC' }, select: {} })).map((hit) => hit.score), [0, 1, 3])
assert.deepEqual((await index.query({ filter: { price: { $gt: 0 } }, select: {}, scoreFunc: { scoreMode: 'multiply', fields: [{ field: 'stock', factor: 2 }] } }))
  .map((hit) => [hit.key, hit.score]), [['item:1', 6], ['item:2', 2], ['item:3', 0]])
assert.deepEqual(await index.count({ filter: { title: { $eq: 'red' } } }), { count: 2 })

// aggregations
const found = await index.aggregate({
  filter: { price: { $gt: 0 } },
  aggregations: {
    mean: { $avg: { field: 'price' } },
    all: { $stats: { field: 'stock' } },
    parts: { $percentiles: { field: 'price', percents: [50] } },
    makers: { $terms: { field: 'maker.name', size: 2 }, $aggs: { top: { $max: { field: 'price' } } } },
    ranges: { $range: { field: 'price', ranges: [{ to: 20 }, { from: 20 }] } },
    steps: { $histogram: { field: 'price', interval: 50 } },
    shelves: { $facet: { field: 'shelf', path: '/' } },
  },
})
assert.deepEqual(found.mean, { value: 144.5 / 3 })
assert.deepEqual(found.all, { count: 3, min: 0, max: 3, sum: 4, avg: 4 / 3 })
assert.deepEqual(found.parts, { values: { '50.0': 40 } })
assert.deepEqual(found.makers, {
  buckets: [{ key: 'Ada', docCount: 1, top: { value: 40 } }, { key: 'Bob', docCount: 1, top: { value: 9.5 } }], sumOtherDocCount: 1, docCountErrorUpperBound: 0,
})
assert.deepEqual(found.ranges.buckets.map((b) => [b.key, Number(b.from ?? 0), Number(b.to ?? 0), b.docCount]), [['*-20', 0, 20, 1], ['20-*', 20, 0, 2]])
assert.deepEqual(found.steps.buckets.map((b) => [Number(b.key), b.docCount]), [[0, 2], [50, 1]])
assert.deepEqual(found.shelves.children.map((c) => [c.path, c.docCount]), [['/sport', 2], ['/garden', 1]])
await assert.rejects(index.aggregate({ aggregations: { mean: { $avg: { field: 'title' } } } }), /title/)

// hashes and strings, within one pipeline
const users = await redis.search.createIndex({ name: 'users', dataType: 'hash', prefix: ['user:', 'person:'], language: 'german', schema: { name: 'TEXT', age: { type: 'U64', fast: true } } })
const notes = await redis.search.createIndex({ name: 'notes', dataType: 'string', prefix: 'note:', schema: { text: 'TEXT' } })
await Promise.all([redis.hset('user:1', { name: 'Zwei Häuser', age: 41 }), redis.set('note:1', { text: 'remember the milk' }), redis.set('note:2', 'plain')])
assert.deepEqual((await users.query({ filter: { name: { $eq: 'Haus' } } })).map((hit) => hit.data), [{ name: 'Zwei Häuser', age: 41 }])
assert.deepEqual((await notes.query({ filter: { text: { $eq: 'remembers' } } })).map((hit) => hit.data), [{ text: 'remember the milk' }])
assert.deepEqual(await notes.count({ filter: {} }), { count: 1 })

// other names
assert.equal(await index.addAlias({ alias: 'shop' }), 1)
assert.equal(await redis.search.alias.add({ indexName: 'users', alias: 'shop' }), 2)
assert.deepEqual(await redis.search.alias.list(), { shop: 'users' })
assert.deepEqual(await redis.search.index({ name: 'shop' }).count({ filter: {} }), { count: 1 })
assert.equal(await redis.search.alias.delete({ alias: 'shop' }), 1)
assert.equal(await redis.search.alias.delete({ alias: 'shop' }), 0)
assert.deepEqual(await redis.search.alias.list(), {})
assert.equal(await index.drop(), 1)
assert.equal(await index.drop(), 0)
assert.equal(await index.query({ filter: {} }), null)
assert.deepEqual(await redis.json.get('item:1'), bike)
