// Lambda@Edge (Node.js), event origin-response: gives a WWW-Authenticate back
// the name that API Gateway took from it, so that clients find the metadata
// and the scope in a challenge.
//
// It is not a CloudFront Function because those run for the viewer's events
// only, and CloudFront leaves out viewer-response where the status is 400 or
// more: every challenge.

'use strict';

exports.handler = async (event) => {
  const response = event.Records[0].cf.response;
  const renamed = response.headers['x-amzn-remapped-www-authenticate'];
  if (renamed) {
    delete response.headers['x-amzn-remapped-www-authenticate'];
    response.headers['www-authenticate'] ??= renamed.map(({ value }) => ({ key: 'WWW-Authenticate', value }));
  }
  return response;
};
