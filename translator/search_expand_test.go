package translator_test

import "testing"

// TestExpandedSearch checks FORMAT EXPAND: redis.io/docs/latest/commands/ft.search and
// redis.io/docs/latest/develop/ai/search-and-query/advanced-concepts/dialects.
func TestExpandedSearch(t *testing.T) {
	c := newClient(t)
	c.expect(
		"FT.CREATE j ON JSON PREFIX 1 d: SCHEMA $.t AS t TEXT $.n AS n NUMERIC $.a[*] AS a TAG", "+OK",
		"FT.CREATE h ON HASH PREFIX 1 h: SCHEMA t TEXT", "+OK",
		`JSON.SET d:1 $ {"t":"hello","n":5,"f":1.5,"a":["x",null],"b":true}`, "+OK",
		"FT.SEARCH j hello FORMAT EXPAND DIALECT 3", "%5 $10 attributes *0 $6 format $6 EXPAND $7 results *1 %3 $2 id $3 d:1"+
			" $16 extra_attributes %1 $1 $ *1 %5 $1 t $5 hello $1 n :5 $1 f ,1.5 $1 a *2 $1 x _ $1 b #t $6 values *0 $13 total_results :1 $7 warning *0",
		"FT.SEARCH j hello FORMAT EXPAND DIALECT 3 RETURN 5 n a $.b AS c", "%5 $10 attributes *0 $6 format $6 EXPAND $7 results *1 %3 $2 id $3 d:1"+
			" $16 extra_attributes %3 $1 n *1 :5 $1 a *2 $1 x _ $1 c *1 #t $6 values *0 $13 total_results :1 $7 warning *0",
		"FT.AGGREGATE j hello FORMAT EXPAND DIALECT 3 LOAD 2 @n @a APPLY @n*2 AS m", "%5 $10 attributes *0 $6 format $6 EXPAND $7 results *1 %2"+
			" $16 extra_attributes %3 $1 n *1 :5 $1 a *2 $1 x _ $1 m ,10 $6 values *0 $13 total_results :1 $7 warning *0",
		"FT.SEARCH j hello FORMAT EXPAND DIALECT 2", "-EXPAND format requires dialect 3 or greater",
		"FT.SEARCH h hello FORMAT EXPAND DIALECT 3", "-EXPAND format is only supported with JSON",
		"FT.AGGREGATE h hello FORMAT EXPAND DIALECT 3", "-EXPAND format is only supported with JSON",
	)
	c.session.SetRESP2(true)
	c.expect("FT.SEARCH j hello FORMAT EXPAND DIALECT 3", "-EXPAND format is only supported with RESP3")
}

// TestSearchInScript expects that a script of a client of RESP2 can get the reply of RESP3.
func TestSearchInScript(t *testing.T) {
	c := newClient(t)
	c.expect("FT.CREATE h SCHEMA a TEXT", "+OK", "HSET 1 a hello", ":1")
	c.session.SetRESP2(true)
	c.expect("FT.SEARCH h hello NOCONTENT", "*2 :1 $1 1")
	v := c.do("EVAL", "redis.setresp(3); return redis.call('FT.SEARCH', 'h', 'hello', 'NOCONTENT').map.total_results", "0")
	if v.Int != 1 {
		t.Fatal(v)
	}
}
