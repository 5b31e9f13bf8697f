package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
		if err := buildFunction(name, filepath.Join(dir, name, "bootstrap")); err != nil {
			return err
		}
	}
	return nil
}

// buildFunction builds one function, its environment changed as said.
func buildFunction(name, path string, env ...string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=", "-o", path, "../../functions/"+name)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	cmd.Env = append(cmd.Env, env...)
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
