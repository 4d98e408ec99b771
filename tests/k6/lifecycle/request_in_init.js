// A request in the init part is an error.
// differs: errors init-errors
import http from 'k6/http';

http.get(`${__ENV.BASE}/never`);

export default function () {}
