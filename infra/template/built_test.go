package template_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Case 6: what sam build made is one static file, of the processor that its
// name says. BUILT names its folder, such as build/sam-arm64.
func TestBuilt(t *testing.T) {
	built := os.Getenv("BUILT")
	if built == "" {
		t.Skip("BUILT is not set; make validate sets it")
	}
	machine := elf.EM_AARCH64
	if strings.HasSuffix(built, "x86_64") {
		machine = elf.EM_X86_64
	}
	for _, f := range functions {
		folder := filepath.Join(built, f+"Function")
		if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
			t.Errorf("%s: %v %v", f, files, err)
		}
		binary, err := elf.Open(filepath.Join(folder, "bootstrap"))
		if err != nil {
			t.Error(err)
			continue
		}
		defer binary.Close()
		if binary.Machine != machine {
			t.Errorf("%s is for %v", f, binary.Machine)
		}
		for _, part := range binary.Progs {
			if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
				t.Errorf("%s is not static: %v", f, part.Type)
			}
		}
	}
}
