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

func makeKeys(c Config) (k keys, err error) {
	for name, to := range map[string]*[]byte{"link": &k.link, "seal": &k.seal, "data": &k.data, "audit": &k.audit} {
		if *to, err = key(c.path(name + ".key")); err != nil {
			return k, err
		}
	}
	return k, nil
}

// key returns the key kept in the named file, making it the first time. The
// file is readable by its owner only.
func key(path string) ([]byte, error) {
	k, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		k = make([]byte, keyBytes)
		rand.Read(k)
		err = writeOnce(path, k)
		if errors.Is(err, fs.ErrExist) { // another process was first
			k, err = os.ReadFile(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	if len(k) != keyBytes {
		return nil, fmt.Errorf("key file %s holds %d bytes, not %d: remove it to have a new one made", path, len(k), keyBytes)
	}
	return k, nil
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
