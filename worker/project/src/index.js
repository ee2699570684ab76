// The Worker: authenticates requests and forwards each to its database. Every database is a separate Durable Object.
export { Meowdis } from './object.js'

const NAMES = 'Upstash-Sync-Token, Meowdis-Database, Meowdis-Pipeline'
const SET_TOKEN = 'ERR this Worker has no token: run npx wrangler secret put MEOWDIS_TOKEN'
const NO_TOKEN = 'WRONGPASS invalid or missing auth token'

export default {
  async fetch(request, env) {
    const url = new URL(request.url)
    if (url.pathname === '/healthz') return new Response('ok\n')
    const origin = crossOrigin(request, env)
    if (request.method === 'OPTIONS' && origin && request.headers.has('access-control-request-method')) return asked(request, origin)
    const response = await answer(request, env, url)
    if (!origin) return response
    const open = new Response(response.body, response)
    for (const [name, value] of Object.entries(origin)) open.headers.append(name, value)
    open.headers.set('access-control-expose-headers', NAMES)
    return open
  },
}

async function answer(request, env, url) {
  if (!['GET', 'HEAD', 'POST', 'PUT'].includes(request.method)) {
    return refused(405, 'ERR method not allowed', { allow: 'GET, HEAD, POST, PUT' })
  }
  let grants
  try {
    grants = await (known.get(env) ?? granted(env))
    known.set(env, grants)
  } catch (e) {
    return refused(500, `ERR ${e.message}`)
  }
  if (grants.length === 0) return refused(500, SET_TOKEN)
  const grant = await holder(grants, givenToken(request, url))
  if (!grant) return refused(401, NO_TOKEN)
  const headers = new Headers(request.headers)
  headers.set('meowdis-role', grant.role)
  return env.DATABASE.getByName(grant.name).fetch(new Request(request, { headers }))
}

const known = new WeakMap() // grants by environment

/** Returns the grants of all tokens, for the database "default" and the databases in MEOWDIS_DATABASES. */
async function granted(env) {
  const all = []
  const add = (token, name, role) => {
    if (token) all.push({ token: digest(token), name, role })
  }
  add(env.MEOWDIS_TOKEN, 'default', 'write')
  add(env.MEOWDIS_READ_ONLY_TOKEN, 'default', 'read')
  add(env.MEOWDIS_STORAGE_TOKEN, 'default', 'storage')
  for (const [name, own] of Object.entries(databases(env))) {
    if (typeof own === 'string') {
      add(own, name, 'write')
    } else {
      add(own.token, name, 'write')
      add(own.readOnlyToken, name, 'read')
      add(own.storageToken, name, 'storage')
    }
  }
  return Promise.all(all.map(async (grant) => ({ ...grant, token: await grant.token })))
}

/** Parses MEOWDIS_DATABASES, which is a secret, or a variable that is already decoded from JSON. */
function databases(env) {
  let all = env.MEOWDIS_DATABASES ?? {}
  try {
    if (typeof all === 'string') all = JSON.parse(all || '{}')
  } catch {
    all = undefined
  }
  const object = (v) => typeof v === 'object' && v !== null && !Array.isArray(v)
  if (object(all) && Object.values(all).every((own) => typeof own === 'string' || object(own))) return all
  throw new Error('MEOWDIS_DATABASES must be a JSON object of names and tokens, {"cats":"TOKEN"}')
}

/** Returns the grant of a token. It compares all tokens in constant time. */
async function holder(grants, token) {
  const given = await digest(token)
  let found
  for (const grant of grants) {
    if (crypto.subtle.timingSafeEqual(grant.token, given)) found = grant
  }
  return found
}

const digest = (text) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))

/** Returns the token of the Authorization header, or else of the query. */
function givenToken(request, url) {
  const [scheme, credentials] = (request.headers.get('authorization') ?? '').split(/ (.*)/s)
  if (scheme.toLowerCase() === 'bearer') return (credentials ?? '').trim()
  return url.searchParams.get('_token') ?? ''
}

/** Returns the CORS headers for a request from a permitted origin. */
function crossOrigin(request, env) {
  const origin = request.headers.get('origin')
  const permitted = (env.MEOWDIS_ALLOW_ORIGINS ?? '').split(/[\s,]+/).filter(Boolean)
  if (!origin || permitted.length === 0) return
  if (permitted.includes('*')) return { vary: 'Origin', 'access-control-allow-origin': '*' }
  if (permitted.includes(origin)) return { vary: 'Origin', 'access-control-allow-origin': origin }
}

function asked(request, origin) {
  return new Response(null, {
    status: 204,
    headers: {
      ...origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT',
      'access-control-allow-headers': request.headers.get('access-control-request-headers') ?? '',
      'access-control-max-age': '86400',
    },
  })
}

function refused(status, error, headers) {
  return Response.json({ error }, { status, headers })
}
