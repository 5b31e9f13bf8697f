package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

func TestDeadline_13_09(t *testing.T) {
	for _, c := range []struct {
		name    string
		tool    string
		timeout time.Duration // of the server
		context time.Duration // of the request; 0: none
		want    time.Duration
	}{
		{"20 s by default", "stuck", 0, 0, 20 * time.Second},
		{"a method that heeds its context", "slow", 3 * time.Second, 0, 3 * time.Second},
		{"a method that does not", "stuck", 3 * time.Second, 0, 3 * time.Second},
		{"a shorter deadline of the context", "stuck", 0, 10 * time.Second, 9 * time.Second},
		{"a longer deadline of the context", "stuck", 0, 25 * time.Second, 20 * time.Second},
		{"a deadline that has passed", "stuck", 0, -time.Second, 0},
	} {
		for era, r := range map[string]*http.Request{"modern": tool(c.tool), "legacy": legacyTool(c.tool)} {
			t.Run(c.name+", "+era, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					defer time.Sleep(time.Hour) // for the method to end
					var seen mcp.Observation
					h := fixture(func(o *mcp.Options) {
						o.Timeout = c.timeout
						o.Observe = func(_ context.Context, o mcp.Observation) { seen = o }
					})
					if c.context != 0 {
						ctx, cancel := context.WithTimeout(t.Context(), c.context)
						defer cancel()
						r = r.WithContext(ctx)
					}
					a := send(t, h, r)
					a.wantError(t, http.StatusOK, mcp.CodeInternal, "1")
					if !strings.HasPrefix(a.json.Error.Message, "timeout: ") || seen.Duration != c.want || !errors.Is(seen.Cause, context.DeadlineExceeded) {
						t.Errorf("%s after %v, cause %v", a.body, seen.Duration, seen.Cause)
					}
				})
			})
		}
	}
}

// After the deadline a method can no longer write: its goroutine has nothing
// to write to. The race detector watches.
func TestDeadline_nothing_is_written_late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := fixture(func(o *mcp.Options) {
			o.Methods["tools/list"] = func(context.Context, *mcp.Request) (mcp.Run, error) {
				time.Sleep(time.Minute)
				panic("much too late")
			}
		})
		a := send(t, h, modern("tools/list", ""))
		before := string(a.body)
		time.Sleep(2 * time.Minute)
		if string(a.body) != before || a.code() != mcp.CodeInternal {
			t.Errorf("%s", a.body)
		}
	})
}

func TestDeadline_covers_authentication_and_admission(t *testing.T) {
	wait := func(ctx context.Context) (context.Context, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, change := range map[string]func(*mcp.Options){
		"Authenticate": func(o *mcp.Options) {
			o.Authenticate = func(r *http.Request) (context.Context, error) { return wait(r.Context()) }
		},
		"Admit": func(o *mcp.Options) {
			o.Admit = func(ctx context.Context, _ string) (context.Context, error) { return wait(ctx) }
		},
		"Limit": func(o *mcp.Options) {
			o.Limit = func(ctx context.Context, _ string) error { _, err := wait(ctx); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if a := send(t, fixture(change), modern("tools/list", "")); a.code() != mcp.CodeInternal {
					t.Errorf("%s", a.body)
				}
			})
		})
	}
}

// What was admitted too late has been answered already: it must not begin.
func TestDeadline_nothing_begins_late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := false
		h := fixture(func(o *mcp.Options) {
			o.Limit = func(context.Context, string) error { time.Sleep(time.Minute); return nil }
			o.Methods["tools/call"] = func(context.Context, *mcp.Request) (mcp.Run, error) {
				return func(context.Context) (*mcp.Result, error) { begun = true; return &mcp.Result{}, nil }, nil
			}
		})
		a := send(t, h, tool("x"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if begun || a.code() != mcp.CodeInternal {
			t.Errorf("begun: %v, %s", begun, a.body)
		}
	})
}

