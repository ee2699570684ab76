// redis-om, with the client that it depends on: node redis-om.mjs HOST PORT PASSWORD.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { EntityId, Repository, Schema } from 'redis-om'

const { createClient } = createRequire(import.meta.resolve('redis-om'))('redis')
const [host, port, password] = process.argv.slice(2)
const redis = createClient({ socket: { host, port: Number(port), reconnectStrategy: false }, password })
await redis.connect()
await redis.flushAll()

for (const dataStructure of ['HASH', 'JSON']) {
  const albums = new Repository(new Schema(`album-${dataStructure}`, {
    artist: { type: 'string' },
    title: { type: 'text' },
    year: { type: 'number', sortable: true },
    genres: { type: 'string[]' },
    outOfPublication: { type: 'boolean' },
    released: { type: 'date' },
    studio: { type: 'point' },
  }, { dataStructure }), redis)
  await albums.createIndex()
  await albums.createIndex() // changes nothing

  const saved = await albums.save({
    artist: 'Mushroomhead', title: 'The Righteous & The Butterfly', year: 2014, genres: ['metal', 'hard rock'],
    outOfPublication: true, released: new Date('2014-05-13T00:00:00Z'), studio: { longitude: -81.7, latitude: 41.5 },
  })
  const id = saved[EntityId]
  await albums.save('other', { artist: 'Sleater Kinney', title: 'Dig Me Out', year: 1997, genres: ['punk'], outOfPublication: false, released: new Date('1997-04-08T00:00:00Z'), studio: { longitude: -122.3, latitude: 47.6 } })
  const read = await albums.fetch(id)
  assert.deepEqual([read.artist, read.year, read.genres, read.outOfPublication], ['Mushroomhead', 2014, ['metal', 'hard rock'], true])
  assert.equal(read.released.toISOString(), '2014-05-13T00:00:00.000Z')

  const ids = async (search) => (await search.return.all()).map((a) => a[EntityId]).sort()
  const both = [id, 'other'].sort()
  assert.deepEqual(await ids(albums.search()), both)
  assert.equal(await albums.search().return.count(), 2)
  assert.deepEqual(await ids(albums.search().where('artist').equals('Mushroomhead')), [id])
  assert.deepEqual(await ids(albums.search().where('artist').equals('Sleater Kinney')), ['other'])
  assert.deepEqual(await ids(albums.search().where('artist').not.equals('Mushroomhead')), ['other'])
  assert.deepEqual(await ids(albums.search().where('title').matches('butterfly')), [id])
  assert.deepEqual(await ids(albums.search().where('title').matchesExactly('dig me out')), ['other'])
  assert.deepEqual(await ids(albums.search().where('title').matches('righteou*')), [id])
  assert.deepEqual(await ids(albums.search().where('year').is.between(1990, 2000)), ['other'])
  assert.deepEqual(await ids(albums.search().where('year').gt(1997)), [id])
  assert.deepEqual(await ids(albums.search().where('genres').contains('hard rock')), [id])
  assert.deepEqual(await ids(albums.search().where('genres').containsOneOf('metal', 'punk')), both)
  assert.deepEqual(await ids(albums.search().where('outOfPublication').is.true()), [id])
  assert.deepEqual(await ids(albums.search().where('outOfPublication').false()), ['other'])
  assert.deepEqual(await ids(albums.search().where('released').after(new Date('2000-01-01T00:00:00Z'))), [id])
  assert.deepEqual(await ids(albums.search().where('studio').inRadius((c) => c.longitude(-81).latitude(41).radius(200).miles)), [id])
  assert.deepEqual(await ids(albums.search().where('artist').equals('Mushroomhead').and('year').gte(2014).or('year').eq(1997)), both)
  assert.deepEqual((await albums.search().sortBy('year', 'DESC').return.page(0, 1)).map((a) => a.year), [2014])
  assert.equal((await albums.search().sortAscending('year').return.first()).year, 1997)
  assert.equal((await albums.search().return.min('year')).year, 1997)
  assert.deepEqual((await albums.search().return.allIds()).sort(), both)
  await albums.remove(id)
  assert.equal(await albums.search().return.count(), 1)
  await albums.dropIndex()
  await assert.rejects(albums.search().return.all())
}
await redis.quit()
