// Names of response headers are in the usual form, values that repeat are joined.
import http from 'k6/http';

export default function () {
  const r = http.get(`${__ENV.BASE}/headers?x-lower=1&X-UPPER-CASE=2&x-mixed=a&x-mixed=b&etag=q`);
  console.log(Object.keys(r.headers).sort().join());
  console.log(r.headers['X-Mixed'], r.headers.Etag, r.headers.ETag);
}
