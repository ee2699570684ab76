package keytype

import "strings"

// nowMark stands in Size for the argument that is now.
const nowMark = "?now"

// Case is an expression of a row of keys that is another for each type, NULL for those
// that some leaves out.
func Case(some func(t *Type) bool, expression func(t *Type) string) string {
	var sql strings.Builder
	sql.WriteString(`CASE type`)
	for _, t := range Types {
		if some == nil || some(t) {
			sql.WriteString(` WHEN '` + t.Name + `' THEN ` + expression(t))
		}
	}
	return sql.String() + ` END`
}

// Counted is what Count answers of a row of keys, in SQL, at the moment that the argument now is;
// the bytes of a JSON document.
func (t *Type) Counted(now string) string {
	if t.Size == "" {
		return `count`
	}
	return strings.ReplaceAll(t.Size, nowMark, now)
}

// Bytes is the bytes of the value of a row of keys, in SQL, as users have written
// it: those that have not expired at the argument now.
func (t *Type) Bytes(now string) string {
	sum := t.KeyBytes()
	for _, table := range t.Tables {
		if table.Bytes != "" {
			sum += ` + ifnull((SELECT sum(` + table.Bytes + `) FROM ` + table.Name + ` WHERE key_id = keys.id` + table.Live(now) + `), 0)`
		}
	}
	return sum
}

// KeyBytes is the part of Bytes that is in no row of the tables of elements.
func (t *Type) KeyBytes() string {
	if t.Weight == "" {
		return `0`
	}
	return t.Weight
}

// Estimate is what a row of keys takes in a file beside its name, in SQL, by so many of its
// elements as the argument samples says.
func (t *Type) Estimate(samples string) string {
	sum := t.Memory
	for _, table := range t.Tables {
		if table.Memory != "" {
			sum = strings.TrimPrefix(sum+` + `, ` + `) + `ifnull(count * (SELECT avg(` + table.Memory + `) FROM (SELECT * FROM ` + table.Name +
				` WHERE key_id = keys.id LIMIT CAST(` + samples + ` AS INTEGER))), 0)`
		}
	}
	return sum
}

// Live is the condition, after others, of rows that have not expired.
func (t Table) Live(now string) string {
	if t.Expires == "" {
		return ``
	}
	column := t.Name + `.` + t.Expires
	return ` AND (` + column + ` IS NULL OR ` + column + ` > ` + now + `)`
}

// Weighed is the table whose rows have Bytes.
func (t *Type) Weighed() Table {
	for _, table := range t.Tables {
		if table.Bytes != "" {
			return table
		}
	}
	return Table{}
}
