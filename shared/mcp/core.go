package mcp

import (
	"context"
	"time"
)

// discoverFor is how long any client may keep what server/discover says.
const discoverFor = 300 * time.Second

// coreMethods are the protocol's own methods, for [Options.Core].
func (s *Server) coreMethods() map[string]Method {
	about := s.about()
	untitled := Implementation{Name: s.opts.Info.Name, Version: s.opts.Info.Version}.json()
	discover := NewObject().Value("supportedVersions", versionList()).Members(about).Close()
	return map[string]Method{
		methodPing:     always(&Result{}),
		methodDiscover: always(&Result{Fields: discover, Cache: &Cache{TTL: discoverFor, Public: true}}),
		methodInitialize: func(_ context.Context, r *Request) (Run, error) {
			if _, ok := text(member(r.Params, "protocolVersion")); !ok {
				return nil, Errorf(CodeInvalidParams, "params.protocolVersion must be a string")
			}
			// r.Version is the negotiated one, see negotiated.
			info := s.serverInfo
			if !r.Version.Titles() {
				info = untitled
			}
			fields := NewObject().Text("protocolVersion", string(r.Version)).Value("serverInfo", info).Members(about).Close()
			return func(context.Context) (*Result, error) { return &Result{Fields: fields}, nil }, nil
		},
	}
}

// about is what initialize and server/discover both tell: the capabilities,
// one for each family that is served or forwarded, and the instructions.
// Nothing is listed under a capability: no listChanged, no subscribe.
func (s *Server) about() []byte {
	o := NewObject().Begin("capabilities")
	for _, c := range capabilities {
		if s.offers(c.family) {
			o.Begin(c.name).End()
		}
	}
	o.End()
	if s.opts.Instructions != "" {
		o.Text("instructions", s.opts.Instructions)
	}
	return o.Close()
}

func (s *Server) offers(family string) bool {
	for name := range s.opts.Methods {
		if FamilyOf(name) == family {
			return true
		}
	}
	return s.opts.Forward[family] != nil
}

// always is a method with one answer.
func always(r *Result) Method {
	return func(context.Context, *Request) (Run, error) {
		return func(context.Context) (*Result, error) { return r, nil }, nil
	}
}
