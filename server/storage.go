package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/wire"
)

// Storage is a store that serves SQL batches to processes that run commands elsewhere.
type Storage struct {
	Apply func(context.Context, []store.Batch) ([]store.Result, error)
	// Columns returns the column names of a statement's rows.
	Columns func(sql string) ([]string, error)
	// Token allows reading and writing, ReadOnlyToken only reading. An empty token matches no request.
	Token, ReadOnlyToken string
}

// Storage returns the handler of ServeStorage.
func (s *Server) Storage() http.Handler { return http.HandlerFunc(s.storage) }

// ServeStorage serves Config.Storage on ln, like ServeREST. Each request is a POST of batches, in the form of package
// store/wire or of the legacy API (legacy_storage_api.go), with the token in Authorization: Bearer.
func (s *Server) ServeStorage(ctx context.Context, ln net.Listener) error {
	return s.serveWeb(ctx, ln, s.compressed(s.Storage()))
}

const (
	maxBatches = 1 << 16 // per request
	maxStmts   = 1 << 20 // per request

	// storagePiece limits an answer: it is complete with this number of bytes of rows.
	storagePiece = 8 << 20
)

// storage handles a request.
func (s *Server) storage(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		s.Health(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		writeError(w, http.StatusMethodNotAllowed, "send SQL batches with POST")
		return
	}
	reads, known := s.authorizeStorage(r)
	if !known {
		writeError(w, http.StatusUnauthorized, "the token is wrong or missing")
		return
	}
	held := s.budget(0)
	defer held.Rewind(0)
	body := bufio.NewReader(budgetReader{http.MaxBytesReader(nil, r.Body, s.config.MaxRequestMemory), held})
	ctx, leave := hangupContext(r.Context())
	defer leave()
	var out []byte
	var err error
	if isTyped(body) {
		out, err = s.typedBatches(ctx, body, reads)
	} else {
		out, err = s.legacyBatches(ctx, body, held, reads)
	}
	if err != nil {
		s.storageFailed(ctx, w, held, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	s.deadlineWriter(w)(out)
}

// authorizeStorage reports whether the token is one of the storage's tokens, and whether it allows only reading.
func (s *Server) authorizeStorage(r *http.Request) (reads, known bool) {
	given, c := givenToken(r), s.config.Storage
	whole := c.Token != "" && sameSecret(given, c.Token)
	reads = c.ReadOnlyToken != "" && sameSecret(given, c.ReadOnlyToken)
	if !whole && !reads {
		if given != "" {
			s.delayRefusal(r.Context().Done())
		}
		return false, false
	}
	if g, ok := r.Context().Value(connKey{}).(*limitedConn); ok {
		g.markAuthenticated()
	}
	return !whole, true
}

// isTyped reports whether a body has the form of store/wire.
func isTyped(body *bufio.Reader) bool {
	const most = 100
	head, _ := body.Peek(most)
	text := strings.TrimLeft(string(head), " \t\r\n")
	text, ok := strings.CutPrefix(text, "{")
	return ok && strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), `"b"`)
}

// typedBatches runs the batches of a request in the form of store/wire.
func (s *Server) typedBatches(ctx context.Context, body io.Reader, reads bool) ([]byte, error) {
	q, err := wire.ReadRequest(body, wire.Limits{Bytes: s.config.MaxRequestMemory, Batches: maxBatches, Stmts: maxStmts})
	if err != nil {
		return nil, badRequest{err}
	}
	only := len(q.Batches) > 0 && q.Batches[0].ReadOnly // the same in all batches
	results, release, err := s.runStorageBatches(ctx, q.Batches, q.Max, reads)
	defer release()
	if err != nil {
		return nil, err
	}
	return wire.AppendResponse(nil, results, only), nil
}

// runStorageBatches runs batches whose rows take at most that many bytes each (0 for no limit), plus storagePiece for
// the rows of earlier batches. Once the first batches fill an answer, the rest are left for another request.
func (s *Server) runStorageBatches(ctx context.Context, batches []store.Batch, most int64, reads bool) ([]store.Result, func(), error) {
	limit := s.config.MaxRequestMemory
	if most > 0 {
		limit = min(limit, most)
	}
	rows := store.NewBudget(s.memory, limit+storagePiece, storagePiece)
	for i := range batches {
		b := &batches[i]
		b.Guest, b.ReadOnly, b.Budget = true, b.ReadOnly || reads, rows
	}
	results, err := s.config.Storage.Apply(ctx, batches)
	return results, func() { rows.Rewind(0) }, err
}

// badRequest marks the error of a malformed request.
type badRequest struct{ error }

func (e badRequest) Unwrap() error { return e.error }

// storageFailed replies to a request that failed.
func (s *Server) storageFailed(ctx context.Context, w http.ResponseWriter, held *store.Budget, err error) {
	var is badRequest
	var tooLarge *http.MaxBytesError
	switch {
	case ctx.Err() != nil:
		writeError(w, http.StatusServiceUnavailable, "the client hung up")
	case errors.Is(err, errNoMemory):
		writeError(w, http.StatusRequestEntityTooLarge, string(held.Refusal().Str))
	case errors.Is(err, wire.ErrTooLarge), errors.As(err, &tooLarge):
		writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d bytes", s.config.MaxRequestMemory))
	case errors.As(err, &is):
		writeError(w, http.StatusBadRequest, err.Error())
	default:
		s.logFailure(err, "of the storage", 1)
		writeError(w, http.StatusInternalServerError, string(s.failure(err).Str))
	}
}

// writeError replies with an error in the form of the legacy API.
func writeError(w http.ResponseWriter, status int, says string) {
	text, err := json.Marshal(map[string]string{"error": says})
	if err != nil {
		panic(err) // strings can be written
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text)
}
