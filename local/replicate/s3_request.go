package replicate

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/superfly/ltx"
)

// request describes a request to the bucket.
type request struct {
	method string
	key    string // "" for the bucket itself
	query  url.Values
	header http.Header
	body   *io.SectionReader
	reply  any // receives the XML of the reply; nil discards it
}

// maxReply limits the XML of a reply, in bytes.
const maxReply = 16 << 20

// send sends a request, and returns its reply if it succeeds.
func (b *bucket) send(ctx context.Context, r request) (*http.Response, error) {
	u := b.root
	if r.key != "" {
		u.Path += "/" + r.key
	}
	u.RawQuery = r.query.Encode()
	q, err := http.NewRequestWithContext(ctx, r.method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if r.header != nil {
		q.Header = r.header.Clone()
	}
	sum := sha256.New()
	if r.body != nil {
		if _, err := io.Copy(sum, r.body); err != nil {
			return nil, err
		}
		q.ContentLength = r.body.Size()
		q.Body = io.NopCloser(io.NewSectionReader(r.body, 0, r.body.Size()))
	}
	hash := hex.EncodeToString(sum.Sum(nil))
	q.Header.Set("X-Amz-Content-Sha256", hash)
	if err := b.signer.SignHTTP(ctx, b.credentials, q, hash, "s3", b.region, time.Now()); err != nil {
		return nil, err
	}
	reply, err := b.client.Do(q)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode/100 == 2 {
		return reply, nil
	}
	defer reply.Body.Close()
	says := &status{code: reply.StatusCode}
	text, _ := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	if xml.Unmarshal(text, says) != nil {
		says.Code, says.Message = "", ""
	}
	return nil, says
}

// sendDecoding sends a request and decodes the reply. Even a reply with status 200 may contain an error.
func (b *bucket) sendDecoding(ctx context.Context, r request) error {
	reply, err := b.send(ctx, r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	if err = errors.Join(err, reply.Body.Close()); err != nil || r.reply == nil {
		return err
	}
	var failed struct {
		XMLName xml.Name
		status
	}
	if xml.Unmarshal(text, &failed) == nil && failed.XMLName.Local == "Error" {
		failed.code = http.StatusInternalServerError
		return &failed.status
	}
	if err := xml.Unmarshal(text, r.reply); err != nil {
		return fmt.Errorf("unexpected reply from S3: %w", err)
	}
	return nil
}

// sendXML is ask with an XML document.
func (b *bucket) sendXML(ctx context.Context, r request, document any) error {
	text, err := xml.Marshal(document)
	if err != nil {
		return err
	}
	sum := md5.Sum(text) // required by S3 for some requests
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set("Content-Md5", base64.StdEncoding.EncodeToString(sum[:]))
	r.body = io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text)))
	return b.sendDecoding(ctx, r)
}

// piece identifies an uploaded part.
type piece struct {
	PartNumber int
	ETag       string
}

// writePieces uploads a file that is too large for one request in parts.
func (b *bucket) writePieces(ctx context.Context, f *ltx.FileInfo, body body, about http.Header) error {
	var upload struct{ UploadId string }
	key := b.key(f)
	if err := b.sendDecoding(ctx, request{method: http.MethodPost, key: key, query: url.Values{"uploads": {""}}, header: about, reply: &upload}); err != nil {
		return err
	}
	query := url.Values{"uploadId": {upload.UploadId}}
	err := b.sendPieces(ctx, f, body, query)
	if err != nil { // unfinished parts would be kept, and cost money
		gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), replyTimeout)
		defer cancel()
		b.sendDecoding(gone, request{method: http.MethodDelete, key: key, query: query})
	}
	return err
}

func (b *bucket) sendPieces(ctx context.Context, f *ltx.FileInfo, body body, query url.Values) error {
	var whole struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []piece
	}
	for offset := int64(0); offset < f.Size; offset += b.piece {
		n := len(whole.Part) + 1
		reply, err := b.send(ctx, request{
			method: http.MethodPut, key: b.key(f), query: url.Values{"uploadId": query["uploadId"], "partNumber": {fmt.Sprint(n)}},
			body: io.NewSectionReader(body, offset, min(b.piece, f.Size-offset)),
		})
		if err != nil {
			return err
		}
		reply.Body.Close()
		whole.Part = append(whole.Part, piece{n, reply.Header.Get("ETag")})
	}
	var made struct{ ETag string }
	return b.sendXML(ctx, request{method: http.MethodPost, key: b.key(f), query: query, header: http.Header{"If-None-Match": {"*"}}, reply: &made}, whole)
}
