package profile

import (
	"errors"
	"fmt"
)

// Inspect is how the inspector looks, and which keys do what there. What is not given
// is as it comes; package inspect knows which names there are.
type Inspect struct {
	Theme  string            `toml:"theme,omitempty"`
	Keys   map[string]Keys   `toml:"keys,omitempty"`   // by action
	Colors map[string]string `toml:"colors,omitempty"` // by what has the colour
	// Decoders show values, by their names.
	Decoders map[string]Decoder `toml:"decoders,omitempty"`
}

// Decoder shows values: as messages of Protocol Buffers, or by a command that gets a value on
// its stdin, and writes to stdout what to show of it.
type Decoder struct {
	Keys     string   `toml:"keys"` // a pattern of the keys that it is for
	Command  []string `toml:"command,omitempty"`
	Protobuf string   `toml:"protobuf,omitempty"` // a .proto, or what protoc -o has compiled it to
	Message  string   `toml:"message,omitempty"`  // the full name of a message in it
}

// check reports what is missing of a decoder.
func (d Decoder) check() error {
	runs, reads := len(d.Command) > 0 && d.Command[0] != "", d.Protobuf != "" && d.Message != ""
	if d.Keys == "" || runs == reads {
		return errors.New(`a decoder needs keys, a pattern such as "order:*", and either command, a list such as ["gpg", "--decrypt"], or protobuf, a .proto or what protoc -o has compiled it to, and message, a name such as "shop.Order"`)
	}
	return nil
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
