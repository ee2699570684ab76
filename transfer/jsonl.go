package transfer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// jsonLine is a part as a line of JSON, but for its value, which comes last.
type jsonLine struct {
	DB      int   `json:"db,omitempty"`
	Key     blob  `json:"key"`
	Type    Type  `json:"type"`
	Part    int   `json:"part,omitempty"` // from 1 on; 0 of a key that is one line
	More    bool  `json:"more,omitempty"` // the next line belongs to the same key
	Expires int64 `json:"expires,omitempty"`
	Count   int64 `json:"count,omitempty"` // in the first of several lines
	Changed bool  `json:"changed,omitempty"`
	Void    bool  `json:"void,omitempty"`
}

// blob is a string of bytes: a JSON string if it is UTF-8, {"base64":…} otherwise.
type blob []byte

func (b blob) MarshalJSON() ([]byte, error) { return resp.AppendJSON(nil, resp.MakeBulk(b)), nil }

func (b *blob) UnmarshalJSON(in []byte) (err error) {
	s := &jsonScanner{in: bufio.NewReader(bytes.NewReader(in))}
	defer s.recovered(&err)
	*b = s.blob()
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

// What is in values beside elements.
type (
	jsonVectorShape struct {
		Quantization string `json:"quantization"`
		Dim          int    `json:"dim"`
		Reduced      int    `json:"reduced_from,omitempty"`
		M            int64  `json:"m"`
	}
	jsonStream struct { // beside its entries
		Last    jsonID      `json:"last,omitzero"`
		Deleted jsonID      `json:"deleted,omitzero"`
		Added   int64       `json:"added,omitempty"`
		Groups  []jsonGroup `json:"groups,omitempty"`
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
