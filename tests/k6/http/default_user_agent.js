// The default of the header User-Agent, which the comparison does not replace here: userAgent.
// differs: requests user-agent
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
