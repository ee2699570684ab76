// A chat on two servers with socket.io and its adapters for Redis: node chat.mjs HOST PORT PASSWORD.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createAdapter as createPubSub, createShardedAdapter } from '@socket.io/redis-adapter'
import { createAdapter as createStreams } from '@socket.io/redis-streams-adapter'
import { createClient } from 'redis'
import { Server } from 'socket.io'
import { io } from 'socket.io-client'
import { address, connect, event, until } from './server.mjs'

const { host, port, password } = address
const clients = []
const nodeRedis = async () => {
  const client = createClient({ socket: { host, port }, password })
  clients.push(client)
  return client.connect()
}
const ioRedis = () => {
  const client = connect()
  clients.push({ close: () => client.quit() })
  return client
}

const adapters = {
  'pub/sub of ioredis': () => createPubSub(ioRedis(), ioRedis(), { requestsTimeout: 30_000 }),
  'pub/sub of redis': async () => createPubSub(await nodeRedis(), await nodeRedis(), { requestsTimeout: 30_000 }),
  'sharded pub/sub': async () => createShardedAdapter(await nodeRedis(), await nodeRedis(), { subscriptionMode: 'dynamic' }),
  streams: async () => createStreams(await nodeRedis(), { streamName: 'chat', blockTimeInMs: 1000 }),
}

async function serve(adapter, adapterOptions) {
  const http = createServer()
  const server = new Server(http, { adapter: await adapter(), ...adapterOptions })
  server.on('connection', (socket) => {
    socket.on('join', async (room, joined) => {
      await socket.join(room)
      joined()
    })
    socket.on('say', (room, text) => socket.to(room).emit('said', text))
  })
  server.on('ask', (question, answer) => answer(`${question}!`))
  http.listen(0, '127.0.0.1')
  await event(http, 'listening')
  return { server, url: `http://127.0.0.1:${http.address().port}` }
}

async function visit({ url }) {
  const socket = io(url, { transports: ['websocket'], reconnection: false })
  await event(socket, 'connect')
  return socket
}

for (const [name, adapter] of Object.entries(adapters)) {
  const [here, there] = [await serve(adapter), await serve(adapter)]
  // The servers hear of each other by messages, too.
  await until(async () => await here.server.of('/').adapter.serverCount() === 2 && await there.server.of('/').adapter.serverCount() === 2)
  const [kitty, tom, felix] = [await visit(here), await visit(there), await visit(there)]

  // what is said in a room is heard there, and nowhere else
  const heard = { kitty: [], tom: [], felix: [] }
  for (const [who, socket] of Object.entries({ kitty, tom, felix })) socket.on('said', (text) => heard[who].push(text))
  await kitty.emitWithAck('join', 'sofa')
  await tom.emitWithAck('join', 'sofa')
  const said = event(tom, 'said')
  // The sharded adapter subscribes to a room's channel after it has said that somebody joined, so that
  // nobody may hear what is said at once.
  const say = () => kitty.emit('say', 'sofa', { text: 'größe 🐈', bytes: Buffer.from([0, 255]) })
  say()
  const saying = setInterval(say, 100)
  assert.deepEqual((await said)[0], { text: 'größe 🐈', bytes: Buffer.from([0, 255]) }, name)
  clearInterval(saying)
  const everybody = [kitty, tom, felix].map((socket) => event(socket, 'said', (text) => text === 'dinner'))
  there.server.emit('said', 'dinner')
  await Promise.all(everybody)
  assert.deepEqual([heard.kitty, heard.felix], [['dinner'], ['dinner']], name)

  // servers know each other's clients, and answer each other
  assert.equal((await here.server.fetchSockets()).length, 3, name)
  assert.equal((await there.server.in('sofa').fetchSockets()).length, 2, name)
  here.server.in(felix.id).socketsJoin('sofa')
  await until(async () => (await here.server.in('sofa').fetchSockets()).length === 3)
  there.server.on('ask', (question, answer) => answer(`${question}!`))
  assert.deepEqual(await here.server.serverSideEmitWithAck('ask', 'hungry'), ['hungry!'], name)
  kitty.on('purr', (answer) => answer('purr'))
  assert.deepEqual(await there.server.to(kitty.id).timeout(30_000).emitWithAck('purr'), ['purr'], name)

  const gone = event(tom, 'disconnect')
  here.server.in(tom.id).disconnectSockets()
  assert.equal((await gone)[0], 'io server disconnect', name)
  for (const socket of [kitty, felix]) socket.close()
  await Promise.all([here.server.close(), there.server.close()])
}

// a client that was away is sent what it missed
{
  const options = { connectionStateRecovery: { maxDisconnectionDuration: 60_000 } }
  const [here, there] = [await serve(adapters.streams, options), await serve(adapters.streams, options)]
  const kitty = await visit(here)
  const first = event(kitty, 'said')
  here.server.emit('said', 'first')
  await first
  const id = kitty.id
  kitty.io.engine.close()
  await until(async () => (await here.server.fetchSockets()).length === 0)
  there.server.emit('said', 'missed')
  const missed = event(kitty, 'said')
  kitty.io.uri = there.url
  kitty.connect()
  assert.equal((await missed)[0], 'missed')
  assert.deepEqual([kitty.recovered, kitty.id], [true, id])
  kitty.close()
  await Promise.all([here.server.close(), there.server.close()])
}
await Promise.all(clients.map((client) => client.close()))
process.exit() // the adapters keep timers of requests that were answered
