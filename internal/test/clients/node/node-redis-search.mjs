// The search commands of redis: node node-redis-search.mjs HOST PORT PASSWORD.
import assert from 'node:assert/strict'
import { createClient, SCHEMA_FIELD_TYPE, SCHEMA_VECTOR_FIELD_ALGORITHM, FT_AGGREGATE_GROUP_BY_REDUCERS, FT_AGGREGATE_STEPS } from 'redis'

const [host, port, password] = process.argv.slice(2)
const redis = createClient({ socket: { host, port: Number(port), reconnectStrategy: false }, password })
await redis.connect()
await redis.flushAll()

const vector = (...numbers) => Buffer.from(new Float32Array(numbers).buffer)

// hashes
assert.equal(await redis.ft.create('shop', {
  name: { type: SCHEMA_FIELD_TYPE.TEXT, WEIGHT: 2 },
  kind: { type: SCHEMA_FIELD_TYPE.TAG, SEPARATOR: ';', SORTABLE: true },
  price: { type: SCHEMA_FIELD_TYPE.NUMERIC, SORTABLE: true },
  place: SCHEMA_FIELD_TYPE.GEO,
  look: { type: SCHEMA_FIELD_TYPE.VECTOR, ALGORITHM: SCHEMA_VECTOR_FIELD_ALGORITHM.HNSW, TYPE: 'FLOAT32', DIM: 2, DISTANCE_METRIC: 'COSINE' },
}, { ON: 'HASH', PREFIX: 'product:' }), 'OK')
await redis.hSet('product:1', { name: 'red running shoes', kind: 'shoe;sport', price: 50, place: '2.35,48.85', look: vector(1, 0) })
await redis.hSet('product:2', { name: 'blue hat', kind: 'hat', price: 15, place: '13.4,52.52', look: vector(0, 1) })
await redis.hSet('product:3', { name: 'a hat for runners', kind: 'hat', price: 20, place: '2.36,48.86', look: vector(1, 1) })

assert.deepEqual(await redis.ft._list(), ['shop'])
let found = await redis.ft.search('shop', '@kind:{hat} @price:[10 18]', { RETURN: ['name', 'price'] })
assert.equal(found.total, 1)
assert.equal(found.documents[0].id, 'product:2')
assert.deepEqual({ ...found.documents[0].value }, { name: 'blue hat', price: '15' })
found = await redis.ft.search('shop', 'run*', { SORTBY: { BY: 'price', DIRECTION: 'DESC' }, LIMIT: { from: 0, size: 1 }, RETURN: 'name' })
assert.deepEqual([found.total, found.documents.map((d) => d.id)], [2, ['product:1']])
found = await redis.ft.searchNoContent('shop', '@place:[2.35 48.85 5 km]', { SORTBY: 'price' })
assert.deepEqual(found, { total: 2, documents: ['product:3', 'product:1'] })
found = await redis.ft.search('shop', '*=>[KNN 2 @look $like AS distance]', {
  PARAMS: { like: vector(1, 0) }, SORTBY: 'distance', RETURN: ['distance'], DIALECT: 2,
})
assert.deepEqual(found.documents.map((d) => d.id), ['product:1', 'product:3'])
assert.ok(Math.abs(Number(found.documents[1].value.distance) - 0.2929) < 0.001)
found = await redis.ft.search('shop', 'hat', { HIGHLIGHT: { FIELDS: 'name', TAGS: { open: '[', close: ']' } }, RETURN: 'name', SORTBY: 'price' })
assert.equal(found.documents[0].value.name, 'blue [hat]')
await assert.rejects(redis.ft.search('none', '*'), /no such index/i)
await assert.rejects(redis.ft.search('shop', '@kind:{'), /syntax error/i)

// facts about the index
const info = await redis.ft.info('shop')
assert.equal(info.index_name, 'shop')
assert.equal(Number(info.num_docs), 3)
assert.deepEqual(info.attributes.map((a) => a.attribute), ['name', 'kind', 'price', 'place', 'look'])
assert.deepEqual((await redis.ft.tagVals('shop', 'kind')).sort(), ['hat', 'shoe', 'sport'])
assert.match(await redis.ft.explain('shop', 'red hat'), /INTERSECT/)
assert.equal(await redis.ft.alter('shop', { note: { type: SCHEMA_FIELD_TYPE.TEXT, SORTABLE: true } }), 'OK')
assert.equal(await redis.ft.aliasAdd('store', 'shop'), 'OK')
assert.equal((await redis.ft.search('store', 'blue', { LIMIT: { from: 0, size: 0 } })).total, 1)
assert.equal(await redis.ft.aliasUpdate('store', 'shop'), 'OK')
assert.equal(await redis.ft.aliasDel('store'), 'OK')

