"""Tasks of Celery, with Redis as its broker and for results: celery_shop.py HOST PORT PASSWORD.

It starts itself as the worker does: celery -A celery_shop worker.
"""
import os
import signal
import subprocess
import sys
import time
from urllib.parse import quote

from celery import Celery, chain, chord, group

if __name__ == '__main__':
    host, port, password = sys.argv[1:]
    os.environ['BROKER'] = f'redis://:{quote(password)}@{host}:{port}'

url = os.environ['BROKER']
app = Celery('celery_shop', broker=url + '/0', backend=url + '/1')
app.conf.update(task_track_started=True, worker_send_task_events=True, broker_connection_retry=False)


@app.task
def add(x, y):
    return x + y


@app.task
def total(numbers):
    return sum(numbers)


@app.task(bind=True, max_retries=5)
def flaky(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0.05)
    return self.request.retries


@app.task
def broken():
    raise KeyError('no such fish')


def shop():
    limit = {'timeout': 60}
    while not app.control.ping(timeout=0.5):
        pass
    assert add.delay(2, 3).get(**limit) == 5
    results = group(add.s(i, i) for i in range(20)).apply_async()
    assert results.get(**limit) == [2 * i for i in range(20)]
    assert chain(add.s(1, 2), add.s(4), add.s(5)).apply_async().get(**limit) == 12
    assert chord([add.s(i, 1) for i in range(10)])(total.s()).get(**limit) == 55
    assert flaky.delay().get(**limit) == 2
    failed = broken.delay()
    assert isinstance(failed.get(propagate=False, **limit), KeyError) and failed.state == 'FAILURE' and 'no such fish' in failed.traceback
    began = time.monotonic()
    assert add.apply_async((1, 1), countdown=0.3, priority=3).get(**limit) == 2
    assert time.monotonic() - began >= 0.3

    later = add.apply_async((1, 1), countdown=3600)
    inspect = app.control.inspect(timeout=10, limit=1)
    while [t['request']['id'] for tasks in (inspect.scheduled() or {}).values() for t in tasks] != [later.id]:
        pass
    later.revoke()
    while [i for ids in (inspect.revoked() or {}).values() for i in ids] != [later.id]:
        pass
    assert set(inspect.registered()[next(iter(inspect.active()))]) == {f'celery_shop.{n}' for n in ('add', 'total', 'flaky', 'broken')}
    done = add.delay(1, 1)
    done.get(**limit)
    done.forget()
    assert app.AsyncResult(done.id).state == 'PENDING'


def too_long(*_):
    raise TimeoutError('nothing happened for a minute')


if __name__ == '__main__':
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(60)
    # As the worker knows the tasks: by the name of this module.
    import celery_shop
    worker = subprocess.Popen([sys.executable, '-B', '-m', 'celery', '-A', 'celery_shop', 'worker', '--concurrency=2', '--loglevel=warning'])
    try:
        celery_shop.shop()
        # One that is told to end gives back what it has not begun, as the one that is revoked.
        celery_shop.add.apply_async((3, 4), countdown=3600)
        inspect = celery_shop.app.control.inspect(timeout=10, limit=1)
        while [len(tasks) for tasks in (inspect.scheduled() or {}).values()] != [2]:
            pass
    finally:
        worker.terminate()
        assert worker.wait(60) == 0
    with celery_shop.app.connection_for_read() as connection:
        assert connection.default_channel.client.llen('celery') == 2
        assert celery_shop.app.control.purge() == 2
