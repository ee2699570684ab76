package transfer

import (
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/store/keytype"
)

// TestAllTypesMove checks that every declared type can be copied.
func TestAllTypesMove(t *testing.T) {
	race.Skip(t)
	for _, typ := range keytype.Types {
		if !movable(Type(typ.Name)) {
			t.Errorf("a %s cannot be copied", typ.Name)
		}
	}
}
