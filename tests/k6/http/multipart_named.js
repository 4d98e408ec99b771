// A multipart body with a file name and a type: the parts are equal byte for byte.
import http from 'k6/http';

export default function () {
  http.post(`${__ENV.BASE}/echo`, { data: http.file('content', 'a.txt', 'text/plain') });
  http.post(`${__ENV.BASE}/echo`, { data: http.file('content', 'b "quoted".csv') });
}
