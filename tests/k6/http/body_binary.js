// Bytes as a body: buffers and views.
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/echo`;
  const bytes = new Uint8Array([0, 1, 2, 254, 255]);
  http.post(url, bytes.buffer);
  http.post(url, bytes.buffer, { headers: { 'Content-Type': 'application/octet-stream' } });
}
