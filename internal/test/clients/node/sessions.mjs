// Sessions of a web site with express-session and connect-redis: node sessions.mjs HOST PORT PASSWORD.
// Two processes of the site share them.
import assert from 'node:assert/strict'
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { createClient } from 'redis'
import { address, event } from './server.mjs'

const { host, port, password } = address
const client = createClient({ socket: { host, port }, password })
await client.connect()
const store = new RedisStore({ client, prefix: 'sess:', ttl: 3600 })

async function site() {
  const app = express()
  app.use(session({ store, secret: 'a secret', resave: false, saveUninitialized: false, rolling: true }))
  app.get('/login/:name', (req, res) => {
    req.session.name = req.params.name
    req.session.cart = []
    res.send('hello')
  })
  app.get('/buy/:what', (req, res) => {
    req.session.cart.push(req.params.what)
    res.json(req.session.cart)
  })
  app.get('/who', (req, res) => res.send(req.session.name ?? 'a stranger'))
  app.get('/logout', (req, res) => req.session.destroy(() => res.send('bye')))
  const server = app.listen(0, '127.0.0.1')
  await event(server, 'listening')
  return server
}
const sites = await Promise.all([site(), site()])

async function get(i, path, cookie) {
  const res = await fetch(`http://127.0.0.1:${sites[i].address().port}${path}`, { headers: cookie ? { cookie } : {} })
  assert.equal(res.status, 200, path)
  return { text: await res.text(), cookie: res.headers.get('set-cookie')?.split(';')[0] }
}

assert.equal((await get(0, '/who')).text, 'a stranger')
assert.equal(await store.length(), 0)
const { cookie } = await get(0, '/login/kitty')
assert.equal((await get(1, '/who', cookie)).text, 'kitty')
await get(0, '/buy/milk', cookie)
assert.equal((await get(1, '/buy/fish', cookie)).text, '["milk","fish"]')
assert.equal((await get(1, '/who', (await get(0, '/login/tom')).cookie)).text, 'tom')
assert.equal(await store.length(), 2)
assert.deepEqual((await store.all()).map((session) => session.name).sort(), ['kitty', 'tom'])
const ids = await store.ids()
assert.equal(ids.length, 2)
for (const id of ids) {
  const ttl = await client.ttl(`sess:${id}`)
  assert.ok(ttl > 3500 && ttl <= 3600, `a session lives for ${ttl} s`)
}
await client.expire(`sess:${ids[0]}`, 5)
await store.touch(ids[0], await store.get(ids[0]))
assert.ok(await client.ttl(`sess:${ids[0]}`) > 3500, 'a session that is used lives on')

assert.equal((await get(0, '/logout', cookie)).text, 'bye')
assert.equal((await get(1, '/who', cookie)).text, 'a stranger')
assert.equal(await store.length(), 1)
await store.clear()
assert.equal(await store.length(), 0)

for (const server of sites) {
  server.close()
  server.closeAllConnections()
}
await client.close()
