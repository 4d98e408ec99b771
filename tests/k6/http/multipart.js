// Files in a form make it multipart. The order of several fields is random in k6.
// skips: requests
import http from 'k6/http';

export default function () {
  const response = http.post(`${__ENV.BASE}/echo`, {
    field: 'value',
    file: http.file('content of the file', 'notes.txt', 'text/plain'),
  });
  console.log(response.json('headers.content-type').split(';')[0], response.json('body').includes('name="field"'));
  http.post(`${__ENV.BASE}/echo`, { data: http.file(new Uint8Array([1, 2, 3]).buffer, 'data.bin') });
  http.post(`${__ENV.BASE}/echo`, { only: http.file('no name') });
}
