package confirm

import "fmt"

// Language is one that people are asked in.
type Language string

// The languages. Any other is taken for English.
const (
	English    Language = "en"
	Portuguese Language = "pt-BR"
)

// Text is a text in each language.
type Text struct{ EN, PT string }

// In returns the text in l.
func (t Text) In(l Language) string {
	if l == Portuguese {
		return t.PT
	}
	return t.EN
}

func (t Text) format(l Language, args ...any) string { return fmt.Sprintf(t.In(l), args...) }

// What a decision tells the person. Each says what did not happen.
var (
	textRequired = Text{
		EN: "This action needs a yes from the person, and this client cannot ask for it: that takes protocol 2026-07-28 and a client that declares form elicitation. Nobody was asked, and nothing was executed.",
		PT: "Esta ação precisa do sim da pessoa, e este cliente não consegue perguntar: é preciso o protocolo 2026-07-28 e um cliente que declare formulários de elicitation. Ninguém foi consultado, e nada foi executado.",
	}
	textDeclined = Text{
		EN: "The person was asked and did not agree. Nothing was executed, and nothing changed.",
		PT: "A pessoa foi consultada e não concordou. Nada foi executado, e nada mudou.",
	}
	textReplayed = Text{
		EN: "This confirmation was already used at %s. Nothing was executed now. Check whether the first call took effect; to run the action again, call the tool without requestState and answer the new question.",
		PT: "Esta confirmação já foi usada em %s. Nada foi executado agora. Verifique se a primeira chamada surtiu efeito; para executar a ação de novo, chame a tool sem requestState e responda à nova pergunta.",
	}
	textReplayedNo = Text{
		EN: "This question was already answered with no at %s. Nothing was executed, then or now. To run the action after all, call the tool without requestState and answer the new question.",
		PT: "Esta pergunta já foi respondida com não em %s. Nada foi executado, nem antes nem agora. Para executar a ação mesmo assim, chame a tool sem requestState e responda à nova pergunta.",
	}
	textUnavailable = Text{
		EN: "The confirmation could not be recorded. Nothing was executed. Try again later, without requestState.",
		PT: "Não foi possível registrar a confirmação. Nada foi executado. Tente de novo mais tarde, sem requestState.",
	}
	textSpent = Text{
		EN: "The confirmation is used up; to try again, call the tool without requestState and answer the new question.",
		PT: "A confirmação já foi consumida; para tentar de novo, chame a tool sem requestState e responda à nova pergunta.",
	}
)

// What a question says.
var (
	textExpired = Text{
		EN: "The earlier question expired, and nothing was executed. Please answer again.",
		PT: "A pergunta anterior expirou, e nada foi executado. Responda de novo, por favor.",
	}
	textChanged = Text{
		EN: "Something changed after the earlier question, and nothing was executed. Please read again.",
		PT: "Algo mudou depois da pergunta anterior, e nada foi executado. Leia de novo, por favor.",
	}
	textCascades     = Text{EN: "Also affected", PT: "Também afeta"}
	textWorkspace    = Text{EN: "Workspace", PT: "Workspace"}
	textOrganization = Text{EN: "Organization", PT: "Organização"}
	textArguments    = Text{EN: "With these arguments:", PT: "Com estes argumentos:"}
	textNoArguments  = Text{EN: "Without arguments.", PT: "Sem argumentos."}
	textEmpty        = Text{EN: "(empty)", PT: "(vazio)"}
	textHidden       = Text{EN: "(given, not shown)", PT: "(informado, não exibido)"}
	textCut          = Text{EN: "(cut here, %d characters in all)", PT: "(cortado aqui, %d caracteres ao todo)"}
	textMore         = Text{EN: "and %d more, not shown", PT: "e mais %d, não exibidos"}
	textField        = Text{EN: "Yes, run this action", PT: "Sim, executar esta ação"}
	textFieldHelp    = Text{
		EN: "It runs only with a yes, once, for exactly this call. The question expires in %s.",
		PT: "Só executa com um sim, uma única vez, exatamente esta chamada. A pergunta expira em %s.",
	}
)
