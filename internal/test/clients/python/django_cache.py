"""Django's cache and sessions with django-redis: django_cache.py HOST PORT PASSWORD."""
import sys
from urllib.parse import quote

import django
from django.conf import settings

host, port, password = sys.argv[1:]
settings.configure(
    CACHES={
        'default': {
            'BACKEND': 'django_redis.cache.RedisCache',
            'LOCATION': f'redis://:{quote(password)}@{host}:{port}/1',
            'OPTIONS': {'COMPRESSOR': 'django_redis.compressors.zlib.ZlibCompressor'},
        },
    },
    SESSION_ENGINE='django.contrib.sessions.backends.cache',
)
django.setup()

from django.contrib.sessions.backends.cache import SessionStore  # noqa: E402
from django.core.cache import cache  # noqa: E402
from django_redis import get_redis_connection  # noqa: E402

# any value, for a while
assert cache.get('nothing') is None and cache.get('nothing', 7) == 7
value = {'fish': ['cod', 1, None], 'text': 'größe' * 1000}
cache.set('dinner', value, timeout=60)
assert cache.get('dinner') == value
assert 0 < cache.ttl('dinner') <= 60 and 0 < cache.pttl('dinner') <= 60_000
assert cache.touch('dinner', 3600) and cache.ttl('dinner') > 3500
assert cache.persist('dinner') and cache.ttl('dinner') is None
assert cache.add('dinner', 'x') is False and cache.add('lunch', 'y') is True
cache.set('gone', 'x', timeout=0)
assert 'gone' not in cache and 'lunch' in cache

# numbers, many keys, versions
cache.set('n', 40)
assert cache.incr('n', 2) == 42 and cache.decr('n') == 41
try:
    cache.incr('nothing')
except ValueError:
    pass
else:
    raise AssertionError('a missing number was counted')
cache.set_many({f'many:{i}': i for i in range(100)}, timeout=60)
assert cache.get_many([f'many:{i}' for i in range(0, 200, 50)]) == {'many:0': 0, 'many:50': 50}
cache.delete_many(['many:0', 'many:1'])
cache.set('versioned', 'old', version=1)
cache.incr_version('versioned')
assert cache.get('versioned') is None and cache.get('versioned', version=2) == 'old'
assert len(list(cache.iter_keys('many:*'))) == 98 and sorted(cache.keys('many:9?')) == [f'many:{i}' for i in range(90, 100)]
assert cache.delete_pattern('many:*') == 98
assert cache.get_or_set('computed', lambda: 'once') == 'once' and cache.get_or_set('computed', lambda: 'twice') == 'once'

# a lock
with cache.lock('lock', timeout=60):
    assert not cache.lock('lock', blocking_timeout=0).acquire()
assert cache.lock('lock', blocking_timeout=0).acquire()

# sessions
session = SessionStore()
session['name'] = 'kitty'
session.set_expiry(600)
session.save()
again = SessionStore(session.session_key)
assert again['name'] == 'kitty'
again.cycle_key()
assert not SessionStore().exists(session.session_key) and SessionStore(again.session_key)['name'] == 'kitty'
again.flush()
assert not SessionStore().exists(again.session_key)

cache.clear()
assert get_redis_connection('default').dbsize() == 0
