package inbox

import (
	_ "embed"
	"fmt"

	"github.com/go-json-experiment/json"
)

//go:embed models.json
var modelsJSON []byte

// ModelByID returns the model of that id, and whether there is one.
func ModelByID(id string) (Model, bool, error) {
	models, err := Models()
	for _, m := range models {
		if m.ID == id {
			return m, true, err
		}
	}
	return Model{}, false, err
}

// Models returns the models that an agent can run on, by provider. The list
// is models.json; its ids and prices are those that providers listed at the
// time of writing, and are the operator's to check against the provider's list
// and bill. What openai/local costs nobody but the operator knows: it counts as
// free.
func Models() ([]Model, error) {
	var models []Model
	if err := json.Unmarshal(modelsJSON, &models); err != nil {
		return nil, fmt.Errorf("inbox: models.json: %w", err)
	}
	return models, nil
}
