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

// jsonLine holds a part as a JSON line, except its value, which comes last.
type jsonLine struct {
	DB      int   `json:"db,omitempty"`
	Key     blob  `json:"key"`
	Type    Type  `json:"type"`
	Part    int   `json:"part,omitempty"` // from 1; 0 for a key on one line
	More    bool  `json:"more,omitempty"` // the key continues on the next line
	Expires int64 `json:"expires,omitempty"`
	Count   int64 `json:"count,omitempty"` // set in the first of several lines
	Changed bool  `json:"changed,omitempty"`
	Void    bool  `json:"void,omitempty"`
}

// blob encodes as a JSON string if it is UTF-8, otherwise as {"base64":…}.
type blob []byte

func (b blob) MarshalJSON() ([]byte, error) { return resp.AppendJSON(nil, resp.MakeBulk(b)), nil }

func (b *blob) UnmarshalJSON(in []byte) (err error) {
	s := &jsonScanner{in: bufio.NewReader(bytes.NewReader(in))}
	defer s.recovered(&err)
	*b = s.blob()
	return nil
}

// score may be infinite, which JSON numbers cannot express.
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

// Metadata of values.
type (
	jsonVectorShape struct {
		Quantization string `json:"quantization"`
		Dim          int    `json:"dim"`
		Reduced      int    `json:"reduced_from,omitempty"`
		M            int64  `json:"m"`
	}
	jsonStream struct { // without its entries
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

// jsonID encodes a stream id as text.
type jsonID rdb.ID

func (id jsonID) MarshalJSON() ([]byte, error) { return json.Marshal(string(formatID(rdb.ID(id)))) }

func (id *jsonID) UnmarshalJSON(in []byte) error {
	var s string
	if err := json.Unmarshal(in, &s); err != nil {
		return err
	}
	parsed, ok := parseID([]byte(s))
	if !ok {
		return fmt.Errorf("%q is not a stream ID", s)
	}
	*id = jsonID(parsed)
	return nil
}
