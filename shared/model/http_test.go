package model

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A question after a rest, in which the function may have been frozen, does not
// go out on a connection of before: a lost answer would cost its tokens again.
func TestHTTPClient_uses_no_connection_of_before_a_rest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RemoteAddr) }))
	defer server.Close()
	now := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	c := newHTTPClient(func() time.Time { return now })
	ask := func() string {
		resp, err := c.Post(server.URL, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	first := ask()
	now = now.Add(time.Second)
	if again := ask(); again != first {
		t.Errorf("%s, then %s: the connection was not kept", first, again)
	}
	now = now.Add(time.Hour)
	if thawed := ask(); thawed == first {
		t.Errorf("%s after an hour", thawed)
	}
}
