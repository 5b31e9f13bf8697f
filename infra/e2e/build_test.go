package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// rie is the emulator's command, in the module infra/rie.
const rie = "github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie"

// build builds the emulator, and the functions as make build does, for this
// machine.
func build(dir string) error {
	emulator := exec.Command("go", "build", "-o", filepath.Join(dir, "rie"), rie)
	emulator.Dir = filepath.Join("..", "rie")
	if out, err := emulator.CombinedOutput(); err != nil {
		return fmt.Errorf("build the emulator: %w\n%s", err, out)
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

// megabytes is the size of a file.
func megabytes(t *testing.T, path string) float64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return float64(info.Size()) / 1e6
}
