package transfer

import (
	"testing"

	"github.com/meowdis/meowdis/keytype"
)

// Every declared type can be copied.
func TestAllTypesMove(t *testing.T) {
	for _, typ := range keytype.Types {
		if _, ok := values[Type(typ.Name)]; !ok {
			t.Errorf("a %s cannot be copied: values lacks it", typ.Name)
		}
	}
}
