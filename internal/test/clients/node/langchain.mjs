// The vector store of @langchain/redis: node langchain.mjs HOST PORT PASSWORD. It uses only what its README does.
import assert from 'node:assert/strict'
import { createClient } from 'redis'
import { Document } from '@langchain/core/documents'
import { FluentRedisVectorStore, Num, RedisVectorStore, Tag, Text } from '@langchain/redis'

const [host, port, password] = process.argv.slice(2)
const redisClient = createClient({ socket: { host, port: Number(port), reconnectStrategy: false }, password })
await redisClient.connect()
await redisClient.flushAll()

// An embedding counts words by their letters.
const embed = (text) => {
  const vector = new Array(8).fill(0)
  for (const word of text.toLowerCase().split(/\W+/).filter(Boolean)) vector[[...word].reduce((sum, ch) => sum + ch.charCodeAt(0), 0) % 8]++
  return vector
}
const embeddings = { embedQuery: async (text) => embed(text), embedDocuments: async (texts) => texts.map(embed) }
const documents = [
  new Document({ pageContent: 'red running shoes', metadata: { kind: 'shoe', price: 50, note: 'good for runners' } }),
  new Document({ pageContent: 'blue winter hat', metadata: { kind: 'hat', price: 15, note: 'warm' } }),
  new Document({ pageContent: 'a red hat', metadata: { kind: 'hat', price: 20, note: 'light' } }),
]
const texts = (found) => found.map((d) => d.pageContent)

for (const ALGORITHM of ['FLAT', 'HNSW']) {
  const indexName = `docs-${ALGORITHM}`
  const store = new RedisVectorStore(embeddings, { redisClient, indexName, indexOptions: { ALGORITHM, DISTANCE_METRIC: 'COSINE' } })
  await store.addDocuments(documents)
  assert.equal(await store.checkIndexExists(), true)
  const found = await store.similaritySearchWithScore('red shoes', 2)
  assert.deepEqual(found.map(([d]) => d.pageContent), ['red running shoes', 'a red hat'])
  assert.deepEqual(found[0][0].metadata, documents[0].metadata)
  assert.ok(Math.abs(found[0][1] - (1 - 2 / Math.sqrt(6))) < 1e-6)
  assert.deepEqual(texts(await store.similaritySearch('red shoes', 3, ['"kind":"shoe"'])), ['red running shoes'])
  assert.deepEqual(texts(await store.asRetriever(1).invoke('blue winter hat')), ['blue winter hat'])
  await store.delete({ deleteAll: true })
  assert.deepEqual([await redisClient.ft._list(), await redisClient.keys(`doc:${indexName}:*`)], [[], []])
}

const store = new FluentRedisVectorStore(embeddings, {
  redisClient, indexName: 'fluent', customSchema: [{ name: 'kind', type: 'tag' }, { name: 'price', type: 'numeric' }, { name: 'note', type: 'text' }],
})
await store.addDocuments(documents)
assert.deepEqual(texts(await store.similaritySearch('hat', 5, Tag('kind').eq('hat').and(Num('price').lt(20)))), ['blue winter hat'])
assert.deepEqual(texts(await store.similaritySearch('hat', 5, Tag('kind').ne('hat'))), ['red running shoes'])
assert.deepEqual(texts(await store.similaritySearch('hat', 5, Text('note').match('runner'))), ['red running shoes'])
await redisClient.close()
