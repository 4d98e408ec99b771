// The object that http.file() returns.
import http from 'k6/http';

export default function () {
  const file = http.file('abc', 'a.txt', 'text/plain');
  console.log(Object.keys(file).sort().join());
  console.log(file.filename, file.content_type, typeof file.data);
}
