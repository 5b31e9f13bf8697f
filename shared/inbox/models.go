package inbox

import (
	_ "embed"
	"fmt"

	"github.com/go-json-experiment/json"
)

//go:embed models.json
var modelsJSON []byte

// Models returns the models that an agent can run on, by provider. The list
// is models.json; its prices are list prices at the time of writing, and are
// the operator's to check against the provider's bill.
func Models() ([]Model, error) {
	var models []Model
	if err := json.Unmarshal(modelsJSON, &models); err != nil {
		return nil, fmt.Errorf("inbox: models.json: %w", err)
	}
	return models, nil
}
