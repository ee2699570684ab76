package server

import (
	"net/http"
	"slices"

	"github.com/meowdis/meowdis/server/rest"
)

// crossOrigin sets the CORS headers for the configured origins. It reports whether the request was a preflight, which
// it answers.
func (s *Server) crossOrigin(w http.ResponseWriter, r *http.Request) (asked bool) {
	origin := r.Header.Get("Origin")
	if origin == "" || len(s.config.Origins) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	switch {
	case slices.Contains(s.config.Origins, "*"):
		h.Set("Access-Control-Allow-Origin", "*")
	case slices.Contains(s.config.Origins, origin):
		h.Set("Access-Control-Allow-Origin", origin)
	default:
		return false
	}
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		h.Set("Access-Control-Expose-Headers", "Upstash-Sync-Token, "+rest.DatabaseHeader+", "+rest.PipelineHeader)
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT")
	// Client libraries send headers about themselves, whose names change.
	h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
	return true
}
