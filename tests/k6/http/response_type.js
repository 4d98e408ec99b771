// Bodies as text, bytes, or nothing.
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/bytes/5`;
  const text = http.get(`${__ENV.BASE}/text`, { responseType: 'text' });
  console.log(typeof text.body, text.body.length);
  const bytes = http.get(url, { responseType: 'binary' });
  console.log(bytes.body instanceof ArrayBuffer, bytes.body.byteLength, new Uint8Array(bytes.body).join());
  const none = http.get(url, { responseType: 'none' });
  console.log(none.body);
  console.log(http.get(url, { responseType: 'binary' }).body.byteLength);
}
