// The database for compute nodes, which send SQL: meowdis serve --storage-url URL. Each batch is a separate transaction.
//
//   {"b":[[["SQL",arg,…],…],…],"read":true,"max":1000000}
//     → {"r":[{"ok":[[[cell,…],…],…],"n":[changes,…]},{"err":"…","at":1,"why":"bad","ok":[],"n":[]}]}
//   {"statements":[{"sql":"…","params":[…]},…]} → {"results":[[{"column":cell,…},…],…]}
//   {"pipeline":[{"statements":[…]},…]} → {"results":[[[row,…],…],{"error":"…"},…]}
//   {"init":true} creates the tables.
//
// An answer has the results of all batches, or of the first batches if their rows already fill it. A cell is null, a
// string, a number, {"b":"base64"} for bytes or {"f":"Infinity"}; an argument may also be {"i":"123"} or
// {"t":"base64"}. Numbers in an object's SQLite are doubles, so integers that may exceed 2^53 are sent as text.

const MAX_ROWS = 32 << 20 // most bytes of a batch's rows, as JSON
const ENOUGH = 8 << 20 // an answer is complete with this many bytes of rows

const decoder = new TextDecoder('utf-8', { fatal: true })
const UNDO = new Error('undone')

export function storage(object, body) {
  let asked
  try {
    asked = JSON.parse(decoder.decode(body))
  } catch {
    return wrong('the request is not valid JSON')
  }
  try {
    if (Array.isArray(asked?.b)) return answer(`{"r":[${results(object, asked).join(',')}]}`)
    if (asked?.init) {
      object.ready()
      return Response.json({ results: [] })
    }
    if (Array.isArray(asked?.pipeline)) {
      return Response.json({ results: asked.pipeline.map(({ statements }) => item(object, statements)) })
    }
    if (Array.isArray(asked?.statements)) {
      const all = item(object, asked.statements)
      return all.error ? Response.json(all, { status: 400 }) : Response.json({ results: all })
    }
  } catch (e) {
    if (e instanceof TypeError) return wrong('the request has another form than b, statements, pipeline or init')
    throw e
  }
  return wrong('the request needs b, statements, pipeline or init')
}

const answer = (text) => new Response(text, { headers: { 'content-type': 'application/json' } })
const wrong = (error) => Response.json({ error }, { status: 400 })

/** Returns the results of the typed form until the answer is full. */
function results(object, { b: batches, read, max }) {
  const all = []
  let total = 0
  for (const batch of batches) {
    const { text, size } = typed(object, batch, read, max > 0 ? Math.min(max, MAX_ROWS) : MAX_ROWS)
    all.push(text)
    total += size
    if (total >= ENOUGH) break
  }
  return all
}

/** Runs a batch of the typed form. */
function typed(object, batch, read, room) {
  const ok = [], changes = []
  let size = 0, refusal = ''
  transaction(object, () => {
    for (const [sql, ...args] of batch) {
      try {
        const cursor = object.storage.sql.exec(sql, ...args.map(argument))
        const rows = []
        for (const row of cursor.raw()) {
          const text = `[${row.map(cell).join(',')}]`
          rows.push(text)
          if ((size += text.length) > room) throw refused('rows', 'the rows have too many bytes')
        }
        if (read && cursor.rowsWritten > 0) throw refused('bad', 'the request is read-only')
        changes.push(object.changed(cursor))
        ok.push(`[${rows.join(',')}]`)
      } catch (e) {
        const why = e.why ?? (/SQLITE_CONSTRAINT/.test(e.message) ? undefined : 'bad')
        refusal = `"err":${JSON.stringify(String(e.message))},"at":${ok.length},${why ? `"why":"${why}",` : ''}`
        return false
      }
    }
    return true
  })
  const n = read ? '' : `,"n":[${changes.join(',')}]`
  return { text: `{${refusal}"ok":[${ok.join(',')}]${n}}`, size }
}

const refused = (why, message) => Object.assign(new Error(message), { why })

/** Runs fn in a transaction, which commits when it returns true. */
function transaction(object, fn) {
  try {
    object.storage.transactionSync(() => {
      if (!fn()) throw UNDO
    })
  } catch (e) {
    if (e !== UNDO) throw e
  }
}

/** Runs statements of the untyped form. It returns their rows as objects, or an error. */
function item(object, statements) {
  let all = [], error
  transaction(object, () => {
    for (const { sql, params = [] } of statements) {
      try {
        const cursor = object.storage.sql.exec(sql, ...params.map(argument))
        all.push(cursor.toArray().map(plain))
        object.changed(cursor)
      } catch (e) {
        error = String(e.message)
        return false
      }
    }
    return true
  })
  return error === undefined ? all : { error }
}

/** Makes a row serializable as JSON. */
function plain(row) {
  for (const [column, value] of Object.entries(row)) {
    if (value instanceof ArrayBuffer) row[column] = { b: base64(new Uint8Array(value)) }
  }
  return row
}

function argument(a) {
  if (a === null || typeof a === 'string' || typeof a === 'number') return a
  if (typeof a === 'boolean') return Number(a)
  if (typeof a.b === 'string') return bytes(a.b).buffer
  if (typeof a.t === 'string') return new TextDecoder().decode(bytes(a.t))
  if (typeof a.i === 'string') return integer(a.i)
  if (a.f === 'Infinity' || a.f === '-Infinity') return Number(a.f)
  throw refused('bad', 'invalid argument')
}

/** Parses an integer that a double can represent. */
function integer(digits) {
  const n = Number(digits)
  if (!Number.isSafeInteger(n) && BigInt(digits) !== BigInt(n)) throw refused('bad', `${digits} does not fit a double, the number type of Durable Objects`)
  return n
}

function cell(value) {
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'number') return `{"b":"${base64(new Uint8Array(value))}"}`
  if (Object.is(value, -0)) return '-0.0'
  if (!Number.isFinite(value)) return `{"f":"${value}"}`
  const text = String(value)
  return Math.abs(value) > 2 ** 53 && !/[.e]/.test(text) ? `${text}.0` : text
}

function bytes(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
}

function base64(all) {
  let text = ''
  for (let at = 0; at < all.length; at += 0x6000) text += btoa(String.fromCharCode(...all.subarray(at, at + 0x6000)))
  return text
}
