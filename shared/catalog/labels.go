package catalog

import "github.com/universokobana/kobana-inbox-mcp/shared/confirm"

// labels are what people call the arguments of writing tools, in the question
// that confirms a call. An argument means the same in every tool.
func labels() map[string]confirm.Text {
	return map[string]confirm.Text{
		"agent_id":                    {EN: "Agent", PT: "Agente"},
		"allowed_recipients":          {EN: "Who may send", PT: "Quem pode enviar"},
		"attachments_allow":           {EN: "Attachments allowed", PT: "Anexos permitidos"},
		"attachments_max_file_number": {EN: "Attachments at most", PT: "Máximo de anexos"},
		"attachments_max_file_size":   {EN: "Largest attachment (bytes)", PT: "Maior anexo (bytes)"},
		"attachments_max_total_size":  {EN: "Attachments in all (bytes)", PT: "Total de anexos (bytes)"},
		"auth":                        {EN: "Authentication", PT: "Autenticação"},
		"auth_basic_password":         {EN: "Password", PT: "Senha"},
		"auth_basic_user":             {EN: "User", PT: "Usuário"},
		"auth_bearer_token":           {EN: "Token", PT: "Token"},
		"auth_header_key":             {EN: "Header", PT: "Cabeçalho"},
		"auth_header_value":           {EN: "Header value", PT: "Valor do cabeçalho"},
		"custom_metadata":             {EN: "Custom metadata", PT: "Metadados próprios"},
		"description":                 {EN: "Description", PT: "Descrição"},
		"email":                       {EN: "Address", PT: "Endereço"},
		"email_prefix":                {EN: "Address prefix", PT: "Prefixo de endereço"},
		"expected_updated_at":         {EN: "If unchanged since", PT: "Se não mudou desde"},
		"external_id":                 {EN: "External id", PT: "Id externo"},
		"filters":                     {EN: "Filter", PT: "Filtro"},
		"id":                          {EN: "Id", PT: "Id"},
		"inbox_id":                    {EN: "Inbox", PT: "Inbox"},
		"label":                       {EN: "Name", PT: "Nome"},
		"llm_model":                   {EN: "Model", PT: "Modelo"},
		"locale":                      {EN: "Language", PT: "Idioma"},
		"metadata":                    {EN: "Metadata", PT: "Metadados"},
		"monthly_cost_limit":          {EN: "Monthly cost limit (USD)", PT: "Limite mensal de custo (USD)"},
		"monthly_emails_limit":        {EN: "Monthly e-mail limit", PT: "Limite mensal de e-mails"},
		"name":                        {EN: "Name", PT: "Nome"},
		"skills_repo":                 {EN: "Skills repository", PT: "Repositório de skills"},
		"status":                      {EN: "Status", PT: "Status"},
		"subscribed_events":           {EN: "Events", PT: "Eventos"},
		"system_message":              {EN: "System message", PT: "Mensagem de sistema"},
		"url":                         {EN: "Host of the URL", PT: "Host da URL"},
		"value":                       {EN: "Value", PT: "Valor"},
		"webhook_id":                  {EN: "Webhook", PT: "Webhook"},
	}
}
