// Requests with wrong arguments.
// differs: console wrong-arguments
import http from 'k6/http';

export default function () {
  const attempts = [
    () => http.get(),
    () => http.get(`${__ENV.BASE}/echo`, { timeout: 'soon' }),
    () => http.get(`${__ENV.BASE}/echo`, { responseType: 'xml' }),
    () => http.get(`${__ENV.BASE}/echo`, { compression: 'lzw' }),
    () => http.get(`${__ENV.BASE}/echo`, { auth: 'unknown' }),
    () => http.batch(),
    () => http.batch('text'),
    () => http.expectedStatuses('200'),
    () => http.expectedStatuses(),
  ];
  attempts.forEach((attempt, n) => {
    try {
      const result = attempt();
      console.log(n, 'ok', result && result.status);
    } catch (e) {
      console.log(n, 'exception');
    }
  });
}
