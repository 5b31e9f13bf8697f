package catalog

import "github.com/universokobana/kobana-inbox-mcp/shared/inbox"

// credentialFields are the arguments that a webhook's credentials come in.
func credentialFields() (fs Fields) {
	for _, f := range inbox.CredentialTable() {
		fs = append(fs, Field{Name: f.Name, Max: inbox.MaxCredential, Secret: true})
	}
	return fs
}

// credentials reads the arguments that the kind of auth takes. Each of them must
// be given, even if it is empty, and no other may be.
func (c *Call) credentials(auth inbox.WebhookAuth) (r inbox.Credentials, err error) {
	for _, f := range inbox.CredentialTable() {
		switch given := c.Args.Has(f.Name); {
		case given && f.Auth != auth:
			return r, inbox.Errorf(inbox.CodeInvalid, f.Name, "auth %s takes no %s.", auth, f.Name)
		case !given && f.Auth == auth:
			return r, inbox.Errorf(inbox.CodeInvalid, f.Name, "auth %s needs %s.", auth, f.Name)
		}
		*f.Of(&r) = c.Args.String(f.Name)
	}
	return r, r.Check(auth)
}