type admittedKey struct{}

// Who was admitted is told of a request also when it took too long.
func TestDeadline_is_told_with_its_caller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var caller any
		h := fixture(func(o *mcp.Options) {
			o.Admit = func(ctx context.Context, _ string) (context.Context, error) {
				return context.WithValue(ctx, admittedKey{}, "ana"), nil
			}
			o.Observe = func(ctx context.Context, _ mcp.Observation) { caller = ctx.Value(admittedKey{}) }
		})
		a := send(t, h, tool("slow"))
		if caller != "ana" || a.code() != mcp.CodeInternal {
			t.Errorf("caller %v, %s", caller, a.body)
		}
	})
}

// A hung-up client cancels a modern request, and only that (checklist 13.03).
func TestDisconnect_13_03(t *testing.T) {
	for era, r := range map[string]*http.Request{"modern": tool("x"), "legacy": legacyTool("x")} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, hangUp := context.WithCancel(t.Context())
				canceled := false
				h := fixture(func(o *mcp.Options) {
					o.Methods["tools/call"] = func(context.Context, *mcp.Request) (mcp.Run, error) {
						return func(ctx context.Context) (*mcp.Result, error) {
							hangUp()
							time.Sleep(time.Second)
							canceled = ctx.Err() != nil
							return &mcp.Result{}, nil
						}, nil
					}
				})
				send(t, h, r.WithContext(ctx))
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if canceled != (era == "modern") {
					t.Errorf("canceled: %v", canceled)
				}
			})
		})
	}
}

func TestDisconnect_13_03_does_not_reach_the_families_of_a_batch(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	h := router(func(o *mcp.Options) {
		o.Forward["tools"] = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if hangUp(); r.Context().Err() != nil {
				t.Error(r.Context().Err())
			}
		})
	})
	send(t, h, post(array(rpc("1", "tools/list", ""))).WithContext(ctx))
}

func TestPanic_hits_one_request_only(t *testing.T) {
	for name, change := range map[string]func(*mcp.Options){
		"Authenticate": func(o *mcp.Options) { o.Authenticate = func(*http.Request) (context.Context, error) { panic("x") } },
		"Admit":        func(o *mcp.Options) { o.Admit = func(context.Context, string) (context.Context, error) { panic("x") } },
		"Limit":        func(o *mcp.Options) { o.Limit = func(context.Context, string) error { panic("x") } },
		"Method": func(o *mcp.Options) {
			o.Methods["tools/list"] = func(context.Context, *mcp.Request) (mcp.Run, error) { panic("x") }
		},
		"no Run": func(o *mcp.Options) {
			o.Methods["tools/list"] = func(context.Context, *mcp.Request) (mcp.Run, error) { return nil, nil }
		},
	} {
		if a := send(t, fixture(change), modern("tools/list", "")); a.code() != mcp.CodeInternal {
			t.Errorf("%s: %s", name, a.body)
		}
	}
}

func TestConcurrency_2_06(t *testing.T) {
	h := fixture()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for n := range 20 {
				name := []string{"ok", "panic", "broken", "ask"}[n%4]
				id := fmt.Sprintf(`"%d-%d"`, i, n)
				r := post(rpc(id, "tools/call", `"name":"`+name+`","arguments":{"id":`+id+`},`+meta), modernHeaders("tools/call", "Mcp-Name: "+name)...)
				a := send(t, h, r)
				if string(a.json.ID) != id || name == "ok" && !strings.Contains(string(a.body), `"echo":{"id":`+id+`}`) {
					t.Errorf("%s: %s", id, a.body)
				}
			}
		})
	}
	wg.Wait()
}

