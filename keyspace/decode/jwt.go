package decode

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// jwt shows the header and claims of a JSON Web Token. It does not check the signature.
func jwt(b []byte, most int) (text, note string, ok bool) {
	b = bytes.TrimSpace(b)
	if len(b) < 16 || len(b) > most || !bytes.HasPrefix(b, []byte("eyJ")) || bytes.Count(b, []byte(".")) != 2 {
		return "", "", false
	}
	parts := bytes.Split(b, []byte("."))
	var opened [3][]byte
	for i, part := range parts {
		var err error
		if opened[i], err = base64.RawURLEncoding.Strict().DecodeString(string(part)); err != nil {
			return "", "", false
		}
	}
	var claims map[string]any
	var header struct {
		Alg string `json:"alg"`
	}
	dec := json.NewDecoder(bytes.NewReader(opened[1]))
	dec.UseNumber()
	if json.Unmarshal(opened[0], &header) != nil || header.Alg == "" || dec.Decode(&claims) != nil {
		return "", "", false
	}
	var doc bytes.Buffer
	doc.WriteString(`{"header":`)
	doc.Write(opened[0])
	doc.WriteString(`,"payload":`)
	doc.Write(opened[1])
	doc.WriteString(`,"signature":` + strconv.Quote(strconv.Itoa(len(opened[2]))+" bytes, not checked") + `}`)
	text, ok = prettyJSON(doc.Bytes(), 2*most)
	return text, claimed(claims), ok
}

// claimed formats the times among a token's claims.
func claimed(claims map[string]any) string {
	var parts []string
	for _, c := range []struct{ name, says string }{{"iat", "issued"}, {"nbf", "not before"}, {"exp", "expires"}} {
		n, ok := claims[c.name].(json.Number)
		if !ok {
			continue
		}
		if s, err := n.Float64(); err == nil && s > 0 && s < 1<<40 {
			parts = append(parts, c.says+" "+time.Unix(int64(s), 0).UTC().Format("2006-01-02 15:04:05")+" UTC")
		}
	}
	return strings.Join(parts, ", ")
}
