// A shop's queues with BullMQ: node bullmq.mjs HOST PORT PASSWORD.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { FlowProducer, Queue, QueueEvents, UnrecoverableError, Worker } from 'bullmq'
import { address, event } from './server.mjs'

const connection = { ...address, maxRetriesPerRequest: null }
const closing = []
const open = async (what) => {
  closing.push(what)
  what.setMaxListeners(0)
  what.on('error', (err) => assert.fail(err))
  await what.waitUntilReady()
  return what
}
const queueOf = (name, options) => open(new Queue(name, { connection, ...options }))
const workerOf = (name, work, options) => open(new Worker(name, work, { connection, ...options }))
const eventsOf = (name) => open(new QueueEvents(name, { connection, lastEventId: '0' }))

// One that is killed while it works: node bullmq.mjs HOST PORT PASSWORD hang
if (process.argv[5] === 'hang') {
  await workerOf('parcels', (job) => {
    process.send(job.id)
    return new Promise(() => {})
  }, { lockDuration: 500, stalledInterval: 200 })
  await new Promise(() => {})
}

// jobs, their results, progress and logs; many at once
{
  const queue = await queueOf('mails')
  const events = await eventsOf('mails')
  const progress = event(events, 'progress')
  await workerOf('mails', async (job) => {
    await job.updateProgress({ done: 50 })
    await job.log(`to ${job.data.to}`)
    return { sent: job.data.to }
  }, { concurrency: 5 })
  const job = await queue.add('welcome', { to: 'kitty' })
  assert.deepEqual(await job.waitUntilFinished(events), { sent: 'kitty' })
  assert.deepEqual((await progress)[0].data, { done: 50 })
  assert.equal(await job.getState(), 'completed')
  assert.deepEqual((await queue.getJobLogs(job.id)).logs, ['to kitty'])

  const many = await queue.addBulk(Array.from({ length: 50 }, (_, i) => ({ name: 'news', data: { to: i } })))
  const results = await Promise.all(many.map((job) => job.waitUntilFinished(events)))
  assert.deepEqual(results.map((result) => result.sent), Array.from({ length: 50 }, (_, i) => i))
  assert.deepEqual(await queue.getJobCounts('wait', 'active', 'completed', 'failed', 'delayed'),
    { wait: 0, active: 0, completed: 51, failed: 0, delayed: 0 })
  assert.equal((await queue.clean(0, 20, 'completed')).length, 20)
  assert.equal(await queue.getCompletedCount(), 31)
}

// a job is wanted once, the important ones first, and none while the queue is paused
{
  const queue = await queueOf('orders')
  const events = await eventsOf('orders')
  await queue.pause()
  const names = ['third', 'second', 'first']
  const jobs = await Promise.all(names.map((name, i) => queue.add(name, {}, { priority: 3 - i, jobId: `order-${name}` })))
  assert.equal((await queue.add('first', { again: true }, { jobId: 'order-first' })).id, 'order-first')
  assert.equal(await queue.count(), 3)
  const done = []
  await workerOf('orders', (job) => { done.push(job.name) })
  await queue.resume()
  await Promise.all(jobs.map((job) => job.waitUntilFinished(events)))
  assert.deepEqual(done, ['first', 'second', 'third'])
}

// delays, and retries that come later each time
{
  const queue = await queueOf('payments')
  const events = await eventsOf('payments')
  const delayed = event(events, 'delayed')
  const later = await queue.add('later', {}, { delay: 200 })
  await delayed
  assert.equal(await later.getState(), 'delayed')

  const tries = []
  await workerOf('payments', async (job) => {
    if (job.name === 'later') return Date.now()
    tries.push(Date.now())
    if (job.name === 'never') throw new UnrecoverableError('no such card')
    if (tries.length < 3) throw new Error('no answer')
    return job.attemptsMade
  })
  assert.ok(await later.waitUntilFinished(events) - later.timestamp >= 200, 'a job that came before its delay')

  const job = await queue.add('charge', {}, { attempts: 5, backoff: { type: 'exponential', delay: 50 } })
  assert.equal(await job.waitUntilFinished(events), 2)
  assert.equal(tries.length, 3)
  assert.ok(tries[1] - tries[0] >= 50 && tries[2] - tries[1] >= 100, `tried at ${tries}`)

  const never = await queue.add('never', {}, { attempts: 5 })
  await assert.rejects(never.waitUntilFinished(events), /no such card/)
  assert.equal(tries.length, 4)
  assert.deepEqual((await queue.getFailed()).map((job) => [job.name, job.failedReason]), [['never', 'no such card']])
  const again = await queue.add('charge', {}, { delay: 3_600_000 })
  await again.promote()
  assert.equal(await again.waitUntilFinished(events), 0)
}

// at most two jobs in 300 ms
{
  const queue = await queueOf('calls')
  const events = await eventsOf('calls')
  const times = []
  await workerOf('calls', () => { times.push(Date.now()) }, { limiter: { max: 2, duration: 300 }, concurrency: 10 })
  const jobs = await queue.addBulk(Array.from({ length: 5 }, () => ({ name: 'call', data: {} })))
  await Promise.all(jobs.map((job) => job.waitUntilFinished(events)))
  assert.equal(times.length, 5)
  assert.ok(times[4] - times[0] >= 300, `called at ${times}`)
}

// a flow: the parent waits for its children, and has their results
{
  const flow = await open(new FlowProducer({ connection }))
  const events = await eventsOf('album')
  await workerOf('photos', (job) => job.data.size * 2)
  await workerOf('album', async (job) => Object.values(await job.getChildrenValues()).sort())
  const { job, children } = await flow.add({
    name: 'print', queueName: 'album',
    children: [1, 2, 3].map((size) => ({ name: 'resize', queueName: 'photos', data: { size } })),
  })
  assert.equal(children.length, 3)
  assert.deepEqual(await job.waitUntilFinished(events), [2, 4, 6])
  assert.equal(Object.keys((await job.getDependencies()).processed).length, 3)
}

// jobs that come again and again
{
  const queue = await queueOf('chimes')
  let rung = 0
  const worker = await workerOf('chimes', () => ++rung)
  const thrice = event(worker, 'completed', () => rung === 3)
  await queue.upsertJobScheduler('bell', { every: 100, limit: 3 }, { name: 'ring' })
  await queue.upsertJobScheduler('yearly', { pattern: '0 0 1 1 *' }, { name: 'fireworks' })
  await thrice
  const yearly = (await queue.getJobSchedulers()).find((scheduler) => scheduler.key === 'yearly')
  assert.equal(new Date(yearly.next).getMonth(), 0)
  assert.equal(await queue.removeJobScheduler('yearly'), true)
  assert.equal(await queue.getDelayedCount(), 0)
}

// a worker is killed, and another one takes over its job
{
  const queue = await queueOf('parcels')
  const events = await eventsOf('parcels')
  const stalled = event(events, 'stalled')
  const job = await queue.add('carry', { weight: 3 })
  const child = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2, 5), 'hang'])
  assert.equal((await event(child, 'message'))[0], job.id)
  child.kill('SIGKILL')
  await event(child, 'exit')
  assert.equal(await job.getState(), 'active')
  await workerOf('parcels', (job) => `carried ${job.data.weight}`, { stalledInterval: 200, maxStalledCount: 1 })
  assert.equal(await job.waitUntilFinished(events), 'carried 3')
  assert.equal((await stalled)[0].jobId, job.id)
  await queue.obliterate()
  assert.equal(await queue.getJob(job.id), undefined)
}

await Promise.all(closing.map((what) => what.close()))
