// Package s3 is the S3 driver of the blobs of package store: a [Bucket] keeps
// them, and signs links by which one may be downloaded for a while.
//
// It imports packages store and awshttp and the AWS SDK, nothing else of this
// module.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/universokobana/kobana-inbox-mcp/shared/awshttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// How a call is bounded, whatever the caller's deadline. S3 begins to answer
// within a fraction of a second; the rest is for the largest messages that
// mail brings, of 40 MB.
const (
	maxAttempts   = 3
	answerTimeout = 2 * time.Second // until the answer begins
	callTimeout   = 8 * time.Second // of all attempts together
	maxBackoff    = 500 * time.Millisecond
)

// LinkTTL is how long a link works.
const LinkTTL = 5 * time.Minute

// Options are what [New] needs to know. Bucket, Region and Credentials are
// required.
type Options struct {
	Bucket      string
	Region      string
	Credentials aws.CredentialsProvider
	// Endpoint is the URL of a server that stands in for S3, with the bucket in
	// its paths; "" is S3 itself.
	Endpoint string
	// AnswerTimeout bounds how long an answer takes to begin; 0 is two seconds.
	AnswerTimeout time.Duration
}

// Bucket is a [store.Blobs] in S3. What is not there reads as such only for who
// may list the bucket; others are refused.
type Bucket struct {
	name   string
	client func() *s3.Client // made when first needed
}

var _ store.Blobs = (*Bucket)(nil)

// New returns the bucket. It reads no file and calls nobody.
func New(o Options) *Bucket {
	return &Bucket{name: o.Bucket, client: sync.OnceValue(func() *s3.Client { return newClient(o) })}
}

func newClient(o Options) *s3.Client {
	options := s3.Options{
		Region:      o.Region,
		Credentials: o.Credentials,
		Retryer: retry.NewStandard(func(s *retry.StandardOptions) {
			s.MaxAttempts, s.MaxBackoff = maxAttempts, maxBackoff
		}),
		HTTPClient: awshttp.NewClient(awshttp.Options{AnswerTimeout: cmp.Or(o.AnswerTimeout, answerTimeout)}),
	}
	if o.Endpoint != "" {
		options.BaseEndpoint, options.UsePathStyle = &o.Endpoint, true
	}
	return s3.New(options)
}

// Get implements [store.Blobs].
func (b *Bucket) Get(ctx context.Context, key string) (data []byte, err error) {
	err = b.call(ctx, key, func(ctx context.Context) error {
		out, err := b.client().GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
		if err != nil {
			return err
		}
		defer out.Body.Close()
		data, err = io.ReadAll(out.Body)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Put implements [store.Blobs].
func (b *Bucket) Put(ctx context.Context, key string, data []byte) error {
	return b.call(ctx, key, func(ctx context.Context) error {
		_, err := b.client().PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(data)})
		return err
	})
}

// Delete implements [store.Blobs].
func (b *Bucket) Delete(ctx context.Context, key string) error {
	return b.call(ctx, key, func(ctx context.Context) error {
		_, err := b.client().DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
		return err
	})
}

// call bounds a call for the blob at key, and turns its error into one of
// package store. The cause of an [store.ErrUnavailable] is told and not
// wrapped: an attempt that took too long is a context.DeadlineExceeded for
// errors.Is, and the caller's deadline has not passed.
func (b *Bucket) call(ctx context.Context, key string, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := store.ValidateBlobKey(key); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := do(bounded)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("s3: bucket %s: %w", b.name, ctx.Err())
	}
	if _, absent := errors.AsType[*types.NoSuchKey](err); absent {
		return store.ErrNotFound
	}
	return fmt.Errorf("%w: s3: bucket %s: %v", store.ErrUnavailable, b.name, err)
}

// Link returns a URL by which whoever has it may download the message at key
// until it expires. It is signed here: nobody is asked, whether or not the
// message is there.
func (b *Bucket) Link(ctx context.Context, key string) (url string, expires time.Time, err error) {
	if err := store.ValidateBlobKey(key); err != nil {
		return "", time.Time{}, err
	}
	expires = time.Now().Add(LinkTTL).UTC().Truncate(time.Second)
	signer := s3.NewPresignClient(b.client(), s3.WithPresignExpires(LinkTTL), s3.WithPresignClientFromClientOptions(func(o *s3.Options) {
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired // browsers check none
	}))
	signed, err := signer.PresignGetObject(ctx, &s3.GetObjectInput{
		Bucket: &b.name, Key: &key,
		ResponseContentType:        new("message/rfc822"),
		ResponseContentDisposition: new(`attachment; filename="message.eml"`),
		ResponseCacheControl:       new("no-store"),
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("%w: s3: sign a link: %v", store.ErrUnavailable, err)
	}
	return signed.URL, expires, nil
}
