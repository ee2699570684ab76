package decode

import "bytes"

// signatures lists formats that are named but not opened, by their first bytes.
var signatures = []struct{ begins, name string }{
	{"\xac\xed\x00\x05", "serialized by Java"},
	{"\x00\x00\x00\x02", "perhaps serialized by PHP's igbinary"},
	{"\x04\x08", "perhaps marshalled by Ruby"},
	{"%PDF-", "a PDF document"},
	{"PK\x03\x04", "a ZIP archive"},
	{"SQLite format 3\x00", "a SQLite database"},
	{"BZh", "compressed with bzip2"},
	{"\xfd7zXZ\x00", "compressed with xz"},
	{"\x04\x22\x4d\x18", "compressed with LZ4"},
	{"\xff\x06\x00\x00sNaPpY", "compressed with Snappy"},
	{"Obj\x01", "an Avro file"},
	{"PAR1", "a Parquet file"},
}

// format names the likely format of b, or returns "".
func format(b []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(b, []byte(s.begins)) {
			return s.name
		}
	}
	// A pickle begins with its protocol and ends with STOP.
	if len(b) > 3 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5 && b[len(b)-1] == '.' {
		return "pickled by Python"
	}
	return ""
}
