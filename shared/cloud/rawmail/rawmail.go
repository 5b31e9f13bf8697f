// Package rawmail is the bucket of raw messages, for the functions that reach
// it.
package rawmail

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/s3"
)

// Bucket is the bucket that RAW_BUCKET names.
type Bucket struct{ *s3.Bucket }

// Open returns the bucket of a function. It calls nobody.
func Open(f *cloud.Function) (Bucket, error) {
	name, err := f.Require("RAW_BUCKET")
	return Bucket{s3.New(s3.Options{
		Bucket: name, Region: f.Region(), Credentials: f.Credentials(), Endpoint: f.Getenv("AWS_ENDPOINT_URL_S3"),
	})}, err
}

// Link makes a link to the message at key, as inboxstore.Options wants it.
func (b Bucket) Link(ctx context.Context, key string) (inbox.Link, error) {
	url, expires, err := b.Bucket.Link(ctx, key)
	return inbox.Link{URL: url, ExpiresAt: expires}, err
}
