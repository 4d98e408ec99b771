// --http-debug writes requests and responses to the log.
// flags: --http-debug=full
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/status/200`);
}
