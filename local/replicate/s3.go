package replicate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/superfly/ltx"
)

// bucket stores a stream in an S3 bucket, or in a compatible service. The keys of a level's files begin with PATH/ and
// the level in four hex digits (https://docs.aws.amazon.com/AmazonS3/latest/API/).
type bucket struct {
	root        url.URL // of the bucket
	path        string
	region      string
	credentials aws.Credentials
	signer      *v4.Signer
	client      *http.Client
	piece       int64 // larger files are sent in parts of this many bytes
}

const (
	replyTimeout = 30 * time.Second // for a reply's header
	pieceSize    = 256 << 20
)

// openBucket opens s3://bucket/path?endpoint=URL&region=NAME.
func openBucket(u *url.URL, getenv func(string) string) (*Place, error) {
	query := u.Query()
	for name := range query {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("s3 has no option %q: use endpoint and region", name)
		}
	}
	b := &bucket{
		path:   strings.Trim(u.Path, "/"),
		region: cmp.Or(query.Get("region"), getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), "us-east-1"),
		credentials: aws.Credentials{
			AccessKeyID: getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN"),
		},
		piece:  pieceSize,
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }),
	}
	switch {
	case u.Host == "" || b.path == "":
		return nil, errors.New("a bucket or a path is missing: use s3://bucket/path")
	case b.credentials.AccessKeyID == "" || b.credentials.SecretAccessKey == "":
		return nil, errors.New("S3 needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	root, err := bucketURL(u.Host, b.region, cmp.Or(query.Get("endpoint"), getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")))
	if err != nil {
		return nil, err
	}
	b.root = *root
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = replyTimeout
	b.client = &http.Client{Transport: transport}
	return newPlace(b, "s3://"+u.Host+"/"+b.path), nil
}

// bucketURL returns the URL of a bucket: with Amazon, the bucket is part of the host; with other endpoints, it
// is part of the path.
func bucketURL(name, region, endpoint string) (*url.URL, error) {
	if endpoint == "" {
		if strings.Contains(name, ".") { // no certificate covers such a host
			return &url.URL{Scheme: "https", Host: "s3." + region + ".amazonaws.com", Path: "/" + name}, nil
		}
		return &url.URL{Scheme: "https", Host: name + ".s3." + region + ".amazonaws.com"}, nil
	}
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("invalid endpoint %q: use an http or https URL", endpoint)
	}
	u.Path = path.Join("/", u.Path, name)
	return u, nil
}

func (b *bucket) level(n int) string { return fmt.Sprintf("%s/%04x/", b.path, n) }

func (b *bucket) key(f *ltx.FileInfo) string {
	return b.level(f.Level) + ltx.FormatFilename(f.MinTXID, f.MaxTXID)
}

