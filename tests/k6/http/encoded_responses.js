// Compressed responses are decoded.
import http from 'k6/http';

export default function () {
  for (const coding of ['gzip', 'deflate', 'br', 'zstd']) {
    const response = http.get(`${__ENV.BASE}/encoded/${coding}`);
    console.log(coding, response.status, response.body, response.headers['Content-Encoding']);
  }
  console.log(http.get(`${__ENV.BASE}/encoded/unknown`).body);
}
