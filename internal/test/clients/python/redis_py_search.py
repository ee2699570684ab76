"""The search, JSON, probabilistic and time series commands of redis-py: redis_py_search.py HOST PORT PASSWORD.

It leaves out FT.DROPINDEX, FT.DEL, FT.PROFILE and TDIGEST, of which the redis-py of Debian, 4.3, has old forms.
"""
import struct
import sys

import redis
import redis.commands.search.reducers as reducers
from redis.commands.search.aggregation import AggregateRequest, Desc
from redis.commands.search.field import GeoField, NumericField, TagField, TextField, VectorField
from redis.commands.search.indexDefinition import IndexDefinition, IndexType
from redis.commands.search.query import GeoFilter, NumericFilter, Query
from redis.commands.search.suggestion import Suggestion
from redis.exceptions import ResponseError

host, port, password = sys.argv[1:]
r = redis.Redis(host=host, port=int(port), password=password, decode_responses=True)

# an index of hashes
shop = r.ft('shop')
assert shop.create_index(
    [TextField('title', weight=2), TextField('body'), TagField('kind', separator=','), NumericField('price', sortable=True), GeoField('at')],
    definition=IndexDefinition(prefix=['p:'], index_type=IndexType.HASH)) == 'OK'
for i, (title, kind, price) in enumerate([('red bicycle', 'wheels,sport', 40), ('red cart', 'wheels', 10), ('green hat', 'head', 5)]):
    r.hset(f'p:{i}', mapping={'title': title, 'body': 'to see in the shop', 'kind': kind, 'price': price, 'at': f'{i},50'})
found = shop.search('red')
assert found.total == 2 and sorted(d.id for d in found.docs) == ['p:0', 'p:1'] and found.docs[0].price in ('40', '10')
found = shop.search(Query('@title:red -bicycle').with_scores().no_content())
assert [d.id for d in found.docs] == ['p:1'] and found.docs[0].score > 0
assert [d.id for d in shop.search(Query('@kind:{wheels}').sort_by('price').return_field('title', as_field='name')).docs] == ['p:1', 'p:0']
assert shop.search(Query('red').sort_by('price').return_field('title', as_field='name')).docs[0].name == 'red cart'
assert shop.search(Query('*').add_filter(NumericFilter('price', 6, 20))).docs[0].id == 'p:1'
assert shop.search(Query('*').add_filter(GeoFilter('at', 2, 50, 10, GeoFilter.KILOMETERS))).docs[0].id == 'p:2'
assert shop.search(Query('bicycl').highlight(fields=['title'], tags=['[', ']'])).docs[0].title == 'red [bicycle]'
assert shop.search(Query('(shop)').summarize(fields=['body'], num_frags=1, context_len=2)).docs[0].body.strip().endswith('...')
assert [d.id for d in shop.search(Query('red hat').limit_ids('p:0')).docs] == [] and shop.search(Query('red').paging(1, 1)).total == 2
assert shop.info()['index_name'] == 'shop' and int(shop.info()['num_docs']) == 3, shop.info()
assert 'INTERSECT' in shop.explain('red @kind:{wheels}') and shop.tagvals('kind') == ['head', 'sport', 'wheels']

# aggregations and cursors
groups = AggregateRequest('*').group_by('@kind', reducers.count().alias('n'), reducers.sum('@price').alias('sum')).sort_by(Desc('@sum'))
assert shop.aggregate(groups).rows[0] == ['kind', 'wheels,sport', 'n', '1', 'sum', '40']
page = shop.aggregate(AggregateRequest('*').load('@title').apply(up='upper(@title)').cursor(count=2))
assert len(page.rows) == 2 and page.rows[0][2:] == ['up', page.rows[0][1].upper()]
assert len(shop.aggregate(page.cursor).rows) == 1

