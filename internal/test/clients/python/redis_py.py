"""The tour with redis-py: redis_py.py HOST PORT PASSWORD."""
import sys
import threading
import time

import redis
from redis.exceptions import LockError, LockNotOwnedError, NoScriptError, ResponseError, WatchError

host, port, password = sys.argv[1:]


def connect(**options):
    return redis.Redis(host=host, port=int(port), password=password, decode_responses=True, **options)


def refused(call, error, text=''):
    try:
        call()
    except error as e:
        assert text in str(e), e
    else:
        raise AssertionError(f'{error.__name__} was expected')


r = connect(client_name='tour')
assert r.client_getname() == 'tour'
assert r.info('server')['redis_version'] >= '7'
assert r.config_get('maxmemory')['maxmemory'] == '0'
assert r.set('greeting', 'größe', ex=60) and r.get('greeting') == 'größe'
assert 0 < r.pttl('greeting') <= 60_000
assert r.set('greeting', 'x', nx=True) is None
assert r.hset('h', mapping={'a': 1, 'b': 2}) == 2 and r.hgetall('h') == {'a': '1', 'b': '2'}
assert r.zadd('z', {'one': 1, 'two': 2.5}) == 2 and r.zrange('z', 0, -1, withscores=True) == [('one', 1.0), ('two', 2.5)]
assert r.geoadd('geo', (13.361389, 38.115556, 'Palermo')) == 1 and r.geopos('geo', 'nowhere') == [None]
assert sorted(r.scan_iter(match='?')) == ['h', 'z']
refused(lambda: r.incr('greeting'), ResponseError, 'value is not an integer or out of range')

# pipelines, with and without a transaction
assert r.pipeline(transaction=False).set('n', 1).incr('n').get('n').execute() == [True, 2, '2']
results = r.pipeline().set('n', 1).lpush('n', 'x').incr('n').execute(raise_on_error=False)
assert results[0] is True and isinstance(results[1], ResponseError) and results[2] == 2
with r.pipeline() as p:
    p.watch('n')
    assert p.get('n') == '2'
    p.multi()
    p.set('n', 'mine')
    r.set('n', 'changed')
    refused(p.execute, WatchError)
assert r.transaction(lambda p: (p.multi(), p.set('n', 5)), 'n') == [True]

# scripts, also after the server has forgotten them
add = r.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
assert add(keys=['n'], args=[2]) == 7
r.script_flush()
refused(lambda: r.evalsha(add.sha, 1, 'n', 1), NoScriptError)
assert add(keys=['n'], args=[3]) == 10
pipe = r.pipeline()
add(keys=['n'], args=[1], client=pipe)
assert pipe.execute() == [11]

# locks: owned, lengthened, run out, and one at a time
lock = r.lock('lock', timeout=60)
assert lock.acquire() and lock.locked() and lock.owned()
assert not r.lock('lock', blocking=False).acquire()
assert lock.extend(60) and 60_000 < r.pttl('lock') <= 120_000
assert lock.reacquire() and r.pttl('lock') <= 60_000
r.set('lock', 'stolen')
refused(lock.release, LockNotOwnedError)
refused(lambda: r.lock('other').release(), LockError)
r.delete('lock')
inside, visits = [], []


def visit():
    with connect().lock('room', timeout=60, sleep=0.005):
        inside.append(1)
        visits.append(len(inside))
        inside.pop()


threads = [threading.Thread(target=visit) for _ in range(10)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert visits == [1] * 10, visits

# messages: asked for one by one, and with handlers on a thread
p = r.pubsub()
p.subscribe('news')
p.psubscribe('n?ws')
assert [p.get_message(timeout=30)['type'] for _ in range(2)] == ['subscribe', 'psubscribe']
assert r.publish('news', 'fish') == 2
assert p.get_message(timeout=30) == {'type': 'message', 'pattern': None, 'channel': 'news', 'data': 'fish'}
assert p.get_message(timeout=30) == {'type': 'pmessage', 'pattern': 'n?ws', 'channel': 'news', 'data': 'fish'}
assert r.pubsub_numsub('news') == [('news', 1)] and r.pubsub_numpat() == 1
p.close()
heard = threading.Event()
p = r.pubsub(ignore_subscribe_messages=True)
p.subscribe(weather=lambda message: message['data'] == 'rain' and heard.set())
thread = p.run_in_thread(sleep_time=0.01, daemon=True)
while not r.publish('weather', 'rain'):
    time.sleep(0.01)
assert heard.wait(30)
thread.stop()
thread.join()

# waiting for a list and for a stream's group
r.xgroup_create('log', 'readers', mkstream=True)
got = {}
threads = [
    threading.Thread(target=lambda: got.update(list=connect().blpop(['jobs', 'others'], timeout=30))),
    threading.Thread(target=lambda: got.update(log=connect().xreadgroup('readers', 'kitty', {'log': '>'}, block=30_000))),
]
for thread in threads:
    thread.start()
while r.info('clients')['blocked_clients'] != 2:
    time.sleep(0.005)
r.rpush('jobs', 'one')
r.xadd('log', {'f': 'v'}, id='1-1')
for thread in threads:
    thread.join()
assert got == {'list': ('jobs', 'one'), 'log': [['log', [('1-1', {'f': 'v'})]]]}, got
assert r.xpending('log', 'readers')['consumers'] == [{'name': 'kitty', 'pending': 1}]
assert r.xinfo_groups('log')[0]['last-delivered-id'] == '1-1'
assert r.xack('log', 'readers', '1-1') == 1

# commands that others send
with r.monitor() as m:
    r.set('watched', 'x')
    assert next(m.listen())['command'] == 'SET watched x'
