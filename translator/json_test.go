package translator_test

import "testing"

// TestJSONOverRESP3 checks the replies that differ in RESP3. Clients of
// https://redis.io/docs/latest/develop/data-types/json/resp3/ unpack these shapes.
func TestJSONOverRESP3(t *testing.T) {
	c := newClient(t)
	c.expect(
		`JSON.SET d $ {"i":1,"f":2.5,"s":"x","l":[true,null,{"a":"b"}]}`, "+OK",
		"JSON.TYPE d", "*1 $6 object",
		"JSON.TYPE d $.*", "*1 *4 $7 integer $6 number $6 string $5 array",
		"JSON.TYPE d $.none", "*1 *0",
		"JSON.TYPE d .none", "*1 _",
		"JSON.TYPE none", "*1 _",
		"JSON.TYPE none $", "*1 _",
		"JSON.NUMINCRBY d $.* 1", "*4 :2 ,3.5 _ _",
		"JSON.NUMINCRBY d .i 1", "*1 :3",
		"JSON.NUMINCRBY d .f 0.5", "*1 ,4",
		"JSON.NUMMULTBY d .s 2", "*1 _",
		"JSON.NUMMULTBY d .none 2", "*0",
		"JSON.NUMPOWBY d $.none 2", "*0",
		"JSON.NUMINCRBY none .i 1", "-ERR could not perform this operation on a key that doesn't exist",
		"JSON.NUMINCRBY d .i 9223372036854775807", "-ERR numeric overflow",
		"JSON.GET d", `$49 {"i":3,"f":4.0,"s":"x","l":[true,null,{"a":"b"}]}`,
		"JSON.GET d FORMAT EXPAND .l $.s", "*2 *1 *3 #t _ %1 $1 a $1 b *1 $1 x",
		"JSON.GET d FORMAT EXPAND1 .l $.s $.f", `*3 *1 $21 [true,null,{"a":"b"}] *1 $3 "x" *1 ,4`,
		"JSON.GET none FORMAT EXPAND", "_",
		"JSON.GET d NOESCAPE FORMAT STRING .s", `$3 "x"`,
		"JSON.GET d FORMAT STRINGS $", "-ERR wrong reply format",
		"JSON.GET d FORMAT", "-ERR wrong number of arguments for 'json.get' command",
		"JSON.ARRPOP d FORMAT EXPAND", "-Legacy paths are supported only with FORMAT STRINGS",
		"JSON.ARRPOP d FORMAT STRING $.l", "-ERR wrong reply format",
		"JSON.ARRPOP d FORMAT EXPAND $.none", "*0",
		"JSON.TOGGLE d $.l[0]", "*1 :0",
		"JSON.RESP d $.f", "*1 ,4",
		"JSON.OBJKEYS d .l[2]", "*1 $1 a",
		"JSON.ARRPOP d FORMAT EXPAND $.l", "*1 %1 $1 a $1 b",
		"JSON.ARRPOP d FORMAT EXPAND1 $.l 0", "*1 #f",
		"JSON.ARRPOP d $.l", "*1 $4 null",
		"JSON.MGET d none $.i", "*2 $3 [3] _",
		"MULTI", "+OK",
		"JSON.TYPE d .s", "+QUEUED",
		"JSON.NUMINCRBY d .i 1", "+QUEUED",
		"JSON.NUMINCRBY d .s 1", "+QUEUED",
		"EXEC", "*3 *1 $6 string *1 :4 *1 _",
	)
}
