package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/infra/wire"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

type object = wire.Object

// client is one of those who send at once. It chooses what by its own rand.
type client struct {
	ctx   context.Context
	url   string
	http  *http.Client
	count *atomic.Int64 // of all clients' requests
	rand  *rand.Rand
}

func pick[T any](c *client, from ...T) T { return from[c.rand.IntN(len(from))] }

// reply is an answer.
type reply struct {
	status int
	body   []byte
	Result jsontext.Value `json:"result"`
	Error  struct {
		Code int `json:"code"`
	} `json:"error"`
}

// post sends a body as the owner of the demo, unless header says otherwise.
func (c *client) post(body string, header http.Header) (a reply, err error) {
	c.count.Add(1)
	r, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.url, bytes.NewReader([]byte(body)))
	if err != nil {
		return a, err
	}
	r.Header.Set("Authorization", "Bearer demo-owner")
	r.Header.Set("Content-Type", "application/json")
	maps.Copy(r.Header, header)
	resp, err := c.http.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return a, err
	}
	a.status = resp.StatusCode
	if len(a.body) > 0 && a.body[0] == '{' {
		err = json.Unmarshal(a.body, &a)
	}
	return a, err
}

// send sends a request, and wants an answer with that JSON-RPC error code, 0
// for a result.
func (c *client) send(v mcp.Version, method string, params object, code int) (reply, error) {
	body, headers := wire.Request(v, "demo-owner", method, params)
	a, err := c.post(body, wire.Header(headers...))
	if err != nil {
		return a, err
	}
	if a.Error.Code != code || (a.Result == nil) != (code != 0) {
		return a, fmt.Errorf("%s %v in %s: HTTP %d %.300s, want the code %d", method, params, v, a.status, a.body, code)
	}
	return a, nil
}

// result decodes the result of a request into v.
func (c *client) result(version mcp.Version, method string, params object, v any) error {
	a, err := c.send(version, method, params, 0)
	if err != nil {
		return err
	}
	return json.Unmarshal(a.Result, v)
}

// called is what a tool answered.
type called struct {
	Type    string `json:"resultType"`
	State   string `json:"requestState"`
	IsError bool   `json:"isError"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Meta struct {
		Error struct {
			Code string `json:"code"`
		} `json:"br.com.kobana/error"`
	} `json:"_meta"`
}

// outcome is what a tool answered in a word: "asked", the code of an error, or
// "" for success.
func (r called) outcome() string {
	if r.Type == "input_required" {
		return "asked"
	}
	return r.Meta.Error.Code
}

// call calls a tool with further params, and wants that outcome.
func (c *client) call(v mcp.Version, tool string, arguments, more object, want string) (r called, err error) {
	params := object{"name": tool, "arguments": arguments}
	maps.Copy(params, more)
	if err := c.result(v, "tools/call", params, &r); err != nil {
		return r, err
	}
	if r.outcome() != want {
		return r, fmt.Errorf("%s %v in %s: %q %v, want %q", tool, arguments, v, r.outcome(), r.Content, want)
	}
	return r, nil
}

// record calls a tool that must succeed, and returns the record that it shows.
func (c *client) record(v mcp.Version, tool string, arguments object) (record object, err error) {
	r, err := c.call(v, tool, arguments, nil, "")
	if err != nil {
		return nil, err
	}
	return record, json.Unmarshal([]byte(r.Content[0].Text), &record)
}
