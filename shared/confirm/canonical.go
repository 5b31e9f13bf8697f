package confirm

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the JSON value v in the one form that RFC 8785 (JCS) gives
// it: members sorted by their UTF-16 code units, numbers as ECMAScript writes
// them. It refuses duplicate names, invalid Unicode and numbers beyond a double.
func Canonical(v []byte) ([]byte, error) {
	n, err := largestNumber(v)
	if err != nil {
		return nil, err
	}
	if math.IsInf(n, 0) {
		return nil, errors.New("confirm: a number is beyond a double")
	}
	c := jsontext.Value(v).Clone()
	if err := c.Canonicalize(); err != nil {
		return nil, fmt.Errorf("confirm: canonical JSON: %w", err)
	}
	return c, nil
}

// argumentsDigest identifies the arguments of a call, an object. Numbers beyond ±(2^53−1)
// are refused: the canonical form rounds them to doubles, so that two
// different ones could have one digest.
func argumentsDigest(args jsontext.Value) (digest, error) {
	const maxSafeInteger = 1<<53 - 1
	if args.Kind() != jsontext.KindBeginObject {
		return digest{}, errors.New("confirm: the arguments are not an object")
	}
	n, err := largestNumber(args)
	if err != nil {
		return digest{}, err
	}
	if n > maxSafeInteger {
		return digest{}, errors.New("confirm: a number in the arguments is beyond 2^53−1")
	}
	c, err := Canonical(args)
	if err != nil {
		return digest{}, err
	}
	return sha256.Sum256(c), nil
}

// largestNumber returns the largest magnitude among the numbers in v.
func largestNumber(v []byte) (largest float64, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	for {
		t, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return largest, nil
		}
		if err != nil {
			return 0, fmt.Errorf("confirm: canonical JSON: %w", err)
		}
		if t.Kind() == jsontext.KindNumber {
			f, _ := t.Float() // infinite when out of range
			largest = max(largest, math.Abs(f))
		}
	}
}
