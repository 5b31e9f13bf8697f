// Package local runs the whole product on one machine: the same handlers as
// the functions in the cloud, behind a small gateway that has the HTTP API's
// routes, on the embedded store, with a demo workspace to try it on.
//
// It listens on loopback only and may import everything in shared, demo and
// admin.
package local

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
)

// Config is what the environment decides.
type Config struct {
	Port       int              // PORT, default 3000; 0 takes a free one
	SMTPPort   *int             // SMTP_PORT, default 2525, or 0 where PORT is; nil ("off"): no mail comes in by SMTP
	DataDir    string           // DATA_DIR, default .data
	ConfirmTTL time.Duration    // CONFIRM_TTL, default and at most five minutes (R14)
	ReadOnly   bool             // READ_ONLY=1 lists and runs no writing tool
	RateLimit  access.RateLimit // RATE_LIMIT, "20/60" or "off"

	ConfirmAlso          []string // CONFIRM_ALSO, writing tools that ask too (R11)
	WebhookAllowLoopback bool     // WEBHOOK_ALLOW_LOOPBACK=1 lets webhooks reach this machine

	// Models are the variables of what agents run on, as package providers has
	// them. nil: none is set, and only the demo's rules answer.
	Models func(name string) string

	// OAuth are the variables OAUTH_…, as package oauth has them, and
	// OAUTH_INTROSPECTION_SECRET. nil: no issuer is configured.
	OAuth func(name string) string
}

// ConfigFrom reads the configuration from environment variables. An error
// names the variable and says what it takes.
func ConfigFrom(getenv func(string) string) (Config, error) {
	c := Config{Port: 3000, DataDir: ".data"}
	var err error
	if v := getenv("PORT"); v != "" {
		if c.Port, err = parsePort(v); err != nil {
			return c, fmt.Errorf("PORT is %q: it takes %w", v, err)
		}
	}
	switch v := getenv("SMTP_PORT"); {
	case v == "" && c.Port == 0: // whoever takes a free one runs beside others
		c.SMTPPort = new(0)
	case v == "":
		c.SMTPPort = new(2525)
	case v != "off":
		port, err := parsePort(v)
		if err != nil {
			return c, fmt.Errorf("SMTP_PORT is %q: it takes off, or %w", v, err)
		}
		c.SMTPPort = &port
	}
	if v := getenv("DATA_DIR"); v != "" {
		c.DataDir = v
	}
	if c.ConfirmTTL, err = confirm.ParseTTL(getenv("CONFIRM_TTL")); err != nil {
		return c, fmt.Errorf("CONFIRM_TTL: %w", err)
	}
	for name, on := range map[string]*bool{"READ_ONLY": &c.ReadOnly, "WEBHOOK_ALLOW_LOOPBACK": &c.WebhookAllowLoopback} {
		switch v := getenv(name); v {
		case "", "0":
		case "1":
			*on = true
		default:
			return c, fmt.Errorf("%s is %q: it takes 1 or 0", name, v)
		}
	}
	c.Models = getenv
	if getenv("OAUTH_ISSUERS") != "" {
		c.OAuth = getenv
	}
	c.ConfirmAlso = strings.Fields(strings.ReplaceAll(getenv("CONFIRM_ALSO"), ",", " "))
	if err = catalog.CheckConfirmAlso(c.ConfirmAlso); err != nil {
		return c, fmt.Errorf("CONFIRM_ALSO: %w", err)
	}
	if c.RateLimit, err = access.ParseLimit(getenv("RATE_LIMIT")); err != nil {
		return c, fmt.Errorf("RATE_LIMIT: %w", err)
	}
	return c, nil
}

// parsePort reads the number of a port. The error says what it takes.
func parsePort(v string) (int, error) {
	port, err := strconv.Atoi(v)
	if err != nil || port < 0 || port > 65535 {
		return 0, errors.New("a number from 0 to 65535")
	}
	return port, nil
}

// listen opens the loopback addresses that the configuration names; mail is nil
// where none comes in by SMTP.
func (c Config) listen() (clients, mail net.Listener, err error) {
	if clients, err = listenOn(c.Port, "set PORT to another one"); err != nil || c.SMTPPort == nil {
		return clients, nil, err
	}
	if mail, err = listenOn(*c.SMTPPort, "set SMTP_PORT to another one or off"); err != nil {
		return nil, nil, errors.Join(err, clients.Close())
	}
	return clients, mail, nil
}

func listenOn(port int, advice string) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("cannot listen on port %d: %w; %s", port, err, advice)
	}
	return l, nil
}

// maxSocketPath is how long the path of a unix socket may be, in bytes, on
// every system.
const maxSocketPath = 100

// storeFile is the embedded store in the data directory.
const storeFile = "inbox.db"

// prepare makes the data directory, readable by its owner only: for a server,
// while a command takes one that is there.
func (c Config) prepare(server bool) error {
	if n := len(c.path(socket)); n > maxSocketPath {
		return fmt.Errorf("DATA_DIR is too long for a socket in it (%d bytes, of %d): choose a shorter one", n, maxSocketPath)
	}
	if store, err := os.Stat(c.path(storeFile)); !server && (errors.Is(err, fs.ErrNotExist) || err == nil && store.Size() == 0) {
		return c.errNoData()
	}
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return fmt.Errorf("cannot make DATA_DIR: %w", err)
	}
	if err := os.Chmod(c.DataDir, 0o700); err != nil {
		return fmt.Errorf("cannot protect DATA_DIR: %w", err)
	}
	return nil
}

// errNoData is what a command is told that was not given a server's DATA_DIR.
func (c Config) errNoData() error {
	return fmt.Errorf("there is no data in DATA_DIR %s: give the DATA_DIR that the server has, or start the server, which makes it", c.DataDir)
}

func (c Config) path(name string) string { return filepath.Join(c.DataDir, name) }
