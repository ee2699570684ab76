package value

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/decode"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/target"
)

// Decoder is a person's own way to show values.
type Decoder struct {
	Name string
	// Run returns what to show of data; it heeds ctx.
	Run func(ctx context.Context, data []byte) ([]byte, error)
}

// ownDecoder is the decoder for the bytes that are shown, if they are still to be given to
// it.
func (v *Room) ownDecoder() (*sheet, *Decoder) {
	s := v.sheet()
	if v.Decoder == nil || s == nil || s.isTable() || s.decoderRan || s.size == 0 || s.size > decodeLimit || v.phase != settled || v.gone() {
		return nil, nil
	}
	if s.src != nil && s.src != sourceOf("string") {
		return nil, nil
	}
	return s, v.Decoder(v.Key)
}

// ownDecodedMsg is what a decoder shows.
type ownDecodedMsg struct {
	sheet *sheet
	doc   *document
	err   error
}

// runDecoder gives the bytes of s to its decoder.
func (v *Room) runDecoder(s *sheet, d *Decoder) tea.Cmd {
	s.decoderRan = true
	conn, db, key, whole := v.Conn, v.DB, v.Key, s.whole
	fetched := s.src != nil
	return v.Start(job.Decoding, func(ctx context.Context) (tea.Msg, error) {
		data := []byte(whole)
		if fetched {
			reply, err := conn.One(ctx, db, target.Command("GETRANGE", key, "0", "-1"))
			if err != nil {
				return nil, err
			}
			data = reply.Str
		}
		out, err := d.Run(ctx, data)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return ownDecodedMsg{s, ownDocument(d.Name, out), err}, nil
	})
}

// ownDocument is what a decoder has written, JSON laid out.
func ownDocument(name string, out []byte) *document {
	shown := decode.Value(out, decode.Options{})
	d := &document{chain: name, lines: strings.Split(shown.Text, "\n"), folded: map[int]bool{}, fromDecoder: true}
	d.closing = closings(d.lines)
	return d
}

func (v *Room) onOwnDecoded(m ownDecodedMsg) {
	if m.err != nil {
		m.sheet.note = m.doc.chain + ": " + m.err.Error()
		return
	}
	m.sheet.decoded(m.doc)
}
