// Package cloudtest stands in for Secrets Manager and SQS in tests.
package cloudtest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/go-json-experiment/json"
)

// Secrets is a server that is running: texts by the names of secrets.
type Secrets struct {
	*httptest.Server

	mu    sync.Mutex
	texts map[string]string
	asked map[string]int
}

// NewSecrets starts a server. Close ends it.
func NewSecrets(texts map[string]string) *Secrets {
	s := &Secrets{texts: maps.Clone(texts), asked: map[string]int{}}
	s.Server = httptest.NewServer(s)
	return s
}

// Set gives a secret its text; "" takes the secret away.
func (s *Secrets) Set(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[name] = text
}

// Asked is how often each secret was read.
func (s *Secrets) Asked() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
}

// ServeHTTP answers GetSecretValue.
func (s *Secrets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ SecretId string }
	if r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" || json.UnmarshalRead(r.Body, &in) != nil {
		http.Error(w, "only GetSecretValue is answered here", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[in.SecretId]++
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	text := s.texts[in.SecretId]
	if text == "" {
		w.WriteHeader(http.StatusBadRequest)
		json.MarshalWrite(w, map[string]string{"__type": "ResourceNotFoundException", "Message": "Secrets Manager can't find the specified secret."})
		return
	}
	json.MarshalWrite(w, map[string]string{"Name": in.SecretId, "SecretString": text})
}
