package local

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
)

const (
	// tidyEvery is how often the store forgets what expired.
	tidyEvery = 10 * time.Minute
	// drain is how long requests may finish when the server stops.
	drain = 5 * time.Second
)

// Server is the whole product on one machine, listening but not yet serving.
type Server struct {
	URL string // where clients reach it, such as http://127.0.0.1:3000

	dir      string // DATA_DIR
	data     *data
	listener net.Listener // of clients
	mail     net.Listener // of SMTP, nil where it is off
	commands net.Listener // of other processes
	handler  http.Handler
	log      *slog.Logger
	issuers  []string // where people sign in, nil: with demo tokens only
}

// Open listens, opens the store and fills a new one with the demo. Serve it
// or close it.
func Open(ctx context.Context, c Config, log *slog.Logger) (*Server, error) {
	clients, mail, err := c.listen()
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + clients.Addr().String(), dir: c.DataDir, listener: clients, mail: mail, log: log}
	if s.data, err = openData(ctx, c, s.URL, log); err != nil {
		return nil, errors.Join(err, s.stopListening())
	}
	if err := s.open(c); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) open(c Config) (err error) {
	if s.commands, err = listenForCommands(c); err != nil {
		return err
	}
	verifier, issuers, err := signIn(c, s.URL, s.log)
	if err != nil {
		return err
	}
	if c.OAuth != nil {
		s.issuers = issuers
	}
	gate, err := access.NewGate(access.Options{
		Verifier: verifier, Directory: s.data.directory, PublicURL: s.URL,
		AuthorizationServers: issuers, ResourceName: "Kobana Inbox (local)", Limit: c.RateLimit,
	})
	if err != nil {
		return err
	}
	origins, err := access.ParseOrigins("loopback")
	if err != nil {
		return err
	}
	confirmer, err := confirm.New(confirm.Options{
		Audience: s.URL + "/mcp", TTL: c.ConfirmTTL, Ledger: s.data.db.Table("confirmations"),
		Keys: confirm.StaticKeys(confirm.Key{ID: "local", Secret: [32]byte(s.data.keys.seal)}),
	})
	if err != nil {
		return err
	}
	s.handler = onlyLoopback(gateway(server.Options{
		Service: s.data.service, Gate: gate, Organization: s.data.directory.Organization,
		Confirmer: confirmer, ConfirmAlso: c.ConfirmAlso, CheckURL: s.data.sender.CheckURL,
		AuditKey:    func(context.Context) ([]byte, error) { return s.data.keys.audit, nil },
		AllowOrigin: origins.Allow, ReadOnly: c.ReadOnly, Log: s.log,
	}, s.data.links))
	return nil
}

// gateway has the routes of the HTTP API in the cloud: each family at its own
// address, everything else at the router's. Raw messages are S3's there.
func gateway(o server.Options, links http.Handler) http.Handler {
	families := map[string]http.Handler{}
	mux := http.NewServeMux()
	for _, name := range server.FamilyNames() {
		families[name] = server.Family(o, name)
		mux.Handle("/mcp/"+name, families[name])
	}
	mux.Handle("GET /eml", links)
	mux.Handle("/", server.Router(o, families))
	return mux
}

// service is what answers at a listener.
type service interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error // what is running may finish, as long as the context lasts
	Close() error
}

// Serve answers requests, and commands, and takes mail until the context ends;
// then it lets what is running finish, closes the store, and logs what it waited
// for.
func (s *Server) Serve(ctx context.Context) (err error) {
	services := map[string]service{"requests": s.httpServer(s.handler), "commands": s.httpServer(commandHandler(s.data))}
	listeners := map[string]net.Listener{"requests": s.listener, "commands": s.commands}
	if s.mail != nil {
		services["mail"], listeners["mail"] = newSMTPServer(s.data, s.log), s.mail
	}
	failed := make(chan error, len(services))
	for name, service := range services {
		go func() { failed <- service.Serve(listeners[name]) }()
	}
	working, stop := context.WithCancel(ctx)
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		s.data.worker.Run(working, s.data.wake)
	}()
	tidy := time.NewTicker(tidyEvery)
	defer tidy.Stop()
	for {
		s.tidy(ctx)
		select {
		case <-tidy.C:
			continue
		case err = <-failed:
		case <-ctx.Done():
		}
		break
	}
	begin := time.Now()
	waited, ended := s.end(context.WithoutCancel(ctx), services)
	stop()
	<-worked
	waited = append(waited, "jobs", time.Since(begin).Round(time.Millisecond))
	err = errors.Join(err, ended, s.Close())
	s.log.InfoContext(ctx, "stopped", slog.Group("waited_for", waited...))
	return err
}

// end lets services finish what is running, and cuts off what has had its time.
// It returns how long each took, as attributes for the log.
func (s *Server) end(ctx context.Context, services map[string]service) (waited []any, err error) {
	ctx, cancel := context.WithTimeout(ctx, drain)
	defer cancel()
	begin := time.Now()
	var all sync.WaitGroup
	var mu sync.Mutex
	for name, service := range services {
		all.Go(func() {
			e := service.Shutdown(ctx)
			if e != nil { // some are not done
				e = service.Close()
			}
			mu.Lock()
			defer mu.Unlock()
			waited = append(waited, name, time.Since(begin).Round(time.Millisecond))
			err = errors.Join(err, e)
		})
	}
	all.Wait()
	return waited, err
}

// tidy removes what expired, and finishes erasures that were interrupted.
func (s *Server) tidy(ctx context.Context) {
	_, err := s.data.db.Sweep(ctx, time.Now())
	if err = errors.Join(err, s.data.inboxes.ResumeErasures(ctx)); err != nil {
		s.log.WarnContext(ctx, "tidying is left for the next time", "error", err)
	}
}

func (s *Server) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 60 * time.Second,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}

// Close stops listening and closes the store.
func (s *Server) Close() error { return errors.Join(s.data.close(), s.stopListening()) }

func (s *Server) stopListening() (err error) {
	for _, l := range []net.Listener{s.listener, s.mail, s.commands} {
		if l == nil {
			continue
		}
		if e := l.Close(); !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}
