(function (exports, require, native) {
  'use strict';
  const http = {
    get: native.httpGet,
    head: native.httpHead,
    post: native.httpPost,
    put: native.httpPut,
    patch: native.httpPatch,
    del: native.httpDelete,
    options: native.httpOptions,
    request: native.httpRequest,
    asyncRequest: native.httpAsync,
    batch: native.httpBatch,
    cookieJar: native.cookieJar,
    // A native function cannot be called with `new`.
    CookieJar: function CookieJar() { return native.CookieJar(); },
    setResponseCallback: native.setResponseCallback,
    file(data, filename, contentType) {
      const file = {
        data,
        filename: filename === undefined ? `${Date.now()}` : filename,
        content_type: contentType === undefined ? 'application/octet-stream' : contentType,
      };
      return Object.defineProperty(file, '__file', { value: true });
    },
    // A tag for template literals: the name is the text as written, so that all values share one row.
    url(parts, ...values) {
      let url = parts[0];
      let name = parts[0];
      for (let at = 0; at < values.length; at++) {
        url += String(values[at]) + parts[at + 1];
        name += '${}' + parts[at + 1];
      }
      return { url, name, toString: () => url };
    },
    expectedStatuses(...all) {
      if (all.length === 0) throw new TypeError('expectedStatuses requires at least one status or range');
      const ranges = all.map((one) => {
        if (typeof one === 'number' && Number.isInteger(one)) return [one, one];
        if (one && Number.isInteger(one.min) && Number.isInteger(one.max)) return [one.min, one.max];
        throw new TypeError('expectedStatuses takes whole numbers and ranges such as {min: 200, max: 299}');
      });
      return { __statuses: ranges };
    },
    TLS_1_0: 'tls1.0',
    TLS_1_1: 'tls1.1',
    TLS_1_2: 'tls1.2',
    TLS_1_3: 'tls1.3',
    OCSP_STATUS_GOOD: 'good',
    OCSP_STATUS_REVOKED: 'revoked',
    OCSP_STATUS_SERVER_FAILED: 'server_failed',
    OCSP_STATUS_UNKNOWN: 'unknown',
  };
  Object.assign(exports, http);
  exports.default = http;
})
