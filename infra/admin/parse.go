package admin

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Command is a command line that can be run.
type Command struct {
	Args []string // as it was parsed, to be parsed anew elsewhere

	needed []string
	asJSON bool
	action action
}

// UsageError is a command line that is no command: what is wrong with it, ""
// when it asks for help, and what would be right.
type UsageError struct{ Problem, Usage string }

func (e *UsageError) Error() string { return strings.TrimSpace(e.Problem + "\n\n" + e.Usage) }

// Parse reads a command line, without the program's name. Its error is a
// [*UsageError].
func Parse(args []string) (*Command, error) {
	if len(args) == 0 {
		return nil, &UsageError{"say what to do", hint}
	}
	words := strings.Join(args[:min(2, len(args))], " ")
	for _, c := range commands() {
		if c.words == words {
			return c.parse(args)
		}
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		return nil, &UsageError{"", overview()}
	}
	return nil, &UsageError{fmt.Sprintf("there is no command %q", words), hint}
}

const hint = "-h lists the commands, and -h after one tells more of it.\n"

// parse reads what comes after the two words: flags may stand anywhere before
// a --.
func (c *command) parse(args []string) (*Command, error) {
	fs := flag.NewFlagSet(c.words, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	parsed := &Command{Args: args, action: c.setup(fs)}
	fs.BoolVar(&parsed.asJSON, "json", false, "answer with one JSON object a line")
	for rest := args[2:]; ; rest = fs.Args()[1:] {
		switch err := fs.Parse(rest); {
		case errors.Is(err, flag.ErrHelp):
			return nil, &UsageError{"", c.usage(fs)}
		case err != nil:
			return nil, &UsageError{err.Error(), c.usage(fs)}
		}
		if n := len(rest) - fs.NArg(); fs.NArg() == 0 || n > 0 && rest[n-1] == "--" {
			parsed.needed = append(parsed.needed, fs.Args()...)
			break
		}
		parsed.needed = append(parsed.needed, fs.Arg(0))
	}
	if needs := strings.Fields(c.needs); len(parsed.needed) != len(needs) {
		return nil, &UsageError{fmt.Sprintf("%s takes %d arguments, not %d", c.words, len(needs), len(parsed.needed)), c.usage(fs)}
	}
	return parsed, nil
}

func (c *command) usage(fs *flag.FlagSet) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "usage: %s\n\n%s\n\n", strings.TrimSpace(c.words+" "+c.needs)+" [flags]", c.about)
	fs.SetOutput(&b)
	fs.PrintDefaults()
	fs.SetOutput(io.Discard)
	return b.String()
}

func overview() string {
	var b strings.Builder
	b.WriteString("The commands; -h after one tells more of it:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %s\n      %s\n", strings.TrimSpace(c.words+" "+c.needs), c.about)
	}
	fmt.Fprintf(&b, `
WORKSPACE is an id or external_id, INBOX one of these or an address, ROLE one of %s.
A person is ISSUER and SUBJECT, exactly as the claims iss and sub of their
tokens spell them. Changes take effect within 30 s, and at once for calls that
a person confirms.

The store is the local server's, running or not, in DATA_DIR (default .data);
or, where DATA_TABLE is set, that table in DynamoDB, with AWS_REGION,
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and, for an
emulator, AWS_ENDPOINT_URL_DYNAMODB. "aws configure export-credentials
--format env" prints the credentials of a profile.
`, strings.Join(oneOf(roles), ", "))
	return b.String()
}

func oneOf[S ~string](list []S) (names []string) {
	for _, s := range list {
		names = append(names, string(s))
	}
	return names
}

// Run carries the command out and returns what it answers: lines of text. The
// error is for the operator: it tells causes too.
func (c *Command) Run(ctx context.Context, b *Books) ([]byte, error) {
	a, err := c.action(ctx, b, c.needed)
	if e, ok := errors.AsType[*inbox.Error](err); ok {
		err = &told{e}
	}
	if err != nil {
		return nil, err
	}
	return a.write(c.asJSON)
}

// told is an error of the domain in its own words, without its code.
type told struct{ cause *inbox.Error }

func (t *told) Unwrap() error { return t.cause }

func (t *told) Error() string {
	if t.cause.Err != nil {
		return fmt.Sprintf("%s (%v)", t.cause.Message, t.cause.Err)
	}
	return t.cause.Message
}
