package demo

import (
	"context"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// bosque is the other organization: small, in Portuguese, and out of sight of
// everybody in Aurora.
func (s *Seeder) bosque(ctx context.Context) error {
	ws, err := s.workspace(ctx, access.Organization{ID: Bosque, Name: "Bosque Verde"}, "Viveiro", inbox.Portuguese,
		map[access.Person]access.Role{Other: access.Owner})
	if err != nil {
		return err
	}
	in, err := s.inbox(ctx, ws, "Pedidos", "bosque-pedidos@inbox.kobana.com.br", nil, nil)
	if err != nil {
		return err
	}
	return s.run(ctx, []arrival{{"20-pedido", in, 30 * time.Hour}, {"21-entrega", in, 5 * time.Hour}})
}