# dictionaries, spelling, synonyms, aliases, suggestions, configuration
assert shop.dict_add('extra', 'bicycles', 'carts') == 2 and shop.dict_dump('extra') == ['bicycles', 'carts'] and shop.dict_del('extra', 'carts') == 1
assert shop.spellcheck('gren')['gren'][0]['suggestion'] == 'green'
assert shop.synupdate('one', False, 'bike', 'bicycle') == 'OK' and shop.syndump() == {'bike': ['one'], 'bicycle': ['one']}
assert [d.id for d in shop.search('bike').docs] == ['p:0']
assert shop.aliasadd('store') == 'OK' and r.ft('store').search('hat').total == 1 and shop.aliasdel('store') == 'OK'
assert shop.sugadd('words', Suggestion('hello', 2), Suggestion('help', 1, payload='x')) == 2 and shop.suglen('words') == 2
assert [s.string for s in shop.sugget('words', 'hel', with_scores=True)] == ['hello', 'help'] and shop.sugdel('words', 'help') == 1
assert shop.config_set('TIMEOUT', '100') and shop.config_get('TIMEOUT')['TIMEOUT'] == '100' and shop.config_set('TIMEOUT', '0')
assert shop.alter_schema_add(TextField('maker')) == 'OK'
assert r.delete('p:2') == 1 and shop.search('hat').total == 0
assert r.execute_command('FT.DROPINDEX', 'shop', 'DD') == 'OK' and not r.exists('p:0')

# vectors
near = r.ft('near')
near.create_index([VectorField('v', 'FLAT', {'TYPE': 'FLOAT32', 'DIM': 2, 'DISTANCE_METRIC': 'L2'})], definition=IndexDefinition(prefix=['v:']))
for i in range(3):
    r.hset(f'v:{i}', 'v', struct.pack('<ff', i, 0))
found = near.search(Query('*=>[KNN 2 @v $q AS distance]').sort_by('distance').return_fields('distance').dialect(2), {'q': struct.pack('<ff', 2, 0)})
assert [(d.id, float(d.distance)) for d in found.docs] == [('v:2', 0), ('v:1', 1)]

# an index of documents
files = r.ft('files')
files.create_index([TextField('$.name', as_name='name'), NumericField('$.size[*]', as_name='size')], definition=IndexDefinition(prefix=['f:'], index_type=IndexType.JSON))
assert r.json().set('f:1', '$', {'name': 'a report', 'size': [1, 20]}) and r.json().numincrby('f:1', '$.size[0]', 2) == [3]
assert files.search('@name:report @size:[20 20]').docs[0].json == '{"name":"a report","size":[3,20]}'
assert r.json().mget(['f:1', 'none'], '$.name') == [['a report'], None] and r.json().arrappend('f:1', '$.size', 4) == [3]

# probabilistic types
assert r.bf().create('bloom', 0.01, 100) and r.bf().madd('bloom', 'a', 'b') == [1, 1] and r.bf().exists('bloom', 'a') == 1 and r.bf().info('bloom').capacity == 100
assert r.cf().create('cuckoo', 100) and r.cf().add('cuckoo', 'a') and r.cf().addnx('cuckoo', 'a') == 0 and r.cf().count('cuckoo', 'a') == 1
assert r.cms().initbydim('sketch', 100, 5) and r.cms().incrby('sketch', ['a', 'b'], [3, 4]) == [3, 4] and r.cms().info('sketch').count == 7
assert r.topk().reserve('top', 2, 50, 4, 0.9) and r.topk().add('top', 'a', 'b', 'a') == [None, None, None] and sorted(r.topk().list('top')) == ['a', 'b']

# time series
ts = r.ts()
assert ts.create('t:1', labels={'room': 'a'}) and ts.create('t:1:avg') and ts.createrule('t:1', 't:1:avg', 'avg', 10)
assert [ts.add('t:1', at, at) for at in (1, 5, 12)] == [1, 5, 12] and ts.get('t:1:avg') == (0, 3.0)
assert ts.range('t:1', '-', '+', aggregation_type='sum', bucket_size_msec=10) == [(0, 6.0), (10, 12.0)]
assert ts.mrange('-', '+', ['room=a'], with_labels=True) == [{'t:1': [{'room': 'a'}, [(1, 1.0), (5, 5.0), (12, 12.0)]]}]
assert ts.queryindex(['room=a']) == ['t:1'] and ts.info('t:1').total_samples == 3 and ts.delete('t:1', 1, 5) == 2

try:
    r.ft('none').search('x')
    raise AssertionError('an error was expected')
except ResponseError as e:
    assert 'none' in str(e), e
print('ok')