func (b *bucket) list(ctx context.Context, level int) (found []*ltx.FileInfo, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*replyTimeout)
	defer cancel()
	prefix := b.level(level)
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	for {
		var page struct {
			Contents []struct {
				Key          string
				Size         int64
				LastModified time.Time
			}
			IsTruncated           bool
			NextContinuationToken string
		}
		if err := b.sendDecoding(ctx, request{method: http.MethodGet, query: query, reply: &page}); err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			first, last, err := ltx.ParseFilename(strings.TrimPrefix(o.Key, prefix))
			if err == nil {
				found = append(found, &ltx.FileInfo{Level: level, MinTXID: first, MaxTXID: last, Size: o.Size, CreatedAt: o.LastModified})
			}
		}
		if !page.IsTruncated || page.NextContinuationToken == "" {
			return found, nil
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

func (b *bucket) open(ctx context.Context, f *ltx.FileInfo, offset, size int64) (io.ReadCloser, error) {
	r := request{method: http.MethodGet, key: b.key(f), header: http.Header{}}
	if size > 0 || offset > 0 {
		end := ""
		if size > 0 {
			end = fmt.Sprint(offset + size - 1)
		}
		r.header.Set("Range", fmt.Sprintf("bytes=%d-%s", offset, end))
	}
	ctx, cancel := context.WithCancel(ctx)
	reply, err := b.send(ctx, r)
	if err != nil {
		cancel()
		return nil, err
	}
	return &timedBody{reply.Body, time.AfterFunc(replyTimeout, cancel), cancel}, nil
}

// timedBody reads the body of a reply, and fails if no bytes arrive within replyTimeout.
type timedBody struct {
	io.ReadCloser
	late   *time.Timer
	cancel func()
}

func (p *timedBody) Read(b []byte) (int, error) {
	p.late.Reset(replyTimeout)
	defer p.late.Stop()
	return p.ReadCloser.Read(b)
}

func (p *timedBody) Close() error {
	p.late.Stop()
	p.cancel()
	return p.ReadCloser.Close()
}

// timeHeader stores the time of a file's last transaction, as litestream does.
const timeHeader = "X-Amz-Meta-Litestream-Timestamp"

func (b *bucket) write(ctx context.Context, f *ltx.FileInfo, body body) error {
	about := http.Header{}
	about.Set(timeHeader, f.CreatedAt.UTC().Format(time.RFC3339Nano))
	if f.Size > b.piece {
		return b.writePieces(ctx, f, body, about)
	}
	about.Set("If-None-Match", "*")
	return b.sendDecoding(ctx, request{method: http.MethodPut, key: b.key(f), header: about, body: io.NewSectionReader(body, 0, f.Size)})
}

// maxLease limits the size of a lease, in bytes.
const maxLease = 1 << 20

func (b *bucket) leaseKey() string { return b.path + "/lease" }

func (b *bucket) readLease(ctx context.Context) (record []byte, version string, err error) {
	reply, err := b.send(ctx, request{method: http.MethodGet, key: b.leaseKey()})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer reply.Body.Close()
	record, err = io.ReadAll(io.LimitReader(reply.Body, maxLease))
	return record, reply.Header.Get("ETag"), err
}

func (b *bucket) writeLease(ctx context.Context, record []byte, version string) (string, error) {
	condition := http.Header{}
	if version == "" {
		condition.Set("If-None-Match", "*")
	} else {
		condition.Set("If-Match", version)
	}
	body := io.NewSectionReader(bytes.NewReader(record), 0, int64(len(record)))
	reply, err := b.send(ctx, request{method: http.MethodPut, key: b.leaseKey(), header: condition, body: body})
	if err != nil {
		return "", err
	}
	return reply.Header.Get("ETag"), reply.Body.Close()
}

// checkLease tries to replace the lease of a version that never existed. A service that succeeds, or does not know the
// header, has no compare and set.
func (b *bucket) checkLease(ctx context.Context) error {
	record, _, err := b.readLease(ctx)
	if err != nil {
		return err
	}
	_, err = b.writeLease(ctx, record, `"00000000000000000000000000000000"`)
	var says *status
	switch {
	case errors.Is(err, errExists):
		return nil
	case err == nil || errors.As(err, &says) && says.code == http.StatusNotImplemented:
		return errNoConditions
	}
	return err
}

// object names a file to be removed.
type object struct{ Key string }

func (b *bucket) remove(ctx context.Context, files []*ltx.FileInfo) error {
	const most = 1000 // per request
	ctx, cancel := context.WithTimeout(ctx, 4*replyTimeout)
	defer cancel()
	for len(files) > 0 {
		n := min(most, len(files))
		ask := struct {
			XMLName xml.Name `xml:"Delete"`
			Quiet   bool
			Object  []object
		}{Quiet: true}
		for _, f := range files[:n] {
			ask.Object = append(ask.Object, object{b.key(f)})
		}
		var failed struct {
			Error []struct{ Key, Code, Message string }
		}
		if err := b.sendXML(ctx, request{method: http.MethodPost, query: url.Values{"delete": {""}}, reply: &failed}, ask); err != nil {
			return fmt.Errorf("removing old files: %w", err)
		}
		if len(failed.Error) > 0 {
			e := failed.Error[0]
			return fmt.Errorf("removing old files: %s: %s %s", e.Key, e.Code, e.Message)
		}
		files = files[n:]
	}
	return nil
}

// status reports an unsuccessful reply.
type status struct {
	code    int
	Code    string
	Message string
}

func (s *status) Error() string {
	if s.Code == "" {
		return "the endpoint replies " + http.StatusText(s.code)
	}
	return strings.TrimSpace(s.Code + ": " + s.Message)
}

// Is matches the errors that all kinds of places return.
func (s *status) Is(err error) bool {
	switch err {
	case fs.ErrNotExist:
		return s.code == http.StatusNotFound && s.Code != "NoSuchBucket"
	case errExists:
		return s.code == http.StatusPreconditionFailed
	}
	return false
}
