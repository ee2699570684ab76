package replicate

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/superfly/ltx"

	"github.com/meowdis/meowdis/local"
)

// attempts limits how often one file is read.
const attempts = 4

// read passes the pages of a file to put. After a failed attempt it passes them again from the beginning.
func (p *Place) read(ctx context.Context, f *ltx.FileInfo, put func(ltx.Header, local.Page) error) (ltx.Trailer, error) {
	for attempt := 1; ; attempt++ {
		t, stop, err := p.tryRead(ctx, f, put)
		if err == nil || stop || attempt == attempts || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ltx.ErrChecksumMismatch) {
			return t, err
		}
		select {
		case <-ctx.Done():
			return t, err
		case <-time.After(p.pause):
		}
	}
}

// tryRead reads a file once. stop reports that put failed.
func (p *Place) tryRead(ctx context.Context, f *ltx.FileInfo, put func(ltx.Header, local.Page) error) (t ltx.Trailer, stop bool, err error) {
	r, err := p.open(ctx, f, 0, 0)
	if err != nil {
		return t, false, p.failed("reading", f, err)
	}
	defer r.Close()
	d := ltx.NewDecoder(bufio.NewReaderSize(r, 64<<10))
	if err := d.DecodeHeader(); err != nil {
		return t, false, p.failed("reading", f, err)
	}
	h := d.Header()
	data := make([]byte, h.PageSize)
	for {
		var page ltx.PageHeader
		switch err := d.DecodePage(&page, data); {
		case errors.Is(err, io.EOF):
			if err := d.Close(); err != nil {
				return t, false, p.failed("reading", f, err)
			}
			return d.Trailer(), false, nil
		case err != nil:
			return t, false, p.failed("reading", f, err)
		}
		if err := put(h, local.Page{Number: page.Pgno, Data: data}); err != nil {
			return t, true, err
		}
	}
}
