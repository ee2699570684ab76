package decode

import (
	"fmt"
	"maps"
	"strings"

	"github.com/emicklei/proto"
)

// ParseProto reads messages from .proto source and its imports. read returns a file by its
// import name. A field is shown by number if read fails for the file of its type.
func ParseProto(name string, read func(name string) (string, error)) (*Descriptors, error) {
	p := &protoFiles{
		Descriptors: &Descriptors{messages: map[string]*messageType{}, enums: map[string]map[int64]string{}},
		read:        read, seen: map[string]bool{},
	}
	text, err := read(name)
	if err == nil {
		err = p.file(name, text)
	}
	if err != nil {
		return nil, err
	}
	for _, resolve := range p.resolve {
		resolve()
	}
	for _, m := range p.messages {
		maps.DeleteFunc(m.fields, func(_ uint64, f fieldType) bool { return f.kind == 0 })
	}
	return p.Descriptors, nil
}

type protoFiles struct {
	*Descriptors
	read    func(name string) (string, error)
	seen    map[string]bool
	resolve []func() // resolve field types once all messages are declared
}

// maxProtoFiles limits the number of imported files.
const maxProtoFiles = 1000

func (p *protoFiles) file(name, text string) error {
	if p.seen[name] = true; len(p.seen) > maxProtoFiles {
		return fmt.Errorf("it imports more than %d files", maxProtoFiles)
	}
	parser := proto.NewParser(strings.NewReader(text))
	parser.Filename(name)
	parsed, err := parser.Parse()
	if err != nil {
		return err
	}
	scope := ""
	for _, e := range parsed.Elements {
		switch e := e.(type) {
		case *proto.Package:
			scope = e.Name + "."
		case *proto.Import:
			if p.seen[e.Filename] {
				continue
			}
			text, known := wellKnown[e.Filename]
			if !known {
				if text, err = p.read(e.Filename); err != nil {
					continue
				}
			}
			if err := p.file(e.Filename, text); err != nil {
				return err
			}
		}
	}
	p.declare(scope, parsed.Elements)
	return nil
}

// declare adds the messages and enums of a scope, such as "shop.".
func (p *protoFiles) declare(scope string, elements []proto.Visitee) {
	for _, e := range elements {
		switch e := e.(type) {
		case *proto.Enum:
			p.enums[scope+e.Name] = enumValues(e)
		case *proto.Message:
			if e.IsExtend {
				continue // extension fields are shown by number
			}
			m := &messageType{fields: map[uint64]fieldType{}}
			p.messages[scope+e.Name] = m
			p.declare(scope+e.Name+".", e.Elements)
			p.fields(m, scope+e.Name+".", e.Elements)
		}
	}
}

func enumValues(e *proto.Enum) map[int64]string {
	values := map[int64]string{}
	for _, v := range e.Elements {
		if v, ok := v.(*proto.EnumField); ok {
			if _, alias := values[int64(v.Integer)]; !alias {
				values[int64(v.Integer)] = v.Name
			}
		}
	}
	return values
}

// fields adds the fields of a message. scope ends with the message's name.
func (p *protoFiles) fields(m *messageType, scope string, elements []proto.Visitee) {
	for _, e := range elements {
		switch e := e.(type) {
		case *proto.NormalField:
			p.field(m, scope, e.Field, e.Type, e.Repeated)
		case *proto.OneOfField:
			p.field(m, scope, e.Field, e.Type, false)
		case *proto.Oneof:
			p.fields(m, scope, e.Elements)
		case *proto.MapField:
			entry := &messageType{fields: map[uint64]fieldType{}, isMap: true}
			name := scope + e.Name + " entry" // cannot be a message name
			p.messages[name] = entry
			p.field(entry, scope, &proto.Field{Name: "key", Sequence: 1}, e.KeyType, false)
			p.field(entry, scope, &proto.Field{Name: "value", Sequence: 2}, e.Type, false)
			m.fields[uint64(e.Sequence)] = fieldType{name: e.Name, kind: kindMessage, of: name, repeated: true}
		}
	}
}

// field adds a field. Its type is resolved later.
func (p *protoFiles) field(m *messageType, scope string, f *proto.Field, typ string, repeated bool) {
	p.resolve = append(p.resolve, func() {
		t := fieldType{name: f.Name, repeated: repeated, kind: scalars[typ]}
		if t.kind == 0 {
			t.kind, t.of = p.lookUp(scope, typ)
		}
		m.fields[uint64(f.Sequence)] = t
	})
}

// lookUp finds a type by name in scope and its enclosing scopes. kind is 0 if the type is
// unknown.
func (p *protoFiles) lookUp(scope, name string) (kind uint64, of string) {
	if full, isFull := strings.CutPrefix(name, "."); isFull {
		scope, name = "", full
	}
	for {
		switch of = scope + name; {
		case p.messages[of] != nil:
			return kindMessage, of
		case p.enums[of] != nil:
			return kindEnum, of
		case scope == "":
			return 0, ""
		}
		scope = scope[:strings.LastIndexByte(strings.TrimSuffix(scope, "."), '.')+1]
	}
}

var scalars = map[string]uint64{
	"double": kindDouble, "float": kindFloat, "int64": kindInt64, "uint64": kindUint64, "int32": kindInt32,
	"fixed64": kindFixed64, "fixed32": kindFixed32, "bool": kindBool, "string": kindString, "bytes": kindBytes,
	"uint32": kindUint32, "sfixed32": kindSfixed32, "sfixed64": kindSfixed64, "sint32": kindSint32, "sint64": kindSint64,
}

// wellKnown holds the standard files that every compiler includes:
// https://protobuf.dev/reference/protobuf/google.protobuf/
var wellKnown = map[string]string{
	"google/protobuf/any.proto":        `package google.protobuf; message Any { string type_url = 1; bytes value = 2; }`,
	"google/protobuf/duration.proto":   `package google.protobuf; message Duration { int64 seconds = 1; int32 nanos = 2; }`,
	"google/protobuf/empty.proto":      `package google.protobuf; message Empty {}`,
	"google/protobuf/field_mask.proto": `package google.protobuf; message FieldMask { repeated string paths = 1; }`,
	"google/protobuf/struct.proto": `package google.protobuf;
		message Struct { map<string, Value> fields = 1; }
		message Value { oneof kind { NullValue null_value = 1; double number_value = 2; string string_value = 3;
			bool bool_value = 4; Struct struct_value = 5; ListValue list_value = 6; } }
		message ListValue { repeated Value values = 1; }
		enum NullValue { NULL_VALUE = 0; }`,
	"google/protobuf/timestamp.proto": `package google.protobuf; message Timestamp { int64 seconds = 1; int32 nanos = 2; }`,
	"google/protobuf/wrappers.proto": `package google.protobuf;
		message DoubleValue { double value = 1; } message FloatValue { float value = 1; }
		message Int64Value { int64 value = 1; } message UInt64Value { uint64 value = 1; }
		message Int32Value { int32 value = 1; } message UInt32Value { uint32 value = 1; }
		message BoolValue { bool value = 1; } message StringValue { string value = 1; } message BytesValue { bytes value = 1; }`,
}
