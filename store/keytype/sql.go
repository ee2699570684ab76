package keytype

import "strings"

// nowMark stands for the argument with the current time in Size.
const nowMark = "?now"

// Case returns SQL for a row of keys: the expression of the row's type, and NULL for types that some excludes.
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

// Counted returns SQL for the result of Count on a row of keys; for a JSON document, its bytes. now is the
// argument with the current time.
func (t *Type) Counted(now string) string {
	if t.Size == "" {
		return `count`
	}
	return strings.ReplaceAll(t.Size, nowMark, now)
}

// Bytes returns SQL for the bytes of the value of a row of keys, as users wrote them, without expired fields.
// now is the argument with the current time.
func (t *Type) Bytes(now string) string {
	sum := t.KeyBytes()
	for _, table := range t.Tables {
		if table.Bytes != "" {
			sum += ` + ifnull((SELECT sum(` + table.Bytes + `) FROM ` + table.Name + ` WHERE key_id = keys.id` + table.Live(now) + `), 0)`
		}
	}
	return sum
}

// KeyBytes returns SQL for the part of Bytes outside the tables of elements.
func (t *Type) KeyBytes() string {
	if t.Weight == "" {
		return `0`
	}
	return t.Weight
}

// Estimate returns SQL for the bytes of a row of keys in a file, without its name. samples is the argument with
// the number of elements to look at.
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

// Live returns a condition, to append to other conditions, for rows that have not expired.
func (t Table) Live(now string) string {
	if t.Expires == "" {
		return ``
	}
	column := t.Name + `.` + t.Expires
	return ` AND (` + column + ` IS NULL OR ` + column + ` > ` + now + `)`
}

// BytesTable returns the table whose rows have Bytes.
func (t *Type) BytesTable() Table {
	for _, table := range t.Tables {
		if table.Bytes != "" {
			return table
		}
	}
	return Table{}
}
