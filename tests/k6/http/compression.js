// A compressed request body: its bytes depend on the library.
// skips: requests
import http from 'k6/http';

export default function () {
  for (const compression of ['gzip', 'deflate', 'gzip, deflate']) {
    const response = http.post(`${__ENV.BASE}/status/200`, 'text '.repeat(20), { compression });
    console.log(compression, response.status, response.request.headers['Content-Encoding']);
  }
}
