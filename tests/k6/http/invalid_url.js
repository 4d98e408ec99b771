// URLs that are none.
// differs: metrics no-duration
// differs: keys no-duration
import http from 'k6/http';

export default function () {
  for (const url of ['', 'not a url', 'ftp://127.0.0.1/', '/path', 'http://']) {
    try {
      const response = http.get(url);
      console.log(JSON.stringify(url), response.status, response.error_code);
    } catch (e) {
      console.log(JSON.stringify(url), 'exception');
    }
  }
}
