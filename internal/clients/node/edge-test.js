// The Worker as the tests use it: with as many databases as they like, and a clock.
import worker, { Meowdis as Deployed } from './src/index.js'

export class Meowdis extends Deployed {
  pause = 1e12
  clock = 0

  now() {
    return this.clock || Date.now()
  }

  async fetch(request) {
    this.clock = Number(request.headers.get('test-clock') ?? this.clock)
    this.pause = Number(request.headers.get('test-pause') ?? this.pause)
    return super.fetch(request)
  }
}

export default {
  async fetch(request, env, ctx) {
    const token = (request.headers.get('authorization') ?? '').replace(/^bearer /i, '')
    const [, name, role] = token.match(/^test:(.*):(.*)$/) ?? []
    const databases = name && JSON.stringify({ [name]: { [role]: token } })
    return worker.fetch(request, { ...env, MEOWDIS_DATABASES: databases ?? env.MEOWDIS_DATABASES }, ctx)
  },
}
