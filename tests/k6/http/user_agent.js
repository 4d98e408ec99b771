// The option userAgent, and a header that replaces it.
import http from 'k6/http';

export const options = { userAgent: 'own agent/1' };

export default function () {
  http.get(`${__ENV.BASE}/echo`);
  http.get(`${__ENV.BASE}/echo`, { headers: { 'User-Agent': 'another' } });
}
