// open() reads bytes.
import http from 'k6/http';

const bytes = open('./lib/bytes.bin', 'b');

export default function () {
  console.log(bytes instanceof ArrayBuffer, bytes.byteLength, new Uint8Array(bytes).join());
  http.post(`${__ENV.BASE}/echo`, bytes, { headers: { 'Content-Type': 'application/octet-stream' } });
  http.post(`${__ENV.BASE}/echo`, { file: http.file(bytes, 'bytes.bin', 'application/octet-stream') });
}
