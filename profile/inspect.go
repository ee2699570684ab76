package profile

import "fmt"

// Inspect is how the inspector looks, and which keys do what there. What is not given
// is as it comes; package inspect knows which names there are.
type Inspect struct {
	Theme  string            `toml:"theme,omitempty"`
	Keys   map[string]Keys   `toml:"keys,omitempty"`   // by action
	Colors map[string]string `toml:"colors,omitempty"` // by what has the colour
}

// Keys are those of an action, in the file one or a list of them.
type Keys []string

// UnmarshalTOML implements toml.Unmarshaler.
func (k *Keys) UnmarshalTOML(value any) error {
	switch v := value.(type) {
	case string:
		*k = Keys{v}
		return nil
	case []any:
		*k = Keys{}
		for _, each := range v {
			key, ok := each.(string)
			if !ok {
				return fmt.Errorf("a key is a text such as \"x\", not %v", each)
			}
			*k = append(*k, key)
		}
		return nil
	}
	return fmt.Errorf("keys are a text, or a list of them, not %v", value)
}

// Line is where the file has the setting that keys lead to, counted from 1.
func (f *File) Line(keys ...string) int { return lineOf(f.text, keys) }
