package local

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keyBytes is the size of the keys that the local server makes for itself.
const keyBytes = 32

// keys are the keys of one data directory, made once and kept in it.
type keys struct {
	link  []byte // signs download links
	seal  []byte // seals confirmations
	data  []byte // seals what is confidential in the store
	audit []byte // keys the digests in system events
}

// openKeys reads the keys, and makes them the first time. Later, what was made
// with one that is missing would be lost behind the operator's back by a new one.
func openKeys(c Config, first bool) (k keys, err error) {
	for name, of := range map[string]struct {
		to   *[]byte
		lost string
	}{
		"link":  {&k.link, "links to raw messages that are out end"},
		"seal":  {&k.seal, "what waits to be confirmed must be asked for again"},
		"data":  {&k.data, "webhooks' credentials and signing keys, and secrets, are lost"},
		"audit": {&k.audit, "digests in system events can no longer be told to be of the same"},
	} {
		path := c.path(name + ".key")
		*of.to, err = readKey(path)
		if missing := errors.Is(err, fs.ErrNotExist); missing && first {
			*of.to, err = makeKey(path)
		} else if missing {
			err = fmt.Errorf("there are records in DATA_DIR %s, but not the key %s. Put it back from a copy; with %d random bytes there instead, %s",
				c.DataDir, path, keyBytes, of.lost)
		}
		if err != nil {
			return k, err
		}
	}
	return k, nil
}

// makeKey makes the key that is kept in the named file, which its owner alone can
// read.
func makeKey(path string) ([]byte, error) {
	k := make([]byte, keyBytes)
	rand.Read(k)
	return k, writeOnce(path, k)
}

func readKey(path string) ([]byte, error) {
	k, err := os.ReadFile(path)
	if err == nil && len(k) != keyBytes {
		err = fmt.Errorf("key file %s holds %d bytes, not %d: put it back from a copy", path, len(k), keyBytes)
	}
	return k, err
}

// writeOnce writes a whole file that must not exist yet: the name appears only
// when the content is complete and on disk.
func writeOnce(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
