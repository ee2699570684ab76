// A deployed Worker, in workerd: node edge.mjs PROJECT [test]. It prints its URL, and ends with its input.
// With "test" the token test:NAME:ROLE is one of a database NAME, and headers change what edge-test.js has.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Miniflare } from 'miniflare'

const [project, test] = process.argv.slice(2)
const config = JSON.parse(await readFile(path.join(project, 'wrangler.jsonc'), 'utf8').then((text) => text.replace(/^\s*\/\/.*$/gm, '')))
const module = async (type, name, from = path.join(project, name)) => ({ type, path: path.join(project, name), contents: await readFile(from) })
const modules = await Promise.all([
  module('ESModule', config.main),
  module('ESModule', 'src/object.js'),
  module('ESModule', 'src/engine.js'),
  module('ESModule', 'src/storage.js'),
  module('CompiledWasm', 'src/meowdis.wasm'),
])
if (test) modules.unshift(await module('ESModule', 'test.js', new URL('edge-test.js', import.meta.url)))

const worker = new Miniflare({
  modulesRoot: project,
  modules,
  compatibilityDate: config.compatibility_date,
  host: '127.0.0.1',
  port: 0,
  durableObjects: Object.fromEntries(config.durable_objects.bindings.map(({ name, class_name }) => [
    name, { className: class_name, useSQLite: config.migrations.some((m) => m.new_sqlite_classes.includes(class_name)) },
  ])),
  bindings: JSON.parse(process.env.EDGE_SECRETS ?? '{}'),
})
console.log(`REST ${await worker.ready}`)
process.stdin.resume()
process.stdin.on('end', () => worker.dispose())
