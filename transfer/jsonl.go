package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/meowdis/meowdis/rdb"
	"github.com/meowdis/meowdis/resp"
)

// jsonLine is a part as a line of JSON.
type jsonLine struct {
	DB      int             `json:"db,omitempty"`
	Key     blob            `json:"key"`
	Type    Type            `json:"type"`
	Part    int             `json:"part,omitempty"` // from 1 on; 0 of a key that is one line
	More    bool            `json:"more,omitempty"` // the next line belongs to the same key
	Expires int64           `json:"expires,omitempty"`
	Count   int64           `json:"count,omitempty"` // in the first of several lines
	Changed bool            `json:"changed,omitempty"`
	Void    bool            `json:"void,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
}

// blob is a string of bytes: a JSON string if it is UTF-8, {"base64":…} otherwise.
type blob []byte

func (b blob) MarshalJSON() ([]byte, error) { return resp.AppendJSON(nil, resp.MakeBulk(b)), nil }

func (b *blob) UnmarshalJSON(in []byte) error {
	if len(in) > 0 && in[0] == '{' {
		var wrapped struct {
			Base64 *[]byte `json:"base64"`
		}
		if err := strict(in, &wrapped); err != nil {
			return err
		}
		if wrapped.Base64 == nil {
			return errors.New(`bytes are a string or {"base64":"…"}`)
		}
		*b = *wrapped.Base64
		return nil
	}
	var s string
	err := json.Unmarshal(in, &s)
	*b = blob(s)
	return err
}

// strict reads one JSON value, which may hold no field that v does not have.
func strict(in []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(in))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more on the line than one value")
	}
	return nil
}

// score is a double of a sorted set; JSON has no infinities.
type score float64

func (s score) MarshalJSON() ([]byte, error) {
	return resp.AppendJSON(nil, resp.MakeDouble(float64(s))), nil
}

func (s *score) UnmarshalJSON(in []byte) error {
	var f float64
	switch text := string(in); text {
	case `"inf"`, `"+inf"`:
		f = math.Inf(1)
	case `"-inf"`:
		f = math.Inf(-1)
	default:
		if err := json.Unmarshal(in, &f); err != nil {
			return err
		}
	}
	*s = score(f)
	return nil
}

// The values of the types that are more than lists of strings.
type (
	jsonMember struct {
		Member blob  `json:"member"`
		Score  score `json:"score"`
	}
	jsonField struct {
		Field   blob  `json:"field"`
		Value   blob  `json:"value"`
		Expires int64 `json:"expires,omitempty"`
	}
	jsonSlot struct {
		Index uint64 `json:"index"`
		Value blob   `json:"value"`
	}
	jsonArray struct {
		Slots []jsonSlot `json:"slots"`
		Next  uint64     `json:"next,omitempty"`
	}
	jsonVectorSet struct {
		Quantization string              `json:"quantization"`
		Dim          int                 `json:"dim"`
		Reduced      int                 `json:"reduced_from,omitempty"`
		M            int64               `json:"m"`
		Elements     []jsonVectorElement `json:"elements"`
	}
	jsonVectorElement struct {
		Element    blob      `json:"element"`
		Vector     []float32 `json:"vector"`
		Attributes *blob     `json:"attributes,omitempty"`
	}
	jsonStream struct {
		Entries []jsonEntry `json:"entries"`
		Last    jsonID      `json:"last,omitzero"`
		Deleted jsonID      `json:"deleted,omitzero"`
		Added   int64       `json:"added,omitempty"`
		Groups  []jsonGroup `json:"groups,omitempty"`
	}
	jsonEntry struct {
		ID     jsonID `json:"id"`
		Fields []blob `json:"fields"` // field, value, field, value …
	}
	jsonGroup struct {
		Name      blob           `json:"name"`
		Last      jsonID         `json:"last"`
		Read      *int64         `json:"read,omitempty"`
		Consumers []jsonConsumer `json:"consumers,omitempty"`
	}
	jsonConsumer struct {
		Name    blob          `json:"name"`
		Seen    int64         `json:"seen"`
		Active  *int64        `json:"active,omitempty"`
		Pending []jsonPending `json:"pending,omitempty"`
	}
	jsonPending struct {
		ID         jsonID `json:"id"`
		Delivered  int64  `json:"delivered"`
		Deliveries int64  `json:"deliveries"`
	}
)

// jsonID is an id of a stream, as text.
type jsonID rdb.ID

func (id jsonID) MarshalJSON() ([]byte, error) { return json.Marshal(string(formatID(rdb.ID(id)))) }

func (id *jsonID) UnmarshalJSON(in []byte) error {
	var s string
	if err := json.Unmarshal(in, &s); err != nil {
		return err
	}
	parsed, ok := parseID([]byte(s))
	if !ok {
		return fmt.Errorf("%q is no id of a stream", s)
	}
	*id = jsonID(parsed)
	return nil
}
