# Makes what Lambda starts: one static file, of the processor that the template
# names. The same source makes the same bytes, so that a deploy leaves alone what
# did not change.
#
# sam build calls build-ToolsFunction and its like, with ARTIFACTS_DIR.

build-%Function:
	CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH) go build -trimpath -buildvcs=false -tags lambda.norpc -ldflags '-s -w -buildid=' \
	  -o '$(ARTIFACTS_DIR)/bootstrap' ./functions/$(shell echo '$*' | tr A-Z a-z)
