// k6/websockets: two sockets at once.
// differs: metrics websockets
import { WebSocket } from 'k6/websockets';

export default function () {
  for (const name of ['a', 'b']) {
    const socket = new WebSocket(`ws://${__ENV.HOST}/ws/echo?vu=${name}`);
    socket.onopen = () => socket.send(`hello ${name}`);
    socket.onmessage = (event) => {
      console.log(event.data);
      socket.close();
    };
  }
}
