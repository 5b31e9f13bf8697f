package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/universokobana/kobana-inbox-mcp/infra/rie"
)

// build builds the emulator, and the functions as make build does, for this
// machine.
func build(dir string) error {
	if err := rie.Build(filepath.Join("..", ".."), filepath.Join(dir, "rie")); err != nil {
		return err
	}
	for name := range functions {
		if err := buildFunction(name, runtime.GOARCH, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// buildFunction builds one function for a processor into a folder, as sam build
// and make build do.
func buildFunction(name, arch, dir string) error {
	makefile := map[string]string{"arm64": "infra/template/arm64/Makefile", "amd64": "infra/template/x86_64/Makefile"}[arch]
	cmd := exec.Command("make", "-f", makefile, "build-"+name+"Function", "ARTIFACTS_DIR="+dir)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return nil
}
