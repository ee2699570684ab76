// The Durable Object: one database and the engine that runs Redis commands on it.
import { DurableObject } from 'cloudflare:workers'
import { call } from './engine.js'
import { storage } from './storage.js'

const MAX_REQUEST = 16 << 20 // largest body in bytes
const MAX_WAITING = 8 << 20 // most unread bytes of a stream
const HEADERS = ['upstash-encoding', 'upstash-response-format', 'upstash-reponse-format', 'meowdis-database', 'meowdis-pipeline', 'meowdis-rules']

let objects = 0 // objects created in this isolate

export class Meowdis extends DurableObject {
  number = objects++
  storage = this.ctx.storage
  life = crypto.randomUUID()
  requests = 0
  streams = new Map() // controllers by number
  wrote = false // rows changed since the last plan
  alarmAt // in Unix ms; Infinity for none, undefined if not yet loaded
  pause = 60_000 // shortest ms between alarms: expired keys may stay, since commands do not see them

  /** Returns the time in Unix ms. */
  now() {
    return Date.now()
  }

  /** Returns the time for measuring durations, in ms. */
  ticks() {
    return Date.now()
  }

  async fetch(request) {
    this.alarmAt ??= (await this.storage.getAlarm()) ?? Infinity
    const body = new Uint8Array(await request.arrayBuffer())
    if (body.length > MAX_REQUEST) {
      return failed(400, `ERR max request size exceeded. Limit: ${MAX_REQUEST} bytes, Actual: ${body.length} bytes`)
    }
    const role = request.headers.get('meowdis-role')
    try {
      const response = role === 'storage' ? storage(this, body) : this.command(request, role, body)
      if (this.wrote) await this.plan()
      return response
    } catch (e) {
      console.error(e.stack)
      const why = e instanceof RangeError ? 'it needs more stack or memory than an object has' : 'the engine failed and was restarted'
      return failed(500, `ERR ${why}: of a pipeline, some commands may have run`)
    }
  }

  /** Runs a request on the engine. */
  command(request, role, body) {
    const { pathname, search } = new URL(request.url)
    const headers = HEADERS.filter((h) => request.headers.has(h)).map((h) => `${h}: ${request.headers.get(h)}`)
    const number = ++this.requests
    this.status = 200
    this.headers = new Headers({ 'upstash-sync-token': `${this.life}-${number}` })
    this.pieces = []
    const fields = [role, request.method, pathname, search.slice(1), headers.join('\n'), body]
    if (!call(this, 'handle', [number], fields)) {
      return new Response(new Blob(this.pieces), { status: this.status, headers: this.headers })
    }
    this.headers.set('content-type', 'text/event-stream')
    this.headers.set('cache-control', 'no-cache')
    return new Response(this.opened, { headers: this.headers })
  }

  /** Creates missing tables. */
  ready() {
    if (!call(this, 'ready')) throw new Error('the tables could not be created: see the log')
  }

  // The engine calls these while it runs a request.

  head(status, lines) {
    this.status = status
    this.pieces = []
    for (const line of lines) {
      const colon = line.indexOf(': ')
      this.headers.set(line.slice(0, colon), line.slice(colon + 2))
    }
  }

  body(piece) {
    this.pieces.push(piece)
  }

  /** Returns the number of rows that a statement has changed. Its cursor must have been read to the end. */
  changed(cursor) {
    if (cursor.rowsWritten === 0) return 0
    this.wrote = true
    return this.storage.sql.exec('SELECT changes()').raw().next().value[0]
  }

  send(stream, piece) {
    const controller = this.streams.get(stream) ?? this.open(stream)
    controller.enqueue(piece)
    if (controller.desiredSize < 0) this.end(stream)
  }

  end(stream) {
    this.streams.get(stream)?.error(new Error('the client does not read its messages'))
    queueMicrotask(() => this.leave(stream)) // outside the engine's call
  }

  open(stream) {
    const size = { highWaterMark: MAX_WAITING, size: (piece) => piece.length }
    this.opened = new ReadableStream({
      start: (controller) => this.streams.set(stream, controller),
      cancel: () => this.leave(stream),
    }, size)
    return this.streams.get(stream)
  }

  leave(stream) {
    if (this.streams.delete(stream)) call(this, 'leave', [stream])
  }

  /** Ends the streams of a discarded engine. */
  endStreams() {
    const all = [...this.streams.values()]
    this.streams.clear()
    for (const controller of all) controller.close()
  }

  /** Sets the alarm for the next sweep, unless an earlier alarm is set. */
  async plan() {
    this.wrote = false
    const soonest = Date.now() + this.pause
    if (this.alarmAt > soonest) await this.setAlarm(call(this, 'due'))
  }

  async setAlarm(due) {
    if (due < 0) return
    const at = Math.max(due, Date.now() + this.pause)
    if (at < this.alarmAt) {
      this.alarmAt = at
      await this.storage.setAlarm(at)
    }
  }

  async alarm() {
    this.alarmAt = Infinity
    await this.setAlarm(call(this, 'sweep'))
  }
}

function failed(status, error) {
  return Response.json({ error }, { status })
}
