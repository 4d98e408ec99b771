// All parts of a request.
import http from 'k6/http';

export const options = {
  thresholds: {
    http_req_blocked: ['max<9000'],
    http_req_connecting: ['max<9000'],
    http_req_tls_handshaking: ['max==0'],
    http_req_sending: ['max<9000'],
    http_req_waiting: ['max<9000'],
    http_req_receiving: ['max<9000'],
  },
};

export default function () {
  http.get(`${__ENV.BASE}/echo`);
}
