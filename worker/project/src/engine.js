// The host of the Redis engine, which is compiled to WebAssembly. The objects of an isolate share its memory, so one
// instance serves them all. Each call acts on one object and never waits, since SQL runs synchronously.
import program from './meowdis.wasm'

// An instance with more memory than this, in bytes, is discarded after its call.
const MAX_MEMORY = 80 << 20

const DONE = 0, REFUSED = 1, FAILED = 2, LONG = 3
const NULL = 0, NUMBER = 1, TEXT = 2, BLOB = 3

const MONOTONIC = 1 // clock ID
const CLOCK = 0 // type of a subscription and its event

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const UNDO = new Error('undone')

let instance // the running program
let object // object of the current call
const listening = new Set() // objects with streams, which end with the instance

class Exit extends Error {}

/** Passes fields to the inbox and calls an exported function for an object. An exception discards the instance. */
export function call(on, name, args = [], fields = []) {
  object = on
  try {
    instance ??= new Instance()
    if (fields.length > 0) instance.pass(fields)
    const result = instance.exports[name](on.number, ...args)
    if (on.streams.size > 0) listening.add(on)
    else listening.delete(on)
    return result
  } catch (e) {
    discard()
    throw e
  } finally {
    object = undefined
    if (instance?.exports.memory.buffer.byteLength > MAX_MEMORY) discard()
  }
}

function discard() {
  instance = undefined
  for (const o of listening) o.endStreams()
  listening.clear()
}

class Instance {
  texts = [] // SQL by number
  latest = 0 // highest result of ticks
  skipped = 0n // total duration of skipped waits in ns
  result = new Uint8Array(64 << 10)
  length = 0

  constructor() {
    const made = new WebAssembly.Instance(program, { wasi_snapshot_preview1: this.wasi(), env: this.env() })
    this.exports = made.exports
    this.exports._initialize()
  }

  /** Writes fields to the inbox. A length precedes each field except the last. */
  pass(fields) {
    const parts = fields.map((f) => (typeof f === 'string' ? encoder.encode(f) : f))
    const last = parts.pop()
    let at = this.exports.room(parts.reduce((n, p) => n + 4 + p.length, last.length))
    const view = this.view()
    for (const part of parts) {
      view.setUint32(at, part.length, true)
      this.bytes(at + 4, part.length).set(part)
      at += 4 + part.length
    }
    this.bytes(at, last.length).set(last)
  }

  view() {
    return new DataView(this.exports.memory.buffer)
  }

  bytes(at, n) {
    return new Uint8Array(this.exports.memory.buffer, at, n)
  }

  // The system calls of Go's runtime: time, randomness, and output of panics.
  wasi() {
    let line = ''
    const zero = () => 0
    return {
      sched_yield: zero, args_get: zero, environ_get: zero, fd_close: zero, fd_read: zero,
      fd_fdstat_get: zero, fd_fdstat_set_flags: zero, fd_prestat_dir_name: zero,
      fd_prestat_get: () => 8, // no such directory
      args_sizes_get: (count, size) => this.zeros(count, size),
      environ_sizes_get: (count, size) => this.zeros(count, size),
      proc_exit: (code) => {
        throw new Exit(`the engine ended with ${code}`)
      },
      clock_time_get: (id, precision, at) => {
        this.view().setBigUint64(at, id === MONOTONIC ? this.monotonic() : BigInt(object.now()) * 1_000_000n, true)
        return 0
      },
      random_get: (at, n) => {
        for (let from = 0; from < n; from += 65536) crypto.getRandomValues(this.bytes(at + from, Math.min(n - from, 65536)))
        return 0
      },
      poll_oneoff: (subscriptions, events, n, count) => this.poll(subscriptions, events, n, count),
      fd_write: (fd, vectors, n, written) => {
        const view = this.view()
        let size = 0
        for (let i = 0; i < n; i++) {
          const at = view.getUint32(vectors + 8 * i, true), length = view.getUint32(vectors + 8 * i + 4, true)
          line += decoder.decode(this.bytes(at, length))
          size += length
        }
        const lines = line.split('\n')
        line = lines.pop()
        for (const text of lines) console.error(text)
        view.setUint32(written, size, true)
        return 0
      },
    }
  }

  /** Returns the time in ns. It never decreases, even across objects. */
  monotonic() {
    this.latest = Math.max(this.latest, object.ticks())
    return BigInt(this.latest) * 1_000_000n + this.skipped
  }

