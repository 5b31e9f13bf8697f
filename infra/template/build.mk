# Makes what Lambda starts: one static file, for the processor of the Makefile that
# includes this. The same source makes the same bytes, so that a deploy leaves
# alone what did not change.
#
# sam build, make build and the tests in emulators call build-ToolsFunction and its
# like, with ARTIFACTS_DIR; upper and lower case are the same.

build-%Function:
	CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH) go build -trimpath -buildvcs=false -tags lambda.norpc -ldflags '-s -w -buildid=' \
	  -o '$(ARTIFACTS_DIR)/bootstrap' ./functions/$(shell echo '$*' | tr A-Z a-z)
