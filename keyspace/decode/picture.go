package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/gif"  // dimensions
	_ "image/jpeg" // dimensions
	_ "image/png"  // dimensions
)

// facts holds the displayed properties of a picture.
type facts struct {
	format        string
	width, height int
}

func (f facts) String() string {
	return fmt.Sprintf("%s, %d × %d pixels", f.format, f.width, f.height)
}

var formats = map[string]string{"png": "PNG", "jpeg": "JPEG", "gif": "GIF"}

// picture reads the header of a picture, not its pixels.
func picture(b []byte) (facts, bool) {
	if c, name, err := image.DecodeConfig(bytes.NewReader(b)); err == nil {
		return facts{formats[name], c.Width, c.Height}, true
	}
	return webp(b)
}

// webp reads the dimensions of the three WebP forms: lossy, lossless and extended.
func webp(b []byte) (facts, bool) {
	if len(b) < 30 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return facts{}, false
	}
	le := binary.LittleEndian
	switch string(b[12:16]) {
	case "VP8 ":
		return facts{"WebP", int(le.Uint16(b[26:])) & 0x3fff, int(le.Uint16(b[28:])) & 0x3fff}, true
	case "VP8L":
		bits := le.Uint32(b[21:])
		return facts{"WebP", int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1}, true
	case "VP8X":
		three := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return facts{"WebP", three(b[24:]) + 1, three(b[27:]) + 1}, true
	}
	return facts{}, false
}