  /**
   * Waits for the first of n subscriptions. Go's runtime calls it between steps of a garbage collection, with a
   * timeout of 0 ns or until a timer is due. It returns at once and moves the clock ahead instead.
   */
  poll(subscriptions, events, n, count) {
    const view = this.view()
    let first, timeout
    for (let at = subscriptions; at < subscriptions + 48 * n; at += 48) {
      if (view.getUint8(at + 8) !== CLOCK) continue
      const ns = view.getBigUint64(at + 24, true)
      if (first === undefined || ns < timeout) [first, timeout] = [at, ns]
    }
    if (first === undefined) throw new Exit('the engine would wait for ever')
    this.skipped += timeout
    this.bytes(events, 32).fill(0)
    view.setBigUint64(events, view.getBigUint64(first, true), true) // userdata
    view.setUint8(events + 10, CLOCK)
    view.setUint32(count, 1, true)
    return 0
  }

  zeros(...at) {
    for (const a of at) this.view().setUint32(a, 0, true)
    return 0
  }

  env() {
    return {
      text: (number, at, n) => {
        this.texts[number] = decoder.decode(this.bytes(at, n))
      },
      exec: (number, at, n, room) => this.exec(this.texts[number], this.args(at, n), room),
      take: (into) => this.bytes(into, this.length).set(this.result.subarray(0, this.length)),
      transact: () => this.transact(),
      head: (status, at, n) => object.head(status, decoder.decode(this.bytes(at, n)).split('\n')),
      body: (at, n) => object.body(this.bytes(at, n).slice()),
      send: (stream, at, n) => object.send(stream, this.bytes(at, n).slice()),
      end: (stream) => object.end(stream),
    }
  }

  transact() {
    let ended // the exception that ended the instance
    try {
      object.storage.transactionSync(() => {
        let done
        try {
          done = this.exports.inside()
        } catch (e) {
          ended = e
        }
        if (!done) throw ended ?? UNDO
      })
      return 1
    } catch (e) {
      if (ended) throw ended
      if (e === UNDO) return 0
      this.length = 0
      this.putText(String(e.message))
      return -this.length
    }
  }

  args(at, n) {
    const args = [], view = this.view()
    for (const end = at + n; at < end; ) {
      const tag = view.getUint8(at++)
      if (tag === NULL) {
        args.push(null)
      } else if (tag === NUMBER) {
        args.push(view.getFloat64(at, true))
        at += 8
      } else {
        const bytes = this.bytes(at + 4, view.getUint32(at, true))
        args.push(tag === TEXT ? decoder.decode(bytes) : bytes.slice().buffer)
        at += 4 + bytes.length
      }
    }
    return args
  }

  /** Runs a statement and returns the length of its result. */
  exec(text, args, room) {
    this.length = 0
    try {
      const cursor = object.storage.sql.exec(text, ...args)
      this.reserve(9)
      this.length = 9
      for (const row of cursor.raw()) {
        for (const cell of row) this.put(cell)
        if (this.length > room) {
          this.result[0] = LONG
          return (this.length = 1)
        }
      }
      const view = new DataView(this.result.buffer)
      this.result[0] = DONE
      view.setUint32(1, object.changed(cursor), true)
      view.setUint32(5, cursor.columnNames.length, true)
    } catch (e) {
      const reason = String(e.message)
      this.length = 0
      this.reserve(1)
      this.result[this.length++] = reason.includes('SQLITE_CONSTRAINT') ? REFUSED : FAILED
      this.putText(reason)
    }
    return this.length
  }

  put(cell) {
    if (cell === null) {
      this.reserve(1)
      this.result[this.length++] = NULL
    } else if (typeof cell === 'number') {
      this.reserve(9)
      this.result[this.length] = NUMBER
      new DataView(this.result.buffer).setFloat64(this.length + 1, cell, true)
      this.length += 9
    } else {
      const tag = typeof cell === 'string' ? TEXT : BLOB
      const bytes = tag === TEXT ? encoder.encode(cell) : new Uint8Array(cell)
      this.reserve(5 + bytes.length)
      this.result[this.length] = tag
      new DataView(this.result.buffer).setUint32(this.length + 1, bytes.length, true)
      this.result.set(bytes, this.length + 5)
      this.length += 5 + bytes.length
    }
  }

  putText(text) {
    const bytes = encoder.encode(text)
    this.reserve(bytes.length)
    this.result.set(bytes, this.length)
    this.length += bytes.length
  }

  reserve(more) {
    if (this.length + more <= this.result.length) return
    const larger = new Uint8Array(Math.max(2 * this.result.length, this.length + more))
    larger.set(this.result.subarray(0, this.length))
    this.result = larger
  }
}
