package profile

import (
	"errors"
	"fmt"
)

// Inspect holds the look and the key bindings of the inspector. Missing settings have their defaults. Package inspect
// knows the valid names.
type Inspect struct {
	Theme  string            `toml:"theme,omitempty"`
	Keys   map[string]Keys   `toml:"keys,omitempty"`   // by action
	Colors map[string]string `toml:"colors,omitempty"` // by element
	// Decoders show values. The keys of the map are their names.
	Decoders map[string]Decoder `toml:"decoders,omitempty"`
}

// Decoder shows values: as Protocol Buffers messages, or by a command that reads a value from stdin and writes text
// to stdout.
type Decoder struct {
	Keys     string   `toml:"keys"` // the pattern of keys that it applies to
	Command  []string `toml:"command,omitempty"`
	Protobuf string   `toml:"protobuf,omitempty"` // a .proto file, or the output of protoc -o
	Message  string   `toml:"message,omitempty"`  // the full name of a message type in it
}

// check returns an error if a setting of the decoder is missing.
func (d Decoder) check() error {
	runs, reads := len(d.Command) > 0 && d.Command[0] != "", d.Protobuf != "" && d.Message != ""
	if d.Keys == "" || runs == reads {
		return errors.New(`a decoder needs keys (a pattern such as "order:*"), and either command (a list such as ["gpg", "--decrypt"]), or protobuf (a .proto file or the output of protoc -o) and message (a name such as "shop.Order")`)
	}
	return nil
}

// Keys lists the keys of an action. The file has one key or a list.
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
				return fmt.Errorf("a key is a string such as \"x\", not %v", each)
			}
			*k = append(*k, key)
		}
		return nil
	}
	return fmt.Errorf("keys must be a string or a list of strings, not %v", value)
}

// Line returns the number of the line that defines the setting keys, from 1.
func (f *File) Line(keys ...string) int { return lineOf(f.text, keys) }
