package inbox

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// The table has each field once, under its name in JSON.
func TestCredentialTable_has_each_field_once(t *testing.T) {
	var c Credentials
	for _, f := range CredentialTable() {
		if *f.Of(&c) != "" {
			t.Errorf("%s is kept where another is", f.Name)
		}
		*f.Of(&c) = f.Name
	}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if v.Field(i).String() != name {
			t.Errorf("%s is kept of %q", name, v.Field(i))
		}
	}
	if got := WebhookAuths(); !slices.Equal(got, []WebhookAuth{AuthNone, AuthBasic, AuthBearer, AuthHeader}) {
		t.Error(got)
	}
}

func TestCredentialsCheck(t *testing.T) {
	long := strings.Repeat("x", MaxCredential+1)
	for _, c := range []struct {
		auth        WebhookAuth
		credentials Credentials
		field       string // at fault, "" for none
	}{
		{AuthNone, Credentials{}, ""},
		{AuthBasic, Credentials{BasicUser: "kate", BasicPassword: "a:b ç"}, ""},
		{AuthBasic, Credentials{BasicUser: "api-key"}, ""},
		{AuthBasic, Credentials{BasicPassword: "x"}, "auth_basic_user"},
		{AuthBasic, Credentials{BasicUser: "a:b"}, "auth_basic_user"},
		{AuthBasic, Credentials{BasicUser: "a\xff"}, "auth_basic_user"},
		{AuthBasic, Credentials{BasicUser: "a", BasicPassword: "x\ny"}, "auth_basic_password"},
		{AuthBasic, Credentials{BasicUser: "a", BasicPassword: long}, "auth_basic_password"},
		{AuthBearer, Credentials{BearerToken: "a.b-c_d~e+f/g=="}, ""},
		{AuthBearer, Credentials{BearerToken: long[1:]}, ""},
		{AuthBearer, Credentials{}, "auth_bearer_token"},
		{AuthBearer, Credentials{BearerToken: "a b"}, "auth_bearer_token"},
		{AuthBearer, Credentials{BearerToken: "a\r\nX: y"}, "auth_bearer_token"},
		{AuthBearer, Credentials{BearerToken: "ç"}, "auth_bearer_token"},
		{AuthBearer, Credentials{BearerToken: long}, "auth_bearer_token"},
		{AuthHeader, Credentials{HeaderKey: "x-api_key", HeaderValue: "a b"}, ""},
		{AuthHeader, Credentials{HeaderKey: "Authorization", HeaderValue: "Token x"}, ""},
		{AuthHeader, Credentials{HeaderValue: "x"}, "auth_header_key"},
		{AuthHeader, Credentials{HeaderKey: "a b", HeaderValue: "x"}, "auth_header_key"},
		{AuthHeader, Credentials{HeaderKey: "a:", HeaderValue: "x"}, "auth_header_key"},
		{AuthHeader, Credentials{HeaderKey: "Host", HeaderValue: "x"}, "auth_header_key"},
		{AuthHeader, Credentials{HeaderKey: "webhook-ID", HeaderValue: "x"}, "auth_header_key"},
		{AuthHeader, Credentials{HeaderKey: "X-Kobana-Signature", HeaderValue: "x"}, "auth_header_key"},
		{AuthHeader, Credentials{HeaderKey: "Content-Length", HeaderValue: "1"}, "auth_header_key"},
		{AuthHeader, Credentials{HeaderKey: "transfer-encoding", HeaderValue: "x"}, "auth_header_key"},
		{AuthHeader, Credentials{HeaderKey: "X-Key"}, "auth_header_value"},
		{AuthHeader, Credentials{HeaderKey: "X-Key", HeaderValue: " x"}, "auth_header_value"},
		{AuthHeader, Credentials{HeaderKey: "X-Key", HeaderValue: "x\r\nY: z"}, "auth_header_value"},
		{AuthNone, Credentials{BearerToken: "t0ken"}, "auth_bearer_token"},
		{AuthBearer, Credentials{BearerToken: "t0ken", HeaderKey: "X-Key"}, "auth_header_key"},
		{"digest", Credentials{}, "auth"},
		{"", Credentials{}, "auth"},
	} {
		err := c.credentials.Check(c.auth)
		bad, ok := errors.AsType[*Error](err)
		if c.field == "" && err != nil || c.field != "" && (!ok || bad.Field != c.field || bad.Code != CodeInvalid) {
			t.Errorf("%s %s: %v, want the fault in %q", c.auth, c.field, err, c.field)
		}
		if len(c.credentials.BearerToken) > 3 && err != nil && strings.Contains(err.Error(), c.credentials.BearerToken) {
			t.Errorf("the error quotes the token: %v", err)
		}
	}
}

// What is sealed can be opened by the versions before and after.
func TestCredentialsJSON(t *testing.T) {
	want := Credentials{BasicUser: "a", BasicPassword: "b", BearerToken: "c", HeaderKey: "d", HeaderValue: "e"}
	const text = `{"auth_basic_user":"a","auth_basic_password":"b","auth_bearer_token":"c","auth_header_key":"d","auth_header_value":"e"}`
	var got Credentials
	sealed, _ := json.Marshal(want)
	if err := json.Unmarshal([]byte(text), &got); err != nil || got != want || string(sealed) != text {
		t.Errorf("%v, %s", err, sealed)
	}
}
