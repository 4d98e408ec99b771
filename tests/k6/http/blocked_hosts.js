// The option blockHostnames.
import http from 'k6/http';

export const options = { blockHostnames: ['blocked.example', '*.also.example'] };

export default function () {
  for (const host of ['blocked.example', 'x.also.example']) {
    const response = http.get(`http://${host}/`);
    console.log(host, response.status, response.error_code);
  }
  console.log(http.get(`${__ENV.BASE}/status/200`).status);
}