// Case 12: pings drowned a service, so they are answered before any other work.
func TestPing_case_12_needs_nothing_but_the_token(t *testing.T) {
	down := errors.New("the store is down")
	authenticated := 0
	h := fixture(func(o *mcp.Options) {
		o.Authenticate = func(r *http.Request) (context.Context, error) { authenticated++; return r.Context(), nil }
		o.Admit = func(context.Context, string) (context.Context, error) { return nil, down }
		o.Limit = func(context.Context, string) error { return down }
	})
	for range 1000 {
		send(t, h, legacy("2025-11-25", "ping", "")).wantResult(t, `{}`)
	}
	if authenticated != 1000 {
		t.Error(authenticated)
	}
	send(t, h, legacy("2025-11-25", "tools/list", "")).wantError(t, http.StatusOK, mcp.CodeInternal, "1")
}

type callerKey struct{}

func TestObserve(t *testing.T) {
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	long := strings.Repeat("é", 100)
	type o = mcp.Observation
	for _, c := range []struct {
		name    string
		request *http.Request
		want    mcp.Observation
		caller  any
	}{
		{"a call", modern("tools/call", `"name":"ok"`, "Mcp-Name: ok"),
			o{Method: "tools/call", Subject: "ok", Version: mcp.V20260728, Client: "t/1", Status: 200}, "ada"},
		{"a call with a trace", post(strings.Replace(body("tools/list", meta), `"_meta":{`, `"_meta":{"traceparent":"`+trace+`",`, 1), modernHeaders("tools/list")...),
			o{Method: "tools/list", Version: mcp.V20260728, Client: "t/1", Trace: trace, Status: 200}, "ada"},
		{"a result that is no success", tool("meta"),
			o{Method: "tools/call", Subject: "meta", Version: mcp.V20260728, Client: "t/1", Status: 200, Outcome: "declined"}, "ada"},
		{"an error", modern("tools/list", `"cursor":1`), o{Method: "tools/list", Version: mcp.V20260728, Client: "t/1", Status: 200, Code: -32602}, nil},
		{"a legacy read", legacy("", "resources/read", `"uri":"x://a"`), o{Method: "resources/read", Subject: "x://a", Version: mcp.V20250326, Status: 200}, "ada"},
		{"initialize", legacy("", "initialize", `"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"2"}`),
			o{Method: "initialize", Version: mcp.V20250618, Client: "c/2", Status: 200}, "ada"},
		{"a notification", post(notification), o{Method: "notifications/initialized", Status: 202}, nil},
		{"a broken body", post(`{`), o{Status: 400, Code: -32700}, nil},
		{"a foreign origin", post(`{`, "Origin: https://evil.example"), o{Status: 403, Code: -32600}, nil},
		{"GET", httptest.NewRequest("GET", "/mcp", nil), o{Status: 405, Code: -32600}, nil},
		{"long names are cut", legacy("", long, ""), o{Method: long[:128], Version: mcp.V20250326, Status: 200, Code: -32601}, nil},
		{"within a character", legacy("", "x"+long, ""), o{Method: "x" + long[:126], Version: mcp.V20250326, Status: 200, Code: -32601}, nil},
		{"an unsupported version", legacy("2099-01-01", "tools/list", ""), o{Method: "tools/list", Status: 400, Code: -32022}, nil},
		{"a batch", post(array(rpc("1", "ping", ""))), o{Method: "batch", Version: mcp.V20250326, Status: 200}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen []mcp.Observation
			h := router(func(o *mcp.Options) {
				if c.want.Method != "batch" {
					o.Forward = nil
				}
				o.Admit = func(ctx context.Context, _ string) (context.Context, error) {
					return context.WithValue(ctx, callerKey{}, "ada"), nil
				}
				o.Observe = func(ctx context.Context, o mcp.Observation) {
					if ctx.Value(callerKey{}) != c.caller || ctx.Err() != nil {
						t.Error("context:", ctx.Value(callerKey{}), ctx.Err())
					}
					o.Duration = 0
					seen = append(seen, o)
				}
			})
			send(t, h, c.request)
			if diff := cmp.Diff([]mcp.Observation{c.want}, seen); diff != "" {
				t.Error(diff)
			}
		})
	}
}
