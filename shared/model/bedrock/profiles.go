package bedrock

import (
	"fmt"
	"regexp"
	"strings"
)

// Profiles say under which id Bedrock is asked for a model: many models can be
// called through an inference profile only. The zero value is for those that
// need none.
type Profiles struct {
	geography string            // of the system-defined profiles, as in "us"
	ids       map[string]string // profiles' ids or ARNs, by model
}

// geographyForm matches what stands before the first dot of a system-defined
// profile's id.
var geographyForm = regexp.MustCompile(`^[a-z][a-z-]{1,14}$`)

// ParseProfiles reads words separated by commas or spaces: "us" stands for the
// profiles "us.<model>" of all models, "<model>=<id or ARN>" for the profile of
// one, "<model>=" for none.
func ParseProfiles(s string) (Profiles, error) {
	p := Profiles{ids: map[string]string{}}
	for _, word := range strings.Fields(strings.ReplaceAll(s, ",", " ")) {
		model, id, ok := strings.Cut(word, "=")
		switch {
		case ok && model != "":
			p.ids[model] = id
		case !ok && geographyForm.MatchString(word) && p.geography == "":
			p.geography = word
		default:
			return Profiles{}, fmt.Errorf("%q is neither the one geography, such as us, nor model=profile", word)
		}
	}
	return p, nil
}

// id returns what Bedrock is to be asked for.
func (p Profiles) id(model string) string {
	switch id, ok := p.ids[model]; {
	case id != "":
		return id
	case ok || p.geography == "":
		return model
	}
	return p.geography + "." + model
}
