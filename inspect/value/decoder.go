package value

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/decode"
)

// Decoder is a user-defined decoder of values.
type Decoder struct {
	Name string
	// Run returns the text to show for data. It stops when ctx is done.
	Run func(ctx context.Context, data []byte) ([]byte, error)
}

// ownDecoder returns the user's decoder for the bytes on the screen, unless it already ran on them.
func (v *Pane) ownDecoder() (*sheet, *Decoder) {
	s := v.sheet()
	if v.Decoder == nil || s == nil || s.isTable() || s.decoderRan || s.size == 0 || s.size > decodeLimit || v.phase != settled || v.gone() {
		return nil, nil
	}
	if s.src != nil && s.src != sourceOf("string") {
		return nil, nil
	}
	return s, v.Decoder(v.Key)
}

// ownDecodedMsg carries the result of a user-defined decoder.
type ownDecodedMsg struct {
	sheet *sheet
	doc   *document
	err   error
}

// runDecoder starts the decoder of s in a job.
func (v *Pane) runDecoder(s *sheet, d *Decoder) tea.Cmd {
	s.decoderRan = true
	conn, db, key, whole := v.Conn, v.DB, v.Key, s.whole
	fetched := s.src != nil
	return v.Start(job.Decoding, func(ctx context.Context) (tea.Msg, error) {
		data := []byte(whole)
		if fetched {
			reply, err := conn.One(ctx, db, client.Command("GETRANGE", key, "0", "-1"))
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

// ownDocument returns the output of a decoder as a document, with JSON laid out.
func ownDocument(name string, out []byte) *document {
	shown := decode.Value(out, decode.Options{})
	d := &document{chain: name, lines: strings.Split(shown.Text, "\n"), folded: map[int]bool{}, fromDecoder: true}
	d.closing = closings(d.lines)
	return d
}

func (v *Pane) onOwnDecoded(m ownDecodedMsg) {
	if m.err != nil {
		m.sheet.note = m.doc.chain + ": " + m.err.Error()
		return
	}
	m.sheet.decoded(m.doc)
}
