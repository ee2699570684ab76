package translator

import "github.com/meowdis/meowdis/store/keytype"

var stringTranslations = translations{
	{"GET", get},
	{"SET", set},
	{"SETNX", setnx},
	{"SETEX", setex(true)},
	{"PSETEX", setex(false)},
	{"GETSET", getset},
	{"INCR", incr(1)},
	{"DECR", incr(-1)},
	{"INCRBY", incrby(1)},
	{"DECRBY", incrby(-1)},
	{"INCRBYFLOAT", incrbyfloat},
	{"MGET", mget},
	{"MSET", mset},
	{"MSETNX", msetnx},
	{"MSETEX", msetex},
	{"DELEX", delex},
	{"DIGEST", digest},
	{"INCREX", increx},
	{"GETDEL", getdel},
	{"GETEX", getex},
	{"STRLEN", func(c *Call) Plan { return c.strlen(c.Args[1]) }},
	{"GETRANGE", getrange},
	{"SUBSTR", getrange},
	{"SETRANGE", setrange},
	{"APPEND", appendValue},
	{"LCS", lcs},
}

// stringType names the type in the keys table and in TYPE's reply.
const stringType = keytype.String
