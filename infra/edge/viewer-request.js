// CloudFront Function (runtime cloudfront-js-2.0), event viewer-request: sends
// a message of 2026-07-28 straight to the function of its family, which saves
// the router's call. Everything else goes on to the router as it came.
//
// It decides nothing: a family checks the headers against the body by itself,
// and refuses what is not its own.

// The methods of the families, as in shared/mcp; edge_test.go compares them.
const families = {
  'tools/list': 'tools',
  'tools/call': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'completion/complete': 'completion',
};

function handler(event) {
  const request = event.request;
  const method = header(request, 'mcp-method');
  if (request.method === 'POST' && request.uri === '/mcp' &&
      header(request, 'mcp-protocol-version') === '2026-07-28' &&
      Object.prototype.hasOwnProperty.call(families, method)) {
    request.uri = '/mcp/' + families[method];
  }
  return request;
}

// The value of a header that was sent exactly once, or else ''.
function header(request, name) {
  const h = request.headers[name];
  return h && !(h.multiValue && h.multiValue.length > 1) ? h.value : '';
}