// groups
const groups = await redis.ft.aggregate('shop', '*', {
  STEPS: [
    { type: FT_AGGREGATE_STEPS.GROUPBY, properties: '@kind', REDUCE: [
      { type: FT_AGGREGATE_GROUP_BY_REDUCERS.COUNT, AS: 'n' }, { type: FT_AGGREGATE_GROUP_BY_REDUCERS.AVG, property: 'price', AS: 'mean' },
    ] },
    { type: FT_AGGREGATE_STEPS.APPLY, expression: '@mean * 2', AS: 'twice' },
    { type: FT_AGGREGATE_STEPS.SORTBY, BY: '@kind' },
  ],
})
assert.deepEqual(groups.results.map((r) => ({ ...r })), [
  { kind: 'hat', n: '2', mean: '17.5', twice: '35' }, { kind: 'shoe;sport', n: '1', mean: '50', twice: '100' },
])
let page = await redis.ft.aggregateWithCursor('shop', '*', { LOAD: ['@name'], COUNT: 2 })
let names = page.results.map((r) => r.name)
while (Number(page.cursor) !== 0) {
  page = await redis.ft.cursorRead('shop', Number(page.cursor), { COUNT: 2 })
  names = names.concat(page.results.map((r) => r.name))
}
assert.deepEqual(names.sort(), ['a hat for runners', 'blue hat', 'red running shoes'])

// words
assert.equal(await redis.ft.synUpdate('shop', 'colours', ['red', 'crimson']), 'OK')
assert.deepEqual({ ...await redis.ft.synDump('shop') }, { red: ['colours'], crimson: ['colours'] })
assert.equal((await redis.ft.search('shop', 'crimson', { RETURN: 'name' })).total, 1)
assert.equal(await redis.ft.dictAdd('words', ['hatt', 'shoo']), 2)
assert.deepEqual((await redis.ft.dictDump('words')).sort(), ['hatt', 'shoo'])
assert.equal(await redis.ft.dictDel('words', 'shoo'), 1)
assert.deepEqual((await redis.ft.spellCheck('shop', 'hot')).map((s) => s.suggestions.map((x) => x.suggestion)), [['hat']])
assert.equal(await redis.ft.sugAdd('names', 'Red running shoes', 3), 1)
assert.equal(await redis.ft.sugAdd('names', 'Red hat', 1), 2)
assert.deepEqual((await redis.ft.sugGet('names', 'red')).sort(), ['Red hat', 'Red running shoes'])
assert.equal(await redis.ft.sugLen('names'), 2)
assert.equal(await redis.ft.sugDel('names', 'Red hat'), 1)

// documents
assert.equal(await redis.ft.create('books', {
  '$.title': { type: SCHEMA_FIELD_TYPE.TEXT, AS: 'title' },
  '$.tags[*]': { type: SCHEMA_FIELD_TYPE.TAG, AS: 'tags' },
  '$.year': { type: SCHEMA_FIELD_TYPE.NUMERIC, AS: 'year' },
}, { ON: 'JSON', PREFIX: 'book:' }), 'OK')
await redis.json.set('book:1', '$', { title: 'On cats', tags: ['cat', 'pet'], year: 1967 })
await redis.json.set('book:2', '$', { title: 'On dogs', tags: ['dog', 'pet'], year: 1980 })
found = await redis.ft.search('books', '@tags:{cat} @year:[1960 1970]')
assert.deepEqual(found.documents.map((d) => [d.id, { ...d.value }]), [['book:1', { title: 'On cats', tags: ['cat', 'pet'], year: 1967 }]])
assert.equal(await redis.ft.dropIndex('books', { DD: true }), 'OK')
assert.equal(await redis.exists('book:1'), 0)
assert.equal(await redis.ft.dropIndex('shop'), 'OK')
assert.equal(await redis.exists('product:1'), 1)
await redis.close()
