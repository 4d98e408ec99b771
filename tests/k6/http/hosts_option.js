// The option hosts: names for addresses.
import http from 'k6/http';

const [address, port] = __ENV.HOST.split(':');
export const options = {
  hosts: { 'one.example': __ENV.HOST, 'two.example': address, '*.three.example': __ENV.HOST },
};

export default function () {
  http.get('http://one.example/echo');
  http.get(`http://two.example:${port}/echo`);
  http.get('http://any.three.example/echo');
}
