// What the programs share: node PROGRAM.mjs HOST PORT PASSWORD, or URL TOKEN over REST.
import Redis from 'ioredis'

const [host, port, password] = process.argv.slice(2)

export const address = { host, port: Number(port), password }

// connect is ioredis, as long as the server is there.
export const connect = (options = {}) => new Redis({ ...address, ...options })

// Nothing here takes seconds; what never comes is a failure and not a hang.
setTimeout(() => {
  console.error('still waiting after a minute')
  process.exit(1)
}, 60_000).unref()

// event is what the emitter tells next, as a list; match picks among several.
export const event = (emitter, name, match = () => true) => new Promise((resolve) => {
  const listen = (...args) => {
    if (!match(...args)) return
    emitter.off(name, listen)
    resolve(args)
  }
  emitter.on(name, listen)
})

// until waits for a question to be answered with yes.
export async function until(ask) {
  while (!await ask()) await new Promise((resolve) => setTimeout(resolve, 10))
}
