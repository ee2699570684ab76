package catalog_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/redis/rdb"
)

// TestFields reads the fields of a hash page by page, each once, without expired fields.
func TestFields(t *testing.T) {
	f := newFixture(t)
	want := map[string]string{}
	for i := range 250 {
		name := fmt.Sprintf("f%d", i)
		f.do("HSET", "big", name, fmt.Sprint(i))
		want[name] = fmt.Sprint(i)
	}
	f.do("HPEXPIRE", "big", "100000", "FIELDS", "1", "f7")
	f.do("HPEXPIRE", "big", "5", "FIELDS", "1", "f8")
	f.do("SET", "text", "x")
	f.clock += 5
	delete(want, "f8")
	for _, n := range []int{1, 100, 1000} {
		got, pages := map[string]string{}, 0
		for after, end := int64(catalog.BeforeFields), false; !end; pages++ {
			var err error
			after, end, err = f.catalog.Fields(t.Context(), 0, "big", after, n, func() func(rdb.Field) {
				return func(field rdb.Field) {
					if _, again := got[string(field.Name)]; again {
						t.Errorf("%s came twice", field.Name)
					}
					if ends := field.ExpiresAt; (ends == now+100000) != (string(field.Name) == "f7") {
						t.Errorf("%s ends at %d", field.Name, ends)
					}
					got[string(field.Name)] = string(field.Value)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%d at a time: %d fields, not %d", n, len(got), len(want))
		}
		if most := 250/n + 1; pages > most {
			t.Errorf("%d pages of %d", pages, n)
		}
	}
	for _, key := range []string{"missing", "text"} {
		_, end, err := f.catalog.Fields(t.Context(), 0, key, catalog.BeforeFields, 10, func() func(rdb.Field) {
			return func(rdb.Field) { t.Errorf("%s has a field", key) }
		})
		if !end || err != nil {
			t.Error(end, err)
		}
	}
}
