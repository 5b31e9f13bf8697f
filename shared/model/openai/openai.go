// Package openai asks models behind any endpoint that speaks OpenAI's chat
// completions: OpenAI itself, a gateway, a model server on one's own machine.
//
// It does so by itself. OpenAI's library adds 18 MB to a function and two
// minutes to a build, for the one request that is made here (measured with
// v3.100.0).
//
// It imports model only.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/model"
)

// Local is the name in the catalogue, openai/local, of the model that an
// operator serves: what it is really called is [Options.LocalModel].
const Local = "local"

// DefaultURL is OpenAI's own endpoint.
const DefaultURL = "https://api.openai.com/v1"

// Options are what [New] needs to know.
type Options struct {
	BaseURL    string                                // as in [DefaultURL], which "" stands for
	Key        func(context.Context) (string, error) // asked at first use, and after a key was refused; nil: without a key
	LocalModel string                                // the endpoint's name of [Local]; "": there is none
}

// Model is a [model.Model] for the models of an endpoint, by their names there.
type Model struct {
	url, local string
	client     *http.Client
	fetchKey   func(context.Context) (string, error)

	mu  sync.Mutex
	key string // as fetched; "": not yet
}

// New makes a Model. It calls nobody. It refuses a URL that would carry mail
// over a network unencrypted.
func New(o Options) (*Model, error) {
	u, err := url.Parse(strings.TrimSuffix(cmp.Or(o.BaseURL, DefaultURL), "/"))
	switch {
	case err != nil:
		return nil, errors.New("not a URL")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Host == "":
		return nil, errors.New("must be a URL of a scheme, a host and a path only")
	case u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())):
		return nil, errors.New("must begin with https://, or http:// for a server on this machine")
	}
	return &Model{url: u.String() + "/chat/completions", local: o.LocalModel, fetchKey: o.Key, client: model.NewHTTPClient()}, nil
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// request is the body of a request. An endpoint of one's own may know only the
// older of the two names of the bound, and OpenAI's newer models refuse it.
type request struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	MaxTokens           int       `json:"max_tokens,omitzero"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitzero"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// completion is what matters of an answer. Prompt tokens count those of the
// cache too.
type completion struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
		Details          struct {
			CachedTokens     int64 `json:"cached_tokens"`
			CacheWriteTokens int64 `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// Answer implements [model.Model].
func (m *Model) Answer(ctx context.Context, r model.Request) (model.Answer, error) {
	q := request{Model: r.Model, MaxCompletionTokens: r.MaxTokens}
	if r.Model == Local {
		q = request{Model: m.local, MaxTokens: r.MaxTokens}
	}
	if q.Model == "" {
		return model.Missing("OPENAI_BASE_URL and OPENAI_MODEL").Answer(ctx, r)
	}
	if r.System != "" {
		q.Messages = append(q.Messages, message{"system", r.System})
	}
	q.Messages = append(q.Messages, message{"user", r.Message})
	body, err := m.post(ctx, q)
	if err != nil {
		return model.Answer{}, err
	}
	var c completion
	if err := json.Unmarshal(body, &c, lenient); err != nil {
		return model.Answer{}, model.UnreadableError(errors.New("not JSON of a chat completion"))
	}
	return c.answer()
}

// lenient is how answers are read: servers differ in what they do well.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// post sends a request and returns the body of its answer.
func (m *Model) post(ctx context.Context, q request) ([]byte, error) {
	body, err := json.Marshal(q, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if err := m.authorize(r); err != nil {
		return nil, model.AccessError(err)
	}
	answer, err := m.client.Do(r)
	if err != nil {
		return nil, model.ConnectionError(err)
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode == http.StatusUnauthorized:
		m.forgetKey()
		return nil, failure(answer, body)
	case answer.StatusCode != http.StatusOK:
		return nil, failure(answer, body)
	case err != nil:
		return nil, model.UnreadableError(err)
	}
	return body, nil
}

// authorize gives a request the key, if there is one.
func (m *Model) authorize(r *http.Request) error {
	if m.fetchKey == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.key == "" {
		key, err := m.fetchKey(r.Context())
		if err != nil {
			return err
		}
		m.key = strings.TrimSpace(key)
	}
	r.Header.Set("Authorization", "Bearer "+m.key)
	return nil
}

// forgetKey has the next request fetch the key anew: it may have been rotated.
func (m *Model) forgetKey() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.key = ""
}

// answer is what a completion says.
func (c completion) answer() (model.Answer, error) {
	cached, written := c.Usage.Details.CachedTokens, c.Usage.Details.CacheWriteTokens
	tokens := model.Count(c.Usage.PromptTokens-cached-written, c.Usage.CompletionTokens, cached, written)
	if len(c.Choices) == 0 {
		return model.Answer{Tokens: tokens}, model.UnreadableError(errors.New("no choices"))
	}
	choice := c.Choices[0]
	switch {
	case choice.FinishReason == "content_filter":
		return model.Answer{Tokens: tokens}, model.FilteredError(errors.New(choice.FinishReason))
	case choice.Message.Refusal != "":
		return model.Answer{Tokens: tokens}, &model.Error{Sentence: "The model refused to answer."}
	}
	return model.Finish(choice.Message.Content, choice.FinishReason == "length", tokens)
}

// codes are the failures that only a code tells apart from others of the same
// status.
var codes = map[string]func(error) *model.Error{
	"context_length_exceeded": model.TooLongError,
	"content_filter":          model.FilteredError,
	"insufficient_quota":      func(err error) *model.Error { return model.StatusError(http.StatusPaymentRequired, nil, err) },
}

// codeForm matches codes.
var codeForm = regexp.MustCompile(`^[a-z][a-z_]{2,50}$`)

// failure is what a status other than 200 means. Of the body, only the code is
// told, if it looks like one: messages may repeat the key.
func failure(answer *http.Response, body []byte) error {
	var b struct {
		Error struct {
			Code any `json:"code"` // a number with some servers
			Type any `json:"type"`
		} `json:"error"`
	}
	cause := fmt.Errorf("status %d", answer.StatusCode)
	if json.Unmarshal(body, &b, lenient) == nil {
		for _, member := range []any{b.Error.Code, b.Error.Type} {
			code, ok := member.(string)
			if !ok || !codeForm.MatchString(code) {
				continue
			}
			cause = fmt.Errorf("%w, %s", cause, code)
			if known, ok := codes[code]; ok {
				return known(cause)
			}
		}
	}
	return model.StatusError(answer.StatusCode, answer.Header, cause)
}
