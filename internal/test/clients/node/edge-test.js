// The Worker as the tests use it: with secrets of a request's own, a clock, and ways to fail.
import worker, { Meowdis as Deployed } from './src/index.js'
import { call } from './src/engine.js'

export class Meowdis extends Deployed {
  pause = 1e12
  clock = 0
  fails = 0 // the write that is to fail, counted from now, 0 for none
  crashes = false // when the engine would answer
  began = 0 // when the request did, in Unix ms
  rush = 1 // how fast durations pass, 0 for a clock that stands still

  ticks() {
    return this.began + this.rush * (Date.now() - this.began)
  }

  now() {
    return this.clock || Date.now()
  }

  async fetch(request) {
    const set = (name, old) => Number(request.headers.get(`test-${name}`) ?? old)
    this.clock = set('clock', this.clock)
    this.pause = set('pause', this.pause)
    this.fails = set('fails', 0)
    this.rush = set('rush', 1)
    this.began = Date.now()
    this.reason = request.headers.get('test-reason') ?? 'database or disk is full: SQLITE_FULL'
    this.crashes = set('crashes', 0) > 0
    this.storage = request.headers.has('test-damage') ? damaged(this.ctx.storage) : this.ctx.storage
    if (request.headers.has('test-export')) return this.calls(request.headers.get('test-export'))
    if (request.headers.has('test-alarm')) return Response.json(await this.storage.getAlarm())
    return super.fetch(request)
  }

  /** Calls an exported function, with a request that is cut off. */
  calls(name) {
    this.status = 200
    this.headers = new Headers()
    this.pieces = []
    const result = call(this, name, name === 'handle' ? [++this.requests] : [], name === 'handle' ? ['read'] : [])
    return new Response(new Blob([`${result} `, ...this.pieces]), { status: this.status })
  }

  changed(cursor) {
    if (this.fails > 0 && --this.fails === 0) throw new Error(this.reason)
    return super.changed(cursor)
  }

  head(...args) {
    if (this.crashes) throw new Error('the test wants it to end')
    super.head(...args)
  }
}

// A storage whose rows have fewer cells than it says, which makes the engine panic.
function damaged(storage) {
  const exec = (...args) => {
    const cursor = storage.sql.exec(...args)
    return { raw: () => cursor.raw(), columnNames: { length: 99 }, get rowsWritten() { return cursor.rowsWritten } }
  }
  return { sql: { exec }, transactionSync: (inside) => storage.transactionSync(inside), getAlarm: () => storage.getAlarm(), setAlarm: (at) => storage.setAlarm(at) }
}

export default {
  async fetch(request, env, ctx) {
    const token = (request.headers.get('authorization') ?? '').replace(/^bearer /i, '')
    const [, name, role] = token.match(/^test:(.*):(.*)$/) ?? []
    const databases = name && JSON.stringify({ [name]: { [role]: token } })
    const secrets = databases ? { MEOWDIS_DATABASES: databases } : JSON.parse(request.headers.get('test-secrets') ?? '{}')
    return worker.fetch(request, { ...env, ...secrets }, ctx)
  },
}
