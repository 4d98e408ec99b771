// k6/ws: a subprotocol, cookies, and a greeting.
import ws from 'k6/ws';
import http from 'k6/http';

export default function () {
  const jar = http.cookieJar();
  jar.set(__ENV.BASE, 'session', 'abc');
  const params = { headers: { 'Sec-WebSocket-Protocol': 'chat' } };
  const response = ws.connect(`ws://${__ENV.HOST}/ws/greet`, params, (socket) => {
    socket.on('message', (text) => {
      console.log(text);
      socket.close();
    });
  });
  console.log(response.headers['Sec-Websocket-Protocol']);
}
